package handlers

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/internal/tool"
	"docent/views"
)

func (h *Handlers) agentForm(c echo.Context, status int, name string, a config.Agent, refused map[string]string, t *trial) error {
	ctx := c.Request().Context()
	page := views.AgentPage{Admin: h.admin(c), Title: a.Label, Action: agentURL(name), TryAction: agentURL(name) + "/try#try", CancelURL: agentsURL,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "agents.title"), URL: agentsURL}}, Question: c.FormValue("try_question"), Language: c.FormValue("try_lang")}
	if name == "" {
		page.Title, page.Action, page.TryAction = i18n.T(ctx, "agents.new"), agentsURL+"/new", agentsURL+"/new/try#try"
	} else {
		page.Missing = h.missing(ctx, name)
		if stored, err := config.Get[config.Agent](ctx, h.Config, name); err == nil {
			page.Title = stored.Label
		}
		if name != config.SiteName {
			page.DeleteURL = agentURL(name) + "/delete"
		}
	}
	var err error
	if page.Groups, err = h.agentGroups(c, name, a); err != nil {
		return err
	}
	refuseControls(page.Groups, refused)
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return err
	}
	for _, l := range languages {
		page.Languages = append(page.Languages, components.Option{Value: l.Name, Label: l.Value.Label})
	}
	if t != nil {
		page.Trial, page.TryError = t.run, t.failure
	}
	return h.render(c, status, views.Agent(page))
}

