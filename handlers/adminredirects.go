package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

const (
	redirectsURL = "/admin/structure/redirects"
	// redirectHops bounds how far a chain of redirects is followed.
	redirectHops = 20
	// titleLimit is how long a title may be, in characters.
	titleLimit = 255
)

// requiresAny lets only accounts with one of these permissions through.
func (h *Handlers) requiresAny(permissions ...account.Permission) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			if slices.ContainsFunc(permissions, h.account(c).Can) {
				return next(c)
			}
			return h.requires(permissions[0])(next)(c)
		}
	}
}

// redirects handles GET /admin/structure/redirects.
func (h *Handlers) redirects(c echo.Context) error {
	ctx, n := c.Request().Context(), pageNumber(c)
	text := c.QueryParam("text")
	page := views.ListPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "redirects.title"), Intro: i18n.T(ctx, "redirects.intro"),
		New:    components.Link{Label: i18n.T(ctx, "redirects.new"), URL: redirectsURL + "/new"},
		Filter: &views.ListFilter{Action: redirectsURL, Label: i18n.T(ctx, "redirects.filter"), Text: text},
		Head:   i18n.T(ctx, "redirects.from"), Columns: []string{i18n.T(ctx, "redirects.to"), i18n.T(ctx, "redirects.kind"), i18n.T(ctx, "redirects.hits")},
		Empty: i18n.T(ctx, "redirects.empty"),
	}
	items, total, err := h.Content.List(ctx, h.account(c), content.Filter{Type: content.TypeRedirect, Text: text, Order: content.ByTitle, Limit: pageSize, Offset: (n - 1) * pageSize})
	if err != nil {
		return err
	}
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
	}
	hits, err := h.Content.RedirectHits(ctx, ids)
	if err != nil {
		return err
	}
	for _, it := range items {
		kind := i18n.T(ctx, "redirects.permanent")
		if temporary, _ := it.Fields[content.FieldTemporary].(bool); temporary {
			kind = i18n.T(ctx, "redirects.temporary")
		}
		address := redirectURL(it.ID, it.Lang)
		page.Rows = append(page.Rows, views.ListRow{
			Title: it.Path, URL: address, Cells: []views.ListCell{
				{Text: it.Fields.Text(content.FieldTo), URL: it.Fields.Text(content.FieldTo), LTR: true}, {Text: kind}, {Text: i18n.T(ctx, "number", hits[it.ID])},
			},
			Actions: []views.RowAction{{Label: i18n.T(ctx, "action.delete"), URL: address + "/delete", Danger: true}},
		})
	}
	page.Pager = pager(c, n, len(items), total)
	return h.render(c, http.StatusOK, views.List(page))
}

func redirectURL(id, lang string) string {
	return redirectsURL + "/" + url.PathEscape(id) + "/" + url.PathEscape(lang)
}

// A redirectValues is a redirect as its form holds it.
type redirectValues struct {
	from, to  string
	temporary bool
}

func (h *Handlers) redirectForm(c echo.Context, it content.Item, v redirectValues, refused map[string]string) views.FormPage {
	ctx := c.Request().Context()
	page := views.FormPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "redirects.new"), Action: redirectsURL + "/new", CancelURL: redirectsURL,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "redirects.title"), URL: redirectsURL}},
	}
	if it.ID != "" {
		page.Title, page.Action = it.Path, redirectURL(it.ID, it.Lang)
		page.DeleteURL, page.DeleteLabel = page.Action+"/delete", i18n.T(ctx, "action.delete")
	}
	var chosen []string
	if v.temporary {
		chosen = []string{"on"}
	}
	page.Groups = []views.FormGroup{{Controls: []views.Control{
		{FieldProps: components.FieldProps{ID: "redirect-from", Name: "from", Label: i18n.T(ctx, "redirects.from"), Value: v.from, Placeholder: "/old-page/", Help: i18n.T(ctx, "redirects.from_help"), MaxLength: 1000, Required: true, Autocomplete: "off"}},
		{FieldProps: components.FieldProps{ID: "redirect-to", Name: "to", Label: i18n.T(ctx, "redirects.to"), Value: v.to, Placeholder: "/visit/", Help: i18n.T(ctx, "redirects.to_help"), MaxLength: 2000, Required: true, Autocomplete: "off"}},
		{Kind: views.ControlCheck, Chosen: chosen, FieldProps: components.FieldProps{ID: "redirect-temporary", Name: "temporary", Value: "on", Label: i18n.T(ctx, "redirects.temporary_label"), Help: i18n.T(ctx, "redirects.temporary_help")}},
	}}}
	refuseControls(page.Groups, refused)
	return page
}

