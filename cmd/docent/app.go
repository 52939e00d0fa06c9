package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/db"
	"docent/handlers"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/job"
	"docent/internal/llm"
	"docent/internal/markdown"
	"docent/internal/media"
	"docent/internal/search"
)

// An app is the program's parts, wired in dependency order.
type app struct {
	environment
	db       *db.DB
	config   *config.Store
	accounts *account.Service
	content  *content.Store
	search   *search.Engine
	queue    *job.Queue
	model    llm.Generator
}

// refreshIndex brings an entity's passages in the search index up to date.
type refreshIndex struct {
	EntityID string `json:"entity_id"`
}

// Kind names the job in the queue.
func (refreshIndex) Kind() string { return "refresh_index" }

// readDocument reads what an uploaded document says.
type readDocument struct {
	Hash string `json:"hash"`
}

// Kind names the job in the queue.
func (readDocument) Kind() string { return "read_document" }

// sweepFiles deletes uploads that nothing uses.
type sweepFiles struct{}

// Kind names the job in the queue.
func (sweepFiles) Kind() string { return "sweep_files" }

// cleanUp deletes what has expired: conversations, sessions, links.
type cleanUp struct{}

// Kind names the job in the queue.
func (cleanUp) Kind() string { return "clean_up" }

// reservedPaths are first path segments that are not content's to take.
var reservedPaths = []string{
	"admin", "ai-answers", "answers", "embed", "external", "feed.xml", "files", "healthz", "language", "metrics",
	"preview", "readyz", "robots.txt", "search", "session", "site-agent", "sitemap", "sitemap.xml", "static",
	"user",
}

// open opens the database, brings its schema up to date and wires everything that
// commands share. The caller closes a.db.
func open(ctx context.Context, env environment) (_ *app, err error) {
	a := &app{environment: env}
	s := env.settings
	if a.db, err = db.Open(ctx, s.databaseURL, s.data); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.db.Close()
		}
	}()
	if err = db.Migrate(ctx, a.db); err != nil {
		return nil, err
	}
	if a.config, err = config.Open(ctx, a.db); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	a.accounts = account.New(a.db, a.config.Permissions)
	a.search = search.New(a.db)
	a.queue = job.New(a.db, env.log)
	documents, err := media.NewReader(filepath.Join(s.data, "cache"))
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	a.content = content.New(a.db, content.Options{
		Languages:        a.languages,
		TypeOutOfAnswers: a.typeOutOfAnswers,
		Types:            func(ctx context.Context) (*content.Types, error) { return content.LoadTypes(ctx, a.config) },
		Reserved:         reservedPaths,
		FilesDir:         filepath.Join(s.data, "files"),
		UploadLimit:      a.uploadLimit,
		Documents:        documents,
		DateText:         a.dateText,
		Labels:           markdownLabels,
		PageLabel: func(lang string, n int) string {
			ctx := i18n.WithLanguage(context.Background(), lang)
			return i18n.T(ctx, "media.page", n)
		},
		OnUpload: func(ctx context.Context, tx *db.DB, f content.File) error {
			return a.queue.Add(ctx, tx, readDocument{f.Hash})
		},
		OnChange: func(ctx context.Context, tx *db.DB, entityIDs []string) error {
			jobs := make([]job.Args, len(entityIDs))
			for i, id := range entityIDs {
				jobs[i] = refreshIndex{id}
			}
			return a.queue.Add(ctx, tx, jobs...)
		},
	})
	job.Handle(a.queue, func(ctx context.Context, j refreshIndex) error {
		return a.search.Refresh(ctx, a.content.Translations, j.EntityID)
	})
	job.Handle(a.queue, func(ctx context.Context, j readDocument) error { return a.content.ReadText(ctx, j.Hash) })
	if a.model, err = a.newModel(); err != nil {
		return nil, err
	}
	return a, nil
}

// newModel connects the model that the settings name; without one the offline
// model answers.
func (a *app) newModel() (llm.Generator, error) {
	s := a.settings
	if s.modelURL == "" {
		offline := llm.NewOffline(search.Analyze)
		// Quoting takes no time, but text that is there at once reads like a page
		// that failed to load: let it be seen to be written.
		offline.Pace = 20 * time.Millisecond
		return offline, nil
	}
	return a.modelNamed(s.model)
}

// modelNamed returns a model of the configured server by its name there.
func (a *app) modelNamed(name string) (llm.Generator, error) {
	s := a.settings
	return llm.NewOpenAI(llm.OpenAIOptions{BaseURL: s.modelURL, Model: name, Key: s.modelKey, Log: a.log})
}

