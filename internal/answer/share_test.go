package answer_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm/llmtest"
)

var seaEditor = account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}}

// edit saves a page anew.
func (s *site) edit(it content.Item, change func(*content.Input)) {
	s.t.Helper()
	latest, err := s.opts.Content.Latest(s.t.Context(), account.Account{ID: "editor", Permissions: everything()}, it.Ref, it.Lang)
	if err != nil {
		s.t.Fatal(err)
	}
	in := content.InputOf(latest)
	in.State = content.Published
	change(&in)
	if _, err := s.opts.Content.Save(s.t.Context(), seaEditor, in); err != nil {
		s.t.Fatal(err)
	}
}

func everything() map[account.Permission]bool {
	all := map[account.Permission]bool{}
	for _, p := range account.AllPermissions() {
		all[p] = true
	}
	return all
}

func ferrySite(t *testing.T, d *db.DB, turns ...llmtest.Turn) (*site, content.Item, answer.State) {
	t.Helper()
	turns = append([]llmtest.Turn{{llmtest.Text("Every *half hour* [1], from seven [1].")}}, turns...)
	s := newSite(t, d, llmtest.NewScript(turns...))
	page := s.add(ferry)[0]
	s.change(func(a *config.Agent) { a.MaxResults, a.TopicDrift = 1, false })
	return s, page, s.wait(s.ask(answer.Question{Text: "When does the ferry leave in the morning?"}), s.visitor)
}

func (s *site) share(st answer.State, who account.Account) answer.SharedLink {
	s.t.Helper()
	link, err := s.Share(s.t.Context(), st.ID, who)
	if err != nil {
		s.t.Fatal(err)
	}
	return link
}

func TestSharedAnswer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, page, st := ferrySite(t, d)
		ctx := t.Context()
		if st.Shared.Token != "" {
			t.Fatal("an answer is shared before anybody asked for it")
		}
		// Of many at once all get one link, and so does whoever asks later.
		links := make([]answer.SharedLink, 8)
		var wg sync.WaitGroup
		for i := range links {
			wg.Go(func() { links[i] = s.share(st, s.visitor) })
		}
		wg.Wait()
		for _, l := range append(links, s.share(st, s.visitor)) {
			if l != links[0] || len(l.Token) != 32 {
				t.Fatalf("links %v", links)
			}
		}
		token := links[0].Token
		if days := time.Until(links[0].Until).Hours() / 24; days < 29.9 || days > 30.1 {
			t.Errorf("it holds for %.1f days", days)
		}
		if again, err := s.Turn(ctx, st.ID, s.visitor); err != nil || again.Shared != links[0] {
			t.Errorf("the turn's link: %+v, %v", again.Shared, err)
		}
		for _, who := range []account.Account{s.visitor, s.member} {
			sh, err := s.ReadShared(ctx, token, who)
			if err != nil {
				t.Fatal(err)
			}
			if sh.Question != st.Question || sh.Text != "Every *half hour* [1], from seven [1]." || sh.AgentLabel != "Site answers" || len(sh.Blocks) != 1 ||
				!strings.Contains(sh.Blocks[0].HTML, "<em>half hour</em>") || !strings.Contains(sh.Blocks[0].HTML, "#source-1") {
				t.Errorf("shared: %+v", sh)
			}
			if len(sh.Sources) != 1 || sh.Sources[0].Running != 1 || sh.Sources[0].Title != "The ferry" || sh.Sources[0].Ref != page.Ref || len(sh.Sources[0].Citations) != 2 {
				t.Errorf("sources: %+v", sh.Sources)
			}
		}
		// It outlives the conversation, and can be withdrawn even then.
		if _, err := d.Exec(ctx, "update conversations set expires_at = ?", db.Now().Add(-time.Minute)); err != nil {
			t.Fatal(err)
		}
		if err := s.Purge(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Turn(ctx, st.ID, s.visitor); !errors.Is(err, answer.ErrNotFound) {
			t.Fatalf("the conversation is still there: %v", err)
		}
		if _, err := s.ReadShared(ctx, token, s.visitor); err != nil {
			t.Errorf("after its conversation: %v", err)
		}
		if err := s.Unshare(ctx, st.ID, s.visitor); err != nil {
			t.Errorf("withdraw: %v", err)
		}
		if _, err := s.ReadShared(ctx, token, s.visitor); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("withdrawn: %v", err)
		}
		if _, err := s.ReadShared(ctx, "nothing", s.visitor); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("unknown: %v", err)
		}
	})
}

