package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"docent/internal/account"
	"docent/internal/content"
)

// ListLimit is how many entities a listing tool names at most.
const ListLimit = 50

// A Row is an entity that a listing tool names. Without Content it is told by its
// label and its fields.
type Row struct {
	EntityType string            `json:"entity_type"`
	EntityID   string            `json:"entity_id"`
	Lang       string            `json:"langcode,omitempty"`
	Content    string            `json:"content,omitempty"`
	Fields     map[string]string `json:"fields,omitempty"`
}

// listArguments are what a model may ask of content_list.
type listArguments struct {
	Type   string            `json:"type"`
	Term   string            `json:"term"`
	After  string            `json:"after"`
	Before string            `json:"before"`
	Fields map[string]string `json:"fields"`
	Order  string            `json:"order"`
	Limit  int               `json:"limit"`
}

// ContentListName is what models call the listing tool.
const ContentListName = "content_list"

// ContentList lists all published entities that pass filters, as an account may
// see them. Unlike a search it is complete, up to [ListLimit].
func ContentList(store *content.Store, who account.Account, lang string, within func(bundle, lang string) bool) Tool {
	return Tool{
		Name:  ContentListName,
		Label: "List content",
		Description: "Lists all pages that pass the filters, complete and in order, as numbered sources. Use it for questions about how many " +
			"or which ones, such as all events in May, where a search would find only some.",
		Class: Read,
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"type":{"type":"string","description":"Machine name of a content type, such as article"},` +
			`"term":{"type":"string","description":"A topic, by its name or id"},` +
			`"after":{"type":"string","description":"Only pages dated on this day or later, YYYY-MM-DD"},` +
			`"before":{"type":"string","description":"Only pages dated before this day, YYYY-MM-DD"},` +
			`"fields":{"type":"object","additionalProperties":{"type":"string"},"description":"Values that named fields must hold"},` +
			`"order":{"type":"string","enum":["title","newest"]},` +
			`"limit":{"type":"integer","minimum":1,"maximum":50}},"additionalProperties":false}`),
		Run: func(ctx context.Context, args json.RawMessage) (Result, error) {
			var in listArguments
			if err := Decode(args, &in); err != nil {
				return Result{}, err
			}
			return list(ctx, store, who, lang, within, in)
		},
	}
}

func list(ctx context.Context, store *content.Store, who account.Account, lang string, within func(bundle, lang string) bool, in listArguments) (Result, error) {
	after, err := day("after", in.After)
	if err != nil {
		return Result{}, err
	}
	before, err := day("before", in.Before)
	if err != nil {
		return Result{}, err
	}
	f := content.Filter{Type: content.TypeNode, Bundle: in.Type, State: content.Published, Order: content.ByTitle, Limit: 200}
	if in.Order == "newest" {
		f.Order = content.ByDate
	}
	term := ""
	if in.Term != "" {
		id, name, err := findTerm(ctx, store, who, lang, in.Term)
		if err != nil {
			return Result{}, err
		}
		if id == "" {
			return Result{Text: fmt.Sprintf("There is no topic named %q.", in.Term)}, nil
		}
		f.TermID, term = id, name
	}
	limit := ListLimit
	if in.Limit > 0 {
		limit = min(in.Limit, ListLimit)
	}
	var rows []Row
	total, seen := 0, map[string]bool{}
	for {
		items, all, err := store.List(ctx, who, f)
		if err != nil {
			return Result{}, fmt.Errorf("list content: %w", err)
		}
		for _, it := range items {
			if !it.Published || it.State != content.Published || it.OutOfAnswers || !within(it.Bundle, it.Lang) ||
				!in.passes(it, after, before) {
				continue
			}
			// Every entity once, in the visitor's language where it has that.
			if seen[it.ID] || it.Lang != lang && slices.Contains(it.Languages, lang) {
				continue
			}
			seen[it.ID] = true
			if total++; len(rows) < limit {
				rows = append(rows, rowOf(it))
			}
		}
		if f.Offset += len(items); len(items) == 0 || f.Offset >= all || f.Offset >= 10_000 {
			break
		}
	}
	return Result{Text: in.summary(term, total, len(rows)), Output: rows}, nil
}

func (in listArguments) passes(it content.Item, after, before time.Time) bool {
	if !after.IsZero() && (it.Date.IsZero() || it.Date.Before(after)) || !before.IsZero() && (it.Date.IsZero() || !it.Date.Before(before)) {
		return false
	}
	for name, want := range in.Fields {
		if !holds(it.Fields, name, want) {
			return false
		}
	}
	return true
}

// holds reports whether a field has a value, or one among its values, that reads
// like want.
func holds(f content.Fields, name, want string) bool {
	same := func(v any) bool { return strings.EqualFold(strings.TrimSpace(fmt.Sprint(v)), strings.TrimSpace(want)) }
	switch v := f[name].(type) {
	case nil:
		return false
	case []any:
		return slices.ContainsFunc(v, same)
	case []string:
		return slices.ContainsFunc(v, func(s string) bool { return same(s) })
	case map[string]any: // text with a format, a link with a title
		return same(f.Text(name))
	default:
		return same(v)
	}
}

// rowOf names an entity with the values that tell it from another of its name: short
// ones, of any field but the text.
func rowOf(it content.Item) Row {
	r := Row{EntityType: it.Type, EntityID: it.ID, Lang: it.Lang, Fields: map[string]string{"type": it.Bundle}}
	if !it.Date.IsZero() {
		r.Fields["date"] = it.Date.Format(time.DateOnly)
	}
	for name, v := range it.Fields {
		if name == content.FieldBody || name == content.FieldTopics {
			continue
		}
		text := ""
		switch v := v.(type) {
		case string, map[string]any:
			text = it.Fields.Text(name)
		case bool, float64, int, int64, json.Number:
			text = fmt.Sprint(v)
		}
		if text = strings.Join(strings.Fields(text), " "); text != "" && len(text) <= 300 {
			r.Fields[name] = text
		}
	}
	return r
}

func (in listArguments) summary(term string, total, shown int) string {
	what := "pages"
	if in.Type != "" {
		what = "pages of the type " + in.Type
	}
	if term != "" {
		what += " on " + term
	}
	if in.After != "" {
		what += " from " + in.After
	}
	if in.Before != "" {
		what += " before " + in.Before
	}
	for _, name := range slices.Sorted(maps.Keys(in.Fields)) {
		what += fmt.Sprintf(" with %s %q", name, in.Fields[name])
	}
	switch {
	case total == 0:
		return "There are no " + what + "."
	case shown < total:
		return fmt.Sprintf("There are %d %s; the first %d are listed. Narrow the filters to see others.", total, what, shown)
	}
	return fmt.Sprintf("There are %d %s; all are listed.", total, what)
}

// findTerm finds a term by its id or its name.
func findTerm(ctx context.Context, store *content.Store, who account.Account, lang, name string) (id, title string, err error) {
	for _, l := range []string{lang, ""} {
		terms, _, err := store.List(ctx, who, content.Filter{Type: content.TypeTerm, Lang: l, Limit: 1000})
		if err != nil {
			return "", "", fmt.Errorf("list terms: %w", err)
		}
		for _, t := range terms {
			if t.ID == name || strings.EqualFold(t.Title, strings.TrimSpace(name)) {
				return t.ID, t.Title, nil
			}
		}
	}
	return "", "", nil
}

func day(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, &ArgumentError{Reason: field + " must be a day like 2026-05-31"}
	}
	return t, nil
}