// modelsNamed remembers models by name: each knows what its server refuses.
func (a *app) modelsNamed() func(name string) (llm.Generator, error) {
	var mu sync.Mutex
	known := map[string]llm.Generator{}
	return func(name string) (llm.Generator, error) {
		mu.Lock()
		defer mu.Unlock()
		if m := known[name]; m != nil {
			return m, nil
		}
		m, err := a.modelNamed(name)
		if err != nil {
			return nil, err
		}
		known[name] = m
		return m, nil
	}
}

// markdownLabels are the words of a language that Markdown's HTML needs.
func markdownLabels(lang string) markdown.Labels {
	ctx := i18n.WithLanguage(context.Background(), lang)
	return markdown.Labels{Table: i18n.T(ctx, "answer.table"), Copy: i18n.T(ctx, "action.copy"), Code: func(language string) string {
		if language == "" {
			return i18n.T(ctx, "answer.code")
		}
		return i18n.T(ctx, "answer.code_in", language)
	}}
}

// newAnswers starts the service that answers questions.
func (a *app) newAnswers(ctx context.Context) (*answer.Service, error) {
	in := func(lang string) context.Context { return i18n.WithLanguage(context.Background(), lang) }
	o := answer.Options{
		DB: a.db, Config: a.config, Content: a.content, Search: a.search, Model: a.model, SiteURL: a.settings.base, Log: a.log,
		Texts: answer.Texts{
			NoAnswer:  func(lang string) string { ctx := in(lang); return i18n.T(ctx, "answer.none") },
			Labels:    markdownLabels,
			CiteLabel: func(lang string, n int) string { ctx := in(lang); return i18n.T(ctx, "sources.cite", n) },
			AboutHeading: func(lang, page, heading string) string {
				ctx := in(lang)
				if page == "" {
					return i18n.T(ctx, "suggest.heading", heading)
				}
				return i18n.T(ctx, "suggest.heading_of", page, heading)
			},
			GoesOn: handlers.GoesOn,
		},
	}
	if a.settings.modelURL != "" {
		o.ModelNamed = a.modelsNamed()
	}
	s := a.settings
	var err error
	if s.rerankURL != "" {
		if o.Rerank, err = answer.NewReranker(s.rerankURL, s.rerankModel, s.rerankKey); err != nil {
			return nil, fmt.Errorf("DOCENT_RERANK_URL: %w", err)
		}
	}
	if s.langfuseURL != "" {
		if o.Scores, err = answer.NewScores(s.langfuseURL, s.langfusePublic, s.langfuseSecret, a.log); err != nil {
			return nil, fmt.Errorf("LANGFUSE_HOST: %w", err)
		}
	}
	if o.Spans, err = answer.NewSpans(s.getenv, a.log); err != nil {
		return nil, err
	}
	return answer.New(ctx, o)
}

// languages are the site's, the default first.
func (a *app) languages() []string {
	all, err := config.Languages(context.Background(), a.config)
	if err != nil || len(all) == 0 {
		return []string{i18n.Default}
	}
	out := make([]string, len(all))
	for i, l := range all {
		out[i] = l.Name
	}
	return out
}

// uploadLimit is how many bytes an uploaded file of a type may have.
func (a *app) uploadLimit(mime string) int64 {
	limit := content.DefaultUploadLimit(mime)
	site, err := config.Get[config.Settings](context.Background(), a.config, config.SiteName)
	if err != nil {
		return limit
	}
	megabytes := site.DocumentLimit
	if strings.HasPrefix(mime, "image/") {
		megabytes = site.ImageLimit
	}
	if megabytes > 0 {
		return int64(megabytes) << 20
	}
	return limit
}

func (a *app) typeOutOfAnswers(bundle string) bool {
	if t, err := config.Get[config.ContentType](context.Background(), a.config, bundle); err == nil && t.OutOfAnswers {
		return true
	}
	site, err := config.Get[config.Settings](context.Background(), a.config, config.SiteName)
	return err == nil && slices.Contains(site.OutOfAnswers, bundle)
}

// dateText tells when something is, in the site's time zone.
func (a *app) dateText(lang string, v content.RenderedValue) string {
	ctx := i18n.WithLanguage(context.Background(), lang)
	tell, zone := i18n.Date, time.UTC
	if v.Clock {
		tell = i18n.DateTime
		if site, err := config.Get[config.Settings](ctx, a.config, config.SiteName); err == nil {
			if z, err := time.LoadLocation(site.TimeZone); err == nil {
				zone = z
			}
		}
	}
	if v.To.IsZero() {
		return tell(ctx, v.From.In(zone))
	}
	return tell(ctx, v.From.In(zone)) + " – " + tell(ctx, v.To.In(zone))
}
