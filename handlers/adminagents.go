package handlers

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/i18n"
	"docent/views"
)

// Addresses of the settings of answers.
const (
	answersConfigURL = "/admin/config/ai/ai-answers"
	agentsURL        = answersConfigURL + "/agents"
	contextsURL      = answersConfigURL + "/contexts"
)

// agents handles GET /admin/config/ai/ai-answers/agents.
func (h *Handlers) agents(c echo.Context) error {
	ctx := c.Request().Context()
	page := views.ListPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "agents.title"), Intro: i18n.T(ctx, "agents.intro"), Head: i18n.T(ctx, "form.label"),
		Columns: []string{i18n.T(ctx, "agents.status"), i18n.T(ctx, "agents.index"), i18n.T(ctx, "agents.model"), i18n.T(ctx, "agents.feedback_column")},
		New:     components.Link{Label: i18n.T(ctx, "agents.new"), URL: agentsURL + "/new"}, Empty: i18n.T(ctx, "agents.empty"),
	}
	all, err := config.All[config.Agent](ctx, h.Config)
	if err != nil {
		return err
	}
	for _, a := range all {
		status := views.ListCell{Text: i18n.T(ctx, "agents.answers"), Tag: components.TagOK}
		row := views.ListRow{Title: a.Value.Label, URL: agentURL(a.Name), Note: a.Name, NoteLTR: true}
		if missing := h.missing(ctx, a.Name); missing != "" {
			status = views.ListCell{Text: i18n.T(ctx, "agents.closed"), Tag: components.TagWait}
			row.Note, row.NoteLTR = a.Name+": "+missing, false
		}
		model := a.Value.Model
		if model == "" {
			model = h.Answers.Model.Name()
		}
		feedback := i18n.T(ctx, "agents.off")
		if a.Value.Feedback {
			feedback = i18n.T(ctx, "agents.on")
		}
		row.Cells = []views.ListCell{status, {Text: a.Value.Index, LTR: true}, {Text: model, LTR: true}, {Text: feedback}}
		row.Actions = []views.RowAction{{Label: i18n.T(ctx, "action.edit"), URL: agentURL(a.Name)}, {Label: i18n.T(ctx, "agents.try"), URL: agentURL(a.Name) + "#try"}}
		page.Rows = append(page.Rows, row)
	}
	return h.render(c, http.StatusOK, views.List(page))
}

func agentURL(name string) string { return agentsURL + "/" + url.PathEscape(name) }

// missing says in words why an agent cannot answer, "" when it can.
func (h *Handlers) missing(ctx context.Context, name string) string {
	err := h.Answers.Usable(ctx, name)
	if e, ok := errors.AsType[*answer.UnusableError](err); ok {
		return sentence(e.Reason)
	}
	if err != nil {
		return sentence(err.Error())
	}
	return ""
}

// newAgent handles GET /admin/config/ai/ai-answers/agents/new.
func (h *Handlers) newAgent(c echo.Context) error {
	a := config.DefaultAgent()
	a.Label, a.Enabled = "", false
	return h.agentForm(c, http.StatusOK, "", a, nil, nil)
}

// agent handles GET /admin/config/ai/ai-answers/agents/:name.
func (h *Handlers) agent(c echo.Context) error {
	a, err := config.Get[config.Agent](c.Request().Context(), h.Config, c.Param("name"))
	if err != nil {
		return err
	}
	return h.agentForm(c, http.StatusOK, c.Param("name"), a, nil, nil)
}

// saveAgent handles POST /admin/config/ai/ai-answers/agents/:name, and …/new.
func (h *Handlers) saveAgent(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("name")
	a, refused, err := h.postedAgent(c, name)
	if err != nil {
		return err
	}
	done, form := "saved", name
	if name == "" {
		done, name = "added", c.FormValue("name")
		if name == "" {
			name = machineName(a.Label)
		}
		if _, err := config.Get[config.Agent](ctx, h.Config, name); err == nil || name == "new" {
			refused["name"] = i18n.T(ctx, "form.name_taken")
		}
	}
	if len(refused) == 0 {
		err = config.Put(ctx, h.Config, name, a, h.account(c).ID)
		if refused = refusedFields(err); refused == nil && err != nil {
			return err
		}
	}
	if len(refused) > 0 {
		return h.agentForm(c, http.StatusUnprocessableEntity, form, a, refused, nil)
	}
	return c.Redirect(http.StatusSeeOther, agentURL(name)+"?done="+done)
}

