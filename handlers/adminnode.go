package handlers

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/editing"
	"docent/internal/i18n"
	"docent/views"
)

// nodeURL is the address of a page about one translation of an entity: its form,
// or what more adds.
func nodeURL(id, lang string, more ...string) string {
	return "/admin/content/" + url.PathEscape(id) + "/" + url.PathEscape(lang) + strings.Join(more, "")
}

func addURL(bundle string) string { return "/admin/content/add/" + url.PathEscape(bundle) }

func (h *Handlers) newNodeForm(c echo.Context, it content.Item) (*nodeForm, error) {
	types, err := h.Content.Types(c.Request().Context())
	if err != nil {
		return nil, err
	}
	typ, ok := types.Type(it.Type, it.Bundle)
	if !ok {
		typ = config.ContentType{Label: content.Humanize(it.Bundle), Entity: it.Type, Workflow: true}
		if it.LatestID == "" {
			return nil, db.ErrNotFound
		}
	}
	return &nodeForm{
		item: it, typ: typ, types: types, who: h.account(c), lang: it.Lang, zone: h.zone(c.Request().Context()), values: url.Values{},
		errors: map[string]string{}, bad: map[string]string{}, choices: map[string][]components.Option{},
	}, nil
}

// openNode reads the translation that the address names for its editor, or
// prepares it when the entity has none in this language yet.
func (h *Handlers) openNode(c echo.Context) (*nodeForm, error) {
	ctx, who := c.Request().Context(), h.account(c)
	ref, lang := content.Ref{ID: c.Param("id")}, c.Param("lang")
	if !slices.Contains(h.Content.Languages(), lang) {
		return nil, db.ErrNotFound
	}
	it, err := h.Content.Latest(ctx, who, ref, lang)
	if errors.Is(err, db.ErrNotFound) {
		return h.openTranslation(c, ref, lang)
	}
	if err != nil {
		return nil, err
	}
	if err := h.Content.May(who, content.OpEdit, it); err != nil {
		return nil, err
	}
	f, err := h.newNodeForm(c, it)
	if err != nil {
		return nil, err
	}
	f.id = editing.FormID(it.ID, it.Lang)
	f.load(withPath(content.InputOf(it), it.Path), content.Access{ViewRoles: it.ViewRoles, OutOfAnswers: it.OutOfAnswers})
	return f, nil
}

func withPath(in content.Input, path string) content.Input {
	in.Path = path
	return in
}

// openTranslation prepares a language that an entity does not have yet, filled
// with what the language says that it is made from.
func (h *Handlers) openTranslation(c echo.Context, ref content.Ref, lang string) (*nodeForm, error) {
	ctx, who := c.Request().Context(), h.account(c)
	all, err := h.Content.TranslationsFor(ctx, who, ref)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, db.ErrNotFound
	}
	from := cmp.Or(c.QueryParam("from"), h.Content.DefaultLanguage())
	at := slices.IndexFunc(all, func(it content.Item) bool { return it.Lang == from })
	source, err := h.Content.Latest(ctx, who, content.Ref{Type: all[max(at, 0)].Type, ID: ref.ID}, all[max(at, 0)].Lang)
	if err != nil {
		return nil, err
	}
	if err := h.Content.May(who, content.OpEdit, source); err != nil {
		return nil, err
	}
	in, err := h.Content.NewTranslation(ctx, who, source.Ref, source.Lang, lang)
	if err != nil {
		return nil, err
	}
	f, err := h.newNodeForm(c, content.Item{
		Ref: source.Ref, Bundle: source.Bundle, Lang: lang, Fields: in.Fields, AuthorID: source.AuthorID,
		ViewRoles: source.ViewRoles, OutOfAnswers: source.OutOfAnswers,
	})
	if err != nil {
		return nil, err
	}
	f.id, f.source = editing.FormID(ref.ID, lang), &source
	f.load(in, content.Access{ViewRoles: source.ViewRoles, OutOfAnswers: source.OutOfAnswers})
	return f, nil
}

// openNew prepares new content of the type that the address names.
func (h *Handlers) openNew(c echo.Context, formID, lang string) (*nodeForm, error) {
	who, bundle := h.account(c), c.Param("bundle")
	it := content.Item{Ref: content.Ref{Type: content.TypeNode}, Bundle: bundle, Lang: h.knownLanguage(lang), AuthorID: who.ID}
	f, err := h.newNodeForm(c, it)
	if err != nil {
		return nil, err
	}
	if err := h.Content.May(who, config.OpCreate, it); err != nil {
		return nil, err
	}
	f.id = formID
	f.load(content.Input{Bundle: bundle, Lang: it.Lang}, content.Access{})
	return f, nil
}

// editNode handles GET /admin/content/:id/:lang. What was typed and not saved is
// in the form again.
func (h *Handlers) editNode(c echo.Context) error {
	f, err := h.openNode(c)
	if err != nil {
		return err
	}
	if f.source == nil && f.item.LatestID != "" && !h.onlyLanguage() {
		if err := h.addSource(c, f); err != nil {
			return err
		}
	}
	return h.showKept(c, f)
}

