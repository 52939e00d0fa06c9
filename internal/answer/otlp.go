package answer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"docent/internal/llm"
)

// Spans sends the trace of every run to an OpenTelemetry collector, in OTLP's JSON
// over HTTP, named as the conventions for generative AI ask. A run's spans are all
// known when it ends, so one small encoder does what the SDK would be for. Spans
// hold no text of questions, prompts or answers.
type Spans struct {
	out     *outbox
	service string
}

// NewSpans returns the sender for the settings in OpenTelemetry's own variables of
// the environment, nil when they name no endpoint or turn it off.
func NewSpans(getenv func(string) string, log *slog.Logger) (*Spans, error) {
	endpoint := getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); endpoint == "" && base != "" {
		endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if endpoint == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	if u, err := url.Parse(endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// address")
	}
	header := http.Header{}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"} {
		for pair := range strings.SplitSeq(getenv(name), ",") {
			k, v, ok := strings.Cut(pair, "=")
			if v, err := url.PathUnescape(strings.TrimSpace(v)); ok && err == nil {
				header.Set(strings.TrimSpace(k), v)
			}
		}
	}
	service := getenv("OTEL_SERVICE_NAME")
	if service == "" {
		service = "docent"
	}
	return &Spans{newOutbox("otlp", endpoint, header, log), service}, nil
}

// Close waits for what is on its way, until ctx ends.
func (s *Spans) Close(ctx context.Context) { s.out.close(ctx) }

type (
	otlpSpan struct {
		TraceID  string          `json:"traceId"`
		SpanID   string          `json:"spanId"`
		ParentID string          `json:"parentSpanId,omitempty"`
		Name     string          `json:"name"`
		Kind     int             `json:"kind"`
		Start    string          `json:"startTimeUnixNano"`
		End      string          `json:"endTimeUnixNano"`
		Attrs    []otlpAttribute `json:"attributes"`
		Status   otlpStatus      `json:"status"`
	}
	otlpStatus struct {
		Code    int    `json:"code,omitempty"` // 2: error
		Message string `json:"message,omitempty"`
	}
	otlpAttribute struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// Kinds of spans.
const (
	spanInternal = 1
	spanClient   = 3
)

// Add sends the trace of a run that has ended.
func (s *Spans) Add(r Record) {
	body, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{
		"resource":   map[string]any{"attributes": attributes("service.name", s.service)},
		"scopeSpans": []any{map[string]any{"scope": map[string]string{"name": "docent"}, "spans": spansOf(r)}},
	}}})
	if err == nil {
		s.out.send(body)
	}
}

func spansOf(r Record) []otlpSpan {
	at := func(ms int) string {
		return strconv.FormatInt(r.CreatedAt.Add(time.Duration(ms)*time.Millisecond).UnixNano(), 10)
	}
	root := otlpSpan{TraceID: r.TraceID, SpanID: spanID(r.ID, -1), Name: "invoke_agent " + r.Agent, Kind: spanInternal, Start: at(0), End: at(r.TotalMS),
		Attrs: attributes("gen_ai.operation.name", "invoke_agent", "gen_ai.provider.name", provider(r.Model), "gen_ai.agent.name", r.Agent,
			"gen_ai.request.model", r.Model, "gen_ai.usage.input_tokens", r.PromptTokens, "gen_ai.usage.output_tokens", r.CompletionTokens,
			"docent.run.id", r.ID, "docent.outcome", string(r.Outcome), "docent.sources", len(r.Sources), "docent.sources.cited", r.Cited,
			"docent.markers.dropped", r.Dropped, "docent.rounds", r.Rounds)}
	if r.Outcome == OutcomeFailed {
		root.Status = otlpStatus{Code: 2, Message: string(r.Failure)}
		root.Attrs = append(root.Attrs, attributes("error.type", string(r.Failure))...)
	}
	spans := []otlpSpan{root}
	for i, step := range r.Steps {
		x := otlpSpan{TraceID: r.TraceID, SpanID: spanID(r.ID, i), ParentID: root.SpanID, Kind: spanInternal, Start: at(step.At), End: at(step.At + step.Took)}
		if step.Kind == StepModel {
			x.Name, x.Kind = "chat "+step.Name, spanClient
			x.Attrs = attributes("gen_ai.operation.name", "chat", "gen_ai.provider.name", provider(step.Name), "gen_ai.request.model", step.Name,
				"gen_ai.usage.input_tokens", step.PromptTokens, "gen_ai.usage.output_tokens", step.CompletionTokens)
			if step.Finish != "" {
				x.Attrs = append(x.Attrs, otlpAttribute{"gen_ai.response.finish_reasons", map[string]any{
					"arrayValue": map[string]any{"values": []any{map[string]string{"stringValue": step.Finish}}}}})
			}
		} else {
			x.Name = "execute_tool " + step.Name
			x.Attrs = attributes("gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", step.Name, "gen_ai.tool.type", "function", "docent.hits", len(step.Hits))
		}
		if step.Error != "" {
			x.Status = otlpStatus{Code: 2}
			x.Attrs = append(x.Attrs, attributes("error.type", "error")...)
		}
		spans = append(spans, x)
	}
	return spans
}

// provider names who serves a model: the conventions know protocols by their makers.
func provider(model string) string {
	if model == llm.OfflineName {
		return "docent"
	}
	return "openai"
}

// spanID is the id of a run's step, the same however often it is sent.
func spanID(run string, step int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", run, step))
	return hex.EncodeToString(sum[:8])
}

// attributes takes keys and values in turn.
func attributes(pairs ...any) []otlpAttribute {
	var out []otlpAttribute
	for i := 0; i+1 < len(pairs); i += 2 {
		value := map[string]any{"stringValue": pairs[i+1]}
		if n, ok := pairs[i+1].(int); ok {
			value = map[string]any{"intValue": strconv.Itoa(n)}
		}
		out = append(out, otlpAttribute{pairs[i].(string), value})
	}
	return out
}
