package handlers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/internal/media"
	"docent/views"
)

const (
	mediaURL = "/admin/media"

	// uploadLimit bounds a whole request; what a single file may have is a setting.
	uploadLimit = 512 << 20
	maxUploads  = 50 // files in one go
)

// mediaLibrary handles GET /admin/media.
func (h *Handlers) mediaLibrary(c echo.Context) error {
	return h.mediaLibraryPage(c, http.StatusOK, "")
}

func (h *Handlers) mediaLibraryPage(c echo.Context, status int, refused string) error {
	ctx, who, n := c.Request().Context(), h.account(c), pageNumber(c)
	page := views.MediaLibraryPage{Admin: h.admin(c), Action: mediaURL, Text: c.QueryParam("text"), Type: c.QueryParam("type")}
	types, err := h.Content.Types(ctx)
	if err != nil {
		return err
	}
	for _, t := range types.Bundles(content.TypeMedia) {
		page.Types = append(page.Types, components.Option{Value: t.Name, Label: t.Value.LabelIn(i18n.Language(ctx))})
	}
	items, total, err := h.Content.List(ctx, who, content.Filter{
		Type: content.TypeMedia, Bundle: page.Type, Text: page.Text, Order: content.ByChanged, Limit: pageSize, Offset: (n - 1) * pageSize,
	})
	if err != nil {
		return err
	}
	if page.Media, err = h.mediaCards(c, items); err != nil {
		return err
	}
	for i, it := range items {
		page.Media[i].URL = mediumURL(it.Ref, it.Lang)
	}
	page.Pager = pager(c, n, len(items), total)
	creatable, err := h.Content.MayCreate(ctx, who, content.TypeMedia)
	if err != nil {
		return err
	}
	if len(creatable) > 0 {
		upload := h.uploadForm(c, mediaURL+"/upload")
		upload.Multiple, upload.Error = true, refused
		page.Upload = &upload
	}
	return h.render(c, status, views.MediaLibrary(page))
}

func mediumURL(ref content.Ref, lang string) string {
	return mediaURL + "/" + ref.ID + "?" + url.Values{"language": {lang}}.Encode()
}

// mediaCards shows media items in their order.
func (h *Handlers) mediaCards(c echo.Context, items []content.Item) ([]components.MediumProps, error) {
	ctx := c.Request().Context()
	var ids []string
	for _, it := range items {
		ids = append(ids, it.Fields.FileIDs()...)
	}
	files, err := h.Content.Files(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]components.MediumProps, len(items))
	for i, it := range items {
		var f content.File
		if held := it.Fields.FileIDs(); len(held) > 0 {
			f = files[held[0]]
		}
		out[i] = mediumCard(ctx, content.Medium{ID: it.ID, Label: it.Title, Alt: it.Alt(), File: f})
		if !it.Published {
			out[i].Tag = i18n.T(ctx, "state.draft")
		} else if f.IsImage() && it.Alt() == "" {
			out[i].Tag = i18n.T(ctx, "media.no_alt")
		}
	}
	return out, nil
}

func mediumCard(ctx context.Context, m content.Medium) components.MediumProps {
	p := components.MediumProps{ID: m.ID, Label: m.Label, Alt: m.Alt, Detail: fileDetail(ctx, m.File)}
	if m.File.IsImage() {
		p.Image = m.File.Derivative("thumbnail").URL
	}
	return p
}

// fileDetail is the kind, and the size, of a file in words: "JPEG, 1600 × 900".
func fileDetail(ctx context.Context, f content.File) string {
	switch {
	case f.ID == "":
		return i18n.T(ctx, "media.file_missing")
	case f.IsImage():
		return fmt.Sprintf("%s, %d × %d", fileKind(f.MIME), f.Width, f.Height)
	}
	return fileKind(f.MIME) + ", " + byteSize(f.Size)
}

func fileKind(mime string) string {
	switch mime {
	case media.JPEG:
		return "JPEG"
	case media.WebP:
		return "WebP"
	case media.DOCX:
		return "Word"
	case media.Text:
		return "TXT"
	case media.Markdown:
		return "Markdown"
	}
	_, kind, _ := strings.Cut(mime, "/")
	return strings.ToUpper(kind)
}

