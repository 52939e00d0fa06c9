package answer

import (
	"errors"
	"slices"
	"time"

	"docent/internal/content"
	"docent/internal/markdown"
)

// Errors of asking and watching. Everything else is internal.
var (
	// ErrNotFound covers conversations and turns that do not exist, have expired
	// or belong to somebody else: the three look the same from outside.
	ErrNotFound = errors.New("no such conversation")
	// ErrBusy refuses a question while the conversation's last one is being answered.
	ErrBusy = errors.New("the last question is still being answered")
)

// Reason says why a request cannot be taken.
type Reason string

// The reasons of an [InvalidError].
const (
	QuestionEmpty   Reason = "the question is empty"
	QuestionTooLong Reason = "the question is too long"
	KeyTooLong      Reason = "the idempotency key is too long"
	AgentUnknown    Reason = "there is no such agent"
	RatingUnknown   Reason = "the rating is none of the words for yes and no"
	ReasonUnknown   Reason = "the reason is none of those offered"
	CommentTooLong  Reason = "the comment is too long"
	TurnUnknown     Reason = "the turn's number must be 1 or more"
	TurnUnfinished  Reason = "the turn is still being answered"
)

// An InvalidError is a request that cannot be taken as it is.
type InvalidError struct {
	Reason Reason
	Limit  int // of what is too long
}

func (e *InvalidError) Error() string { return string(e.Reason) }

// An UnusableError says why an agent cannot answer: for administrators, visitors
// are told only that it is closed.
type UnusableError struct {
	Agent  string
	Reason string
}

func (e *UnusableError) Error() string { return "agent " + e.Agent + ": " + e.Reason }

// A LimitError refuses work that there is no room for now.
type LimitError struct {
	RetryAfter time.Duration
	Today      bool // the agent has answered all it may today
}

func (e *LimitError) Error() string {
	if e.Today {
		return "the agent has answered all it may today"
	}
	return "too many questions at once"
}

// Delivery is how the client that asked gets the answer.
type Delivery string

// The deliveries. An answer asked for whole is judged before anybody sees it; of
// a stream, what is on the page stays there.
const (
	Whole  Delivery = "whole" // also a form's page
	Stream Delivery = "stream"
)

// Status of a turn.
type Status string

// A turn starts as running and ends in exactly one of the others.
const (
	Running     Status = "running"
	Done        Status = "done"
	Stopped     Status = "stopped"     // by the visitor; partial text is kept
	Interrupted Status = "interrupted" // the process went away
	Failed      Status = "failed"      // see [Turn.Failure]
)

// Failure says why a turn failed, for people; causes are in the log.
type Failure string

// The failures. None is the empty string.
const (
	FailInternal    Failure = "internal"
	FailBusy        Failure = "model_busy"
	FailUnavailable Failure = "model_unavailable"
	FailKey         Failure = "model_refused_key"
	FailTooLong     Failure = "too_long"
	FailTimeout     Failure = "timeout"
)

// Phase is what a running turn is at.
type Phase string

// The phases, in order; a tool call leads back to searching.
const (
	Searching Phase = "searching"
	Reading   Phase = "reading"
	Writing   Phase = "writing"
)

// A Conversation is a visitor's thread of questions.
type Conversation struct {
	ID        string    `db:"id"`
	Agent     string    `db:"agent"`
	AccountID string    `db:"account_id"` // empty: whoever knows the id may go on with it
	CreatedAt time.Time `db:"created_at"`
	ExpiresAt time.Time `db:"expires_at"`
}

// A Turn is one question with its answer.
type Turn struct {
	ID             string      `db:"id"`
	ConversationID string      `db:"conversation_id"`
	Agent          string      `db:"agent"`  // of its conversation
	Number         int         `db:"number"` // counts from 1 in its conversation
	Question       string      `db:"question"`
	Lang           string      `db:"lang"`
	Page           string      `db:"page"` // path of the page it was asked on, when known
	Delivery       Delivery    `db:"delivery"`
	LogID          string      `db:"log_id"`   // its [Record]
	TraceID        string      `db:"trace_id"` // W3C, for traces elsewhere
	Status         Status      `db:"status"`
	Refused        bool        `db:"refused"`     // the text is the no-answer message
	CutOff         bool        `db:"cut_off"`     // the model reached its length limit
	Text           string      `db:"text"`        // Markdown with the model's own numbers
	FinalText      string      `db:"final_text"`  // with the turn's final numbers, set at the end
	Nearest        Links       `db:"nearest"`     // refused: the pages that come nearest
	Suggestions    Suggestions `db:"suggestions"` // follow-up questions that the sources answer
	Failure        Failure     `db:"failure"`
	Model          string      `db:"model"`

	PromptTokens     int        `db:"prompt_tokens"`
	CompletionTokens int        `db:"completion_tokens"`
	CreatedAt        time.Time  `db:"created_at"`
	FinishedAt       *time.Time `db:"finished_at"`

	Sources   []Source   `db:"-"`         // by Number
	Shared    SharedLink `db:"-"`         // zero while the answer is not shared
	Rating    Rating     `db:"rating"`    // the visitor's vote so far
	Explained bool       `db:"explained"` // the vote came with reasons or a comment
}

// A Source is an entity shown to the model, with the numbers it has. In the
// model's text it is Number; in the final text of its turn it is Final; on the
// reader's list, which runs through the whole conversation, it is Running. The
// last two are 0 while nothing cites it.
type Source struct {
	Number      int    `db:"number"`
	Key         string `db:"key"` // identity on the running list
	content.Ref `db:"-"`
	Lang        string    `db:"lang"`
	Title       string    `db:"title"`
	Path        string    `db:"path"`
	Where       string    `db:"location"` // on the site: "Visit / Prices"
	External    string    `db:"external"` // address of the original, when the page only points to it
	Anchor      string    `db:"anchor"`
	Date        string    `db:"date"`       // of the page, ISO
	Passage     string    `db:"passage"`    // the best one, for people
	Passages    Passages  `db:"passages"`   // all that the model reads, in the order of the page
	FoundLang   string    `db:"found_lang"` // language of the passages, which the title need not have
	FoundPath   string    `db:"found_path"` // page of the passages
	Citations   Citations `db:"citations"`  // one for each marker in the text
	Score       float64   `db:"score"`      // 0 to 1
	Final       int       `db:"final"`
	Running     int       `db:"running"`
}

// A State is everything a watcher can see of a turn at one moment.
type State struct {
	Turn
	Phase     Phase
	Retrieved bool            // the sources are known, though there may be none
	Blocks    markdown.Blocks // the answer so far
}

// IsRunning reports whether more will follow.
func (s State) IsRunning() bool { return s.Status == Running }

// Cited returns the cited sources in the order of the turn's final numbers.
func (t Turn) Cited() []Source {
	var out []Source
	for _, s := range t.Sources {
		if s.Final > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Source) int { return a.Final - b.Final })
	return out
}
