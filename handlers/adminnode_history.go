package handlers

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// readNode opens a translation for the pages that change nothing by themselves.
func (h *Handlers) readNode(c echo.Context) (*nodeForm, error) {
	it, err := h.Content.Latest(c.Request().Context(), h.account(c), content.Ref{ID: c.Param("id")}, c.Param("lang"))
	if err != nil {
		return nil, err
	}
	return h.newNodeForm(c, it)
}

// nodeHistory handles GET /admin/content/:id/:lang/revisions.
func (h *Handlers) nodeHistory(c echo.Context) error {
	f, err := h.readNode(c)
	if err != nil {
		return err
	}
	it := f.item
	revisions, err := h.Content.History(c.Request().Context(), f.who, it.Ref, it.Lang)
	if err != nil {
		return err
	}
	frame, err := h.nodeFrame(c, it, f.typ, "history")
	if err != nil {
		return err
	}
	published, err := h.publishedRevision(c, it)
	if err != nil {
		return err
	}
	page := views.NodeHistoryPage{NodeFrame: frame, CompareURL: nodeURL(it.ID, it.Lang, "/compare"), LatestID: it.LatestID}
	ids := make([]string, len(revisions))
	for i, r := range revisions {
		ids[i] = r.AuthorID
	}
	names := h.authorNames(c, ids...)
	mayRevert := h.Content.May(f.who, content.OpEdit, it) == nil
	for i, r := range revisions {
		row := views.RevisionRow{
			ID: r.ID, At: r.CreatedAt.In(f.zone), Author: authorOr(c, names[r.AuthorID]), Message: r.Message, State: string(r.State), Title: r.Title,
			Current: r.ID == published, Latest: r.ID == it.LatestID, ViewURL: previewURL(it.ID, it.Lang, r.ID),
			A: i == 1, B: i == 0,
		}
		if mayRevert && !row.Latest {
			row.RevertURL = nodeURL(it.ID, it.Lang, "/revert")
		}
		page.Rows = append(page.Rows, row)
	}
	return h.render(c, http.StatusOK, views.NodeHistory(page))
}

// publishedRevision is what visitors see of a translation, "" for nothing.
func (h *Handlers) publishedRevision(c echo.Context, it content.Item) (string, error) {
	if !it.Published {
		return "", nil
	}
	all, err := h.Content.Translations(c.Request().Context(), it.ID)
	if err != nil {
		return "", err
	}
	for _, t := range all {
		if t.Lang == it.Lang {
			return t.RevisionID, nil
		}
	}
	return "", nil
}

// compareNode handles GET /admin/content/:id/:lang/compare?a=&b=: two revisions
// field by field; without a the published one, without b the latest.
func (h *Handlers) compareNode(c echo.Context) error {
	ctx := c.Request().Context()
	f, err := h.readNode(c)
	if err != nil {
		return err
	}
	it := f.item
	comparison, err := h.Content.Compare(ctx, f.who, it.Ref, it.Lang, c.QueryParam("a"), c.QueryParam("b"))
	if err != nil {
		return err
	}
	a, b := comparison.A, comparison.B
	if a.UpdatedAt.After(b.UpdatedAt) && a.RevisionID > b.RevisionID { // from the older to the newer
		if comparison, err = h.Content.Compare(ctx, f.who, it.Ref, it.Lang, b.RevisionID, a.RevisionID); err != nil {
			return err
		}
		a, b = b, a
	}
	frame, err := h.nodeFrame(c, it, f.typ, "history")
	if err != nil {
		return err
	}
	names := h.authorNames(c, a.RevisedBy, b.RevisedBy)
	inWords := func(r content.Item) string {
		return i18n.T(ctx, "compare.revision", i18n.DateTime(ctx, r.UpdatedAt.In(f.zone)), stateLabel(c, r.State), authorOr(c, names[r.RevisedBy]))
	}
	page := views.NodeComparePage{NodeFrame: frame, From: inWords(a), To: inWords(b), HistoryURL: nodeURL(it.ID, it.Lang, "/revisions"), LatestID: it.LatestID}
	if a.RevisionID != it.LatestID && h.Content.May(f.who, content.OpEdit, it) == nil {
		page.RevertURL, page.RevertID = nodeURL(it.ID, it.Lang, "/revert"), a.RevisionID
	}
	pictures, err := h.comparedMedia(c, f, comparison)
	if err != nil {
		return err
	}
	for _, d := range comparison.Fields {
		if !d.Changed {
			continue
		}
		if field, ok := f.typ.Field(d.Name); ok && field.Type == config.FieldComponents {
			before, err := h.partsInWords(ctx, f, a.Fields[d.Name])
			if err != nil {
				return err
			}
			after, err := h.partsInWords(ctx, f, b.Fields[d.Name])
			if err != nil {
				return err
			}
			d.Segments = content.Words(before, after)
		}
		page.Fields = append(page.Fields, diffField(c, d, pictures))
	}
	return h.render(c, http.StatusOK, views.NodeCompare(page))
}

