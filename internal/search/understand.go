package search

import (
	"slices"
	"strings"
)

// understand turns a question into concepts: its words in the languages it may be
// written in, compounds, corrected spellings and translations.
func (e *Engine) understand(q Query, lex *lexicon) []concept {
	langs := []string{baseLang(q.Lang)}
	if q.Lang == "" {
		langs = nil
	}
	for _, l := range lex.languages[:min(1, len(lex.languages))] {
		if !slices.Contains(langs, baseLang(l)) {
			langs = append(langs, baseLang(l))
		}
	}
	if len(langs) == 0 {
		langs = []string{"en"}
	}
	concepts := parseQuery(q.Text, langs)
	spelling := newAnalyzer(langs[0])
	for i := range concepts {
		concepts[i].cue = cueWords[concepts[i].word]
		lex.weigh(&concepts[i])
		if c := &concepts[i]; !c.known && !c.extra {
			if term := lex.correct(spelling, c.word); term != "" {
				c.add(term, 0.8)
				lex.weigh(c)
			}
		}
		c := &concepts[i]
		if !c.extra && !c.cue {
			own := slices.Clone(c.variants)
			for _, v := range own {
				for _, r := range related()[v.term] {
					if lex.frequency[r.term] > 0 {
						c.add(r.term, min(0.6, r.weight*v.weight*0.6))
					}
				}
			}
			lex.weigh(c)
		}
	}
	return slices.DeleteFunc(concepts, func(c concept) bool { return c.extra && !c.known })
}

// weigh sets how much a concept says.
func (l *lexicon) weigh(c *concept) {
	n := 0
	for _, v := range c.variants {
		if f := l.frequency[v.term]; f > 0 {
			c.known = true
			if v.weight >= 0.8 {
				n = max(n, f)
			}
		}
	}
	c.idf = l.idf(n)
	if !c.known {
		c.idf = l.idf(1)
	}
}

var cueWords = wordSet(`definition definitions define defined meaning mean means explain explanation describe description
difference differences different compare comparison versus vs
list lists name names kind kinds type types sort example examples step steps tip tips way ways reason reasons
best good idea recommend recommended advice fine ok okay okey allowed possible
new recent recently latest current currently
information info details day time people person
definicion significado significa diferencia diferencias lista tipo tipos ejemplo ejemplos pasos consejos manera forma mejor`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}
