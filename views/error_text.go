package views

import "context"

// ErrorMessage is what an error page says about a status, for clients that show
// no page: message, or the status' own text when it is empty.
func ErrorMessage(ctx context.Context, status int, message string) string {
	return messageOr(message, errorText(ctx, status))
}