// comparedMedia reads the media that two revisions refer to, so that pictures are
// shown as such.
func (h *Handlers) comparedMedia(c echo.Context, f *nodeForm, comparison content.Comparison) (map[string]content.Medium, error) {
	var ids []string
	for _, d := range comparison.Fields {
		for _, v := range slices.Concat(d.Before, d.After) {
			if d.Changed && v.Item != nil && v.Item.Type == content.TypeMedia {
				ids = append(ids, v.Item.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return h.Content.Media(c.Request().Context(), f.who, f.lang, ids)
}

func diffPieces(segments []content.Segment) []views.DiffPiece {
	var out []views.DiffPiece
	for _, s := range segments {
		op := "same"
		switch s.Op {
		case content.Removed:
			op = "removed"
		case content.Added:
			op = "added"
		}
		out = append(out, views.DiffPiece{Op: op, Text: s.Text})
	}
	return out
}

func diffField(c echo.Context, d content.FieldDiff, media map[string]content.Medium) views.DiffField {
	out := views.DiffField{Label: d.Label}
	if out.Label == "" {
		out.Label = settingLabel(c, d.Name)
	}
	out.Pieces = diffPieces(d.Segments)
	if len(out.Pieces) == 0 {
		out.Before, out.BeforePictures = renderedInWords(c, d.Before, media)
		out.After, out.AfterPictures = renderedInWords(c, d.After, media)
	}
	return out
}

// renderedInWords writes values as lines of text, and pictures as pictures.
func renderedInWords(c echo.Context, values []content.RenderedValue, media map[string]content.Medium) (lines []string, pictures []views.DiffPicture) {
	ctx := c.Request().Context()
	for _, v := range values {
		switch {
		case v.Image != nil:
			pictures = append(pictures, views.DiffPicture{URL: v.Image.File.Derivative("thumbnail").URL, Alt: v.Image.Alt})
		case !v.From.IsZero():
			line := i18n.DateTime(ctx, v.From)
			if !v.Clock {
				line = i18n.Date(ctx, v.From)
			}
			if !v.To.IsZero() {
				line += " – " + i18n.DateTime(ctx, v.To)
			}
			lines = append(lines, line)
		case v.Item != nil && media[v.Item.ID].File.IsImage():
			m := media[v.Item.ID]
			pictures = append(pictures, views.DiffPicture{URL: m.File.Derivative("card").URL, Alt: cmp.Or(m.Alt, m.Label)})
		case v.Item != nil:
			lines = append(lines, v.Item.Title)
		case v.File != nil:
			lines = append(lines, v.File.Name)
		case v.Text != "":
			lines = append(lines, v.Text)
		case v.URL != "":
			lines = append(lines, v.URL)
		}
	}
	return lines, pictures
}

// revertNode handles POST /admin/content/:id/:lang/revert: an old revision comes
// back as a new one.
func (h *Handlers) revertNode(c echo.Context) error {
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	f, err := h.readNode(c)
	if err != nil {
		return err
	}
	it, err := h.Content.Revert(c.Request().Context(), f.who, f.item.Ref, f.item.Lang, form.Get("revision"), form.Get("based_on"))
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, nodeURL(it.ID, it.Lang, "?", url.Values{"done": {"reverted"}}.Encode()))
}

// nodeTranslations handles GET /admin/content/:id/:lang/translations.
func (h *Handlers) nodeTranslations(c echo.Context) error {
	ctx := c.Request().Context()
	f, err := h.readNode(c)
	if err != nil {
		return err
	}
	frame, err := h.nodeFrame(c, f.item, f.typ, "translations")
	if err != nil {
		return err
	}
	page := views.NodeTranslationsPage{NodeFrame: frame}
	choices, err := h.translationChoices(c, f.item)
	if err != nil {
		return err
	}
	all, err := h.Content.TranslationsFor(ctx, f.who, f.item.Ref)
	if err != nil {
		return err
	}
	mayEdit := h.Content.May(f.who, content.OpEdit, f.item) == nil
	mayDelete := len(all) > 1 && h.Content.May(f.who, config.OpDelete, f.item) == nil
	for _, choice := range choices {
		row := views.TranslationRow{Code: choice.Code, Label: choice.Label, Original: choice.Code == h.Content.DefaultLanguage()}
		for _, t := range all {
			if t.Lang != choice.Code {
				continue
			}
			row.State, row.Title, row.Changed = string(t.LatestState), t.Title, t.UpdatedAt.In(f.zone)
			row.NewDraft = t.Published && t.LatestState == content.Draft
			if mayDelete {
				row.DeleteURL = nodeURL(t.ID, t.Lang, "/delete?translation=1")
			}
		}
		if mayEdit {
			row.EditURL = choice.URL
		}
		page.Rows = append(page.Rows, row)
	}
	return h.render(c, http.StatusOK, views.NodeTranslations(page))
}