func TestSharedAnswerEnds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _, st := ferrySite(t, d)
		ctx := t.Context()
		gone := func(token string, want error) {
			t.Helper()
			if sh, err := s.ReadShared(ctx, token, s.visitor); !errors.Is(err, want) || sh.Text != "" || len(sh.Blocks) != 0 {
				t.Errorf("%v, want %v", err, want)
			}
		}
		first := s.share(st, s.visitor)
		if err := s.Unshare(ctx, st.ID, s.visitor); err != nil {
			t.Fatal(err)
		}
		if err := s.Unshare(ctx, st.ID, s.visitor); err != nil {
			t.Errorf("withdrawn twice: %v", err)
		}
		gone(first.Token, answer.ErrNotFound)
		second := s.share(st, s.visitor)
		if second.Token == first.Token {
			t.Error("a withdrawn link came back")
		}
		s.change(func(a *config.Agent) { a.Share = false })
		gone(second.Token, answer.ErrShareEnded)
		if _, err := s.Share(ctx, st.ID, s.visitor); !errors.Is(err, answer.ErrShareOff) {
			t.Errorf("switched off: %v", err)
		}
		s.change(func(a *config.Agent) { a.Share = true })
		if _, err := d.Exec(ctx, "update answer_shares set expires_at = ?", db.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		gone(second.Token, answer.ErrShareEnded)
		if again, err := s.Turn(ctx, st.ID, s.visitor); err != nil || again.Shared.Token != "" {
			t.Errorf("the turn names an ended link: %+v %v", again.Shared, err)
		}
		third := s.share(st, s.visitor)
		if third.Token == second.Token {
			t.Error("an ended link holds again")
		}
		gone(second.Token, answer.ErrNotFound)
		if _, err := d.Exec(ctx, "update answer_shares set expires_at = ?", db.Now().Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		if err := s.Purge(ctx); err != nil {
			t.Fatal(err)
		}
		gone(third.Token, answer.ErrNotFound)
		// Whoever deletes the conversation withdraws its links.
		fourth := s.share(st, s.visitor)
		if err := s.Delete(ctx, st.ConversationID, s.visitor); err != nil {
			t.Fatal(err)
		}
		gone(fourth.Token, answer.ErrNotFound)
		if _, err := s.Share(ctx, st.ID, s.visitor); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("share after delete: %v", err)
		}
	})
}

// However sharing and deleting meet, no link is left to what was deleted.
func TestShareMeetsDelete(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _, st := ferrySite(t, d)
		var wg sync.WaitGroup
		tokens := make([]string, 6)
		for i := range tokens {
			wg.Go(func() {
				link, err := s.Share(t.Context(), st.ID, s.visitor)
				if err != nil && !errors.Is(err, answer.ErrNotFound) {
					t.Errorf("share: %v", err)
				}
				tokens[i] = link.Token
			})
		}
		wg.Go(func() {
			if err := s.Delete(t.Context(), st.ConversationID, s.visitor); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
		wg.Wait()
		var left int
		if err := d.Get(t.Context(), &left, "select count(*) from answer_shares"); err != nil || left != 0 {
			t.Errorf("%d links are left, %v", left, err)
		}
	})
}

func TestSharedAnswerShowsNobodyMoreThanTheyMaySee(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, page, st := ferrySite(t, d)
		ctx := t.Context()
		token := s.share(st, s.visitor).Token
		read := func(who account.Account, want error) {
			t.Helper()
			if sh, err := s.ReadShared(ctx, token, who); !errors.Is(err, want) || want != nil && (sh.Text != "" || sh.Question != "") {
				t.Errorf("%v, want %v: %+v", err, want, sh)
			}
		}
		read(s.visitor, nil)
		s.edit(page, func(in *content.Input) { in.Access = &content.Access{ViewRoles: []string{account.RoleAuthenticated}} })
		read(s.visitor, answer.ErrShareHidden)
		read(s.member, nil)
		if _, err := s.Share(ctx, st.ID, s.visitor); !errors.Is(err, answer.ErrShareHidden) {
			t.Errorf("share what is hidden by now: %v", err)
		}
		s.edit(page, func(in *content.Input) { in.State = content.Archived })
		read(s.member, answer.ErrShareGone)
		s.edit(page, func(in *content.Input) { in.Access = &content.Access{} })
		read(s.visitor, nil)
		nobody := account.Account{Roles: []string{account.RoleAnonymous}}
		read(nobody, answer.ErrShareHidden)
	})
}

