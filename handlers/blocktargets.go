package handlers

import (
	"context"
	"errors"
	"slices"
	"strings"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
)

// blocksListed bounds how many blocks of one kind in content forms offer.
const blocksListed = 500

// An answerTarget is an Answer block that others can aim at.
type answerTarget struct {
	id    string // DOM id
	label string // which it is, by where it stands
	path  string // of a page that shows it, "" when there is no one page
}

// answerBlock finds the Answer block with a DOM id, however it is placed: by
// configuration, or in content that the account may see.
func (h *Handlers) answerBlock(ctx context.Context, who account.Account, id, lang string) (config.AnswerBlock, bool) {
	uuid, ok := config.AnswerUUID(id)
	if !ok {
		return config.AnswerBlock{}, false
	}
	all, err := config.All[config.Placement](ctx, h.Config)
	if err != nil {
		h.Log.Error("placed blocks", "error", err)
	}
	if p, ok := config.ByUUID(all, uuid); ok && p.Value.Answer != nil {
		return *p.Value.Answer, true
	}
	found, err := h.Content.PlacedBlock(ctx, who, config.BlockAnswer, uuid, lang)
	if err != nil {
		if !errors.Is(err, db.ErrNotFound) {
			h.Log.Error("block in content", "uuid", uuid, "error", err)
		}
		return config.AnswerBlock{}, false
	}
	block, err := config.ParseBlock(found.Name, found.Settings)
	if err != nil || block.Answer == nil {
		return config.AnswerBlock{}, false
	}
	return *block.Answer, true
}

// answerTargets lists every placed Answer block: those of the regions in their
// order, then those in content by the titles of their pages.
func (h *Handlers) answerTargets(ctx context.Context, who account.Account) ([]answerTarget, error) {
	placements, err := h.placements(ctx)
	if err != nil {
		return nil, err
	}
	var out []answerTarget
	for _, p := range placements {
		if p.Value.Answer == nil {
			continue
		}
		t := answerTarget{id: p.Value.DOMID()}
		where := regionLabel(ctx, p.Value.Region)
		if paths := p.Value.Visibility.Paths; len(paths) == 1 {
			t.path = paths[0]
			where = i18n.T(ctx, "blocks.target_on", pathsInWords(ctx, t.path))
		}
		t.label = i18n.T(ctx, "blocks.target_placed", p.Value.Label, where)
		out = append(out, t)
	}
	inContent, err := h.Content.PlacedBlocks(ctx, who, config.BlockAnswer, blocksListed)
	if err != nil {
		return nil, err
	}
	for _, t := range h.targetsInContent(ctx, inContent) {
		if !slices.ContainsFunc(out, func(placed answerTarget) bool { return placed.id == t.id }) {
			out = append(out, t)
		}
	}
	return out, nil
}

// targetsInContent names blocks by their pages, each block once: in the language
// of the reader where the page has it.
func (h *Handlers) targetsInContent(ctx context.Context, placed []content.PlacedBlock) []answerTarget {
	lang := i18n.Language(ctx)
	first := map[string]int{} // place in out by DOM id
	var out []answerTarget
	for _, p := range placed {
		t := answerTarget{id: config.BlockDOMID(p.Name, p.UUID), path: h.pathOf(p.Item), label: h.pageLabel(ctx, p)}
		if i, seen := first[t.id]; seen {
			if p.Item.Lang == lang {
				out[i] = t
			}
			continue
		}
		first[t.id] = len(out)
		out = append(out, t)
	}
	count, number := map[string]int{}, map[string]int{}
	for _, t := range out {
		count[t.label]++
	}
	for i, t := range out {
		if count[t.label] > 1 { // of one page, or of pages with the same title
			number[t.label]++
			out[i].label = i18n.T(ctx, "blocks.numbered", t.label, number[t.label])
		}
	}
	return out
}

// pageLabel says in which page a block stands.
func (h *Handlers) pageLabel(ctx context.Context, p content.PlacedBlock) string {
	if p.Live {
		return i18n.T(ctx, "blocks.target_page", p.Item.Title)
	}
	return i18n.T(ctx, "blocks.target_draft", p.Item.Title)
}

// pathOf is the path of an item without the prefix of its language.
func (h *Handlers) pathOf(it content.Item) string {
	return strings.TrimPrefix(it.Path, h.languagePrefix(it.Lang))
}