// newRedirect handles GET /admin/structure/redirects/new.
func (h *Handlers) newRedirect(c echo.Context) error {
	return h.render(c, http.StatusOK, views.Form(h.redirectForm(c, content.Item{}, redirectValues{from: c.QueryParam("from")}, nil)))
}

// redirectOf returns the redirect of the address.
func (h *Handlers) redirectOf(c echo.Context) (content.Item, error) {
	return h.Content.Latest(c.Request().Context(), h.account(c), content.Ref{Type: content.TypeRedirect, ID: c.Param("id")}, c.Param("lang"))
}

// editRedirect handles GET /admin/structure/redirects/:id/:lang.
func (h *Handlers) editRedirect(c echo.Context) error {
	it, err := h.redirectOf(c)
	if err != nil {
		return err
	}
	temporary, _ := it.Fields[content.FieldTemporary].(bool)
	return h.render(c, http.StatusOK, views.Form(h.redirectForm(c, it, redirectValues{it.Path, it.Fields.Text(content.FieldTo), temporary}, nil)))
}

// createRedirect handles POST /admin/structure/redirects/new.
func (h *Handlers) createRedirect(c echo.Context) error { return h.putRedirect(c, content.Item{}) }

// saveRedirect handles POST /admin/structure/redirects/:id/:lang.
func (h *Handlers) saveRedirect(c echo.Context) error {
	it, err := h.redirectOf(c)
	if err != nil {
		return err
	}
	return h.putRedirect(c, it)
}

func (h *Handlers) putRedirect(c echo.Context, it content.Item) error {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	v := redirectValues{strings.TrimSpace(form.Get("from")), strings.TrimSpace(form.Get("to")), form.Has("temporary")}
	lang, path, refused := h.checkRedirect(ctx, v)
	if it.ID != "" && lang != it.Lang && len(refused) == 0 {
		refused["from"] = i18n.T(ctx, "redirects.other_language")
	}
	if len(refused) == 0 {
		in := content.Input{
			Ref: content.Ref{Type: content.TypeRedirect, ID: it.ID}, Bundle: "redirect", Lang: lang, Path: path, State: content.Published,
			Fields: content.Fields{content.FieldTo: v.to}, BasedOn: it.LatestID,
		}
		if len(path) <= titleLimit { // lists are in order of titles
			in.Title = path
		}
		if v.temporary {
			in.Fields[content.FieldTemporary] = true
		}
		_, err = h.Content.Save(ctx, h.account(c), in)
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
		for field, message := range refused { // the form's own names
			switch field {
			case "path", "title":
				delete(refused, field)
				refused["from"] = message
			}
		}
	}
	if len(refused) > 0 {
		return h.render(c, http.StatusUnprocessableEntity, views.Form(h.redirectForm(c, it, v, refused)))
	}
	if it.ID == "" {
		return leadTo(c, redirectsURL, "added")
	}
	return leadTo(c, redirectsURL, "saved")
}