// agentGroups are the controls of an agent's form.
func (h *Handlers) agentGroups(c echo.Context, name string, a config.Agent) ([]views.FormGroup, error) {
	ctx := c.Request().Context()
	indexes, err := config.All[config.Index](ctx, h.Config)
	if err != nil {
		return nil, err
	}
	contexts, err := config.All[config.SiteContext](ctx, h.Config)
	if err != nil {
		return nil, err
	}
	languages, err := config.Languages(ctx, h.Config)
	if err != nil {
		return nil, err
	}
	field := func(name, label, value, help string) views.Control {
		return views.Control{FieldProps: components.FieldProps{ID: "agent-" + name, Name: name, Label: label, Value: value, Help: help}}
	}
	area := func(c views.Control, rows, limit int) views.Control {
		c.Kind, c.Rows, c.MaxLength = views.ControlArea, rows, limit
		return c
	}
	optional := func(c views.Control) views.Control { c.Optional = true; return c }
	whole := func(name, label string, value int, help string) views.Control {
		c := field(name, label, strconv.Itoa(value), help)
		c.Type = "number"
		return c
	}
	check := func(name, label, help string, on bool) views.Control {
		c := field(name, label, "yes", help)
		c.Kind = views.ControlCheck
		if on {
			c.Chosen = []string{"yes"}
		}
		return c
	}
	index := field("index", i18n.T(ctx, "agents.index"), a.Index, i18n.T(ctx, "agents.index_help"))
	index.Kind = views.ControlSelect
	for _, x := range indexes {
		index.Options = append(index.Options, components.Option{Value: x.Name, Label: x.Value.Label})
	}
	mode := field("view_mode", i18n.T(ctx, "agents.view_mode"), a.ViewMode, i18n.T(ctx, "agents.view_mode_help"))
	mode.Kind = views.ControlSelect
	for _, m := range config.ViewModes() {
		mode.Options = append(mode.Options, components.Option{Value: m, Label: m})
	}
	tools := field("source_tools", i18n.T(ctx, "agents.source_tools"), "", i18n.T(ctx, "agents.source_tools_help"))
	tools.Kind, tools.Chosen = views.ControlChecks, a.SourceTools
	tools.Options = []components.Option{{Value: tool.ContentListName, Label: i18n.T(ctx, "agents.tool_content_list")}}
	for _, name := range a.SourceTools {
		if name != tool.ContentListName {
			tools.Options = append(tools.Options, components.Option{Value: name, Label: name})
		}
	}
	score := field("min_score", i18n.T(ctx, "agents.min_score"), strconv.FormatFloat(a.MinScore, 'f', -1, 64), i18n.T(ctx, "agents.min_score_help"))
	temperature := optional(field("temperature", i18n.T(ctx, "agents.temperature"), "", i18n.T(ctx, "agents.temperature_help")))
	if a.Temperature != nil {
		temperature.Value = strconv.FormatFloat(*a.Temperature, 'f', -1, 64)
	}
	unlimited := func(c views.Control, n int) views.Control {
		if c.Optional = true; n == 0 {
			c.Value = ""
		}
		return c
	}
	label := field("label", i18n.T(ctx, "form.label"), a.Label, "")
	label.Required, label.MaxLength = true, 120
	first := []views.Control{label}
	if name == "" {
		machine := optional(field("name", i18n.T(ctx, "form.machine_name"), c.FormValue("name"), i18n.T(ctx, "form.machine_name_help")))
		machine.MaxLength = 63
		first = append(first, machine)
	}
	groups := []views.FormGroup{
		{Title: i18n.T(ctx, "agents.group_agent"), Controls: append(first,
			check("enabled", i18n.T(ctx, "agents.enabled"), i18n.T(ctx, "agents.enabled_help"), a.Enabled),
			area(field("prompt", i18n.T(ctx, "agents.prompt"), a.Prompt, i18n.T(ctx, "agents.prompt_help")), 8, 20000),
			area(optional(field("guidance", i18n.T(ctx, "agents.guidance"), a.Guidance, i18n.T(ctx, "agents.guidance_help"))), 4, 20000),
		)},
		{Title: i18n.T(ctx, "agents.group_sources"), Controls: []views.Control{
			index, score, whole("max_results", i18n.T(ctx, "agents.max_results"), a.MaxResults, i18n.T(ctx, "agents.max_results_help")), mode, tools,
			check("topic_drift", i18n.T(ctx, "agents.topic_drift"), i18n.T(ctx, "agents.topic_drift_help"), a.TopicDrift),
		}},
		{Title: i18n.T(ctx, "agents.group_model"), Controls: []views.Control{
			optional(field("model", i18n.T(ctx, "agents.model"), a.Model, i18n.T(ctx, "agents.model_help", h.Answers.Model.Name()))),
			whole("rounds", i18n.T(ctx, "agents.rounds"), a.Rounds, i18n.T(ctx, "agents.rounds_help")),
			temperature,
			unlimited(whole("max_tokens", i18n.T(ctx, "agents.max_tokens"), a.MaxTokens, ""), a.MaxTokens),
		}},
	}
	if len(contexts) > 0 {
		about := field("contexts", i18n.T(ctx, "contexts.title"), "", i18n.T(ctx, "agents.contexts_help"))
		about.Kind, about.Chosen = views.ControlChecks, a.Contexts
		for _, x := range contexts {
			about.Options = append(about.Options, components.Option{Value: x.Name, Label: x.Value.Label})
		}
		groups[0].Controls = append(groups[0].Controls, about)
	}
	suggest := field("suggest", i18n.T(ctx, "agents.suggest"), a.Suggest, i18n.T(ctx, "agents.suggest_help"))
	suggest.Kind = views.ControlSelect
	suggest.Options = []components.Option{
		{Value: config.SuggestNone, Label: i18n.T(ctx, "agents.suggest_none")},
		{Value: config.SuggestHeadings, Label: i18n.T(ctx, "agents.suggest_headings")},
		{Value: config.SuggestModel, Label: i18n.T(ctx, "agents.suggest_model")},
	}
	limits := views.FormGroup{Title: i18n.T(ctx, "agents.group_conversation"), Controls: []views.Control{
		whole("history_turns", i18n.T(ctx, "agents.history"), a.HistoryTurns, i18n.T(ctx, "agents.history_help")),
		whole("conversation_ttl", i18n.T(ctx, "agents.ttl"), a.ConversationTTL, i18n.T(ctx, "agents.ttl_help")),
		whole("question_limit", i18n.T(ctx, "agents.question_limit"), a.QuestionLimit, ""),
		unlimited(whole("daily_turns", i18n.T(ctx, "agents.daily"), a.DailyTurns, i18n.T(ctx, "agents.daily_help")), a.DailyTurns),
		check("feedback", i18n.T(ctx, "agents.feedback"), i18n.T(ctx, "agents.feedback_help"), a.Feedback),
		suggest,
		check("share", i18n.T(ctx, "agents.share"), i18n.T(ctx, "agents.share_help"), a.Share),
		unlimited(whole("share_days", i18n.T(ctx, "agents.share_days"), a.ShareDays, i18n.T(ctx, "agents.share_days_help")), a.ShareDays),
	}}
	for _, l := range languages {
		message := optional(field("no_answer."+l.Name, i18n.T(ctx, "agents.no_answer", l.Value.Label), a.NoAnswer[l.Name], ""))
		message.ID, message.Lang, message.MaxLength = "agent-no-answer-"+l.Name, l.Name, 2000
		message.Placeholder = i18n.T(i18n.WithLanguage(ctx, l.Name), "answer.none")
		limits.Controls = append(limits.Controls, message)
	}
	return append(groups, limits), nil
}
