package components

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"docent/internal/i18n"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"
)

const answerID = "ai-answers-answer-1"

// hostile breaks out of text, attributes and elements wherever escaping is missing.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>' {{x}} </title>`

func render(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	return renderIn(t, context.Background(), c)
}

func renderIn(t *testing.T, ctx context.Context, c templ.Component) *goquery.Document {
	t.Helper()
	var buf bytes.Buffer
	if err := c.Render(ctx, &buf); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func count(t *testing.T, doc *goquery.Document, selector string, want int) {
	t.Helper()
	if got := doc.Find(selector).Length(); got != want {
		html, _ := doc.Find("body").Html()
		t.Errorf("%d elements match %q, want %d, in\n%s", got, selector, want, html)
	}
}

func attr(t *testing.T, doc *goquery.Document, selector, name, want string) {
	t.Helper()
	got, ok := doc.Find(selector).First().Attr(name)
	if !ok || got != want {
		t.Errorf("%s of %q is %q (present %v), want %q", name, selector, got, ok, want)
	}
}

func text(doc *goquery.Document, selector string) string {
	return strings.Join(strings.Fields(doc.Find(selector).Text()), " ")
}

func TestTurnStates(t *testing.T) {
	block := `<p id="turn-1-b0">Text.</p>`
	again := &AskAgainProps{Action: "/ask", Agent: "a", ConversationID: "c", Question: "Why?"}
	tests := []struct {
		state             TurnState
		blocks            []string
		busy              string
		stop, stream      int
		notice            string // class of the notice, "" for none
		again, tools, ref int
	}{
		{state: TurnSearching, busy: "true", stop: 1, stream: 1},
		{state: TurnReading, busy: "true", stop: 1, stream: 1},
		{state: TurnWriting, blocks: []string{block}, busy: "true", stop: 1, stream: 1},
		{state: TurnDone, blocks: []string{block}, busy: "false", tools: 1},
		{state: TurnStopped, blocks: []string{block}, busy: "false", notice: "info", again: 1, tools: 1},
		{state: TurnStopped, busy: "false", notice: "info", again: 1},
		{state: TurnInterrupted, blocks: []string{block}, busy: "false", notice: "wait", again: 1, tools: 1},
		{state: TurnCutOff, blocks: []string{block}, busy: "false", notice: "wait", again: 1, tools: 1},
		{state: TurnFailed, busy: "false", notice: "danger", again: 1},
		{state: TurnRefused, busy: "false", ref: 1},
	}
	for _, tt := range tests {
		t.Run(string(tt.state), func(t *testing.T) {
			p := TurnProps{
				DOMID: "turn-1", AnswerID: answerID, Question: "Why?", State: tt.state, Blocks: tt.blocks,
				EventsURL: "/turns/1/events", StopURL: "/turns/1/stop", AskAgain: again, SourceCount: 3, CitedCount: 1,
			}
			doc := render(t, Turn(p))
			count(t, doc, "article#turn-1[aria-labelledby=turn-1-question]", 1)
			if got := text(doc, "h2#turn-1-question"); got != "Why?" {
				t.Errorf("question %q", got)
			}
			count(t, doc, "#turn-1 > #turn-1-status", 1)
			attr(t, doc, "#turn-1-status", "data-docent-state", string(tt.state))
			count(t, doc, "#turn-1-status [role=status][aria-live=polite] strong", 1)
			if text(doc, "#turn-1-status strong") == "" {
				t.Error("the state has no word")
			}
			attr(t, doc, "#turn-1 > #turn-1-body", "aria-busy", tt.busy)
			count(t, doc, "#turn-1-body[aria-live], #turn-1-body[role]", 0)
			count(t, doc, "#turn-1-body > #turn-1-b0", len(tt.blocks))
			count(t, doc, "#turn-1 > #turn-1-end", 1)
			count(t, doc, `form[action="/turns/1/stop"][method=post] button[type=submit]`, tt.stop)
			count(t, doc, "button[data-docent-new-text][hidden]", tt.stop)
			count(t, doc, "#turn-1 > #turn-1-stream", tt.stream)
			if tt.stream > 0 {
				attr(t, doc, "#turn-1-stream", "hx-sse:connect", "/turns/1/events")
				attr(t, doc, "#turn-1-stream", "hx-sse:close", "done")
				attr(t, doc, "#turn-1-stream", "hx-swap", "none")
			}
			notices := 0
			if tt.notice != "" {
				notices = 1
				count(t, doc, "#turn-1-end .notice--"+tt.notice, 1)
			}
			count(t, doc, ".notice", notices)
			count(t, doc, "form[data-docent-again]", tt.again)
			if tt.again > 0 {
				attr(t, doc, "form[data-docent-again] [name=question]", "value", "Why?")
				attr(t, doc, "form[data-docent-again] [name=conversation_id]", "value", "c")
				attr(t, doc, "form[data-docent-again]", "hx-swap", "beforeend")
			}
			count(t, doc, ".d-tools", tt.tools)
			count(t, doc, ".d-refusal", tt.ref)
		})
	}
}

func TestTurnWithoutEventsOpensNoStream(t *testing.T) {
	const opens = `[hx-sse\:connect]`
	count(t, render(t, Turn(TurnProps{DOMID: "turn-1", State: TurnWriting, EventsURL: "/events"})), opens, 1)
	doc := render(t, Turn(TurnProps{DOMID: "turn-1", State: TurnWriting}))
	count(t, doc, opens, 0)
	count(t, doc, "form", 0)
}

func TestTurnParts(t *testing.T) {
	p := TurnProps{DOMID: "turn-7", State: TurnWriting, SourceCount: 5}
	for id, part := range map[string]templ.Component{
		"turn-7-status": TurnStatus(p), "turn-7-body": TurnBody(p), "turn-7-end": TurnEnd(p),
	} {
		doc := render(t, part)
		count(t, doc, "body > #"+id, 1)
		count(t, doc, "body > *", 1)
	}
	if got := text(render(t, TurnStatus(p)), "[role=status]"); got != "Writing. From 5 sources." {
		t.Errorf("status %q", got)
	}
}

func TestTurnMessageReplacesTheNoticeText(t *testing.T) {
	doc := render(t, TurnEnd(TurnProps{DOMID: "t", State: TurnFailed, Message: "Ask again at 10:24.", SearchURL: "/search?q=x"}))
	if got := text(doc, ".notice p"); got != "Ask again at 10:24." {
		t.Errorf("message %q", got)
	}
	count(t, doc, `.notice a[href="/search?q=x"]`, 1)
}

func TestRefusalLeadsOn(t *testing.T) {
	doc := render(t, TurnEnd(TurnProps{
		DOMID: "t", State: TurnRefused, ContactURL: "/contact", SearchURL: "/search",
		Nearest: []Link{{Label: "Pictures", URL: "/pictures", Where: "Collection"}},
	}))
	count(t, doc, `.near a[href="/pictures"]`, 1)
	count(t, doc, `a[href="/contact"]`, 1)
	count(t, doc, `a[href="/search"]`, 1)
}

func TestOfflineModelIsNamed(t *testing.T) {
	doc := render(t, TurnStatus(TurnProps{DOMID: "t", State: TurnDone, CitedCount: 2, Offline: true}))
	if got := text(doc, "[role=status]"); !strings.Contains(got, "offline model") {
		t.Errorf("status %q does not name the offline model", got)
	}
}

func TestQuestionForm(t *testing.T) {
	p := QuestionProps{Limit: 500,
		ID: "ask", Variant: QuestionBand, Action: "/ai-answers/question", Agent: "museum", AnswerID: answerID, TargetURL: "/answers",
		Label: "Ask", Placeholder: "For example", Note: "By software.", Suggestions: []string{"One?", "Two?"}, Lang: "es",
	}
	doc := render(t, Question(p))
	count(t, doc, "search#ask.d-question--band[data-docent-block=question]", 1)
	for name, want := range map[string]string{
		"action": "/ai-answers/question", "method": "post", "data-docent-notice": "ask-notice",
		"data-ai-answers-target": answerID, "data-ai-answers-target-url": "/answers",
	} {
		attr(t, doc, "form#ask-form[data-docent-question]", name, want)
	}
	count(t, doc, "form[hx-post]", 0) // the Answer block's own form asks
	count(t, doc, "#ask-notice", 1)
	count(t, doc, "label[for=ask-text]", 1)
	count(t, doc, "input#ask-text[name=question][required][maxlength='500'][aria-describedby=ask-note]", 1)
	attr(t, doc, "form#ask-form [name=agent]", "value", "museum")
	attr(t, doc, "form#ask-form [name=block]", "value", answerID)
	attr(t, doc, "form#ask-form [name=lang]", "value", "es")
	count(t, doc, "form#ask-form [name=question]", 1)
	count(t, doc, "form[data-docent-chips=ask-form][method=post] button.chip[name=question]", 2)
	attr(t, doc, "form[data-docent-chips=ask-form] [name=agent]", "value", "museum")
}

func TestQuiteEmptyQuestion(t *testing.T) {
	doc := render(t, Question(QuestionProps{ID: "ask", Variant: QuestionLine, Action: "/q", Label: "Ask", Value: "kept"}))
	count(t, doc, ".chips, .d-question__note, [data-ai-answers-target-url], [name=agent]", 0)
	attr(t, doc, "#ask-text", "value", "kept")
}

func TestFollowUp(t *testing.T) {
	count(t, render(t, FollowUp(FollowUpProps{AnswerID: answerID})), "form", 0)
	doc := render(t, FollowUp(FollowUpProps{AnswerID: answerID, Action: "/q", Agent: "a", ConversationID: "c1", Suggestions: []string{"More?"}}))
	form := "#" + answerID + "-follow-form"
	attr(t, doc, form, "hx-swap", "beforeend")
	attr(t, doc, form, "hx-target", "#"+answerID+"-transcript")
	attr(t, doc, form+" [name=conversation_id]", "value", "c1")
	attr(t, doc, "form[data-docent-chips] [name=conversation_id]", "value", "c1")
}

func TestAnswerBlock(t *testing.T) {
	doc := render(t, Answer(AnswerProps{ID: answerID, Action: "/q", Agent: "a", Label: "Ask the museum", Empty: "Nothing yet."}))
	count(t, doc, "section#"+answerID+"[data-docent-block=answer]", 1)
	if got := text(doc, "#"+answerID+"-transcript"); got != "Nothing yet." {
		t.Errorf("empty transcript %q", got)
	}
	count(t, doc, "#"+answerID+"-follow", 1)
	count(t, doc, "form[data-docent-ask][hidden] input[name=question]", 1)
	for name, want := range map[string]string{
		"hx-post": "/q", "hx-target": "#" + answerID + "-transcript", "hx-swap": "innerHTML", "hx-sync": "drop", "hx-disable": "find button",
		"hx-status:4xx": "target:#" + answerID + "-notice swap:innerHTML", "hx-status:5xx": "target:#" + answerID + "-notice swap:innerHTML",
		"data-ai-answers-target": answerID,
	} {
		attr(t, doc, "form[data-docent-ask]", name, want)
	}
	doc = render(t, Answer(AnswerProps{ID: answerID, Turns: []TurnProps{{DOMID: "t1", State: TurnDone}, {DOMID: "t2", State: TurnDone}}}))
	count(t, doc, "#"+answerID+"-transcript > article", 2)
}

func TestSources(t *testing.T) {
	cited := SourceProps{Number: 3, Key: "node:5", Title: "Running days", URL: "/visit", Where: "Visit", Passage: "The wheel turns.", Mark: [2]int{4, 9}, PassageURL: "/visit#:~:text=wheel"}
	waiting := SourceProps{Key: "node:7", Title: "Open data", URL: "/data"}
	doc := render(t, SourceList(SourceListProps{ID: "list", AnswerID: answerID, Cited: []SourceProps{cited}, Waiting: []SourceProps{waiting}, Running: true}))
	count(t, doc, "aside#list.d-sources[data-docent-block=sources][data-ai-answers-sources-target="+answerID+"]", 1)
	if got := text(doc, "[data-docent-count]"); got != "1 cited so far" {
		t.Errorf("count %q", got)
	}
	count(t, doc, "ol[data-docent-cited] > li[data-docent-source='3'][tabindex='-1']:not([id])", 1)
	count(t, doc, "ul[data-docent-waiting] > li", 1)
	cited.Anchor = true
	count(t, render(t, SourceCard(cited)), "li#source-3", 1)
	count(t, doc, "[data-docent-source] a[target=_blank][rel=noopener]", 2)
	doc.Find("a[target=_blank]").Each(func(_ int, a *goquery.Selection) {
		if !strings.Contains(a.Text(), "opens in a new tab") {
			t.Errorf("link %q does not say that it opens a new tab", a.Text())
		}
	})
	if got := text(doc, "[data-docent-source] q mark"); got != "wheel" {
		t.Errorf("marked %q", got)
	}
	if got := text(doc, "[data-docent-source] q"); got != "The wheel turns." {
		t.Errorf("passage %q", got)
	}
}

func TestMarksOutsideThePassageMarkNothing(t *testing.T) {
	for _, mark := range [][2]int{{0, 0}, {5, 3}, {-1, 4}, {0, 99}, {1, 3}} {
		doc := render(t, SourceCard(SourceProps{Number: 1, Title: "T", Passage: "éé wheel", Mark: mark}))
		count(t, doc, "mark", 0)
		if got := text(doc, "q"); got != "éé wheel" {
			t.Errorf("mark %v: passage %q", mark, got)
		}
	}
}

func TestSourceWithoutAddressHasNoLink(t *testing.T) {
	count(t, render(t, SourceCard(SourceProps{Number: 1, Title: "T"})), "a, details", 0)
}

func TestHostileTextStaysText(t *testing.T) {
	evil := Link{Label: hostile, URL: "javascript:alert(1)", Where: hostile, Summary: hostile, Lang: hostile}
	source := SourceProps{Number: 1, Key: hostile, Title: hostile, URL: "JavaScript:alert(1)", Where: hostile, Lang: hostile, Passage: hostile, Mark: [2]int{2, 9}, PassageURL: "data:text/html,x"}
	turn := TurnProps{
		DOMID: "t", AnswerID: answerID, Question: hostile, Lang: hostile, State: TurnRefused, Message: hostile, Nearest: []Link{evil},
		ContactURL: "javascript:alert(1)", SearchURL: "vbscript:x", AskAgain: &AskAgainProps{Action: "javascript:x", Question: hostile, Label: hostile},
	}
	failed := turn
	failed.State = TurnFailed
	for name, c := range map[string]templ.Component{
		"turn":     Turn(turn),
		"failed":   Turn(failed),
		"sources":  SourceList(SourceListProps{AnswerID: answerID, Title: hostile, Cited: []SourceProps{source}, Waiting: []SourceProps{source}}),
		"question": Question(QuestionProps{ID: "q", Variant: hostile, Action: "javascript:x", Agent: hostile, AnswerID: hostile, TargetURL: hostile, Label: hostile, Placeholder: hostile, Note: hostile, Suggestions: []string{hostile}, Value: hostile, Lang: hostile}),
		"answer":   Answer(AnswerProps{ID: answerID, Label: hostile, Empty: hostile, FollowUp: FollowUpProps{AnswerID: answerID, ConversationID: hostile, Value: hostile, Suggestions: []string{hostile}}}),
		"notice":   Notice(NoticeProps{Kind: hostile, Title: hostile, Message: hostile}),
		"nav":      templ.Join(Menu([]Link{evil}), Breadcrumb([]Link{evil, evil}), SideNav(hostile, []Link{evil}), Tag(hostile, hostile), Pager(PagerProps{Total: 1, PrevURL: "javascript:x"})),
		"fields":   templ.Join(TextField(FieldProps{ID: "f", Name: hostile, Label: hostile, Value: hostile, Help: hostile, Error: hostile, Placeholder: hostile}), SelectField(FieldProps{ID: "s", Value: hostile}, []Option{{hostile, hostile}}), TextArea(FieldProps{ID: "a", Value: hostile}, 2), CSRF(hostile)),
		"partial":  Partial(hostile, SwapAppend, templ.NopComponent),
	} {
		t.Run(name, func(t *testing.T) {
			doc := render(t, c)
			count(t, doc, "script, img, [onerror]", 0)
			doc.Find("a[href], form[action]").Each(func(_ int, s *goquery.Selection) {
				for _, name := range []string{"href", "action"} {
					if v, ok := s.Attr(name); ok && strings.Contains(strings.ToLower(v), "script:") || strings.HasPrefix(v, "data:") {
						t.Errorf("%s %q survived", name, v)
					}
				}
			})
		})
	}
}

func TestFieldErrorsAreConnected(t *testing.T) {
	doc := render(t, TextField(FieldProps{ID: "name", Name: "name", Label: "Name", Help: "Short.", Error: "Missing.", Required: true, MaxLength: 60}))
	attr(t, doc, "#name", "aria-describedby", "name-help name-error")
	attr(t, doc, "#name", "aria-invalid", "true")
	attr(t, doc, "#name", "maxlength", "60")
	count(t, doc, "#name-help, #name-error", 2)
	count(t, doc, "label[for=name]", 1)
	count(t, render(t, PasswordField(FieldProps{ID: "p", Name: "p", Value: "secret"})), "[value]", 0)
}

func TestPager(t *testing.T) {
	count(t, render(t, Pager(PagerProps{})), "nav", 0)
	count(t, render(t, Pager(PagerProps{From: 1, To: 3, Total: 3})), "a, [aria-disabled]", 0)
	doc := render(t, Pager(PagerProps{From: 1, To: 10, Total: 24, NextURL: "?page=2"}))
	count(t, doc, "a[rel=next][href='?page=2']", 1)
	count(t, doc, "span[aria-disabled=true]", 1)
}

func TestFeedback(t *testing.T) {
	p := FeedbackProps{ID: "fb", Action: "/f", ConversationID: "c", Turn: 2, Reasons: []Option{{"0", "Wrong"}}}
	doc := render(t, Feedback(p))
	count(t, doc, "button[name=rating][aria-pressed=false]", 2)
	count(t, doc, "textarea, fieldset", 0)
	p.Rating = "down"
	doc = render(t, Feedback(p))
	attr(t, doc, "button[value=down]", "aria-pressed", "true")
	count(t, doc, "fieldset [name=reasons]", 1)
	count(t, doc, "textarea[name=comment]", 1)
	attr(t, doc, ".d-feedback__why [name=turn]", "value", "2")
	p.Thanks = true
	doc = render(t, Feedback(p))
	count(t, doc, "textarea", 0)
	count(t, doc, "[role=status]", 1)
}

func TestPartial(t *testing.T) {
	doc := render(t, Partial("#a > b", SwapMorph, HTML("<p>x</p>")))
	attr(t, doc, "hx-partial", "hx-target", "#a > b")
	attr(t, doc, "hx-partial", "hx-swap", "outerMorph")
	count(t, doc, "hx-partial > p", 1)
}

func TestBodyHasTheAnswersDirection(t *testing.T) {
	doc := render(t, TurnBody(TurnProps{DOMID: "t", Lang: "ar"}))
	count(t, doc, "#t-body[lang=ar][dir=rtl]", 1)
	count(t, render(t, TurnBody(TurnProps{DOMID: "t"})), "[lang], [dir]", 0)
}

func TestOtherLanguages(t *testing.T) {
	ctx := i18n.WithLanguage(context.Background(), "ar")
	doc := renderIn(t, ctx, TurnStatus(TurnProps{DOMID: "t", State: TurnDone, CitedCount: 2}))
	if got := text(doc, "strong"); got != "الجواب جاهز." {
		t.Errorf("status %q", got)
	}
}

func BenchmarkTurn(b *testing.B) {
	p := TurnProps{DOMID: "turn-1", AnswerID: answerID, Question: "Why?", State: TurnDone, CitedCount: 2, Blocks: []string{"<p>x</p>"}}
	var buf bytes.Buffer
	for b.Loop() {
		buf.Reset()
		if err := Turn(p).Render(context.Background(), &buf); err != nil {
			b.Fatal(err)
		}
	}
}
