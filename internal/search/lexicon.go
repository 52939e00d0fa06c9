package search

import (
	"context"
	"fmt"
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
}

// lexiconAge is how long a snapshot serves while the index changes slowly.
const lexiconAge = time.Minute

// currentLexicon returns a snapshot that is recent enough. Of searches at the same
// time one looks for changes; the others use what is there.
func (e *Engine) currentLexicon(ctx context.Context) (*lexicon, error) {
	e.mu.Lock()
	lex := e.lexicon
	e.mu.Unlock()
	if lex == nil {
		e.checking.Lock()
	} else if !e.checking.TryLock() {
		return lex, nil
	}
	defer e.checking.Unlock()
	e.mu.Lock()
	lex = e.lexicon
	e.mu.Unlock()

	v, err := readVersion(ctx, e.db)
	if err != nil {
		return nil, fmt.Errorf("read index version: %w", err)
	}
	if lex != nil && lex.fresh(v) {
		return lex, nil
	}
	lex, err = loadLexicon(ctx, e.db, v)
	if err != nil {
		return nil, fmt.Errorf("read index statistics: %w", err)
	}
	e.mu.Lock()
	e.lexicon = lex
	e.mu.Unlock()
	return lex, nil
}

// fresh reports whether the snapshot still serves an index of version v.
func (l *lexicon) fresh(v version) bool {
	same := v.Documents == l.version.Documents &&
		(v.Changed == nil) == (l.version.Changed == nil) &&
		(v.Changed == nil || v.Changed.Equal(*l.version.Changed))
	if same {
		return true
	}
	grown := math.Abs(float64(v.Documents-l.version.Documents)) > 0.1*float64(l.version.Documents)
	return !grown && time.Since(l.loaded) < lexiconAge
}

func loadLexicon(ctx context.Context, d *db.DB, v version) (*lexicon, error) {
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
	l.newest, err = readNewest(ctx, d)
	return l, err
}

// idf is how much a term held by that many chunks says; always positive.
func (l *lexicon) idf(chunks int) float64 {
	n := float64(max(l.chunks, chunks, 1))
	return math.Log(1 + (n-float64(chunks)+0.5)/(float64(chunks)+0.5))
}
