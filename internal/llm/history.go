package llm

import (
	"slices"
	"strconv"
	"strings"
)

// cancelledResult stands in for the result of a call that never got one.
const cancelledResult = "cancelled"

// RepairHistory returns messages in the shape every server accepts: each tool
// call is followed at once by exactly one result, in the order of the calls.
// Missing results become `cancelled`, results without a call and repeated ones
// are removed, ids that occur twice are made unique, and assistant messages
// that say nothing are left out. The input is not changed.
func RepairHistory(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	used := make([]bool, len(messages))
	ids := map[string]int{}
	for i, m := range messages {
		switch {
		case m.Role == RoleTool:
			continue
		case m.Role != RoleAssistant:
			out = append(out, m)
			continue
		case len(m.ToolCalls) == 0:
			if strings.TrimSpace(m.Text) != "" {
				out = append(out, m)
			}
			continue
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		results := make([]Message, len(m.ToolCalls))
		for c := range m.ToolCalls {
			call := &m.ToolCalls[c]
			results[c] = Message{Role: RoleTool, Text: cancelledResult, Name: call.Name}
			if r := findResult(messages, used, i, call.ID); r >= 0 {
				used[r] = true
				results[c].Text = messages[r].Text
			}
			ids[call.ID]++
			if n := ids[call.ID]; n > 1 {
				call.ID += "-" + strconv.Itoa(n)
			}
			results[c].ToolCallID = call.ID
		}
		out = append(append(out, m), results...)
	}
	return out
}

// findResult is the index of the first unused result of a call made in message
// at, or -1. It stops where a later message makes a call with the same id.
func findResult(messages []Message, used []bool, at int, id string) int {
	for i := at + 1; i < len(messages); i++ {
		m := messages[i]
		if m.Role == RoleTool && m.ToolCallID == id && !used[i] {
			return i
		}
		if slices.ContainsFunc(m.ToolCalls, func(c ToolCall) bool { return c.ID == id }) {
			break
		}
	}
	return -1
}
