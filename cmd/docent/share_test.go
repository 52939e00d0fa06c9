package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/llm/llmtest"
)

// publicAddress is where visitors are told that the site is.
const publicAddress = "http://garden.example"

// eachShareSite serves the demo site on both databases, with a model that says the
// same again and again, and hands out its database.
func eachShareSite(t *testing.T, f func(t *testing.T, s *testSite, d *db.DB)) {
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			say := llmtest.Stream("The garden is open from *ten* [1", "], also in winter [2].")
			model := llmtest.NewFakeOpenAI(say, say, say, say)
			t.Cleanup(model.Close)
			env := map[string]string{"DOCENT_DATA": t.TempDir(), "DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake", "DOCENT_ADMIN_PASSWORD": "correct horse battery", "DOCENT_BASE_URL": publicAddress}
			if database == "postgres" {
				env["DATABASE_URL"] = dbtest.PostgresURL(t)
			}
			s := serveSite(t, env)
			d, err := db.Open(t.Context(), env["DATABASE_URL"], env["DOCENT_DATA"])
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			f(t, s, d)
		})
	}
}

// askPlain asks as a browser without scripts does and returns the conversation's address
// and the turn's.
func (s *testSite) askPlain(c *http.Client, d *db.DB) (conversation, turn string) {
	s.t.Helper()
	res, body := s.do(c, "POST", "/ai-answers/question", "agent=site&question=When+is+the+garden+open+in+winter", "Content-Type", "application/x-www-form-urlencoded",
		"Sec-Fetch-Site", "same-origin", "Accept", "text/html")
	if res.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("asked: %d %s", res.StatusCode, body)
	}
	conversation = res.Header.Get("Location")
	id := strings.TrimPrefix(strings.Split(conversation, "?")[0], "/ai-answers/conversations/")
	if err := d.Get(s.t.Context(), &turn, "select id from turns where conversation_id = ?", id); err != nil {
		s.t.Fatal(err)
	}
	return conversation, "/ai-answers/turns/" + turn
}

// sharePath is the link on a conversation's page, without the site's address.
func (s *testSite) sharePath(c *http.Client, conversation string) string {
	s.t.Helper()
	_, body := s.get(c, conversation, "Accept", "text/html")
	return strings.TrimPrefix(parse(s.t, body).Find(".d-share input[readonly]").AttrOr("value", ""), publicAddress)
}

