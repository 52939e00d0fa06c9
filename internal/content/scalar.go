package content

import (
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"docent/internal/config"
)

func text(value any, limit int) (string, error) {
	s, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("must be text")
	}
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	switch {
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return "", fmt.Errorf("holds characters that are no text")
	case utf8.RuneCountInString(s) > limit:
		return "", fmt.Errorf("is longer than %d characters", limit)
	}
	return s, nil
}

func boolean(value any) (bool, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b, nil
		}
	}
	return false, fmt.Errorf("must be yes or no")
}

func integer(s config.FieldSettings, value any) (any, error) {
	var n float64
	switch v := value.(type) {
	case float64:
		n = v
	case string:
		i, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("must be a whole number")
		}
		n = float64(i)
	default:
		return nil, fmt.Errorf("must be a whole number")
	}
	if n != math.Trunc(n) {
		return nil, fmt.Errorf("must be a whole number")
	}
	if math.Abs(n) > 1<<53 {
		return nil, fmt.Errorf("is out of range")
	}
	return n, within(s, n)
}

var decimalText = regexp.MustCompile(`^[+-]?[0-9]{1,15}(\.[0-9]+)?$`)

// decimal keeps a number as its author wrote it: as a binary fraction, 0.1 is not 0.1.
func decimal(s config.FieldSettings, value any) (any, error) {
	var t string
	switch v := value.(type) {
	case float64:
		t = strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		t = strings.TrimPrefix(strings.TrimSpace(v), "+")
	}
	if !decimalText.MatchString(t) {
		return nil, fmt.Errorf("must be a number, such as 12.50")
	}
	scale := orDefault(s.Scale, 2)
	if _, fraction, _ := strings.Cut(t, "."); len(fraction) > scale {
		return nil, fmt.Errorf("must have %d digits after the point at most", scale)
	}
	n, err := strconv.ParseFloat(t, 64)
	if err != nil {
		return nil, fmt.Errorf("must be a number, such as 12.50")
	}
	return t, within(s, n)
}

func within(s config.FieldSettings, n float64) error {
	if s.Min != nil && n < *s.Min {
		return fmt.Errorf("must be %s at least", strconv.FormatFloat(*s.Min, 'f', -1, 64))
	}
	if s.Max != nil && n > *s.Max {
		return fmt.Errorf("must be %s at most", strconv.FormatFloat(*s.Max, 'f', -1, 64))
	}
	return nil
}

// ParseDate reads a date as fields keep it; clock tells whether it has a time of
// day. A day without one begins at midnight UTC.
func ParseDate(s string) (t time.Time, clock bool, err error) {
	if t, err = time.Parse(time.DateOnly, s); err == nil {
		return t, false, nil
	}
	t, err = time.Parse(time.RFC3339, s)
	return t.UTC(), true, err
}

func date(s config.FieldSettings, value any) (string, error) {
	str, _ := value.(string)
	t, clock, err := ParseDate(strings.TrimSpace(str))
	switch {
	case err != nil && s.Time:
		return "", fmt.Errorf("must be a date and a time, such as 2026-05-01T10:00:00Z")
	case err != nil:
		return "", fmt.Errorf("must be a date, such as 2026-05-01")
	case clock && !s.Time:
		return "", fmt.Errorf("must be a date without a time, such as 2026-05-01")
	case t.Year() < 1:
		return "", fmt.Errorf("is out of range")
	case clock:
		return t.Format(time.RFC3339), nil
	}
	return t.Format(time.DateOnly), nil
}

func dateRange(s config.FieldSettings, value any) (any, error) {
	m, ok := value.(map[string]any)
	if !ok {
		from, err := date(s, value)
		return map[string]any{"from": from}, err
	}
	if err := onlyKeys(m, "from", "to"); err != nil {
		return nil, err
	}
	if empty(m["from"]) {
		return nil, fmt.Errorf("must have a beginning")
	}
	from, err := date(s, m["from"])
	if err != nil {
		return nil, err
	}
	out := map[string]any{"from": from}
	if !empty(m["to"]) {
		to, err := date(s, m["to"])
		if err != nil {
			return nil, err
		}
		a, aClock, _ := ParseDate(from)
		b, bClock, _ := ParseDate(to)
		switch {
		case aClock != bClock:
			return nil, fmt.Errorf("must have a time at both ends or at none")
		case b.Before(a):
			return nil, fmt.Errorf("ends before it begins")
		}
		out["to"] = to
	}
	return out, nil
}

func email(value any) (string, error) {
	s, _ := value.(string)
	s = strings.TrimSpace(s)
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s || len(s) > 254 {
		return "", fmt.Errorf("must be an email address, such as name@example.org")
	}
	return s, nil
}

// link keeps an address without a title as a plain string.
func link(s config.FieldSettings, value any) (any, error) {
	address, title := value, ""
	if m, ok := value.(map[string]any); ok {
		if err := onlyKeys(m, "url", "title"); err != nil {
			return nil, err
		}
		address = m["url"]
		if !empty(m["title"]) {
			var err error
			if title, err = text(m["title"], 255); err != nil {
				return nil, err
			}
		}
		if empty(address) {
			return nil, fmt.Errorf("must have an address")
		}
	}
	u, ok := address.(string)
	if u = strings.TrimSpace(u); !ok || !linkable(u) {
		return nil, fmt.Errorf("must be an address such as https://example.org/ or a path such as /visit/")
	}
	if s.Internal && !strings.HasPrefix(u, "/") {
		return nil, fmt.Errorf("must be a path on this site, such as /visit/")
	}
	if title == "" {
		return u, nil
	}
	return map[string]any{"url": u, "title": title}, nil
}

// linkable reports whether an address may be linked to: of this site, or on the
// web, or to write or call somebody.
func linkable(address string) bool {
	if len(address) > addressLimit || !utf8.ValidString(address) ||
		strings.ContainsFunc(address, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) || r == '\\' }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "http", "https":
		return u.Host != ""
	case "mailto", "tel":
		return u.Opaque != ""
	case "":
		return u.Host == "" && (strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") || strings.HasPrefix(address, "#"))
	}
	return false
}

func choice(s config.FieldSettings, value any) (string, error) {
	v, _ := value.(string)
	if !slices.ContainsFunc(s.Choices, func(c config.Choice) bool { return c.Value == v }) {
		return "", fmt.Errorf("must be one of the values offered")
	}
	return v, nil
}
