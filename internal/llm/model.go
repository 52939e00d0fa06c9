// Package llm talks to language models: text in, text and tool calls out.
//
// [OpenAI] speaks the chat completions protocol that most servers offer.
// [Offline] answers without any model by quoting the sources it was given.
// Both are a [Generator], so callers never know which one they have.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Role says who speaks in a [Message].
type Role string

// The roles of the chat protocol.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of the history sent to a model.
//
// ToolCalls belongs to assistant messages. ToolCallID and Name belong to tool
// messages and name the call that Text is the result of.
type Message struct {
	Role       Role
	Text       string
	ToolCalls  []ToolCall
	ToolCallID string
	Name       string
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	// ID is minted here and unique over all rounds, because servers repeat theirs.
	ID string
	// ProviderID is the server's own id, for traces. It may be empty.
	ProviderID string
	Name       string
	// Arguments is always valid JSON and normally an object. Arguments that a
	// model wrote as broken JSON arrive as one JSON string holding that text,
	// so that validation can tell the model what was wrong.
	Arguments json.RawMessage
	// Extra is opaque data of the provider (Gemini's thought signature) that
	// has to be sent back with the call.
	Extra json.RawMessage
}

// ToolSpec offers a tool to the model. Parameters is a JSON schema of type
// object; empty means that the tool takes no arguments.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Request is one model call. MaxTokens 0 and Temperature nil leave the choice
// to the server.
type Request struct {
	Messages    []Message
	Tools       []ToolSpec
	MaxTokens   int
	Temperature *float64
}

// Usage counts tokens as the server billed them.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
}

// Finish says why a generation ended.
type Finish string

// The ways a generation ends without an error.
const (
	FinishStop          Finish = "stop"
	FinishLength        Finish = "length"         // cut by the token limit; a call being written is dropped
	FinishToolCalls     Finish = "tool_calls"     // the calls were emitted before
	FinishContentFilter Finish = "content_filter" // the provider withheld the rest
	FinishEmpty         Finish = "empty"          // neither text nor calls, also after a second try
)

// Event is one step of a generation. Exactly one field is set.
//
// Text events come as they are written, tool calls once they are complete,
// then Usage if the server tells it, and last a Finish. A generation that
// fails ends with an error instead of a Finish; what was emitted before stands.
type Event struct {
	Text     string
	ToolCall *ToolCall
	Usage    *Usage
	Finish   Finish
}

// Generator is a model.
type Generator interface {
	// Name is what operators see, such as "gpt-4.1" or "offline".
	Name() string
	// Generate runs r when it is ranged over. Leaving the loop or canceling ctx
	// stops the work at once. Errors are of type [*Error].
	Generate(ctx context.Context, r Request) iter.Seq2[Event, error]
}
