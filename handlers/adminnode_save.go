package handlers

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/editing"
	"docent/internal/i18n"
	"docent/views"
)

// saveNode handles POST /admin/content/:id/:lang.
func (h *Handlers) saveNode(c echo.Context) error {
	f, err := h.openNode(c)
	if err != nil {
		return err
	}
	if f.source == nil {
		if err := h.addSource(c, f); err != nil {
			return err
		}
	}
	return h.takeNodeForm(c, f)
}

// createNode handles POST /admin/content/add/:bundle.
func (h *Handlers) createNode(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	f, err := h.openNew(c, form.Get("form"), form.Get("lang"))
	if err != nil {
		return err
	}
	if len(f.id) == 0 || len(f.id) > 64 {
		return refuse(http.StatusBadRequest, "")
	}
	return h.takeNodeForm(c, f)
}

// takeNodeForm does what the button says that sent the form.
func (h *Handlers) takeNodeForm(c echo.Context, f *nodeForm) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	f.values = form
	verb, rest, _ := strings.Cut(form.Get("op"), ":")
	name, key, _ := strings.Cut(rest, ":")
	switch verb {
	case "publish":
		return h.storeNode(c, f, content.Published)
	case "draft", "":
		return h.storeNode(c, f, content.Draft)
	case "preview":
		return h.previewForm(c, f)
	case "pick":
		key, id, _ := strings.Cut(key, ":")
		return h.pickMedium(c, f, name, key, id)
	case "theirs":
		f.takeTheirs(name)
	case "refresh":
	default:
		if !f.apply(verb, name, key) {
			return refuse(http.StatusBadRequest, "")
		}
	}
	if err := h.keep(c, f); err != nil {
		return err
	}
	return h.showNodeForm(c, http.StatusOK, f, nodeFormState{})
}

// keep stores what the form says, beside everything that was saved.
func (h *Handlers) keep(c echo.Context, f *nodeForm) error {
	values := url.Values{}
	for name, v := range f.values {
		if name != "csrf_token" && name != "op" {
			values[name] = v
		}
	}
	_, err := h.Editing.Keep(c.Request().Context(), editing.Form{
		AccountID: f.who.ID, ID: f.id, EntityID: f.item.ID, Bundle: f.item.Bundle, Lang: f.lang,
		BasedOn: values.Get("based_on"), Title: excerpt(values.Get(input("title", "0")), 255), Values: values,
	})
	return err
}

// errUnread undoes what was saved only to hear everything that is wrong with a form.
var errUnread = errors.New("the form could not be read")

// storeNode saves the form as a revision.
func (h *Handlers) storeNode(c echo.Context, f *nodeForm, state content.State) error {
	ctx := c.Request().Context()
	if !f.typ.Workflow {
		state = content.Published
	}
	if err := h.resolve(c, f); err != nil {
		return err
	}
	in := f.read()
	f.checkBlocks(ctx)
	in.State = state
	unread := len(f.errors) > 0 || len(f.bad) > 0
	var stored content.Item
	err := h.DB.InTx(ctx, func(tx *db.DB) error {
		store := h.Content.In(tx)
		if err := addTerms(ctx, store, f, &in); err != nil {
			return err
		}
		var err error
		if stored, err = store.Save(ctx, f.who, in); err == nil && unread {
			err = errUnread
		}
		return err
	})
	if refused := refusedFields(err); unread || refused != nil {
		maps.Copy(f.errors, refused)
		f.saidAtRows()
		return h.refuseNode(c, f)
	}
	if conflict, ok := errors.AsType[*content.Conflict](err); ok {
		return h.showConflict(c, f, conflict)
	}
	if err != nil {
		return errors.Join(err, h.keep(c, f))
	}
	if err := h.Editing.Forget(ctx, f.who.ID, f.id); err != nil {
		return err
	}
	done := "draft"
	switch {
	case stored.Merged:
		done = "merged"
	case stored.LatestState == content.Published:
		done = "published"
	}
	return c.Redirect(http.StatusSeeOther, nodeURL(stored.ID, stored.Lang, "?", url.Values{"done": {done}, "form": {f.id}}.Encode()))
}

// refuseNode shows the form again with what is wrong with it; what was typed is
// kept as well.
func (h *Handlers) refuseNode(c echo.Context, f *nodeForm) error {
	if err := h.keep(c, f); err != nil {
		h.Log.Warn("keep form", "err", err)
	}
	return h.showNodeForm(c, http.StatusUnprocessableEntity, f, nodeFormState{})
}

