package llm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// refusal is the error of a response that is not 200. It is also told whether the
// server refused an optional parameter, which later requests leave out.
func (o *OpenAI) refusal(res *http.Response, body []byte) (e *Error, adapted bool) {
	var c struct {
		Error json.RawMessage `json:"error"`
	}
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) {
		body = bytes.TrimSuffix(bytes.TrimPrefix(body, []byte("[")), []byte("]"))
	}
	if json.Unmarshal(body, &c) != nil || isNull(c.Error) {
		c.Error = body
	}
	e = o.providerError(res, c.Error, res.StatusCode)
	if e.Kind == KindInvalid {
		adapted = o.adapt(strings.ToLower(string(c.Error)))
	}
	return e, adapted
}

// adapt notes an optional parameter that text complains about.
func (o *OpenAI) adapt(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for parameter, word := range map[string]string{
		"max_tokens":     "max_completion_tokens",
		"temperature":    "temperature",
		"stream_options": "stream_options",
	} {
		if strings.Contains(text, word) && !o.refused[parameter] {
			o.refused[parameter] = true
			return true
		}
	}
	return false
}

// providerError reads an error as servers write it: an object with message, type
// and code, the code as word or number, or just text. What it says goes to the
// log; the result holds only what it means.
func (o *OpenAI) providerError(res *http.Response, raw json.RawMessage, status int) *Error {
	var p struct {
		Message    string          `json:"message"`
		Type       string          `json:"type"`
		Code       json.RawMessage `json:"code"`
		Status     string          `json:"status"`
		RetryAfter float64         `json:"retry_after"` // seconds
	}
	if json.Unmarshal(raw, &p.Message) != nil && json.Unmarshal(raw, &p) != nil {
		p.Message = string(raw)
	}
	code := strings.Trim(string(p.Code), `"`)
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 && status == 0 {
		status = n
	}
	e := &Error{
		Kind:       errorKind(status, strings.ToLower(code+" "+p.Type+" "+p.Status), strings.ToLower(p.Message)),
		Status:     status,
		RetryAfter: retryAfter(res.Header, p.RetryAfter, p.Message),
	}
	said := p.Message
	if o.key != "" {
		said = strings.ReplaceAll(said, o.key, "[key]")
	}
	o.log.Warn("model refused", "model", o.model, "kind", e.Kind, "status", status, "code", code,
		"said", strings.ToValidUTF8(said[:min(len(said), 300)], ""))
	return e
}

func errorKind(status int, code, message string) ErrorKind {
	has := func(s string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(s, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusPaymentRequired || has(code, "insufficient_quota", "billing"):
		return KindQuota
	case status == http.StatusRequestEntityTooLarge, has(code, "context_length"),
		(status == 0 || status == 400 || status == 422 || status == 500) && has(message, "context length", "maximum context",
			"context window", "context size", "prompt is too long", "too many tokens"):
		return KindTooLong
	case status == http.StatusTooManyRequests || has(code, "rate_limit", "too_many_requests", "resource_exhausted"):
		return KindRateLimited
	case status == http.StatusUnauthorized || status == http.StatusForbidden ||
		has(code, "invalid_api_key", "authentication", "permission"):
		return KindUnauthorized
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooEarly || status >= 500:
		return KindUnavailable
	case status >= 300 || has(code, "invalid_request", "not_found"):
		return KindInvalid
	}
	return KindUnavailable
}

var tryAgainIn = regexp.MustCompile(`(?i)(?:try again|retry) (?:in|after) ((?:[0-9.]+(?:ms|h|m|s))+)`)

// retryAfter is the pause asked for by header, by field or in words.
func retryAfter(h http.Header, field float64, message string) time.Duration {
	seconds := func(s float64, unit time.Duration) time.Duration {
		if s <= 0 || s > 7*24*3600*1000 {
			return 0
		}
		return time.Duration(s * float64(unit))
	}
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return seconds(ms, time.Millisecond)
	}
	if s, err := strconv.ParseFloat(h.Get("Retry-After"), 64); err == nil {
		return seconds(s, time.Second)
	}
	if t, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return max(0, time.Until(t))
	}
	if field > 0 {
		return seconds(field, time.Second)
	}
	if m := tryAgainIn.FindStringSubmatch(message); m != nil {
		if d, err := time.ParseDuration(m[1]); err == nil {
			return d
		}
	}
	return 0
}