func TestShareWithoutScripts(t *testing.T) {
	eachShareSite(t, func(t *testing.T, s *testSite, d *db.DB) {
		asker, reader := client(t), client(t)
		conversation, turn := s.askPlain(asker, d)
		page := func(res *http.Response, body string) (int, string) { return res.StatusCode, body }

		form := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html"}
		if status, _ := page(s.do(asker, "POST", turn+"/share", "", form...)); status != 403 {
			t.Errorf("a form from elsewhere: %d", status)
		}
		form = append(form, "Sec-Fetch-Site", "same-origin")
		_, body := s.get(asker, conversation, "Accept", "text/html")
		action := parse(t, body).Find(".d-share form").AttrOr("action", "")
		if !strings.HasPrefix(action, turn+"/share") {
			t.Fatalf("the page shares by %q", action)
		}
		res, _ := s.do(asker, "POST", action, "", form...)
		to := res.Header.Get("Location")
		if res.StatusCode != 303 || !strings.HasPrefix(to, strings.Split(conversation, "?")[0]) || !strings.HasSuffix(to, "-share") {
			t.Fatalf("%d to %q", res.StatusCode, to)
		}
		_, fragment, _ := strings.Cut(to, "#")
		_, body = s.get(asker, to, "Accept", "text/html")
		area := parse(t, body).Find("#" + fragment)
		link := area.Find("input[readonly]").AttrOr("value", "")
		if area.Length() != 1 || !strings.HasPrefix(link, publicAddress+"/ai-answers/shared/") || area.Find("button[data-docent-copy]").AttrOr("data-docent-copy", "") != area.Find("input").AttrOr("id", "-") {
			t.Fatalf("after sharing: %s", body)
		}
		s.do(asker, "POST", action, "", form...)
		if again := s.sharePath(asker, conversation); publicAddress+again != link {
			t.Errorf("shared twice: %q and %q", link, again)
		}

		path := strings.TrimPrefix(link, publicAddress)
		res, body = s.get(reader, path, "Accept", "text/html")
		doc := parse(t, body)
		if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-store" || len(res.Cookies()) != 0 ||
			doc.Find("meta[name=robots][content=noindex]").Length() != 1 || res.Header.Get("X-Robots-Tag") != "noindex" {
			t.Errorf("%d %v", res.StatusCode, res.Header)
		}
		if doc.Find("h1").Text() != "When is the garden open in winter" || doc.Find(".d-turn__body em").Text() != "ten" || doc.Find(".d-sources__cited > li").Length() != 2 {
			t.Errorf("the page: %s", body)
		}
		for _, a := range doc.Find(".d-turn__body a[href^='#source-']").EachIter() {
			if doc.Find(a.AttrOr("href", "")).Length() != 1 {
				t.Errorf("nothing is at %s", a.AttrOr("href", ""))
			}
		}
		for _, part := range []string{"written by software", "Ask a question of your own"} {
			if !strings.Contains(body, part) {
				t.Errorf("the page lacks %q", part)
			}
		}
		id := strings.TrimPrefix(turn, "/ai-answers/turns/")
		if strings.Contains(body, id) || strings.Contains(body, strings.TrimPrefix(strings.Split(conversation, "?")[0], "/ai-answers/conversations/")) || strings.Contains(body, "unshare") {
			t.Error("the page gives ids away, or lets readers withdraw it")
		}

		_, body = s.get(asker, conversation, "Accept", "text/html")
		if res, _ = s.do(asker, "POST", parse(t, body).Find(".d-share form").AttrOr("action", ""), "", form...); res.StatusCode != 303 {
			t.Errorf("withdrawn: %d", res.StatusCode)
		}
		if status, body := page(s.get(reader, path, "Accept", "text/html")); status != 404 || strings.Contains(body, "garden open in winter") || !strings.Contains(body, "withdrawn") {
			t.Errorf("after that: %d", status)
		}
		if s.sharePath(asker, conversation) != "" {
			t.Error("the conversation still shows the link")
		}
	})
}

