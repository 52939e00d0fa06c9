package search

import "slices"

// How well other words stand for the one a visitor typed. A correction and a
// translation take its place; a synonym only comes near.
const (
	correctionWeight  = 0.8
	translationWeight = 0.75
	synonymWeight     = 0.6
)

// understand turns a question into concepts: its words in the languages it may be
// written in, with corrected spellings, translations and synonyms.
func understand(q Query, lex *lexicon) []concept {
	langs := queryLanguages(q, lex)
	concepts := parseQuery(q.Text, q.Before, langs)
	spelling := newAnalyzer(langs[0])
	// Words of a language without documents are not misspelt, they are foreign.
	native := slices.ContainsFunc(lex.languages, func(l string) bool { return baseLang(l) == langs[0] })
	for i := range concepts {
		c := &concepts[i]
		lex.weigh(c)
		if c.known || c.compound || !native {
			continue
		}
		if term := lex.correct(spelling, c.word); term != "" {
			c.variants = append(c.variants, variant{term, correctionWeight})
		}
	}
	if langs[0] == "en" {
		expand(lex, concepts, englishThesaurus(), synonymWeight)
	}
	for _, l := range lex.languages {
		if to := baseLang(l); to != langs[0] {
			if t, ok := glossaries()[[2]string{langs[0], to}]; ok {
				expand(lex, concepts, t, translationWeight)
			}
		}
	}
	for i := range concepts {
		lex.weigh(&concepts[i])
	}
	return slices.DeleteFunc(concepts, func(c concept) bool { return c.compound && !c.known })
}

// queryLanguages are the languages a question is analysed in: the one it is most
// likely written in, the preferred one, the one most documents have.
func queryLanguages(q Query, lex *lexicon) []string {
	var langs []string
	add := func(lang string) {
		if lang != "" && !slices.Contains(langs, lang) {
			langs = append(langs, lang)
		}
	}
	preferred := baseLang(q.Lang)
	add(GuessLanguage(q.Text, preferred))
	add(preferred)
	if len(lex.languages) > 0 {
		add(baseLang(lex.languages[0]))
	}
	if len(langs) == 0 {
		return []string{"en"}
	}
	return langs
}

// expand adds what else the concepts, alone or as phrases, may be called.
func expand(lex *lexicon, concepts []concept, t thesaurus, weight float64) {
	own := make([]string, len(concepts))
	var words []int // concepts that are words of the text, in order
	for i, c := range concepts {
		own[i] = c.variants[0].term
		if last := c.variants[len(c.variants)-1]; last.weight == correctionWeight {
			own[i] = last.term
		}
		if !c.compound {
			words = append(words, i)
		}
	}
	add := func(key string, of ...int) {
		for _, term := range t.entries[key] {
			if lex.frequency[term] == 0 {
				continue
			}
			for _, i := range of {
				concepts[i].add(term, weight)
			}
		}
	}
	for i, c := range concepts {
		if c.compound {
			add(own[i], i)
		}
	}
	for i := range words {
		key := ""
		for n := 1; n <= t.longest && i+n <= len(words); n++ {
			key += " " + own[words[i+n-1]]
			add(key[1:], words[i:i+n]...)
		}
	}
}

// weigh sets how much a concept says: the rarer its words, the more. What was
// typed decides, what takes its place only where the index does not know that. A
// concept unknown altogether says most; that it is missing is part of the score.
func (l *lexicon) weigh(c *concept) {
	typed, instead := 0, 0
	for _, v := range c.variants {
		f := l.frequency[v.term]
		c.known = c.known || f > 0
		switch {
		case v.weight == 1:
			typed = max(typed, f)
		case v.weight >= translationWeight:
			instead = max(instead, f)
		}
	}
	if typed == 0 {
		typed = instead
	}
	c.idf = l.idf(max(typed, 1))
}
