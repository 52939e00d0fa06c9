package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minSpellRunes is how long a word must be to be taken for a misspelling.
const minSpellRunes = 4

// correct returns the term of the index that a word unknown to it most likely
// means, "" when none is near: one edit away from the word as typed, or two from
// its stem when it is long. Edits insert, drop or replace a letter or swap two.
func (l *lexicon) correct(a *analyzer, word string) string {
	n := utf8.RuneCountInString(word)
	if n < minSpellRunes || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return ""
	}
	best, bestScore := "", 0
	for _, w := range edits(word) {
		token := a.token(w)
		if token == "" || utf8.RuneCountInString(token) < 3 {
			continue
		}
		score := l.frequency[token]
		if score > 0 && sameStart(w, word) {
			score *= 20 // people seldom get the first letter wrong
		}
		if score > bestScore || score == bestScore && token < best {
			best, bestScore = token, score
		}
	}
	if best != "" || n < 7 {
		return best
	}
	return l.nearest(a.token(word))
}

func sameStart(a, b string) bool {
	x, _ := utf8.DecodeRuneInString(a)
	y, _ := utf8.DecodeRuneInString(b)
	return x == y
}

// edits are the words one edit away from word.
func edits(word string) []string {
	runes := []rune(word)
	letters := alphabet(runes[0])
	out := make([]string, 0, (2*len(letters)+2)*len(runes)+len(letters))
	for i := 0; i <= len(runes); i++ {
		head, tail := string(runes[:i]), runes[i:]
		if len(tail) > 0 {
			out = append(out, head+string(tail[1:]))
		}
		if len(tail) > 1 && tail[0] != tail[1] {
			out = append(out, head+string(tail[1])+string(tail[0])+string(tail[2:]))
		}
		for _, c := range letters {
			out = append(out, head+string(c)+string(tail))
			if len(tail) > 0 && c != tail[0] {
				out = append(out, head+string(c)+string(tail[1:]))
			}
		}
	}
	return out
}

// alphabet holds the letters a word that starts with r may be spelt with.
func alphabet(r rune) []rune {
	span := func(from, to rune) []rune {
		var out []rune
		for c := from; c <= to; c++ {
			out = append(out, c)
		}
		return out
	}
	switch {
	case unicode.Is(unicode.Latin, r):
		return span('a', 'z')
	case unicode.Is(unicode.Cyrillic, r):
		return span('а', 'я')
	case unicode.Is(unicode.Greek, r):
		return span('α', 'ω')
	case unicode.Is(unicode.Arabic, r):
		return span('ا', 'ي')
	case unicode.Is(unicode.Hebrew, r):
		return span('א', 'ת')
	}
	return nil
}

// nearest is the most frequent term within two edits of stem that starts like it.
func (l *lexicon) nearest(stem string) string {
	target := []rune(stem)
	if len(target) < 6 {
		return ""
	}
	best, bestCount := "", 0
	for term, count := range l.frequency {
		if count < bestCount || len(term) > 4*len(stem) || !sameStart(term, stem) {
			continue
		}
		n := utf8.RuneCountInString(term)
		if n < len(target)-2 || n > len(target)+2 || n < 5 {
			continue
		}
		if (count > bestCount || term < best) && distanceWithin([]rune(term), target, 2) {
			best, bestCount = term, count
		}
	}
	return best
}

// distanceWithin reports whether a and b are at most limit edits apart, counting
// a swap of neighbours as one.
func distanceWithin(a, b []rune, limit int) bool {
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	cur := make([]int, len(b)+1)
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
			least = min(least, cur[j])
		}
		if least > limit && slices.Min(prev) > limit {
			return false
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)] <= limit
}
