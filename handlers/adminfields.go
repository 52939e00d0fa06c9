package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// megabyte is the unit in which forms give sizes of files.
const megabyte = 1 << 20

func fieldURL(s shape, name string) string { return s.url() + "/fields/" + url.PathEscape(name) }

// fields handles GET …/:name/fields.
func (h *Handlers) fields(c echo.Context) error {
	ctx := c.Request().Context()
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	page := views.TreePage{
		Admin: h.admin(c), Title: i18n.T(ctx, "fields.title", s.LabelIn(h.lang(c))), Crumbs: shapeCrumbs(ctx, s), Links: shapeLinks(ctx, s, s.url()+"/fields"),
		Intro: i18n.T(ctx, "fields.intro"), Flat: true, MoveAction: s.url() + "/fields/move", Empty: i18n.T(ctx, "fields.empty"), ReadOnly: !h.ConfigWritable,
		Changes: h.shapeHistory(c, s),
	}
	if h.ConfigWritable {
		page.New = components.Link{Label: i18n.T(ctx, "fields.new"), URL: s.url() + "/fields/new"}
	}
	for i, f := range s.Fields {
		n := views.TreeNode{
			ID: f.Name, Title: f.LabelIn(h.lang(c)), URL: fieldURL(s, f.Name), Note: f.Name + " · " + i18n.T(ctx, "field.type."+string(f.Type)),
			Up: i > 0, Down: i < len(s.Fields)-1,
		}
		tag := func(yes bool, label string) {
			if yes {
				n.Tags = append(n.Tags, views.TreeTag{Kind: components.TagPlain, Label: label})
			}
		}
		tag(f.Required, i18n.T(ctx, "fields.required_tag"))
		tag(f.Multiple(), i18n.T(ctx, "fields.several"))
		tag(f.Translatable, i18n.T(ctx, "fields.translated"))
		n.Actions = []views.RowAction{{Label: i18n.T(ctx, "action.edit"), URL: fieldURL(s, f.Name)}}
		if h.ConfigWritable {
			n.Actions = append(n.Actions, views.RowAction{Label: i18n.T(ctx, "action.delete"), URL: fieldURL(s, f.Name) + "/delete", Danger: true})
		}
		page.Nodes = append(page.Nodes, n)
	}
	return h.render(c, http.StatusOK, views.Tree(page))
}

// moveField handles POST …/:name/fields/move.
func (h *Handlers) moveField(c echo.Context) error {
	m, err := postedMove(c)
	if err != nil {
		return err
	}
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	err = h.changeShape(c, s, func(s *shape) error {
		byName := map[string]config.Field{}
		var names []string
		for _, f := range s.Fields {
			byName[f.Name] = f
			names = append(names, f.Name)
		}
		names, err := m.reorder(names)
		if err != nil {
			return err
		}
		s.Fields = make([]config.Field, len(names))
		for i, name := range names {
			s.Fields[i] = byName[name]
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.done(c, s.url()+"/fields")
}

// newField handles GET …/:name/fields/new: first the type of the field, then what
// such a field can be told.
func (h *Handlers) newField(c echo.Context) error {
	ctx := c.Request().Context()
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	t := config.FieldType(c.QueryParam("type"))
	if slices.Contains(config.FieldTypes(), t) {
		return h.renderField(c, http.StatusOK, s, config.Field{Type: t, Translatable: true}, true, nil)
	}
	page := views.FieldTypesPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "fields.new"), Action: s.url() + "/fields/new",
		Crumbs: append(shapeCrumbs(ctx, s), components.Link{Label: i18n.T(ctx, "types.fields"), URL: s.url() + "/fields"}),
	}
	for _, t := range config.FieldTypes() {
		page.Types = append(page.Types, components.Link{
			Label: i18n.T(ctx, "field.type."+string(t)), Summary: i18n.T(ctx, "field.about."+string(t)), URL: page.Action + "?type=" + url.QueryEscape(string(t)),
		})
	}
	return h.render(c, http.StatusOK, views.FieldTypes(page))
}

// editField handles GET …/:name/fields/:field.
func (h *Handlers) editField(c echo.Context) error {
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	i, err := s.fieldIndex(c.Param("field"))
	if err != nil {
		return err
	}
	return h.renderField(c, http.StatusOK, s, s.Fields[i], false, nil)
}

func (h *Handlers) renderField(c echo.Context, status int, s shape, f config.Field, isNew bool, refused map[string]string) error {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: f.Label, Action: fieldURL(s, f.Name), CancelURL: s.url() + "/fields", ReadOnly: !h.ConfigWritable,
		Intro:  i18n.T(ctx, "field.type."+string(f.Type)) + ". " + i18n.T(ctx, "field.about."+string(f.Type)),
		Crumbs: append(shapeCrumbs(ctx, s), components.Link{Label: i18n.T(ctx, "types.fields"), URL: s.url() + "/fields"}),
	}
	if isNew {
		page.Title, page.Action = i18n.T(ctx, "fields.new"), s.url()+"/fields/new?type="+url.QueryEscape(string(f.Type))
	} else {
		page.DeleteURL, page.DeleteLabel = page.Action+"/delete", i18n.T(ctx, "action.delete")
	}
	types, err := h.Content.Types(ctx)
	if err != nil {
		return err
	}
	formats, err := config.All[config.TextFormat](ctx, h.Config)
	if err != nil {
		return err
	}
	form := fieldForm{c: c, field: f, isNew: isNew, types: types, formats: formats}
	page.Groups = []views.FormGroup{form.main(), form.settings(), h.labelsGroup(ctx, f.Labels)}
	page.Groups = slices.DeleteFunc(page.Groups, func(g views.FormGroup) bool { return len(g.Controls) == 0 })
	refuseControls(page.Groups, refused)
	return h.render(c, status, views.Form(page))
}

