package handlers

import (
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/views"
)

// prefillLimit is how many characters of a question in an address are shown where
// no agent says how long its questions may be.
const prefillLimit = 1000

// prefilled is the question in the address of a page ("?q="), in one line; "" when
// there is none.
func prefilled(c echo.Context) string {
	text := strings.ToValidUTF8(strings.ReplaceAll(c.QueryParam("q"), "\x00", ""), "\uFFFD")
	return strings.Join(strings.Fields(text), " ")
}

// prefill puts the question in a page's address into the first Question form of the
// page, to be looked at and sent: an address never asks. content are the blocks
// between those of the regions.
func prefill(c echo.Context, regions views.Blocks, content []components.BlockProps) {
	question := []rune(prefilled(c))
	if len(question) == 0 {
		return
	}
	for _, b := range slices.Concat(regions.Top, regions.Before, content, regions.Aside, regions.After, regions.Bottom) {
		if b.Question == nil {
			continue
		}
		limit := b.Question.Limit
		if limit <= 0 {
			limit = prefillLimit
		}
		b.Question.Value = string(question[:min(len(question), limit)])
		return
	}
}

// amongBlocks are the blocks that stand among the fields of a page, in order.
func amongBlocks(fields []components.ShownField) []components.BlockProps {
	var blocks []components.BlockProps
	for _, f := range fields {
		for _, v := range f.Values {
			if v.Block != nil {
				blocks = append(blocks, *v.Block)
			}
		}
	}
	return blocks
}
