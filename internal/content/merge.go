package content

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
)

// A Conflict is the error that says that somebody else changed the same parts of
// content in the meantime. Nothing was stored. It is an [ErrConflict].
type Conflict struct {
	Base     Item     // what the author started from; without revision when that is unknown
	Theirs   Item     // the latest revision
	Merged   Input    // the author's input with what only the others changed; saving it puts it over Theirs
	Overlaps []string // fields, or other parts by their names in forms, that both changed
}

func (c *Conflict) Error() string { return ErrConflict.Error() }

// Unwrap makes a conflict an [ErrConflict].
func (c *Conflict) Unwrap() error { return ErrConflict }

// merge brings an input together with a newer revision than the one that its
// author saw.
func (w *writer) merge(ctx context.Context, cur, base row, in Input) (Input, error) {
	theirs, err := w.s.latestItem(ctx, cur)
	if err != nil {
		return in, err
	}
	var was Item
	if base.RevisionID != "" {
		if was, err = w.s.latestItem(ctx, base); err != nil {
			return in, err
		}
	}
	merged, overlaps := merge(was, theirs, in, w.s.barePath)
	merged.BasedOn = theirs.LatestID
	if len(overlaps) > 0 {
		return in, &Conflict{Base: was, Theirs: theirs, Merged: merged, Overlaps: overlaps}
	}
	return merged, nil
}

// merge takes every part from whoever changed it. Parts that both changed, each
// in another way, stay as the input has them and are named.
func merge(base, theirs Item, in Input, bare func(lang, path string) string) (Input, []string) {
	var overlaps []string
	settle := func(name string, was, their, mine any) (takeTheirs bool) {
		switch {
		case reflect.DeepEqual(their, mine), reflect.DeepEqual(was, their):
			return false
		case reflect.DeepEqual(was, mine):
			return true
		}
		overlaps = append(overlaps, name)
		return false
	}
	out := in
	if settle("title", base.Title, theirs.Title, in.Title) {
		out.Title = theirs.Title
	}
	path := cmp.Or(in.Path, bare(base.Lang, base.Path))
	if settle("path", bare(base.Lang, base.Path), bare(theirs.Lang, theirs.Path), path) {
		out.Path = bare(theirs.Lang, theirs.Path)
	}
	if settle("weight", base.Weight, theirs.Weight, in.Weight) {
		out.Weight = theirs.Weight
	}
	if settle("date", base.Date.UTC(), theirs.Date.UTC(), in.Date.UTC()) {
		out.Date = theirs.Date
	}
	if settle("menu", [3]string{base.Menu, base.MenuTitle, base.MenuParent}, [3]string{theirs.Menu, theirs.MenuTitle, theirs.MenuParent},
		[3]string{in.Menu, in.MenuTitle, in.MenuParent}) {
		out.Menu, out.MenuTitle, out.MenuParent = theirs.Menu, theirs.MenuTitle, theirs.MenuParent
	}
	if settle("section_index", base.IsSectionIndex, theirs.IsSectionIndex, in.SectionIndex) {
		out.SectionIndex = theirs.IsSectionIndex
	}
	if in.Access != nil {
		was, their := accessItem(base), accessItem(theirs)
		if settle("view_roles", was, their, Access{ViewRoles: append([]string{}, in.Access.ViewRoles...), OutOfAnswers: in.Access.OutOfAnswers}) {
			out.Access = &their
		}
	}
	out.Fields = maps.Clone(in.Fields)
	if out.Fields == nil {
		out.Fields = Fields{}
	}
	for _, name := range fieldNames(base.Fields, theirs.Fields, in.Fields) {
		if settle(name, base.Fields[name], theirs.Fields[name], in.Fields[name]) {
			delete(out.Fields, name)
			if theirs.Fields[name] != nil {
				out.Fields[name] = theirs.Fields[name]
			}
		}
	}
	return out, overlaps
}

func accessItem(it Item) Access {
	return Access{ViewRoles: append([]string{}, it.ViewRoles...), OutOfAnswers: it.OutOfAnswers}
}

// fieldNames lists the names of all fields in order.
func fieldNames(all ...Fields) []string {
	names := map[string]bool{}
	for _, fields := range all {
		for name := range fields {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
