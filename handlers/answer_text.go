package handlers

import (
	"context"
	"errors"
	"net/http"
	"time"

	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/i18n"
)

// failureText says in plain words why a turn failed, and what to do.
func failureText(ctx context.Context, f answer.Failure) string {
	switch f {
	case answer.FailBusy:
		return i18n.T(ctx, "failure.model_busy")
	case answer.FailUnavailable:
		return i18n.T(ctx, "failure.model_unavailable")
	case answer.FailKey:
		return i18n.T(ctx, "failure.model_refused_key")
	case answer.FailTooLong:
		return i18n.T(ctx, "failure.too_long")
	case answer.FailTimeout:
		return i18n.T(ctx, "failure.timeout")
	}
	return i18n.T(ctx, "failure.internal")
}

// failureStatus is the status for clients that wait for the whole answer.
func failureStatus(f answer.Failure) int {
	switch f {
	case answer.FailBusy, answer.FailUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// refusedQuestion puts into words why a question was not taken. Why an agent is
// closed is only for those who can open it.
func refusedQuestion(ctx context.Context, who account.Account, err error) error {
	if e, ok := errors.AsType[*answer.InvalidError](err); ok {
		return refuse(http.StatusBadRequest, invalidText(ctx, e))
	}
	if e, ok := errors.AsType[*answer.UnusableError](err); ok {
		if who.Can(account.AdministerAnswers) {
			return refuse(http.StatusConflict, i18n.T(ctx, "ask.closed_reason", e.Reason))
		}
		return refuse(http.StatusConflict, i18n.T(ctx, "ask.closed"))
	}
	if errors.Is(err, answer.ErrNotFound) {
		return refuse(http.StatusNotFound, i18n.T(ctx, "conversation.missing_text"))
	}
	if errors.Is(err, answer.ErrBusy) {
		return refuse(http.StatusConflict, i18n.T(ctx, "ask.busy"))
	}
	if e, ok := errors.AsType[*answer.LimitError](err); ok {
		text := i18n.T(ctx, "ask.too_many", int((e.RetryAfter+time.Second-1)/time.Second))
		if e.Today {
			text = i18n.T(ctx, "ask.closed_today")
		}
		return &waitRefusal{refusal{http.StatusTooManyRequests, text}, e.RetryAfter}
	}
	return err
}

// A waitRefusal is a refusal that ends by itself.
type waitRefusal struct {
	refusal
	after time.Duration
}

func invalidText(ctx context.Context, e *answer.InvalidError) string {
	switch e.Reason {
	case answer.QuestionEmpty:
		return i18n.T(ctx, "invalid.question_empty")
	case answer.QuestionTooLong:
		return i18n.T(ctx, "invalid.question_too_long", e.Limit)
	case answer.KeyTooLong:
		return i18n.T(ctx, "invalid.key_too_long", e.Limit)
	case answer.RatingUnknown:
		return i18n.T(ctx, "invalid.rating")
	case answer.ReasonUnknown:
		return i18n.T(ctx, "invalid.reason")
	case answer.CommentTooLong:
		return i18n.T(ctx, "invalid.comment_too_long", e.Limit)
	case answer.TurnUnknown:
		return i18n.T(ctx, "invalid.turn")
	case answer.TurnUnfinished:
		return i18n.T(ctx, "ask.busy")
	}
	return i18n.T(ctx, "invalid.agent_unknown")
}
