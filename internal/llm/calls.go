package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
)

// callBuilder puts tool calls together from the fragments of a stream.
type callBuilder struct {
	calls []*partialCall
}

type partialCall struct {
	index     *int
	id, name  string
	arguments []byte
	extra     json.RawMessage
}

// add takes one fragment. An unknown id or index starts a call; a fragment
// without either continues the last one. Servers that number every call 0 are
// told apart by their ids, servers that send no ids by a new name after complete
// arguments.
func (b *callBuilder) add(f callFragment) {
	c := b.find(f)
	if c == nil {
		c = &partialCall{index: f.Index, id: f.ID}
		b.calls = append(b.calls, c)
	}
	if c.id == "" {
		c.id = f.ID
	}
	if c.name == "" {
		c.name = f.Function.Name
	}
	if len(f.Extra) > 0 {
		c.extra = f.Extra
	}
	var text string
	switch raw := bytes.TrimSpace(f.Function.Arguments); {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '"' && json.Unmarshal(raw, &text) == nil:
		c.arguments = append(c.arguments, text...)
	default:
		c.arguments = append(c.arguments, raw...)
	}
}

func (b *callBuilder) find(f callFragment) *partialCall {
	for i := len(b.calls) - 1; i >= 0; i-- {
		c := b.calls[i]
		switch {
		case f.Index != nil && c.index != nil:
			if *f.Index != *c.index {
				continue
			}
		case f.ID != "" && c.id != "":
			if f.ID != c.id {
				continue
			}
			return c
		case i != len(b.calls)-1:
			continue
		}
		if startsAnother(c, f) {
			return nil
		}
		return c
	}
	return nil
}

// startsAnother tells whether f, which seems to belong to c by place, opens a
// call of its own.
func startsAnother(c *partialCall, f callFragment) bool {
	if f.ID != "" && c.id != "" && f.ID != c.id {
		return f.Function.Name != ""
	}
	return f.ID == "" && f.Function.Name != "" && c.name != "" &&
		(f.Function.Name != c.name || json.Valid(c.arguments)) && f.Index == nil
}

// size is how many bytes of arguments were gathered.
func (b *callBuilder) size() int {
	n := 0
	for _, c := range b.calls {
		n += len(c.arguments)
	}
	return n
}

// finished returns the calls under ids of our own. Calls without a name cannot
// be run or sent back and are dropped.
func (b *callBuilder) finished() []ToolCall {
	var calls []ToolCall
	for _, c := range b.calls {
		if c.name == "" {
			continue
		}
		calls = append(calls, ToolCall{ID: NewCallID(), ProviderID: c.id, Name: c.name,
			Arguments: decodeArguments(string(c.arguments)), Extra: c.extra})
	}
	return calls
}

// NewCallID returns an id for a tool call that no other call has.
func NewCallID() string { return "call_" + rand.Text() }