// createField handles POST …/:name/fields/new.
func (h *Handlers) createField(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	f := config.Field{Type: config.FieldType(c.QueryParam("type"))}
	if !slices.Contains(config.FieldTypes(), f.Type) {
		return refuse(http.StatusBadRequest, "")
	}
	refused := h.readField(c, form, &f)
	f.Name = strings.TrimSpace(form.Get("name"))
	if f.Name == "" {
		f.Name = nameFrom(f.Label)
	}
	return h.putField(c, s, f, true, refused)
}

// saveField handles POST …/:name/fields/:field.
func (h *Handlers) saveField(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	i, err := s.fieldIndex(c.Param("field"))
	if err != nil {
		return err
	}
	f := s.Fields[i]
	refused := h.readField(c, form, &f)
	return h.putField(c, s, f, false, refused)
}

// putField stores a field of a shape, a new one at the end.
func (h *Handlers) putField(c echo.Context, s shape, f config.Field, isNew bool, refused map[string]string) error {
	if len(refused) == 0 {
		i := 0
		err := h.changeShape(c, s, func(s *shape) (err error) {
			s.Fields = slices.Clone(s.Fields)
			if isNew {
				i = len(s.Fields)
				s.Fields = append(s.Fields, f)
				return nil
			}
			if i, err = s.fieldIndex(f.Name); err == nil {
				s.Fields[i] = f
			}
			return err
		})
		if refused = fieldAt(refusedFields(err), i); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return h.renderField(c, http.StatusUnprocessableEntity, s, f, isNew, refused)
	}
	done := "saved"
	if isNew {
		done = "added"
	}
	return c.Redirect(http.StatusSeeOther, s.url()+"/fields?done="+done+"#row-"+url.PathEscape(f.Name))
}

