// Package importer brings a folder of Markdown, as static site generators keep
// it, into the content, again and again: only what changed is written.
package importer

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/db"
	"docent/internal/content"
)

// Options say what to import and where to.
type Options struct {
	FS    fs.FS  // to read from; nil: the folder Dir
	Dir   string // links out of it are not followed
	Store *content.Store
	// Origin starts the names under which pages are known again, "import:" when it is
	// empty. Sources of one site that have nothing to do with each other need names
	// of their own: what one of them lacks is only gone if it came from there.
	Origin string
	// Languages whose folders and suffixes are understood, the default first; nil: the store's.
	Languages []string
	// Prune is asked before pages are removed whose files are gone; nil: they are kept.
	Prune func(files []string) bool
	// Progress is called now and then, from one goroutine.
	Progress func(Progress)
	// IndexBatch is called in the transaction of every batch with its published
	// pages; nil: the store's OnChange hears of them.
	IndexBatch func(ctx context.Context, tx *db.DB, items []content.Item) error
}

// Progress is how far an import is.
type Progress struct {
	Done, Total int    // files
	Current     string // a file being worked on
}

// A Problem is something in a file that its author should know.
type Problem struct {
	File    string
	Line    int // 0: the file as a whole
	Message string
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return p.File + ": " + p.Message
}

// A Summary accounts for every file: Added, Changed, Unchanged and Skipped make
// up Files.
type Summary struct {
	Files     int
	Added     int
	Changed   int
	Unchanged int
	Skipped   int      // could not be read: see Problems
	Drafts    int      // of those added, changed or unchanged
	Gone      []string // files imported before that are no longer there
	Removed   int      // of those, pages removed
	Problems  []Problem
	Took      time.Duration
}

// batchSize is how many pages one transaction writes, roughly.
const batchSize = 150

// Run imports. Problems of files never stop it; what it wrote until an error or
// the end of ctx stays, and the next run goes on from there.
func Run(ctx context.Context, opts Options) (Summary, error) {
	start := time.Now()
	if opts.FS == nil {
		root, err := os.OpenRoot(opts.Dir)
		if err != nil {
			return Summary{}, fmt.Errorf("import folder: %w", err)
		}
		defer root.Close()
		opts.FS = root.FS()
	}
	if len(opts.Languages) == 0 {
		opts.Languages = opts.Store.Languages()
	}
	if opts.Origin == "" {
		opts.Origin = originPrefix
	}
	if opts.Progress == nil {
		opts.Progress = func(Progress) {}
	}
	r := &run{Options: opts}
	err := r.do(ctx)
	slices.SortStableFunc(r.sum.Problems, func(a, b Problem) int { return strings.Compare(a.File, b.File) })
	r.sum.Took = time.Since(start)
	return r.sum, err
}

// A run is one import under way.
type run struct {
	Options
	sum        Summary
	done       int
	resolver   *resolver
	types      *content.Types
	knownMedia map[string]content.Known // images among the media, by origin
}

func (r *run) report(p Problem) { r.sum.Problems = append(r.sum.Problems, p) }

func (r *run) do(ctx context.Context) error {
	files, err := find(r.FS, r.Languages, r.report)
	if err != nil {
		return fmt.Errorf("import folder: %w", err)
	}
	for i := range files {
		files[i].prefix = r.Origin
	}
	r.sum.Files = len(files)
	known, err := r.Store.Imported(ctx)
	if err != nil {
		return err
	}
	r.knownMedia = maps.Clone(known)
	maps.DeleteFunc(known, func(origin string, _ content.Known) bool { return !strings.HasPrefix(origin, r.Origin) })
	if r.types, err = r.Store.Types(ctx); err != nil {
		return err
	}
	pages, err := r.describe(ctx, files)
	if err != nil {
		return err
	}
	for _, p := range pages {
		p.bundle = typeOf(r.types, p)
	}
	arrange(pages, r.Languages)
	r.resolver = newResolver(r.FS, pages, r.Store)
	var todo []*page
	for _, p := range pages {
		if p.draft {
			r.sum.Drafts++
		}
		k, ok := known[p.origin()]
		switch {
		case !ok:
			r.sum.Added++
		case k.Hash == p.hash:
			r.sum.Unchanged++
			r.done++
			r.tell(p)
			continue
		default:
			r.sum.Changed++
			if k.Edited {
				p.notes = append(p.notes, note{0, "was edited on the site since the last import: the file replaced that, which its history keeps"})
			}
		}
		todo = append(todo, p)
	}
	if err := r.write(ctx, todo); err != nil {
		return err
	}
	if err := r.refreshImages(ctx); err != nil {
		return err
	}
	return r.prune(ctx, files, known)
}

