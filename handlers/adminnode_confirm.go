package handlers

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// consequencesShown is how many places a confirmation lists.
const consequencesShown = 10

// A contentOp is something that can be done with whole translations at once.
type contentOp struct {
	op    config.Operation
	state content.State // it leads to; empty: deleted
	hides bool          // visitors no longer find the page
	done  string
}

var contentOps = map[string]contentOp{
	"publish":   {config.OpPublish, content.Published, false, "published"},
	"unpublish": {config.OpUnpublish, content.Draft, true, "unpublished"},
	"archive":   {config.OpArchive, content.Archived, true, "archived"},
	"delete":    {config.OpDelete, "", true, "deleted"},
}

// may reports why an operation cannot be done with an item, "" when it can.
func (h *Handlers) mayDo(c echo.Context, op contentOp, it content.Item) (string, error) {
	ctx := c.Request().Context()
	if op.state == "" {
		if h.Content.May(h.account(c), op.op, it) != nil {
			return i18n.T(ctx, "confirm.refused"), nil
		}
		return "", nil
	}
	if it.LatestState == op.state && it.Published == (op.state == content.Published) {
		return i18n.T(ctx, "confirm.already"), nil
	}
	moves, err := h.Content.Transitions(ctx, h.account(c), it)
	if err != nil {
		return "", err
	}
	// A published page with a newer draft is taken off the site from where it is.
	if it.Published && it.LatestState != content.Published {
		public := it
		public.LatestState = content.Published
		more, err := h.Content.Transitions(ctx, h.account(c), public)
		if err != nil {
			return "", err
		}
		moves = append(moves, more...)
	}
	if !slices.ContainsFunc(moves, func(t content.Transition) bool { return t.Op == op.op && t.To == op.state }) {
		return i18n.T(ctx, "confirm.refused"), nil
	}
	return "", nil
}

// splitKey reads which translation a row of a list stands for.
func splitKey(key string) (id, lang string) {
	id, lang, _ = strings.Cut(key, ".")
	return id, lang
}

// bulkContent handles POST /admin/content/bulk: it asks, and after that does.
func (h *Handlers) bulkContent(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	op, ok := contentOps[form.Get("op")]
	if !ok {
		return refuse(http.StatusBadRequest, "")
	}
	back := backTo(form.Get("back"))
	keys := form["item"]
	if len(keys) > pageSize {
		keys = keys[:pageSize]
	}
	if len(keys) == 0 {
		return c.Redirect(http.StatusSeeOther, withDone(back, "nothing"))
	}
	items, err := h.byKeys(c, keys)
	if err != nil {
		return err
	}
	if form.Get("confirmed") == "" {
		return h.confirmContent(c, form.Get("op"), items, "/admin/content/bulk", back, "")
	}
	return h.doContent(c, op, items, back)
}

// backTo is the list that an action came from: only addresses of our own lists.
func backTo(address string) string {
	if address == "/admin/content" || strings.HasPrefix(address, "/admin/content?") || address == "/admin/content/review" || strings.HasPrefix(address, "/admin/content/review?") {
		return address
	}
	return "/admin/content"
}

func withDone(address, done string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	query.Set("done", done)
	u.RawQuery = query.Encode()
	return u.String()
}

// byKeys reads the latest revisions of translations; those that are gone by now
// are left out.
func (h *Handlers) byKeys(c echo.Context, keys []string) ([]content.Item, error) {
	var items []content.Item
	for _, key := range keys {
		id, lang := splitKey(key)
		it, err := h.Content.Latest(c.Request().Context(), h.account(c), content.Ref{ID: id}, lang)
		if errors.Is(err, db.ErrNotFound) || errors.Is(err, content.ErrForbidden) {
			continue
		}
		if err != nil {
			return nil, err
		}
		items = append(items, it)
	}
	return items, nil
}

// confirmContent asks before something is done, and names what follows from it.
func (h *Handlers) confirmContent(c echo.Context, name string, items []content.Item, action, back, basedOn string) error {
	ctx, op := c.Request().Context(), contentOps[name]
	page := views.ContentConfirmPage{Admin: h.admin(c), Action: action, Op: name, Back: back, BasedOn: basedOn, Danger: op.state == ""}
	switch name {
	case "publish":
		page.Heading, page.Text, page.Button = i18n.T(ctx, "confirm.publish"), i18n.T(ctx, "confirm.publish_text"), i18n.T(ctx, "content.publish")
	case "unpublish":
		page.Heading, page.Text, page.Button = i18n.T(ctx, "confirm.unpublish"), i18n.T(ctx, "confirm.unpublish_text"), i18n.T(ctx, "content.unpublish")
	case "archive":
		page.Heading, page.Text, page.Button = i18n.T(ctx, "confirm.archive"), i18n.T(ctx, "confirm.archive_text"), i18n.T(ctx, "content.archive")
	case "delete":
		page.Heading, page.Text, page.Button = i18n.T(ctx, "confirm.delete"), i18n.T(ctx, "confirm.delete_text"), i18n.T(ctx, "content.delete")
	}
	if len(items) == 1 {
		page.Heading = i18n.T(ctx, "confirm.one", page.Button, items[0].Title)
	}
	for _, it := range items {
		row := views.ConfirmItem{Key: it.ID + "." + it.Lang, Title: it.Title, Detail: i18n.Name(it.Lang) + ", " + stateLabel(c, it.LatestState)}
		var err error
		if row.Refused, err = h.mayDo(c, op, it); err != nil {
			return err
		}
		if row.Refused == "" {
			page.Possible++
			if op.hides {
				if row.Consequences, err = h.consequences(c, it); err != nil {
					return err
				}
			}
		}
		page.Items = append(page.Items, row)
	}
	return h.render(c, http.StatusOK, views.ContentConfirm(page))
}

