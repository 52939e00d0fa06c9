package markdown

import (
	"bytes"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/yuin/goldmark/ast"
)

// code writes a block of code below the name of its language. While it grows it
// is plain, so that all that is new stands at its end; its colours and the button
// that copies it come once, when no more can follow.
func (w *writer) code(n ast.Node, id, language string) {
	lexer := languages()[strings.ToLower(language)]
	name := language
	if lexer != nil {
		name = lexer.Config().Name
	}
	label := w.labels.Code(name)
	if name == "" {
		name = label
	}
	w.open("div", id)
	w.raw(` class="code"><div class="code__bar"><span dir="auto">`)
	w.out = appendEscaped(w.out, name)
	w.raw("</span>")
	if w.closed {
		w.raw(`<button class="btn btn--plain btn--s needs-js" type="button" data-docent-copy-code>`)
		w.out = appendEscaped(w.out, w.labels.Copy)
		w.raw("</button>")
	}
	w.raw(`</div><pre tabindex="0" role="group"`)
	w.attr("aria-label", label)
	w.raw("><code")
	if language != "" {
		w.attr("class", "language-"+language)
	}
	w.raw(">")
	if html := w.colours(n, lexer); html != "" {
		w.raw(html)
	} else {
		for line := range codeLines(n, w.src) {
			w.out = appendEscaped(w.out, string(line))
		}
	}
	w.raw("</code></pre></div>")
}

// colours returns code with its tokens marked, "" if it is to stay plain.
func (w *writer) colours(n ast.Node, lexer chroma.Lexer) string {
	if lexer == nil || !w.closed || w.lexing >= maxLexing {
		return ""
	}
	var code []byte
	for line := range codeLines(n, w.src) {
		if code = append(code, line...); len(line) > maxCodeLine || len(code) > maxCode {
			return ""
		}
	}
	if w.coloured += len(code); w.coloured > maxCodeText {
		return ""
	}
	c := sharedHighlighter().colour(lexer, string(code))
	w.lexing += c.took
	return c.html
}

// codeLines yields the lines of a code block, the last one without its newline:
// where more is to come the end of the text is marked, and not on a line of its own.
func codeLines(n ast.Node, src []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		lines := n.Lines()
		for i := range lines.Len() {
			line := lines.At(i)
			line.ForceNewline = false
			value := line.Value(src)
			if i == lines.Len()-1 {
				value = bytes.TrimSuffix(value, []byte("\n"))
			}
			if !yield(value) {
				return
			}
		}
	}
}

// language returns a fence's language if it is fit for a class name. What some
// models write behind it, such as a file's name, is left out.
func language(name []byte) string {
	if i := bytes.IndexAny(name, ":,{"); i > 0 {
		name = name[:i]
	}
	if len(name) > 32 {
		return ""
	}
	for _, c := range name {
		if !isLower(c|0x20) && !isDigit(c) && strings.IndexByte("+#._-", c) < 0 {
			return ""
		}
	}
	return string(name)
}

// Labels are the words in the HTML that are not the text's own. What is missing
// is English.
type Labels struct {
	Table string                       // accessible name of a table's scroll box
	Copy  string                       // on the button that copies code
	Code  func(language string) string // of a code block's scroll box; language "": none that is known
}

func (l Labels) withDefaults() Labels {
	if l.Table == "" {
		l.Table = "Table"
	}
	if l.Copy == "" {
		l.Copy = "Copy"
	}
	if l.Code == nil {
		l.Code = func(language string) string {
			if language == "" {
				return "Code"
			}
			return "Code, " + language
		}
	}
	return l
}
