package markdown

import (
	"html"
	"net/url"
	"strings"
)

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