func TestSharedPageIsJudgedForItsReader(t *testing.T) {
	eachShareSite(t, func(t *testing.T, s *testSite, d *db.DB) {
		admin, token := s.signIn()
		asker, reader := client(t), client(t)
		_, turn := s.askPlain(asker, d)
		share := func(c *http.Client, token, turn string) (int, string) {
			res, body := s.do(c, "POST", turn+"/share", "{}", "Content-Type", asJSON, "X-CSRF-Token", token)
			if res.StatusCode != 200 {
				return res.StatusCode, ""
			}
			return 200, strings.TrimPrefix(decode[map[string]string](t, body)["url"], publicAddress)
		}
		_, path := share(asker, s.token(asker), turn)
		expect := func(c *http.Client, status int, part string) {
			t.Helper()
			res, body := s.get(c, path, "Accept", "text/html")
			shown := strings.Contains(body, "d-turn__body")
			if res.StatusCode != status || !strings.Contains(body, part) || shown != (status == 200) || !shown && strings.Contains(body, "open from") {
				t.Errorf("%d, want %d with %q: %s", res.StatusCode, status, part, body)
			}
		}
		expect(reader, 200, "written by software")
		change := func(query string, args ...any) {
			t.Helper()
			if _, err := d.Exec(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		var source string
		if err := d.Get(t.Context(), &source, "select entity_id from turn_sources where turn_id = ? and final = 2", strings.TrimPrefix(turn, "/ai-answers/turns/")); err != nil {
			t.Fatal(err)
		}
		change(`update entities set view_roles = '["authenticated"]' where id = ?`, source)
		expect(reader, 403, "sign in")
		expect(admin, 200, "written by software")
		if res, body := s.get(reader, path, "Accept", asJSON); res.StatusCode != 403 || !strings.Contains(body, `"message"`) || strings.Contains(body, "garden") {
			t.Errorf("as JSON: %d %s", res.StatusCode, body)
		}
		if status, _ := share(asker, s.token(asker), turn); status != 409 {
			t.Errorf("sharing what is hidden by now: %d", status)
		}
		change("delete from entities where id = ?", source)
		expect(reader, 410, "no longer published")
		expect(admin, 410, "no longer published")
		change("update answer_shares set expires_at = ?", db.Now())
		expect(reader, 410, "time of this link is over")
		if res, _ := s.get(reader, "/ai-answers/shared/0123", "Accept", "text/html"); res.StatusCode != 404 {
			t.Errorf("a made-up link: %d", res.StatusCode)
		}

		// An account's turn is that account's to share and to withdraw.
		_, mine := s.askPlain(admin, d)
		if status, _ := share(asker, s.token(asker), mine); status != 404 {
			t.Errorf("a stranger shares: %d", status)
		}
		status, link := share(admin, token, mine)
		if status != 200 {
			t.Fatalf("the owner shares: %d", status)
		}
		if res, _ := s.do(asker, "POST", mine+"/unshare", "{}", "Content-Type", asJSON, "X-CSRF-Token", s.token(asker)); res.StatusCode != 404 {
			t.Errorf("a stranger withdraws: %d", res.StatusCode)
		}
		if res, _ := s.get(reader, link, "Accept", "text/html"); res.StatusCode != 200 {
			t.Errorf("after that: %d", res.StatusCode)
		}
		if res, _ := s.do(admin, "POST", mine+"/unshare", "{}", "Content-Type", asJSON, "X-CSRF-Token", token); res.StatusCode != 204 {
			t.Errorf("the owner withdraws: %d", res.StatusCode)
		}
	})
}

func TestShareFragmentsAndLimits(t *testing.T) {
	eachShareSite(t, func(t *testing.T, s *testSite, d *db.DB) {
		asker := client(t)
		conversation, turn := s.askPlain(asker, d)
		post := func(what string) (*http.Response, string) {
			return s.do(asker, "POST", turn+what+"?lang=en", "", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true", "Accept", "text/html")
		}
		// Many clicks at once make one link.
		links := make([]string, 6)
		var wg sync.WaitGroup
		for i := range links {
			wg.Go(func() {
				res, body := post("/share")
				area := parse(t, body).Find("[id$='-share']")
				if res.StatusCode != 200 || area.Length() != 1 {
					t.Errorf("%d %s", res.StatusCode, body)
				}
				links[i] = area.Find("input").AttrOr("value", "")
			})
		}
		wg.Wait()
		for _, l := range links {
			if l == "" || l != links[0] {
				t.Fatalf("links %q", links)
			}
		}
		_, body := post("/unshare")
		if form := parse(t, body).Find(".d-share form[hx-post]"); !strings.Contains(form.AttrOr("action", ""), "/share?") {
			t.Errorf("after withdrawing: %s", body)
		}
		var limited *http.Response
		for range 25 {
			if res, _ := post("/share"); res.StatusCode != 200 {
				limited = res
				break
			}
		}
		if limited == nil || limited.StatusCode != 429 || limited.Header.Get("Retry-After") == "" {
			t.Errorf("25 at once: %v", limited)
		}

		// Deleting the conversation withdraws what it shares.
		path := s.sharePath(asker, conversation)
		if res, _ := s.get(asker, path); res.StatusCode != 200 {
			t.Fatalf("%q: %d", path, res.StatusCode)
		}
		s.post(asker, strings.Split(conversation, "?")[0]+"/delete", url.Values{})
		if res, _ := s.get(asker, path); res.StatusCode != 404 {
			t.Errorf("after the conversation is deleted: %d", res.StatusCode)
		}
	})
}

// The answer as Markdown has the numbers of the list of sources, which run on.
func TestAnswerAsMarkdown(t *testing.T) {
	model := llmtest.NewFakeOpenAI(llmtest.Stream("Ten [2] to four [1][9].\n\n```\nx[1]\n```"), llmtest.Stream("Again [3], and [2]."))
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake", "DOCENT_BASE_URL": publicAddress})
	c := client(t)
	token := s.token(c)
	type answered struct {
		ConversationID string `json:"conversation_id"`
		TurnID         string `json:"turn_id"`
		Answer         struct {
			References []testReference `json:"references"`
		} `json:"answer"`
	}
	ask := func(conversation string) answered {
		_, body := s.do(c, "POST", "/ai-answers/question", `{"agent":"site","question":"When is the garden open in winter?","conversation_id":"`+conversation+`"}`, "Content-Type", asJSON, "X-CSRF-Token", token)
		return decode[answered](t, body)
	}
	first := ask("")
	res, body := s.get(c, "/ai-answers/turns/"+first.TurnID+"/markdown")
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/markdown; charset=utf-8" || res.Header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%d %v", res.StatusCode, res.Header)
	}
	refs := first.Answer.References
	want := "Ten [1] to four [2].\n\n```\nx[1]\n```\n\n## Sources\n\n- [1] [" + refs[0].Label + "](" + publicAddress + refs[0].URL + ")\n- [2] [" + refs[1].Label + "](" + publicAddress + refs[1].URL + ")\n"
	if body != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
	second := ask(first.ConversationID)
	if _, body = s.get(c, "/ai-answers/turns/"+second.TurnID+"/markdown"); !strings.HasPrefix(body, "Again [3], and [1].\n\n## Sources\n\n- [1] [") || !strings.Contains(body, "\n- [3] [") {
		t.Errorf("the second turn:\n%s", body)
	}
	if res, _ = s.get(c, "/ai-answers/turns/0123/markdown"); res.StatusCode != 404 {
		t.Errorf("an unknown turn: %d", res.StatusCode)
	}
	_, page := s.get(c, "/ai-answers/conversations/"+first.ConversationID, "Accept", "text/html")
	if got := parse(t, page).Find("a[data-docent-copy-markdown]").AttrOr("href", ""); !strings.HasPrefix(got, "/ai-answers/turns/"+first.TurnID+"/markdown") {
		t.Errorf("the page copies from %q", got)
	}
}

// Suggested follow-ups are on the page, in the stream's last frame and in JSON.
func TestSuggestedFollowUps(t *testing.T) {
	s := serveSite(t, nil)
	c := client(t)
	_, body := s.do(c, "POST", "/ai-answers/question", `{"agent":"site","question":"How much is a ticket for a family?"}`, "Content-Type", asJSON, "X-CSRF-Token", s.token(c))
	got := decode[struct {
		ConversationID string   `json:"conversation_id"`
		TurnID         string   `json:"turn_id"`
		Suggestions    []string `json:"suggestions"`
	}](t, body)
	if len(got.Suggestions) == 0 || len(got.Suggestions) > 3 {
		t.Fatalf("suggestions %q", got.Suggestions)
	}
	all := events(t, second(s.get(c, "/ai-answers/turns/"+got.TurnID+"/events")))
	if done := decode[struct{ Suggestions []string }](t, all[len(all)-1].data); len(done.Suggestions) != len(got.Suggestions) {
		t.Errorf("done: %q", done.Suggestions)
	}
	frames := events(t, second(s.get(c, "/ai-answers/turns/"+got.TurnID+"/events?as=html", "HX-Request", "true")))
	page := second(s.get(c, "/ai-answers/conversations/"+got.ConversationID, "Accept", "text/html"))
	for where, html := range map[string]string{"frame": frames[0].data, "page": page} {
		var chips []string
		for _, chip := range parse(t, html).Find(".d-follow .chip[name=question]").EachIter() {
			chips = append(chips, chip.AttrOr("value", ""))
		}
		if strings.Join(chips, "|") != strings.Join(got.Suggestions, "|") {
			t.Errorf("%s: %q, want %q", where, chips, got.Suggestions)
		}
	}
	// Each can be asked, and answered.
	for _, q := range got.Suggestions {
		res, body := s.do(c, "POST", "/ai-answers/question", url.Values{"agent": {"site"}, "question": {q}, "conversation_id": {got.ConversationID}}.Encode(),
			"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Accept", asJSON)
		if answer := decode[struct{ Status string }](t, body); res.StatusCode != 200 || answer.Status != "done" {
			t.Errorf("%q: %d %s", q, res.StatusCode, answer.Status)
		}
	}
}

func second(_ *http.Response, body string) string { return body }
