package llm

import (
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// How much a term counts that stands in a source not as it was typed: as a word
// of like meaning, as what it is a slip of, or sharing its beginning.
const (
	asKin    = 0.55
	asTypo   = 0.6
	asPrefix = 0.6
)

// mayShare is what is left of the weight of a word such as "bring" in a question
// whether one may.
const mayShare = 0.4

// link says how well a token stands for a term.
type link struct {
	term     int
	strength float64
}

// raise lifts each of m to that of other, and returns m.
func raise(m, other []float64) []float64 {
	if m == nil {
		return slices.Clone(other)
	}
	for i := range m {
		m[i] = max(m[i], other[i])
	}
	return m
}

// match tells for each term how well a text, given with its tokens, holds it.
func (q question) match(links map[string][]link, text string, tokens []string) []float64 {
	m := make([]float64, len(q.terms))
	for _, t := range tokens {
		for _, l := range links[t] {
			m[l.term] = max(m[l.term], l.strength)
		}
	}
	for i, t := range q.terms {
		switch {
		case t.literal == nil:
		case t.literal.MatchString(text):
			m[i] = 1
		default:
			m[i] = 0
		}
	}
	return m
}

// links finds the tokens of the corpus that each term matches, and weighs the
// terms by how rare they are there.
func (o *Offline) links(q *question, passages []passage, c corpus) map[string][]link {
	links := map[string][]link{}
	words := sync.OnceValue(func() map[string]string { return vocabulary(*q, passages) })
	for i := range q.terms {
		t := &q.terms[i]
		frequency := -1
		add := func(token string, strength float64) {
			links[token] = append(links[token], link{i, strength})
			frequency = max(frequency, c.frequency[token])
		}
		for _, stem := range t.stems {
			if _, ok := c.frequency[stem]; ok {
				add(stem, 1/float64(len(t.stems)))
			}
		}
		for _, stem := range o.forms[t.word] {
			if _, ok := c.frequency[stem]; ok && !slices.Contains(t.stems, stem) {
				add(stem, 1)
			}
		}
		for _, stem := range t.forms {
			if _, ok := c.frequency[stem]; ok && !slices.Contains(t.stems, stem) {
				add(stem, 1/float64(len(t.stems)))
			}
		}
		if frequency < 0 {
			for w, strength := range slips(t.word, words()) {
				for _, stem := range o.analyze(words()[w], w) {
					add(stem, strength)
				}
			}
		}
		t.known = frequency >= 0
		frequency = max(frequency, 0)
		for _, stem := range o.kin[t.word] {
			if _, ok := c.frequency[stem]; ok && !slices.Contains(t.stems, stem) {
				t.akin = true
				links[stem] = append(links[stem], link{i, asKin})
			}
		}
		t.weigh(frequency, c.units)
		if t.loose && q.cue == cueMay {
			t.weight *= mayShare // pages say what is welcome, hardly ever what one does with it
		}
		if t.topic && q.hasSubject() {
			t.weight *= topicShare
		}
	}
	return links
}

// hasSubject tells whether a question says by itself what it is about; "when did
// it go live?" does not.
func (q question) hasSubject() bool {
	return slices.ContainsFunc(q.terms, func(t term) bool { return !t.topic && !t.frame && !t.loose })
}

// weigh sets a term's weights by how many of all units hold it.
func (t *term) weigh(frequency, units int) {
	odds := (float64(units-frequency) + 0.5) / (float64(frequency) + 0.5)
	t.weight = 0.25 + 0.75*math.Log(1+odds)/math.Log(2*float64(units)+2)
	if t.named {
		t.weight *= 1.4
	}
	if t.frame {
		t.weight *= 0.35
	}
	t.claim = t.weight
	if t.loose && !t.frame && !t.named {
		t.claim *= 0.35
	}
}

// vocabulary maps the passages' longer words, as written, to their languages.
func vocabulary(q question, passages []passage) map[string]string {
	words := map[string]string{}
	for _, p := range passages {
		add := func(text string) {
			for _, w := range wordPattern.FindAllString(strings.ToLower(text), -1) {
				if len(w) >= 4 {
					words[w] = p.lang(q)
				}
			}
		}
		add(p.Title)
		for _, u := range p.units {
			add(u.text)
			add(u.above())
		}
	}
	return words
}

// slips returns the words that word may be a slip of, or shares its beginning
// with, and how much each counts.
func slips(word string, words map[string]string) map[string]float64 {
	found := map[string]float64{}
	length := utf8.RuneCountInString(word)
	if length < 5 || strings.ContainsFunc(word, unicode.IsDigit) {
		return found
	}
	limit := 1
	if length >= 8 {
		limit = 2
	}
	for w := range words {
		shared := sharedPrefix(word, w)
		switch {
		case shared >= 1 && distance(word, w, limit) <= limit:
			found[w] = asTypo
		case shared >= 5 && shared*10 >= 7*max(length, utf8.RuneCountInString(w)):
			found[w] = asPrefix
		}
	}
	return found
}

func sharedPrefix(a, b string) int {
	n := 0
	for a != "" && b != "" {
		x, size := utf8.DecodeRuneInString(a)
		y, other := utf8.DecodeRuneInString(b)
		if x != y {
			break
		}
		n, a, b = n+1, a[size:], b[other:]
	}
	return n
}

// distance is the number of edits between a and b, swaps of neighbours counted as
// one, or more than limit.
func distance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		best := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			best = min(best, row[j])
		}
		if best > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
