// Package search finds: it cuts content into passages, analyses them by
// language, keeps them indexed in the database and ranks them for a question,
// within what the asking account may see.
package search

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"docent/db"
	"docent/internal/content"

	"golang.org/x/sync/errgroup"
)

// An Engine indexes and searches one database. It is safe for concurrent use.
type Engine struct {
	db *db.DB

	snapshot atomic.Pointer[lexicon] // the newest; nil before the first search
	loading  sync.Mutex              // held by who loads the next one
}

// New returns the engine of a database.
func New(d *db.DB) *Engine { return &Engine{db: d} }

// PutItems indexes translations within tx: each one's passages replace those it
// had. A translation that is not published is taken out. Items left out of
// answers stay findable for searches that are not for answers.
func (e *Engine) PutItems(ctx context.Context, tx *db.DB, items []content.Item) error {
	var gone []content.Item
	var docs []document
	for _, it := range items {
		if it.Published && it.State == content.Published {
			docs = append(docs, document{item: it})
		} else {
			gone = append(gone, it)
		}
	}
	docs = latest(docs)
	if err := analyzeAll(ctx, docs); err != nil {
		return err
	}
	return tx.InTx(ctx, func(tx *db.DB) error {
		if err := lockIndex(ctx, tx); err != nil {
			return fmt.Errorf("lock index: %w", err)
		}
		if err := removeTranslations(ctx, tx, gone); err != nil {
			return fmt.Errorf("remove from index: %w", err)
		}
		if err := putDocuments(ctx, tx, docs); err != nil {
			return fmt.Errorf("index: %w", err)
		}
		return nil
	})
}

// latest keeps the last of several documents for one translation.
func latest(docs []document) []document {
	type key struct{ id, lang string }
	last := make(map[key]int, len(docs))
	for i, d := range docs {
		last[key{d.item.ID, d.item.Lang}] = i
	}
	if len(last) == len(docs) {
		return docs
	}
	var out []document
	for i, d := range docs {
		if last[key{d.item.ID, d.item.Lang}] == i {
			out = append(out, d)
		}
	}
	return out
}

// Refresh replaces all documents of an entity by what load returns: its published
// translations, or nothing when it is gone. It loads them while nobody else writes
// to the index, so of two refreshes at once the later one keeps the newer state.
func (e *Engine) Refresh(ctx context.Context, load func(ctx context.Context, entityID string) ([]content.Item, error), entityID string) error {
	return e.db.InTx(ctx, func(tx *db.DB) error {
		if err := lockIndex(ctx, tx); err != nil {
			return fmt.Errorf("lock index: %w", err)
		}
		items, err := load(ctx, entityID)
		if err != nil {
			return fmt.Errorf("load %s: %w", entityID, err)
		}
		var langs []string
		for _, it := range items {
			langs = append(langs, it.Lang)
		}
		if err := removeOtherLanguages(ctx, tx, entityID, langs); err != nil {
			return fmt.Errorf("remove from index: %w", err)
		}
		return e.PutItems(ctx, tx, items)
	})
}

// Remove takes entities out of the index, in all languages.
func (e *Engine) Remove(ctx context.Context, tx *db.DB, entityIDs []string) error {
	for part := range slices.Chunk(entityIDs, 500) {
		if err := removeEntities(ctx, tx, part); err != nil {
			return fmt.Errorf("remove from index: %w", err)
		}
	}
	return nil
}

// Stats describe the index.
type Stats struct {
	Documents  int
	Chunks     int
	LastChange time.Time // zero when nothing was ever indexed
}

// Stats counts what is indexed.
func (e *Engine) Stats(ctx context.Context) (Stats, error) { return readStats(ctx, e.db) }

// A document is an item with its analysis.
type document struct {
	item       content.Item
	titleTerms []string
	passages   []passage
}

// A passage is a chunk with its analysis.
type passage struct {
	chunk
	headingTerms []string
	bodyTerms    []string
}

// analyzeAll cuts and analyses documents in place, on all processors.
func analyzeAll(ctx context.Context, docs []document) error {
	workers := min(runtime.GOMAXPROCS(0), len(docs))
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		for i := range docs {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			byLang := map[string]*analyzer{}
			for i := range next {
				d := &docs[i]
				a := byLang[d.item.Lang]
				if a == nil {
					a = newAnalyzer(d.item.Lang)
					byLang[d.item.Lang] = a
				}
				d.analyze(a)
			}
			return nil
		})
	}
	return g.Wait()
}

// analyze cuts one document. A summary is its first passage; a page without any
// text can still be found by its title.
func (d *document) analyze(a *analyzer) {
	d.titleTerms = a.tokens(d.item.Title)
	summary := d.item.Fields.Text(content.FieldSummary)
	body := d.item.Fields.Text(content.FieldBody)
	chunks := split(body)
	if summary != "" || len(chunks) == 0 {
		chunks = slices.Insert(chunks, 0, chunk{Text: summary})
	}
	for _, c := range chunks {
		p := passage{chunk: c, bodyTerms: a.tokens(plain(c.Text))}
		for _, h := range c.Headings {
			p.headingTerms = append(p.headingTerms, a.tokens(h)...)
		}
		d.passages = append(d.passages, p)
	}
}

// clean makes text storable: PostgreSQL takes neither NUL nor broken UTF-8.
func clean(s string) string {
	if utf8.ValidString(s) && !containsNUL(s) {
		return s
	}
	out := make([]rune, 0, len(s))
	for _, r := range s {
		if r == 0 {
			r = utf8.RuneError
		}
		out = append(out, r)
	}
	return string(out)
}

func containsNUL(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return true
		}
	}
	return false
}
