package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"strings"
)

// The JSON of a chat completions request.
type (
	wireRequest struct {
		Model               string             `json:"model"`
		Messages            []wireMessage      `json:"messages"`
		Tools               []wireTool         `json:"tools,omitempty"`
		MaxTokens           int                `json:"max_tokens,omitempty"`
		MaxCompletionTokens int                `json:"max_completion_tokens,omitempty"`
		Temperature         *float64           `json:"temperature,omitempty"`
		Stream              bool               `json:"stream"`
		StreamOptions       *wireStreamOptions `json:"stream_options,omitempty"`
	}
	wireStreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	wireMessage struct {
		Role       Role       `json:"role"`
		Content    string     `json:"content"`
		ToolCalls  []wireCall `json:"tool_calls,omitempty"`
		ToolCallID string     `json:"tool_call_id,omitempty"`
	}
	wireCall struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
		Extra json.RawMessage `json:"extra_content,omitempty"`
	}
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters"`
	}
)

// The JSON of an answer: a chunk of a stream, or a whole answer, where
// choices hold a message instead of a delta.
type (
	wireChunk struct {
		Choices []wireChoice    `json:"choices"`
		Usage   *wireUsage      `json:"usage"`
		Error   json.RawMessage `json:"error"`
		Object  string          `json:"object"`
	}
	wireChoice struct {
		Index        int        `json:"index"`
		Delta        *wireDelta `json:"delta"`
		Message      *wireDelta `json:"message"`
		FinishReason string     `json:"finish_reason"`
	}
	wireDelta struct {
		Content   wireText       `json:"content"`
		Refusal   wireText       `json:"refusal"`
		ToolCalls []callFragment `json:"tool_calls"`
	}
	callFragment struct {
		Index    *int   `json:"index"`
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
		Extra json.RawMessage `json:"extra_content"`
	}
	wireUsage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
	}
)

// wireText is content as a string, as null, or as a list of typed parts, of
// which only text is an answer.
type wireText string

func (t *wireText) UnmarshalJSON(data []byte) error {
	switch {
	case len(data) > 0 && data[0] == '"':
		return json.Unmarshal(data, (*string)(t))
	case len(data) > 0 && data[0] == '[':
		var parts []json.RawMessage
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			var part struct{ Type, Text string }
			var plain string
			if json.Unmarshal(p, &plain) == nil {
				*t += wireText(plain)
			} else if json.Unmarshal(p, &part) == nil && (part.Type == "text" || part.Type == "output_text" || part.Type == "") {
				*t += wireText(part.Text)
			}
		}
	}
	return nil
}

// encode is the request as the server wants it, without what it is known to
// refuse. The history is repaired on the way.
func (o *OpenAI) encode(r Request, maxTokens int) ([]byte, error) {
	w := wireRequest{Model: o.model, Stream: true, Temperature: r.Temperature}
	if !o.refuses("stream_options") {
		w.StreamOptions = &wireStreamOptions{IncludeUsage: true}
	}
	if o.refuses("max_tokens") {
		w.MaxCompletionTokens = maxTokens
	} else {
		w.MaxTokens = maxTokens
	}
	if o.refuses("temperature") {
		w.Temperature = nil
	}
	for _, m := range RepairHistory(r.Messages) {
		wm := wireMessage{Role: m.Role, Content: m.Text}
		if m.Role == RoleTool {
			wm.ToolCallID = wireID(m.ToolCallID)
		}
		for _, c := range m.ToolCalls {
			wc := wireCall{ID: wireID(c.ID), Type: "function", Extra: c.Extra}
			wc.Function.Name = c.Name
			wc.Function.Arguments = argumentsText(c.Arguments)
			wm.ToolCalls = append(wm.ToolCalls, wc)
		}
		w.Messages = append(w.Messages, wm)
	}
	for _, t := range r.Tools {
		parameters := t.Parameters
		if len(bytes.TrimSpace(parameters)) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		w.Tools = append(w.Tools, wireTool{Type: "function",
			Function: wireFunction{Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	return json.Marshal(w)
}

// wireID maps our id to nine letters and digits, the only form that every
// server takes (Mistral refuses others). Equal ids map equally, so calls and
// results keep matching.
func wireID(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base32.StdEncoding.EncodeToString(sum[:])[:9]
}

// argumentsText is the inverse of [decodeArguments].
func argumentsText(arguments json.RawMessage) string {
	var broken string
	if json.Unmarshal(arguments, &broken) == nil && broken != "" {
		return broken
	}
	if len(bytes.TrimSpace(arguments)) == 0 {
		return "{}"
	}
	return string(arguments)
}

// decodeArguments is valid JSON for what a model wrote: nothing means an empty
// object, broken JSON becomes a JSON string.
func decodeArguments(text string) json.RawMessage {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "null":
		return json.RawMessage("{}")
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	broken, err := json.Marshal(text)
	if err != nil {
		return json.RawMessage("{}")
	}
	return broken
}