// A page that the model had read is behind what it writes, cited or not, in the
// turn itself and in those before it.
func TestPagesReadAndNotCitedAreCheckedToo(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(
		llmtest.Turn{llmtest.Text("The code is heron [1].")},
		llmtest.Turn{llmtest.Text("The code is heron, and the shop sells flour [2].")},
		llmtest.Turn{}, // says nothing and forgets the sources
		llmtest.Turn{llmtest.Text("The code is still heron, and a ticket costs four pounds [1].")},
		llmtest.Turn{llmtest.Text("There is flour [1].")},
	))
	s.change(func(a *config.Agent) { a.MaxResults = 1 })
	ask := func(text, conversation string) answer.State {
		return s.wait(s.ask(answer.Question{Text: text, ConversationID: conversation, Who: s.member}), s.member)
	}
	first := ask("gate code for members heron", "")
	uncited := ask("wholemeal flour bags kilogram", first.ConversationID)
	if silent := ask("zzyzx qwertz?", first.ConversationID); !silent.Refused {
		t.Fatalf("silent = %+v", silent.Turn)
	}
	before := ask("ticket costs four pounds children", first.ConversationID)
	if got := titles(before.Sources); len(got) != 1 || got[0] != "Tickets" {
		t.Fatalf("sources %v", got)
	}
	for name, st := range map[string]answer.State{"cited": first, "read": uncited, "read before": before} {
		token := s.share(st, s.member).Token
		if _, err := s.ReadShared(t.Context(), token, s.visitor); !errors.Is(err, answer.ErrShareHidden) {
			t.Errorf("%s: a visitor gets %v", name, err)
		}
		if _, err := s.ReadShared(t.Context(), token, s.member); err != nil {
			t.Errorf("%s: a member gets %v", name, err)
		}
		if err := s.Unshare(t.Context(), st.ID, s.visitor); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("%s: a visitor withdraws a member's link: %v", name, err)
		}
		if _, err := s.ReadShared(t.Context(), token, s.member); err != nil {
			t.Errorf("%s: withdrawn by somebody else: %v", name, err)
		}
	}
	if st := ask("wholemeal flour bags kilogram", ""); len(st.Cited()) == 1 {
		if _, err := s.ReadShared(t.Context(), s.share(st, s.member).Token, s.visitor); err != nil {
			t.Errorf("a member's answer from public pages: %v", err)
		}
	} else {
		t.Errorf("cited %v", titles(st.Cited()))
	}
}

// A page that was for everybody when a link was made, and is not any more, is
// hidden with all that may be written from it.
func TestPagesReadAndRestrictedLater(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("Open at ten [1].")}))
	st := s.wait(s.ask(answer.Question{Text: "opening hours and ticket prices"}), s.visitor)
	cited := st.Cited()
	if len(cited) != 1 || len(st.Sources) < 2 {
		t.Fatalf("cited %v of %v", titles(cited), titles(st.Sources))
	}
	token := s.share(st, s.visitor).Token
	for _, src := range st.Sources {
		if src.Ref == cited[0].Ref {
			continue
		}
		s.edit(content.Item{Ref: src.Ref, Lang: src.Lang}, func(in *content.Input) { in.Access = &content.Access{ViewRoles: []string{account.RoleAuthenticated}} })
		if _, err := s.ReadShared(t.Context(), token, s.visitor); !errors.Is(err, answer.ErrShareHidden) {
			t.Errorf("%s was read and is restricted: %v", src.Title, err)
		}
		if _, err := s.ReadShared(t.Context(), token, s.member); err != nil {
			t.Errorf("a member gets %v", err)
		}
		s.edit(content.Item{Ref: src.Ref, Lang: src.Lang}, func(in *content.Input) { in.Access = &content.Access{} })
	}
	if _, err := s.ReadShared(t.Context(), token, s.visitor); err != nil {
		t.Errorf("for everybody again: %v", err)
	}
}

func TestWhatCannotBeShared(t *testing.T) {
	hold := make(chan struct{})
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(
		llmtest.Turn{llmtest.Text("Nothing to cite.")},
		llmtest.Turn{llmtest.Text("At ten [1].")},
		llmtest.Turn{llmtest.Wait(hold)},
	))
	ctx := t.Context()
	refuse := func(st answer.State, who account.Account, want error) {
		t.Helper()
		if _, err := s.Share(ctx, st.ID, who); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	uncited := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor)
	refuse(uncited, s.visitor, answer.ErrNothingToShare)
	mine := s.wait(s.ask(answer.Question{Text: "opening hours", Who: s.member}), s.member)
	stranger := account.Account{ID: "eve", Roles: s.member.Roles, Permissions: s.member.Permissions}
	for _, who := range []account.Account{s.visitor, stranger} {
		refuse(mine, who, answer.ErrNotFound)
		if err := s.Unshare(ctx, mine.ID, who); !errors.Is(err, answer.ErrNotFound) {
			t.Errorf("unshare: %v", err)
		}
	}
	running := s.ask(answer.Question{Text: "opening hours"})
	if _, err := s.Share(ctx, running.ID, s.visitor); err == nil {
		t.Error("a running turn is shared")
	} else if _, ok := errors.AsType[*answer.InvalidError](err); !ok {
		t.Error(err)
	}
	close(hold)
	s.wait(running, s.visitor)
	if _, err := s.Share(context.Background(), "unknown", s.visitor); !errors.Is(err, answer.ErrNotFound) {
		t.Error(err)
	}
}