// entityAddress handles GET /admin/content/:id: the form in the language that the
// entity has first.
func (h *Handlers) entityAddress(c echo.Context) error {
	all, err := h.Content.TranslationsFor(c.Request().Context(), h.account(c), content.Ref{ID: c.Param("id")})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return db.ErrNotFound
	}
	lang := all[0].Lang
	if slices.ContainsFunc(all, func(it content.Item) bool { return it.Lang == h.Content.DefaultLanguage() }) {
		lang = h.Content.DefaultLanguage()
	}
	return c.Redirect(http.StatusSeeOther, nodeURL(c.Param("id"), lang))
}

func (h *Handlers) onlyLanguage() bool { return len(h.Content.Languages()) == 1 }

// addSource puts the site's own language beside a translation while ?beside= asks
// for it, or while the translation is a draft that was never public.
func (h *Handlers) addSource(c echo.Context, f *nodeForm) error {
	original := h.Content.DefaultLanguage()
	if f.lang == original || f.item.Published && c.QueryParam("beside") == "" {
		return nil
	}
	source, err := h.Content.Latest(c.Request().Context(), f.who, f.item.Ref, original)
	if errors.Is(err, db.ErrNotFound) || errors.Is(err, content.ErrForbidden) {
		return nil
	}
	f.source = &source
	return err
}

// newNode handles GET /admin/content/add/:bundle. Every new form has an id of its
// own, so that two of them can be filled at once.
func (h *Handlers) newNode(c echo.Context) error {
	id := c.QueryParam("form")
	if id == "" {
		fresh, err := uuid.NewV7()
		if err != nil {
			return err
		}
		id = fresh.String()
	}
	f, err := h.openNew(c, id, c.QueryParam("language"))
	if err != nil {
		return err
	}
	return h.showKept(c, f)
}

// showKept shows a form with what is kept of it, if anything is.
func (h *Handlers) showKept(c echo.Context, f *nodeForm) error {
	kept, err := h.Editing.Form(c.Request().Context(), f.who.ID, f.id)
	switch {
	case errors.Is(err, db.ErrNotFound):
		return h.showNodeForm(c, http.StatusOK, f, nodeFormState{})
	case err != nil:
		return err
	}
	if f.saysAs(kept.Values) { // such as after a preview of what is saved
		return h.showNodeForm(c, http.StatusOK, f, nodeFormState{})
	}
	f.values = kept.Values
	return h.showNodeForm(c, http.StatusOK, f, nodeFormState{kept: &views.KeptNotice{
		At: kept.UpdatedAt.In(f.zone), DiscardURL: discardURL(f.id, f.item.ID, f.lang, f.item.Bundle),
	}})
}

func discardURL(formID, entityID, lang, bundle string) string {
	query := url.Values{"form": {formID}, "bundle": {bundle}}
	if entityID != "" {
		query = url.Values{"form": {formID}, "id": {entityID}, "lang": {lang}}
	}
	return "/admin/content/discard?" + query.Encode()
}

// A nodeFormState is what a form is shown with besides its values.
type nodeFormState struct {
	kept     *views.KeptNotice
	conflict *views.NodeConflict
}

// showNodeForm renders a form with its values and what is wrong with them.
func (h *Handlers) showNodeForm(c echo.Context, status int, f *nodeForm, state nodeFormState) error {
	ctx := c.Request().Context()
	frame, err := h.nodeFrame(c, f.item, f.typ, "edit")
	if err != nil {
		return err
	}
	page := views.NodeEditPage{
		NodeFrame: frame, FormID: f.id, KeepURL: "/admin/content/keep", BasedOn: f.values.Get("based_on"),
		Action: nodeURL(f.item.ID, f.lang), TitleLabel: i18n.T(ctx, "edit.title"), TitleValue: f.values.Get(input("title", "0")),
		TitleError: fieldError(ctx, i18n.T(ctx, "edit.title"), f.errors["title"]),
		Kept:       state.kept, Conflict: state.conflict, CanDraft: f.typ.Workflow, Picker: components.MediaPicker(),
	}
	if saved := c.QueryParam("form"); saved != "" && c.QueryParam("done") != "" {
		page.Forget = saved
	}
	if f.item.ID == "" {
		page.Action = addURL(f.item.Bundle)
		page.KeepURL += "?" + url.Values{"bundle": {f.item.Bundle}}.Encode()
		if page.Begun, err = h.begun(c, f.item.Bundle, f.id); err != nil {
			return err
		}
	} else {
		page.KeepURL += "?" + url.Values{"id": {f.item.ID}, "lang": {f.lang}}.Encode()
	}
	if f.source != nil && f.item.LatestID == "" {
		page.Title = i18n.T(ctx, "translate.heading", f.source.Title, i18n.Name(f.lang))
	}
	if f.source != nil {
		page.TitleSource, page.SourceLang = f.source.Title, f.source.Lang
	}
	if page.Widgets, err = h.widgets(c, f); err != nil {
		return err
	}
	if err := h.fillSide(c, f, &page); err != nil {
		return err
	}
	if err := h.fillActions(c, f, &page); err != nil {
		return err
	}
	page.Complaints = complaints(page)
	return h.render(c, status, views.NodeEdit(page))
}

