package content

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTitle  = 255     // characters
	maxFields = 4 << 20 // bytes of JSON
)

var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// check brings an input into shape, or says what is wrong with it, and returns
// its fields as JSON.
func (s *Store) check(in *Input) (fields string, err error) {
	bad := map[string]string{}
	if in.Type == "" {
		in.Type = TypeNode
	}
	if in.State == "" {
		in.State = Draft
	}
	if !slices.Contains([]State{Draft, Published, Archived}, in.State) {
		bad["state"] = "is unknown"
	}
	if !slices.Contains(s.Languages(), in.Lang) {
		bad["lang"] = "is not a language of this site"
	}
	if in.ID == "" && !machineName.MatchString(in.Bundle) {
		bad["bundle"] = "is not the name of a content type"
	}
	in.Title = strings.TrimSpace(in.Title)
	switch {
	case in.Title == "":
		bad["title"] = "is missing"
	case utf8.RuneCountInString(in.Title) > maxTitle:
		bad["title"] = fmt.Sprintf("is longer than %d characters", maxTitle)
	case !plainLine(in.Title):
		bad["title"] = "holds characters that are no text"
	}
	if in.Menu != "" && !machineName.MatchString(in.Menu) {
		bad["menu"] = "is not the name of a menu"
	}
	if !plainLine(in.MenuTitle) || utf8.RuneCountInString(in.MenuTitle) > maxTitle {
		bad["menu_title"] = "is too long or holds characters that are no text"
	}
	if in.Access != nil {
		for _, role := range in.Access.ViewRoles {
			if !machineName.MatchString(role) {
				bad["view_roles"] = "holds something that is not the name of a role"
			}
		}
	}
	if y := in.Date.Year(); !in.Date.IsZero() && (y < 1 || y > 9999) {
		bad["date"] = "is out of range"
	}
	if in.Weight < -1<<31 || in.Weight > 1<<31-1 {
		bad["weight"] = "is out of range"
	}
	if in.Path != "" {
		if in.Path, err = NormalizePath(s.barePath(in.Lang, in.Path)); err != nil {
			bad["path"] = err.Error()
		} else if s.reserved(in.Lang, in.Path) {
			bad["path"] = "begins with a word that the site itself uses"
		}
	}
	if in.Parent, err = NormalizePath(in.Parent); err != nil {
		bad["parent"] = err.Error()
	}
	in.Message = truncate(strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(in.Message, "\uFFFD")), 1000)
	b, err := in.Fields.marshal()
	switch {
	case err != nil:
		bad["fields"] = "cannot be stored"
	case len(b) > maxFields:
		bad["fields"] = "are larger than 4 MB"
	}
	if len(bad) > 0 {
		return "", &InvalidError{Fields: bad}
	}
	return string(b), nil
}

// reserved reports whether an address could not be reached: the program itself
// serves it, or it would be read as another language's.
func (s *Store) reserved(lang, path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if first+"/" == strings.TrimPrefix(nodePrefix, "/") {
		return true
	}
	if lang != s.DefaultLanguage() {
		return false
	}
	return slices.Contains(s.opts.Reserved, first) || slices.Contains(s.Languages()[1:], first)
}

// plainLine reports whether s is text on one line.
func plainLine(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// titleKey folds a title so that both databases sort and find it alike.
func titleKey(title string) string { return strings.ToLower(title) }