// addTerms makes the terms that were typed and did not exist.
func addTerms(ctx context.Context, store *content.Store, f *nodeForm, in *content.Input) error {
	for _, field := range f.typ.Fields {
		if field.Type != config.FieldReference || f.widget(field) != "autocomplete" {
			continue
		}
		made := false
		for _, key := range f.keys(field.Name) {
			name := input(field.Name, key)
			if f.values.Get(name+".id") != newTerm || len(field.Settings.Bundles) != 1 {
				continue
			}
			term, err := store.Save(ctx, f.who, content.Input{
				Ref: content.Ref{Type: content.TypeTerm}, Bundle: field.Settings.Bundles[0], Lang: f.lang,
				Title: f.values.Get(name), State: content.Published,
			})
			if refused := refusedFields(err); refused != nil {
				return &content.InvalidError{Fields: map[string]string{field.Name: "cannot take “" + excerpt(f.values.Get(name), 80) + "”: the title " + cmp.Or(refused["title"], "is refused")}}
			}
			if err != nil {
				return err
			}
			f.values.Set(name+".id", term.ID)
			made = true
		}
		if made {
			in.Fields[field.Name] = f.readField(field)
		}
	}
	return nil
}

// showConflict shows the form as it would be after both people's changes, and
// beside it what both of them changed.
func (h *Handlers) showConflict(c echo.Context, f *nodeForm, conflict *content.Conflict) error {
	ctx, theirs := c.Request().Context(), conflict.Theirs
	own := f.read()
	access := content.Access{ViewRoles: theirs.ViewRoles, OutOfAnswers: theirs.OutOfAnswers}
	if conflict.Merged.Access != nil {
		access = *conflict.Merged.Access
	}
	f.item = theirs
	f.load(conflict.Merged, access)
	f.values.Set("form", f.id)
	f.values.Set("lang", f.lang)
	f.values.Set("based_on", theirs.LatestID)
	if err := h.keep(c, f); err != nil {
		return err
	}
	if err := h.loadTitles(c, f); err != nil {
		return err
	}
	shown := &views.NodeConflict{
		Author:     authorOr(c, h.authorNames(c, theirs.RevisedBy)[theirs.RevisedBy]),
		At:         theirs.UpdatedAt.In(f.zone),
		CompareURL: nodeURL(theirs.ID, theirs.Lang, "/compare?", url.Values{"a": {conflict.Base.RevisionID}, "b": {theirs.RevisionID}}.Encode()),
	}
	for _, name := range conflict.Overlaps {
		row := views.ConflictField{Name: name, Label: settingLabel(c, name)}
		if field, ok := f.typ.Field(name); ok {
			row.Label = field.LabelIn(i18n.Language(ctx))
			var words [3]string
			for i, value := range []any{conflict.Base.Fields[name], theirs.Fields[name], own.Fields[name]} {
				var err error
				if words[i], err = h.plainValue(ctx, f, field, value); err != nil {
					return err
				}
			}
			row.Theirs, row.Yours = diffPieces(content.Words(words[0], words[1])), diffPieces(content.Words(words[0], words[2]))
		} else {
			was := f.settingInWords(name, saved(conflict.Base))
			row.Theirs = diffPieces(content.Words(was, f.settingInWords(name, saved(theirs))))
			row.Yours = diffPieces(content.Words(was, f.settingInWords(name, own)))
		}
		shown.Fields = append(shown.Fields, row)
	}
	return h.showNodeForm(c, http.StatusConflict, f, nodeFormState{conflict: shown})
}

// saved is an item as the form would have sent it.
func saved(it content.Item) content.Input {
	in := withPath(content.InputOf(it), it.Path)
	in.Access = &content.Access{ViewRoles: it.ViewRoles, OutOfAnswers: it.OutOfAnswers}
	return in
}

// settingInWords writes a part of an input that is no field.
func (f *nodeForm) settingInWords(name string, in content.Input) string {
	switch name {
	case "title":
		return in.Title
	case "path":
		return in.Path
	case "menu":
		return in.Menu
	case "menu_title":
		return in.MenuTitle
	case "date":
		return f.moment(in.Date)
	case "weight":
		return strconv.Itoa(in.Weight)
	case "access", "view_roles":
		if in.Access != nil {
			return strings.Join(in.Access.ViewRoles, ", ")
		}
	}
	return ""
}

// takeTheirs puts what is saved of a field into the form.
func (f *nodeForm) takeTheirs(name string) {
	if field, ok := f.typ.Field(name); ok {
		f.setField(field, f.item.Fields[name])
		return
	}
	theirs := *f
	in := saved(f.item)
	theirs.load(in, *in.Access)
	names := []string{name}
	switch name {
	case "title":
		names = []string{input("title", "0")}
	case "access", "view_roles":
		names = []string{"view", "roles"}
	}
	for _, n := range names {
		delete(f.values, n)
		if v, ok := theirs.values[n]; ok {
			f.values[n] = v
		}
	}
}