// complaints leads to everything that is wrong with a form.
func complaints(p views.NodeEditPage) []components.Link {
	var out []components.Link
	if p.TitleError != "" {
		out = append(out, components.Link{Label: p.TitleError, URL: "#f-title-0"})
	}
	for _, w := range p.Widgets {
		if w.Failed() {
			out = append(out, w.Complaint())
		}
	}
	for _, side := range []struct{ name, id string }{
		{"path", "side-path"}, {"view_roles", "side-roles-error"}, {"menu", "side-menu"}, {"menu_title", "side-menu-title"},
		{"menu_parent", "side-menu-parent"}, {"date", "side-date"}, {"weight", "side-weight"}, {"other", "main"},
	} {
		if message := p.Side.Errors[side.name]; message != "" {
			out = append(out, components.Link{Label: message, URL: "#" + side.id})
		}
	}
	return out
}

// fillActions adds what the account may do with the content as a whole.
func (h *Handlers) fillActions(c echo.Context, f *nodeForm, page *views.NodeEditPage) error {
	it := f.item
	page.CanPublish = !f.typ.Workflow || h.Content.May(f.who, config.OpPublish, it) == nil
	if f.item.LatestID == "" {
		return nil
	}
	page.Live = it.Published
	if it.Published {
		page.ViewURL = it.Path
	}
	moves, err := h.Content.Transitions(c.Request().Context(), f.who, it)
	if err != nil {
		return err
	}
	for _, m := range moves {
		switch m.Op {
		case config.OpArchive:
			page.ArchiveURL = nodeURL(it.ID, it.Lang, "/archive")
		case config.OpUnpublish:
			page.UnpublishURL = nodeURL(it.ID, it.Lang, "/unpublish")
		}
	}
	if h.Content.May(f.who, config.OpDelete, it) == nil {
		page.DeleteURL = nodeURL(it.ID, it.Lang, "/delete")
	}
	return nil
}

// nodeFrame is what the pages about one translation have in common.
func (h *Handlers) nodeFrame(c echo.Context, it content.Item, typ config.ContentType, tab string) (views.NodeFrame, error) {
	ctx := c.Request().Context()
	frame := views.NodeFrame{
		Admin: h.admin(c), Title: it.Title, TypeLabel: typ.LabelIn(i18n.Language(ctx)), Lang: it.Lang,
		NewDraft: it.Published && it.LatestState == content.Draft,
	}
	frame.Crumbs = []components.Link{{Label: i18n.T(ctx, "content.title"), URL: "/admin/content"}, {Label: frame.TypeLabel}}
	if it.LatestID == "" {
		if it.ID == "" {
			return frame, nil
		}
		frame.Title = i18n.T(ctx, "translate.add", i18n.Name(it.Lang))
		return frame, nil
	}
	frame.State = string(it.LatestState)
	add := func(name, label, address string) {
		frame.Tabs = append(frame.Tabs, views.AdminItem{Label: label, URL: address, Current: name == tab})
	}
	add("edit", i18n.T(ctx, "edit.tab"), nodeURL(it.ID, it.Lang))
	add("history", i18n.T(ctx, "edit.history"), nodeURL(it.ID, it.Lang, "/revisions"))
	if !h.onlyLanguage() {
		add("translations", i18n.T(ctx, "edit.translations"), nodeURL(it.ID, it.Lang, "/translations"))
	}
	add("preview", i18n.T(ctx, "edit.preview"), previewURL(it.ID, it.Lang, it.LatestID))
	return frame, nil
}

func previewURL(id, lang, revision string) string {
	return "/preview/" + url.PathEscape(id) + "/" + url.PathEscape(lang) + "/" + url.PathEscape(revision)
}

// authorName is an account as people know it.
func (h *Handlers) authorNames(c echo.Context, ids ...string) map[string]string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	slices.Sort(ids)
	names, err := h.Accounts.Names(c.Request().Context(), slices.Compact(ids))
	if err != nil {
		h.Log.Warn("names of authors", "err", err)
	}
	return names
}

// roleChoices are the roles that content can be kept to.
func (h *Handlers) roleChoices(c echo.Context, chosen []string) ([]views.RoleChoice, error) {
	roles, err := config.All[config.Role](c.Request().Context(), h.Config)
	if err != nil {
		return nil, err
	}
	var out []views.RoleChoice
	for _, r := range roles {
		if r.Name != account.RoleAnonymous && r.Name != account.RoleAdministrator {
			out = append(out, views.RoleChoice{Name: r.Name, Label: r.Value.Label, Chosen: slices.Contains(chosen, r.Name)})
		}
	}
	return out, nil
}
