package content

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

func ptr(f float64) *float64 { return &f }

// everyField is a type that has a field of every kind.
var everyField = config.ContentType{Label: "Everything", Entity: TypeNode, Workflow: true, Fields: []config.Field{
	{Name: "t", Label: "Line", Type: config.FieldText, Settings: config.FieldSettings{MaxLength: 10}},
	{Name: "ts", Label: "Lines", Type: config.FieldText, Cardinality: 2},
	{Name: "l", Label: "Story", Type: config.FieldLongText, Settings: config.FieldSettings{
		Formats: []string{config.FormatMarkdown, config.FormatPlain, config.FormatFullHTML}}},
	{Name: "b", Label: "Open", Type: config.FieldBoolean},
	{Name: "i", Label: "Seats", Type: config.FieldInteger, Settings: config.FieldSettings{Min: ptr(1), Max: ptr(200)}},
	{Name: "d", Label: "Price", Type: config.FieldDecimal, Settings: config.FieldSettings{Min: ptr(0)}},
	{Name: "day", Label: "Day", Type: config.FieldDate},
	{Name: "when", Label: "When", Type: config.FieldDateRange, Settings: config.FieldSettings{Time: true}},
	{Name: "e", Label: "Contact", Type: config.FieldEmail},
	{Name: "u", Label: "Link", Type: config.FieldLink},
	{Name: "own", Label: "Own link", Type: config.FieldLink, Settings: config.FieldSettings{Internal: true}},
	{Name: "c", Label: "Colours", Type: config.FieldList, Cardinality: config.Unlimited, Settings: config.FieldSettings{
		Choices: []config.Choice{{Value: "red", Label: "Red"}, {Value: "blue", Label: "Blue"}}}},
	{Name: "img", Label: "Picture", Type: config.FieldImage, Settings: config.FieldSettings{AltRequired: true}},
	{Name: "r", Label: "Related", Type: config.FieldReference, Cardinality: config.Unlimited, Settings: config.FieldSettings{Bundles: []string{"page"}}},
	{Name: "parts", Label: "Parts", Type: config.FieldComponents},
}}

func everyType(fields ...config.Field) *Types {
	ct := everyField
	ct.Fields = append(append([]config.Field{}, ct.Fields...), fields...)
	return NewTypes(append(config.ShippedTypes(), config.Named[config.ContentType]{Name: "every", Value: ct}),
		config.ShippedVocabularies(), config.ShippedFormats())
}

