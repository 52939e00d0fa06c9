package config

import (
	"errors"
	"slices"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestVisibility(t *testing.T) {
	editor := account.Account{Roles: []string{account.RoleEditor}}
	for _, tt := range []struct {
		v    Visibility
		path string
		want bool
	}{
		{Visibility{}, "/visit/", true},
		{Visibility{Paths: []string{"/visit/"}}, "/visit/", true},
		{Visibility{Paths: []string{"/visit/"}}, "/visit", true},
		{Visibility{Paths: []string{"/visit/"}}, "/visit/prices", true},
		{Visibility{Paths: []string{"/visit/"}}, "/visitors", false},
		{Visibility{Paths: []string{"/visit"}}, "/visit/", true},
		{Visibility{Paths: []string{"/visit"}}, "/visit/prices", false},
		{Visibility{Paths: []string{"/"}}, "/", true},
		{Visibility{Paths: []string{"/"}}, "/visit/", false},
		{Visibility{Except: []string{"/visit/"}}, "/visit/prices", false},
		{Visibility{Except: []string{"/visit/"}}, "/about", true},
		{Visibility{Paths: []string{"/visit/"}, Except: []string{"/visit/prices"}}, "/visit/prices", false},
		{Visibility{Types: []string{"article"}}, "/", true},
		{Visibility{Types: []string{"event"}}, "/", false},
		{Visibility{Languages: []string{"en"}}, "/", true},
		{Visibility{Languages: []string{"es"}}, "/", false},
		{Visibility{Roles: []string{account.RoleAdministrator, account.RoleEditor}}, "/", true},
		{Visibility{Roles: []string{account.RoleAdministrator}}, "/", false},
	} {
		if got := tt.v.Shows(tt.path, "article", "en", editor); got != tt.want {
			t.Errorf("%+v at %s: %v, want %v", tt.v, tt.path, got, tt.want)
		}
	}
}

func TestPlacementIsChecked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, s := t.Context(), open(t, d)
		good := Placement{UUID: "0192a4c0-5d00-7000-8000-0000000000aa", Label: "Ask", Region: RegionAside,
			Block: Block{Question: &QuestionBlock{Target: SiteAnswerID, TargetPath: "/answers"}}}
		if err := Put(ctx, s, "ask", good, ""); err != nil {
			t.Fatal(err)
		}
		if err := Put(ctx, s, "ask", good, ""); err != nil {
			t.Errorf("storing it again: %v", err)
		}
		second := good
		second.UUID = "0192a4c0-5d00-7000-8000-0000000000bb"
		if err := Create(ctx, s, "ask", second, ""); !errors.Is(err, ErrExists) || mustGet[Placement](t, s, "ask").UUID != good.UUID {
			t.Errorf("created over another: %v", err)
		}
		for want, change := range map[string]func(*Placement){
			"uuid":        func(p *Placement) { p.UUID = siteAnswerUUID },
			"region":      func(p *Placement) { p.Region = "attic" },
			"after":       func(p *Placement) { p.After = "body" },
			"target":      func(p *Placement) { p.Question = &QuestionBlock{Target: "main"} },
			"target_path": func(p *Placement) { p.Question = &QuestionBlock{Target: SiteAnswerID, TargetPath: "//elsewhere"} },
			"display":     func(p *Placement) { p.Question = &QuestionBlock{Target: SiteAnswerID, Display: "poster"} },
			"agent":       func(p *Placement) { p.Block = Block{Answer: &AnswerBlock{Agent: "nobody"}} },
			"block":       func(p *Placement) { p.Block = Block{} },
			"roles":       func(p *Placement) { p.Visibility.Roles = []string{"nobody"} },
			"paths":       func(p *Placement) { p.Visibility.Paths = []string{"visit"} },
			"except":      func(p *Placement) { p.Visibility.Except = []string{"/a?b"} },
			"label":       func(p *Placement) { p.Label = " " },
		} {
			bad := good
			change(&bad)
			if fields := refusedFields(t, Put(ctx, s, "other", bad, "")); !slices.Contains(fields, want) {
				t.Errorf("%s: refused are %q", want, fields)
			}
		}
	})
}

func TestParseBlock(t *testing.T) {
	b, err := ParseBlock(BlockAnswer, map[string]any{"agent": "gone", "feedback": false})
	if err != nil || b.Answer == nil || b.Answer.Agent != "gone" || b.Answer.Feedback || !b.Answer.FollowUp {
		t.Errorf("%+v, %v", b.Answer, err)
	}
	back, err := ParseBlock(BlockAnswer, b.Settings())
	if err != nil || back.Answer.Feedback || back.Answer.Agent != "gone" {
		t.Errorf("through its settings: %+v, %v", back.Answer, err)
	}
	for name, settings := range map[string]map[string]any{
		"poll":        {},
		BlockQuestion: {"target": "main"},
		BlockSources:  {"target": SiteAnswerID, "colour": "red"},
		BlockAnswer:   {"follow_up": "yes"},
	} {
		if b, err := ParseBlock(name, settings); err == nil {
			t.Errorf("%s with %v is taken: %+v", name, settings, b)
		}
	}
}
