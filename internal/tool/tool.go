// Package tool describes what a model may call.
package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"docent/internal/llm"
)

// Class says what running a tool changes; who must approve follows from it.
type Class string

// The classes, from harmless to grave.
const (
	Read        Class = "read"        // changes nothing
	Draft       Class = "draft"       // writes what nobody but editors sees
	Live        Class = "live"        // changes what visitors see
	Destructive Class = "destructive" // cannot be taken back
)

// A Tool is something a model may call.
type Tool struct {
	Name        string // what the model calls it: [a-z_]+
	Label       string // what people see
	Description string // tells the model when and how to use it
	Class       Class
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	Run         func(ctx context.Context, args json.RawMessage) (Result, error)
}

// A Result is what a run gave: the text the model reads and, of tools that list or
// find entities, which ones.
type Result struct {
	Text   string
	Output any // as JSON: rows, as [Row] writes them or as other systems do
}

// Spec is the tool as a model's request names it.
func (t Tool) Spec() llm.ToolSpec {
	return llm.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Schema}
}

// An ArgumentError tells the model what is wrong with its arguments, so that it
// can try again.
type ArgumentError struct{ Reason string }

func (e *ArgumentError) Error() string { return "invalid arguments: " + e.Reason }

// Decode reads arguments into dest. What does not fit gives an
// [*ArgumentError].
func Decode(args json.RawMessage, dest any) error {
	if err := json.Unmarshal(args, dest); err != nil {
		return &ArgumentError{Reason: fmt.Sprintf("not the object that the schema describes (%v)", err)}
	}
	return nil
}
