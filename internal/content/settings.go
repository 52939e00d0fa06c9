package content

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// settings are what a revision brings besides its fields, once it is published.
type settings struct {
	Path         string    `json:"path"`
	AccessSet    bool      `json:"access_set,omitempty"` // it brings another access than the entity has
	ViewRoles    []string  `json:"view_roles,omitempty"`
	OutOfAnswers bool      `json:"out_of_answers,omitempty"`
	Weight       int       `json:"weight"`
	Date         time.Time `json:"date"`
	Menu         string    `json:"menu"`
	MenuTitle    string    `json:"menu_title"`
	MenuParent   string    `json:"menu_parent,omitempty"`
	SectionIndex bool      `json:"section_index"`
}

// settingsOf reads a revision's settings, which imported ones leave to the
// translation. Access that it does not change is the entity's as it is now.
func settingsOf(r row) (settings, error) {
	var set settings
	if r.Settings != "" {
		if err := json.Unmarshal([]byte(r.Settings), &set); err != nil || set.AccessSet {
			return set, err
		}
		var err error
		set.ViewRoles, set.OutOfAnswers, err = accessOf(r)
		return set, err
	}
	set = settings{
		Path: r.Path.String, Weight: r.Weight, Date: r.Date.Time.UTC(),
		Menu: r.Menu, MenuTitle: r.MenuTitle, MenuParent: r.MenuParent, SectionIndex: r.SectionIndex,
	}
	if !r.Date.Valid {
		set.Date = time.Time{}
	}
	var err error
	set.ViewRoles, set.OutOfAnswers, err = accessOf(r)
	return set, err
}

// accessOf is the access that a row's entity has.
func accessOf(r row) (viewRoles []string, outOfAnswers bool, err error) {
	if r.ViewRoles != "" {
		err = json.Unmarshal([]byte(r.ViewRoles), &viewRoles)
	}
	return viewRoles, r.OutOfAnswers, err
}

// settingsFor finds the settings an input means, given what is there.
func (w *writer) settingsFor(ctx context.Context, cur row, in Input) (settings, error) {
	set, err := settingsOf(cur)
	if err != nil {
		return set, err
	}
	set.Weight, set.Date, set.Menu, set.MenuTitle, set.MenuParent = in.Weight, in.Date, in.Menu, in.MenuTitle, in.MenuParent
	set.SectionIndex = in.SectionIndex
	if in.Access != nil {
		roles, out, err := accessOf(cur)
		if err != nil {
			return set, err
		}
		set.ViewRoles, set.OutOfAnswers = in.Access.ViewRoles, in.Access.OutOfAnswers
		set.AccessSet = out != set.OutOfAnswers || !slices.Equal(roles, set.ViewRoles)
	}
	switch {
	case cur.Type != TypeNode && cur.Type != TypeRedirect: // reached by other means: see [Item.Path]
		set.Path = ""
	case in.Path != "":
		set.Path = in.Path
	case set.Path == "":
		set.Path, err = w.freePath(ctx, in, cur.ID)
	}
	return set, err
}

// freePath makes an address of a title that nobody has yet.
func (w *writer) freePath(ctx context.Context, in Input, id string) (string, error) {
	slug := Slug(in.Title)
	if slug == "" {
		slug = id
	}
	base := strings.TrimSuffix(in.Parent, "/") + "/" + slug
	for n := 1; ; n++ {
		p := base + "/"
		if n > 1 {
			p = fmt.Sprintf("%s-%d/", base, n)
		}
		if w.s.reserved(in.Lang, p) {
			continue
		}
		if holder, err := pathHolder(ctx, w.tx, in.Lang, p); err != nil || holder == "" {
			return p, err
		}
	}
}
