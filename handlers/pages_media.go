package handlers

import (
	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// mediaPage shows an image or a document by itself: what answers quote of a
// document stands below it, under the headings that citations lead to.
func (h *Handlers) mediaPage(c echo.Context, it content.Item, fallback string) error {
	ctx := c.Request().Context()
	if err := h.Content.MayVisit(ctx, h.account(c), it); err != nil {
		return err
	}
	p, err := h.entityPage(c, it)
	if err != nil {
		return err
	}
	p.Fallback = fallback
	text, err := h.Content.DocumentText(ctx, it)
	if err != nil {
		return err
	}
	if text.Body != "" {
		html, _, err := h.Content.RenderText(ctx, config.FormatMarkdown, it.Lang, text.Body)
		if err != nil {
			return err
		}
		p.Fields = append(p.Fields, components.ShownField{
			Name: "document-text", Label: i18n.T(ctx, "media.document_text"), Above: true, Values: []components.ShownValue{{HTML: html}},
		})
	}
	return h.renderCacheable(c, views.Entity(p))
}
