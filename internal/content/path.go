package content

import (
	"errors"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxPath bounds an address, in bytes: more does not fit into an index entry.
const maxPath = 1000

// NormalizePath gives an address its one spelling: lower case, composed Unicode,
// a slash at both ends. It refuses what could not be typed or would lead
// elsewhere.
func NormalizePath(p string) (string, error) {
	p = norm.NFC.String(strings.ToLower(p))
	switch {
	case len(p) > maxPath:
		return "", errors.New("is too long")
	case !utf8.ValidString(p):
		return "", errors.New("is not valid text")
	}
	p = strings.Trim(p, "/")
	if p == "" {
		return "/", nil
	}
	for segment := range strings.SplitSeq(p, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", errors.New(`must not contain "//", "." or ".."`)
		}
		for _, r := range segment {
			if !pathRune(r) {
				return "", errors.New("may hold letters, digits and - _ . ~ only")
			}
		}
	}
	return "/" + p + "/", nil
}

// CleanPath makes a valid address of any text, replacing what [NormalizePath]
// would refuse.
func CleanPath(p string) string {
	out := "/"
	for segment := range strings.SplitSeq(p, "/") {
		s := dashed(segment, pathRune)
		if s == "" || s == "." || s == ".." {
			continue
		}
		if len(out)+len(s)+1 > maxPath {
			break
		}
		out += s + "/"
	}
	return out
}

// Slug makes a path segment of a title or a name: "Opening hours" becomes
// "opening-hours". It is empty when nothing of the text can stand in an address.
func Slug(s string) string {
	return truncate(dashed(s, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
	}), 120)
}

// Humanize makes a label of a slug: "plain-language" becomes "Plain language".
func Humanize(slug string) string {
	s := strings.Join(strings.FieldsFunc(slug, func(r rune) bool { return r == '-' || r == '_' || unicode.IsSpace(r) }), " ")
	if s == "" {
		return slug
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// Parents lists the addresses above one, nearest first, the root last.
func Parents(p string) []string {
	var out []string
	for p != "/" && p != "" {
		p = path.Dir(strings.TrimSuffix(p, "/"))
		if p != "/" {
			p += "/"
		}
		out = append(out, p)
	}
	return out
}

func pathRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("-_.~", r)
}

// dashed lowers s and puts one dash for every run of runes that may not stay.
func dashed(s string, keep func(rune) bool) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFC.String(strings.ToLower(s)) {
		if !keep(r) || r == utf8.RuneError {
			gap = true
			continue
		}
		if gap && b.Len() > 0 {
			b.WriteByte('-')
		}
		gap = false
		b.WriteRune(r)
	}
	return b.String()
}

// truncate cuts s to at most n bytes without splitting a rune.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], "-")
}
