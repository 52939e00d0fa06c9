package handlers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// A blockBuilder makes the blocks of one page. Of several with the same id on the
// page all but the first get a number behind it.
type blockBuilder struct {
	h    *Handlers
	ctx  context.Context
	who  account.Account
	lang string
	used map[string]int
	own  map[string]config.AnswerBlock // those in the page's own content, by DOM id
}

func (h *Handlers) blockBuilder(c echo.Context) *blockBuilder {
	return &blockBuilder{h: h, ctx: c.Request().Context(), who: h.account(c), lang: h.lang(c), used: map[string]int{}}
}

func (b *blockBuilder) id(block, uuid string) string {
	id := config.BlockDOMID(block, uuid)
	b.used[id]++
	if n := b.used[id]; n > 1 {
		return fmt.Sprintf("%s-%d", id, n)
	}
	return id
}

// build makes a placed block; ok is false when the visitor cannot use it.
func (b *blockBuilder) build(uuid string, block config.Block) (props components.BlockProps, ok bool) {
	if !b.who.Can(account.UseAnswers) {
		return props, false
	}
	switch {
	case block.Question != nil:
		props.Question = b.question(uuid, *block.Question)
		return props, props.Question != nil
	case block.Answer != nil:
		props.Answer = b.answer(uuid, *block.Answer)
	case block.Sources != nil:
		props.Sources = &components.SourceListProps{ID: b.id(config.BlockSources, uuid), AnswerID: block.Sources.Target, Title: block.Sources.Label[b.lang]}
	}
	return props, block.Name() != ""
}

// question is nil where nobody would answer: the Answer block is gone or not the
// visitor's to see, or its agent is closed, which the block says itself.
func (b *blockBuilder) question(uuid string, q config.QuestionBlock) *components.QuestionProps {
	target, ok := b.own[q.Target]
	if !ok {
		if target, ok = b.h.answerBlock(b.ctx, b.who, q.Target, b.lang); !ok {
			return nil
		}
	}
	agent, err := config.Get[config.Agent](b.ctx, b.h.Config, target.Agent)
	if err != nil || !agent.Enabled {
		return nil
	}
	settings, err := config.Get[config.Settings](b.ctx, b.h.Config, config.SiteName)
	if err != nil {
		b.h.Log.Error("site settings", "error", err)
	}
	p := &components.QuestionProps{
		ID: b.id(config.BlockQuestion, uuid), Variant: components.QuestionLine, Action: questionURL, Lang: b.lang, AnswerID: q.Target,
		Label: cmp.Or(q.Label[b.lang], i18n.T(b.ctx, "question.label", settings.SiteName)), Placeholder: cmp.Or(q.Placeholder[b.lang], i18n.T(b.ctx, "question.placeholder")),
		Submit: q.Button[b.lang], Limit: agent.QuestionLimit, Suggestions: q.Suggestions[b.lang], Autofocus: q.Autofocus,
		Note: b.h.privacyNote(b.ctx, b.lang),
	}
	if q.TargetPath != "" {
		p.TargetURL = b.h.languagePrefix(b.lang) + q.TargetPath
	}
	if q.Display == config.DisplayBand {
		p.Variant, p.Note = components.QuestionBand, b.h.questionNote(b.ctx, b.lang)
		if len(p.Suggestions) == 0 {
			p.Suggestions = settings.Suggestions[b.lang]
		}
	}
	return p
}

func (b *blockBuilder) answer(uuid string, a config.AnswerBlock) *components.AnswerProps {
	p := &components.AnswerProps{
		ID: b.id(config.BlockAnswer, uuid), Action: questionURL, Agent: a.Agent, Lang: b.lang, Label: i18n.T(b.ctx, "answers.title"),
		Empty: cmp.Or(a.Empty[b.lang], i18n.T(b.ctx, "answers.empty")), Suggestions: a.Suggestions[b.lang], Without: partsWithout(a),
	}
	if a.References {
		p.Sources = &components.SourceListProps{ID: p.ID + "-references", AnswerID: p.ID, Title: a.ReferencesLabel[b.lang]}
	}
	agent, err := config.Get[config.Agent](b.ctx, b.h.Config, a.Agent)
	if err != nil || !agent.Enabled {
		p.Closed = i18n.T(b.ctx, "ask.closed")
	}
	p.Limit = agent.QuestionLimit
	return p
}

// The parts of an Answer block that it can leave out.
const (
	partFollowUp = "follow"
	partFeedback = "feedback"
)

func partsWithout(a config.AnswerBlock) string {
	var without []string
	if !a.FollowUp {
		without = append(without, partFollowUp)
	}
	if !a.Feedback {
		without = append(without, partFeedback)
	}
	return strings.Join(without, ",")
}

