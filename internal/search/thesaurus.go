package search

import (
	"embed"
	"strings"
	"sync"
)

//go:embed thesaurus
var thesaurusFiles embed.FS

// related returns, by stem, the stems of words with a near meaning, with weights.
var related = sync.OnceValue(func() map[string][]variant {
	text, err := thesaurusFiles.ReadFile("thesaurus/en.txt")
	if err != nil {
		panic(err)
	}
	a := newAnalyzer("en")
	out := make(map[string][]variant, 30000)
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a.stop[word] {
			continue
		}
		key := a.token(word)
		for _, f := range strings.Fields(rest) {
			w, s := f[:len(f)-1], float64(f[len(f)-1]-'0')/9
			t := a.token(w)
			if t == "" || t == key {
				continue
			}
			out[key] = append(out[key], variant{t, s})
		}
	}
	return out
})
