package search

import (
	"embed"
	"strings"
	"sync"
)

//go:embed thesaurus/*.txt glossary/*.txt
var wordFiles embed.FS

// A thesaurus knows what else things may be called.
type thesaurus struct {
	entries map[string][]string // tokens of a word or phrase, joined by spaces -> terms
	longest int                 // words in the longest phrase
}

var englishThesaurus = sync.OnceValue(func() thesaurus {
	a := newAnalyzer("en")
	t := thesaurus{entries: map[string][]string{}}
	for _, l := range wordLines("thesaurus/en.txt") {
		if len(l.right) == 0 {
			l.right = l.left
		}
		t.add(a, l.left, a, l.right)
	}
	return t
})

// glossaries are the thesauri from one language to another, both ways of every
// file.
var glossaries = sync.OnceValue(func() map[[2]string]thesaurus {
	out := map[[2]string]thesaurus{}
	for _, pair := range [][2]string{{"es", "en"}, {"ar", "en"}} {
		from, to := newAnalyzer(pair[0]), newAnalyzer(pair[1])
		there, back := thesaurus{entries: map[string][]string{}}, thesaurus{entries: map[string][]string{}}
		for _, l := range wordLines("glossary/" + pair[0] + "-" + pair[1] + ".txt") {
			there.add(from, l.left, to, l.right)
			back.add(to, l.right, from, l.left)
		}
		out[pair] = there
		out[[2]string{pair[1], pair[0]}] = back
	}
	return out
})

// add lets the words on the left also mean those on the right. A phrase can only
// be on the left.
func (t *thesaurus) add(a *analyzer, left []string, b *analyzer, right []string) {
	for _, l := range left {
		key := a.tokens(l)
		if len(key) == 0 {
			continue
		}
		t.longest = max(t.longest, len(key))
		for _, r := range right {
			if value := b.tokens(r); len(value) == 1 && (len(key) > 1 || value[0] != key[0]) {
				k := strings.Join(key, " ")
				t.entries[k] = append(t.entries[k], value[0])
			}
		}
	}
}

// A wordLine is a line of a word file: "left, left > right, right".
type wordLine struct{ left, right []string }

func wordLines(name string) []wordLine {
	text, err := wordFiles.ReadFile(name)
	if err != nil {
		panic(err) // embedded: cannot be missing
	}
	split := func(list string) (words []string) {
		for w := range strings.SplitSeq(list, ",") {
			if w = strings.TrimSpace(w); w != "" {
				words = append(words, w)
			}
		}
		return words
	}
	var out []wordLine
	for l := range strings.Lines(string(text)) {
		if strings.HasPrefix(l, "#") {
			continue
		}
		left, right, _ := strings.Cut(l, ">")
		out = append(out, wordLine{split(left), split(right)})
	}
	return out
}
