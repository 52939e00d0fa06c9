package search

import (
	"slices"
	"strings"
)

// A variant is one term that stands for a concept, and how well: 1 for the word
// the visitor typed, less for guesses at what it means.
type variant struct {
	term   string
	weight float64
}

// A concept is one word of a question with everything it may be called.
type concept struct {
	variants []variant
	word     string // folded, as typed
	compound bool   // a compound beside its parts: a bonus, never missed
	before   bool   // comes from what was asked before
	cue      bool   // says what kind of answer is wanted more than what about
	idf      float64
	known    bool // some variant stands in the index
}

func (c *concept) add(term string, weight float64) {
	for i := range c.variants {
		if c.variants[i].term == term {
			c.variants[i].weight = max(c.variants[i].weight, weight)
			return
		}
	}
	c.variants = append(c.variants, variant{term, weight})
}

// maxConcepts bounds the work that one question can cause.
const maxConcepts = 32

// maxQueryBytes is how much of a question is read.
const maxQueryBytes = 4000

// parseQuery analyses a question, and what was asked before it, in the languages
// they may be written in.
func parseQuery(text, before string, langs []string) []concept {
	analyzers := make([]*analyzer, len(langs))
	for i, lang := range langs {
		analyzers[i] = newAnalyzer(lang)
		analyzers[i].trace = true
	}
	var out []concept
	add := func(text string, before bool) {
		if len(text) > maxQueryBytes {
			text = strings.ToValidUTF8(text[:maxQueryBytes], "")
		}
		for _, word := range strings.Fields(text) {
			for _, c := range wordConcepts(word, analyzers) {
				c.before = before
				known := slices.ContainsFunc(out, func(o concept) bool { return o.variants[0].term == c.variants[0].term })
				if !known && len(out) < maxConcepts {
					out = append(out, c)
				}
			}
		}
	}
	add(text, false)
	add(before, true)
	return out
}

// wordConcepts analyses what stands between two spaces. The first language
// decides what it says; the others add how they would write the same.
func wordConcepts(word string, analyzers []*analyzer) []concept {
	first := analyzers[0]
	tokens := first.tokens(word)
	compounds := slices.Clone(first.compounds)
	out := make([]concept, len(tokens))
	for i, t := range tokens {
		out[i] = concept{variants: []variant{{t, 1}}, word: first.words[i], cue: cueWords[first.words[i]], compound: slices.Contains(compounds, i)}
	}
	for _, a := range analyzers[1:] {
		other := a.tokens(word)
		if len(other) != len(tokens) {
			// A stop word of another language the question may be written in.
			if len(other) == 0 && len(tokens) == 1 {
				return nil
			}
			continue
		}
		for i, t := range other {
			out[i].add(t, 1)
		}
	}
	return out
}
