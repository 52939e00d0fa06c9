package search

import (
	"strings"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/arabic"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
)

// A stemmer reduces a folded word to what its inflections share.
type stemmer func(word string) string

// newStemmer returns the stemmer of a language; words of a language without one
// stay as they are.
func newStemmer(lang string) stemmer {
	rules, ok := map[string]func(*snowballstem.Env) bool{
		"ar": arabic.Stem, "da": danish.Stem, "de": german.Stem, "en": english.Stem,
		"es": spanish.Stem, "fi": finnish.Stem, "fr": french.Stem, "it": italian.Stem,
		"nb": norwegian.Stem, "nl": dutch.Stem, "no": norwegian.Stem, "pt": portuguese.Stem,
		"ru": russian.Stem, "sv": swedish.Stem,
	}[lang]
	if !ok {
		return func(word string) string { return word }
	}
	env := snowballstem.NewEnv("")
	return func(word string) string {
		env.SetCurrent(reaccent(lang, word))
		rules(env)
		stem := env.Current()
		switch lang {
		case "es", "pt":
			stem = unaccent.Replace(stem)
		}
		if stem == "" {
			return word
		}
		return stem
	}
}

var unaccent = strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ã", "a", "õ", "o", "ç", "c", "ñ", "n")

// reaccent gives endings back the accents that folding took and that the
// language's rules look for, so that words match however they were typed.
func reaccent(lang, word string) string {
	endings := map[string][][2]string{
		"es": {{"cion", "ción"}, {"sion", "sión"}},
		"pt": {{"cao", "ção"}, {"coes", "ções"}},
	}[lang]
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(word, e[0]); ok && stem != "" {
			return stem + e[1]
		}
	}
	return word
}