// readField reads the form of a field and says what cannot be read as meant.
func (h *Handlers) readField(c echo.Context, form url.Values, f *config.Field) map[string]string {
	ctx := c.Request().Context()
	refused := map[string]string{}
	number := func(name string) int {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			refused[name] = i18n.T(ctx, "form.whole_number")
		}
		return n
	}
	decimal := func(name string) *float64 {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			return nil
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			refused[name] = i18n.T(ctx, "form.number")
		}
		return &n
	}
	f.Label, f.Help = strings.TrimSpace(form.Get("label")), strings.TrimSpace(form.Get("help"))
	f.Labels = h.postedLabels(form, f.Labels)
	f.Required, f.Translatable = form.Has("required"), form.Has("translatable")
	switch form.Get("values") {
	case "unlimited":
		f.Cardinality = config.Unlimited
	case "limited":
		f.Cardinality = number("cardinality")
	default:
		f.Cardinality = 0
	}
	old := f.Settings
	f.Settings = config.FieldSettings{
		MaxLength: number("max_length"), Formats: form["formats"], Min: decimal("min"), Max: decimal("max"), Scale: number("scale"), Time: form.Has("time"),
		Choices: postedChoices(form.Get("choices"), old.Choices), Internal: form.Has("internal"), AltRequired: form.Has("alt_required"),
		Extensions: strings.Fields(strings.ToLower(strings.NewReplacer(",", " ", ".", "").Replace(form.Get("extensions")))),
	}
	if text := strings.TrimSpace(form.Get("max_bytes")); text != "" {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || n < 0 || n > 1<<20 {
			refused["max_bytes"] = i18n.T(ctx, "form.number")
		}
		f.Settings.MaxBytes = int64(n * megabyte)
	}
	if f.Type == config.FieldReference {
		f.Settings.Target = form.Get("target")
		for _, bundle := range form["bundles"] {
			entity, name, _ := strings.Cut(bundle, "/")
			if entity == f.Settings.Target {
				f.Settings.Bundles = append(f.Settings.Bundles, name)
			}
		}
	}
	return refused
}

// postedChoices reads the choices of a list, one a line as "value|Label"; without
// a value it is made of the label. Labels in other languages are kept.
func postedChoices(text string, old []config.Choice) []config.Choice {
	var choices []config.Choice
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		value, label, ok := strings.Cut(line, "|")
		value, label = strings.TrimSpace(value), strings.TrimSpace(label)
		if !ok {
			value, label = nameFrom(line), line
		}
		choice := config.Choice{Value: value, Label: label}
		for _, o := range old {
			if o.Value == value {
				choice.Labels = o.Labels
			}
		}
		choices = append(choices, choice)
	}
	return choices
}

// confirmDeleteField handles GET …/:name/fields/:field/delete.
func (h *Handlers) confirmDeleteField(c echo.Context) error {
	ctx := c.Request().Context()
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	i, err := s.fieldIndex(c.Param("field"))
	if err != nil {
		return err
	}
	f := s.Fields[i]
	n, err := h.Content.CountValues(ctx, s.kind(), s.name, f.Name)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "fields.delete_title", f.Label, s.Label), Action: c.Request().URL.Path,
		Crumbs: append(shapeCrumbs(ctx, s), components.Link{Label: i18n.T(ctx, "types.fields"), URL: s.url() + "/fields"}),
		Submit: i18n.T(ctx, "action.delete"), Danger: true, CancelURL: s.url() + "/fields",
	}
	if n > 0 {
		page.Consequences = []components.Link{{Label: i18n.T(ctx, "fields.delete_values", n)}, {Label: i18n.T(ctx, "fields.delete_kept")}}
	} else {
		page.Consequences = []components.Link{{Label: i18n.T(ctx, "fields.delete_no_values")}}
	}
	page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "fields.delete_displays")})
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// deleteField handles POST …/:name/fields/:field/delete.
func (h *Handlers) deleteField(c echo.Context) error {
	s, err := h.shape(c)
	if err != nil {
		return err
	}
	name := c.Param("field")
	err = h.changeShape(c, s, func(s *shape) error {
		i, err := s.fieldIndex(name)
		if err != nil {
			return err
		}
		s.Fields = slices.Delete(slices.Clone(s.Fields), i, i+1)
		s.Form = slices.DeleteFunc(slices.Clone(s.Form), func(item config.FormItem) bool { return item.Field == name })
		shown := map[string][]config.ViewItem{}
		for mode, items := range s.Views {
			shown[mode] = slices.DeleteFunc(slices.Clone(items), func(item config.ViewItem) bool { return item.Field == name })
		}
		s.Views = shown
		return nil
	})
	if err != nil {
		return err
	}
	return leadTo(c, s.url()+"/fields", "deleted")
}
