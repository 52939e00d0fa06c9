package handlers

import (
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/account"
	"docent/internal/i18n"
	"docent/internal/markdown"
	"docent/views"
)

const styleguideURL = "/styleguide"

// styleguide handles GET /styleguide: every component in every state, made of
// samples. It is for those who build the site: others find nothing there.
func (h *Handlers) styleguide(c echo.Context) error {
	if !h.Development && !h.account(c).Can(account.AccessAdministration) {
		return db.ErrNotFound
	}
	site := h.site(c)
	site.Blocks = views.Blocks{}
	for i, l := range site.Languages {
		site.Languages[i].URL = styleguideURL + "?lang=" + l.Code
	}
	s := samples{c: c, styleWords: wordsIn(h.lang(c)), lang: h.lang(c)}
	return h.render(c, http.StatusOK, views.Styleguide(views.StyleguidePage{Site: site, Sections: s.sections()}))
}

// samples makes the components of the style guide.
type samples struct {
	styleWords
	c    echo.Context
	lang string
}

func (s samples) t(key string, args ...any) string {
	return i18n.T(s.c.Request().Context(), key, args...)
}

func sample(id, title string, width views.StyleWidth, parts ...templ.Component) views.StyleSample {
	return views.StyleSample{ID: id, Title: title, Width: width, Parts: parts}
}

func (s samples) sections() []views.StyleSection {
	return []views.StyleSection{
		{ID: "questions", Title: "Question", Samples: s.questions()},
		{ID: "answers", Title: "Answer", Samples: s.answers()},
		{ID: "ends", Title: "Answers that are not whole", Samples: s.ends()},
		{ID: "feedback", Title: "Feedback", Samples: s.feedbackSteps()},
		{ID: "follow-ups", Title: "Follow-up", Samples: s.followUps()},
		{ID: "sources", Title: "Sources", Samples: s.sourceLists()},
		{ID: "notices", Title: "Notices", Samples: s.notices()},
		{ID: "forms", Title: "Forms and buttons", Samples: s.forms()},
		{ID: "lists", Title: "Lists", Samples: s.lists()},
		{ID: "text", Title: "Reading text", Samples: []views.StyleSample{
			sample("page", "A page of the site", views.StyleText, views.StyleProse([]string{s.page()})),
		}},
	}
}

// question is a Question block that asks an Answer block of these samples.
func (s samples) question(id string, variant components.QuestionVariant) components.QuestionProps {
	return components.QuestionProps{
		ID: "question-" + id, Variant: variant, Action: styleguideURL, AnswerID: "answer-" + id, Lang: s.lang,
		Label: s.label, Placeholder: s.t("question.placeholder"), Limit: 500,
	}
}

func (s samples) questions() []views.StyleSample {
	band := s.question("band", components.QuestionBand)
	band.Note, band.Suggestions = s.t("question.note"), s.suggestions
	plain := s.question("band-plain", components.QuestionBand)
	line := s.question("line", components.QuestionLine)
	filled := s.question("line-filled", components.QuestionLine)
	filled.Note, filled.Suggestions, filled.Value = s.t("question.note"), s.suggestions[:2], s.long
	narrow := s.question("narrow", components.QuestionBand)
	narrow.Note, narrow.Suggestions = s.t("question.note"), s.suggestions
	narrowLine := s.question("narrow-line", components.QuestionLine)
	return []views.StyleSample{
		sample("band", "Band with note and suggestions", views.StyleWide, components.Question(band)),
		sample("band-plain", "Band, nothing but the field", views.StyleWide, components.Question(plain)),
		sample("line", "Line", views.StyleWide, components.Question(line)),
		sample("line-filled", "Line with note, suggestions and a long question", views.StyleWide, components.Question(filled)),
		sample("narrow", "Band in a narrow place", views.StyleNarrow, components.Question(narrow)),
		sample("narrow-line", "Line in a narrow place", views.StyleNarrow, components.Question(narrowLine)),
		sample("error", "The question was not taken", views.StyleText, s.refusedNotice(http.StatusBadRequest, s.t("error.invalid_text"))),
		sample("busy", "The last one is still being answered", views.StyleText, s.refusedNotice(http.StatusConflict, s.t("ask.busy"))),
		sample("limited", "Too many questions", views.StyleText, s.refusedNotice(http.StatusTooManyRequests, s.t("ask.too_many", 42))),
		sample("unsent", "The question could not be sent", views.StyleText, s.noticed("unsent", "script.failed")),
		sample("gone", "The conversation is gone", views.StyleText, s.noticed("gone", "script.gone")),
		sample("day", "Closed for today", views.StyleText, s.refusedNotice(http.StatusTooManyRequests, s.t("ask.closed_today"))),
	}
}

