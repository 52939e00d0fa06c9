package handlers

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// A shape is a content type or a vocabulary: both are fields with ways to edit and
// to show them.
type shape struct {
	config.ContentType
	name       string // empty: a new one
	base       string // address of the list it is in
	vocabulary bool
}

func (s shape) url() string { return s.base + "/" + url.PathEscape(s.name) }

// kind is the entity type of what the shape is the type of.
func (s shape) kind() string {
	if s.vocabulary {
		return content.TypeTerm
	}
	return s.Entity
}

// listURL is where the shape is listed.
func (s shape) listURL() string {
	if s.vocabulary {
		return termsURL
	}
	return typesURL
}

// entriesURL is where what is of the shape is listed.
func (s shape) entriesURL() string {
	switch s.kind() {
	case content.TypeTerm:
		return vocabularyURL(s.name)
	case content.TypeMedia:
		return "/admin/media"
	}
	return "/admin/content?" + url.Values{"type": {s.name}}.Encode()
}

// newShape is the start of a new type or vocabulary, as the address says.
func newShape(c echo.Context) shape {
	if strings.HasPrefix(c.Request().URL.Path, vocabularyShapes) {
		return shape{base: vocabularyShapes, vocabulary: true, ContentType: config.ContentType{Entity: config.EntityTerm}}
	}
	return shape{base: typesURL, ContentType: config.ContentType{Entity: config.EntityNode, Workflow: true}}
}

// shape reads the type or vocabulary of the address.
func (h *Handlers) shape(c echo.Context) (shape, error) {
	ctx, s := c.Request().Context(), newShape(c)
	s.name = c.Param("name")
	if s.vocabulary {
		v, err := config.Get[config.Vocabulary](ctx, h.Config, s.name)
		s.ContentType = v.AsType()
		return s, err
	}
	t, err := config.Get[config.ContentType](ctx, h.Config, s.name)
	s.ContentType = t
	return s, err
}

// asVocabulary is the shape as it is stored when it is a vocabulary.
func (s shape) asVocabulary() config.Vocabulary {
	return config.Vocabulary{Label: s.Label, Labels: s.Labels, Description: s.Description, Fields: s.Fields, Form: s.Form, Views: s.Views}
}

// changeShape changes a type or vocabulary as it is now, whatever somebody else
// stored since the page was made. Roles lose permissions that it no longer gives
// rise to.
func (h *Handlers) changeShape(c echo.Context, s shape, change func(s *shape) error) error {
	ctx, by := c.Request().Context(), h.account(c).ID
	var err error
	if s.vocabulary {
		err = config.Update(ctx, h.Config, s.name, by, func(v config.Vocabulary) (config.Vocabulary, error) {
			s.ContentType = v.AsType()
			err := change(&s)
			return s.asVocabulary(), err
		})
	} else {
		err = config.Update(ctx, h.Config, s.name, by, func(t config.ContentType) (config.ContentType, error) {
			s.ContentType = t
			err := change(&s)
			return s.ContentType, err
		})
	}
	if err != nil {
		return err
	}
	return h.dropUnknownPermissions(ctx, by)
}

func (h *Handlers) shapeHistory(c echo.Context, s shape) []views.Change {
	if s.vocabulary {
		return history[config.Vocabulary](h, c, s.name)
	}
	return history[config.ContentType](h, c, s.name)
}

// shapeLinks lead through the pages of a shape.
func shapeLinks(ctx context.Context, s shape, current string) []components.Link {
	links := []components.Link{
		{Label: i18n.T(ctx, "types.settings"), URL: s.url()},
		{Label: i18n.T(ctx, "types.fields"), URL: s.url() + "/fields"},
		{Label: i18n.T(ctx, "types.form"), URL: s.url() + "/displays/form"},
	}
	for _, mode := range config.ViewModes() {
		links = append(links, components.Link{Label: i18n.T(ctx, "types.view."+mode), URL: s.url() + "/displays/" + mode})
	}
	for i := range links {
		links[i].Current = links[i].URL == current
	}
	return links
}

func shapeCrumbs(ctx context.Context, s shape) []components.Link {
	label := i18n.T(ctx, "types.title")
	if s.vocabulary {
		label = i18n.T(ctx, "terms.title")
	}
	crumbs := []components.Link{{Label: label, URL: s.listURL()}}
	if s.name != "" {
		crumbs = append(crumbs, components.Link{Label: s.Label, URL: s.url()})
	}
	return crumbs
}

// fieldAt turns complaints about a field's place in its type into such about the
// controls of the field's own form.
func fieldAt(refused map[string]string, i int) map[string]string {
	if refused == nil {
		return nil
	}
	out := map[string]string{}
	for name, message := range refused {
		name = strings.TrimPrefix(name, "fields."+strconv.Itoa(i)+".")
		out[strings.TrimPrefix(name, "settings.")] = message
	}
	return out
}

// fieldIndex finds a field of a shape.
func (s shape) fieldIndex(name string) (int, error) {
	i := slices.IndexFunc(s.Fields, func(f config.Field) bool { return f.Name == name })
	if i < 0 {
		return 0, db.ErrNotFound
	}
	return i, nil
}
