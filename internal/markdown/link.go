package markdown

import (
	"bytes"
	"html"
	"net/url"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// linkParser is goldmark's, kept from reading a long line to its end for each
// of many links that never close.
type linkParser struct {
	parser.InlineParser
	parser.CloseBlocker
}

func newLinkParser() linkParser {
	p := parser.NewLinkParser()
	return linkParser{p, p.(parser.CloseBlocker)}
}

func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); bytes.HasPrefix(line, []byte("](")) && !closesSoon(line[2:]) {
		block = withoutDestination{block}
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// withoutDestination hides what follows a link's text, so that it stays text.
type withoutDestination struct{ text.Reader }

func (withoutDestination) Peek() byte { return ' ' }

// closesSoon reports whether a destination may end within reach.
func closesSoon(dest []byte) bool {
	if len(dest) <= maxDestination {
		return true
	}
	dest = bytes.TrimLeft(dest, " ")
	depth := 0
	for i, c := range dest[:min(len(dest), maxDestination)] {
		switch {
		case i == 0 && c == '<':
			return bytes.IndexByte(dest[:min(len(dest), maxDestination)], '>') > 0
		case c == '(':
			if depth++; depth > maxParens {
				return false
			}
		case c == ')':
			if depth--; depth < 0 {
				return true
			}
		case c <= ' ':
			rest := bytes.TrimLeft(dest[i:], " \n")
			return len(rest) == 0 || rest[0] == ')' || rest[0] == '"' || rest[0] == '\''
		}
	}
	return false
}

// href returns the destination of a link as it may stand in an href attribute,
// not yet escaped for HTML. dest is the raw destination of the Markdown, or
// plain text with raw false. External addresses need the consent of allow.
func href(dest string, raw bool, allow func(*url.URL) bool) (string, bool) {
	if raw {
		dest = resolve([]byte(dest))
	}
	dest = withoutBlank(dest)
	if dest == "" || !safeScheme(dest) {
		return "", false
	}
	path, _, _ := strings.Cut(dest, "?")
	path, _, _ = strings.Cut(path, "#")
	if strings.Contains(path, `\`) { // browsers read it as a slash: another way to write //host
		return "", false
	}
	u, err := url.Parse(dest)
	if err != nil || u.User != nil {
		return "", false
	}
	switch u.Scheme {
	case "mailto":
		if !strings.Contains(u.Opaque, "@") {
			return "", false
		}
		return u.String(), true
	case "":
		if u.Host == "" && !strings.HasPrefix(dest, "//") {
			return u.String(), true
		}
		u.Scheme = "https"
	}
	if u.Host == "" || allow == nil || !allow(u) {
		return "", false
	}
	return u.String(), true
}

// withoutBlank removes what browsers ignore in an address: white space,
// control and invisible characters.
func withoutBlank(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || isControl(r) || r == '\u00a0' || r == '\u00ad' || r == '\ufeff' || r >= '\u2000' && r <= '\u200f' || r >= '\u2028' && r <= '\u202f' || r >= '\u205f' && r <= '\u206f' {
			return -1
		}
		return r
	}, s)
}

// safeScheme reports whether dest is relative or has an allowed scheme, also
// after its entities and percent escapes were decoded, more than once.
func safeScheme(dest string) bool {
	for range 4 {
		if !allowedScheme(dest) {
			return false
		}
		decoded := html.UnescapeString(dest)
		if plain, err := url.PathUnescape(decoded); err == nil {
			decoded = plain
		}
		decoded = withoutBlank(decoded)
		if decoded == dest {
			break
		}
		dest = decoded
	}
	return allowedScheme(dest)
}

func allowedScheme(dest string) bool {
	i := strings.IndexAny(dest, ":/?#")
	if i < 0 || dest[i] != ':' {
		return true
	}
	switch strings.ToLower(dest[:i]) {
	case "http", "https", "mailto":
		return true
	}
	return false
}
