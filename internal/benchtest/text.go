package benchtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// Answer returns about size bytes of what models write: headings, paragraphs with
// links and markers of sources 1 to 9, lists, tables, code and some Chinese. The
// same size always gives the same text.
func Answer(size int) string {
	w := writer{r: rand.New(rand.NewPCG(7, 11))}
	for i := 1; w.b.Len() < size; i++ {
		fmt.Fprintf(&w.b, "## %d. %s\n\n", i, w.words(2, 5))
		w.paragraph()
		switch i % 5 {
		case 0:
			w.table()
		case 1, 3:
			w.list("- ")
		case 2:
			w.code()
		case 4:
			w.list("1. ")
			w.b.WriteString("**重要提示（Important）：**请注意，图书馆九点开门【2】。 参见 *营业时间* [3]。\n\n")
		}
		w.paragraph()
	}
	text := w.b.String()[:size]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

type writer struct {
	r *rand.Rand
	b strings.Builder
}

var vocabulary = strings.Fields("the library opens at nine on weekdays and members may borrow ten books for three weeks a card costs nothing when you bring " +
	"proof of your address returns go into the box beside the door late fees were abolished last spring ask at the desk about reading rooms " +
	"printers laptops inter-library loans and opening hours during holidays which differ between branches")

func (w *writer) words(least, most int) string {
	words := make([]string, least+w.r.IntN(most-least+1))
	for i := range words {
		words[i] = vocabulary[w.r.IntN(len(vocabulary))]
	}
	return strings.Join(words, " ")
}

func (w *writer) sentence() {
	fmt.Fprintf(&w.b, "The %s ", w.words(4, 9))
	switch w.r.IntN(6) {
	case 0:
		fmt.Fprintf(&w.b, "**%s** ", w.words(1, 3))
	case 1:
		fmt.Fprintf(&w.b, "`%s` ", w.words(1, 2))
	case 2:
		fmt.Fprintf(&w.b, "[%s](/visit/%d) ", w.words(1, 3), w.r.IntN(90))
	case 3:
		fmt.Fprintf(&w.b, "*%s* ", w.words(1, 2))
	}
	w.b.WriteString(w.words(3, 8))
	if w.r.IntN(2) == 0 {
		fmt.Fprintf(&w.b, " [%d]", 1+w.r.IntN(9))
	}
	w.b.WriteString(". ")
}

func (w *writer) paragraph() {
	for range 2 + w.r.IntN(3) {
		w.sentence()
	}
	w.b.WriteString("\n\n")
}

func (w *writer) list(marker string) {
	for range 3 + w.r.IntN(4) {
		fmt.Fprintf(&w.b, "%s%s [%d]\n", marker, w.words(4, 14), 1+w.r.IntN(9))
		if marker == "- " && w.r.IntN(4) == 0 {
			fmt.Fprintf(&w.b, "  - **%s** %s\n", w.words(1, 2), w.words(3, 7))
		}
	}
	w.b.WriteByte('\n')
}

func (w *writer) table() {
	w.b.WriteString("| Branch | Opens | Note |\n| --- | ---: | --- |\n")
	for range 4 + w.r.IntN(4) {
		fmt.Fprintf(&w.b, "| %s | %d:00 | %s [%d] |\n", w.words(1, 2), 8+w.r.IntN(4), w.words(2, 6), 1+w.r.IntN(9))
	}
	w.b.WriteByte('\n')
}

func (w *writer) code() {
	w.b.WriteString("```go\nfunc main() {\n")
	for i := range 3 + w.r.IntN(6) {
		fmt.Fprintf(&w.b, "\tfmt.Println(%d, %q) // %s\n", i, w.words(1, 4), w.words(2, 4))
	}
	w.b.WriteString("}\n```\n\n")
}

// Hostile are texts of one block of about size bytes each, which never settles
// before its end.
func Hostile(size int) map[string]string {
	texts := map[string]string{}
	for name, c := range map[string]struct{ head, line string }{
		"fence":     {"```\n", "x := f(y) // some code here\n"},
		"list":      {"", "- an item of the list [1]\n"},
		"table":     {"| a | b |\n|---|---|\n", "| some text | more of it |\n"},
		"paragraph": {"", "words **of** one paragraph [2] "},
	} {
		texts[name] = c.head + strings.Repeat(c.line, size/len(c.line))
	}
	return texts
}

// Tokens cuts a text as models send it: about four bytes each, never inside a
// character.
func Tokens(text string) []string {
	var tokens []string
	for text != "" {
		n := min(4, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		tokens = append(tokens, text[:n])
		text = text[n:]
	}
	return tokens
}

// Pieces joins every n tokens of a text.
func Pieces(text string, n int) []string {
	tokens := Tokens(text)
	var pieces []string
	for len(tokens) > 0 {
		k := min(n, len(tokens))
		pieces = append(pieces, strings.Join(tokens[:k], ""))
		tokens = tokens[k:]
	}
	return pieces
}