func (s samples) refusedNotice(status int, text string) templ.Component {
	return views.ErrorNotice(status, text)
}

func (s samples) feedback(id, rating string) components.FeedbackProps {
	p := components.FeedbackProps{ID: "vote-" + id, Action: styleguideURL, ConversationID: "sample", Turn: 1, Rating: rating}
	for i, reason := range s.reasons {
		p.Reasons = append(p.Reasons, components.Option{Value: fmt.Sprint(i), Label: reason})
	}
	return p
}

func (s samples) feedbackSteps() []views.StyleSample {
	step := func(id, title, rating string, thanks bool, width views.StyleWidth) views.StyleSample {
		p := s.feedback(id, rating)
		p.Thanks = thanks
		turn := s.turn("voted-"+id, components.TurnDone)
		turn.Question, turn.Feedback = s.short, &p
		turn.Blocks, turn.CitedCount = s.blocks(turn.DOMID, s.brief), 1
		return sample(id, title, width, components.TurnEnd(turn))
	}
	return []views.StyleSample{
		step("asked", "Asked", "", false, views.StyleText),
		step("up", "Useful", "up", true, views.StyleText),
		step("down", "Not useful, and why", "down", false, views.StyleText),
		step("sent", "Reasons sent", "down", true, views.StyleText),
		step("narrow", "Not useful, in a narrow place", "down", false, views.StyleNarrow),
		sample("failed", "The vote could not be sent", views.StyleText,
			inside(components.Feedback(s.feedback("failed", "")), `class="d-feedback__vote"`, "</form>", views.StyleNotice(s.t("script.action_failed"), nil))),
	}
}

func (s samples) followUps() []views.StyleSample {
	follow := func(id string, suggestions []string) templ.Component {
		return components.FollowUp(components.FollowUpProps{AnswerID: "follow-" + id, Action: styleguideURL, ConversationID: "sample", Limit: 500, Suggestions: suggestions, Lang: s.lang})
	}
	return []views.StyleSample{
		sample("plain", "Without suggestions", views.StyleText, follow("plain", nil)),
		sample("suggestions", "With suggestions", views.StyleText, follow("suggestions", s.suggestions)),
		sample("narrow", "In a narrow place", views.StyleNarrow, follow("narrow", s.suggestions)),
	}
}

func (s samples) sourceList(id, title string, cited, waiting []components.SourceProps, running bool) templ.Component {
	return components.SourceList(components.SourceListProps{
		ID: "list-" + id, AnswerID: "answer-" + id, Title: s.t("sources.title") + ": " + title, Cited: cited, Waiting: waiting, Running: running,
	})
}

func (s samples) sourceLists() []views.StyleSample {
	var many []components.SourceProps
	for i := range 12 {
		source := s.source(i%len(s.sources), i+1)
		many = append(many, source)
	}
	bare := s.source(2, 1)
	bare.URL, bare.PassageURL = "", ""
	foreign := s.source(3, 2)
	followed := []components.SourceProps{s.source(0, 1), s.source(1, 2)}
	followed[1].Anchor = true
	return []views.StyleSample{
		sample("empty", "Empty: nothing is shown", views.StyleNarrow, s.sourceList("empty", "1", nil, nil, false)),
		sample("provisional", "While the answer is written", views.StyleNarrow, s.sourceList("provisional", "2",
			[]components.SourceProps{s.source(0, 1), s.source(1, 2)}, []components.SourceProps{s.source(2, 0), s.source(3, 0)}, true)),
		sample("waiting", "Nothing cited yet", views.StyleNarrow, s.sourceList("waiting", "3",
			nil, []components.SourceProps{s.source(0, 0), s.source(1, 0), s.source(2, 0)}, true)),
		sample("cited", "Cited; one has no address, one is in another language", views.StyleText, s.sourceList("cited", "4", []components.SourceProps{bare, foreign}, nil, false)),
		sample("followed", "Followed from its number", views.StyleText,
			views.StyleLink("#source-2", s.t("sources.cite", 2)), s.sourceList("followed", "5", followed, nil, false)),
		sample("many", "Many", views.StyleNarrow, s.sourceList("many", "6", many, nil, false)),
		sample("card", "A citation's card", views.StyleText, views.StyleCard("2", s.sources[1].title, s.sources[1].where, s.sources[1].passage, styleguideURL)),
	}
}

