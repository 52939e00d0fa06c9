package content

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/internal/config"
)

const (
	maxTitle  = 255     // characters
	maxFields = 4 << 20 // bytes of JSON
	maxDepth  = 20      // levels of a menu
)

var machineName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// checkShape brings an input into shape, all but its fields, and tells what is
// wrong with it.
func (s *Store) checkShape(in *Input) (bad map[string]string) {
	bad = map[string]string{}
	if in.Type == "" {
		in.Type = TypeNode
	}
	if !slices.Contains([]string{TypeNode, TypeMedia, TypeTerm, TypeMenuLink, TypeRedirect}, in.Type) {
		bad["type"] = "is not a type of content"
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
	if in.Type == TypeRedirect && in.Bundle == "" {
		in.Bundle = TypeRedirect
	}
	if in.ID == "" && !machineName.MatchString(in.Bundle) {
		bad["bundle"] = "is not the name of a content type"
	}
	s.checkPlace(in, bad)
	if in.Title = strings.TrimSpace(in.Title); in.Title == "" && in.Type == TypeRedirect {
		in.Title = truncate(in.Path, maxTitle)
	}
	switch {
	case in.Title == "":
		bad["title"] = "is missing"
	case utf8.RuneCountInString(in.Title) > maxTitle:
		bad["title"] = fmt.Sprintf("is longer than %d characters", maxTitle)
	case !plainLine(in.Title):
		bad["title"] = "holds characters that are no text"
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
	in.Message = truncate(strings.Map(func(r rune) rune {
		if r == 0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(in.Message, "\uFFFD")), 1000)
	return bad
}

// checkPlace checks where content stands: address, section and menu.
func (s *Store) checkPlace(in *Input, bad map[string]string) {
	if in.Menu != "" && !machineName.MatchString(in.Menu) {
		bad["menu"] = "is not the name of a menu"
	}
	if !plainLine(in.MenuTitle) || utf8.RuneCountInString(in.MenuTitle) > maxTitle {
		bad["menu_title"] = "is too long or holds characters that are no text"
	}
	if in.Weight < -1<<31 || in.Weight > 1<<31-1 {
		bad["weight"] = "is out of range"
	}
	var err error
	if in.Path != "" {
		if in.Path, err = NormalizePath(s.barePath(in.Lang, in.Path)); err != nil {
			bad["path"] = err.Error()
		} else if s.reserved(in.Lang, in.Path) {
			bad["path"] = "begins with a word that the site itself uses"
		}
	} else if in.Type == TypeRedirect && in.ID == "" {
		bad["path"] = "is missing"
	}
	if in.Parent, err = NormalizePath(in.Parent); err != nil {
		bad["parent"] = err.Error()
	}
}

// check checks an input against what is there: its type, fields, references and
// place in a menu. bad is what is known to be wrong already.
func (w *writer) check(ctx context.Context, cur, base row, in *Input, bad map[string]string) error {
	v := values{
		types: w.types, bad: bad, labels: map[string]string{},
		writes: func(format string) bool { return w.author.Can(config.FormatPermission(format)) },
	}
	var err error
	if v.before, err = unmarshalFields(base.Fields); err != nil {
		return err
	}
	ct, known := w.types.Type(cur.Type, cur.Bundle)
	if !known && in.ID == "" && bad["bundle"] == "" {
		bad["bundle"] = "is not a content type of this site"
	}
	fields, err := canonical(in.Fields)
	if err != nil {
		bad["fields"] = err.Error()
	} else if in.Fields = fields; known {
		if in.former {
			for name := range fields {
				if _, known := ct.Field(name); !known {
					delete(fields, name)
				}
			}
		}
		in.Fields = v.fields(ct, fields)
		if err := w.checkReferences(ctx, &v, in); err != nil {
			return err
		}
		if err := w.checkLinkedFiles(ctx, &v, in); err != nil {
			return err
		}
	}
	if err := w.checkMenu(ctx, cur, in, bad); err != nil {
		return err
	}
	if in.Access != nil && !CanViewRoles(w.author, in.Access.ViewRoles) {
		bad["view_roles"] = "must include a role of yours, or you could not see it yourself"
	}
	if len(bad) > 0 {
		return &InvalidError{Fields: bad, Labels: v.labels}
	}
	return nil
}

// canonical gives values the Go types that they are read with.
func canonical(fields Fields) (Fields, error) {
	b, err := fields.marshal()
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be stored")
	case len(b) > maxFields:
		return nil, fmt.Errorf("are larger than 4 MB")
	}
	var out Fields
	err = json.Unmarshal(b, &out)
	return out, err
}

// checkReferences makes sure that what values refer to exists, fits, and may be
// seen by the author. What stood there before may stay.
func (w *writer) checkReferences(ctx context.Context, v *values, in *Input) error {
	refs := slices.DeleteFunc(v.refs, func(r reference) bool { return holds(v.before[r.field], r.id) })
	if len(refs) == 0 {
		return nil
	}
	var entities []string
	for _, r := range refs {
		if r.target != "" {
			entities = append(entities, r.id)
		}
	}
	items, err := w.s.byEntities(ctx, entities)
	if err != nil {
		return err
	}
	visible := map[string]Item{}
	for _, it := range items {
		if CanView(w.author, it) {
			visible[it.ID] = it
		}
	}
	for _, r := range refs {
		message := ""
		it, ok := visible[r.id]
		switch {
		case r.target == "":
			ct, _ := w.types.Type(in.Type, in.Bundle)
			f, _ := ct.Field(r.field)
			if message, err = w.s.MayUse(ctx, w.author, f, r.id); err != nil {
				return err
			}
		case !ok:
			message = "refers to something that does not exist, or that you may not see"
		case it.Type != r.target || len(r.bundles) > 0 && !slices.Contains(r.bundles, it.Bundle):
			message = fmt.Sprintf("must not refer to “%s”, which is of another type", it.Title)
		}
		switch {
		case message == "":
		case in.former:
			if in.Fields[r.field] = without(in.Fields[r.field], r.id); in.Fields[r.field] == nil {
				delete(in.Fields, r.field)
			}
		default:
			v.bad[r.field] = message
			if ct, known := w.types.Type(in.Type, in.Bundle); known {
				f, _ := ct.Field(r.field)
				v.labels[r.field] = f.Label
			}
		}
	}
	return nil
}

// holds reports whether a value refers to an id.
func holds(value any, id string) bool {
	switch v := value.(type) {
	case string:
		return v == id
	case []any:
		return slices.ContainsFunc(v, func(one any) bool { return holds(one, id) })
	case map[string]any:
		return v["file"] == id
	}
	return false
}

// without is a value without what refers to an id; nil when nothing is left.
func without(value any, id string) any {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	list = slices.DeleteFunc(slices.Clone(list), func(one any) bool { return holds(one, id) })
	if len(list) == 0 {
		return nil
	}
	return list
}

// checkMenu checks the entry above in a menu.
func (w *writer) checkMenu(ctx context.Context, cur row, in *Input, bad map[string]string) error {
	if in.MenuParent == "" || bad["menu"] != "" {
		return nil
	}
	if in.Menu == "" {
		in.MenuParent = ""
		return nil
	}
	parents, err := w.s.menuParents(ctx, in.Menu)
	if err != nil {
		return err
	}
	up, ok := in.MenuParent, true
	for depth := 0; up != ""; depth++ {
		_, ok = parents[up]
		if up == cur.ID || !ok || depth > maxDepth {
			break
		}
		up = parents[up]
	}
	switch {
	case up == cur.ID:
		bad["menu_parent"] = "is below this entry itself"
	case up == in.MenuParent && !ok:
		bad["menu_parent"] = "is not an entry of this menu"
	}
	return nil
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