func byteSize(n int64) string {
	switch {
	case n >= 1<<20:
		return strings.Replace(fmt.Sprintf("%.1f MB", float64(n)/(1<<20)), ".0", "", 1)
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// What browsers offer to choose. What is taken is decided by content.
const (
	acceptedImages = "image/jpeg,image/png,image/gif,image/webp"
	acceptedFiles  = acceptedImages + ",.pdf,.docx,.txt,.md"
)

func (h *Handlers) uploadForm(c echo.Context, action string) components.UploadProps {
	limit := h.Content.UploadLimit
	return components.UploadProps{
		Action: action, CSRF: visitOf(c).token, Accept: acceptedFiles,
		Limits: i18n.T(c.Request().Context(), "media.limits", byteSize(limit(media.JPEG)), byteSize(limit(media.PDF))),
	}
}

// uploadMedia handles POST /admin/media/upload: it keeps the files and asks what
// they are.
func (h *Handlers) uploadMedia(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	form, err := h.parts(c)
	if err != nil {
		return err
	}
	var drafts []views.MediaDraft
	var refused []string
	for n := 0; ; n++ {
		part, err := form.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if n == maxUploads {
			refused = append(refused, i18n.T(ctx, "media.too_many", maxUploads))
			break
		}
		title := content.FileTitle(part.FileName())
		f, err := h.Content.Upload(ctx, who, content.Upload{Name: part.FileName(), Body: part})
		if why := refusedFields(err)["file"]; why != "" {
			refused = append(refused, title+" "+why+".")
			continue
		}
		if err != nil {
			return badUpload(err)
		}
		if !slices.ContainsFunc(drafts, func(d views.MediaDraft) bool { return d.File == f.ID }) {
			drafts = append(drafts, mediaDraft(ctx, f, title))
		}
	}
	if len(drafts) == 0 {
		if refused == nil {
			refused = []string{i18n.T(ctx, "media.no_file")}
		}
		return h.mediaLibraryPage(c, http.StatusUnprocessableEntity, strings.Join(refused, " "))
	}
	page := h.describePage(c, drafts)
	if refused != nil {
		page.Notices = append(page.Notices, components.NoticeProps{Kind: components.NoticeDanger, Title: i18n.T(ctx, "media.some_refused"), Message: strings.Join(refused, " "), Live: true})
	}
	return h.render(c, http.StatusOK, views.MediaDescribe(page))
}

// badUpload tells a body that broke off from what went wrong here.
func badUpload(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse(http.StatusBadRequest, "")
	}
	return err
}

func mediaDraft(ctx context.Context, f content.File, title string) views.MediaDraft {
	d := views.MediaDraft{File: f.ID, Name: f.Name, Title: title, Detail: fileDetail(ctx, f), IsImage: f.IsImage()}
	if d.IsImage {
		d.Image = f.Derivative("thumbnail").URL
	}
	return d
}

func (h *Handlers) describePage(c echo.Context, drafts []views.MediaDraft) views.MediaDescribePage {
	return views.MediaDescribePage{Admin: h.admin(c), Action: mediaURL + "/describe", Drafts: drafts, CancelURL: mediaURL}
}

// describeMedia handles POST /admin/media/describe: it makes media of files. Those
// that lack something are asked about again.
func (h *Handlers) describeMedia(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	ids := form["file"]
	files, err := h.Content.Files(ctx, ids[:min(len(ids), maxUploads)])
	if err != nil {
		return err
	}
	var left []views.MediaDraft
	for _, id := range ids[:min(len(ids), maxUploads)] {
		f, ok := files[id]
		if !ok {
			continue
		}
		delete(files, id)
		d := mediaDraft(ctx, f, form.Get("title."+id))
		d.Alt, d.Summary = form.Get("alt."+id), form.Get("summary."+id)
		_, err := h.makeMedium(c, who, f, newMedium{title: d.Title, alt: d.Alt, summary: d.Summary, standalone: true})
		if refused := refusedFields(err); refused != nil {
			d.Errors = mediaErrors(refused, "title", "alt", "summary")
			left = append(left, d)
			continue
		}
		if err != nil {
			return err
		}
	}
	if left != nil {
		return h.render(c, http.StatusUnprocessableEntity, views.MediaDescribe(h.describePage(c, left)))
	}
	return c.Redirect(http.StatusSeeOther, mediaURL+"?done=added")
}

// mediaErrors makes sentences of what was refused; what concerns no field of the
// form stands under "".
func mediaErrors(refused map[string]string, fields ...string) map[string]string {
	out := map[string]string{}
	for field, why := range refused {
		if slices.Contains(fields, field) {
			out[field] = sentence(why)
		} else {
			out[""] = strings.TrimSpace(out[""] + " " + sentence(field+" "+why))
		}
	}
	return out
}

// newMedium is what is said of a file that becomes media.
type newMedium struct {
	title, alt, summary string
	standalone          bool     // documents are found without a page that shows them
	bundles             []string // that it may become; none: any
}

// makeMedium makes a media entity of a file, in the site's language.
func (h *Handlers) makeMedium(c echo.Context, who account.Account, f content.File, m newMedium) (content.Item, error) {
	ctx := c.Request().Context()
	types, err := h.Content.MayCreate(ctx, who, content.TypeMedia)
	if err != nil {
		return content.Item{}, err
	}
	kind := config.FieldFile
	if f.IsImage() {
		kind = config.FieldImage
	}
	for _, t := range types {
		at := slices.IndexFunc(t.Value.Fields, func(field config.Field) bool { return field.Type == kind })
		if at < 0 || len(m.bundles) > 0 && !slices.Contains(m.bundles, t.Name) {
			continue
		}
		if err := h.Content.SetFocus(ctx, f, f.Focus(), f.Standalone || m.standalone && !f.IsImage()); err != nil {
			return content.Item{}, err
		}
		in := content.Input{
			Ref: content.Ref{Type: content.TypeMedia}, Bundle: t.Name, Lang: h.Content.DefaultLanguage(), Title: m.title,
			State: content.Published, Fields: mediumFields(t.Value, t.Value.Fields[at], f, m),
		}
		it, err := h.Content.Save(ctx, who, in)
		if errors.Is(err, content.ErrForbidden) { // it takes somebody else to publish it
			in.State = content.Draft
			it, err = h.Content.Save(ctx, who, in)
		}
		return it, err
	}
	return content.Item{}, refuse(http.StatusUnprocessableEntity, i18n.T(ctx, "media.no_type"))
}

// mediumFields puts a file and what is said of it into the fields that a type has.
func mediumFields(t config.ContentType, field config.Field, f content.File, m newMedium) content.Fields {
	value := map[string]any{"file": f.ID}
	fields := content.Fields{field.Name: value}
	if field.Multiple() {
		fields[field.Name] = []any{value}
	}
	alt := strings.TrimSpace(m.alt)
	if has(t, "alt") {
		fields["alt"] = alt
	} else if f.IsImage() && alt != "" {
		value["alt"] = alt
	}
	if has(t, content.FieldSummary) {
		fields[content.FieldSummary] = strings.TrimSpace(m.summary)
	}
	return fields
}

func has(t config.ContentType, field string) bool {
	return slices.ContainsFunc(t.Fields, func(f config.Field) bool { return f.Name == field && f.Type == config.FieldText })
}