// tell reports a page's notes; a page with very many has said enough with some.
func (r *run) tell(p *page) {
	const most = 20
	for i, n := range p.notes {
		if i == most {
			r.report(Problem{File: p.name, Message: fmt.Sprintf("%d more problems", len(p.notes)-most)})
			break
		}
		r.report(Problem{File: p.name, Line: n.line, Message: n.text})
	}
}

// describe reads all files, except for their bodies.
func (r *run) describe(ctx context.Context, files []file) ([]*page, error) {
	pages := make([]*page, len(files))
	skipped := make([]error, len(files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, f := range files {
		g.Go(func() error {
			if f.skip != "" {
				skipped[i] = errSkip{f.skip}
				return nil
			}
			text, hash, notes, err := read(r.FS, f.name)
			if err != nil {
				skipped[i] = err
				return ctx.Err()
			}
			pages[i] = describe(f, text, hash, notes)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, err := range skipped {
		if err != nil {
			r.sum.Skipped++
			r.done++
			r.report(Problem{File: files[i].name, Message: err.Error()})
		}
	}
	r.Progress(Progress{Done: r.done, Total: len(files)})
	return slices.DeleteFunc(pages, func(p *page) bool { return p == nil }), nil
}

// write converts and stores pages in batches: one is converted while the one
// before is stored.
func (r *run) write(ctx context.Context, todo []*page) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type batch struct {
		pages    []*page
		imported []content.Imported
	}
	batches := make(chan batch)
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(batches)
		for len(todo) > 0 {
			n := min(batchSize, len(todo))
			for n < len(todo) && todo[n].key == todo[n-1].key { // the languages of an entity stay together
				n++
			}
			b := batch{pages: todo[:n], imported: make([]content.Imported, n)}
			todo = todo[n:]
			var workers errgroup.Group
			workers.SetLimit(runtime.GOMAXPROCS(0))
			for i, p := range b.pages {
				workers.Go(func() error {
					b.imported[i] = r.convert(p)
					return nil
				})
			}
			workers.Wait()
			select {
			case batches <- b:
			case <-gctx.Done():
				return gctx.Err()
			}
		}
		return nil
	})
	g.Go(func() error {
		for b := range batches {
			r.Progress(Progress{Done: r.done, Total: r.sum.Files, Current: b.pages[0].name})
			if err := r.storeImages(gctx, r.resolver.takeFresh()); err != nil {
				return err
			}
			if err := r.setPictures(gctx, b.pages, b.imported); err != nil {
				return err
			}
			conflicts, err := r.Store.PutImported(gctx, b.imported, r.IndexBatch)
			if err != nil {
				return fmt.Errorf("store %s and %d more: %w", b.pages[0].name, len(b.pages)-1, err)
			}
			for _, c := range conflicts {
				r.report(Problem{File: strings.TrimPrefix(c.Origin, r.Origin), Message: "its address belongs to a page of the site: it is at " + c.Path})
			}
			for _, p := range b.pages {
				r.tell(p)
			}
			r.done += len(b.pages)
			r.Progress(Progress{Done: r.done, Total: r.sum.Files, Current: b.pages[len(b.pages)-1].name})
		}
		return gctx.Err()
	})
	return g.Wait()
}

// convert makes what is stored of a page.
func (r *run) convert(p *page) content.Imported {
	in := content.Imported{
		Key: p.key, Origin: p.origin(), Hash: p.hash, ParentPath: p.parent, HasChildren: p.children,
		Aliases: p.aliases, Topics: r.topics(p), Updated: p.updated,
		Input: content.Input{
			Bundle: p.bundle, Lang: p.lang, Title: p.title, Path: p.path, State: content.Published,
			Access: &content.Access{ViewRoles: p.roles, OutOfAnswers: p.out},
			Weight: p.weight, Date: p.date, Menu: p.menu, MenuTitle: p.menuTitle,
			SectionIndex: p.index && (p.children || strings.HasSuffix(strings.ToLower(p.bare), "_index")),
			Fields:       content.Fields{},
		},
	}
	if p.draft {
		in.State = content.Draft
	}
	if p.summary != "" {
		in.Fields[content.FieldSummary] = p.summary
	}
	if p.source != "" {
		in.Fields[content.FieldSource] = p.source
	}
	if body := r.body(p, in.Fields); body != "" {
		in.Fields[content.FieldBody] = body
	}
	return in
}

// body reads and converts a page's body, with texts of the front matter that it
// does not repeat before it, and adds the fields that only its type has.
func (r *run) body(p *page, fields content.Fields) string {
	text, _, _, err := read(r.FS, p.name)
	if err != nil { // changed under our hands; the next run sees a new hash
		p.notes = append(p.notes, note{0, err.Error()})
		return ""
	}
	m, raw, line, _ := split(text)
	raw = clean(raw)
	if p.heading {
		if at := firstHeading.FindStringIndex(raw); at != nil {
			raw = strings.Repeat("\n", strings.Count(raw[:at[1]], "\n")) + raw[at[1]:]
		}
	}
	l := pageLinks{resolver: r.resolver, from: p, report: func(text string) { p.notes = append(p.notes, note{0, text}) }}
	if ct, ok := r.types.Type(content.TypeNode, p.bundle); ok {
		maps.Copy(fields, typed(m, ct, func(line int, format string, args ...any) {
			p.notes = append(p.notes, note{line, fmt.Sprintf(format, args...)})
		}))
		if _, has := pictureField(ct); has {
			if src, alt := featured(m); src != "" {
				p.picture, _ = l.imageFile(src, alt)
			}
		}
	}
	body := fromMarkdown(raw, p.kind, l, func(offset int, text string) {
		p.notes = append(p.notes, note{line + strings.Count(raw[:min(offset, len(raw))], "\n"), text})
	})
	folded := strings.ToLower(strings.Join(strings.Fields(body), " "))
	var lead string
	for _, text := range p.lead {
		if !strings.Contains(folded, strings.ToLower(text)) {
			lead += text + "\n\n"
		}
	}
	return strings.TrimSpace(lead + body)
}

// topics names a page's terms as the pages at their addresses are named.
func (r *run) topics(p *page) []content.Term {
	terms := slices.Clone(p.topics)
	for i, t := range terms {
		if at := r.resolver.paths[p.lang+"/"+t.Vocabulary+"/"+t.Slug+"/"]; at != nil && at.path == "/"+t.Vocabulary+"/"+t.Slug+"/" {
			terms[i].Label = at.title
		}
	}
	return terms
}

// prune lists pages whose files are gone and removes them when it may.
func (r *run) prune(ctx context.Context, files []file, known map[string]content.Known) error {
	gone := maps.Clone(known)
	for _, f := range files {
		delete(gone, r.Origin+f.name)
	}
	for _, origin := range slices.Sorted(maps.Keys(gone)) {
		r.sum.Gone = append(r.sum.Gone, strings.TrimPrefix(origin, r.Origin))
	}
	if len(gone) == 0 || r.Prune == nil || !r.Prune(r.sum.Gone) {
		return nil
	}
	for origins := range slices.Chunk(slices.Sorted(maps.Keys(gone)), batchSize) {
		if err := r.Store.RemoveImported(ctx, origins); err != nil {
			return fmt.Errorf("remove pages: %w", err)
		}
		r.sum.Removed += len(origins)
	}
	return nil
}
