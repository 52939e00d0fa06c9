package markdown

import (
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// Lexers are regular expressions that can backtrack without end, and the code is
// whatever a model was talked into. So code is bounded in size, and lexing in time:
// a text that used its time up gets no more colours.
const (
	maxCode     = 16 << 10               // bytes of one block that is coloured
	maxCodeLine = 1000                   // bytes of its longest line
	maxCodeText = 64 << 10               // bytes of all coloured blocks of one text
	maxLexing   = 500 * time.Millisecond // for all code of one text
	maxKept     = 4 << 20                // bytes of coloured code that is remembered
	tooSlowFor  = time.Hour              // code that was too slow is tried again: the machine may have been
)

// languages finds the lexers of well-known languages by the names that fences use.
var languages = sync.OnceValue(func() map[string]chroma.Lexer {
	known := map[string]chroma.Lexer{}
	for _, name := range []string{
		"Bash", "Bash Session", "C", "C#", "C++", "CSS", "Diff", "Docker", "Go", "GraphQL", "HTML", "HTTP", "INI", "Java", "JavaScript", "JSON", "Kotlin",
		"Lua", "Makefile", "PHP", "PowerShell", "Python", "R", "Ruby", "Rust", "SCSS", "SQL", "Swift", "TOML", "Twig", "TypeScript", "XML", "YAML",
	} {
		lexer := lexers.Get(name)
		for _, alias := range lexer.Config().Aliases {
			known[alias] = lexer
		}
	}
	return known
})

// coloured is code as HTML; html is "" if it stays plain.
type coloured struct {
	html  string
	took  time.Duration
	until time.Time // when to try again; zero: never
}

// highlighter colours code and remembers what it did: pages and answers are shown
// more often than they are written, and slow code should be slow only once.
type highlighter struct {
	mu   sync.Mutex
	kept map[[sha256.Size]byte]coloured
	size int
}

var sharedHighlighter = sync.OnceValue(func() *highlighter {
	return &highlighter{kept: map[[sha256.Size]byte]coloured{}}
})

func codeKey(lexer chroma.Lexer, code string) [sha256.Size]byte {
	return sha256.Sum256([]byte(lexer.Config().Name + "\x00" + code))
}

func (h *highlighter) colour(lexer chroma.Lexer, code string) coloured {
	key := codeKey(lexer, code)
	h.mu.Lock()
	c, ok := h.kept[key]
	h.mu.Unlock()
	if ok && (c.until.IsZero() || time.Now().Before(c.until)) {
		return c
	}
	c = colourWithin(maxLexing, lexer, code)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.size += len(key) + len(c.html); h.size > maxKept {
		clear(h.kept)
		h.size = len(key) + len(c.html)
	}
	h.kept[key] = c
	return c
}

// colourWithin is colour with a bound on the time it takes. A lexer can be stopped
// between two tokens only; one that is lost in a single token is left behind. It
// ends after a quarter of a second for each of a few rules, chroma's own bound.
func colourWithin(bound time.Duration, lexer chroma.Lexer, code string) coloured {
	colour(lexer, "", time.Now()) // compiles the rules, which is not the code's fault
	start := time.Now()
	done := make(chan coloured, 1)
	go func() { done <- colour(lexer, code, start.Add(bound)) }()
	late := time.NewTimer(bound)
	defer late.Stop()
	var c coloured
	select {
	case c = <-done:
	case <-late.C:
	}
	if c.took = time.Since(start); c.took >= bound {
		c.took, c.until = bound, time.Now().Add(tooSlowFor)
	}
	return c
}

// colour escapes code and puts its tokens into spans. A lexer that fails, or that
// does not return the code as it was, leaves it plain.
func colour(lexer chroma.Lexer, code string, deadline time.Time) (c coloured) {
	defer func() {
		if recover() != nil {
			c = coloured{}
		}
	}()
	tokens, err := lexer.Tokenise(nil, code)
	if err != nil {
		return coloured{}
	}
	out := make([]byte, 0, 2*len(code))
	class, rest := "", code
	for t := tokens(); t != chroma.EOF; t = tokens() {
		if time.Now().After(deadline) {
			return coloured{}
		}
		value := t.Value
		if !strings.HasPrefix(rest, value) {
			if value = strings.TrimSuffix(value, "\n"); value != rest { // lexers may add a last line's end
				return coloured{}
			}
		}
		rest = rest[len(value):]
		if value == "" {
			continue
		}
		if now := tokenClass(t.Type); now != class {
			if class != "" {
				out = append(out, "</span>"...)
			}
			if now != "" {
				out = append(out, `<span class="`+now+`">`...)
			}
			class = now
		}
		out = appendEscaped(out, value)
	}
	if class != "" {
		out = append(out, "</span>"...)
	}
	return coloured{html: string(appendEscaped(out, rest))}
}

// tokenClass returns the class of a token, "" if it looks like all text. Few
// colours say more than many.
func tokenClass(t chroma.TokenType) string {
	switch {
	case t.InCategory(chroma.Keyword), t == chroma.NameTag, t == chroma.NameBuiltin, t == chroma.OperatorWord,
		t.InSubCategory(chroma.CommentPreproc), t == chroma.GenericSubheading:
		return "k"
	case t.InSubCategory(chroma.LiteralNumber):
		return "m"
	case t.InCategory(chroma.Literal):
		return "s"
	case t.InCategory(chroma.Comment):
		return "c"
	case t == chroma.GenericInserted:
		return "gi"
	case t == chroma.GenericDeleted:
		return "gd"
	}
	return ""
}
