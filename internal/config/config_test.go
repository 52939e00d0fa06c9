package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func open(t *testing.T, d *db.DB) *Store {
	t.Helper()
	s, err := Open(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustGet[T Object](t *testing.T, s *Store, name string) T {
	t.Helper()
	v, err := Get[T](t.Context(), s, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func refusedFields(t *testing.T, err error) []string {
	t.Helper()
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok {
		t.Fatalf("error is %v, want *InvalidError", err)
	}
	return slices.Sorted(maps.Keys(invalid.Fields))
}

func TestShippedObjects(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := open(t, d)
		agent := mustGet[Agent](t, s, SiteName)
		if !agent.Enabled || agent.Index != SiteName || agent.MaxResults != 5 || agent.Rounds != 4 || agent.QuestionLimit != 2000 {
			t.Errorf("agent is %+v", agent)
		}
		current, err := s.load(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range shipped() {
			c := &check{objects: current, self: o.Name, fields: map[string]string{}}
			c.name(o.Value.Kind(), o.Name)
			o.Value.check(c)
			if len(c.fields) > 0 {
				t.Errorf("shipped %s %q is refused: %v", o.Value.Kind(), o.Name, c.fields)
			}
		}
		for _, tt := range []struct {
			roles []string
			want  []account.Permission
		}{
			{[]string{account.RoleAnonymous}, []account.Permission{account.AccessContent, account.UseAnswers}},
			{[]string{account.RoleAuthenticated, account.RoleEditor}, []account.Permission{
				account.AccessAdministration, account.AccessContent, account.EditContent, account.UseAnswers,
				FormatPermission(FormatMarkdown), FormatPermission(FormatPlain), FormatPermission(FormatRestrictedHTML), account.ViewUnpublished,
			}},
			{[]string{"unheard_of"}, nil},
			{nil, nil},
		} {
			got, err := s.Permissions(ctx, tt.roles)
			if err != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), tt.want) {
				t.Errorf("permissions of %v are %v, %v", tt.roles, got, err)
			}
		}
	})
}

func TestPutIsSeenAndRecorded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		here, there := open(t, d), open(t, d)
		settings := mustGet[Settings](t, here, SiteName)
		settings.SiteName = "Ferndale Garden"
		for range 2 { // the second changes nothing
			if err := Put(ctx, here, SiteName, settings, "account-1"); err != nil {
				t.Fatal(err)
			}
		}
		if got := mustGet[Settings](t, here, SiteName).SiteName; got != "Ferndale Garden" {
			t.Errorf("the writer sees %q", got)
		}
		there.cached.Load().checked.Store(-int64(refreshAfter))
		if got := mustGet[Settings](t, there, SiteName).SiteName; got != "Ferndale Garden" {
			t.Errorf("another process sees %q", got)
		}
		var changes []struct {
			Before  *string `db:"before"`
			After   *string `db:"after"`
			Account string  `db:"account_id"`
		}
		if err := d.Select(ctx, &changes, "select before, after, account_id from config_changes where kind = 'settings' order by at"); err != nil {
			t.Fatal(err)
		}
		if len(changes) != 2 || changes[0].Before != nil || changes[1].Before == nil ||
			*changes[1].Before != *changes[0].After || !strings.Contains(*changes[1].After, "Ferndale") || changes[1].Account != "account-1" {
			t.Errorf("changes are %+v", changes)
		}
	})
}

func TestCacheIsKeptWhileNothingChanges(t *testing.T) {
	s := open(t, dbtest.SQLite(t))
	before := s.cached.Load()
	before.checked.Store(-int64(refreshAfter))
	mustGet[Agent](t, s, SiteName)
	if s.cached.Load() != before {
		t.Error("an unchanged configuration was read again")
	}
}

