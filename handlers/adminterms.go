package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const (
	termsURL = "/admin/structure/terms"
	// termsShown bounds a vocabulary's page; longer ones are searched.
	termsShown = 500
	// usesShown is how many pages a question names before it only counts.
	usesShown = 10
)

func vocabularyURL(name string) string { return termsURL + "/" + url.PathEscape(name) }

func termURL(it content.Item) string {
	return vocabularyURL(it.Bundle) + "/" + url.PathEscape(it.ID)
}

// vocabularies handles GET /admin/structure/terms.
func (h *Handlers) vocabularies(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.ListPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "terms.title"), Intro: i18n.T(ctx, "terms.intro"),
		Head: i18n.T(ctx, "terms.vocabulary"), Columns: []string{i18n.T(ctx, "terms.count")}, Empty: i18n.T(ctx, "terms.no_vocabulary"),
	}
	structure := h.account(c).Can(account.AdministerStructure)
	if structure && h.ConfigWritable {
		page.New = components.Link{Label: i18n.T(ctx, "terms.new_vocabulary"), URL: vocabularyShapes + "/new"}
	}
	all, err := config.All[config.Vocabulary](ctx, h.Config)
	if err != nil {
		return err
	}
	counts, err := h.Content.CountBundles(ctx)
	if err != nil {
		return err
	}
	for _, v := range all {
		n := 0
		for _, count := range counts {
			if count.Type == content.TypeTerm && count.Bundle == v.Name {
				n = count.N
			}
		}
		row := views.ListRow{
			Title: v.Value.LabelIn(h.lang(c)), URL: vocabularyURL(v.Name), Note: v.Value.Description, Cells: []views.ListCell{{Text: i18n.T(ctx, "number", n)}},
		}
		if structure {
			row.Actions = append(row.Actions, views.RowAction{Label: i18n.T(ctx, "terms.settings"), URL: vocabularyShapes + "/" + url.PathEscape(v.Name)})
		}
		page.Rows = append(page.Rows, row)
	}
	return h.render(c, http.StatusOK, views.List(page))
}

// termsIn reads the terms of the vocabulary of the address, in the site's default
// language where they have it, and tells whether there are more than it reads.
func (h *Handlers) termsIn(c echo.Context, text string) (v config.Vocabulary, terms []content.Item, more bool, err error) {
	ctx, name := c.Request().Context(), c.Param("vocabulary")
	if v, err = config.Get[config.Vocabulary](ctx, h.Config, name); err != nil {
		return v, nil, false, err
	}
	items, total, err := h.Content.List(ctx, h.account(c), content.Filter{Type: content.TypeTerm, Bundle: name, Text: text, Limit: termsShown})
	if err != nil {
		return v, nil, false, err
	}
	byID := map[string]int{}
	for _, it := range items {
		if i, ok := byID[it.ID]; !ok {
			byID[it.ID] = len(terms)
			terms = append(terms, it)
		} else if it.Lang == h.Content.DefaultLanguage() {
			terms[i] = it
		}
	}
	return v, terms, total > len(items), nil
}

// terms handles GET /admin/structure/terms/:vocabulary.
func (h *Handlers) terms(c echo.Context) error {
	page, err := h.termsPage(c)
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Terms(page))
}

