package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/i18n"
)

// askedKey is where a request keeps the question that it brought.
const askedKey = "question"

// refusedForm is the form with a question that was not taken, as it was typed, to
// send it again; nil when the request brought none. What cannot be gone on with
// starts anew.
func (h *Handlers) refusedForm(c echo.Context, status int) *components.QuestionProps {
	req, ok := c.Get(askedKey).(askRequest)
	if !ok {
		return nil
	}
	ctx := c.Request().Context()
	block := h.blockFrom(c, req.Block, req.Without, req.Lang, req.Agent)
	p := &components.QuestionProps{
		ID: "asked-question", Variant: components.QuestionLine, Action: questionURL, Agent: req.Agent, AnswerID: block.ID, Lang: req.Lang,
		Without: block.Without, ConversationID: req.ConversationID, Limit: block.limit, Value: req.Question,
		Label: i18n.T(ctx, "question.again"), Placeholder: i18n.T(ctx, "question.placeholder"),
	}
	if status == http.StatusNotFound {
		p.ConversationID = ""
	}
	return p
}
