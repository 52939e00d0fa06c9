package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/editing"
	"docent/internal/i18n"
	"docent/views"
)

// formPreview stands in an address for what is typed and not saved.
const formPreview = "form"

// preview handles GET /preview/:id/:lang/:revision: a revision as visitors would
// see it, or with "form" what the account has typed. For new content the id is
// that of the form.
func (h *Handlers) preview(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	id, lang, revision := c.Param("id"), c.Param("lang"), c.Param("revision")
	if h.knownLanguage(lang) != lang {
		return db.ErrNotFound
	}
	h.setLang(c, lang)
	if revision == formPreview {
		return h.previewKept(c, id, lang)
	}
	it, err := h.Content.Revision(ctx, who, content.Ref{ID: id}, lang, revision)
	if err != nil {
		return err
	}
	text := i18n.T(c.Request().Context(), "preview.revision", i18n.DateTime(c.Request().Context(), it.UpdatedAt.In(h.zone(c.Request().Context()))), stateLabel(c, it.State))
	return h.showPreview(c, it, views.PreviewBar{Text: text, BackURL: nodeURL(id, lang)})
}

// previewKept shows what an account has typed into a form.
func (h *Handlers) previewKept(c echo.Context, id, lang string) error {
	ctx, who := c.Request().Context(), h.account(c)
	kept, err := h.Editing.Form(ctx, who.ID, editing.FormID(id, lang))
	if errors.Is(err, db.ErrNotFound) {
		kept, err = h.Editing.Form(ctx, who.ID, id)
	}
	if err != nil {
		return err
	}
	it := content.Item{Ref: content.Ref{Type: content.TypeNode}, Bundle: kept.Bundle, Lang: kept.Lang, AuthorID: who.ID}
	back := addURL(kept.Bundle) + "?" + url.Values{"form": {kept.ID}, "language": {kept.Lang}}.Encode()
	if kept.EntityID != "" {
		all, err := h.Content.TranslationsFor(ctx, who, content.Ref{ID: kept.EntityID})
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return db.ErrNotFound
		}
		it = all[0]
		for _, t := range all {
			if t.Lang == kept.Lang {
				it = t
			}
		}
		if err := h.Content.May(who, content.OpEdit, it); err != nil {
			return err
		}
		it.Lang, back = kept.Lang, nodeURL(kept.EntityID, kept.Lang)
	} else if err := h.Content.May(who, config.OpCreate, it); err != nil {
		return err
	}
	f, err := h.newNodeForm(c, it)
	if err != nil {
		return err
	}
	f.values = kept.Values
	if err := h.resolve(c, f); err != nil {
		return err
	}
	in := f.read()
	it.Title, it.Fields, it.Date = in.Title, in.Fields, in.Date
	it.State, it.LatestState = content.Draft, content.Draft
	if in.Path != "" {
		it.Path = in.Path
	}
	return h.showPreview(c, it, views.PreviewBar{Text: i18n.T(ctx, "preview.form"), BackURL: back})
}

// previewForm keeps a form and leads to its preview.
func (h *Handlers) previewForm(c echo.Context, f *nodeForm) error {
	if err := h.keep(c, f); err != nil {
		return err
	}
	id := f.item.ID
	if id == "" {
		id = f.id
	}
	return c.Redirect(http.StatusSeeOther, previewURL(id, f.lang, formPreview))
}

// showPreview renders an item as visitors of its page would see it: with nobody's
// permissions, but past the page's own list of roles.
func (h *Handlers) showPreview(c echo.Context, it content.Item, bar views.PreviewBar) error {
	visitor, err := h.Accounts.Anonymous(c.Request().Context())
	if err != nil {
		return err
	}
	visitor.Roles = append(slices.Clone(visitor.Roles), it.ViewRoles...)
	c.Set(visitKey, visit{account: visitor})
	page, err := h.entityPage(c, it)
	if err != nil {
		return err
	}
	page.Preview, page.Bar = true, &bar
	c.Response().Header().Set("X-Robots-Tag", "noindex")
	return h.render(c, http.StatusOK, views.Entity(page))
}
