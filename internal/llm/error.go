package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrorKind sorts failures by what a caller can do about them.
type ErrorKind string

// The kinds of [Error].
const (
	KindRateLimited  ErrorKind = "rate_limited" // wait RetryAfter, then ask again
	KindQuota        ErrorKind = "quota"        // the account has no credit left
	KindUnauthorized ErrorKind = "unauthorized" // the key is missing, wrong or not allowed
	KindUnavailable  ErrorKind = "unavailable"  // server or network trouble, or a broken stream
	KindInvalid      ErrorKind = "invalid"      // the server refuses this request, for example an unknown model
	KindTooLong      ErrorKind = "too_long"     // the prompt does not fit the model's context
	KindCanceled     ErrorKind = "canceled"     // the caller gave up
)

// Error is a failed generation. Its text is for operators: it names the kind
// and the HTTP status, never a key and never what the provider wrote.
type Error struct {
	Kind ErrorKind
	// Status is the HTTP status, 0 when there was none.
	Status int
	// RetryAfter is how long the provider asked to wait, 0 when it did not say.
	RetryAfter time.Duration
	// Err is the cause, nil when the status says it all.
	Err error
}

func (e *Error) Error() string {
	s := "model: " + string(e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// asError gives err its kind. The context's own end wins over whatever error
// it provoked further down.
func asError(ctx context.Context, err error) *Error {
	if cause := ctx.Err(); cause != nil {
		return &Error{Kind: KindCanceled, Err: cause}
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindUnavailable, Err: err}
}
