package handlers

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/markdown"
	"docent/internal/media"
	"docent/views"
)

// editedMedium is a media entity in the hands of an editor.
type editedMedium struct {
	item content.Item
	typ  config.ContentType
	file content.File // what it holds; without ID nothing
}

// medium reads the media entity that an address names, in the language asked for.
func (h *Handlers) medium(c echo.Context) (editedMedium, error) {
	ctx, who := c.Request().Context(), h.account(c)
	ref := content.Ref{Type: content.TypeMedia, ID: c.Param("id")}
	it, err := h.Content.Load(ctx, who, ref, c.QueryParam("language"))
	if err != nil {
		return editedMedium{}, err
	}
	m := editedMedium{item: it}
	latest, err := h.Content.Latest(ctx, who, ref, it.Lang)
	switch {
	case err == nil:
		m.item = latest
	case !errors.Is(err, content.ErrForbidden):
		return m, err
	}
	types, err := h.Content.Types(ctx)
	if err != nil {
		return m, err
	}
	m.typ, _ = types.Type(content.TypeMedia, it.Bundle)
	if held := m.item.Fields.FileIDs(); len(held) > 0 {
		m.file, err = h.Content.File(ctx, held[0])
		if errors.Is(err, db.ErrNotFound) {
			err = nil
		}
	}
	return m, err
}

// editMedium handles GET /admin/media/{id}.
func (h *Handlers) editMedium(c echo.Context) error {
	m, err := h.medium(c)
	if err != nil {
		return err
	}
	page, err := h.mediumPage(c, m, nil)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Medium(page))
}

// mediumPage shows an entity; sent, when it is not nil, is what was typed.
func (h *Handlers) mediumPage(c echo.Context, m editedMedium, sent url.Values) (views.MediumPage, error) {
	ctx, who, it := c.Request().Context(), h.account(c), m.item
	page := views.MediumPage{
		Admin: h.admin(c), Action: mediumURL(it.Ref, it.Lang), BasedOn: it.LatestID, Title: it.Title, Lang: it.Lang, ViewURL: it.Path,
		FocusX: percent(m.file.FocusX), FocusY: percent(m.file.FocusY), Standalone: m.file.Standalone,
		ReadOnly: h.Content.May(who, content.OpEdit, it) != nil,
	}
	if !page.ReadOnly {
		page.EditURL = "/admin/content/" + it.ID + "/" + it.Lang
	}
	if h.Content.May(who, config.OpDelete, it) == nil {
		page.DeleteURL = mediaURL + "/" + it.ID + "/delete"
	}
	page.Fields = mediumInputs(c, m, sent)
	page.Facts = []views.MediumFact{{Label: i18n.T(ctx, "media.kind"), Value: fileDetail(ctx, m.file)}}
	if m.file.IsImage() {
		page.Facts = append(page.Facts, views.MediumFact{Label: i18n.T(ctx, "media.size"), Value: byteSize(m.file.Size)})
	}
	if m.file.ID != "" {
		page.Facts = append(page.Facts, views.MediumFact{Label: i18n.T(ctx, "media.address"), Value: m.file.URL(), URL: m.file.URL()})
	}
	if m.file.IsImage() {
		wide := m.file.Derivative("wide-small")
		page.Image, page.Width, page.Height = wide.URL, wide.Width, wide.Height
		for _, style := range []string{"thumbnail", "card"} {
			d := m.file.Derivative(style)
			page.Cuts = append(page.Cuts, views.MediumCut{Label: styleLabel(c, style), URL: d.URL, Width: d.Width, Height: d.Height})
		}
	} else if err := h.mediumText(c, m, &page); err != nil {
		return page, err
	}
	for _, lang := range it.Languages {
		if lang != it.Lang {
			page.Languages = append(page.Languages, components.Link{Label: i18n.Name(lang), URL: mediumURL(it.Ref, lang)})
		}
	}
	uses, err := h.Content.References(ctx, who, it.Ref)
	if err != nil {
		return page, err
	}
	page.HiddenUses = uses.Hidden
	for _, u := range uses.Uses {
		page.Uses = append(page.Uses, components.Link{Label: u.Item.Title, URL: u.Item.Path})
	}
	return page, nil
}

func styleLabel(c echo.Context, style string) string {
	if style == "thumbnail" {
		return i18n.T(c.Request().Context(), "media.style_thumbnail")
	}
	return i18n.T(c.Request().Context(), "media.style_card")
}

func percent(f float64) int { return int(math.Round(f * 100)) }

// mediumText shows what a document says, as far as it is known.
func (h *Handlers) mediumText(c echo.Context, m editedMedium, page *views.MediumPage) error {
	ctx := c.Request().Context()
	text, err := h.Content.DocumentText(ctx, m.item)
	if err != nil || m.file.ID == "" {
		return err
	}
	page.Text = excerpt(markdown.PlainText(text.Body), 1200)
	switch {
	case !text.Read:
		page.TextProblem = i18n.T(ctx, "media.text_waiting")
	case text.Problem != "":
		page.TextProblem = i18n.T(ctx, "media.text_failed")
	case text.Body == "":
		page.TextProblem = i18n.T(ctx, "media.text_none")
	case text.Cut:
		page.TextProblem = i18n.T(ctx, "media.text_cut")
	}
	return nil
}