func TestValues(t *testing.T) {
	s := New(dbtest.SQLite(t), Options{Types: typesOf(everyType())})
	for _, tt := range []struct {
		name, value string // JSON
		want        string // JSON of what is kept, or
		bad         string // part of why not
	}{
		{"t", `" a "`, `"a"`, ""},
		{"t", `"a\r\nb"`, `"a\nb"`, ""},
		{"t", `"  "`, ``, ""},
		{"t", `"12345678901"`, ``, "longer than 10"},
		{"t", `"a\u0000b"`, ``, "no text"},
		{"t", `{"value": 3}`, ``, "must be text"},
		{"t", `["a", "b"]`, ``, "one value only"},
		{"ts", `"a"`, `["a"]`, ""},
		{"ts", `["a", "", "a", "b"]`, `["a","b"]`, ""},
		{"ts", `["a", "b", "c"]`, ``, "2 values at most, not 3"},
		{"ts", `["a", 3]`, ``, "(value 2)"},
		{"l", `"**x**"`, `"**x**"`, ""},
		{"l", `{"value": "x", "format": "markdown"}`, `"x"`, ""},
		{"l", `{"value": "x", "format": "plain"}`, `{"format":"plain","value":"x"}`, ""},
		{"l", `{"value": "x"}`, `"x"`, ""},
		{"l", `{"value": "", "format": "plain"}`, ``, ""},
		{"l", `{"value": "x", "format": "full_html"}`, ``, "you may not write"},
		{"l", `{"value": "x", "format": "restricted_html"}`, ``, "must not be in"},
		{"l", `{"value": "x", "format": "php"}`, ``, "unknown text format"},
		{"l", `{"value": "x", "onload": "y"}`, ``, "unknown part"},
		{"l", `7`, ``, "must be text"},
		{"b", `true`, `true`, ""},
		{"b", `false`, `false`, ""},
		{"b", `"true"`, `true`, ""},
		{"b", `"maybe"`, ``, "yes or no"},
		{"i", `3`, `3`, ""},
		{"i", `"3"`, `3`, ""},
		{"i", `3.5`, ``, "whole number"},
		{"i", `"three"`, ``, "whole number"},
		{"i", `0`, ``, "1 at least"},
		{"i", `201`, ``, "200 at most"},
		{"i", `1e300`, ``, "out of range"},
		{"d", `"12.50"`, `"12.50"`, ""},
		{"d", `0.1`, `"0.1"`, ""},
		{"d", `"12,50"`, ``, "such as 12.50"},
		{"d", `"1.234"`, ``, "2 digits"},
		{"d", `"-1"`, ``, "0 at least"},
		{"d", `"NaN"`, ``, "must be a number"},
		{"day", `"2026-02-28"`, `"2026-02-28"`, ""},
		{"day", `"2026-02-30"`, ``, "such as 2026-05-01"},
		{"day", `"2026-02-28T10:00:00Z"`, ``, "without a time"},
		{"when", `{"from": "2026-05-01T12:00:00+02:00", "to": "2026-05-01T11:00:00Z"}`, `{"from":"2026-05-01T10:00:00Z","to":"2026-05-01T11:00:00Z"}`, ""},
		{"when", `{"from": "2026-05-01"}`, `{"from":"2026-05-01"}`, ""},
		{"when", `{"from": "2026-05-02", "to": "2026-05-01"}`, ``, "ends before"},
		{"when", `{"from": "2026-05-02", "to": "2026-05-03T10:00:00Z"}`, ``, "both ends"},
		{"when", `{"to": "2026-05-01"}`, ``, "a beginning"},
		{"when", `"tomorrow"`, ``, "a date and a time"},
		{"e", `"ann@example.org"`, `"ann@example.org"`, ""},
		{"e", `"Ann <ann@example.org>"`, ``, "email address"},
		{"e", `"ann"`, ``, "email address"},
		{"u", `"https://example.org/a?b#c"`, `"https://example.org/a?b#c"`, ""},
		{"u", `{"url": "/visit/", "title": ""}`, `"/visit/"`, ""},
		{"u", `{"url": "/visit/", "title": "Visit"}`, `{"title":"Visit","url":"/visit/"}`, ""},
		{"u", `{"title": "Visit"}`, ``, "must have an address"},
		{"u", `"javascript:alert(1)"`, ``, "must be an address"},
		{"u", `" javascript:alert(1)"`, ``, "must be an address"},
		{"u", `"//evil.example"`, ``, "must be an address"},
		{"u", `"/\\evil.example"`, ``, "must be an address"},
		{"u", `"visit"`, ``, "must be an address"},
		{"own", `"https://example.org/"`, ``, "path on this site"},
		{"c", `["red", "red"]`, `["red"]`, ""},
		{"c", `"green"`, ``, "values offered"},
		{"img", `{"file": "no such", "alt": "A pond"}`, ``, "does not exist"},
		{"img", `{"file": "f"}`, ``, "cannot see"},
		{"img", `{"alt": "A pond"}`, ``, "must name a file"},
		{"r", `["nothing"]`, ``, "does not exist"},
		{"r", `[7]`, ``, "must name"},
		{"parts", `[{"type": "text", "value": "Hi"}, {"type": "block", "block": "question", "uuid": "01A22D37-848b-7984-b04e-2586cbdc1362", "settings": {"target": "ai-answers-answer-01a22d37-848b-7984-b04e-2586cbdc1363"}}]`,
			`[{"format":"markdown","type":"text","value":"Hi"},{"block":"question","settings":{"display":"line","target":"ai-answers-answer-01a22d37-848b-7984-b04e-2586cbdc1363"},"type":"block","uuid":"01a22d37-848b-7984-b04e-2586cbdc1362"}]`, ""},
		{"parts", `[{"type": "block", "block": "question", "settings": {"target": "main"}}]`, ``, "target must name an Answer block (part 1)"},
		{"parts", `[{"type": "text", "value": "Hi"}, {"type": "block", "block": "answer", "settings": {"a": 1}}]`, ``, "not a known setting (part 2)"},
		{"parts", `[{"type": "block", "block": "answer", "settings": "none"}]`, ``, "settings that are none"},
		{"parts", `[{"type": "block", "block": "poll"}]`, ``, "no block called"},
		{"parts", `[{"type": "text", "value": " "}]`, ``, ""},
		{"parts", `[{"type": "script", "value": "x"}]`, ``, "neither a text nor a block (part 1)"},
		{"parts", `[{"type": "block", "block": "<x>"}]`, ``, "does not name a block"},
		{"parts", `[{"type": "block", "block": "question", "uuid": "x"}]`, ``, "no UUID"},
		{"parts", `"text"`, ``, "a list of texts and blocks"},
		{"nowhere", `"x"`, ``, "not a field of this type"},
		{"nowhere", `""`, ``, ""},
	} {
		t.Run(tt.name+tt.value, func(t *testing.T) {
			var value any
			if err := json.Unmarshal([]byte(tt.value), &value); err != nil {
				t.Fatal(err)
			}
			it, err := s.Save(t.Context(), editor, Input{Bundle: "every", Lang: "en", Title: "T", Fields: Fields{tt.name: value}})
			if tt.bad != "" {
				refused, ok := errors.AsType[*InvalidError](err)
				if !ok || !strings.Contains(refused.Fields[tt.name], tt.bad) {
					t.Fatalf("got %v, %v; want %q", it.Fields, err, tt.bad)
				}
				if f, ok := everyField.Field(tt.name); ok && (refused.Labels[tt.name] != f.Label || !strings.Contains(err.Error(), f.Label+" ")) {
					t.Errorf("does not name the field: %v, %v", refused.Labels, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if v, ok := it.Fields[tt.name]; ok {
				b, _ := json.Marshal(v)
				got = string(b)
			}
			if got != tt.want {
				t.Errorf("kept %s, want %s", got, tt.want)
			}
		})
	}
}

func TestReferencesAreChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		types := everyType(config.Field{Name: "must", Label: "Needed", Type: config.FieldText, Required: true})
		s := New(d, Options{Types: typesOf(types)})
		open := save(t, s, page("Open", "/open/", Published))
		other := save(t, s, Input{Bundle: "article", Lang: "en", Title: "Other", State: Published})
		closed := page("Closed", "/closed/", Published)
		closed.Access = &Access{ViewRoles: []string{"member"}}
		secret := save(t, s, closed)
		writer := account.Account{ID: "w", Roles: []string{account.RoleAuthenticated}, Permissions: map[account.Permission]bool{
			account.AccessContent: true,
			config.PermissionFor(config.OpCreate, TypeNode, "every"):  true,
			config.PermissionFor(config.OpEditOwn, TypeNode, "every"): true,
			config.PermissionFor(config.OpEditAny, TypeNode, "every"): true,
		}}
		in := Input{Bundle: "every", Lang: "en", Title: "T", Fields: Fields{"r": []any{open.ID}}}
		_, err := s.Save(t.Context(), writer, in)
		if refused, ok := errors.AsType[*InvalidError](err); !ok || refused.Fields["must"] != "is missing" || err.Error() != "invalid content: Needed is missing" {
			t.Fatalf("required: %v", err)
		}
		for id, want := range map[string]string{secret.ID: "may not see", other.ID: "another type"} {
			in.Fields = Fields{"must": "x", "r": []any{open.ID, id}}
			_, err := s.Save(t.Context(), writer, in)
			if refused, ok := errors.AsType[*InvalidError](err); !ok || !strings.Contains(refused.Fields["r"], want) || strings.Contains(err.Error(), "Closed") {
				t.Errorf("want %q: %v", want, err)
			}
		}
		// What an editor put there stays when somebody saves who may not see it.
		in.Fields = Fields{"must": "x", "r": []any{open.ID, secret.ID}}
		it := save(t, s, in)
		again := InputOf(it)
		again.Title = "Changed"
		if _, err := s.Save(t.Context(), writer, again); err != nil {
			t.Errorf("unchanged reference: %v", err)
		}
		html := InputOf(it)
		html.BasedOn = ""
		html.Fields = Fields{"must": "x", "l": map[string]any{"value": "<b>x</b>", "format": "full_html"}}
		full, err := s.Save(t.Context(), admin, html)
		if err != nil {
			t.Fatal(err)
		}
		same := InputOf(full)
		same.Title = "Again"
		if _, err := s.Save(t.Context(), writer, same); err != nil {
			t.Errorf("unchanged text in a format of others: %v", err)
		}
		same.BasedOn = ""
		same.Fields = Fields{"must": "x", "l": map[string]any{"value": "<b>y</b>", "format": "full_html"}}
		if _, err := s.Save(t.Context(), writer, same); err == nil {
			t.Error("changed a text in a format that is not theirs")
		}
	})
}

func TestHugeValuesAreRefused(t *testing.T) {
	s := New(dbtest.SQLite(t), Options{Types: typesOf(everyType())})
	for name, fields := range map[string]Fields{
		"fields": {"l": strings.Repeat("x", 5<<20)},
		"l":      {"l": strings.Repeat("x", longTextLimit+1)},
		"parts":  {"parts": make([]any, componentsLimit+1)},
	} {
		if list, ok := fields["parts"].([]any); ok {
			for i := range list {
				list[i] = map[string]any{"type": "text", "value": "x"}
			}
		}
		_, err := s.Save(t.Context(), editor, Input{Bundle: "every", Lang: "en", Title: "T", Fields: fields})
		if refused, ok := errors.AsType[*InvalidError](err); !ok || refused.Fields[name] == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Save(t.Context(), editor, Input{Bundle: "minutes", Lang: "en", Title: "T"}); err == nil || !strings.Contains(err.Error(), "bundle is not a content type") {
		t.Errorf("a bundle without a type: %v", err)
	}
}
