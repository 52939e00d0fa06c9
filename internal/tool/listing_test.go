package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/tool"
)

func TestContentListFilters(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		store := content.New(d, content.Options{Languages: func() []string { return []string{"en", "es"} }})
		admin := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
		visitor := account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.AccessContent: true}}
		topic, err := store.EnsureTerm(ctx, d, "topics", "Water", "en")
		if err != nil {
			t.Fatal(err)
		}
		day := func(s string) time.Time {
			when, err := time.Parse(time.DateOnly, s)
			if err != nil {
				t.Fatal(err)
			}
			return when
		}
		for i, in := range []content.Input{
			{Bundle: "article", Title: "Open day", Date: day("2026-05-03"), Fields: content.Fields{"summary": "In the mill.", "topics": []any{topic}}},
			{Bundle: "article", Title: "Open day", Date: day("2026-06-07"), Fields: content.Fields{"summary": "By the pond."}},
			{Bundle: "page", Title: "Tickets", Fields: content.Fields{"body": "Four pounds."}},
			{Bundle: "page", Title: "Left out", Access: &content.Access{OutOfAnswers: true}},
			{Bundle: "page", Title: "Members only", Access: &content.Access{ViewRoles: []string{account.RoleAuthenticated}}},
		} {
			in.Lang, in.State, in.Path = "en", content.Published, fmt.Sprintf("/p%d/", i)
			it, err := store.Save(ctx, admin, in)
			if err != nil {
				t.Fatal(err)
			}
			if i == 2 {
				if _, err := store.Save(ctx, admin, content.Input{Ref: it.Ref, Bundle: "page", Lang: "es", State: content.Published, Title: "Entradas", Path: "/e/"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		run := func(lang, args string) (string, []tool.Row, error) {
			list := tool.ContentList(store, visitor, lang, func(string, string) bool { return true })
			res, err := list.Run(ctx, json.RawMessage(args))
			rows, _ := res.Output.([]tool.Row)
			return res.Text, rows, err
		}
		for _, tt := range []struct {
			lang, args, summary string
			dates               []string
		}{
			{"en", `{"type":"article"}`, "There are 2 pages of the type article; all are listed.", []string{"2026-05-03", "2026-06-07"}},
			{"en", `{"type":"article","order":"newest","limit":1}`, "There are 2 pages of the type article; the first 1 are listed. Narrow the filters to see others.", []string{"2026-06-07"}},
			{"en", `{"after":"2026-06-01"}`, "There are 1 pages from 2026-06-01; all are listed.", []string{"2026-06-07"}},
			{"en", `{"before":"2026-06-07"}`, "There are 1 pages before 2026-06-07; all are listed.", []string{"2026-05-03"}},
			{"en", `{"term":"water"}`, "There are 1 pages on Water; all are listed.", []string{"2026-05-03"}},
			{"en", `{"fields":{"summary":"by the pond."}}`, `There are 1 pages with summary "by the pond."; all are listed.`, []string{"2026-06-07"}},
			{"en", `{}`, "There are 3 pages; all are listed.", []string{"2026-05-03", "2026-06-07", ""}},
			{"es", `{"type":"page"}`, "There are 1 pages of the type page; all are listed.", []string{""}},
			{"en", `{"type":"novel"}`, "There are no pages of the type novel.", nil},
		} {
			summary, rows, err := run(tt.lang, tt.args)
			var dates []string
			for _, r := range rows {
				dates = append(dates, r.Fields["date"])
			}
			if err != nil || summary != tt.summary || !slices.Equal(dates, tt.dates) {
				t.Errorf("%s: %q %v %v, want %q %v", tt.args, summary, dates, err, tt.summary, tt.dates)
			}
			if tt.lang == "es" && rows[0].Lang != "es" {
				t.Errorf("for a Spanish visitor: %+v", rows[0])
			}
		}
		for _, args := range []string{`{"after":"May"}`, `{"limit":"ten"}`, `[]`} {
			if _, _, err := run("en", args); err == nil {
				t.Errorf("%s was taken", args)
			} else if _, ok := errors.AsType[*tool.ArgumentError](err); !ok {
				t.Errorf("%s: %v", args, err)
			}
		}
		if _, rows, _ := run("en", `{"type":"article"}`); rows[0].Fields["summary"] != "In the mill." || strings.Contains(fmt.Sprint(rows), topic) {
			t.Errorf("rows %+v", rows)
		}
	})
}
