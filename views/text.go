package views

import (
	"context"
	"net/http"

	"docent/components"
	"docent/internal/i18n"
)

// errorTitle names a status for people.
func errorTitle(ctx context.Context, status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType:
		return i18n.T(ctx, "error.invalid")
	case http.StatusUnauthorized, http.StatusForbidden:
		return i18n.T(ctx, "error.forbidden")
	case http.StatusNotFound:
		return i18n.T(ctx, "error.missing")
	case http.StatusGone:
		return i18n.T(ctx, "error.gone")
	case http.StatusConflict:
		return i18n.T(ctx, "error.conflict")
	case http.StatusRequestEntityTooLarge:
		return i18n.T(ctx, "error.large")
	case http.StatusTooManyRequests:
		return i18n.T(ctx, "error.limit")
	case http.StatusServiceUnavailable:
		return i18n.T(ctx, "error.unavailable")
	default:
		return i18n.T(ctx, "error.server")
	}
}

// errorText says what to do about a status.
func errorText(ctx context.Context, status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType:
		return i18n.T(ctx, "error.invalid_text")
	case http.StatusUnauthorized, http.StatusForbidden:
		return i18n.T(ctx, "error.forbidden_text")
	case http.StatusNotFound:
		return i18n.T(ctx, "error.missing_text")
	case http.StatusGone:
		return i18n.T(ctx, "error.gone_text")
	case http.StatusConflict:
		return i18n.T(ctx, "error.conflict_text")
	case http.StatusRequestEntityTooLarge:
		return i18n.T(ctx, "error.large_text")
	case http.StatusTooManyRequests:
		return i18n.T(ctx, "error.limit_text")
	case http.StatusServiceUnavailable:
		return i18n.T(ctx, "error.unavailable_text")
	default:
		return i18n.T(ctx, "error.server_text")
	}
}

// errorKind is the notice for a status: waiting helps against a limit.
func errorKind(status int) components.NoticeKind {
	switch status {
	case http.StatusTooManyRequests, http.StatusConflict, http.StatusServiceUnavailable:
		return components.NoticeWait
	default:
		return components.NoticeDanger
	}
}

func messageOr(message, fallback string) string {
	if message != "" {
		return message
	}
	return fallback
}

func searchTitle(ctx context.Context, query string) string {
	if query == "" {
		return i18n.T(ctx, "search.title")
	}
	return i18n.T(ctx, "search.title_for", query)
}

func loginNotice(ctx context.Context, p LoginPage) components.NoticeProps {
	if p.Locked {
		return components.NoticeProps{Kind: components.NoticeWait, Title: i18n.T(ctx, "login.locked"), Message: p.Error, Live: true}
	}
	return components.NoticeProps{Kind: components.NoticeDanger, Title: p.Error, Message: i18n.T(ctx, "login.check"), Live: true}
}
