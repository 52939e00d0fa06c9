package search

import (
	"slices"
	"strings"

	"golang.org/x/text/cases"
)

// GuessLanguage is the language a question is most likely written in: the
// preferred one unless another's small words stand in it more often. Questions of
// keywords tell nothing and keep the preferred one.
func GuessLanguage(text, preferred string) string {
	lists := allStopWords()
	counts := make(map[string]int, len(lists))
	folding := analyzer{fold: cases.Fold()}
	for _, word := range strings.Fields(text) {
		word = folding.folded(strings.TrimFunc(word, func(r rune) bool { return !isWordRune(r) }))
		for lang, list := range lists {
			if list[word] {
				counts[lang]++
			}
		}
	}
	best := preferred
	langs := make([]string, 0, len(counts))
	for lang := range counts {
		langs = append(langs, lang)
	}
	slices.Sort(langs)
	for _, lang := range langs {
		if counts[lang] >= 2 && counts[lang] > counts[best] {
			best = lang
		}
	}
	return best
}

// cueWords say what kind of answer is wanted more than what it is about.
var cueWords = wordSet(`definition definitions define defined meaning mean means explain explanation describe description
difference differences different compare comparison versus vs
list lists name names kind kinds type types sort example examples step steps tip tips way ways reason reasons
best good idea recommend recommended advice fine ok okay okey allowed possible
new recent recently latest current currently
information info details day time people person
definicion significado significa diferencia diferencias lista tipo tipos ejemplo ejemplos pasos consejos manera forma mejor`)

func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		out[w] = true
	}
	return out
}
