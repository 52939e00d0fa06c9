package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

func TestOpenAIRequest(t *testing.T) {
	model, fake, _ := newModel(t, llm.OpenAIOptions{}, llmtest.Stream("ok"))
	warm := 0.25
	collect(t, t.Context(), model, llm.Request{
		MaxTokens: 50, Temperature: &warm,
		Tools: []llm.ToolSpec{{Name: "now"}, {Name: "search", Description: "Find pages.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Text: "Be brief."},
			{Role: llm.RoleUser, Text: "One"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_0", Name: "now", Arguments: json.RawMessage(`"{x"`), Extra: json.RawMessage(`{"google":{"thought_signature":"s"}}`)}}},
			{Role: llm.RoleTool, ToolCallID: "call_0", Text: "noon"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_0", Name: "now"}}},
			{Role: llm.RoleUser, Text: "Two"},
		},
	})
	got := fake.Requests()[0]
	if got.Path != "/v1/chat/completions" || got.Header.Get("Authorization") != "Bearer "+secret {
		t.Errorf("path %s, authorization %q", got.Path, got.Header.Get("Authorization"))
	}
	var body struct {
		Model         string
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		MaxTokens   int `json:"max_tokens"`
		Temperature float64
		Messages    []struct {
			Role, Content string
			ToolCallID    string `json:"tool_call_id"`
			ToolCalls     []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
				Extra    json.RawMessage `json:"extra_content"`
			} `json:"tool_calls"`
		}
		Tools []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(got.Body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Model != "test-model" || !body.Stream || !body.StreamOptions.IncludeUsage || body.MaxTokens != 50 || body.Temperature != 0.25 {
		t.Errorf("parameters: %s", got.Body)
	}
	roles := ""
	for _, m := range body.Messages {
		roles += m.Role + " "
	}
	if roles != "system user assistant tool assistant tool user " {
		t.Fatalf("roles %s", roles)
	}
	first, second := body.Messages[2].ToolCalls[0], body.Messages[4].ToolCalls[0]
	if first.ID == second.ID || len(first.ID) != 9 || first.ID != body.Messages[3].ToolCallID || second.ID != body.Messages[5].ToolCallID {
		t.Errorf("ids %q %q do not pair with %q %q", first.ID, second.ID, body.Messages[3].ToolCallID, body.Messages[5].ToolCallID)
	}
	if first.Function.Arguments != "{x" || second.Function.Arguments != "{}" || string(first.Extra) != `{"google":{"thought_signature":"s"}}` {
		t.Errorf("calls %+v %+v", first, second)
	}
	if body.Messages[3].Content != "noon" || body.Messages[5].Content != "cancelled" {
		t.Errorf("results %q %q", body.Messages[3].Content, body.Messages[5].Content)
	}
	if len(body.Tools) != 2 || string(body.Tools[0].Function.Parameters) != `{"type":"object","properties":{}}` || body.Tools[1].Function.Description != "Find pages." {
		t.Errorf("tools %+v", body.Tools)
	}
}

func TestOpenAIDropsRefusedParameters(t *testing.T) {
	model, fake, _ := newModel(t, llm.OpenAIOptions{},
		llmtest.Refuse(400, `{"error":{"message":"use max_completion_tokens"}}`),
		llmtest.Refuse(400, `{"error":{"message":"temperature does not support 0.2"}}`),
		llmtest.Refuse(422, `{"detail":"stream_options: extra fields not permitted"}`),
		llmtest.Stream("ok"), llmtest.Stream("again"))
	cool := 0.2
	for range 2 {
		if got := collect(t, t.Context(), model, llm.Request{Messages: hello.Messages, MaxTokens: 9, Temperature: &cool}); got.err != nil {
			t.Fatal(got.err)
		}
	}
	requests := fake.Requests()
	if len(requests) != 5 {
		t.Fatalf("%d requests, want 5", len(requests))
	}
	for _, r := range requests[3:] {
		if strings.Contains(r.Body, `"max_tokens"`) || strings.Contains(r.Body, "temperature") || strings.Contains(r.Body, "stream_options") ||
			!strings.Contains(r.Body, `"max_completion_tokens":9`) {
			t.Errorf("sent %s", r.Body)
		}
	}
}

func TestOpenAIEmptyAnswerGetsMoreTokens(t *testing.T) {
	model, fake, _ := newModel(t, llm.OpenAIOptions{}, llmtest.Raw(finish("length"), done), llmtest.Stream("ok"))
	collect(t, t.Context(), model, llm.Request{Messages: hello.Messages, MaxTokens: 40})
	if r := fake.Requests(); len(r) != 2 || !strings.Contains(r[1].Body, `"max_tokens":80`) {
		t.Errorf("requests %+v", r)
	}
}

func TestOpenAIRetryAfter(t *testing.T) {
	limit := func(h http.Header, body string) llmtest.Reply {
		return llmtest.Reply{Status: 429, Header: h, Pieces: []string{body}}
	}
	t.Run("waits as told", func(t *testing.T) {
		model, _, _ := newModel(t, llm.OpenAIOptions{}, limit(http.Header{"Retry-After-Ms": {"60"}}, `{}`), llmtest.Stream("ok"))
		start := time.Now()
		got := collect(t, t.Context(), model, hello)
		if got.text != "ok" || time.Since(start) < 60*time.Millisecond {
			t.Errorf("%+v after %v", got, time.Since(start))
		}
	})
	for name, tt := range map[string]struct {
		header http.Header
		body   string
		want   time.Duration
	}{
		"seconds":  {http.Header{"Retry-After": {"120"}}, `{}`, 2 * time.Minute},
		"in words": {nil, `{"error":{"message":"Rate limit reached. Please try again in 1m30.5s."}}`, 90500 * time.Millisecond},
		"field":    {nil, `{"error":{"message":"slow","retry_after":45}}`, 45 * time.Second},
		"nonsense": {http.Header{"Retry-After": {"-5"}}, `{}`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			model, fake, _ := newModel(t, llm.OpenAIOptions{Retries: -1}, limit(tt.header, tt.body))
			got := collect(t, t.Context(), model, hello)
			if got.err == nil || got.err.Kind != llm.KindRateLimited || got.err.RetryAfter != tt.want || got.err.Status != 429 {
				t.Errorf("%+v, want %v", got.err, tt.want)
			}
			if n := len(fake.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
	t.Run("too long a wait is not waited", func(t *testing.T) {
		model, fake, _ := newModel(t, llm.OpenAIOptions{}, limit(http.Header{"Retry-After": {"3600"}}, `{}`))
		if got := collect(t, t.Context(), model, hello); got.err == nil || got.err.RetryAfter != time.Hour || len(fake.Requests()) != 1 {
			t.Errorf("%+v after %d requests", got.err, len(fake.Requests()))
		}
	})
}

func TestOpenAIIdleTimeout(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	model, _, _ := newModel(t, llm.OpenAIOptions{IdleTimeout: 50 * time.Millisecond, Retries: -1},
		llmtest.Reply{Pieces: []string{delta(`{"content":"So"}`)}, Hold: hold})
	got := collect(t, t.Context(), model, hello)
	if got.text != "So" || got.err == nil || got.err.Kind != llm.KindUnavailable || !strings.Contains(got.err.Error(), "silent") {
		t.Errorf("%+v", got)
	}

	model, _, _ = newModel(t, llm.OpenAIOptions{FirstTimeout: 50 * time.Millisecond, Retries: -1}, llmtest.Reply{Hold: hold})
	if got := collect(t, t.Context(), model, hello); got.err == nil || got.err.Kind != llm.KindUnavailable {
		t.Errorf("%+v", got)
	}
}

func TestOpenAISlowReaderIsNotIdle(t *testing.T) {
	model, _, _ := newModel(t, llm.OpenAIOptions{IdleTimeout: 40 * time.Millisecond, Retries: -1}, llmtest.Stream("a", "b"))
	var text string
	for e, err := range model.Generate(t.Context(), hello) {
		if err != nil {
			t.Fatal(err)
		}
		text += e.Text
		<-time.After(60 * time.Millisecond) // the reader's time, not the server's
	}
	if text != "ab" {
		t.Errorf("text %q", text)
	}
}

func TestOpenAICancel(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	t.Run("in the stream", func(t *testing.T) {
		model, fake, _ := newModel(t, llm.OpenAIOptions{}, llmtest.Reply{Pieces: []string{delta(`{"content":"So"}`)}, Hold: hold})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for e, err := range model.Generate(ctx, hello) {
			if e.Text != "" {
				cancel()
			}
			last = err
		}
		var e *llm.Error
		if !errors.As(last, &e) || e.Kind != llm.KindCanceled || !errors.Is(last, context.Canceled) || len(fake.Requests()) != 1 {
			t.Errorf("%v", last)
		}
	})
	t.Run("before the answer", func(t *testing.T) {
		model, _, _ := newModel(t, llm.OpenAIOptions{}, llmtest.Reply{Hold: hold})
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if got := collect(t, ctx, model, hello); got.err == nil || got.err.Kind != llm.KindCanceled {
			t.Errorf("%+v", got)
		}
	})
	t.Run("while waiting to try again", func(t *testing.T) {
		model, _, _ := newModel(t, llm.OpenAIOptions{}, llmtest.Reply{Status: 429, Header: http.Header{"Retry-After": {"10"}}, Pieces: []string{`{}`}})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if got := collect(t, ctx, model, hello); got.err == nil || got.err.Kind != llm.KindCanceled {
			t.Errorf("%+v", got)
		}
	})
	t.Run("leaving the loop", func(t *testing.T) {
		gone := make(chan struct{})
		model, fake, _ := newModel(t, llm.OpenAIOptions{}, llmtest.Reply{Pieces: []string{delta(`{"content":"So"}`)}, Hold: gone})
		for range model.Generate(t.Context(), hello) {
			break
		}
		close(gone)
		if len(fake.Requests()) != 1 {
			t.Errorf("%d requests", len(fake.Requests()))
		}
	})
}

func TestNewOpenAI(t *testing.T) {
	for base, path := range map[string]string{
		"":                     "/v1/chat/completions",
		"/":                    "/v1/chat/completions",
		"/v1":                  "/v1/chat/completions",
		"/v1/":                 "/v1/chat/completions",
		"/openai/v1":           "/openai/v1/chat/completions",
		"/v1beta/openai/":      "/v1beta/openai/chat/completions",
		"/proxy":               "/proxy/v1/chat/completions",
		"/v1/chat/completions": "/v1/chat/completions",
	} {
		fake := llmtest.NewFakeOpenAI()
		defer fake.Close()
		model, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: fake.URL + base, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		got := collect(t, t.Context(), model, hello)
		if got.text != "Hello?" || fake.Requests()[0].Path != path || fake.Requests()[0].Header.Get("Authorization") != "" {
			t.Errorf("base %q: %+v, path %s", base, got, fake.Requests()[0].Path)
		}
	}
	for name, opt := range map[string]llm.OpenAIOptions{
		"no address":  {Model: "m"},
		"no scheme":   {BaseURL: "localhost:11434", Model: "m"},
		"credentials": {BaseURL: "https://user:" + secret + "@example.com", Model: "m"},
		"no model":    {BaseURL: "https://example.com"},
		"broken key":  {BaseURL: "https://example.com", Model: "m", Key: secret + "\n"},
	} {
		if _, err := llm.NewOpenAI(opt); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestOpenAIUnreachable(t *testing.T) {
	fake := llmtest.NewFakeOpenAI()
	fake.Close()
	model, err := llm.NewOpenAI(llm.OpenAIOptions{BaseURL: fake.URL + "?key=" + secret, Model: "m", RetryDelay: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	got := collect(t, t.Context(), model, hello)
	if got.err == nil || got.err.Kind != llm.KindUnavailable || strings.Contains(got.err.Error(), secret) {
		t.Errorf("%v", got.err)
	}
}