func TestDelete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := open(t, d)
		for _, role := range []string{account.RoleAnonymous, account.RoleAuthenticated, account.RoleAdministrator} {
			if err := Delete[Role](ctx, s, role, ""); !errors.Is(err, ErrRequired) {
				t.Errorf("deleting role %s: %v", role, err)
			}
		}
		if err := Delete[Settings](ctx, s, SiteName, ""); !errors.Is(err, ErrRequired) {
			t.Errorf("deleting the settings: %v", err)
		}
		if err := Delete[Language](ctx, s, "en", ""); !errors.Is(err, ErrRequired) {
			t.Errorf("deleting the default language: %v", err)
		}
		if fields := refusedFields(t, Delete[Index](ctx, s, SiteName, "")); !slices.Equal(fields, []string{""}) {
			t.Errorf("deleting an index in use names %q", fields)
		}
		if fields := refusedFields(t, Delete[Agent](ctx, s, SiteName, "")); !slices.Equal(fields, []string{""}) {
			t.Errorf("deleting an agent that a block answers with names %q", fields)
		}
		for _, err := range []error{
			Delete[Placement](ctx, s, "site_answer", "account-1"), Delete[Agent](ctx, s, SiteName, "account-1"), Delete[Index](ctx, s, SiteName, "account-1"), Delete[Role](ctx, s, account.RoleEditor, "account-1"),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if err := Delete[Agent](ctx, s, SiteName, ""); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("deleting twice: %v", err)
		}
		again := open(t, d)
		if _, err := Get[Agent](ctx, again, SiteName); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("the deleted agent came back with the next start: %v", err)
		}
		if agents, err := All[Agent](ctx, again); err != nil || len(agents) != 0 {
			t.Errorf("agents are %v, %v", agents, err)
		}
	})
}

func TestStartsTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				if _, err := Open(context.Background(), d); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var n int
		if err := d.Get(t.Context(), &n, "select count(*) from config_changes"); err != nil || n != len(shipped()) {
			t.Errorf("%d changes recorded, %v; want %d", n, err, len(shipped()))
		}
	})
}

func TestWritersTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := open(t, d)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				name := fmt.Sprintf("role_%d", i)
				if err := Put(context.Background(), s, name, Role{Label: name}, ""); err != nil {
					t.Error(err)
				}
				if _, err := Get[Role](context.Background(), s, name); err != nil {
					t.Errorf("a writer does not see its own write: %v", err)
				}
			})
		}
		wg.Wait()
		if roles, err := All[Role](t.Context(), s); err != nil || len(roles) != 12 {
			t.Errorf("%d roles, %v", len(roles), err)
		}
	})
}

func TestUnreadableObjectSpoilsNothingElse(t *testing.T) {
	d := dbtest.SQLite(t)
	ctx := t.Context()
	if _, err := d.Exec(ctx, "insert into config_objects (kind, name, data, updated_at) values ('agent', 'broken', '[1]', ?), ('toolset', 'later', '{}', ?), ('agent', 'newer', '{\"label\": \"N\", \"from_the_future\": 1}', ?)",
		db.Now(), db.Now(), db.Now()); err != nil {
		t.Fatal(err)
	}
	s := open(t, d)
	if _, err := Get[Agent](ctx, s, "broken"); err == nil || errors.Is(err, db.ErrNotFound) {
		t.Errorf("the broken agent gives %v", err)
	}
	agents, err := All[Agent](ctx, s)
	if err != nil || len(agents) != 2 || agents[0].Name != "newer" || agents[0].Value.Label != "N" || agents[1].Name != SiteName {
		t.Errorf("agents are %v, %v", agents, err)
	}
}