func (h *Handlers) termsPage(c echo.Context) (views.TermsPage, error) {
	ctx := c.Request().Context()
	text := c.QueryParam("text")
	var page views.TermsPage
	v, terms, more, err := h.termsIn(c, text)
	if err != nil {
		return page, err
	}
	base := vocabularyURL(c.Param("vocabulary"))
	page = views.TermsPage{
		TreePage: views.TreePage{
			Admin: h.admin(c), Title: v.LabelIn(h.lang(c)), Flat: true, MoveAction: base + "/move", Empty: i18n.T(ctx, "terms.empty"),
			Crumbs: []components.Link{{Label: i18n.T(ctx, "terms.title"), URL: termsURL}},
		},
		Filter: views.ListFilter{Action: base, Label: i18n.T(ctx, "terms.filter"), Text: text}, AddAction: base + "/add", Name: c.FormValue("name"),
	}
	if more {
		page.Notices = append(page.Notices, components.NoticeProps{Kind: components.NoticeInfo, Title: i18n.T(ctx, "terms.more", len(terms))})
	}
	still := more || text != "" // an order can be changed only where all of it is seen
	for i, it := range terms {
		n := views.TreeNode{
			ID: it.ID, Title: it.Title, TitleLang: it.Lang, URL: contentURL(it), Note: it.Path, NoteLTR: true, Off: !it.Published,
			Up: i > 0 && !still, Down: i < len(terms)-1 && !still, Fixed: still,
			Actions: []views.RowAction{
				{Label: i18n.T(ctx, "action.edit"), URL: contentURL(it)},
				{Label: i18n.T(ctx, "terms.merge"), URL: termURL(it) + "/merge"},
				{Label: i18n.T(ctx, "action.delete"), URL: termURL(it) + "/delete", Danger: true},
			},
		}
		page.Nodes = append(page.Nodes, n)
	}
	return page, nil
}

// addTerm handles POST /admin/structure/terms/:vocabulary/add.
func (h *Handlers) addTerm(c echo.Context) error {
	ctx, vocabulary := c.Request().Context(), c.Param("vocabulary")
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	_, terms, _, err := h.termsIn(c, "")
	if err != nil {
		return err
	}
	name, refusal := strings.TrimSpace(form.Get("name")), ""
	for _, it := range terms {
		if strings.EqualFold(it.Title, name) {
			refusal = i18n.T(ctx, "terms.exists")
		}
	}
	if refusal == "" {
		it, err := h.Content.Save(ctx, h.account(c), content.Input{
			Ref: content.Ref{Type: content.TypeTerm}, Bundle: vocabulary, Lang: h.Content.DefaultLanguage(), Title: name, State: content.Published, Weight: len(terms),
		})
		if err == nil {
			return c.Redirect(http.StatusSeeOther, vocabularyURL(vocabulary)+"?done=added#row-"+url.PathEscape(it.ID))
		}
		refused := refusedFields(err)
		if refused == nil {
			return err
		}
		for _, message := range refused {
			refusal = sentence(message)
		}
	}
	page, err := h.termsPage(c)
	if err != nil {
		return err
	}
	page.NameError = refusal
	return h.render(c, http.StatusUnprocessableEntity, views.Terms(page))
}

// moveTerm handles POST /admin/structure/terms/:vocabulary/move.
func (h *Handlers) moveTerm(c echo.Context) error {
	ctx, vocabulary := c.Request().Context(), c.Param("vocabulary")
	m, err := postedMove(c)
	if err != nil {
		return err
	}
	_, terms, more, err := h.termsIn(c, "")
	if err != nil {
		return err
	}
	if more {
		return refuse(http.StatusConflict, i18n.T(ctx, "terms.more", len(terms)))
	}
	ids := make([]string, len(terms))
	for i, it := range terms {
		ids[i] = it.ID
	}
	if ids, err = m.reorder(ids); err != nil {
		return err
	}
	if err := h.Content.OrderTerms(ctx, h.account(c), vocabulary, ids); err != nil {
		return err
	}
	return m.done(c, vocabularyURL(vocabulary))
}

// term returns the term of the address.
func (h *Handlers) term(c echo.Context) (content.Item, error) {
	it, err := h.Content.Load(c.Request().Context(), h.account(c), content.Ref{Type: content.TypeTerm, ID: c.Param("id")}, h.Content.DefaultLanguage())
	if err == nil && it.Bundle != c.Param("vocabulary") {
		err = db.ErrNotFound
	}
	return it, err
}

// uses names the first pages that refer to an entity and counts the others.
func (h *Handlers) uses(c echo.Context, ref content.Ref) ([]components.Link, error) {
	ctx := c.Request().Context()
	usage, err := h.Content.References(ctx, h.account(c), ref)
	if err != nil {
		return nil, err
	}
	var links []components.Link
	for i, use := range usage.Uses {
		if i == usesShown {
			links = append(links, components.Link{Label: i18n.T(ctx, "confirm.uses_more", len(usage.Uses)-usesShown)})
			break
		}
		links = append(links, components.Link{Label: use.Item.Title, URL: contentURL(use.Item)})
	}
	if usage.Hidden > 0 {
		links = append(links, components.Link{Label: i18n.T(ctx, "confirm.hidden", usage.Hidden)})
	}
	return links, nil
}