func (s samples) notices() []views.StyleSample {
	kinds := []components.NoticeKind{components.NoticeInfo, components.NoticeWait, components.NoticeOK, components.NoticeDanger}
	var out []views.StyleSample
	for _, kind := range kinds {
		out = append(out, sample(string(kind), string(kind), views.StyleText,
			components.Notice(components.NoticeProps{Kind: kind, Title: s.t("error.unavailable"), Message: s.t("error.unavailable_text")})))
	}
	return append(out, sample("narrow", "In a narrow place", views.StyleNarrow,
		components.Notice(components.NoticeProps{Kind: components.NoticeDanger, Title: s.t("error.server"), Message: s.t("error.server_text")})))
}

func (s samples) forms() []views.StyleSample {
	field := func(id string) components.FieldProps {
		return components.FieldProps{ID: "field-" + id, Name: id, Label: s.label}
	}
	help, wrong, choice, area := field("help"), field("wrong"), field("choice"), field("area")
	help.Help, help.Optional = s.t("feedback.more_help"), true
	wrong.Error, wrong.Value = s.t("error.invalid_text"), s.short
	choice.Value = "1"
	area.Value, area.Optional = s.long, true
	options := make([]components.Option, len(s.reasons))
	for i, reason := range s.reasons {
		options[i] = components.Option{Value: fmt.Sprint(i), Label: reason}
	}
	return []views.StyleSample{
		sample("buttons", "Buttons", views.StyleText, views.StyleButtons()),
		sample("tags", "Tags", views.StyleText, views.StyleTags()),
		sample("fields", "Fields", views.StyleText, views.StyleForm(
			components.TextField(help), components.TextField(wrong), components.PasswordField(field("password")),
			components.SelectField(choice, options), components.TextArea(area, 3))),
		sample("checks", "Boxes to tick", views.StyleText, views.StyleCheck(s.reasons[0], true), views.StyleCheck(s.reasons[1], false)),
	}
}

func (s samples) lists() []views.StyleSample {
	day := time.Date(2027, time.March, 29, 9, 0, 0, 0, time.UTC)
	var near []components.Link
	var teasers []components.TeaserProps
	var found []components.FoundProps
	for _, source := range s.sources[:3] {
		near = append(near, components.Link{Label: source.title, URL: styleguideURL, Where: source.where, Summary: source.passage})
		teasers = append(teasers, components.TeaserProps{Title: source.title, URL: styleguideURL, Kind: source.where, Date: day, Text: source.passage})
		found = append(found, components.FoundProps{Title: source.title, URL: styleguideURL, Where: source.where,
			Passage: []components.FoundText{{Text: source.passage + " "}, {Text: s.short, Match: true}}})
	}
	return []views.StyleSample{
		sample("near", "Nearest pages", views.StyleText, components.Nearest(near)),
		sample("teasers", "Teasers", views.StyleText, components.Teasers(teasers, false)),
		sample("found", "Search results", views.StyleText, components.Found(found)),
		sample("pager", "Pager", views.StyleText, components.Pager(components.PagerProps{From: 51, To: 100, Total: 230, PrevURL: "#lists", NextURL: "#lists"})),
		sample("crumbs", "Breadcrumb", views.StyleText, components.Breadcrumb([]components.Link{{Label: s.t("error.home"), URL: "#lists"}, {Label: s.sources[0].where, URL: "#lists"}, {Label: s.sources[0].title}})),
		sample("side", "A section's pages", views.StyleNarrow, components.SideNav(s.sources[0].where, []components.Link{
			{Label: s.sources[0].title, URL: "#lists", Current: true}, {Label: s.sources[1].title, URL: "#lists"}, {Label: s.sources[2].title, URL: "#lists"},
		})),
	}
}

func (s samples) page() string {
	html, _ := markdown.Page(s.text, markdown.Labels{})
	return html
}