// placements are the blocks that configuration places, in the order of the page.
func (h *Handlers) placements(ctx context.Context) ([]config.Named[config.Placement], error) {
	all, err := config.All[config.Placement](ctx, h.Config)
	return inPageOrder(all), err
}

// inPageOrder sorts placed blocks by their regions, then by their weights.
func inPageOrder(all []config.Named[config.Placement]) []config.Named[config.Placement] {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(x, y config.Named[config.Placement]) int {
		return cmp.Or(
			cmp.Compare(slices.Index(config.Regions(), x.Value.Region), slices.Index(config.Regions(), y.Value.Region)),
			cmp.Compare(x.Value.Weight, y.Value.Weight))
	})
	return all
}

// A contentBlock stands among the fields of a page: below the named one, or above
// all of them.
type contentBlock struct {
	after string
	block components.BlockProps
}

// place makes the blocks that configuration puts on a page, in the order of their
// regions and weights. path has no language in front; bundle is "" for pages
// that no entity makes.
func (b *blockBuilder) place(path, bundle string) (regions views.Blocks, among []contentBlock) {
	all, err := b.h.placements(b.ctx)
	if err != nil {
		b.h.Log.Error("placed blocks", "error", err)
		return regions, nil
	}
	for _, p := range all {
		if !p.Value.Visibility.Shows(path, bundle, b.lang, b.who) {
			continue
		}
		block, ok := b.build(p.Value.UUID, p.Value.Block)
		if !ok {
			continue
		}
		switch p.Value.Region {
		case config.RegionTop:
			regions.Top = append(regions.Top, block)
		case config.RegionBefore:
			regions.Before = append(regions.Before, block)
		case config.RegionContent:
			among = append(among, contentBlock{p.Value.After, block})
		case config.RegionAside:
			regions.Aside = append(regions.Aside, block)
		case config.RegionAfter:
			regions.After = append(regions.After, block)
		case config.RegionBottom:
			regions.Bottom = append(regions.Bottom, block)
		}
	}
	return regions, among
}

// placeOn makes the blocks on the page of an item.
func (b *blockBuilder) placeOn(it content.Item) (regions views.Blocks, among []contentBlock) {
	return b.place(b.h.pathOf(it), it.Bundle)
}

// withoutAnswer leaves out the Answer block with a DOM id: the page shows it itself,
// with what was asked in it.
func withoutAnswer(regions views.Blocks, id string) views.Blocks {
	for _, region := range []*[]components.BlockProps{&regions.Top, &regions.Before, &regions.Aside, &regions.After, &regions.Bottom} {
		*region = slices.DeleteFunc(*region, func(b components.BlockProps) bool { return b.Answer != nil && b.Answer.ID == id })
	}
	return regions
}

// amongFields puts blocks among the fields of a page. A block below a field that
// the page does not show stands at the end.
func amongFields(fields []components.ShownField, blocks []contentBlock) []components.ShownField {
	if len(blocks) == 0 {
		return fields
	}
	shown := func(b contentBlock) components.ShownField {
		return components.ShownField{Values: []components.ShownValue{{Block: &b.block}}}
	}
	var out []components.ShownField
	placed := make([]bool, len(blocks))
	put := func(after string) {
		for i, b := range blocks {
			if !placed[i] && b.after == after {
				out, placed[i] = append(out, shown(b)), true
			}
		}
	}
	put("")
	for _, f := range fields {
		out = append(out, f)
		put(f.Name)
	}
	for i, b := range blocks {
		if !placed[i] {
			out = append(out, shown(b))
		}
	}
	return out
}

// know remembers the Answer blocks of a page's own content: whoever sees the page
// sees them, also in the preview of what nobody has saved.
func (b *blockBuilder) know(fields []content.RenderedField) {
	b.own = map[string]config.AnswerBlock{}
	for _, f := range fields {
		for _, v := range f.Values {
			if v.Block == nil {
				continue
			}
			if block, err := config.ParseBlock(v.Block.Name, v.Block.Settings); err == nil && block.Answer != nil {
				b.own[config.BlockDOMID(v.Block.Name, v.Block.UUID)] = *block.Answer
			}
		}
	}
}

// fromContent makes a block that stands in a page's own content. What it says is
// old or wrong in a way that nothing can be made of is left out and logged.
func (b *blockBuilder) fromContent(placed content.Block) *components.BlockProps {
	block, err := config.ParseBlock(placed.Name, placed.Settings)
	if err != nil {
		b.h.Log.Warn("block in content", "block", placed.Name, "uuid", placed.UUID, "error", err)
		return nil
	}
	props, ok := b.build(placed.UUID, block)
	if !ok {
		return nil
	}
	return &props
}
