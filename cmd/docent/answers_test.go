package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// signedIn returns a client of the administrator's.
func (s *testSite) signedIn(password string) *http.Client {
	s.t.Helper()
	c := client(s.t)
	res, _ := s.do(c, "POST", "/user/login", url.Values{"name": {"admin"}, "password": {password}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
	if res.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("sign in: %d", res.StatusCode)
	}
	return c
}

func TestReportsOfAnswers(t *testing.T) {
	eachDatabase(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"}, func(t *testing.T, s *testSite) {
		visitor := client(t)
		token := s.token(visitor)
		ask := func(question string) string {
			_, body := s.do(visitor, "POST", "/ai-answers/question", `{"agent":"site","question":"`+question+`"}`, "Content-Type", asJSON, "X-CSRF-Token", token)
			return decode[struct {
				ConversationID string `json:"conversation_id"`
			}](t, body).ConversationID
		}
		id := ask("=When is the garden open in winter?")
		ask("Who is ada@example.org, +44 20 7946 0958?")
		s.do(visitor, "POST", "/ai-answers/feedback", `{"conversation_id":"`+id+`","turn":1,"rating":"down","reasons":["outdated"],"comment":"<b>old</b>"}`, "Content-Type", asJSON, "X-CSRF-Token", token)

		for _, path := range []string{"/admin/reports/answers", "/admin/reports/answers.csv", "/admin/config/ai/ai-answers/agents"} {
			if res, _ := s.get(visitor, path, "Accept", "text/html"); res.StatusCode == 200 {
				t.Errorf("a visitor may read %s", path)
			}
		}
		admin := s.signedIn("correct horse battery")
		_, body := s.get(admin, "/admin/reports/answers")
		if strings.Contains(body, "ada@example.org") || strings.Contains(body, "7946") || !strings.Contains(body, "[mail]") {
			t.Error("personal data is not masked")
		}
		page := parse(t, body)
		if n := page.Find("tbody tr").Length(); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
		_, body = s.get(admin, "/admin/reports/answers?rating=negative&outcome=answered&agent=site&text=garden")
		row := parse(t, body).Find("tbody tr")
		if row.Length() != 1 {
			t.Fatalf("%d rows pass the filter", row.Length())
		}
		res, body := s.get(admin, row.Find("th a").AttrOr("href", ""))
		run := parse(t, body)
		if res.StatusCode != 200 || run.Find(".run__feedback b").Length() != 0 || !strings.Contains(run.Find(".run__feedback").Text(), "<b>old</b>") ||
			run.Find(".run__steps > li").Length() < 2 || run.Find(".run__table tbody tr").Length() == 0 {
			t.Errorf("run %d: %s", res.StatusCode, run.Find("main").Text())
		}
		res, body = s.get(admin, "/admin/reports/answers.csv?text=garden")
		rows, err := csv.NewReader(bytes.NewReader([]byte(body))).ReadAll()
		if err != nil || len(rows) != 2 || !strings.HasPrefix(res.Header.Get("Content-Disposition"), "attachment") {
			t.Fatalf("%d rows, %v, %v", len(rows), err, res.Header)
		}
		for _, cell := range rows[1] {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
		if res, _ = s.get(admin, "/admin/reports/answers/nothing"); res.StatusCode != 404 {
			t.Errorf("unknown run: %d", res.StatusCode)
		}
		// An administrator's answers carry their ids.
		_, body = s.do(admin, "POST", "/ai-answers/question", `{"agent":"site","question":"Is there a café?"}`, "Content-Type", asJSON, "X-CSRF-Token", s.token(admin))
		ids := decode[map[string]any](t, body)
		if res, _ = s.get(admin, "/admin/reports/answers/"+fmt.Sprint(ids["log_id"])); res.StatusCode != 200 || ids["trace_id"] == nil {
			t.Errorf("record %v: %d", ids["log_id"], res.StatusCode)
		}
	})
}

func TestQuestionsOfOneVisitorAreLimited(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	admin := s.signedIn("correct horse battery")
	_, body := s.get(admin, "/admin/config/ai/ai-answers")
	form := formOf(t, body)
	form.Set("per_minute", "2")
	form.Set("prices", "offline 1 2\nbroken")
	post := func(path string, form url.Values) (*http.Response, string) {
		return s.do(admin, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	res, body := post("/admin/config/ai/ai-answers", form)
	if res.StatusCode != 422 || !strings.Contains(body, "broken") {
		t.Errorf("a price that cannot be read: %d", res.StatusCode)
	}
	form.Set("prices", "offline 1 2")
	if res, body = post("/admin/config/ai/ai-answers", form); res.StatusCode != 303 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	visitor := client(t)
	token := s.token(visitor)
	for i, want := range []int{200, 200, 429} {
		res, body := s.do(visitor, "POST", "/ai-answers/question", `{"agent":"site","question":"When is the garden open?"}`, "Content-Type", asJSON, "X-CSRF-Token", token)
		if res.StatusCode != want || want == 429 && (res.Header.Get("Retry-After") == "" || !strings.Contains(body, "seconds")) {
			t.Errorf("question %d: %d %v %s", i+1, res.StatusCode, res.Header, body)
		}
	}
}

// formOf is what a browser would send of the page's form.
func formOf(t *testing.T, body string) url.Values {
	t.Helper()
	values := url.Values{}
	form := parse(t, body).Find("main form.structform")
	for _, n := range form.Find("input[name], textarea[name], select[name]").EachIter() {
		name := n.AttrOr("name", "")
		switch {
		case n.Is("[type=checkbox], [type=radio]"):
			if _, on := n.Attr("checked"); on {
				values.Add(name, n.AttrOr("value", ""))
			}
		case n.Is("select"):
			values.Add(name, n.Find("option[selected]").AttrOr("value", n.Find("option").First().AttrOr("value", "")))
		case n.Is("textarea"):
			values.Add(name, n.Text())
		default:
			values.Add(name, n.AttrOr("value", ""))
		}
	}
	return values
}

func TestAgentsForm(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	admin := s.signedIn("correct horse battery")
	const agents = "/admin/config/ai/ai-answers/agents"
	post := func(path string, form url.Values) (*http.Response, string) {
		return s.do(admin, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	}
	// A context first, so that the agent can name it.
	_, body := s.get(admin, "/admin/config/ai/ai-answers/contexts/new")
	form := formOf(t, body)
	form.Set("label", "House rules")
	form.Set("text.en", "Dogs are welcome on a lead.")
	form.Set("paths", "visit")
	if res, body := post("/admin/config/ai/ai-answers/contexts/new", form); res.StatusCode != 422 || !strings.Contains(body, "House rules") {
		t.Errorf("a path without its slash: %d", res.StatusCode)
	}
	form.Set("paths", "/visit/")
	if res, body := post("/admin/config/ai/ai-answers/contexts/new", form); res.StatusCode != 303 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}

	_, body = s.get(admin, agents+"/new")
	form = formOf(t, body)
	form.Set("label", "Visits & tickets")
	form.Set("contexts", "house_rules")
	form.Set("rounds", "many")
	res, body := post(agents+"/new", form)
	if res.StatusCode != 422 || parse(t, body).Find("#agent-label").AttrOr("value", "") != "Visits & tickets" || parse(t, body).Find("#agent-rounds-error").Length() != 1 {
		t.Errorf("a number in words: %d", res.StatusCode)
	}
	form.Set("rounds", "3")
	form.Set("share_days", "")
	if res, body = post(agents+"/new", form); res.StatusCode != 422 || parse(t, body).Find("#agent-share_days-error").Length() != 1 {
		t.Errorf("shared for no time at all: %d", res.StatusCode)
	}
	form.Set("share_days", "7")
	form.Set("suggest", "model")
	if res, body = post(agents+"/new", form); res.StatusCode != 303 {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	address := strings.TrimSuffix(res.Header.Get("Location"), "?done=added")
	if address != agents+"/visits_tickets" {
		t.Errorf("the new agent is at %s", address)
	}
	_, body = s.get(admin, address)
	if saved := formOf(t, body); saved.Get("share") != "yes" || saved.Get("share_days") != "7" || saved.Get("suggest") != "model" {
		t.Errorf("saved: %v", saved)
	}
	// It is closed, and says why to those who can open it.
	_, body = s.get(admin, agents)
	if !strings.Contains(body, "It is not enabled for answers.") {
		t.Error("the overview does not say what is missing")
	}
	ask := func(c *http.Client) (int, string) {
		res, body := s.do(c, "POST", "/ai-answers/question", `{"agent":"visits_tickets","question":"When is the garden open?"}`, "Content-Type", asJSON, "X-CSRF-Token", s.token(c))
		return res.StatusCode, body
	}
	if status, body := ask(admin); status != 409 || !strings.Contains(body, "not enabled") {
		t.Errorf("administrator: %d %s", status, body)
	}
	if status, body := ask(client(t)); status != 409 || strings.Contains(body, "not enabled") {
		t.Errorf("visitor: %d %s", status, body)
	}
	// It can be tried out all the same, with what is in the form.
	_, body = s.get(admin, address)
	form = formOf(t, body)
	form.Set("prompt", "UNSAVED PROMPT")
	form.Set("try_question", "When is the garden open in winter?")
	res, body = post(address+"/try", form)
	page := parse(t, body)
	if res.StatusCode != 200 || !strings.Contains(page.Find(".run").Text(), "UNSAVED PROMPT") || page.Find(".run__hits li").Length() == 0 || page.Find("#agent-prompt").Text() != "UNSAVED PROMPT" {
		t.Errorf("trial: %d %s", res.StatusCode, page.Find(".run").Text())
	}
	form.Set("try_question", " ")
	if res, body = post(address+"/try", form); res.StatusCode != 400 || !strings.Contains(body, "UNSAVED PROMPT") {
		t.Errorf("an empty trial: %d", res.StatusCode)
	}
	_, body = s.get(admin, address)
	form = formOf(t, body)
	if form.Get("prompt") == "UNSAVED PROMPT" {
		t.Error("a trial saved the form")
	}
	form.Set("enabled", "yes")
	if res, _ = post(address, form); res.StatusCode != 303 {
		t.Errorf("enable: %d", res.StatusCode)
	}
	if status, body := ask(client(t)); status != 200 {
		t.Errorf("the agent answers %d %s", status, body)
	}
	if res, _ = post("/admin/config/ai/ai-answers/contexts/house_rules/delete", url.Values{"csrf_token": form["csrf_token"]}); res.StatusCode != 422 {
		t.Errorf("a context in use was deleted: %d", res.StatusCode)
	}
	if res, _ = post(address+"/delete", url.Values{"csrf_token": form["csrf_token"]}); res.StatusCode != 303 {
		t.Errorf("delete: %d", res.StatusCode)
	}
	if res, _ = s.get(admin, address); res.StatusCode != 404 {
		t.Errorf("after delete: %d", res.StatusCode)
	}
}

// Without scripts a vote is a form that leads back to the conversation.
func TestFeedbackWithoutScripts(t *testing.T) {
	s := serveSite(t, nil)
	c := client(t)
	form := []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Accept", "text/html"}
	res, _ := s.do(c, "POST", "/ai-answers/question", "agent=site&question=When+is+the+garden+open+in+winter", form...)
	conversation := res.Header.Get("Location")
	_, body := s.get(c, conversation, "Accept", "text/html")
	vote := parse(t, body).Find(".d-feedback__vote")
	values := url.Values{"rating": {"down"}}
	for _, in := range vote.Find("input").EachIter() {
		values.Set(in.AttrOr("name", ""), in.AttrOr("value", ""))
	}
	res, _ = s.do(c, "POST", vote.AttrOr("action", ""), values.Encode(), form...)
	if res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), strings.Split(conversation, "?")[0]) {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	_, body = s.get(c, conversation, "Accept", "text/html")
	page := parse(t, body)
	if page.Find(".d-feedback button[value=down]").AttrOr("aria-pressed", "") != "true" || page.Find(".d-feedback__why input[name=reasons]").Length() != 6 {
		t.Error("the vote is not shown, or its reasons are not asked for")
	}
	values["reasons"], values["comment"] = []string{"wrong", "unclear"}, []string{"It was shut."}
	s.do(c, "POST", vote.AttrOr("action", ""), values.Encode(), form...)
	_, body = s.get(c, conversation, "Accept", "text/html")
	if page = parse(t, body); page.Find(".d-feedback__why").Length() != 0 || page.Find(".d-feedback [role=status]").Length() != 1 {
		t.Error("the comment is not thanked for")
	}
}

// A visitor rates; an administrator reads the report and tries an agent out.
func TestBrowserReportsAndTrial(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword})
	for _, size := range []struct {
		name          string
		width, height int
	}{{"desktop", 1280, 1000}, {"phone", 390, 844}} {
		t.Run(size.name, func(t *testing.T) {
			ctx := browser(t, size.width, size.height)
			do(t, ctx, chromedp.Navigate(s.url+"/answers"))
			until(t, ctx, "window.htmx && document.documentElement.classList.contains('js')")
			set(t, ctx, "textarea[name=question], input[name=question]", "When is the garden open in winter?")
			script[bool](t, ctx, "document.querySelector('[name=question]').form.requestSubmit(), true")
			until(t, ctx, "document.querySelector('.d-feedback button[value=down]')")
			script[bool](t, ctx, "document.querySelector('.d-feedback button[value=down]').click(), true")
			until(t, ctx, "document.querySelector('.d-feedback__why')")
			shot(t, ctx, "feedback")
			set(t, ctx, ".d-feedback__why textarea", "It was shut on Thursday.")
			script[bool](t, ctx, "document.querySelector('.d-feedback__why input[value=wrong]').click(), document.querySelector('.d-feedback__why button').click(), true")
			until(t, ctx, "document.querySelector('.d-feedback [role=status]') && !document.querySelector('.d-feedback__why')")
			script[bool](t, ctx, "document.querySelectorAll('.d-source details').forEach(d => d.open = true), true")
			if !script[bool](t, ctx, "document.querySelector('.d-source mark')?.textContent.length > 10 && document.querySelector('.d-source__more a').href.includes(':~:text=')") {
				t.Error("the card does not mark the passage or does not lead to it")
			}
			shot(t, ctx, "card")
			do(t, ctx, chromedp.Navigate(s.url+"/answers"))
			until(t, ctx, "window.htmx && document.documentElement.classList.contains('js')")
			set(t, ctx, "textarea[name=question], input[name=question]", "What is the airspeed of an unladen swallow?")
			script[bool](t, ctx, "document.querySelector('[name=question]').form.requestSubmit(), true")
			until(t, ctx, "document.querySelector('.d-refusal .near a')")
			shot(t, ctx, "refusal")

			signIn(t, ctx, s, "admin")
			for _, page := range []string{"reports/answers", "config/ai/ai-answers/agents", "config/ai/ai-answers/contexts/new", "config/ai/ai-answers"} {
				do(t, ctx, chromedp.Navigate(s.url+"/admin/"+page))
				until(t, ctx, "document.querySelector('.admin h1')")
				if script[bool](t, ctx, "document.documentElement.scrollWidth > innerWidth + 1") {
					t.Errorf("%s is wider than the window", page)
				}
				shot(t, ctx, strings.ReplaceAll(page, "/", "-"))
			}
			do(t, ctx, chromedp.Navigate(s.url+"/admin/reports/answers?rating=negative"))
			until(t, ctx, "document.querySelector('tbody th a')")
			do(t, ctx, chromedp.Click("tbody th a"))
			until(t, ctx, "document.querySelector('.run__steps')")
			shot(t, ctx, "run")
			do(t, ctx, chromedp.Navigate(s.url+"/admin/config/ai/ai-answers/agents/site"))
			until(t, ctx, "document.querySelector('#try-question')")
			shot(t, ctx, "agent")
			set(t, ctx, "#try-question", "Is there a café?")
			script[bool](t, ctx, "document.querySelector('button[formaction]').click(), true")
			until(t, ctx, "document.querySelector('.run__steps')")
			script[bool](t, ctx, "document.querySelectorAll('.run details').forEach(d => d.open = true), document.querySelector('#try').scrollIntoView(), true")
			shot(t, ctx, "trial")
		})
	}
}

// What a visitor typed about an answer survives a site that cannot be reached.
func TestBrowserFeedbackSurvivesAFailedRequest(t *testing.T) {
	s := serveSite(t, nil)
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(s.url+"/answers"))
	until(t, ctx, "window.htmx && document.documentElement.classList.contains('js')")
	set(t, ctx, "input[name=question]", "When is the garden open in winter?")
	script[bool](t, ctx, "document.querySelector('[name=question]').form.requestSubmit(), true")
	until(t, ctx, "document.querySelector('.d-feedback button[value=down]')")
	script[bool](t, ctx, "document.querySelector('.d-feedback button[value=down]').click(), true")
	until(t, ctx, "document.querySelector('.d-feedback__why')")
	set(t, ctx, ".d-feedback__why textarea", "It was shut on Thursday.")
	s.stop()
	script[bool](t, ctx, "document.querySelector('.d-feedback__why button').click(), true")
	until(t, ctx, "document.querySelector('.d-feedback__why .notice')")
	if script[string](t, ctx, "document.querySelector('.d-feedback__why textarea').value") != "It was shut on Thursday." ||
		script[bool](t, ctx, "document.querySelector('.d-feedback__why button').disabled") {
		t.Error("the comment is lost, or cannot be sent again")
	}
}
