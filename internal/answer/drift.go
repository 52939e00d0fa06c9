package answer

import (
	"docent/internal/search"
)

// newShare is the share of a question's words that must be new to its conversation
// for the question to be on another subject.
const newShare = 0.5

// goesOn reports whether the turn is the rest of the one before it: its question
// has no subject to search for.
func (r *run) goesOn() bool { return len(r.earlier) > 0 && r.s.Texts.GoesOn(r.turn.Question) }

// drifts reports whether a follow-up names a subject that neither its conversation
// nor the sources held for it speak of. A search too many costs little, an answer
// from the wrong pages much, so doubt counts as yes.
func (r *run) drifts() bool {
	asked := search.Analyze(r.turn.Lang, r.turn.Question)
	if len(asked) == 0 {
		return false
	}
	known := map[string]bool{}
	learn := func(lang, text string) {
		for _, w := range search.Analyze(lang, text) {
			known[w] = true
		}
	}
	for _, t := range r.earlier {
		learn(r.turn.Lang, t.Question)
		learn(r.turn.Lang, t.FinalText)
	}
	for _, s := range r.turn.Sources {
		learn(s.Lang, s.Title)
		learn(s.Lang, plainLines(s.Body()))
	}
	fresh := 0
	for _, w := range asked {
		if !known[w] {
			fresh++
		}
	}
	return float64(fresh) >= newShare*float64(len(asked))
}
