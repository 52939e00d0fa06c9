package media

import (
	"context"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tetratelabs/wazero"
)

// Limits of what is read of one document.
const (
	maxText     = 2 << 20 // bytes of text
	maxPages    = 1000
	maxReadTime = time.Minute
)

// Writing is what a document says, as Markdown.
type Writing struct {
	Pages []string // one for each page of a PDF; else all of it is one
	Cut   bool     // there was more than is read
}

// A Reader reads what documents say. It is safe for concurrent use.
type Reader struct {
	compiled wazero.CompilationCache
}

// NewReader returns a reader. What it prepares for reading PDF files takes some
// seconds; it is kept in a folder, if one is given, so that it happens once.
func NewReader(folder string) (*Reader, error) {
	if folder == "" {
		return &Reader{compiled: wazero.NewCompilationCache()}, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	compiled, err := wazero.NewCompilationCacheWithDir(folder)
	if err != nil {
		return nil, err
	}
	return &Reader{compiled: compiled}, nil
}

// Read returns what a document of a kind that [Detect] found says. Documents that
// cannot be read are [ErrDamaged], those that take too long [ErrSlow]; a scan without
// text is read as empty.
func (r *Reader) Read(ctx context.Context, f *os.File, mime string) (Writing, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Writing{}, err
	}
	switch mime {
	case PDF:
		return r.readPDF(ctx, f)
	case DOCX:
		return readDOCX(ctx, f, time.Now().Add(maxReadTime))
	case Text, Markdown:
		b, err := io.ReadAll(io.LimitReader(f, maxText+1))
		if err != nil {
			return Writing{}, err
		}
		text := strings.TrimPrefix(strings.ToValidUTF8(string(b[:min(len(b), maxText)]), ""), "\ufeff")
		if mime == Text {
			text = paragraphs(text)
		}
		return Writing{Pages: []string{strings.ReplaceAll(text, "\f", "\n\n")}, Cut: len(b) > maxText}, nil
	}
	return Writing{}, ErrUnknown
}

// paragraphs makes Markdown of plain text in which blank lines part paragraphs.
func paragraphs(text string) string {
	var out strings.Builder
	for block := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\f", "\n\n").Replace(text), "\n\n") {
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		empty := true
		for _, line := range lines {
			if line = strings.TrimSpace(line); line != "" {
				out.WriteString(escape(line))
				out.WriteByte('\n')
				empty = false
			}
		}
		if !empty {
			out.WriteByte('\n')
		}
	}
	return strings.TrimSpace(out.String())
}

// escape writes a line of text so that Markdown takes none of it for markup, but
// for bullets, which are markup in print too.
func escape(line string) string {
	var out strings.Builder
	for _, bullet := range []string{"• ", "◦ ", "▪ ", "‣ ", "· ", "– ", "- ", "* "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok && strings.TrimSpace(rest) != "" {
			out.WriteString("- ")
			line = rest
			break
		}
	}
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	for i, r := range line {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '<', '>', '#', '|', '~', '&':
			out.WriteByte('\\')
		case '+', '-', '=':
			if i == 0 {
				out.WriteByte('\\')
			}
		case '.', ')':
			if i == digits && digits > 0 {
				out.WriteByte('\\')
			}
		}
		out.WriteRune(r)
	}
	return out.String()
}

// printed makes Markdown of a page as it is printed: lines end where the paper
// does, and a short line that ends a sentence ends a paragraph.
func printed(page string) string {
	page = strings.Map(func(r rune) rune {
		if r == '\n' || !unicode.IsControl(r) && r != utf8.RuneError && r != '\ufffe' && r != '\uffff' {
			return r
		}
		if r == '\t' {
			return ' '
		}
		return -1
	}, strings.NewReplacer("\r\n", "\n", "\x02\r\n", "", "\x02", "").Replace(page))
	lines := strings.Split(page, "\n")
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(strings.TrimSpace(line)))
	}
	var out strings.Builder
	for _, line := range lines {
		line = strings.TrimSpace(line)
		out.WriteString(escape(line))
		out.WriteByte('\n')
		if n := utf8.RuneCountInString(line); n < widest*2/3 || n < widest*9/10 && strings.ContainsAny(line[max(0, len(line)-1):], ".:?!") {
			out.WriteByte('\n')
		}
	}
	return strings.TrimSpace(out.String())
}
