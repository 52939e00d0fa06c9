package handlers

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

const languagesURL = "/admin/config/languages"

// languages handles GET /admin/config/languages.
func (h *Handlers) languages(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.TreePage{
		Admin: h.admin(c), Title: i18n.T(ctx, "languages.title"), Intro: i18n.T(ctx, "languages.intro"),
		New: components.Link{Label: i18n.T(ctx, "languages.new"), URL: languagesURL + "/new"}, MoveAction: languagesURL + "/move", Flat: true,
	}
	all, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	counts, err := h.Content.CountLanguages(ctx)
	if err != nil {
		return err
	}
	spoken := i18n.Languages()
	for i, l := range all {
		node := views.TreeNode{
			ID: l.Name, Title: l.Value.Label, TitleLang: l.Name, Note: l.Name + " · " + i18n.T(ctx, "languages.pages", counts[l.Name]),
			Actions: []views.RowAction{{Label: i18n.T(ctx, "action.edit"), URL: languageURL(l.Name)}},
			Up:      i > 1, Down: i > 0 && i < len(all)-1, Fixed: i == 0,
		}
		if i == 0 {
			node.Tags = append(node.Tags, views.TreeTag{Kind: components.TagOK, Label: i18n.T(ctx, "languages.default")})
		} else {
			node.Actions = append(node.Actions,
				views.RowAction{Label: i18n.T(ctx, "languages.make_default"), URL: languageURL(l.Name) + "/default"},
				views.RowAction{Label: i18n.T(ctx, "action.remove"), URL: languageURL(l.Name) + "/delete", Danger: true})
		}
		base, _, _ := strings.Cut(l.Name, "-")
		if !slices.Contains(spoken, base) {
			node.Tags = append(node.Tags, views.TreeTag{Kind: components.TagPlain, Label: i18n.T(ctx, "languages.interface_english")})
		}
		page.Nodes = append(page.Nodes, node)
	}
	return h.render(c, http.StatusOK, views.Tree(page))
}

func languageURL(code string) string { return languagesURL + "/" + url.PathEscape(code) }

// newLanguage handles GET /admin/config/languages/new.
func (h *Handlers) newLanguage(c echo.Context) error {
	page, err := h.newLanguageForm(c, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(page))
}

// newLanguageForm offers the languages that are known by name, and any other by
// its code.
func (h *Handlers) newLanguageForm(c echo.Context, refused map[string]string) (views.FormPage, error) {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "languages.new"), Action: languagesURL + "/new", CancelURL: languagesURL,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "languages.title"), URL: languagesURL}}, Submit: i18n.T(ctx, "languages.add"),
	}
	has := h.Content.Languages()
	choices := []components.Option{{Label: i18n.T(ctx, "languages.choose")}}
	for _, code := range i18n.Known() {
		if !slices.Contains(has, code) {
			choices = append(choices, components.Option{Value: code, Label: i18n.Name(code) + " (" + code + ")"})
		}
	}
	slices.SortFunc(choices[1:], func(a, b components.Option) int {
		return cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label))
	})
	page.Groups = []views.FormGroup{
		{Controls: []views.Control{{Kind: views.ControlSelect, Options: choices, FieldProps: components.FieldProps{
			ID: "language-known", Name: "known", Label: i18n.T(ctx, "languages.language"), Value: c.FormValue("known")}}}},
		{Title: i18n.T(ctx, "languages.other"), Intro: i18n.T(ctx, "languages.other_help"), Controls: []views.Control{
			{FieldProps: components.FieldProps{ID: "language-code", Name: "name", Label: i18n.T(ctx, "languages.code"), Value: c.FormValue("name"), Placeholder: "pt-br", MaxLength: 20, Optional: true}},
			{FieldProps: components.FieldProps{ID: "language-label", Name: "label", Label: i18n.T(ctx, "languages.own_name"), Value: c.FormValue("label"), MaxLength: 120, Optional: true}},
		}},
	}
	refuseControls(page.Groups, refused)
	return page, nil
}

// createLanguage handles POST /admin/config/languages/new.
func (h *Handlers) createLanguage(c echo.Context) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	code, label := strings.ToLower(strings.TrimSpace(form.Get("name"))), strings.TrimSpace(form.Get("label"))
	if code == "" {
		code = form.Get("known")
	}
	refused := map[string]string{}
	if label == "" && code != "" {
		if label = i18n.Name(code); label == code {
			refused["label"] = i18n.T(ctx, "languages.name_missing")
		}
	}
	all, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	weight := 0
	for _, l := range all {
		weight = max(weight, l.Value.Weight+1)
		if l.Name == code {
			refused["name"] = i18n.T(ctx, "languages.has_already")
		}
	}
	if code == "" {
		refused["known"] = i18n.T(ctx, "languages.choose_one")
	}
	if len(refused) == 0 {
		err = config.Put(ctx, h.Config, code, config.Language{Label: label, Weight: weight}, h.account(c).ID)
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		page, err := h.newLanguageForm(c, refused)
		if err != nil {
			return err
		}
		return h.render(c, http.StatusUnprocessableEntity, views.Form(page))
	}
	return leadTo(c, languagesURL, "added")
}

// editLanguage handles GET /admin/config/languages/:code.
func (h *Handlers) editLanguage(c echo.Context) error {
	l, err := config.Get[config.Language](c.Request().Context(), h.Config, c.Param("code"))
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Form(h.languageForm(c, l, nil)))
}