// tryAgent handles POST /admin/config/ai/ai-answers/agents/:name/try: it answers
// with the settings of the form, saved or not, and shows what happened.
func (h *Handlers) tryAgent(c echo.Context) error {
	ctx, name := c.Request().Context(), c.Param("name")
	a, refused, err := h.postedAgent(c, name)
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return h.agentForm(c, http.StatusUnprocessableEntity, name, a, refused, nil)
	}
	st, err := h.Answers.Ask(ctx, answer.Question{Agent: name, Text: c.FormValue("try_question"), Lang: h.knownLanguage(c.FormValue("try_lang")),
		Who: h.account(c), Trial: &a})
	if err == nil {
		st, err = h.Answers.Wait(ctx, st.ID, h.account(c))
	}
	if err != nil {
		refusal := refusedQuestion(ctx, h.account(c), err)
		if judge(refusal).status >= http.StatusInternalServerError {
			return err
		}
		return h.agentForm(c, judge(refusal).status, name, a, nil, &trial{failure: judge(refusal).message})
	}
	record, err := h.Answers.Record(ctx, st.LogID)
	if err != nil {
		return err
	}
	shown := h.runView(ctx, record)
	return h.agentForm(c, http.StatusOK, name, a, nil, &trial{run: &shown})
}

// A trial is what came of trying an agent's settings out.
type trial struct {
	run     *views.Run
	failure string
}

// postedAgent reads an agent's form over what is stored. Fields that cannot be
// read are refused and keep their stored value.
func (h *Handlers) postedAgent(c echo.Context, name string) (config.Agent, map[string]string, error) {
	ctx := c.Request().Context()
	form, err := postedForm(c)
	if err != nil {
		return config.Agent{}, nil, err
	}
	a := config.DefaultAgent()
	if name != "" {
		if a, err = config.Get[config.Agent](ctx, h.Config, name); err != nil {
			return a, nil, err
		}
	}
	refused := map[string]string{}
	text := func(field string) string { return strings.TrimSpace(strings.ReplaceAll(form.Get(field), "\r\n", "\n")) }
	whole := func(field string, into *int) {
		if n, err := strconv.Atoi(text(field)); err == nil {
			*into = n
		} else if text(field) == "" && *into == 0 {
			return
		} else {
			refused[field] = i18n.T(ctx, "form.whole_number")
		}
	}
	a.Label, a.Model, a.Prompt, a.Guidance = text("label"), text("model"), text("prompt"), text("guidance")
	a.Index, a.ViewMode = text("index"), text("view_mode")
	a.Enabled, a.TopicDrift, a.Feedback = form.Get("enabled") != "", form.Get("topic_drift") != "", form.Get("feedback") != ""
	a.Suggest, a.Share = text("suggest"), form.Get("share") != ""
	a.SourceTools, a.Contexts = slices.Clone(form["source_tools"]), slices.Clone(form["contexts"])
	if score, err := strconv.ParseFloat(text("min_score"), 64); err == nil {
		a.MinScore = score
	} else {
		refused["min_score"] = i18n.T(ctx, "form.number")
	}
	a.Temperature = nil
	if t := text("temperature"); t != "" {
		if v, err := strconv.ParseFloat(t, 64); err == nil {
			a.Temperature = &v
		} else {
			refused["temperature"] = i18n.T(ctx, "form.number")
		}
	}
	for _, optional := range []string{"max_tokens", "daily_turns", "share_days"} {
		if text(optional) == "" {
			form.Set(optional, "0")
		}
	}
	whole("max_results", &a.MaxResults)
	whole("rounds", &a.Rounds)
	whole("history_turns", &a.HistoryTurns)
	whole("max_tokens", &a.MaxTokens)
	whole("question_limit", &a.QuestionLimit)
	whole("conversation_ttl", &a.ConversationTTL)
	whole("daily_turns", &a.DailyTurns)
	whole("share_days", &a.ShareDays)
	a.NoAnswer = maps.Clone(a.NoAnswer)
	for _, lang := range h.Content.Languages() {
		a.NoAnswer = withText(a.NoAnswer, lang, form, "no_answer")
	}
	return a, refused, nil
}

// machineName makes a name for programs of a label.
func machineName(label string) string {
	name := strings.Trim(strings.ReplaceAll(content.Slug(label), "-", "_"), "_")
	return name[:min(len(name), 63)]
}

// confirmDeleteAgent handles GET /admin/config/ai/ai-answers/agents/:name/delete.
func (h *Handlers) confirmDeleteAgent(c echo.Context) error {
	ctx := c.Request().Context()
	a, err := config.Get[config.Agent](ctx, h.Config, c.Param("name"))
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.Confirm(views.ConfirmPage{
		Admin: h.admin(c), Title: i18n.T(ctx, "agents.delete", a.Label), Lead: i18n.T(ctx, "agents.delete_text"), Danger: true,
		Crumbs: []components.Link{{Label: i18n.T(ctx, "agents.title"), URL: agentsURL}},
		Action: agentURL(c.Param("name")) + "/delete", Submit: i18n.T(ctx, "action.delete"), CancelURL: agentURL(c.Param("name")),
	}))
}

// deleteAgent handles POST /admin/config/ai/ai-answers/agents/:name/delete.
func (h *Handlers) deleteAgent(c echo.Context) error {
	if c.Param("name") == config.SiteName {
		return config.ErrRequired
	}
	if err := config.Delete[config.Agent](c.Request().Context(), h.Config, c.Param("name"), h.account(c).ID); err != nil && !errors.Is(err, db.ErrNotFound) {
		return err
	}
	return c.Redirect(http.StatusSeeOther, agentsURL+"?done=deleted")
}