// confirmDeleteTerm handles GET /admin/structure/terms/:vocabulary/:id/delete.
func (h *Handlers) confirmDeleteTerm(c echo.Context) error {
	ctx := c.Request().Context()
	it, err := h.term(c)
	if err != nil {
		return err
	}
	uses, err := h.uses(c, it.Ref)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "terms.delete_title", it.Title), Action: c.Request().URL.Path, Submit: i18n.T(ctx, "action.delete"), Danger: true,
		Crumbs:    []components.Link{{Label: i18n.T(ctx, "terms.title"), URL: termsURL}, {Label: content.Humanize(it.Bundle), URL: vocabularyURL(it.Bundle)}},
		CancelURL: vocabularyURL(it.Bundle),
	}
	if len(uses) > 0 {
		page.Lead = i18n.T(ctx, "terms.delete_used")
		page.Consequences = uses
	} else {
		page.Lead = i18n.T(ctx, "terms.delete_unused")
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// deleteTerm handles POST /admin/structure/terms/:vocabulary/:id/delete.
func (h *Handlers) deleteTerm(c echo.Context) error {
	it, err := h.term(c)
	if errors.Is(err, db.ErrNotFound) {
		return leadTo(c, vocabularyURL(c.Param("vocabulary")), "deleted")
	}
	if err != nil {
		return err
	}
	if err := h.Content.Delete(c.Request().Context(), h.account(c), it.Ref); err != nil {
		return err
	}
	return leadTo(c, vocabularyURL(it.Bundle), "deleted")
}

// confirmMergeTerm handles GET /admin/structure/terms/:vocabulary/:id/merge.
func (h *Handlers) confirmMergeTerm(c echo.Context) error { return h.askToMerge(c, http.StatusOK, "") }

func (h *Handlers) askToMerge(c echo.Context, status int, refused string) error {
	ctx := c.Request().Context()
	it, err := h.term(c)
	if err != nil {
		return err
	}
	_, terms, _, err := h.termsIn(c, "")
	if err != nil {
		return err
	}
	choices := []components.Option{{Label: i18n.T(ctx, "terms.choose")}}
	for _, other := range terms {
		if other.ID != it.ID {
			choices = append(choices, components.Option{Value: other.ID, Label: other.Title})
		}
	}
	uses, err := h.uses(c, it.Ref)
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "terms.merge_title", it.Title), Lead: i18n.T(ctx, "terms.merge_lead"), Action: c.Request().URL.Path,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "terms.title"), URL: termsURL}, {Label: content.Humanize(it.Bundle), URL: vocabularyURL(it.Bundle)}},
		Submit: i18n.T(ctx, "terms.merge"), Danger: true, CancelURL: vocabularyURL(it.Bundle), Consequences: uses,
		Controls: []views.Control{{Kind: views.ControlSelect, Options: choices, FieldProps: components.FieldProps{
			ID: "merge-into", Name: "into", Label: i18n.T(ctx, "terms.merge_into"), Value: c.FormValue("into"), Error: refused, Required: true}}},
	}
	if len(choices) == 1 {
		page.Refused, page.Controls = i18n.T(ctx, "terms.alone"), nil
	}
	return h.render(c, status, views.Confirm(page))
}

// mergeTerm handles POST /admin/structure/terms/:vocabulary/:id/merge.
func (h *Handlers) mergeTerm(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	it, err := h.term(c)
	if err != nil {
		return err
	}
	into := content.Ref{Type: content.TypeTerm, ID: form.Get("into")}
	err = h.Content.MergeTerms(c.Request().Context(), h.account(c), it.Ref, into)
	if errors.Is(err, db.ErrNotFound) || refusedFields(err) != nil {
		return h.askToMerge(c, http.StatusUnprocessableEntity, i18n.T(c.Request().Context(), "terms.merge_refused"))
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, vocabularyURL(it.Bundle)+"?done=terms_merged#row-"+url.PathEscape(into.ID))
}
