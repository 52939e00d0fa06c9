package handlers

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/internal/markdown"
	"docent/views"
)

const runsURL = "/admin/reports/answers"

// recordFilter reads the filters of an address. Days are the site's.
func (h *Handlers) recordFilter(c echo.Context) answer.RecordFilter {
	zone := time.UTC
	if site, err := config.Get[config.Settings](c.Request().Context(), h.Config, config.SiteName); err == nil {
		if z, err := time.LoadLocation(site.TimeZone); err == nil {
			zone = z
		}
	}
	day := func(name string, add int) time.Time {
		t, err := time.ParseInLocation(time.DateOnly, c.QueryParam(name), zone)
		if err != nil {
			return time.Time{}
		}
		return t.AddDate(0, 0, add)
	}
	f := answer.RecordFilter{Agent: c.QueryParam("agent"), Text: c.QueryParam("text"), Rating: answer.Rating(c.QueryParam("rating")),
		After: day("from", 0), Before: day("to", 1)}
	if outcome := c.QueryParam("outcome"); outcome == "uncited" {
		f.Uncited = true
	} else {
		f.Outcome = answer.Outcome(outcome)
	}
	return f
}

// runs handles GET /admin/reports/answers.
func (h *Handlers) runs(c echo.Context) error {
	ctx, n := c.Request().Context(), pageNumber(c)
	f := h.recordFilter(c)
	f.Limit, f.Offset = pageSize, (n-1)*pageSize
	records, total, err := h.Answers.Records(ctx, f)
	if err != nil {
		return err
	}
	query := c.Request().URL.Query()
	query.Del("page")
	page := views.RunsPage{Admin: h.admin(c), Action: runsURL, ExportTo: runsURL + ".csv?" + query.Encode(), Filtered: len(query) > 0,
		Pager: pager(c, n, len(records), total)}
	settings, err := config.Get[config.AnswerSettings](ctx, h.Config, config.SiteName)
	if err != nil {
		return err
	}
	page.Kept = i18n.T(ctx, "runs.kept", settings.RetentionDays)
	switch {
	case settings.RetentionDays == 0:
		page.Kept = i18n.T(ctx, "runs.kept_none")
	case settings.MaskPersonal:
		page.Kept += " " + i18n.T(ctx, "runs.masked")
	}
	if page.Filters, err = h.runFilters(c); err != nil {
		return err
	}
	for _, r := range records {
		row := views.RunRow{URL: runsURL + "/" + url.PathEscape(r.ID), Question: excerpt(r.Question, 200), Answer: excerpt(markdown.PlainText(r.Answer), 120), When: r.CreatedAt, Agent: r.Agent, Trial: r.Trial,
			Sources: i18n.T(ctx, "runs.cited_of", r.Cited, len(r.Sources)), Took: milliseconds(r.TotalMS), Tokens: tokens(r.PromptTokens, r.CompletionTokens)}
		row.Outcome, row.OutcomeKind = outcomeText(ctx, r.Outcome)
		row.Rating, row.RatingKind = ratingText(ctx, r.Rating)
		page.Rows = append(page.Rows, row)
	}
	return h.render(c, http.StatusOK, views.Runs(page))
}

func (h *Handlers) runFilters(c echo.Context) ([]views.Control, error) {
	ctx := c.Request().Context()
	agents, err := config.All[config.Agent](ctx, h.Config)
	if err != nil {
		return nil, err
	}
	any := []components.Option{{Label: i18n.T(ctx, "runs.any")}}
	input := func(name, kind, label string) views.Control {
		return views.Control{FieldProps: components.FieldProps{ID: "filter-" + name, Name: name, Type: kind, Label: label, Value: c.QueryParam(name)}}
	}
	choose := func(name, label string, options []components.Option) views.Control {
		v := input(name, "", label)
		v.Kind, v.Options = views.ControlSelect, append(any[:1:1], options...)
		return v
	}
	var names, outcomes []components.Option
	for _, a := range agents {
		names = append(names, components.Option{Value: a.Name, Label: a.Value.Label})
	}
	for _, o := range answer.Outcomes() {
		text, _ := outcomeText(ctx, o)
		outcomes = append(outcomes, components.Option{Value: string(o), Label: text})
	}
	outcomes = append(outcomes, components.Option{Value: "uncited", Label: i18n.T(ctx, "runs.uncited")})
	positive, _ := ratingText(ctx, answer.Positive)
	negative, _ := ratingText(ctx, answer.Negative)
	ratings := []components.Option{{Value: string(answer.Positive), Label: positive}, {Value: string(answer.Negative), Label: negative},
		{Value: string(answer.Unrated), Label: i18n.T(ctx, "runs.unrated")}}
	return []views.Control{
		input("text", "search", i18n.T(ctx, "runs.text")),
		choose("agent", i18n.T(ctx, "runs.agent"), names),
		choose("outcome", i18n.T(ctx, "runs.outcome"), outcomes),
		choose("rating", i18n.T(ctx, "runs.rating"), ratings),
		input("from", "date", i18n.T(ctx, "runs.from")),
		input("to", "date", i18n.T(ctx, "runs.to")),
	}, nil
}

