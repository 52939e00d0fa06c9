package handlers

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

const (
	typesURL         = "/admin/structure/types"
	vocabularyShapes = "/admin/structure/vocabularies"
)

// types handles GET /admin/structure/types.
func (h *Handlers) types(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.ListPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "types.title"), Intro: i18n.T(ctx, "types.intro"), ReadOnly: !h.ConfigWritable,
		Head: i18n.T(ctx, "form.label"), Columns: []string{i18n.T(ctx, "types.entity"), i18n.T(ctx, "types.workflow"), i18n.T(ctx, "types.fields"), i18n.T(ctx, "types.count")},
		Empty: i18n.T(ctx, "types.empty"),
	}
	if h.ConfigWritable {
		page.New = components.Link{Label: i18n.T(ctx, "types.new"), URL: typesURL + "/new"}
	}
	all, err := config.All[config.ContentType](ctx, h.Config)
	if err != nil {
		return err
	}
	counts, err := h.Content.CountBundles(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		s := shape{ContentType: t.Value, name: t.Name, base: typesURL}
		workflow := i18n.T(ctx, "types.at_once")
		if t.Value.Workflow {
			workflow = i18n.T(ctx, "types.with_drafts")
		}
		n := 0
		for _, count := range counts {
			if count.Type == t.Value.Entity && count.Bundle == t.Name {
				n = count.N
			}
		}
		page.Rows = append(page.Rows, views.ListRow{
			Title: t.Value.LabelIn(h.lang(c)), URL: s.url(), Note: t.Value.Description,
			Cells: []views.ListCell{
				{Text: i18n.T(ctx, "types.entity."+t.Value.Entity)}, {Text: workflow}, {Text: i18n.T(ctx, "number", len(t.Value.Fields)), URL: s.url() + "/fields"},
				{Text: i18n.T(ctx, "number", n), URL: s.entriesURL()},
			},
			Actions: []views.RowAction{
				{Label: i18n.T(ctx, "types.fields"), URL: s.url() + "/fields"},
				{Label: i18n.T(ctx, "types.form"), URL: s.url() + "/displays/form"},
				{Label: i18n.T(ctx, "types.display"), URL: s.url() + "/displays/" + config.ViewFull},
			},
		})
	}
	return h.render(c, http.StatusOK, views.List(page))
}

// newType handles GET …/new of types and vocabularies.
func (h *Handlers) newType(c echo.Context) error {
	return h.render(c, http.StatusOK, views.Form(h.shapeForm(c, newShape(c), nil)))
}

// editType handles GET …/:name of types and vocabularies.
func (h *Handlers) editType(c echo.Context) error {
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(h.shapeForm(c, s, nil)))
}

func (h *Handlers) shapeForm(c echo.Context, s shape, refused map[string]string) views.FormPage {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "types.new"), Action: s.base + "/new", CancelURL: s.listURL(), Crumbs: shapeCrumbs(ctx, s), ReadOnly: !h.ConfigWritable,
	}
	if s.vocabulary {
		page.Title = i18n.T(ctx, "terms.new_vocabulary")
	}
	on := func(yes bool) []string {
		if yes {
			return []string{"on"}
		}
		return nil
	}
	main := views.FormGroup{Controls: []views.Control{
		{FieldProps: components.FieldProps{ID: "type-label", Name: "label", Label: i18n.T(ctx, "form.label"), Value: s.Label, MaxLength: 120, Required: true}}}}
	if s.name == "" {
		main.Controls = append(main.Controls, views.Control{FieldProps: components.FieldProps{
			ID: "type-name", Name: "name", Label: i18n.T(ctx, "form.machine_name"), Value: c.FormValue("name"), Help: i18n.T(ctx, "form.machine_name_help"), MaxLength: 63, Optional: true}})
		if !s.vocabulary {
			main.Controls = append(main.Controls, views.Control{Kind: views.ControlRadios, Chosen: []string{s.Entity}, FieldProps: components.FieldProps{ID: "type-entity", Name: "entity", Label: i18n.T(ctx, "types.entity")},
				Options: []components.Option{{Value: config.EntityNode, Label: i18n.T(ctx, "types.entity.node")}, {Value: config.EntityMedia, Label: i18n.T(ctx, "types.entity.media")}}})
		}
	} else {
		page.Title, page.Action = s.Label, s.url()
		page.Links = shapeLinks(ctx, s, s.url())
		if h.account(c).Can(account.AdministerRoles) {
			page.Links = append(page.Links, components.Link{Label: i18n.T(ctx, "types.permissions"), URL: rolesURL + "?" + url.Values{"text": {s.Label}}.Encode()})
		}
		page.Changes = h.shapeHistory(c, s)
		page.DeleteURL, page.DeleteLabel = s.url()+"/delete", i18n.T(ctx, "action.delete")
	}
	main.Controls = append(main.Controls, views.Control{Kind: views.ControlArea, FieldProps: components.FieldProps{
		ID: "type-description", Name: "description", Label: i18n.T(ctx, "types.description"), Value: s.Description, Help: i18n.T(ctx, "types.description_help"), MaxLength: 2000, Optional: true}})
	page.Groups = []views.FormGroup{main}
	if !s.vocabulary {
		page.Groups = append(page.Groups, views.FormGroup{Title: i18n.T(ctx, "types.behaviour"), Controls: []views.Control{
			{Kind: views.ControlCheck, Chosen: on(s.Workflow), FieldProps: components.FieldProps{ID: "type-workflow", Name: "workflow", Value: "on", Label: i18n.T(ctx, "types.workflow_label"), Help: i18n.T(ctx, "types.workflow_help")}},
			{Kind: views.ControlCheck, Chosen: on(s.OutOfAnswers), FieldProps: components.FieldProps{ID: "type-out", Name: "out_of_answers", Value: "on", Label: i18n.T(ctx, "types.out_label"), Help: i18n.T(ctx, "types.out_help")}},
		}})
	}
	page.Groups = append(page.Groups, h.labelsGroup(ctx, s.Labels))
	refuseControls(page.Groups, refused)
	return page
}

