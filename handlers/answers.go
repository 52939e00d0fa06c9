package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/db"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/i18n"
	"docent/internal/llm"
	"docent/views"
)

// formWait is how long a browser without scripts waits for a whole answer before
// it gets the page as it is, which then reloads itself.
const formWait = 60 * time.Second

// askRequest is a question as it arrives, as JSON or as a form.
type askRequest struct {
	Agent          string `json:"agent" form:"agent"`
	Question       string `json:"question" form:"question"`
	ConversationID string `json:"conversation_id" form:"conversation_id"`
	IdempotencyKey string `json:"idempotency_key" form:"idempotency_key"`
	Lang           string `json:"lang" form:"lang"`
	Page           string `json:"page" form:"page"`
	Block          string `json:"-" form:"block"`   // DOM id of the Answer block, of forms
	Without        string `json:"-" form:"without"` // parts that the block leaves out
}

// ask handles POST /ai-answers/question, in the form that the client can take.
func (h *Handlers) ask(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	var req askRequest
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if req.Lang == "" {
		req.Lang = h.lang(c)
	}
	req.Lang = h.knownLanguage(req.Lang)
	h.setLang(c, req.Lang)
	c.Set(askedKey, req)
	ctx, who := c.Request().Context(), h.account(c)

	if wait := h.tooMany(c); wait > 0 {
		return refusedQuestion(ctx, who, &answer.LimitError{RetryAfter: wait})
	}
	if req.Agent == "" {
		placed, _ := h.answerBlock(ctx, who, req.Block, req.Lang)
		req.Agent = placed.Agent
	}
	delivery := answer.Whole
	if isHTMX(c) || accepts(c, "text/event-stream") {
		delivery = answer.Stream
	}
	st, err := h.Answers.Ask(ctx, answer.Question{
		Agent: req.Agent, Text: req.Question, ConversationID: req.ConversationID, IdempotencyKey: req.IdempotencyKey,
		Lang: req.Lang, Page: h.askedOn(c, req.Page), Delivery: delivery, Who: who, Visitor: visitOf(c).token,
	})
	if err != nil {
		return refusedQuestion(ctx, who, err)
	}
	c.Response().Header().Set("Content-Location", turnsURL+st.ID+"/events")
	switch {
	case isHTMX(c):
		return h.askedFragment(c, req, st)
	case accepts(c, "text/event-stream"):
		return h.streamJSON(c, st.ID, "")
	case accepts(c, "text/html"):
		wait, cancel := context.WithTimeout(ctx, formWait)
		defer cancel()
		if _, err := h.Answers.Wait(wait, st.ID, who); err != nil && wait.Err() == nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, blockConversationURL(st.ConversationID, h.blockFrom(c, req.Block, req.Without, req.Lang, st.Agent)))
	default:
		// An answer may take longer than a page: the server's write timeout is for pages.
		if err := http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(answer.RunTimeout + writeTimeout)); err != nil {
			return err
		}
		st, err := h.Answers.Wait(ctx, st.ID, who)
		if err != nil {
			return err
		}
		switch {
		case st.Status == answer.Failed:
			return refuse(failureStatus(st.Failure), failureText(ctx, st.Failure))
		case st.Status == answer.Interrupted || st.IsRunning():
			return refuse(http.StatusServiceUnavailable, i18n.T(ctx, "end.interrupted"))
		}
		body, err := h.answerJSON(ctx, who, st)
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, body)
	}
}

// askedFragment answers htmx with the turn, which then watches itself, and with
// the parts of the page that a question changes: a new conversation starts with
// an empty list of sources.
func (h *Handlers) askedFragment(c echo.Context, req askRequest, st answer.State) error {
	ctx := c.Request().Context()
	conv, states, err := h.Answers.Conversation(ctx, st.ConversationID, h.account(c))
	if err != nil {
		return err
	}
	block := h.blockFrom(c, req.Block, req.Without, req.Lang, conv.Agent)
	block.carded = cardedBefore(states, st.ID)
	parts := []templ.Component{components.Turn(h.turnProps(ctx, st, block))}
	if st.Number == 1 {
		parts = append(parts,
			components.Partial(components.InSources(block.ID, citedList), components.SwapInside, templ.NopComponent),
			components.Partial(components.InSources(block.ID, waitingList), components.SwapInside, templ.NopComponent),
			components.Partial(components.InSources(block.ID, citedCount), components.SwapReplace, components.SourcesCount(0, st.IsRunning())))
	}
	if st.IsRunning() {
		parts = append(parts, components.Partial("#"+block.ID+"-follow", components.SwapInside, templ.NopComponent))
	}
	return h.fragment(c, http.StatusOK, templ.Join(parts...))
}

