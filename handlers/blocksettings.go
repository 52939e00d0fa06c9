package handlers

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"docent/components"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/views"
)

// blockInputs are the controls of a block's settings in a form, be it the form of
// a placed block or a row of content.
type blockInputs struct {
	name      string // begins the names of the inputs
	id        string // begins their ids
	paths     string // id of the list of pages that it offers, if there is one
	languages []config.Named[config.Language]
	targets   []answerTarget
	agents    []config.Named[config.Agent]
	siteName  string
}

// blockInputs reads what the controls of blocks choose from.
func (h *Handlers) blockInputs(ctx context.Context, targets []answerTarget) (blockInputs, error) {
	in := blockInputs{targets: targets}
	settings, err := config.Get[config.Settings](ctx, h.Config, config.SiteName)
	if err != nil {
		return in, err
	}
	in.siteName = settings.SiteName
	if in.languages, err = config.Languages(ctx, h.Config); err != nil {
		return in, err
	}
	in.agents, err = config.All[config.Agent](ctx, h.Config)
	return in, err
}

func (in blockInputs) field(name, label, value, help string) views.Control {
	return views.Control{FieldProps: components.FieldProps{
		ID: in.id + strings.ReplaceAll(name, ".", "-"), Name: in.name + name, Label: label, Value: value, Help: help}}
}

func (in blockInputs) check(name, label, help string, on bool) views.Control {
	c := in.field(name, label, "on", help)
	c.Kind = views.ControlCheck
	if on {
		c.Chosen = []string{"on"}
	}
	return c
}

func (in blockInputs) choice(name, label, value, help string, options []components.Option) views.Control {
	c := in.field(name, label, value, help)
	c.Kind, c.Options = views.ControlSelect, options
	return c
}

// text is a text in a language; standard is what the block says without one.
func (in blockInputs) text(name, lang, label, value, standard string) views.Control {
	c := in.field(name+"."+lang, label, value, "")
	c.Lang, c.Optional, c.MaxLength, c.Placeholder = lang, true, 2000, standard
	return c
}

func (in blockInputs) lines(name, lang, label string, values []string, help string) views.Control {
	c := in.field(name+"."+lang, label, strings.Join(values, "\n"), help)
	c.Kind, c.Rows, c.Lang, c.Optional = views.ControlArea, 3, lang, true
	return c
}

// main are the settings of a block that are the same in every language.
func (in blockInputs) main(ctx context.Context, b config.Block) []views.Control {
	switch {
	case b.Question != nil:
		q := b.Question
		display := in.field("display", i18n.T(ctx, "blocks.display"), "", "")
		display.Kind, display.Chosen = views.ControlRadios, []string{cmp.Or(q.Display, config.DisplayLine)}
		display.Options = []components.Option{
			{Value: config.DisplayLine, Label: i18n.T(ctx, "blocks.display_line")},
			{Value: config.DisplayBand, Label: i18n.T(ctx, "blocks.display_band")},
		}
		path := in.field("target_path", i18n.T(ctx, "blocks.target_path"), q.TargetPath, i18n.T(ctx, "blocks.target_path_help"))
		path.Optional, path.MaxLength, path.Placeholder, path.List = true, 2000, config.AnswersPath, in.paths
		return []views.Control{in.target(ctx, q.Target), path, display,
			in.check("autofocus", i18n.T(ctx, "blocks.autofocus"), i18n.T(ctx, "blocks.autofocus_help"), q.Autofocus)}
	case b.Answer != nil:
		a := b.Answer
		var agents []components.Option
		for _, n := range in.agents {
			label := n.Value.Label
			if !n.Value.Enabled {
				label = i18n.T(ctx, "blocks.agent_closed", label)
			}
			agents = append(agents, components.Option{Value: n.Name, Label: label})
		}
		if !slices.ContainsFunc(agents, func(o components.Option) bool { return o.Value == a.Agent }) {
			agents = append(agents, components.Option{Value: a.Agent, Label: i18n.T(ctx, "blocks.agent_gone", a.Agent)})
		}
		return []views.Control{
			in.choice("agent", i18n.T(ctx, "blocks.agent"), a.Agent, "", agents),
			in.check("follow_up", i18n.T(ctx, "blocks.follow_up"), "", a.FollowUp),
			in.check("references", i18n.T(ctx, "blocks.references"), i18n.T(ctx, "blocks.references_help"), a.References),
			in.check("feedback", i18n.T(ctx, "blocks.feedback"), i18n.T(ctx, "blocks.feedback_help"), a.Feedback),
		}
	case b.Sources != nil:
		return []views.Control{in.target(ctx, b.Sources.Target)}
	}
	return nil
}