func TestValidation(t *testing.T) {
	s := open(t, dbtest.SQLite(t))
	agent := func(change func(*Agent)) Agent {
		a := DefaultAgent()
		change(&a)
		return a
	}
	settings := func(change func(*Settings)) Settings {
		v := mustGet[Settings](t, s, SiteName)
		change(&v)
		return v
	}
	for name, tt := range map[string]struct {
		object Object
		name   string
		want   []string
	}{
		"agent name":        {agent(func(a *Agent) {}), "Bad Name", []string{"name"}},
		"agent empty":       {Agent{}, "a", []string{"conversation_ttl", "index", "label", "max_results", "prompt", "question_limit", "rounds"}},
		"score below":       {agent(func(a *Agent) { a.MinScore = -0.1 }), "a", []string{"min_score"}},
		"score above":       {agent(func(a *Agent) { a.MinScore = 1.1 }), "a", []string{"min_score"}},
		"no results":        {agent(func(a *Agent) { a.MaxResults = 0 }), "a", []string{"max_results"}},
		"too many results":  {agent(func(a *Agent) { a.MaxResults = 51 }), "a", []string{"max_results"}},
		"short life":        {agent(func(a *Agent) { a.ConversationTTL = 59 }), "a", []string{"conversation_ttl"}},
		"rounds":            {agent(func(a *Agent) { a.Rounds = 11 }), "a", []string{"rounds"}},
		"question limit":    {agent(func(a *Agent) { a.QuestionLimit = 20001 }), "a", []string{"question_limit"}},
		"history":           {agent(func(a *Agent) { a.HistoryTurns = -1 }), "a", []string{"history_turns"}},
		"prompt too long":   {agent(func(a *Agent) { a.Prompt = strings.Repeat("é", 20001) }), "a", []string{"prompt"}},
		"blank prompt":      {agent(func(a *Agent) { a.Prompt = " \n" }), "a", []string{"prompt"}},
		"zero byte":         {agent(func(a *Agent) { a.Guidance = "a\x00b" }), "a", []string{"guidance"}},
		"broken characters": {agent(func(a *Agent) { a.Label = "a\xff" }), "a", []string{"label"}},
		"unknown index":     {agent(func(a *Agent) { a.Index = "elsewhere" }), "a", []string{"index"}},
		"no answer tag":     {agent(func(a *Agent) { a.NoAnswer = map[string]string{"English": "No."} }), "a", []string{"no_answer"}},
		"index bundles":     {Index{Label: "I", Bundles: []string{"page", "../x"}}, "i", []string{"bundles"}},
		"index languages":   {Index{Label: "I", Languages: []string{"EN"}}, "i", []string{"languages"}},
		"role permission":   {Role{Label: "R", Permissions: []account.Permission{"fly"}}, "r", []string{"permissions"}},
		"language code":     {Language{Label: "Klingon"}, "klingon!", []string{"name"}},
		"language weight":   {Language{Label: "Deutsch", Weight: 5000}, "de", []string{"weight"}},
		"settings name":     {settings(func(v *Settings) {}), "other", []string{"name"}},
		"time zone":         {settings(func(v *Settings) { v.TimeZone = "Mars/Olympus" }), SiteName, []string{"time_zone"}},
		"local time zone":   {settings(func(v *Settings) { v.TimeZone = "Local" }), SiteName, []string{"time_zone"}},
		"zone as a path":    {settings(func(v *Settings) { v.TimeZone = "../../etc/passwd" }), SiteName, []string{"time_zone"}},
		"default language":  {settings(func(v *Settings) { v.DefaultLanguage = "fr" }), SiteName, []string{"default_language"}},
		"contact elsewhere": {settings(func(v *Settings) { v.ContactPath = "//evil.example/" }), SiteName, []string{"contact_path"}},
		"contact script":    {settings(func(v *Settings) { v.ContactPath = "javascript:alert(1)" }), SiteName, []string{"contact_path"}},
		"suggestions":       {settings(func(v *Settings) { v.Suggestions = map[string][]string{"en": {""}} }), SiteName, []string{"suggestions"}},
		"many suggestions":  {settings(func(v *Settings) { v.Suggestions = map[string][]string{"en": make([]string, 13)} }), SiteName, []string{"suggestions"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := s.put(t.Context(), tt.name, tt.object, "")
			if got := refusedFields(t, err); !slices.Equal(got, tt.want) {
				t.Errorf("refused %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPutJSON(t *testing.T) {
	s := open(t, dbtest.SQLite(t))
	for in, want := range map[string][]string{
		`{"label": "Guests", "colour": "red"}`: {"colour"},
		`{"label": 7}`:                         {"label"},
		`{"label": "Guests"} {}`:               {""},
		`{"label": `:                           {""},
		``:                                     {""},
		`{"label": "Guests", "permissions": [{}]}`: {"permissions"},
	} {
		if got := refusedFields(t, PutJSON[Role](t.Context(), s, "guest", []byte(in), "")); !slices.Equal(got, want) {
			t.Errorf("%s: refused %v, want %v", in, got, want)
		}
	}
	if err := PutJSON[Role](t.Context(), s, "guest", []byte(`{"label": "Guests", "permissions": ["access content"]}`), ""); err != nil {
		t.Fatal(err)
	}
	if got := mustGet[Role](t, s, "guest"); got.Label != "Guests" || len(got.Permissions) != 1 {
		t.Errorf("stored %+v", got)
	}
}

func TestLanguages(t *testing.T) {
	ctx := t.Context()
	s := open(t, dbtest.SQLite(t))
	for name, weight := range map[string]int{"es": -3, "de": -5, "ar": -3} {
		if err := Put(ctx, s, name, Language{Label: name, Weight: weight}, ""); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Languages(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range all {
		names = append(names, l.Name)
	}
	if want := []string{"en", "de", "ar", "es"}; !slices.Equal(names, want) {
		t.Errorf("languages are %v, want %v", names, want)
	}
}
