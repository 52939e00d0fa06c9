package handlers

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// previewBlock handles POST …/preview of the form of a block: the block as the
// form says, saved or not. With scripts only the block is sent.
func (h *Handlers) previewBlock(c echo.Context) error {
	f := placementForm{name: c.Param("name")}
	var err error
	if f.name == "" {
		f, err = h.newPlacement(c)
	} else {
		f.p, err = config.Get[config.Placement](c.Request().Context(), h.Config, f.name)
	}
	if err != nil {
		return err
	}
	form, err := postedForm(c)
	if err != nil {
		return err
	}
	if f.name == "" {
		f.p.UUID = form.Get("uuid")
	}
	if f.p, _, err = h.postedPlacement(c, f.p); err != nil {
		return err
	}
	if !isFragment(c) {
		return h.renderPlacement(c, http.StatusOK, f)
	}
	languages, err := config.Languages(c.Request().Context(), h.Config)
	if err != nil {
		return err
	}
	preview, err := h.blockPreview(c, f.p, languages)
	if err != nil {
		return err
	}
	return h.fragment(c, http.StatusOK, views.BlockPreviewStage(preview))
}

// blockPreview is a block as visitors would see it, in the language that the form
// asks for. An Answer block is shown empty, then with an example in it.
func (h *Handlers) blockPreview(c echo.Context, p config.Placement, languages []config.Named[config.Language]) (views.BlockPreview, error) {
	lang := languages[0].Name
	for _, wanted := range []string{i18n.Language(c.Request().Context()), c.FormValue("preview_lang")} {
		if slices.ContainsFunc(languages, func(l config.Named[config.Language]) bool { return l.Name == wanted }) {
			lang = wanted
		}
	}
	preview := views.BlockPreview{Lang: lang}
	if len(languages) > 1 {
		for _, l := range languages {
			preview.Languages = append(preview.Languages, components.Option{Value: l.Name, Label: l.Value.Label})
		}
	}
	ctx := i18n.WithLanguage(c.Request().Context(), lang)
	b := &blockBuilder{h: h, ctx: ctx, who: account.Account{Permissions: map[account.Permission]bool{account.UseAnswers: true}}, lang: lang, used: map[string]int{}}
	example := samples{c: c.Echo().NewContext(c.Request().WithContext(ctx), c.Response()), styleWords: wordsIn(lang), lang: lang}
	add := func(label string, block components.BlockProps) {
		preview.Blocks = append(preview.Blocks, views.PreviewedBlock{Label: label, Block: block})
	}
	switch {
	case p.Question != nil:
		props, ok := b.build(p.UUID, p.Block)
		if !ok {
			preview.Hidden = i18n.T(c.Request().Context(), "blocks.preview_closed")
			return preview, nil
		}
		props.Question.Autofocus = false
		add("", props)
	case p.Answer != nil:
		props, _ := b.build(p.UUID, p.Block)
		add(i18n.T(c.Request().Context(), "blocks.preview_empty"), props)
		answered, _ := b.build(p.UUID, p.Block)
		example.fill(answered.Answer, *p.Answer)
		add(i18n.T(c.Request().Context(), "blocks.preview_answered"), answered)
	case p.Sources != nil:
		props, _ := b.build(p.UUID, p.Block)
		props.Sources.Cited = example.cited()
		add("", props)
	}
	return preview, nil
}

// cited are two sources as an answer cites them.
func (s samples) cited() []components.SourceProps {
	return []components.SourceProps{s.source(0, 1), s.source(1, 2)}
}

// fill puts an example of a conversation into an Answer block.
func (s samples) fill(p *components.AnswerProps, a config.AnswerBlock) {
	turn := s.whole("preview")
	turn.AnswerID = p.ID
	if a.Feedback {
		feedback := s.feedback("preview", "")
		turn.Feedback = &feedback
	}
	p.Turns, p.Closed = []components.TurnProps{turn}, ""
	if a.FollowUp {
		p.FollowUp = components.FollowUpProps{AnswerID: p.ID, Action: p.Action, ConversationID: "preview", Lang: s.lang}
	}
	if p.Sources != nil {
		p.Sources.Cited = s.cited()
	}
}
