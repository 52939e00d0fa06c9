package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/job"
	"docent/internal/llm"
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

// cleanUp deletes what has expired: conversations, sessions, links.
type cleanUp struct{}

// Kind names the job in the queue.
func (cleanUp) Kind() string { return "clean_up" }

// reservedPaths are first path segments that are not content's to take.
var reservedPaths = []string{"admin", "ai-answers", "answers", "embed", "files", "healthz", "metrics", "readyz", "search",
	"session", "site-agent", "static", "user"}

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
	a.content = content.New(a.db, content.Options{
		Languages:        a.languages,
		TypeOutOfAnswers: a.typeOutOfAnswers,
		Reserved:         reservedPaths,
		FilesDir:         filepath.Join(s.data, "files"),
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
	return llm.NewOpenAI(llm.OpenAIOptions{BaseURL: s.modelURL, Model: s.model, Key: s.modelKey, Log: a.log})
}

// newAnswers starts the service that answers questions.
func (a *app) newAnswers(ctx context.Context) (*answer.Service, error) {
	in := func(lang string) context.Context { return i18n.WithLanguage(context.Background(), lang) }
	return answer.New(ctx, answer.Options{
		DB: a.db, Config: a.config, Content: a.content, Search: a.search, Model: a.model, SiteURL: a.settings.base, Log: a.log,
		Texts: answer.Texts{
			NoAnswer:   func(lang string) string { ctx := in(lang); return i18n.T(ctx, "answer.none") },
			TableLabel: func(lang string) string { ctx := in(lang); return i18n.T(ctx, "answer.table") },
			CiteLabel:  func(lang string, n int) string { ctx := in(lang); return i18n.T(ctx, "sources.cite", n) },
		},
	})
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

func (a *app) typeOutOfAnswers(bundle string) bool {
	site, err := config.Get[config.Settings](context.Background(), a.config, config.SiteName)
	return err == nil && slices.Contains(site.OutOfAnswers, bundle)
}
