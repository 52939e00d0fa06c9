package handlers

import (
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// A pick is the choice of one image or document for a field: media entities for
// references, files for image and file fields.
type pick struct {
	what    string   // "media", "image" or "file"
	bundles []string // of media; none: all
	back    string   // where links lead to without scripts
}

// pickOf reads a choice from the address.
func pickOf(c echo.Context) (pick, error) {
	query := c.QueryParams()
	p := pick{what: query.Get("for"), bundles: query["bundle"], back: query.Get("return")}
	if p.what != "media" && p.what != "image" && p.what != "file" || len(p.bundles) > 100 {
		return p, refuse(http.StatusBadRequest, "")
	}
	if p.back != "" && ownPath(p.back) == "" {
		return p, refuse(http.StatusBadRequest, "")
	}
	return p, nil
}

// url is the choice's own address.
func (p pick) url() string {
	return mediaURL + "/pick?" + p.query().Encode()
}

func (p pick) query() url.Values {
	query := url.Values{"for": {p.what}}
	if len(p.bundles) > 0 {
		query["bundle"] = p.bundles
	}
	if p.back != "" {
		query.Set("return", p.back)
	}
	return query
}

// chosen is where an id leads to without scripts.
func (p pick) chosen(id string) string {
	u, err := url.Parse(p.back)
	if err != nil || p.back == "" {
		return mediaURL
	}
	query := u.Query()
	query.Set("picked", id)
	u.RawQuery = query.Encode()
	return u.String()
}

// pickMedia handles GET /admin/media/pick: a page, or its choice alone for scripts.
func (h *Handlers) pickMedia(c echo.Context) error {
	p, err := pickOf(c)
	if err != nil {
		return err
	}
	choice, err := h.mediaChoice(c, p)
	if err != nil {
		return err
	}
	return h.renderChoice(c, http.StatusOK, p, choice)
}

func (h *Handlers) renderChoice(c echo.Context, status int, p pick, choice components.MediaChoiceProps) error {
	if isFragment(c) {
		return h.render(c, status, components.MediaChoice(choice))
	}
	page := views.MediaChoosePage{Admin: h.admin(c), Choice: choice, CancelURL: mediaURL}
	if p.back != "" {
		page.CancelURL = p.back
	}
	return h.render(c, status, views.MediaChoose(page))
}

// mediaChoice lists what can be chosen. Fields that hold files choose among those
// of the library.
func (h *Handlers) mediaChoice(c echo.Context, p pick) (components.MediaChoiceProps, error) {
	ctx, who, n := c.Request().Context(), h.account(c), pageNumber(c)
	choice := components.MediaChoiceProps{Action: mediaURL + "/pick", Text: c.QueryParam("text"), Choosing: isFragment(c), Upload: h.uploadForm(c, p.url())}
	for name, values := range p.query() {
		for _, v := range values {
			choice.Hidden = append(choice.Hidden, components.Option{Label: name, Value: v})
		}
	}
	if p.what == "image" {
		choice.Upload.Accept = acceptedImages
	}
	bundles, err := h.pickable(c, p)
	if err != nil {
		return choice, err
	}
	if choice.Upload.WithAlt = p.what == "media"; choice.Upload.WithAlt {
		types, err := h.Content.Types(ctx)
		if err != nil {
			return choice, err
		}
		choice.Upload.NeedsAlt = !slices.ContainsFunc(bundles, func(b string) bool { return !needsAlt(types, b) })
	}
	if len(bundles) == 0 {
		return choice, nil
	}
	items, total, err := h.Content.List(ctx, who, content.Filter{
		Type: content.TypeMedia, Bundles: bundles, Text: choice.Text, Order: content.ByChanged, Limit: pageSize, Offset: (n - 1) * pageSize,
	})
	if err != nil {
		return choice, err
	}
	if choice.Media, err = h.mediaCards(c, items); err != nil {
		return choice, err
	}
	for i, it := range items {
		if p.what != "media" {
			if held := it.Fields.FileIDs(); len(held) > 0 {
				choice.Media[i].ID = held[0]
			}
		}
		choice.Media[i].URL = p.chosen(choice.Media[i].ID)
	}
	choice.Pager = pager(c, n, len(items), total)
	return choice, nil
}

// needsAlt reports whether media of a bundle cannot be without alternative text.
func needsAlt(types *content.Types, bundle string) bool {
	t, _ := types.Type(content.TypeMedia, bundle)
	alt, ok := t.Field("alt")
	return ok && alt.Required
}

// pickable are the bundles of media that a choice is among.
func (h *Handlers) pickable(c echo.Context, p pick) ([]string, error) {
	if p.what == "media" && len(p.bundles) > 0 {
		return p.bundles, nil
	}
	types, err := h.Content.Types(c.Request().Context())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range types.Bundles(content.TypeMedia) {
		for _, f := range t.Value.Fields {
			if p.what == "media" || string(f.Type) == p.what {
				out = append(out, t.Name)
				break
			}
		}
	}
	return out, nil
}

// uploadPicked handles POST /admin/media/pick: a new file is chosen at once.
func (h *Handlers) uploadPicked(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	p, err := pickOf(c)
	if err != nil {
		return err
	}
	f, name, refused, err := h.pickedFile(c, who)
	if err != nil {
		return err
	}
	form, err := h.parts(c)
	if err != nil {
		return err
	}
	alt := form.values.Get("alt")
	picked := content.Medium{ID: f.ID, Label: f.Name, Alt: alt, File: f}
	switch {
	case refused != "":
	case p.what == "image" && !f.IsImage():
		refused = i18n.T(ctx, "media.not_image")
	case p.what == "media":
		it, err := h.makeMedium(c, who, f, newMedium{title: content.FileTitle(name), alt: alt, bundles: p.bundles})
		if fields := refusedFields(err); fields != nil {
			refused = strings.TrimSpace(strings.Join(mapValues(mediaErrors(fields)), " "))
			break
		}
		if err != nil {
			return err
		}
		picked.ID, picked.Label = it.ID, it.Title
	}
	if refused == "" && p.back != "" && !isFragment(c) {
		return c.Redirect(http.StatusSeeOther, p.chosen(picked.ID))
	}
	choice, err := h.mediaChoice(c, p)
	if err != nil {
		return err
	}
	if refused != "" {
		choice.Upload.Error, choice.Upload.Alt = refused, alt
		if f.ID != "" && (p.what != "image" || f.IsImage()) {
			choice.Upload.Kept, choice.Upload.KeptName = f.ID, name
		}
		return h.renderChoice(c, http.StatusUnprocessableEntity, p, choice)
	}
	card := mediumCard(ctx, picked)
	choice.Picked = &card
	return h.renderChoice(c, http.StatusOK, p, choice)
}

func mapValues(m map[string]string) []string {
	var out []string
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// pickedFile takes the one file of a form, or finds the one that was sent before
// when only something about it was missing.
func (h *Handlers) pickedFile(c echo.Context, who account.Account) (f content.File, name, refused string, err error) {
	ctx := c.Request().Context()
	form, err := h.parts(c)
	if err != nil {
		return f, "", "", err
	}
	part, err := form.next()
	if err == io.EOF {
		id := form.values.Get("kept")
		if id == "" {
			return f, "", i18n.T(ctx, "media.no_file"), nil
		}
		if f, err = h.Content.File(ctx, id); err == nil {
			err = h.Content.MayRead(ctx, who, f)
		}
		return f, f.Name, "", err
	}
	if err != nil {
		return f, "", "", err
	}
	name = part.FileName()
	f, err = h.Content.Upload(ctx, who, content.Upload{Name: name, Body: part})
	if why := refusedFields(err)["file"]; why != "" {
		return f, name, sentence(why), nil
	}
	if err != nil {
		return f, name, "", badUpload(err)
	}
	if _, err := form.next(); err != nil && err != io.EOF { // the fields behind it
		return f, name, "", err
	}
	return f, name, "", nil
}
