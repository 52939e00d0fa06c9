package answer

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// Rating is a visitor's judgement of an answer.
type Rating string

// The ratings. Unrated only filters.
const (
	Positive Rating = "positive"
	Negative Rating = "negative"
	Unrated  Rating = "none"
)

// ParseRating reads the words that clients rate with.
func ParseRating(word string) (Rating, bool) {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "up", "1", "positive":
		return Positive, true
	case "down", "-1", "0", "negative":
		return Negative, true
	}
	return "", false
}

// Reasons returns what may be wrong with an answer, in the order of forms.
func Reasons() []string {
	return []string{"missing", "wrong", "outdated", "unclear", "not_asked", "other"}
}

// ReasonList is kept as JSON with its record.
type ReasonList []string

// Scan implements [database/sql.Scanner].
func (l *ReasonList) Scan(v any) error { return scanJSON(v, l) }

// Value implements [driver.Valuer].
func (l ReasonList) Value() (driver.Value, error) { return valueJSON([]string(l)) }

// commentLimit is the length of a comment in characters.
const commentLimit = 1000

// ErrFeedbackOff refuses votes for an agent that takes none.
var ErrFeedbackOff = errors.New("this agent takes no feedback")

// A Vote is a visitor's judgement of one turn.
type Vote struct {
	ConversationID string
	Turn           int // number in the conversation, from 1
	Rating         Rating
	Reasons        []string
	Comment        string
	Who            account.Account
}

// Rate records a vote; a later one replaces it. It returns the turn as it is now.
// Errors: [*InvalidError], [ErrNotFound], [ErrFeedbackOff].
func (s *Service) Rate(ctx context.Context, v Vote) (State, error) {
	v.Comment = strings.TrimSpace(storable(v.Comment))
	switch {
	case v.Rating != Positive && v.Rating != Negative:
		return State{}, &InvalidError{Reason: RatingUnknown}
	case v.Turn < 1:
		return State{}, &InvalidError{Reason: TurnUnknown}
	case utf8.RuneCountInString(v.Comment) > commentLimit:
		return State{}, &InvalidError{Reason: CommentTooLong, Limit: commentLimit}
	}
	known := Reasons()
	for _, r := range v.Reasons {
		if !slices.Contains(known, r) {
			return State{}, &InvalidError{Reason: ReasonUnknown}
		}
	}
	slices.SortFunc(v.Reasons, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
	v.Reasons = slices.Compact(v.Reasons)
	conv, err := s.conversation(ctx, v.ConversationID, v.Who)
	if err != nil {
		return State{}, err
	}
	agent, err := config.Get[config.Agent](ctx, s.Config, conv.Agent)
	if errors.Is(err, db.ErrNotFound) || err == nil && !agent.Feedback {
		return State{}, ErrFeedbackOff
	}
	if err != nil {
		return State{}, err
	}
	turns, err := turnsOf(ctx, s.DB, conv.ID)
	if err != nil {
		return State{}, err
	}
	i := slices.IndexFunc(turns, func(t Turn) bool { return t.Number == v.Turn })
	if i < 0 {
		return State{}, ErrNotFound
	}
	t := turns[i]
	if t.Status == Running {
		return State{}, &InvalidError{Reason: TurnUnfinished}
	}
	if s.settings(ctx).MaskPersonal {
		v.Comment = Mask(v.Comment, "")
	}
	err = s.DB.InTx(ctx, func(tx *db.DB) error {
		at := db.Now()
		if err := saveVote(ctx, tx, t.ID, v, at); err != nil {
			return err
		}
		return rateRecord(ctx, tx, t.LogID, v, at)
	})
	if err != nil {
		return State{}, err
	}
	if s.Scores != nil {
		s.Scores.Send(Score{TraceID: t.TraceID, Rating: v.Rating, Comment: v.Comment})
	}
	turns[i].Rating, turns[i].Explained = v.Rating, len(v.Reasons) > 0 || v.Comment != ""
	return s.states(turns[:i+1])[i], nil
}

// TakesFeedback reports whether answers of an agent may be rated.
func (s *Service) TakesFeedback(ctx context.Context, agent string) bool {
	a, err := config.Get[config.Agent](ctx, s.Config, agent)
	return err == nil && a.Feedback
}
