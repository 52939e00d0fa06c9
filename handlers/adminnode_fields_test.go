package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

func TestRowsWithoutScripts(t *testing.T) {
	s := newTestSite(t, dbtest.SQLite(t))
	s.person("ed", account.RoleEditor)
	ed := s.browser().login("ed")
	root, err := s.Accounts.ByName(t.Context(), "ed")
	if err != nil {
		t.Fatal(err)
	}
	who, err := s.Accounts.Resolve(t.Context(), root.ID)
	if err != nil {
		t.Fatal(err)
	}
	var terms []string
	for _, title := range []string{"Apples", "Pears"} {
		it, err := s.Content.Save(t.Context(), who, content.Input{Ref: content.Ref{Type: content.TypeTerm}, Bundle: "topics", Lang: "en", Title: title, State: content.Published})
		if err != nil {
			t.Fatal(err)
		}
		terms = append(terms, it.ID)
	}
	page := ed.get("/admin/content/add/article").want(t, http.StatusOK)
	page = ed.press(page, "add:topics:", url.Values{"f.title.0": {"Fruit"}, "f.topics.0": {"apples"}}).want(t, http.StatusOK)
	keys := rowKeys(page.page(t), "topics")
	if !slices.Equal(keys, []string{"0", "1"}) || page.page(t).Find("#f-title-0").AttrOr("value", "") != "Fruit" {
		t.Fatalf("rows %v", keys)
	}
	page = ed.press(page, "add:topics:", url.Values{"f.topics.1": {"Pears"}}).want(t, http.StatusOK)
	page = ed.press(page, "up:topics:1", url.Values{"f.topics.2": {"Quinces"}}).want(t, http.StatusOK)
	if keys := rowKeys(page.page(t), "topics"); !slices.Equal(keys, []string{"1", "0", "2"}) {
		t.Fatalf("rows %v", keys)
	}
	bad := ed.press(page, "draft", nil).want(t, http.StatusUnprocessableEntity)
	if choice := bad.page(t).Find(`input[name="f.topics.2.choice"]`); choice.Length() != 1 || choice.AttrOr("value", "") != newTerm {
		t.Fatal("an unknown topic is not offered as a new one")
	}
	saved := ed.follow(ed.press(bad, "draft", url.Values{"f.topics.2.choice": {newTerm}}))
	id := strings.Split(saved.Request.URL.Path, "/")[3]
	it, err := s.Content.Latest(t.Context(), who, content.Ref{ID: id}, "en")
	if err != nil {
		t.Fatal(err)
	}
	got := it.Fields.Strings("topics")
	if len(got) != 3 || got[0] != terms[1] || got[1] != terms[0] {
		t.Errorf("topics %v, want %v and a new one", got, terms)
	}
	saved = ed.press(saved, "remove:topics:0", nil).want(t, http.StatusOK)
	saved = ed.follow(ed.press(saved, "draft", nil))
	if it, err = s.Content.Latest(t.Context(), who, content.Ref{ID: id}, "en"); err != nil || len(it.Fields.Strings("topics")) != 2 {
		t.Errorf("topics %v, %v", it.Fields.Strings("topics"), err)
	}
	ed.press(saved, "explode:topics:0", nil).want(t, http.StatusBadRequest)
}

func rowKeys(doc *goquery.Document, field string) []string {
	var keys []string
	doc.Find(`#field-` + field + ` [data-docent-row] > input[name="f.` + field + `"]`).Each(func(_ int, s *goquery.Selection) {
		keys = append(keys, s.AttrOr("value", ""))
	})
	return keys
}

