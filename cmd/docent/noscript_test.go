package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"docent/internal/llm/llmtest"
)

// A plainReader is a browser with scripts off: it opens pages and sends their forms.
type plainReader struct {
	t    *testing.T
	site *testSite
	c    *http.Client
	at   string // address of the page
	res  *http.Response
	page *goquery.Document
}

func (s *testSite) reader() *plainReader { return &plainReader{t: s.t, site: s, c: client(s.t)} }

func (r *plainReader) open(path string) *plainReader {
	r.t.Helper()
	return r.load("GET", path, "")
}

func (r *plainReader) load(method, path, body string) *plainReader {
	r.t.Helper()
	header := []string{"Accept", "text/html,application/xhtml+xml"}
	if method == "POST" {
		header = append(header, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Referer", r.site.url+r.at)
	}
	res, text := r.site.do(r.c, method, path, body, header...)
	if to := res.Header.Get("Location"); to != "" {
		if method == "POST" && res.StatusCode != http.StatusSeeOther {
			r.t.Fatalf("%s: %d", path, res.StatusCode)
		}
		return r.open(to)
	}
	r.at, r.res, r.page = path, res, parse(r.t, text)
	return r
}

// send presses a form's button, with the fields of the form and those given.
func (r *plainReader) send(form *goquery.Selection, fields ...string) *plainReader {
	r.t.Helper()
	if form.Length() != 1 {
		r.t.Fatalf("%s has %d such forms:\n%s", r.at, form.Length(), r.page.Find("main").Text())
	}
	if form.AttrOr("method", "") != "post" {
		r.t.Fatalf("%s: a form that gets", r.at)
	}
	values := url.Values{}
	for _, in := range form.Find("input[name], textarea[name]").EachIter() {
		if in.Is("[type=checkbox]:not([checked])") {
			continue
		}
		values.Add(in.AttrOr("name", ""), in.AttrOr("value", ""))
	}
	for i := 0; i < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return r.load("POST", form.AttrOr("action", ""), values.Encode())
}

func (r *plainReader) want(status int, what string, selectors ...string) *plainReader {
	r.t.Helper()
	if r.res.StatusCode != status {
		r.t.Fatalf("%s: %s is %d, want %d:\n%s", what, r.at, r.res.StatusCode, status, r.page.Find("main").Text())
	}
	if r.page.Find("h1").Length() != 1 || r.page.Find("main").Length() != 1 || r.page.Find("header.site").Length() != 1 {
		r.t.Errorf("%s: %s is no whole page", what, r.at)
	}
	for _, selector := range selectors {
		if r.page.Find(selector).Length() == 0 {
			r.t.Errorf("%s: %s has no %s:\n%s", what, r.at, selector, r.page.Find("main").Text())
		}
	}
	return r
}

func (r *plainReader) language(want string) *plainReader {
	r.t.Helper()
	if got := r.page.Find("html").AttrOr("lang", ""); got != want {
		r.t.Errorf("%s is in %q, want %q", r.at, got, want)
	}
	return r
}

// Without scripts every block is a form that works: asking from any page, by a
// suggestion, asking on, rating, sharing, a new question, deleting.
func TestEverythingWithoutScripts(t *testing.T) {
	eachDatabase(t, nil, func(t *testing.T, s *testSite) {
		r := s.reader()
		for _, path := range []string{"/", "/visit/", "/search?q=zzzqqq"} {
			r.open(path).want(200, "a page", "form[data-docent-question]")
			r.send(r.page.Find("form[data-docent-question]").First(), "question", "When is the garden open in winter?").
				want(200, "an answer asked on "+path, ".d-turn__body .d-cite a[href^='#source-']", "#source-1", ".d-follow form[data-docent-follow]")
		}
		suggested := 0
		for _, path := range []string{"/", "/answers"} {
			r.open(path)
			chips := r.page.Find("form[data-docent-chips]").First()
			if chips.Length() == 0 {
				continue // this page suggests nothing
			}
			suggested++
			r.send(chips, "question", chips.Find("button[name=question]").First().AttrOr("value", "")).want(200, "a suggestion of "+path, "[data-docent-turn]")
		}
		if suggested == 0 {
			t.Error("no page suggests a question")
		}
		r.open("/visit/")
		r.send(r.page.Find("form[data-docent-question]").First(), "question", "When is the garden open in winter?")
		first := r.at
		if next := r.page.Find(".d-status__new").AttrOr("href", ""); next != "/visit/" {
			t.Errorf("a new question is asked at %q", next)
		}
		r.send(r.page.Find("form[data-docent-follow]"), "question", "How much is a family ticket?").want(200, "a follow-up")
		if n := r.page.Find("[data-docent-turn]").Length(); n != 2 {
			t.Fatalf("%d turns after a follow-up", n)
		}
		for _, el := range r.page.Find(".d-turn__body .d-cite a").EachIter() {
			if r.page.Find(el.AttrOr("href", "")).Length() != 1 {
				t.Errorf("%s leads nowhere", el.AttrOr("href", ""))
			}
		}

		r.send(r.page.Find(".d-feedback__vote").Last(), "rating", "down").want(200, "a vote", ".d-feedback button[value=down][aria-pressed=true]", ".d-feedback__why input[name=reasons]")
		why := r.page.Find(".d-feedback__why")
		r.send(why, "reasons", why.Find("input[name=reasons]").First().AttrOr("value", ""), "comment", "It was shut.").want(200, "reasons", ".d-feedback [role=status]")

		r.send(r.page.Find("form[action*='/share']").Last()).want(200, "a link to share")
		r.send(r.page.Find("form[action*='/unshare']").Last()).want(200, "no link to share")

		r.send(r.page.Find("form[action*='/delete']")).want(200, "after deleting: the page that the question came from", ".article-head", "form[data-docent-question]")
		r.open(first).want(404, "a deleted conversation", "form[data-docent-question]", "a[href$='/search']")
	})
}

// A page keeps its language through all of its forms.
func TestFormsKeepTheirLanguage(t *testing.T) {
	s := serveSite(t, nil)
	for lang, question := range map[string]string{"es": "¿Cuándo abre el jardín en invierno?", "ar": "متى تفتح الحديقة في الشتاء؟"} {
		r := s.reader()
		r.open("/"+lang+"/").want(200, lang, "form[data-docent-question]")
		r.send(r.page.Find("form[data-docent-question]").First(), "question", question).want(200, "asked in "+lang, "[data-docent-turn]").language(lang)
		r.send(r.page.Find("form[data-docent-follow]"), "question", question).want(200, "a follow-up in "+lang).language(lang)
		r.send(r.page.Find(".d-feedback__vote").Last(), "rating", "up").want(200, "a vote in "+lang).language(lang)
		if href := r.page.Find(".d-status__new").Last().AttrOr("href", ""); !strings.HasPrefix(href, "/"+lang+"/") {
			t.Errorf("a new question in %s is asked at %q", lang, href)
		}
		r.send(r.page.Find("form[data-docent-follow]"), "question", strings.Repeat("x", 5000)).want(400, "too long in "+lang, "form input[name=question]").language(lang)
		r.open("/" + lang + "/")
		r.send(r.page.Find("form[data-docent-question]").First(), "question", question)
		r.send(r.page.Find("form[action*='/delete']")).want(200, "deleted in "+lang).language(lang)
	}
}

// While an answer is being written its page loads itself again, and can be stopped.
func TestAnswerPageWaitsWithoutScripts(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Half an answer [1].\n\n", "Never seen.")
	reply.Gate = gate
	model := llmtest.NewFakeOpenAI(reply)
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
	r := s.reader()
	_, body := s.do(r.c, "POST", "/ai-answers/question", url.Values{"question": {"When is the garden open?"}, "agent": {"site"}, "lang": {"es"}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true")
	conversation := parse(t, body).Find("[data-docent-turn]").AttrOr("data-docent-conversation", "")
	address := "/ai-answers/conversations/" + conversation + "?lang=es"
	pass(t, gate, 2)
	// goquery reads noscript as a browser with scripts does: as text.
	r.open(address).want(200, "a page that waits", "noscript", "form[action*='/stop']").language("es")
	if !strings.Contains(r.page.Find("head noscript").Text(), `http-equiv="refresh"`) {
		t.Errorf("the page does not load itself again: %s", r.page.Find("head noscript").Text())
	}
	r.send(r.page.Find("form[action*='/stop']")).language("es")
	for r.page.Find("[data-docent-state=stopped]").Length() == 0 { // the page says what is going on
		if r.page.Find("[data-docent-stream]").Length() == 0 {
			t.Fatalf("neither stopped nor running: %s", r.page.Find("main").Text())
		}
		r.open(r.at)
	}
	if r.page.Find("head noscript").Length() != 0 || !strings.Contains(r.page.Find(".d-turn__body").Text(), "Half an answer") {
		t.Errorf("a stopped answer: %s", r.page.Find("main").Text())
	}
	r.want(200, "stopped", "form[data-docent-follow]", ".d-turn__end form input[name=question]")
}

// What goes wrong is told in plain words: without scripts on a page that keeps the
// question, with scripts in a notice beside the form, which keeps it too.
func TestRefusedQuestions(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	r := s.reader()
	r.open("/visit/")
	r.send(r.page.Find("form[data-docent-question]").First(), "question", "When is the garden open?").want(200, "an answer")
	form := r.page.Find("form[data-docent-follow]")
	gone := strings.TrimSuffix(strings.Split(strings.TrimPrefix(r.at, "/ai-answers/conversations/"), "?")[0], "/")
	s.reader().load("POST", "/ai-answers/conversations/"+gone+"/delete", "")

	admin := s.signedIn("correct horse battery")
	settings := func(path string, change func(url.Values)) {
		t.Helper()
		_, body := s.get(admin, path)
		form := formOf(t, body)
		change(form)
		if res, body := s.do(admin, "POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded"); res.StatusCode != 303 {
			t.Fatalf("%s: %d %s", path, res.StatusCode, body)
		}
	}
	long := strings.Repeat("Is it open? ", 300)
	for _, tt := range []struct {
		name, question string
		status         int
		words          string
		before         func()
	}{
		{"empty", " ", 400, "question", nil},
		{"too long", long, 400, "2,000", nil},
		{"gone", "And for a family?", 404, "Conversations are kept", nil},
		{"closed", "Is there a café?", 409, "Answers are closed", func() {
			settings("/admin/config/ai/ai-answers/agents/site", func(f url.Values) { f.Del("enabled") })
		}},
		{"too many", "Is there a café, and where?", 429, "seconds", func() {
			settings("/admin/config/ai/ai-answers/agents/site", func(f url.Values) { f.Set("enabled", "yes") })
			settings("/admin/config/ai/ai-answers", func(f url.Values) { f.Set("per_minute", "1") })
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.before != nil {
				tt.before()
			}
			conversation := ""
			if tt.name == "gone" {
				conversation = gone
			}
			fields := url.Values{"question": {tt.question}, "agent": {"site"}, "block": {form.Find("[name=block]").AttrOr("value", "")}, "lang": {"en"}, "conversation_id": {conversation}}
			r.load("POST", "/ai-answers/question", fields.Encode())
			if tt.status == 429 && r.res.StatusCode == 200 { // the first of this minute
				r.load("POST", "/ai-answers/question", fields.Encode())
			}
			r.want(tt.status, tt.name)
			if text := r.page.Find("main .standfirst").Text(); !strings.Contains(text, tt.words) {
				t.Errorf("the page says %q", text)
			}
			again := r.page.Find("main .lone form[data-docent-question]")
			if again.Length() != 1 || again.Find("input[name=question]").AttrOr("value", "") != tt.question {
				t.Errorf("the question is lost: %s", r.page.Find("main").Text())
			}
			if id := again.Find("[name=conversation_id]").AttrOr("value", ""); id != "" {
				t.Errorf("the form goes on with %q", id)
			}
			after := func(res *http.Response) {
				t.Helper()
				if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); tt.status == 429 && (err != nil || seconds < 1 || seconds > 60) {
					t.Errorf("Retry-After is %q", res.Header.Get("Retry-After"))
				}
				if res.Header.Get("Cache-Control") != "no-store" || len(res.Cookies()) != 0 {
					t.Errorf("headers %v", res.Header)
				}
			}
			after(r.res)
			res, body := s.do(r.c, "POST", "/ai-answers/question", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "HX-Request", "true", "Accept", "text/html")
			after(res)
			part := parse(t, body)
			if res.StatusCode != tt.status || part.Find(".notice[role]").Length() != 1 || part.Find("form, header, h1").Length() != 0 || !strings.Contains(part.Find(".notice").Text(), tt.words) ||
				tt.status == 404 && part.Find(".notice strong").Text() != "This conversation is not here" {
				t.Errorf("with scripts: %d %s", res.StatusCode, body)
			}
		})
	}
}

// A visitor with scripts off asks by a suggestion, asks on, rates, makes a mistake
// that loses nothing, and deletes it all.
func TestBrowserJourneyWithoutScripts(t *testing.T) {
	s := serveSite(t, nil)
	ctx := browser(t, 390, 844)
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.url+"/visit/"), chromedp.SendKeys(questionField, "When is the garden open in winter?"),
		chromedp.Click(questionButton), chromedp.WaitVisible(".d-turn__body .d-cite"))
	shot(t, ctx, "answer")
	do(t, ctx, chromedp.Click(".d-feedback button[value=down]"), chromedp.WaitVisible(".d-feedback__why textarea"),
		chromedp.SendKeys(".d-feedback__why textarea", "It was shut."), chromedp.Click(".d-feedback__why button"), chromedp.WaitVisible(".d-feedback [role=status]"))
	do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", "How much is a family ticket?"),
		chromedp.Click(".d-follow form[data-docent-follow] button[type=submit]"), chromedp.WaitVisible(".d-turn:nth-of-type(2) .d-turn__body"))
	shot(t, ctx, "asked-on")
	do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", " "), chromedp.Click(".d-follow form[data-docent-follow] button[type=submit]"),
		chromedp.WaitVisible(".lone form[data-docent-question]"))
	shot(t, ctx, "mistake")
	do(t, ctx, chromedp.SendKeys(".lone form[data-docent-question] input[name=question]", "Is there a café?"),
		chromedp.Click(".lone form[data-docent-question] button[type=submit]"), chromedp.WaitVisible(".d-turn:nth-of-type(3)"))
	do(t, ctx, chromedp.Click("form[action*='/delete'] button"), chromedp.WaitVisible(".article-head"))
	shot(t, ctx, "deleted")
}