// cardedBefore are the keys of the sources that turns before the given one cite.
func cardedBefore(states []answer.State, turnID string) map[string]bool {
	carded := map[string]bool{}
	for _, st := range states {
		if st.ID == turnID {
			break
		}
		for _, s := range st.Sources {
			if s.Running > 0 {
				carded[s.Key] = true
			}
		}
	}
	return carded
}

// turnEvents handles GET /ai-answers/turns/:id/events: it watches a turn and never
// starts anything.
func (h *Handlers) turnEvents(c echo.Context) error {
	if c.Request().Method == http.MethodHead { // has the header alone, and need not wait for the end
		if _, err := h.Answers.Turn(c.Request().Context(), c.Param("id"), h.account(c)); err != nil {
			return err
		}
		newEventStream(c).close()
		return nil
	}
	last := c.Request().Header.Get("Last-Event-ID")
	if isHTMX(c) || c.QueryParam("as") == "html" {
		if last == "" {
			last = c.QueryParam("seen")
		}
		return h.streamHTML(c, c.Param("id"), last)
	}
	return h.streamJSON(c, c.Param("id"), last)
}

func (h *Handlers) streamJSON(c echo.Context, turnID, last string) error {
	ctx, who := c.Request().Context(), h.account(c)
	states, err := h.Answers.Watch(ctx, turnID, who)
	if err != nil {
		return err
	}
	w := &jsonWatch{h: h, who: who}
	w.resume(last)
	s := newEventStream(c)
	defer s.close()
	for st, err := range states {
		if err == nil {
			err = w.send(ctx, s, st)
		}
		if err != nil {
			return h.endStream(c, s, err)
		}
	}
	return nil
}

func (h *Handlers) streamHTML(c echo.Context, turnID, last string) error {
	lang := h.knownLanguage(c.QueryParam("lang"))
	ctx := i18n.WithLanguage(c.Request().Context(), lang)
	who := h.account(c)
	states, err := h.Answers.Watch(ctx, turnID, who)
	if err != nil {
		return err
	}
	st, err := h.Answers.Turn(ctx, turnID, who)
	if err != nil {
		return err
	}
	conv, all, err := h.Answers.Conversation(ctx, st.ConversationID, who)
	if err != nil {
		return err
	}
	block := h.blockFrom(c, c.QueryParam("block"), c.QueryParam("without"), lang, conv.Agent)
	block.carded = cardedBefore(all, turnID)
	w := &turnWatch{h: h, page: block}
	w.have, _ = parseSeen(last)
	w.have.Cards = max(w.have.Cards, len(block.carded))
	s := newEventStream(c)
	defer s.close()
	for st, err := range states {
		var f frame
		if err == nil {
			f, err = w.frame(ctx, st)
		}
		if err == nil && f.data != "" {
			err = s.send(w.have.String(), f.name, f.data)
		}
		if err == nil && !st.IsRunning() {
			err = s.send("", "done", "done")
		}
		if err != nil {
			return h.endStream(c, s, err)
		}
	}
	return nil
}

// endStream reports what went wrong after the header was sent. The status is
// gone, so the client is told by an event, and the log here.
func (h *Handlers) endStream(c echo.Context, s *eventStream, err error) error {
	if c.Request().Context().Err() != nil || s.err != nil {
		return nil // the client left
	}
	message := i18n.T(c.Request().Context(), "failure.internal")
	if v := judge(err); v.status < http.StatusInternalServerError { // the conversation was deleted
		message = views.ErrorMessage(c.Request().Context(), v.status, v.message)
	} else {
		h.Log.Error("event stream", "path", c.Path(), "err", err)
	}
	text, _ := json.Marshal(errorEvent{message})
	s.send("", "error", string(text))
	return nil
}

// stopTurn handles POST /ai-answers/turns/:id/stop.
func (h *Handlers) stopTurn(c echo.Context) error {
	ctx, who := c.Request().Context(), h.account(c)
	c.Response().Header().Set("Cache-Control", "no-store")
	if err := h.Answers.Stop(ctx, c.Param("id"), who); err != nil {
		return err
	}
	if isHTMX(c) || !accepts(c, "text/html") {
		return c.NoContent(http.StatusNoContent)
	}
	st, err := h.Answers.Turn(ctx, c.Param("id"), who)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, blockConversationURL(st.ConversationID, h.blockOf(c, st)))
}

