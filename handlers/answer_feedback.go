package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"docent/components"
	"docent/internal/answer"
	"docent/internal/i18n"
)

const feedbackURL = "/ai-answers/feedback"

// feedbackRequest is a vote as it arrives, as JSON or as a form. A rating is a word
// or, in JSON, a number.
type feedbackRequest struct {
	ConversationID string          `json:"conversation_id" form:"conversation_id"`
	Turn           int             `json:"turn" form:"turn"`
	Rating         json.RawMessage `json:"rating" form:"-"`
	RatingWord     string          `json:"-" form:"rating"`
	Reasons        []string        `json:"reasons" form:"reasons"`
	Comment        string          `json:"comment" form:"comment"`
}

func (r feedbackRequest) word() string {
	if r.RatingWord != "" {
		return r.RatingWord
	}
	var word string
	if json.Unmarshal(r.Rating, &word) == nil {
		return word
	}
	return strings.TrimSpace(string(r.Rating))
}

// feedback handles POST /ai-answers/feedback.
func (h *Handlers) feedback(c echo.Context) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	ctx, who := c.Request().Context(), h.account(c)
	var req feedbackRequest
	if err := decodeBody(c, &req); err != nil {
		return err
	}
	if req.ConversationID == "" {
		return refuse(http.StatusBadRequest, i18n.T(ctx, "invalid.conversation"))
	}
	rating, ok := answer.ParseRating(req.word())
	if !ok {
		return refuse(http.StatusBadRequest, i18n.T(ctx, "invalid.rating"))
	}
	st, err := h.Answers.Rate(ctx, answer.Vote{ConversationID: req.ConversationID, Turn: req.Turn, Rating: rating,
		Reasons: req.Reasons, Comment: req.Comment, Who: who})
	if err != nil {
		return refusedQuestion(ctx, who, err)
	}
	switch {
	case isHTMX(c):
		h.setLang(c, h.knownLanguage(c.QueryParam("lang")))
		return h.fragment(c, http.StatusOK, components.Feedback(feedbackProps(c.Request().Context(), st, h.blockOf(c, st))))
	case accepts(c, "text/html"):
		return c.Redirect(http.StatusSeeOther, blockConversationURL(st.ConversationID, h.blockOf(c, st))+"#"+answer.DOMID(st.ID)+"-feedback")
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "recorded"})
}

// feedbackProps asks for a vote on a turn, and shows the one there is.
func feedbackProps(ctx context.Context, st answer.State, block answersBlock) components.FeedbackProps {
	p := components.FeedbackProps{ID: answer.DOMID(st.ID) + "-feedback", Action: feedbackURL + "?" + block.query().Encode(),
		ConversationID: st.ConversationID, Turn: st.Number, Thanks: st.Explained}
	switch st.Rating {
	case answer.Positive:
		p.Rating = "up"
	case answer.Negative:
		p.Rating = "down"
	}
	for _, r := range answer.Reasons() {
		p.Reasons = append(p.Reasons, components.Option{Value: r, Label: reasonText(ctx, r)})
	}
	return p
}

// reasonText names what may be wrong with an answer.
func reasonText(ctx context.Context, reason string) string {
	switch reason {
	case "missing":
		return i18n.T(ctx, "reason.missing")
	case "wrong":
		return i18n.T(ctx, "reason.wrong")
	case "outdated":
		return i18n.T(ctx, "reason.outdated")
	case "unclear":
		return i18n.T(ctx, "reason.unclear")
	case "not_asked":
		return i18n.T(ctx, "reason.not_asked")
	}
	return i18n.T(ctx, "reason.other")
}
