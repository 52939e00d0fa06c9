package answer

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"docent/internal/account"
	"docent/internal/llm"
	"docent/internal/tool"
)

// resultLimit bounds what one tool call may put before the model, in bytes.
const resultLimit = 64 << 10

const truncatedNote = "\n[The result is longer than fits here. Ask for a part of it.]"

// tools are what the agent's model may call: the search, and its listing tools.
func (r *run) tools() []tool.Tool {
	tools := []tool.Tool{r.searchTool()}
	available := append([]tool.Tool{tool.ContentList(r.s.Content, r.who, r.turn.Lang, r.index.Has)}, r.s.sourceTools(r.who, r.turn.Lang)...)
	for _, name := range r.agent.SourceTools {
		if i := slices.IndexFunc(available, func(t tool.Tool) bool { return t.Name == name }); i >= 0 && available[i].Class == tool.Read {
			tools = append(tools, r.listing(available[i]))
		}
	}
	return tools
}

func (s *Service) sourceTools(who account.Account, lang string) []tool.Tool {
	if s.SourceTools == nil {
		return nil
	}
	return s.SourceTools(who, lang)
}

// call runs one tool call. What goes wrong is told to the model, which may try again.
func (r *run) call(ctx context.Context, tools []tool.Tool, c llm.ToolCall) string {
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == c.Name })
	if i < 0 {
		names := make([]string, len(tools))
		for j, t := range tools {
			names[j] = t.Name
		}
		return "Error: there is no tool named " + c.Name + ". Use " + strings.Join(names, " or ") + "."
	}
	step := r.begin(StepTool, c.Name, string(c.Arguments))
	defer step.end()
	res, err := tools[i].Run(ctx, c.Arguments)
	if bad, ok := errors.AsType[*tool.ArgumentError](err); ok {
		step.Error = bad.Error()
		return "Error: " + bad.Error()
	}
	if err != nil {
		step.Error = err.Error()
		if ctx.Err() == nil {
			r.s.Log.Error("tool for a model", "tool", c.Name, "turn", r.turn.ID[:8], "err", err)
		}
		return "Error: the tool did not work."
	}
	step.Output = res.Text
	if len(res.Text) > resultLimit {
		return strings.ToValidUTF8(res.Text[:resultLimit], "") + truncatedNote
	}
	return res.Text
}

// searchTool lets the model look for more. The index is the agent's: no argument
// names one, so no text can redirect it.
func (r *run) searchTool() tool.Tool {
	return tool.Tool{
		Name:  "search",
		Label: "Search the site",
		Description: "Searches this site's pages and returns numbered sources to answer from. " +
			"Use it when the sources you have do not answer the question. Ask with a complete, standalone query.",
		Class: tool.Read,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
			`"description":"What to look for, in words that the pages would use"}},"required":["query"],"additionalProperties":false}`),
		Run: func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
			var in struct {
				Query string `json:"query"`
			}
			if err := tool.Decode(args, &in); err != nil {
				return tool.Result{}, err
			}
			query := strings.TrimSpace(in.Query)
			if query == "" {
				return tool.Result{}, &tool.ArgumentError{Reason: "query is empty"}
			}
			if runes := []rune(query); len(runes) > r.agent.QuestionLimit {
				query = string(runes[:r.agent.QuestionLimit])
			}
			touched, err := r.retrieve(ctx, query, "")
			if err != nil {
				return tool.Result{}, err
			}
			if len(touched) == 0 {
				return tool.Result{Text: "The search found nothing."}, nil
			}
			return tool.Result{Text: "Found:\n" + r.numbered(touched)}, nil
		},
	}
}

// listing makes a source tool's result the sources that it names, under the
// numbers they are cited by, with the tool's own summary above.
func (r *run) listing(t tool.Tool) tool.Tool {
	own := t.Run
	t.Run = func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
		res, err := own(ctx, args)
		if err != nil || res.Output == nil {
			return res, err
		}
		touched, err := r.list(ctx, res.Output)
		if err != nil {
			return res, err
		}
		summary := res.Text
		if len(summary) > resultLimit/4 {
			summary = strings.ToValidUTF8(summary[:resultLimit/4], "") + truncatedNote
		}
		if len(touched) > 0 {
			summary = strings.TrimSpace(summary + "\n\n" + r.numbered(touched))
		}
		return tool.Result{Text: summary}, nil
	}
	return t
}

// numbered are the turn's sources with the numbers, as the model reads them.
func (r *run) numbered(numbers []int) string {
	var out []Source
	for _, s := range r.turn.Sources {
		if slices.Contains(numbers, s.Number) {
			out = append(out, s)
		}
	}
	return llm.FormatSources(promptSources(out))
}
