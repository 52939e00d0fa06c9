package search

import (
	"embed"
	"strings"
	"sync"

	"golang.org/x/text/cases"
)

//go:embed stopwords/*.txt
var stopWordFiles embed.FS

// stopWords returns the folded words of a language that say nothing about what a
// text is about; none for a language without a list.
func stopWords(lang string) map[string]bool { return allStopWords()[lang] }

var allStopWords = sync.OnceValue(func() map[string]map[string]bool {
	files, err := stopWordFiles.ReadDir("stopwords")
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	lists := make(map[string]map[string]bool, len(files))
	for _, f := range files {
		text, err := stopWordFiles.ReadFile("stopwords/" + f.Name())
		if err != nil {
			panic(err)
		}
		lang := strings.TrimSuffix(f.Name(), ".txt")
		a := analyzer{lang: lang, fold: cases.Fold()}
		words := map[string]bool{}
		for _, w := range strings.Fields(string(text)) {
			words[a.folded(w)] = true
		}
		lists[lang] = words
	}
	return lists
})