// run handles GET /admin/reports/answers/:id.
func (h *Handlers) run(c echo.Context) error {
	ctx := c.Request().Context()
	r, err := h.Answers.Record(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	return h.render(c, http.StatusOK, views.OneRun(views.RunPage{Admin: h.admin(c), Title: i18n.T(ctx, "runs.run"), Run: h.runView(ctx, r),
		Crumbs: []components.Link{{Label: i18n.T(ctx, "runs.title"), URL: runsURL}}}))
}

// runView is a record as pages show it.
func (h *Handlers) runView(ctx context.Context, r answer.Record) views.Run {
	v := views.Run{Question: r.Question, Answer: r.Answer, Comment: r.Comment}
	v.Outcome, v.OutcomeKind = outcomeText(ctx, r.Outcome)
	v.Rating, v.RatingKind = ratingText(ctx, r.Rating)
	if r.Outcome == answer.OutcomeFailed {
		v.Failure = failureText(ctx, r.Failure)
	}
	for _, reason := range r.Reasons {
		v.Reasons = append(v.Reasons, reasonText(ctx, reason))
	}
	fact := func(label, value string) views.Fact { return views.Fact{Label: label, Value: value, LTR: true} }
	v.Facts = []views.Fact{
		fact(i18n.T(ctx, "runs.when"), i18n.DateTime(ctx, r.CreatedAt)+" UTC"),
		fact(i18n.T(ctx, "runs.agent"), r.Agent), fact(i18n.T(ctx, "agents.model"), r.Model), fact(i18n.T(ctx, "content.language"), r.Lang),
		fact(i18n.T(ctx, "runs.rounds"), strconv.Itoa(r.Rounds)), fact(i18n.T(ctx, "runs.tokens"), tokens(r.PromptTokens, r.CompletionTokens)),
		fact(i18n.T(ctx, "runs.cost"), cost(r)), fact(i18n.T(ctx, "runs.first_text"), milliseconds(r.FirstTextMS)), fact(i18n.T(ctx, "runs.took"), milliseconds(r.TotalMS)),
		fact(i18n.T(ctx, "runs.dropped"), strconv.Itoa(r.Dropped)),
	}
	if r.Page != "" {
		v.Facts = append(v.Facts, fact(i18n.T(ctx, "runs.page"), r.Page))
	}
	v.Facts = append(v.Facts, fact(i18n.T(ctx, "runs.id"), r.ID), fact(i18n.T(ctx, "runs.trace"), r.TraceID))
	for _, s := range r.Sources {
		v.Sources = append(v.Sources, views.RunSource{Number: s.Number, Final: s.Final, Title: s.Title, URL: s.Path, Score: score(s.Score)})
	}
	for _, s := range r.Steps {
		step := views.RunStep{Kind: stepText(ctx, s.Kind), Name: s.Name, Input: s.Input, Output: s.Output, Error: s.Error,
			Facts: []views.Fact{fact(i18n.T(ctx, "runs.at"), milliseconds(s.At)), fact(i18n.T(ctx, "runs.took"), milliseconds(s.Took))}}
		if s.Kind == answer.StepModel {
			step.Facts = append(step.Facts, fact(i18n.T(ctx, "runs.tokens"), tokens(s.PromptTokens, s.CompletionTokens)))
		}
		if s.Finish != "" {
			step.Facts = append(step.Facts, fact(i18n.T(ctx, "runs.finish"), s.Finish))
		}
		if len(s.Calls) > 0 {
			step.Facts = append(step.Facts, fact(i18n.T(ctx, "runs.calls"), strings.Join(s.Calls, ", ")))
		}
		for _, hit := range s.Hits {
			step.Hits = append(step.Hits, views.RunHit{Number: hit.Number, Title: hit.Title, Heading: hit.Heading, Score: score(hit.Score), Text: hit.Text})
		}
		for _, m := range s.Messages {
			step.Messages = append(step.Messages, views.RunMessage{Role: string(m.Role), Text: m.Text})
		}
		v.Steps = append(v.Steps, step)
	}
	return v
}

// exportLimit is how many runs one file holds.
const exportLimit = 10_000

// exportRuns handles GET /admin/reports/answers.csv, with the filters of the list.
func (h *Handlers) exportRuns(c echo.Context) error {
	ctx := c.Request().Context()
	f := h.recordFilter(c)
	f.Limit = exportLimit
	records, _, err := h.Answers.Records(ctx, f)
	if err != nil {
		return err
	}
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, "text/csv; charset=utf-8")
	header.Set(echo.HeaderContentDisposition, `attachment; filename="answers.csv"`)
	c.Response().WriteHeader(http.StatusOK)
	w := csv.NewWriter(c.Response())
	w.Write([]string{"id", "trace_id", "time", "agent", "trial", "language", "page", "turn", "question", "answer", "outcome", "failure", "model", "rounds",
		"prompt_tokens", "completion_tokens", "cost", "currency", "sources", "cited", "dropped_markers", "first_text_ms", "total_ms", "rating", "reasons", "comment"})
	for _, r := range records {
		var sources []string
		for _, s := range r.Sources {
			sources = append(sources, s.Path+" ("+score(s.Score)+")")
		}
		row := []string{r.ID, r.TraceID, r.CreatedAt.Format(time.RFC3339), r.Agent, strconv.FormatBool(r.Trial), r.Lang, r.Page, strconv.Itoa(r.Turn), r.Question, r.Answer,
			string(r.Outcome), string(r.Failure), r.Model, strconv.Itoa(r.Rounds), strconv.Itoa(r.PromptTokens), strconv.Itoa(r.CompletionTokens),
			strconv.FormatFloat(r.Cost, 'f', -1, 64), r.Currency, strings.Join(sources, " "), strconv.Itoa(r.Cited), strconv.Itoa(r.Dropped),
			strconv.Itoa(r.FirstTextMS), strconv.Itoa(r.TotalMS), string(r.Rating), strings.Join(r.Reasons, " "), r.Comment}
		for i := range row {
			row[i] = harmlessCell(row[i])
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// harmlessCell keeps spreadsheets from taking text for a formula.
func harmlessCell(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(s[0])) {
		return "'" + s
	}
	return s
}

func outcomeText(ctx context.Context, o answer.Outcome) (string, components.TagKind) {
	switch o {
	case answer.OutcomeAnswered:
		return i18n.T(ctx, "outcome.answered"), components.TagOK
	case answer.OutcomeRefused:
		return i18n.T(ctx, "outcome.refused"), components.TagWait
	case answer.OutcomeStopped:
		return i18n.T(ctx, "outcome.stopped"), components.TagPlain
	case answer.OutcomeInterrupted:
		return i18n.T(ctx, "outcome.interrupted"), components.TagPlain
	case answer.OutcomeFailed:
		return i18n.T(ctx, "outcome.failed"), components.TagDanger
	}
	return i18n.T(ctx, "outcome.running"), components.TagPlain
}

func ratingText(ctx context.Context, r answer.Rating) (string, components.TagKind) {
	switch r {
	case answer.Positive:
		return i18n.T(ctx, "rating.positive"), components.TagOK
	case answer.Negative:
		return i18n.T(ctx, "rating.negative"), components.TagDanger
	}
	return "", components.TagPlain
}

func stepText(ctx context.Context, k answer.StepKind) string {
	switch k {
	case answer.StepSearch:
		return i18n.T(ctx, "step.search")
	case answer.StepRerank:
		return i18n.T(ctx, "step.rerank")
	case answer.StepTool:
		return i18n.T(ctx, "step.tool")
	}
	return i18n.T(ctx, "step.model")
}

func score(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func milliseconds(ms int) string {
	if ms >= 1000 {
		return strconv.FormatFloat(float64(ms)/1000, 'f', 1, 64) + " s"
	}
	return strconv.Itoa(ms) + " ms"
}

func tokens(in, out int) string { return strconv.Itoa(in) + " + " + strconv.Itoa(out) }

func cost(r answer.Record) string {
	return strings.TrimSpace(strconv.FormatFloat(r.Cost, 'f', 4, 64) + " " + r.Currency)
}