// pickMedium puts a medium into the form. Without scripts the library's own page
// is where it is chosen, and leads back to the form, which is kept meanwhile.
func (h *Handlers) pickMedium(c echo.Context, f *nodeForm, name, key, id string) error {
	field, ok := f.typ.Field(name)
	if !ok || pickerURL(field) == "" {
		return refuse(http.StatusBadRequest, "")
	}
	if id != "" {
		f.choose(name, key, id)
		if err := h.keep(c, f); err != nil {
			return err
		}
		return h.showNodeForm(c, http.StatusOK, f, nodeFormState{})
	}
	if err := h.keep(c, f); err != nil {
		return err
	}
	back := url.Values{"form": {f.id}, "field": {name}, "key": {key}, "bundle": {f.item.Bundle}, "lang": {f.lang}}
	if f.item.ID != "" {
		back.Set("id", f.item.ID)
	}
	return c.Redirect(http.StatusSeeOther, pickerURL(field)+"&"+url.Values{"return": {"/admin/content/picked?" + back.Encode()}}.Encode())
}

// pickedMedium handles GET /admin/content/picked: back from the library, with the
// form as it was kept and the medium in it.
func (h *Handlers) pickedMedium(c echo.Context) error {
	ctx, query := c.Request().Context(), c.QueryParams()
	kept, err := h.Editing.Form(ctx, h.account(c).ID, query.Get("form"))
	if err != nil {
		return err
	}
	address := nodeURL(kept.EntityID, kept.Lang)
	it := content.Item{Ref: content.Ref{Type: content.TypeNode}, Bundle: kept.Bundle, Lang: kept.Lang}
	if kept.EntityID == "" {
		address = addURL(kept.Bundle) + "?" + url.Values{"form": {kept.ID}, "language": {kept.Lang}}.Encode()
	} else if all, err := h.Content.TranslationsFor(ctx, h.account(c), content.Ref{ID: kept.EntityID}); err != nil || len(all) == 0 {
		return cmp.Or(err, error(db.ErrNotFound))
	} else {
		it.Ref, it.Bundle = all[0].Ref, all[0].Bundle
	}
	f, err := h.newNodeForm(c, it)
	if err != nil {
		return err
	}
	if id := query.Get("picked"); id != "" {
		f.id, f.item.ID, f.values = kept.ID, kept.EntityID, kept.Values
		f.choose(query.Get("field"), query.Get("key"), id)
		if err := h.keep(c, f); err != nil {
			return err
		}
	}
	return c.Redirect(http.StatusSeeOther, address)
}

// keepForm handles POST /admin/content/keep: a form while it is typed.
func (h *Handlers) keepForm(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	f := &nodeForm{who: who, id: form.Get("form"), lang: h.knownLanguage(form.Get("lang")), values: form}
	if id := c.QueryParam("id"); id != "" {
		if err := h.mayEditEntity(c, id); err != nil {
			return err
		}
		f.item.ID, f.id = id, editing.FormID(id, f.lang)
	} else if f.item.Bundle = c.QueryParam("bundle"); !h.mayCreate(who, f.item.Bundle) {
		return content.ErrForbidden
	}
	if f.id == "" || len(f.id) > 64 {
		return refuse(http.StatusBadRequest, "")
	}
	if err := h.keep(c, f); errors.Is(err, editing.ErrTooLarge) {
		return refuse(http.StatusRequestEntityTooLarge, "")
	} else if err != nil {
		return err
	}
	at := db.Now().In(h.zone(c.Request().Context())).Format("15:04")
	return c.JSON(http.StatusOK, map[string]string{"text": i18n.T(ctx, "edit.saved_at", at)})
}

func (h *Handlers) mayCreate(who account.Account, bundle string) bool {
	return h.Content.May(who, config.OpCreate, content.Item{Ref: content.Ref{Type: content.TypeNode}, Bundle: bundle}) == nil
}

// mayEditEntity refuses accounts that may not edit an entity in any language.
func (h *Handlers) mayEditEntity(c echo.Context, id string) error {
	all, err := h.Content.TranslationsFor(c.Request().Context(), h.account(c), content.Ref{ID: id})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return db.ErrNotFound
	}
	return h.Content.May(h.account(c), content.OpEdit, all[0])
}

// discardForm handles POST /admin/content/discard: what is kept of a form goes.
func (h *Handlers) discardForm(c echo.Context) error {
	query := c.QueryParams()
	if err := h.Editing.Forget(c.Request().Context(), h.account(c).ID, query.Get("form")); err != nil {
		return err
	}
	done := "?" + url.Values{"done": {"discarded"}, "form": {query.Get("form")}}.Encode()
	if id := query.Get("id"); id != "" {
		return c.Redirect(http.StatusSeeOther, nodeURL(id, query.Get("lang"), done))
	}
	return c.Redirect(http.StatusSeeOther, "/admin/content/add"+done)
}
