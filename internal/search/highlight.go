package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Fragment is a piece of a passage that either matches what was asked or not.
type Fragment struct {
	Text  string
	Match bool
}

// Highlight cuts plain text to about limit characters around the words that were
// asked for, and marks those: words are the same when the index takes them for
// the same. Text in front of or behind the cut is an ellipsis.
func Highlight(lang, text, query string, limit int) []Fragment {
	a := newAnalyzer(lang)
	wanted := map[string]bool{}
	for _, token := range a.tokens(query) {
		wanted[token] = true
	}
	marks := matches(a, text, wanted)
	from, to := window(text, marks, limit)
	var out []Fragment
	add := func(s string, match bool) {
		if s != "" {
			out = append(out, Fragment{s, match})
		}
	}
	if from > 0 {
		add("… ", false)
	}
	at := from
	for _, m := range marks {
		if m.start < from || m.end > to {
			continue
		}
		add(text[at:m.start], false)
		add(text[m.start:m.end], true)
		at = m.end
	}
	add(strings.TrimRightFunc(text[at:to], unicode.IsSpace), false)
	if to < len(text) {
		add(" …", false)
	}
	return out
}

// A span is a part of a text, in bytes.
type span struct{ start, end int }

// matches finds the words of text that are wanted.
func matches(a *analyzer, text string, wanted map[string]bool) []span {
	var out []span
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isUnspaced(r):
			end := runEnd(text, i, isUnspaced)
			out = append(out, unspaced(text, i, end, wanted)...)
			i = end
		case isWordRune(r):
			end := wordEnd(text, i)
			if slices.ContainsFunc(a.tokens(text[i:end]), func(t string) bool { return wanted[t] }) {
				out = append(out, span{i, end})
			}
			i = end
		default:
			i += size
		}
	}
	return out
}

// unspaced finds wanted pairs in a run of a script without spaces; pairs that
// touch are one mark.
func unspaced(text string, start, end int, wanted map[string]bool) []span {
	var out []span
	prev := -1
	for i, r := range text[start:end] {
		at, next := start+i, start+i+utf8.RuneLen(r)
		if prev >= 0 && wanted[text[prev:next]] {
			if n := len(out); n > 0 && out[n-1].end > prev {
				out[n-1].end = next
			} else {
				out = append(out, span{prev, next})
			}
		}
		prev = at
	}
	return out
}

// window is the part of text to show: where most matches are, with whole words at
// its ends.
func window(text string, marks []span, limit int) (from, to int) {
	if utf8.RuneCountInString(text) <= limit {
		return 0, len(text)
	}
	best := 0
	for i, m := range marks {
		n := 0
		for _, other := range marks[i:] {
			if other.end-m.start > limit {
				break
			}
			n++
		}
		if n > best {
			best, from = n, m.start
		}
	}
	// A few words before the first match say what it is about.
	for lead := limit / 5; lead > 0 && from > 0; lead-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from > 0 {
		if i := strings.IndexFunc(text[from:], unicode.IsSpace); i >= 0 && i < limit/5 {
			from += i + 1
		}
	}
	to = from
	for n := 0; n < limit && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to < len(text) {
		if i := strings.LastIndexFunc(text[from:to], unicode.IsSpace); i > (to-from)/2 {
			to = from + i
		}
	}
	return from, to
}