// target chooses an Answer block. One that is gone is shown as such, and stays
// until another is chosen.
func (in blockInputs) target(ctx context.Context, target string) views.Control {
	var options []components.Option
	for _, t := range in.targets {
		options = append(options, components.Option{Value: t.id, Label: t.label})
	}
	help := ""
	if !slices.ContainsFunc(in.targets, func(t answerTarget) bool { return t.id == target }) {
		label := i18n.T(ctx, "blocks.choose_target")
		if target != "" {
			label = i18n.T(ctx, "blocks.target_gone", target)
			help = i18n.T(ctx, "blocks.target_gone_help")
		}
		options = append([]components.Option{{Value: target, Label: label}}, options...)
	}
	return in.choice("target", i18n.T(ctx, "blocks.target"), target, help, options)
}

// texts are the settings of a block in one language.
func (in blockInputs) texts(ctx context.Context, b config.Block, lang string) []views.Control {
	own := i18n.WithLanguage(ctx, lang)
	switch {
	case b.Question != nil:
		q := b.Question
		return []views.Control{
			in.text("label", lang, i18n.T(ctx, "blocks.label"), q.Label[lang], i18n.T(own, "question.label", in.siteName)),
			in.text("placeholder", lang, i18n.T(ctx, "blocks.placeholder"), q.Placeholder[lang], i18n.T(own, "question.placeholder")),
			in.text("button", lang, i18n.T(ctx, "blocks.button"), q.Button[lang], i18n.T(own, "question.ask")),
			in.lines("suggestions", lang, i18n.T(ctx, "blocks.suggestions"), q.Suggestions[lang], i18n.T(ctx, "blocks.suggestions_help")),
		}
	case b.Answer != nil:
		a := b.Answer
		return []views.Control{
			in.text("empty", lang, i18n.T(ctx, "blocks.empty"), a.Empty[lang], i18n.T(own, "answers.empty")),
			in.lines("suggestions", lang, i18n.T(ctx, "blocks.suggestions"), a.Suggestions[lang], i18n.T(ctx, "blocks.suggestions_help")),
			in.text("references_label", lang, i18n.T(ctx, "blocks.references_label"), a.ReferencesLabel[lang], i18n.T(own, "sources.title")),
		}
	case b.Sources != nil:
		return []views.Control{in.text("label", lang, i18n.T(ctx, "blocks.label"), b.Sources.Label[lang], i18n.T(own, "sources.title"))}
	}
	return nil
}

// posted is a block with the settings that a form says. Texts in languages that
// the form does not have stay as they are.
func (in blockInputs) posted(form url.Values, b config.Block) config.Block {
	text := func(name string) string { return strings.TrimSpace(form.Get(in.name + name)) }
	on := func(name string) bool { return form.Has(in.name + name) }
	byLanguage := func(texts map[string]string, name string) map[string]string {
		texts = maps.Clone(texts)
		for _, l := range in.languages {
			texts = withText(texts, l.Name, form, in.name+name)
		}
		return texts
	}
	lines := func(texts map[string][]string, name string) map[string][]string {
		texts = maps.Clone(texts)
		for _, l := range in.languages {
			texts = withLines(texts, l.Name, form, in.name+name)
		}
		return texts
	}
	switch {
	case b.Question != nil:
		q := *b.Question
		q.Target, q.TargetPath, q.Display, q.Autofocus = text("target"), text("target_path"), text("display"), on("autofocus")
		q.Label, q.Placeholder, q.Button = byLanguage(q.Label, "label"), byLanguage(q.Placeholder, "placeholder"), byLanguage(q.Button, "button")
		q.Suggestions = lines(q.Suggestions, "suggestions")
		b.Question = &q
	case b.Answer != nil:
		a := *b.Answer
		a.Agent, a.FollowUp, a.References, a.Feedback = text("agent"), on("follow_up"), on("references"), on("feedback")
		a.ReferencesLabel, a.Empty = byLanguage(a.ReferencesLabel, "references_label"), byLanguage(a.Empty, "empty")
		a.Suggestions = lines(a.Suggestions, "suggestions")
		b.Answer = &a
	case b.Sources != nil:
		s := *b.Sources
		s.Target, s.Label = text("target"), byLanguage(s.Label, "label")
		b.Sources = &s
	}
	return b
}