// labelsGroup are the labels of an object in the site's languages.
func (h *Handlers) labelsGroup(ctx context.Context, labels map[string]string) views.FormGroup {
	g := views.FormGroup{Title: i18n.T(ctx, "types.labels"), Intro: i18n.T(ctx, "types.labels_help")}
	for _, lang := range h.Content.Languages() {
		g.Controls = append(g.Controls, views.Control{Lang: lang, FieldProps: components.FieldProps{
			ID: "labels-" + lang, Name: "labels." + lang, Label: i18n.Name(lang), Value: labels[lang], MaxLength: 120, Optional: true}})
	}
	return g
}

// postedLabels reads what a labelsGroup sent.
func (h *Handlers) postedLabels(form url.Values, old map[string]string) map[string]string {
	labels := maps.Clone(old)
	for _, lang := range h.Content.Languages() {
		labels = withText(labels, lang, form, "labels")
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// createType handles POST …/new of types and vocabularies.
func (h *Handlers) createType(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	s := newShape(c)
	h.readShape(form, &s)
	if entity := form.Get("entity"); !s.vocabulary {
		s.Entity = entity
	}
	name := strings.TrimSpace(form.Get("name"))
	if name == "" {
		name = nameFrom(s.Label)
	}
	refused := map[string]string{}
	if taken, err := h.shapeExists(c, name); err != nil {
		return err
	} else if taken {
		refused["name"] = i18n.T(ctx, "form.name_taken")
	}
	if len(refused) == 0 {
		s.name = name
		if s.vocabulary {
			err = config.Put(ctx, h.Config, name, s.asVocabulary(), h.account(c).ID)
		} else {
			err = config.Put(ctx, h.Config, name, s.ContentType, h.account(c).ID)
		}
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		s.name = ""
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.shapeForm(c, s, refused)))
	}
	return leadTo(c, s.url()+"/fields", "added")
}

// shapeExists reports whether a type or vocabulary has a name: they share theirs,
// so that a permission or an address is never of two.
func (h *Handlers) shapeExists(c echo.Context, name string) (bool, error) {
	ctx := c.Request().Context()
	_, err := config.Get[config.ContentType](ctx, h.Config, name)
	if errors.Is(err, db.ErrNotFound) {
		_, err = config.Get[config.Vocabulary](ctx, h.Config, name)
	}
	if errors.Is(err, db.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (h *Handlers) readShape(form url.Values, s *shape) {
	s.Label, s.Description = strings.TrimSpace(form.Get("label")), strings.TrimSpace(form.Get("description"))
	s.Labels = h.postedLabels(form, s.Labels)
	if !s.vocabulary {
		s.Workflow, s.OutOfAnswers = form.Has("workflow"), form.Has("out_of_answers")
	}
}

// saveType handles POST …/:name of types and vocabularies.
func (h *Handlers) saveType(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	err = h.changeShape(c, s, func(s *shape) error {
		h.readShape(form, s)
		return nil
	})
	if refused := refusedFields(err); refused != nil {
		h.readShape(form, &s)
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.shapeForm(c, s, refused)))
	}
	if err != nil {
		return err
	}
	return leadTo(c, s.url(), "saved")
}

// contentOf counts the entities of a shape.
func (h *Handlers) contentOf(c echo.Context, s shape) (int, error) {
	counts, err := h.Content.CountBundles(c.Request().Context())
	for _, count := range counts {
		if count.Type == s.kind() && count.Bundle == s.name {
			return count.N, err
		}
	}
	return 0, err
}

// confirmDeleteType handles GET …/:name/delete of types and vocabularies.
func (h *Handlers) confirmDeleteType(c echo.Context) error {
	ctx := c.Request().Context()
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	n, err := h.contentOf(c, s)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "types.delete_title", s.Label), Action: c.Request().URL.Path, Crumbs: shapeCrumbs(ctx, s),
		Consequences: []components.Link{{Label: i18n.T(ctx, "types.delete_fields", len(s.Fields))}, {Label: i18n.T(ctx, "types.delete_permissions")}},
		Submit:       i18n.T(ctx, "action.delete"), Danger: true, CancelURL: s.url(),
	}
	if n > 0 {
		page.Refused = i18n.T(ctx, "types.in_use", n)
		page.Consequences = []components.Link{{Label: i18n.T(ctx, "types.see_content"), URL: s.entriesURL()}}
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// deleteType handles POST …/:name/delete of types and vocabularies.
func (h *Handlers) deleteType(c echo.Context) error {
	ctx, by := c.Request().Context(), h.account(c).ID
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	n, err := h.contentOf(c, s)
	if err != nil {
		return err
	}
	if n > 0 {
		return refuse(http.StatusConflict, i18n.T(ctx, "types.in_use", n))
	}
	if s.vocabulary {
		err = config.Delete[config.Vocabulary](ctx, h.Config, s.name, by)
	} else {
		err = config.Delete[config.ContentType](ctx, h.Config, s.name, by)
	}
	if err != nil {
		return err
	}
	if err := h.dropUnknownPermissions(ctx, by); err != nil {
		return err
	}
	return leadTo(c, s.listURL(), "deleted")
}
