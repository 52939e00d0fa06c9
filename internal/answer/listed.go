package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"docent/internal/content"
	"docent/internal/tool"
)

// list adds what a listing tool names to the turn's sources: all of it, whatever
// it scores, as one line each.
func (r *run) list(ctx context.Context, output any) ([]int, error) {
	rows, err := listedRows(output)
	if err != nil {
		return nil, err
	}
	rows = rows[:min(len(rows), tool.ListLimit)]
	found := map[content.Ref]string{}
	for _, row := range rows {
		found[content.Ref{Type: row.EntityType, ID: row.EntityID}] = row.Lang
	}
	items, err := r.load(ctx, found)
	if err != nil {
		return nil, err
	}
	sources := slices.Clone(r.turn.Sources)
	var touched []int
	for _, row := range rows {
		item, ok := items[content.Ref{Type: row.EntityType, ID: row.EntityID}]
		if !ok {
			continue
		}
		i := slices.IndexFunc(sources, func(s Source) bool { return s.Key == keyOf(item.Ref) })
		if i < 0 {
			s := r.source(ctx, item, len(sources)+1)
			s.Passage = rowLine(item, row)
			s.Passages = Passages{{Text: s.Passage, Start: -1}}
			s.FoundLang, s.FoundPath, s.Score = item.Lang, address(item.Path, item.Origin), 1
			sources = append(sources, s)
			i = len(sources) - 1
		}
		if n := sources[i].Number; !slices.Contains(touched, n) {
			touched = append(touched, n)
		}
	}
	r.turn.Sources = sources
	r.retrieved = true
	return touched, nil
}

// listedRows reads the output of a listing tool, in either of two shapes: rows, or
// entities in outputs.results with the reference under _metadata.
func listedRows(output any) ([]tool.Row, error) {
	data, err := json.Marshal(output)
	if err != nil {
		return nil, fmt.Errorf("output of a listing tool: %w", err)
	}
	var rows []tool.Row
	if json.Unmarshal(data, &rows) == nil {
		return withReference(rows), nil
	}
	var wrapped struct {
		Results []tool.Row `json:"results"`
		Outputs struct {
			Results []map[string]any `json:"results"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal(data, &wrapped); err != nil {
		return nil, fmt.Errorf("output of a listing tool: %w", err)
	}
	rows = wrapped.Results
	for _, entity := range wrapped.Outputs.Results {
		about, _ := entity["_metadata"].(map[string]any)
		row := tool.Row{Fields: map[string]string{}}
		row.EntityType, _ = about["type"].(string)
		row.EntityID = fieldText(about["id"])
		row.Lang, _ = about["langcode"].(string)
		for name, v := range entity {
			if text := fieldText(v); text != "" && !strings.HasPrefix(name, "_") {
				row.Fields[name] = text
			}
		}
		rows = append(rows, row)
	}
	return withReference(rows), nil
}

func withReference(rows []tool.Row) []tool.Row {
	return slices.DeleteFunc(rows, func(r tool.Row) bool { return r.EntityType == "" || r.EntityID == "" })
}

// fieldText is a simple value as text, "" for others.
func fieldText(v any) string {
	switch v := v.(type) {
	case string:
		return strings.Join(strings.Fields(v), " ")
	case float64, bool:
		return fmt.Sprint(v)
	case []any:
		var parts []string
		for _, x := range v {
			if text := fieldText(x); text != "" {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, ", ")
	}
	return ""
}

// rowLine is a listed entity in one line: what it says, or its label with the
// values that tell it from others of that name.
func rowLine(item content.Item, row tool.Row) string {
	if text := strings.Join(strings.Fields(row.Content), " "); text != "" {
		return text
	}
	var names, parts []string
	for name, value := range row.Fields {
		if value = strings.TrimSpace(value); value != "" && value != item.Title {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		parts = append(parts, name+": "+row.Fields[name])
	}
	if len(parts) == 0 {
		return item.Title
	}
	return item.Title + " (" + strings.Join(parts, "; ") + ")"
}
