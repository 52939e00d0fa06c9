package llm_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"docent/internal/llm"
	"docent/internal/llm/llmtest"
)

const secret = "sk-test-0123456789"

// result is everything one generation gave.
type result struct {
	text   string
	calls  []llm.ToolCall
	usage  *llm.Usage
	finish llm.Finish
	err    *llm.Error
}

func collect(t *testing.T, ctx context.Context, g llm.Generator, r llm.Request) result {
	t.Helper()
	var out result
	for e, err := range g.Generate(ctx, r) {
		if err != nil {
			if !errors.As(err, &out.err) {
				t.Fatalf("error of type %T: %v", err, err)
			}
			continue
		}
		set := 0
		if e.Text != "" {
			set++
			out.text += e.Text
		}
		if e.ToolCall != nil {
			set++
			out.calls = append(out.calls, *e.ToolCall)
		}
		if e.Usage != nil {
			set++
			out.usage = e.Usage
		}
		if e.Finish != "" {
			set++
			out.finish = e.Finish
		}
		if set != 1 {
			t.Errorf("event with %d fields set: %+v", set, e)
		}
	}
	if (out.err == nil) == (out.finish == "") {
		t.Errorf("want either a finish or an error, got %q and %v", out.finish, out.err)
	}
	return out
}

// newModel returns a model of a fake server, and the log it writes.
func newModel(t *testing.T, opt llm.OpenAIOptions, replies ...llmtest.Reply) (*llm.OpenAI, *llmtest.FakeOpenAI, *bytes.Buffer) {
	t.Helper()
	fake := llmtest.NewFakeOpenAI(replies...)
	t.Cleanup(fake.Close)
	var log bytes.Buffer
	opt.BaseURL, opt.Model, opt.Key, opt.RetryDelay = fake.URL, "test-model", secret, time.Millisecond
	opt.Log = slog.New(slog.NewTextHandler(&log, nil))
	model, err := llm.NewOpenAI(opt)
	if err != nil {
		t.Fatal(err)
	}
	return model, fake, &log
}

func data(s string) string { return "data: " + s + "\n\n" }

func delta(s string) string { return data(`{"choices":[{"index":0,"delta":` + s + `}]}`) }

func finish(reason string) string {
	return data(`{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`)
}

const done = "data: [DONE]\n\n"

var hello = llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}}

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(s))
	z.Close()
	return b.String()
}