// mediumInputs are the title and the short texts that a type of media has.
func mediumInputs(c echo.Context, m editedMedium, sent url.Values) []components.FieldProps {
	ctx := c.Request().Context()
	value := func(name, stored string) string {
		if sent.Has(name) {
			return sent.Get(name)
		}
		return stored
	}
	fields := []components.FieldProps{{ID: "medium-title", Name: "title", Label: i18n.T(ctx, "media.name"), Value: value("title", m.item.Title), MaxLength: 255, Required: true}}
	for _, f := range m.typ.Fields {
		if f.Type != config.FieldText || f.Multiple() {
			continue
		}
		fields = append(fields, components.FieldProps{
			ID: "medium-" + f.Name, Name: "field." + f.Name, Label: f.LabelIn(i18n.Language(ctx)), Help: f.Help,
			Value: value("field."+f.Name, m.item.Fields.Text(f.Name)), Required: f.Required, Optional: !f.Required, MaxLength: max(f.Settings.MaxLength, 255),
		})
	}
	return fields
}

// saveMedium handles POST /admin/media/{id}.
func (h *Handlers) saveMedium(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	m, err := h.medium(c)
	if err != nil {
		return err
	}
	if err := h.Content.May(who, content.OpEdit, m.item); err != nil {
		return err
	}
	in := content.InputOf(m.item)
	in.State = m.item.LatestState
	if seen := form.Get("based_on"); seen != "" {
		in.BasedOn = seen
	}
	in.Title = form.Get("title")
	in.Fields = maps.Clone(m.item.Fields)
	for _, f := range m.typ.Fields {
		if name := "field." + f.Name; f.Type == config.FieldText && form.Has(name) {
			in.Fields[f.Name] = strings.TrimSpace(form.Get(name))
		}
	}
	_, err = h.Content.Save(ctx, who, in)
	if errors.Is(err, content.ErrConflict) {
		return h.mediumConflict(c, form)
	}
	if err == nil && m.file.ID != "" {
		err = h.Content.SetFocus(ctx, m.file, focusOf(form, m.file), form.Has("standalone") || m.file.IsImage() && m.file.Standalone)
	}
	refused := refusedFields(err)
	if refused == nil {
		if err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, mediumURL(m.item.Ref, m.item.Lang)+"&done=saved")
	}
	page, err := h.mediumPage(c, m, form)
	if err != nil {
		return err
	}
	for i, f := range page.Fields {
		if why := refused[strings.TrimPrefix(f.Name, "field.")]; why != "" {
			page.Fields[i].Error = sentence(why)
			delete(refused, strings.TrimPrefix(f.Name, "field."))
		}
	}
	page.BasedOn = cmp.Or(form.Get("based_on"), page.BasedOn)
	page.FocusError = sentence(refused["focus"])
	delete(refused, "focus")
	for field, why := range refused {
		page.Notices = append(page.Notices, components.NoticeProps{Kind: components.NoticeDanger, Title: sentence(field + " " + why)})
	}
	return h.render(c, http.StatusUnprocessableEntity, views.Medium(page))
}

// mediumConflict shows a form again, as it was sent, that goes on from a revision
// which is no longer the latest. Sent once more it takes the place of that one.
func (h *Handlers) mediumConflict(c echo.Context, form url.Values) error {
	m, err := h.medium(c)
	if err != nil {
		return err
	}
	page, err := h.mediumPage(c, m, form)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	page.Notices = append(page.Notices, components.NoticeProps{
		Kind: components.NoticeWait, Title: i18n.T(ctx, "media.conflict"), Message: i18n.T(ctx, "media.conflict_text", m.item.Title, m.item.Alt()), Live: true,
	})
	return h.render(c, http.StatusConflict, views.Medium(page))
}

// focusOf reads the focus in percent; what was not sent stays as it is, and what
// is no number lies outside of every image.
func focusOf(form url.Values, f content.File) media.Focus {
	at := f.Focus()
	for name, to := range map[string]*float64{"focus_x": &at.X, "focus_y": &at.Y} {
		if form.Has(name) {
			n, err := strconv.ParseFloat(form.Get(name), 64)
			if *to = n / 100; err != nil {
				*to = -1
			}
		}
	}
	return at
}

// confirmDeleteMedium handles GET /admin/media/{id}/delete: what goes with it.
func (h *Handlers) confirmDeleteMedium(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	m, err := h.medium(c)
	if err != nil {
		return err
	}
	if err := h.Content.May(who, config.OpDelete, m.item); err != nil {
		return err
	}
	uses, err := h.Content.References(ctx, who, m.item.Ref)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "media.delete_title", m.item.Title), Lead: i18n.T(ctx, "media.delete_lead"),
		Action: mediaURL + "/" + m.item.ID + "/delete", Submit: i18n.T(ctx, "media.delete"), Danger: true, CancelURL: mediumURL(m.item.Ref, m.item.Lang),
	}
	for _, u := range uses.Uses {
		page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "media.delete_use", u.Item.Title), URL: u.Item.Path})
	}
	if uses.Hidden > 0 {
		page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "media.hidden_uses", uses.Hidden)})
	}
	if !m.file.IsImage() {
		page.Consequences = append(page.Consequences, components.Link{Label: i18n.T(ctx, "media.delete_answers")})
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// deleteMedium handles POST /admin/media/{id}/delete.
func (h *Handlers) deleteMedium(c echo.Context) error {
	err := h.Content.Delete(c.Request().Context(), h.account(c), content.Ref{Type: content.TypeMedia, ID: c.Param("id")})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, mediaURL+"?done=deleted")
}
