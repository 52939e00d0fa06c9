package handlers

import (
	"net/url"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
)

// pickerURL is where the media library offers what a field may hold; empty for
// references to anything else.
func pickerURL(field config.Field) string {
	query := url.Values{"for": {string(field.Type)}}
	if field.Type == config.FieldReference {
		if referenceTarget(field) != content.TypeMedia {
			return ""
		}
		query = url.Values{"for": {content.TypeMedia}, "bundle": field.Settings.Bundles}
	}
	return "/admin/media/pick?" + query.Encode()
}

// loadMedia reads what the form's images, files and media are called and look like.
func (h *Handlers) loadMedia(c echo.Context, f *nodeForm) error {
	var ids []string
	for _, field := range f.typ.Fields {
		if widgetKind(field, f.widget(field)) != components.WidgetMedium {
			continue
		}
		for _, key := range f.keys(field.Name) {
			if id := f.values.Get(input(field.Name, key)); id != "" && len(id) <= 64 {
				ids = append(ids, id)
			}
		}
	}
	f.media = nil
	if len(ids) == 0 {
		return nil
	}
	var err error
	f.media, err = h.Content.Media(c.Request().Context(), f.who, f.lang, ids)
	return err
}

// fillMedium adds what people know a medium by: its name and its picture.
func (f *nodeForm) fillMedium(c echo.Context, field config.Field, row *components.WidgetRow) {
	if row.Value == "" {
		return
	}
	row.HasAlt = field.Type != config.FieldReference
	m, ok := f.media[row.Value]
	if !ok {
		row.Label = row.Value
		row.Error = i18n.T(c.Request().Context(), "widget.gone")
		return
	}
	row.Label, row.Detail = m.Label, fileDetail(c.Request().Context(), m.File)
	if m.File.IsImage() {
		row.Image = m.File.Derivative("thumbnail").URL
	}
}