// consequences are what leads to a page that goes out of sight.
func (h *Handlers) consequences(c echo.Context, it content.Item) ([]views.Consequence, error) {
	ctx := c.Request().Context()
	usage, err := h.Content.References(ctx, h.account(c), it.Ref)
	if err != nil {
		return nil, err
	}
	var out []views.Consequence
	if n := len(usage.Uses) + usage.Hidden; n > 0 {
		q := views.Consequence{Title: i18n.T(ctx, "confirm.linked", n), More: usage.Hidden}
		for i, use := range usage.Uses {
			if i == consequencesShown {
				q.More += len(usage.Uses) - i
				break
			}
			q.Links = append(q.Links, components.Link{Label: use.Item.Title, URL: nodeURL(use.Item.ID, use.Item.Lang), Where: use.Label})
		}
		out = append(out, q)
	}
	if len(usage.Menu) > 0 {
		q := views.Consequence{Title: i18n.T(ctx, "confirm.in_menu")}
		for _, entry := range usage.Menu {
			q.Links = append(q.Links, components.Link{Label: cmp.Or(entry.MenuTitle, entry.Title), Where: menuLabel(ctx, entry.Menu)})
		}
		out = append(out, q)
	}
	if out == nil {
		out = []views.Consequence{{Title: i18n.T(ctx, "confirm.no_consequences")}}
	}
	return out, nil
}

// doContent does what was confirmed, each item by itself: one that somebody else
// has just changed does not stop the others.
func (h *Handlers) doContent(c echo.Context, op contentOp, items []content.Item, back string) error {
	ctx, who, done := c.Request().Context(), h.account(c), op.done
	for _, it := range items {
		refused, err := h.mayDo(c, op, it)
		if err != nil {
			return err
		}
		if refused == "" {
			err = h.doOne(c, op, it)
		} else {
			err = content.ErrForbidden
		}
		switch {
		case err == nil:
		case errors.Is(err, content.ErrForbidden), errors.Is(err, content.ErrConflict), errors.Is(err, db.ErrNotFound), refusedFields(err) != nil:
			h.Log.Info("content left as it is", "entity", it.ID, "by", who.ID, "err", err)
			done = "partly"
		default:
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return c.Redirect(http.StatusSeeOther, withDone(back, done))
}

func (h *Handlers) doOne(c echo.Context, op contentOp, it content.Item) error {
	ctx, who := c.Request().Context(), h.account(c)
	if op.state == "" {
		return h.Content.Delete(ctx, who, it.Ref)
	}
	_, err := h.Content.SetState(ctx, who, it.Ref, it.Lang, op.state, it.LatestID)
	return err
}

// askNode handles GET /admin/content/:id/:lang/archive, unpublish and delete.
func (h *Handlers) askNode(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		f, err := h.readNode(c)
		if err != nil {
			return err
		}
		if name == "delete" && c.QueryParam("translation") != "" {
			return h.askTranslation(c, f.item)
		}
		it := f.item
		return h.confirmContent(c, name, []content.Item{it}, nodeURL(it.ID, it.Lang, "/", name), nodeURL(it.ID, it.Lang), it.LatestID)
	}
}

func (h *Handlers) askTranslation(c echo.Context, it content.Item) error {
	ctx := c.Request().Context()
	row := views.ConfirmItem{Key: it.ID + "." + it.Lang, Title: it.Title, Detail: i18n.Name(it.Lang) + ", " + stateLabel(c, it.LatestState)}
	page := views.ContentConfirmPage{
		Admin: h.admin(c), Heading: i18n.T(ctx, "confirm.delete_translation", i18n.Name(it.Lang)), Text: i18n.T(ctx, "confirm.delete_translation_text"),
		Action: nodeURL(it.ID, it.Lang, "/delete"), Op: "translation", BasedOn: it.LatestID, Button: i18n.T(ctx, "content.delete"), Danger: true,
		Back: nodeURL(it.ID, it.Lang, "/translations"),
	}
	if h.Content.May(h.account(c), config.OpDelete, it) != nil {
		row.Refused = i18n.T(ctx, "confirm.refused")
	} else {
		page.Possible = 1
	}
	page.Items = []views.ConfirmItem{row}
	return h.render(c, http.StatusOK, views.ContentConfirm(page))
}

// doNode handles POST of the same addresses.
func (h *Handlers) doNode(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		form, err := postedForm(c)
		if err != nil {
			return err
		}
		f, err := h.readNode(c)
		if err != nil {
			return err
		}
		it := f.item
		if basedOn := form.Get("based_on"); basedOn != "" && basedOn != it.LatestID {
			return content.ErrConflict
		}
		if name == "delete" && form.Get("op") == "translation" {
			if err := h.Content.DeleteTranslation(c.Request().Context(), f.who, it.Ref, it.Lang); err != nil {
				return err
			}
			return c.Redirect(http.StatusSeeOther, withDone("/admin/content/"+url.PathEscape(it.ID), "deleted"))
		}
		op := contentOps[name]
		if err := h.doOne(c, op, it); err != nil {
			return err
		}
		if op.state == "" {
			return c.Redirect(http.StatusSeeOther, withDone("/admin/content", op.done))
		}
		return c.Redirect(http.StatusSeeOther, nodeURL(it.ID, it.Lang, "?", url.Values{"done": {op.done}}.Encode()))
	}
}