// checkRedirect reads the old address and refuses what would lead nowhere or in a
// circle.
func (h *Handlers) checkRedirect(ctx context.Context, v redirectValues) (lang, path string, refused map[string]string) {
	refused = map[string]string{}
	from, err := url.Parse(v.from)
	switch {
	case v.from == "":
		refused["from"] = i18n.T(ctx, "form.required")
	case err != nil || from.Host != "" && from.Host != h.BaseURL.Host || !strings.HasPrefix(from.Path, "/"):
		refused["from"] = i18n.T(ctx, "redirects.from_refused")
	default:
		lang, path = h.splitLanguage(from.Path)
		if path, err = content.NormalizePath(path); err != nil {
			refused["from"] = err.Error()
		} else if path == "/" {
			refused["from"] = i18n.T(ctx, "redirects.front_refused")
		}
	}
	to, err := url.Parse(v.to)
	switch {
	case v.to == "":
		refused["to"] = i18n.T(ctx, "form.required")
	case err != nil || to.Host == "" && !strings.HasPrefix(to.Path, "/") || to.Host != "" && to.Scheme != "http" && to.Scheme != "https" || strings.HasPrefix(v.to, "//"):
		refused["to"] = i18n.T(ctx, "redirects.to_refused")
	case len(refused) == 0 && (to.Host == "" || to.Host == h.BaseURL.Host):
		if message := h.redirectCircle(ctx, lang, path, to.Path); message != "" {
			refused["to"] = message
		}
	}
	return lang, path, refused
}

// splitLanguage takes the language's prefix from an address as visitors see it.
func (h *Handlers) splitLanguage(path string) (lang, bare string) {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if languages := h.Content.Languages(); slices.Contains(languages[1:], first) {
		return first, "/" + rest
	}
	return h.Content.DefaultLanguage(), path
}

// redirectCircle follows an address as visitors would and says so when it comes
// back to where it began.
func (h *Handlers) redirectCircle(ctx context.Context, lang, path, to string) string {
	all := account.Account{Roles: []string{account.RoleAdministrator}}
	for hop := range redirectHops {
		nextLang, next := h.splitLanguage(to)
		next, err := content.NormalizePath(next)
		if err != nil {
			return ""
		}
		if nextLang == lang && next == path {
			if hop == 0 {
				return i18n.T(ctx, "redirects.itself")
			}
			return i18n.T(ctx, "redirects.circle")
		}
		_, err = h.Content.ByPath(ctx, all, nextLang, next)
		moved, ok := errors.AsType[*content.Redirect](err)
		if !ok {
			return ""
		}
		address, err := url.Parse(moved.To)
		if err != nil || address.Host != "" && address.Host != h.BaseURL.Host {
			return ""
		}
		to = address.Path
	}
	return i18n.T(ctx, "redirects.circle")
}

// confirmDeleteRedirect handles GET /admin/structure/redirects/:id/:lang/delete.
func (h *Handlers) confirmDeleteRedirect(c echo.Context) error {
	ctx := c.Request().Context()
	it, err := h.redirectOf(c)
	if err != nil {
		return err
	}
	hits, err := h.Content.RedirectHits(ctx, []string{it.ID})
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Confirm(views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "redirects.delete_title", it.Path), Action: c.Request().URL.Path,
		Crumbs:       []components.Link{{Label: i18n.T(ctx, "redirects.title"), URL: redirectsURL}},
		Consequences: []components.Link{{Label: i18n.T(ctx, "redirects.delete_text")}, {Label: i18n.T(ctx, "redirects.delete_hits", hits[it.ID])}},
		Submit:       i18n.T(ctx, "action.delete"), Danger: true, CancelURL: redirectURL(it.ID, it.Lang),
	}))
}

// deleteRedirect handles POST /admin/structure/redirects/:id/:lang/delete.
func (h *Handlers) deleteRedirect(c echo.Context) error {
	it, err := h.redirectOf(c)
	if errors.Is(err, db.ErrNotFound) {
		return leadTo(c, redirectsURL, "deleted")
	}
	if err != nil {
		return err
	}
	if err := h.Content.Delete(c.Request().Context(), h.account(c), it.Ref); err != nil {
		return err
	}
	return leadTo(c, redirectsURL, "deleted")
}

// countRedirect notes that somebody followed an old address, in the language asked
// for or the default: visitors go on even when it cannot be noted.
func (h *Handlers) countRedirect(c echo.Context, path string) {
	for _, lang := range slices.Compact([]string{h.lang(c), h.Content.DefaultLanguage()}) {
		counted, err := h.Content.CountRedirect(c.Request().Context(), lang, path)
		if err != nil {
			h.Log.Warn("count redirect", "error", err)
		}
		if counted || err != nil {
			return
		}
	}
}