// conversation handles GET /ai-answers/conversations/:id, as a page or as JSON.
func (h *Handlers) conversation(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	ctx, who := c.Request().Context(), h.account(c)
	conv, states, err := h.Answers.Conversation(ctx, c.Param("id"), who)
	if errors.Is(err, answer.ErrNotFound) && accepts(c, "text/html") && !isFragment(c) {
		return h.render(c, http.StatusNotFound, views.ConversationMissing(views.ConversationMissingPage{Site: h.site(c), SearchURL: h.languagePrefix(h.lang(c)) + searchURL}))
	}
	if err != nil {
		return err
	}
	if !accepts(c, "text/html") && !isHTMX(c) {
		turns := make([]answerJSON, len(states))
		for i, st := range states {
			if turns[i], err = h.answerJSON(ctx, who, st); err != nil {
				return err
			}
		}
		return c.JSON(http.StatusOK, map[string]any{"conversation_id": conv.ID, "agent": conv.Agent, "turns": turns})
	}
	block := h.blockFrom(c, c.QueryParam("block"), c.QueryParam("without"), h.lang(c), conv.Agent)
	if isHTMX(c) {
		return h.conversationFragment(c, states, block)
	}
	regions, _ := h.blockBuilder(c).place(answersURL, "")
	regions = withoutAnswer(regions, block.ID)
	shown := h.shown(ctx, states, block)
	list := components.SourceListProps{ID: block.ID + "-references", AnswerID: block.ID, Cited: shown.cited, Waiting: shown.waiting, Running: shown.running}
	for i := range list.Cited {
		list.Cited[i].Anchor = true
	}
	regions.Aside = []components.BlockProps{{Sources: &list}}
	page := h.answersPage(c, regions, nil)
	page.Main = []components.BlockProps{{Answer: &components.AnswerProps{
		ID: block.ID, Action: questionURL, Agent: block.Agent, Lang: block.Lang, Without: block.Without, Limit: block.limit,
		Label: i18n.T(ctx, "answers.title"), Empty: i18n.T(ctx, "answers.empty"), Turns: shown.turns, FollowUp: shown.followUp}}}
	page.Running = shown.running
	page.DeleteURL = conversationsURL + conv.ID + "/delete?lang=" + h.lang(c)
	return h.render(c, http.StatusOK, views.Answers(page))
}

// conversationFragment is a conversation for an Answer block that is on a page
// already: its turns, and what belongs into the places around them.
func (h *Handlers) conversationFragment(c echo.Context, states []answer.State, block answersBlock) error {
	shown := h.shown(c.Request().Context(), states, block)
	return h.fragment(c, http.StatusOK, templ.Join(
		each(shown.turns, components.Turn),
		components.Partial("#"+block.ID+"-follow", components.SwapInside, components.FollowUp(shown.followUp)),
		components.Partial(components.InSources(block.ID, citedList), components.SwapInside, each(shown.cited, components.SourceCard)),
		components.Partial(components.InSources(block.ID, waitingList), components.SwapInside, each(shown.waiting, components.SourceWaiting)),
		components.Partial(components.InSources(block.ID, citedCount), components.SwapReplace, components.SourcesCount(len(shown.cited), shown.running))))
}

// deleteConversation handles POST /ai-answers/conversations/:id/delete.
func (h *Handlers) deleteConversation(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	ctx, who, id := c.Request().Context(), h.account(c), c.Param("id")
	_, states, err := h.Answers.Conversation(ctx, id, who)
	if err != nil {
		return err
	}
	if err := h.Answers.Delete(ctx, id, who); err != nil {
		return err
	}
	if !accepts(c, "text/html") {
		return c.NoContent(http.StatusNoContent)
	}
	return c.Redirect(http.StatusSeeOther, h.wayBack(ctx, who, h.lang(c), states...))
}

// answers handles GET /answers: the blocks that are placed there.
func (h *Handlers) answers(c echo.Context) error {
	regions, among := h.blockBuilder(c).place(answersURL, "")
	if !isAnswersPage(regions, among) {
		return db.ErrNotFound
	}
	return h.renderCacheable(c, views.Answers(h.answersPage(c, regions, among)))
}

func (h *Handlers) answersPage(c echo.Context, regions views.Blocks, among []contentBlock) views.AnswersPage {
	p := views.AnswersPage{Site: h.siteAround(c, regions), Title: i18n.T(c.Request().Context(), "answers.title"), Offline: h.Answers.Model.Name() == llm.OfflineName}
	for _, b := range among {
		p.Main = append(p.Main, b.block)
	}
	prefill(c, p.Site.Blocks, p.Main)
	return p
}

// questionNote stands beside the question box: where answers come from, and what
// happens with questions.
func (h *Handlers) questionNote(ctx context.Context, lang string) string {
	label := i18n.T(ctx, "question.note")
	if s, err := config.Get[config.AnswerSettings](ctx, h.Config, config.SiteName); err == nil && s.AILabel[lang] != "" {
		label = s.AILabel[lang]
	}
	return strings.TrimSpace(label + " " + h.privacyNote(ctx, lang))
}

func (h *Handlers) privacyNote(ctx context.Context, lang string) string {
	s, err := config.Get[config.AnswerSettings](ctx, h.Config, config.SiteName)
	if err != nil {
		return ""
	}
	return s.PrivacyNote[lang]
}