func (h *Handlers) languageForm(c echo.Context, l config.Language, refused map[string]string) views.FormPage {
	ctx, code := c.Request().Context(), c.Param("code")
	page := views.FormPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "languages.edit", code), Action: languageURL(code), CancelURL: languagesURL,
		Crumbs:  []components.Link{{Label: i18n.T(ctx, "languages.title"), URL: languagesURL}},
		Changes: history[config.Language](h, c, code),
		Groups: []views.FormGroup{{Controls: []views.Control{{Lang: code, FieldProps: components.FieldProps{
			ID: "language-label", Name: "label", Label: i18n.T(ctx, "languages.own_name"), Value: l.Label, MaxLength: 120, Required: true}}}}},
	}
	refuseControls(page.Groups, refused)
	return page
}

// saveLanguage handles POST /admin/config/languages/:code.
func (h *Handlers) saveLanguage(c echo.Context) error {
	ctx, code := c.Request().Context(), c.Param("code")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	l, err := config.Get[config.Language](ctx, h.Config, code)
	if err != nil {
		return err
	}
	l.Label = strings.TrimSpace(form.Get("label"))
	err = config.Put(ctx, h.Config, code, l, h.account(c).ID)
	if refused := refusedFields(err); refused != nil {
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.languageForm(c, l, refused)))
	}
	if err != nil {
		return err
	}
	return leadTo(c, languagesURL, "saved")
}

// moveLanguage handles POST /admin/config/languages/move. The default language
// stays first.
func (h *Handlers) moveLanguage(c echo.Context) error {
	ctx := c.Request().Context()
	m, err := postedMove(c)
	if err != nil {
		return err
	}
	all, err := config.Languages(ctx, h.Config)
	if err != nil || len(all) == 0 {
		return err
	}
	byCode := map[string]config.Language{}
	var codes []string
	for _, l := range all[1:] {
		byCode[l.Name] = l.Value
		codes = append(codes, l.Name)
	}
	if codes, err = m.reorder(codes); err != nil {
		return err
	}
	for i, code := range codes {
		l := byCode[code]
		l.Weight = i + 1
		if err := config.Put(ctx, h.Config, code, l, h.account(c).ID); err != nil {
			return err
		}
	}
	return m.done(c, languagesURL)
}

// confirmDefaultLanguage handles GET /admin/config/languages/:code/default.
func (h *Handlers) confirmDefaultLanguage(c echo.Context) error {
	ctx, code := c.Request().Context(), c.Param("code")
	l, err := config.Get[config.Language](ctx, h.Config, code)
	if err != nil {
		return err
	}
	old := h.Content.DefaultLanguage()
	counts, err := h.Content.CountLanguages(ctx)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Confirm(views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "languages.default_title", l.Label), Action: c.Request().URL.Path,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "languages.title"), URL: languagesURL}},
		Lead:   i18n.T(ctx, "languages.default_lead"),
		Consequences: []components.Link{
			{Label: i18n.T(ctx, "languages.default_old", counts[old], i18n.Name(old), old)},
			{Label: i18n.T(ctx, "languages.default_new", counts[code], l.Label, code)},
			{Label: i18n.T(ctx, "languages.default_fallback", l.Label)},
			{Label: i18n.T(ctx, "languages.default_links")},
		},
		Submit: i18n.T(ctx, "languages.make_default"), Danger: true, CancelURL: languagesURL,
	}))
}

// makeDefaultLanguage handles POST /admin/config/languages/:code/default.
func (h *Handlers) makeDefaultLanguage(c echo.Context) error {
	ctx := c.Request().Context()
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		return err
	}
	settings.DefaultLanguage = c.Param("code")
	if err := config.Put(ctx, h.Config, config.SiteName, settings, h.account(c).ID); err != nil {
		return err
	}
	return leadTo(c, languagesURL, "saved")
}

// confirmDeleteLanguage handles GET /admin/config/languages/:code/delete.
func (h *Handlers) confirmDeleteLanguage(c echo.Context) error {
	ctx, code := c.Request().Context(), c.Param("code")
	l, err := config.Get[config.Language](ctx, h.Config, code)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "languages.delete_title", l.Label), Action: c.Request().URL.Path,
		Crumbs:       []components.Link{{Label: i18n.T(ctx, "languages.title"), URL: languagesURL}},
		Consequences: []components.Link{{Label: i18n.T(ctx, "languages.delete_switcher")}},
		Submit:       i18n.T(ctx, "action.remove"), Danger: true, CancelURL: languagesURL,
	}
	page.Refused, err = h.languageInUse(ctx, code)
	if err != nil {
		return err
	}
	if page.Refused != "" {
		page.Consequences = []components.Link{{Label: i18n.T(ctx, "languages.see_content"), URL: "/admin/content?" + url.Values{"language": {code}}.Encode()}}
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// languageInUse says what keeps a language on the site, "" when nothing does.
func (h *Handlers) languageInUse(ctx context.Context, code string) (string, error) {
	if code == h.Content.DefaultLanguage() {
		return i18n.T(ctx, "languages.is_default"), nil
	}
	counts, err := h.Content.CountLanguages(ctx)
	if err != nil || counts[code] == 0 {
		return "", err
	}
	return i18n.T(ctx, "languages.in_use", counts[code]), nil
}

// deleteLanguage handles POST /admin/config/languages/:code/delete.
func (h *Handlers) deleteLanguage(c echo.Context) error {
	ctx, code := c.Request().Context(), c.Param("code")
	reason, err := h.languageInUse(ctx, code)
	if err != nil {
		return err
	}
	if reason != "" {
		return refuse(http.StatusConflict, reason)
	}
	if err := config.Delete[config.Language](ctx, h.Config, code, h.account(c).ID); err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return leadTo(c, languagesURL, "deleted")
}
