package llm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/internal/llm"
)

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Text: text} }

func says(text string, ids ...string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Text: text}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, llm.ToolCall{ID: id, Name: "f"})
	}
	return m
}

func gave(id, text string) llm.Message {
	return llm.Message{Role: llm.RoleTool, ToolCallID: id, Name: "f", Text: text}
}

// outline writes a history on one line, one word a message.
func outline(messages []llm.Message) string {
	var words []string
	for _, m := range messages {
		switch m.Role {
		case llm.RoleTool:
			words = append(words, m.ToolCallID+"="+m.Text)
		case llm.RoleAssistant:
			w := "A:" + m.Text
			for _, c := range m.ToolCalls {
				w += "(" + c.ID + ")"
			}
			words = append(words, w)
		default:
			words = append(words, strings.ToUpper(string(m.Role[:1]))+":"+m.Text)
		}
	}
	return strings.Join(words, " ")
}

func TestRepairHistory(t *testing.T) {
	for name, tt := range map[string]struct {
		in   []llm.Message
		want string
	}{
		"empty":                 {nil, ""},
		"sound":                 {[]llm.Message{user("q"), says("", "a"), gave("a", "1"), says("x")}, "U:q A:(a) a=1 A:x"},
		"stopped before result": {[]llm.Message{user("q"), says("", "a"), user("go on")}, "U:q A:(a) a=cancelled U:go on"},
		"one of two missing":    {[]llm.Message{says("", "a", "b"), gave("b", "2")}, "A:(a)(b) a=cancelled b=2"},
		"results out of order":  {[]llm.Message{says("", "a", "b"), gave("b", "2"), gave("a", "1")}, "A:(a)(b) a=1 b=2"},
		"late result":           {[]llm.Message{says("", "a"), user("go on"), gave("a", "1")}, "A:(a) a=1 U:go on"},
		"orphans":               {[]llm.Message{gave("z", "0"), user("q"), gave("y", "0")}, "U:q"},
		"result before call":    {[]llm.Message{gave("a", "0"), says("", "a")}, "A:(a) a=cancelled"},
		"result twice":          {[]llm.Message{says("", "a"), gave("a", "1"), gave("a", "2")}, "A:(a) a=1"},
		"same id in two rounds": {[]llm.Message{says("", "c"), gave("c", "1"), says("", "c"), gave("c", "2")}, "A:(c) c=1 A:(c-2) c-2=2"},
		"same id, first unanswered": {[]llm.Message{says("", "c"), says("", "c"), gave("c", "2")},
			"A:(c) c=cancelled A:(c-2) c-2=2"},
		"same id in one message": {[]llm.Message{says("", "c", "c"), gave("c", "1"), gave("c", "2")}, "A:(c)(c-2) c=1 c-2=2"},
		"silent assistant":       {[]llm.Message{user("q"), says(" "), user("r")}, "U:q U:r"},
	} {
		t.Run(name, func(t *testing.T) {
			before := outline(tt.in)
			got := llm.RepairHistory(tt.in)
			if outline(got) != tt.want {
				t.Errorf("got  %s\nwant %s", outline(got), tt.want)
			}
			if outline(tt.in) != before {
				t.Errorf("the input changed to %s", outline(tt.in))
			}
			if again := llm.RepairHistory(got); outline(again) != tt.want {
				t.Errorf("repaired twice: %s", outline(again))
			}
		})
	}
}

func FuzzRepairHistory(f *testing.F) {
	f.Add([]byte{1, 7, 4, 12, 9, 2})
	f.Fuzz(func(t *testing.T, script []byte) {
		var in []llm.Message
		for i, b := range script {
			id := fmt.Sprint(b / 4 % 3)
			switch b % 4 {
			case 0:
				in = append(in, user("u"))
			case 1:
				in = append(in, says("", id))
			case 2:
				in = append(in, says("", id, fmt.Sprint(i%3)))
			case 3:
				in = append(in, gave(id, "r"))
			}
		}
		out := llm.RepairHistory(in)
		seen := map[string]bool{}
		for i := 0; i < len(out); i++ {
			if out[i].Role == llm.RoleTool {
				t.Fatalf("result without call in %s", outline(out))
			}
			calls := out[i].ToolCalls
			for _, c := range calls {
				i++
				if i == len(out) || out[i].Role != llm.RoleTool || out[i].ToolCallID != c.ID || seen[c.ID] {
					t.Fatalf("call %s is not answered once in %s", c.ID, outline(out))
				}
				seen[c.ID] = true
			}
		}
		if !slices.EqualFunc(out, llm.RepairHistory(out), func(a, b llm.Message) bool { return outline([]llm.Message{a}) == outline([]llm.Message{b}) }) {
			t.Fatalf("not stable: %s", outline(out))
		}
	})
}
