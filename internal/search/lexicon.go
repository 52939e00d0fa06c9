package search

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"time"

	"docent/db"
)

// A lexicon is what ranking knows about the whole index: a snapshot, a little
// behind the index at most. Whether a passage is found never depends on it.
type lexicon struct {
	version       version
	loaded        time.Time
	chunks        int
	averageLength float64        // of a body, in terms
	frequency     map[string]int // term -> chunks that hold it
	languages     []string       // of the documents, the most common first
	newest        time.Time      // date of the newest document
	latent        *latent        // nil for an index too small to learn from
	learned       time.Time      // when latent was learnt
}

const (
	// lexiconAge is how long a snapshot serves while the index changes.
	lexiconAge = time.Minute
	// latentAge is how long a latent space serves while the index changes.
	latentAge = time.Hour
	// loadLimit bounds the loading of a snapshot beside searches.
	loadLimit = 2 * time.Minute
)

// Warm reads what ranking needs to know of the whole index, which takes a second or
// two for thousands of pages. The first search does it when nobody did before, and
// searches keep it up to date; call it at the start and after an import.
func (e *Engine) Warm(ctx context.Context) error {
	e.loading.Lock()
	defer e.loading.Unlock()
	_, err := e.load(ctx)
	return err
}

// currentLexicon returns a snapshot. When the index has changed since, the search
// that notices loads the next one beside itself and uses the one that is there.
func (e *Engine) currentLexicon(ctx context.Context) (*lexicon, error) {
	if lex := e.snapshot.Load(); lex != nil {
		if time.Since(lex.loaded) > lexiconPause && e.loading.TryLock() {
			go func() {
				defer e.loading.Unlock()
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadLimit)
				defer cancel()
				if _, err := e.load(ctx); err != nil {
					slog.WarnContext(ctx, "search statistics are behind", "error", err)
				}
			}()
		}
		return lex, nil
	}
	e.loading.Lock()
	defer e.loading.Unlock()
	if lex := e.snapshot.Load(); lex != nil {
		return lex, nil
	}
	return e.load(ctx)
}

// load brings the snapshot up to date if it has to be; e.loading must be held.
func (e *Engine) load(ctx context.Context) (*lexicon, error) {
	old := e.snapshot.Load()
	v, err := readVersion(ctx, e.db)
	if err != nil {
		return nil, fmt.Errorf("read index version: %w", err)
	}
	if old != nil && old.serves(v) {
		return old, nil
	}
	lex, err := loadLexicon(ctx, e.db, v, old)
	if err != nil {
		return nil, fmt.Errorf("read index statistics: %w", err)
	}
	e.snapshot.Store(lex)
	return lex, nil
}

// lexiconPause is how long nobody looks for changes after a snapshot was loaded.
const lexiconPause = 2 * time.Second

// serves reports whether the snapshot still serves an index of version v.
func (l *lexicon) serves(v version) bool {
	same := v.Documents == l.version.Documents &&
		(v.Changed == nil) == (l.version.Changed == nil) &&
		(v.Changed == nil || v.Changed.Equal(*l.version.Changed))
	return same || !l.outgrown(v) && time.Since(l.loaded) < lexiconAge
}

// outgrown reports whether an index of version v is of another size than l knows.
func (l *lexicon) outgrown(v version) bool {
	return math.Abs(float64(v.Documents-l.version.Documents)) > 0.1*float64(l.version.Documents)
}

func loadLexicon(ctx context.Context, d *db.DB, v version, old *lexicon) (*lexicon, error) {
	l := &lexicon{version: v, loaded: time.Now()}
	var err error
	if l.frequency, err = readFrequencies(ctx, d); err != nil {
		return nil, err
	}
	terms := 0.0
	if l.chunks, terms, err = readShape(ctx, d); err != nil {
		return nil, err
	}
	l.averageLength = max(1, terms/float64(max(1, l.chunks)))
	if l.languages, err = readLanguages(ctx, d); err != nil {
		return nil, err
	}
	if l.newest, err = readNewest(ctx, d); err != nil {
		return nil, err
	}
	if old != nil && !old.outgrown(v) && time.Since(old.learned) < latentAge {
		l.latent, l.learned = old.latent, old.learned
		return l, nil
	}
	l.learned = l.loaded
	if v.Documents >= latentMinimum {
		docs, err := readBags(ctx, d, 1+v.Documents/latentMaximum)
		if err != nil {
			return nil, err
		}
		l.latent = learn(docs)
	}
	return l, nil
}

// idf is how much a term held by that many chunks says; always positive.
func (l *lexicon) idf(chunks int) float64 {
	n := float64(max(l.chunks, chunks, 1))
	return math.Log(1 + (n-float64(chunks)+0.5)/(float64(chunks)+0.5))
}
