package answer_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm"
	"docent/internal/markdown"
	"docent/internal/search"
)

// A site is a small museum with an answering agent.
type site struct {
	*answer.Service
	t       *testing.T
	opts    answer.Options
	visitor account.Account
	member  account.Account
}

var pages = []content.Input{
	{Title: "Opening hours", Path: "/hours/", Fields: content.Fields{"body": "The mill museum opens at ten in the morning.\n\n## Winter\n\nIn winter the mill closes at three."}},
	{Title: "Tickets", Path: "/tickets/", Fields: content.Fields{"body": "A ticket for the mill costs four pounds. Children enter free."}},
	{Title: "Flour shop", Path: "/shop/", Fields: content.Fields{"body": "The mill shop sells wholemeal flour in bags of one kilogram."}},
	{Title: "Members' evening", Path: "/members/", Access: &content.Access{ViewRoles: []string{account.RoleAuthenticated}},
		Fields: content.Fields{"body": "The mill gate code for members is heron."}},
}

// goOn is how the interface asks for the rest of an answer.
const goOn = "Please continue where you were cut off."

func newSite(t *testing.T, d *db.DB, model llm.Generator) *site {
	t.Helper()
	ctx := t.Context()
	cfg, err := config.Open(ctx, d)
	if err != nil {
		t.Fatal(err)
	}
	engine := search.New(d)
	store := content.New(d, content.Options{})
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}
	for _, p := range pages {
		p.Bundle, p.Lang, p.State = "page", "en", content.Published
		it, err := store.Save(ctx, editor, p)
		if err != nil {
			t.Fatal(err)
		}
		if err := engine.Refresh(ctx, store.Translations, it.Ref.ID); err != nil {
			t.Fatal(err)
		}
	}
	may := map[account.Permission]bool{account.AccessContent: true, account.UseAnswers: true}
	s := &site{t: t,
		visitor: account.Account{Roles: []string{account.RoleAnonymous}, Permissions: may},
		member:  account.Account{ID: "ada", Roles: []string{account.RoleAuthenticated}, Permissions: may},
		opts: answer.Options{
			DB: d, Config: cfg, Content: store, Search: engine, Model: model,
			SiteURL: &url.URL{Scheme: "https", Host: "mill.example"}, Log: slog.New(slog.DiscardHandler),
			Texts: answer.Texts{
				NoAnswer:  func(lang string) string { return "Nothing found (" + lang + ")." },
				CiteLabel: func(lang string, n int) string { return fmt.Sprintf("Source %d", n) },
				Labels:    func(string) markdown.Labels { return markdown.Labels{} },
				AboutHeading: func(lang, page, heading string) string {
					if page == "" {
						return fmt.Sprintf("What about %s?", heading)
					}
					return fmt.Sprintf("What does %s say about %s?", page, heading)
				},
				GoesOn: func(question string) bool { return question == goOn },
			},
		}}
	s.restart()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		s.Close(ctx)
	})
	return s
}

func (s *site) restart() {
	svc, err := answer.New(s.t.Context(), s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Service = svc
}

func (s *site) ask(q answer.Question) answer.State {
	s.t.Helper()
	if q.Agent == "" {
		q.Agent = "site"
	}
	if q.Lang == "" {
		q.Lang = "en"
	}
	if q.Who.Roles == nil {
		q.Who = s.visitor
	}
	st, err := s.Ask(s.t.Context(), q)
	if err != nil {
		s.t.Fatalf("ask %q: %v", q.Text, err)
	}
	return st
}

func (s *site) wait(st answer.State, who account.Account) answer.State {
	s.t.Helper()
	st, err := s.Wait(s.t.Context(), st.ID, who)
	if err != nil {
		s.t.Fatal(err)
	}
	if st.IsRunning() {
		s.t.Fatalf("turn still running: %+v", st.Turn)
	}
	return st
}

func html(st answer.State) string {
	var b strings.Builder
	for block := range st.Blocks.From(0) {
		b.WriteString(block.HTML)
	}
	return b.String()
}

func titles(sources []answer.Source) []string {
	var out []string
	for _, s := range sources {
		out = append(out, s.Title)
	}
	return out
}

// change edits the site's agent.
func (s *site) change(edit func(*config.Agent)) {
	s.t.Helper()
	agent, err := config.Get[config.Agent](s.t.Context(), s.opts.Config, "site")
	if err != nil {
		s.t.Fatal(err)
	}
	edit(&agent)
	if err := config.Put(s.t.Context(), s.opts.Config, "site", agent, ""); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) settings(edit func(*config.AnswerSettings)) {
	s.t.Helper()
	all, err := config.Get[config.AnswerSettings](s.t.Context(), s.opts.Config, "site")
	if err != nil {
		s.t.Fatal(err)
	}
	edit(&all)
	if err := config.Put(s.t.Context(), s.opts.Config, "site", all, ""); err != nil {
		s.t.Fatal(err)
	}
}

// reopen starts the service again with other options.
func (s *site) reopen(edit func(*answer.Options)) {
	s.t.Helper()
	s.Close(s.t.Context())
	edit(&s.opts)
	s.restart()
}