// TestOpenAIStreams feeds streams as servers are known to write them. Each was put
// together from the public report or documentation named beside it.
func TestOpenAIStreams(t *testing.T) {
	type call struct{ name, arguments, provider string }
	long := strings.Repeat("x", 300<<10)
	tests := []struct {
		name    string
		source  string
		replies []llmtest.Reply
		text    string
		calls   []call
		usage   *llm.Usage
		finish  llm.Finish
		kind    llm.ErrorKind
		asked   int // requests made, default 1
	}{
		{name: "plain", source: "OpenAI API reference, chat completion chunk object",
			replies: []llmtest.Reply{llmtest.Stream("Hel", "lo")},
			text:    "Hello", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop},
		{name: "tool call in fragments", source: "OpenAI API reference, function calling with streams",
			replies: []llmtest.Reply{llmtest.StreamCall("search", `{"query":"dap"}`)},
			calls:   []call{{"search", `{"query":"dap"}`, "call_0"}}, finish: llm.FinishToolCalls},
		{name: "comments, CRLF, no space after the colon, event names", source: "OpenRouter docs, streaming: ': OPENROUTER PROCESSING' comments; WHATWG event streams",
			replies: []llmtest.Reply{llmtest.Raw(": OPENROUTER PROCESSING\r\n\r\n", "event: message\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n\r\n",
				": ping\r\n", "id: 7\r\ndata:  {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\r\n\r\n", "data:[DONE]\r\n\r\n")},
			text: "ab", finish: llm.FinishStop},
		{name: "no [DONE]", source: "several gateways end the stream after finish_reason",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"a"}`), finish("stop"))},
			text:    "a", finish: llm.FinishStop},
		{name: "no finish_reason but [DONE]", source: "older llama.cpp servers",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"a"}`), done)},
			text:    "a", finish: llm.FinishStop},
		{name: "no blank lines between events", source: "local servers that end events with one newline",
			replies: []llmtest.Reply{llmtest.Raw(`data: {"choices":[{"delta":{"content":"a"}}]}`+"\n"+`data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`+"\n", "data: [DONE]\n")},
			text:    "ab", finish: llm.FinishStop},
		{name: "one payload over two data lines", source: "WHATWG event streams, data lines are joined",
			replies: []llmtest.Reply{llmtest.Raw("data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n")},
			text:    "a", finish: llm.FinishStop},
		{name: "runes split over reads, byte order mark", source: "TCP knows no runes",
			replies: []llmtest.Reply{llmtest.Raw("\xEF\xBB\xBFdata: {\"choices\":[{\"delta\":{\"content\":\"caf\xC3", "\xA9 \xF0\x9F", "\x98\x80\"},\"finish_reason\":\"stop\"}]}\n\n")},
			text:    "café 😀", finish: llm.FinishStop},
		{name: "deltas without index", source: "openai/openai-python PR 3246, SamSaffron/term-llm PR 314",
			replies: []llmtest.Reply{llmtest.Raw(
				delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`),
				delta(`{"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{\"y\""}}]}`),
				delta(`{"tool_calls":[{"function":{"arguments":":2}"}}]}`), finish("tool_calls"))},
			calls: []call{{"f", `{"x":1}`, "a"}, {"g", `{"y":2}`, "b"}}, finish: llm.FinishToolCalls},
		{name: "every call has index 0", source: "Gemini's OpenAI endpoint, parallel calls",
			replies: []llmtest.Reply{llmtest.Raw(
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"f","arguments":"{}"}}]}`), finish("stop"))},
			calls: []call{{"f", `{}`, "a"}, {"f", `{}`, "b"}}, finish: llm.FinishToolCalls},
		{name: "parallel calls interleaved by index", source: "OpenAI API reference, parallel tool calls",
			replies: []llmtest.Reply{llmtest.Raw(
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}`),
				delta(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"y\":"}}]}`),
				delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}`),
				delta(`{"tool_calls":[{"index":1,"function":{"arguments":"2}"}}]}`), finish("tool_calls"))},
			calls: []call{{"f", `{"x":1}`, "a"}, {"g", `{"y":2}`, "b"}}, finish: llm.FinishToolCalls},
		{name: "a new id in every fragment", source: "proxies that mint an id per chunk",
			replies: []llmtest.Reply{llmtest.Raw(
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`),
				delta(`{"tool_calls":[{"index":0,"id":"a2","function":{"arguments":":1}"}}]}`), finish("tool_calls"))},
			calls: []call{{"f", `{"x":1}`, "a"}}, finish: llm.FinishToolCalls},
		{name: "calls without ids", source: "Ollama before ids were added",
			replies: []llmtest.Reply{llmtest.Raw(
				delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`),
				delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`), finish("stop"))},
			calls: []call{{"f", `{}`, ""}, {"f", `{}`, ""}}, finish: llm.FinishToolCalls},
		{name: "empty, blank and absent arguments", source: "vercel/ai 6687 and 2103, brave/brave-browser 56601",
			replies: []llmtest.Reply{llmtest.Raw(
				delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}`),
				delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":" "}}]}`),
				delta(`{"tool_calls":[{"index":2,"id":"c","function":{"name":"f"}}]}`),
				delta(`{"tool_calls":[{"index":3,"id":"d","function":{"name":"f","arguments":null}}]}`), finish("tool_calls"))},
			calls: []call{{"f", `{}`, "a"}, {"f", `{}`, "b"}, {"f", `{}`, "c"}, {"f", `{}`, "d"}}, finish: llm.FinishToolCalls},
		{name: "arguments as an object", source: "Ollama's native format behind compatible proxies",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}}]}`), finish("tool_calls"))},
			calls:   []call{{"f", `{"x":1}`, "a"}}, finish: llm.FinishToolCalls},
		{name: "arguments that are not JSON", source: "small local models",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{x:1"}}]}`), finish("tool_calls"))},
			calls:   []call{{"f", `"{x:1"`, "a"}}, finish: llm.FinishToolCalls},
		{name: "call cut by the length limit", source: "jin-bo/agentao PR 125, Hal0ai/hal0 1598",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"Saving."}`), delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"body\":\"Hello\""}}]}`), finish("length"), done)},
			text:    "Saving.", finish: llm.FinishLength},
		{name: "text cut by the length limit", source: "LibreChat 3465",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"The rest is"}`), finish("length"), done)},
			text:    "The rest is", finish: llm.FinishLength},
		{name: "call without a name", source: "small local models",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"x"}`), delta(`{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]}`), finish("tool_calls"))},
			text:    "x", finish: llm.FinishStop},
		{name: "nothing but reasoning, then an answer", source: "openai/openai-agents-python 4510",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"reasoning_content":"Hmm"}`), finish("length"), done), llmtest.Stream("Yes")},
			text:    "Yes", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop, asked: 2},
		{name: "nothing but reasoning twice", source: "wippyai/framework PR 115",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"reasoning":"Hmm"}`), finish("stop"), done), llmtest.Raw(delta(`{"content":" \n"}`), finish("stop"), done)},
			finish:  llm.FinishEmpty, asked: 2},
		{name: "reasoning inside the text", source: "DeepSeek R1 and Qwen under Ollama and llama.cpp",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"\n<thi"}`), delta(`{"content":"nk>Hm <b>"}`), delta(`{"content":"m</th"}`), delta(`{"content":"ink>\n\nThe answer <think> stays"}`), finish("stop"))},
			text:    "The answer <think> stays", finish: llm.FinishStop},
		{name: "text that only begins like reasoning", source: "the case next to the one above",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"<thi"}`), finish("stop"))},
			text:    "<thi", finish: llm.FinishStop},
		{name: "content as parts", source: "Mistral docs, reasoning: content chunks of type thinking and text",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Yes"}]}`), delta(`{"content":["."]}`), finish("stop"))},
			text:    "Yes.", finish: llm.FinishStop},
		{name: "usage in a chunk without choices, null usage before", source: "OpenAI API reference, stream_options.include_usage",
			replies: []llmtest.Reply{llmtest.Raw(data(`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null}`), data(`{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`), done)},
			text:    "a", usage: &llm.Usage{PromptTokens: 3, CompletionTokens: 1}, finish: llm.FinishStop},
		{name: "whole answer instead of a stream", source: "gateways that ignore stream: true",
			replies: []llmtest.Reply{{Header: http.Header{"Content-Type": {"application/json"}}, Pieces: []string{
				"\n{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Hi\",\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",",
				"\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n"}}},
			text: "Hi", calls: []call{{"f", `{}`, "a"}}, usage: &llm.Usage{PromptTokens: 3, CompletionTokens: 1}, finish: llm.FinishToolCalls},
		{name: "gzip although identity was asked for", source: "reverse proxies that always compress",
			replies: []llmtest.Reply{{Header: http.Header{"Content-Encoding": {"gzip"}}, Pieces: []string{gzipped(delta(`{"content":"zip"}`) + finish("stop") + done)}}},
			text:    "zip", finish: llm.FinishStop},
		{name: "content filter", source: "Azure OpenAI docs, content filtering with streams; the first chunk has no choices",
			replies: []llmtest.Reply{llmtest.Raw(data(`{"choices":[],"prompt_filter_results":[]}`), delta(`{"content":"So"}`), finish("content_filter"), done)},
			text:    "So", finish: llm.FinishContentFilter},
		{name: "long lines", source: "whole tool results echoed by gateways",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"`+long+`"}`), finish("stop"))},
			text:    long, finish: llm.FinishStop},
		{name: "endless line", source: "a broken or hostile server",
			replies: []llmtest.Reply{llmtest.Raw("data: " + strings.Repeat(long, 5)), llmtest.Stream("ok")},
			text:    "ok", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop, asked: 2},

		{name: "error object first, then it works", source: "QuantumNous/new-api 6643, aden-hive/hive PR 7091",
			replies: []llmtest.Reply{llmtest.Raw(data(`{"error":{"code":"rate_limit_exceeded","message":"slow down"}}`)), llmtest.Stream("ok")},
			text:    "ok", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop, asked: 2},
		{name: "error object after output", source: "tinyhumansai/openhuman PR 4909",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"So far"}`), data(`{"error":{"code":"rate_limit_exceeded","message":"Please try again in 1.5s"}}`), done)},
			text:    "So far", kind: llm.KindRateLimited},
		{name: "error with a numeric code and finish_reason error", source: "OpenRouter docs, errors in mid-stream",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"So"}`), data(`{"error":{"code":502,"message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`))},
			text:    "So", kind: llm.KindUnavailable},
		{name: "error as a string", source: "Ollama's error format",
			replies: []llmtest.Reply{llmtest.Refuse(404, `{"error":"model 'x' not found"}`)}, kind: llm.KindInvalid},
		{name: "error wrapped in a list", source: "Gemini's OpenAI endpoint",
			replies: []llmtest.Reply{llmtest.Refuse(400, `[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT"}}]`)}, kind: llm.KindInvalid},
		{name: "object error in the stream", source: "vLLM's ErrorResponse",
			replies: []llmtest.Reply{llmtest.Raw(data(`{"object":"error","message":"maximum context length is 4096 tokens","type":"BadRequestError","code":400}`))}, kind: llm.KindTooLong},
		{name: "429 then 503 then it works", source: "OpenAI docs, error codes",
			replies: []llmtest.Reply{llmtest.Refuse(429, `{"error":{"message":"slow"}}`), llmtest.Refuse(503, `overloaded`), llmtest.Stream("ok")},
			text:    "ok", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop, asked: 3},
		{name: "429 for ever", source: "OpenAI docs, error codes",
			replies: []llmtest.Reply{llmtest.Refuse(429, `{}`), llmtest.Refuse(429, `{}`), llmtest.Refuse(429, `{}`)}, kind: llm.KindRateLimited, asked: 3},
		{name: "out of credit", source: "OpenAI docs, insufficient_quota is a 429 that waiting does not cure",
			replies: []llmtest.Reply{llmtest.Refuse(429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`)}, kind: llm.KindQuota},
		{name: "wrong key", source: "OpenAI docs, invalid_api_key",
			replies: []llmtest.Reply{llmtest.Refuse(401, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: `+secret+`"}}`)}, kind: llm.KindUnauthorized},
		{name: "prompt too long", source: "OpenAI docs, context_length_exceeded",
			replies: []llmtest.Reply{llmtest.Refuse(400, `{"error":{"code":"context_length_exceeded","message":"reduce"}}`)}, kind: llm.KindTooLong},
		{name: "max_tokens refused", source: "OpenAI docs, reasoning models want max_completion_tokens",
			replies: []llmtest.Reply{llmtest.Refuse(400, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}}`), llmtest.Stream("ok")},
			text:    "ok", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop, asked: 2},
		{name: "not JSON", source: "a proxy's page in the middle of a stream",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"So"}`), "data: upstream gone\n\n")},
			text:    "So", kind: llm.KindUnavailable},
		{name: "an HTML page with status 200", source: "captive portals and login proxies",
			replies: []llmtest.Reply{llmtest.Raw("<html>\nlog in\n</html>\n"), llmtest.Raw("<html>"), llmtest.Raw("<html>")}, kind: llm.KindUnavailable, asked: 3},
		{name: "ends in the middle without a reason", source: "a server that dies politely",
			replies: []llmtest.Reply{llmtest.Raw(delta(`{"content":"So"}`))},
			text:    "So", kind: llm.KindUnavailable},
		{name: "connection cut in the middle of a call", source: "earendil-works/pi 7777",
			replies: []llmtest.Reply{{Pieces: []string{delta(`{"content":"So"}`), delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}`)}, Cut: true}},
			text:    "So", kind: llm.KindUnavailable},
		{name: "connection cut before output", source: "a restarted server",
			replies: []llmtest.Reply{{Cut: true}, llmtest.Stream("ok")},
			text:    "ok", usage: &llm.Usage{PromptTokens: 12, CompletionTokens: 7}, finish: llm.FinishStop, asked: 2},
		{name: "connection cut after the finish", source: "gateways that drop instead of closing",
			replies: []llmtest.Reply{{Pieces: []string{delta(`{"content":"all"}`), finish("stop")}, Cut: true}},
			text:    "all", finish: llm.FinishStop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			model, fake, log := newModel(t, llm.OpenAIOptions{}, tt.replies...)
			got := collect(t, t.Context(), model, llm.Request{Messages: hello.Messages, MaxTokens: 100})
			if got.text != tt.text {
				t.Errorf("text %.80q, want %.80q", got.text, tt.text)
			}
			if len(got.calls) != len(tt.calls) {
				t.Fatalf("%d calls %+v, want %d", len(got.calls), got.calls, len(tt.calls))
			}
			ids := map[string]bool{}
			for i, c := range got.calls {
				if (call{c.Name, string(c.Arguments), c.ProviderID}) != tt.calls[i] {
					t.Errorf("call %d: %+v (%s), want %+v", i, c, c.Arguments, tt.calls[i])
				}
				if c.ID == "" || ids[c.ID] {
					t.Errorf("id %q is empty or used twice", c.ID)
				}
				ids[c.ID] = true
			}
			if fmt.Sprint(got.usage) != fmt.Sprint(tt.usage) {
				t.Errorf("usage %+v, want %+v", got.usage, tt.usage)
			}
			if got.finish != tt.finish {
				t.Errorf("finish %q, want %q", got.finish, tt.finish)
			}
			kind := llm.ErrorKind("")
			if got.err != nil {
				kind = got.err.Kind
			}
			if kind != tt.kind {
				t.Errorf("error %v, want kind %q", got.err, tt.kind)
			}
			if n := len(fake.Requests()); n != max(tt.asked, 1) {
				t.Errorf("%d requests, want %d", n, max(tt.asked, 1))
			}
			if strings.Contains(log.String(), secret) || got.err != nil && strings.Contains(got.err.Error(), secret) {
				t.Errorf("the key shows: %s %v", log, got.err)
			}
		})
	}
}