// Every type of field keeps its values on the way through the form, and says what
// is wrong with them beside the field.
func TestEveryFieldType(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := newTestSite(t, d, func(deps *Deps) {
			deps.Content = content.New(d, content.Options{Types: func(ctx context.Context) (*content.Types, error) { return content.LoadTypes(ctx, deps.Config) }})
		})
		several := config.Unlimited
		choices := []config.Choice{{Value: "a", Label: "Apple"}, {Value: "b", Label: "Beet"}, {Value: "c", Label: "Chard"}}
		kind := config.ContentType{Label: "Everything", Entity: "node", Workflow: true, Fields: []config.Field{
			{Name: "line", Label: "Line", Type: config.FieldText, Required: true},
			{Name: "lines", Label: "Lines", Type: config.FieldText, Cardinality: 3},
			{Name: "long", Label: "Long", Type: config.FieldLongText, Settings: config.FieldSettings{Formats: []string{"markdown", "plain"}}},
			{Name: "yes", Label: "Yes", Type: config.FieldBoolean},
			{Name: "count", Label: "Count", Type: config.FieldInteger},
			{Name: "price", Label: "Price", Type: config.FieldDecimal},
			{Name: "day", Label: "Day", Type: config.FieldDate},
			{Name: "moment", Label: "Moment", Type: config.FieldDate, Settings: config.FieldSettings{Time: true}},
			{Name: "span", Label: "Span", Type: config.FieldDateRange, Settings: config.FieldSettings{Time: true}},
			{Name: "mail", Label: "Mail", Type: config.FieldEmail},
			{Name: "link", Label: "Link", Type: config.FieldLink, Cardinality: several},
			{Name: "one", Label: "One", Type: config.FieldList, Settings: config.FieldSettings{Choices: choices}},
			{Name: "radio", Label: "Radio", Type: config.FieldList, Settings: config.FieldSettings{Choices: choices}},
			{Name: "many", Label: "Many", Type: config.FieldList, Cardinality: several, Settings: config.FieldSettings{Choices: choices}},
			{Name: "near", Label: "Near", Type: config.FieldReference, Cardinality: several},
			{Name: "topic", Label: "Topic", Type: config.FieldReference, Settings: config.FieldSettings{Target: "term"}},
			{Name: "ticks", Label: "Ticks", Type: config.FieldReference, Cardinality: several, Settings: config.FieldSettings{Target: "term", Bundles: []string{"topics"}}},
			{Name: "parts", Label: "Parts", Type: config.FieldComponents},
		}, Form: []config.FormItem{{Field: "line", Widget: "text"}, {Field: "radio", Widget: "radios"}, {Field: "many", Widget: "checkboxes"},
			{Field: "topic", Widget: "select"}, {Field: "ticks", Widget: "checkboxes"}, {Field: "lines", Widget: "textarea"}}}
		if err := config.Put(ctx, s.Config, "everything", kind, ""); err != nil {
			t.Fatal(err)
		}
		r := s.person("ed", account.RoleEditor)
		who, err := s.Accounts.Resolve(ctx, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		made := func(kind, bundle, title string) string {
			it, err := s.Content.Save(ctx, who, content.Input{Ref: content.Ref{Type: kind}, Bundle: bundle, Lang: "en", Title: title, State: content.Published})
			if err != nil {
				t.Fatal(err)
			}
			return it.ID
		}
		page, term, other := made("node", "page", "Here"), made("term", "topics", "Seeds"), made("term", "topics", "Trees")
		want := content.Fields{
			"line": "a <line>", "lines": []any{"x", "y"}, "long": map[string]any{"value": "plain\ntext", "format": "plain"}, "yes": true,
			"count": 7.0, "price": "12.50", "day": "2027-02-03", "moment": "2027-02-03T10:30:00Z",
			"span": map[string]any{"from": "2027-02-03T10:00:00Z", "to": "2027-02-04T12:00:05Z"}, "mail": "a@example.org",
			"link": []any{"/visit/", map[string]any{"url": "https://example.org/", "title": "There"}},
			"one":  "b", "radio": "c", "many": []any{"a", "c"}, "near": []any{page}, "topic": term, "ticks": []any{term, other},
			"parts": []any{map[string]any{"type": "text", "value": "## One", "format": "markdown"}, map[string]any{"type": "text", "value": "Two", "format": "markdown"}},
		}
		it, err := s.Content.Save(ctx, who, content.Input{Ref: content.Ref{Type: "node"}, Bundle: "everything", Lang: "en", Title: "All", Fields: want, State: content.Draft})
		if err != nil {
			t.Fatal(err)
		}
		ed := s.browser().login("ed")
		form := ed.get(nodeURL(it.ID, "en")).want(t, http.StatusOK)
		ed.follow(ed.press(form, "draft", url.Values{"f.line.0": {"another"}}))
		got, err := s.Content.Latest(ctx, who, it.Ref, "en")
		if err != nil {
			t.Fatal(err)
		}
		want["line"] = "another"
		for name, value := range want {
			if !reflect.DeepEqual(got.Fields[name], value) && !(name == "parts" && fmt.Sprint(got.Fields[name]) == fmt.Sprint(value)) {
				t.Errorf("%s became %v, want %v", name, got.Fields[name], value)
			}
		}
		bad := ed.press(ed.get(nodeURL(it.ID, "en")), "draft", url.Values{
			"f.line.0": {" "}}).want(t, http.StatusUnprocessableEntity)
		if bad.page(t).Find("#f-line-0[aria-invalid]").Length() != 1 || bad.page(t).Find("#form-errors a").AttrOr("href", "") != "#f-line-0" {
			t.Error("the missing line is not told")
		}
		bad = ed.press(bad, "draft", url.Values{
			"f.line.0": {"again"}, "f.count.0": {"many"}, "f.price.0": {"1,5"}, "f.day.0": {"tomorrow"}, "f.span.0": {""}, "f.mail.0": {"nowhere"},
			"f.link.0": {"javascript:alert(1)"}, "f.one.0": {"zzz"}, "f.near.0": {"Nowhere"}, "f.near.0.id": {""}}).want(t, http.StatusUnprocessableEntity)
		if bad.page(t).Find(`#field-near .field__error`).Length() != 1 {
			t.Error("what no title matches is not told")
		}
		for _, name := range []string{"count", "price", "day", "span", "mail", "link", "one"} {
			if bad.page(t).Find("#field-"+name+" .field__error").Length() != 1 {
				t.Errorf("%s says nothing of its error: %s", name, bad.page(t).Find("#form-errors").Text())
			}
		}
		if got, err := s.Content.Latest(ctx, who, it.Ref, "en"); err != nil || got.Fields["count"] != 7.0 {
			t.Errorf("something was saved: %v, %v", got.Fields, err)
		}
	})
}
