package handlers

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// confirmDeleteBlock handles GET /admin/structure/blocks/:name/delete. It names
// the blocks that aim at the one that goes.
func (h *Handlers) confirmDeleteBlock(c echo.Context) error {
	ctx := c.Request().Context()
	p, err := config.Get[config.Placement](ctx, h.Config, c.Param("name"))
	if err != nil {
		return err
	}
	page := views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "blocks.delete_title", p.Label), Action: c.Request().URL.Path,
		Crumbs: append(blockCrumbs(ctx), components.Link{Label: p.Label, URL: blockURL(c.Param("name"))}),
		Submit: i18n.T(ctx, "action.delete"), Danger: true, CancelURL: blocksURL,
		Consequences: []components.Link{{Label: i18n.T(ctx, "blocks.delete_lead")}},
	}
	if p.Answer != nil {
		aiming, err := h.aimingAt(c, p.DOMID())
		if err != nil {
			return err
		}
		page.Consequences = append(page.Consequences, aiming...)
	}
	return h.render(c, http.StatusOK, views.Confirm(page))
}

// aimingAt says which Question and Sources blocks aim at an Answer block.
func (h *Handlers) aimingAt(c echo.Context, id string) ([]components.Link, error) {
	ctx := c.Request().Context()
	aims := func(b config.Block) bool {
		return b.Question != nil && b.Question.Target == id || b.Sources != nil && b.Sources.Target == id
	}
	placed, err := h.placements(ctx)
	if err != nil {
		return nil, err
	}
	var out []components.Link
	for _, p := range placed {
		if aims(p.Value.Block) {
			out = append(out, components.Link{Label: i18n.T(ctx, "blocks.delete_aiming", blockLabel(ctx, p.Value.Name()), p.Value.Label), URL: blockURL(p.Name)})
		}
	}
	for _, name := range []string{config.BlockQuestion, config.BlockSources} {
		inContent, err := h.Content.PlacedBlocks(ctx, h.account(c), name, blocksListed)
		if err != nil {
			return nil, err
		}
		for _, b := range inContent {
			if block, err := config.ParseBlock(b.Name, b.Settings); err == nil && aims(block) {
				out = append(out, components.Link{Label: i18n.T(ctx, "blocks.delete_aiming_page", blockLabel(ctx, name), b.Item.Title), URL: nodeURL(b.Item.ID, b.Item.Lang)})
			}
		}
	}
	return out, nil
}

// deleteBlock handles POST /admin/structure/blocks/:name/delete.
func (h *Handlers) deleteBlock(c echo.Context) error {
	err := config.Delete[config.Placement](c.Request().Context(), h.Config, c.Param("name"), h.account(c).ID)
	if err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return leadTo(c, blocksURL, "deleted")
}
