package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"docent/internal/llm/llmtest"
)

// browser opens a tab in headless Chromium. Without one the test is skipped, or
// fails when CI is set.
func browser(t *testing.T, width, height int, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("CI must have Chromium")
		}
		t.Skip("no Chromium: install it to run the browser's journeys")
	}
	if testing.Short() {
		t.Skip("a browser's journey is long")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(width, height), chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), append(opts, more...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // starts the browser
		t.Fatal(err)
	}
	go func() {
		for m, err := range chromedp.Console(ctx) {
			if err != nil {
				return
			}
			t.Logf("console: %v", m)
		}
	}()
	return ctx
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		shot(t, ctx, "failure")
		t.Fatal(err)
	}
}

func script[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// until waits for a condition in the page, across navigations.
func until(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// While a page is being left there is none to ask: that is not an answer.
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		if err == nil && ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			shot(t, ctx, "failure")
			body, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + (document.querySelector('main')?.innerText ?? '')"))
			t.Fatalf("waited for %s: %v\n%s", js, err, body)
		}
	}
}

// The first Question block of a page.
const (
	questionField  = "form[data-docent-question] input[name=question]"
	questionButton = "form[data-docent-question] button[type=submit]"
)

// put types a question and sends it.
func put(t *testing.T, ctx context.Context, question string) {
	t.Helper()
	do(t, ctx, chromedp.SendKeys(questionField, question), chromedp.Click(questionButton))
}

// ready waits until the page's scripts run.
func ready(t *testing.T, ctx context.Context) {
	t.Helper()
	until(t, ctx, "window.htmx && document.readyState === 'complete' && document.documentElement.classList.contains('js')")
}

// shot keeps a picture of the page in the folder that DOCENT_SHOTS names.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := os.Getenv("DOCENT_SHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Logf("screenshot: %v", err)
		return
	}
	file := filepath.Join(dir, strings.ReplaceAll(t.Name(), "/", "-")+"-"+name+".png")
	if err := os.WriteFile(file, png, 0o600); err != nil {
		t.Log(err)
	}
}

// A visitor asks from the header of another page, sees the text arrive in steps,
// follows a citation to its card, asks on, loads the page again in mid-answer and
// finds one turn.
func TestBrowserJourney(t *testing.T) {
	gate := make(chan struct{})
	first := llmtest.Stream("In winter the garden opens ", "at ten [1].\n\n", "It closes **early** [2].\n\n", "- bring boots [1]\n", "- and a coat\n")
	first.Gate = gate
	second := llmtest.Stream("A family ticket [1] ", "costs less.\n\n", "Ask at the gate [2].")
	second.Gate = gate
	model := llmtest.NewFakeOpenAI(first, second)
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
	ctx := browser(t, 1280, 900)
	next := func(n int) {
		for range n {
			gate <- struct{}{}
		}
	}

	do(t, ctx, chromedp.Navigate(s.url+"/visit/"))
	ready(t, ctx)
	put(t, ctx, "When is the garden open in winter?")
	until(t, ctx, "location.pathname === '/answers' && location.hash === ''")
	until(t, ctx, "document.querySelector('[data-docent-state=searching],[data-docent-state=reading]')")
	if n := script[int](t, ctx, "document.querySelectorAll('[data-docent-turn]').length"); n != 1 {
		t.Fatalf("%d turns, want 1", n)
	}
	next(2)
	until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('In winter the garden opens')")
	if script[bool](t, ctx, "document.querySelector('.d-turn__body').innerText.includes('at ten')") {
		t.Fatal("the whole answer came at once")
	}
	shot(t, ctx, "writing")
	next(2)
	until(t, ctx, "document.querySelectorAll('.d-turn__body > *').length == 2")
	// The first block is settled: it keeps its element and what is selected in it.
	script[bool](t, ctx, `(() => { const b = document.querySelector('.d-turn__body > *'); b.tagged = true;
		getSelection().selectAllChildren(b); return true })()`)
	next(2)
	until(t, ctx, "document.querySelectorAll('.d-turn__body li').length == 2")
	if !script[bool](t, ctx, "document.querySelector('.d-turn__body > *').tagged === true && getSelection().toString().startsWith('In winter')") {
		t.Error("a settled block lost its element or its selection")
	}
	next(3)
	until(t, ctx, "document.querySelector('[data-docent-state=done]')")
	until(t, ctx, "document.querySelector('.d-turn__body').getAttribute('aria-busy') === 'false'")
	if got := script[string](t, ctx, "[...document.querySelectorAll('.d-sources__cited > li')].map(li => li.dataset.docentSource).join()"); got != "1,2" {
		t.Errorf("cards %q, want two in order of citation", got)
	}
	if n := script[int](t, ctx, "document.querySelectorAll('[data-docent-waiting] > li, [data-docent-stream]').length"); n != 0 {
		t.Errorf("%d placeholders or streams are left", n)
	}
	shot(t, ctx, "done")

	do(t, ctx, chromedp.Click(".d-turn__body .d-cite a[href='#source-2']"))
	until(t, ctx, "document.activeElement.dataset.docentSource === '2' && document.activeElement.matches('.d-source--followed[aria-current=true]') && document.activeElement.querySelector('details').open")
	shot(t, ctx, "followed")

	do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", "And for a family?"), chromedp.Click(".d-follow form[data-docent-follow] button[type=submit]"))
	until(t, ctx, "document.querySelectorAll('[data-docent-turn]').length == 2")
	next(2)
	until(t, ctx, "[...document.querySelectorAll('.d-turn__body')].at(-1).innerText.includes('A family ticket')")
	do(t, ctx, chromedp.Reload())
	until(t, ctx, "window.htmx && [...document.querySelectorAll('.d-turn__body')].at(-1)?.innerText.includes('A family ticket')")
	next(1)
	until(t, ctx, "[...document.querySelectorAll('.d-turn__body')].at(-1).innerText.includes('costs less')")
	next(4)
	until(t, ctx, "[...document.querySelectorAll('[data-docent-turn]')].at(-1).querySelector('[data-docent-state=done]')")
	if got := script[string](t, ctx, "[...document.querySelectorAll('[data-docent-turn] h2')].map(h => h.innerText).join('|')"); got != "When is the garden open in winter?|And for a family?" {
		t.Errorf("turns %q", got)
	}
	if n := script[int](t, ctx, "[...document.querySelectorAll('.d-turn__body')].at(-1).children.length"); n != 2 {
		t.Errorf("%d blocks in the second answer, want 2: something was applied twice", n)
	}
	shot(t, ctx, "reloaded")
	if got := len(model.Requests()); got != 2 {
		t.Errorf("the model was asked %d times, want 2", got)
	}
}

// Stop keeps the text, and the box is free again.
func TestBrowserStop(t *testing.T) {
	gate := make(chan struct{})
	reply := llmtest.Stream("Half an answer [1].\n\n", "Never seen.")
	reply.Gate = gate
	model := llmtest.NewFakeOpenAI(reply, llmtest.Stream("Whole [1]."))
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
	ctx := browser(t, 390, 844)
	do(t, ctx, chromedp.Navigate(s.url+"/answers"))
	ready(t, ctx)
	put(t, ctx, "When is the garden open?")
	for range 2 {
		gate <- struct{}{}
	}
	until(t, ctx, "document.querySelector('.d-turn__body')?.innerText.includes('Half an answer')")
	do(t, ctx, chromedp.Click(".d-status form button[type=submit]"))
	until(t, ctx, "document.querySelector('[data-docent-state=stopped]')")
	shot(t, ctx, "stopped")
	if !script[bool](t, ctx, "document.querySelector('.d-turn__body').innerText.includes('Half an answer') && !document.body.innerText.includes('Never seen')") {
		t.Error("the text so far is not kept")
	}
	put(t, ctx, "And the café?")
	until(t, ctx, "document.querySelector('[data-docent-state=done]') && document.querySelectorAll('[data-docent-turn]').length == 1")
}

// A browser with scripts off gets the whole answer page from the same box, and can
// ask on.
func TestBrowserWithoutScripts(t *testing.T) {
	s := serveSite(t, nil)
	ctx := browser(t, 1280, 900)
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(s.url+"/visit/"), chromedp.SendKeys(questionField, "When is the garden open in winter?"),
		chromedp.Click(questionButton), chromedp.WaitVisible(".d-turn__body .d-cite"))
	shot(t, ctx, "answer")
	do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", "How much is a family ticket?"),
		chromedp.Click(".d-follow form[data-docent-follow] button[type=submit]"), chromedp.WaitVisible(".d-turn:nth-of-type(2) .d-turn__body"))
	turns, err := chromedp.Run(ctx, chromedp.Nodes(".d-turn"))
	if err != nil || len(turns) != 2 {
		t.Errorf("%d turns, %v", len(turns), err)
	}
}

// With scripts off the same question gives the whole answer page.
func TestNoScripts(t *testing.T) {
	eachDatabase(t, nil, func(t *testing.T, s *testSite) {
		c := client(t)
		res, _ := s.do(c, "POST", "/ai-answers/question", "agent=site&question=When+is+the+garden+open+in+winter%3F",
			"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html", "Sec-Fetch-Site", "same-origin")
		if res.StatusCode != 303 || !strings.HasPrefix(res.Header.Get("Location"), "/ai-answers/conversations/") {
			t.Fatalf("%d to %q", res.StatusCode, res.Header.Get("Location"))
		}
		res, body := s.get(c, res.Header.Get("Location"), "Accept", "text/html")
		if res.StatusCode != 200 || len(res.Cookies()) != 0 {
			t.Fatalf("%d with cookies %v", res.StatusCode, res.Cookies())
		}
		doc := parse(t, body)
		if doc.Find(".d-turn__body .d-cite a[href='#source-1']").Length() == 0 || doc.Find("#source-1 a[href]").Length() == 0 {
			t.Errorf("no cited answer:\n%s", doc.Find("main").Text())
		}
		if doc.Find("[data-docent-stream]").Length() != 0 || doc.Find("noscript meta").Length() != 0 {
			t.Error("a finished page still waits")
		}
		// Without proof that the form is ours nothing is asked.
		res, _ = s.do(c, "POST", "/ai-answers/question", "agent=site&question=x", "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
		if res.StatusCode != 403 {
			t.Errorf("a form from nowhere: %d, want 403", res.StatusCode)
		}
	})
}

// An administrator signs in, looks at every page of the administration and makes
// a sign-in link that lets somebody else in.
func TestBrowserAdministration(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(s.url+"/admin"))
	until(t, ctx, "document.querySelector('input[name=password]')")
	shot(t, ctx, "login")
	do(t, ctx, chromedp.SendKeys("input[name=name]", "admin"), chromedp.SendKeys("input[name=password]", "correct horse battery"),
		chromedp.Click("main form button[type=submit]:not([data-docent-reveal])"))
	until(t, ctx, "location.pathname === '/admin' && document.querySelector('.counts')")
	shot(t, ctx, "overview")
	for _, page := range []string{"content", "people", "config", "config/site", "config/ai/ai-answers/agents", "config/ai/ai-answers/agents/site", "reports/answers", "reports/status", "media"} {
		do(t, ctx, chromedp.Navigate(s.url+"/admin/"+page))
		until(t, ctx, "document.querySelector('.admin h1')")
		shot(t, ctx, strings.ReplaceAll(page, "/", "-"))
	}
	do(t, ctx, chromedp.Navigate(s.url+"/user"))
	until(t, ctx, "document.querySelector('.admin h1')")
	shot(t, ctx, "account")

	do(t, ctx, chromedp.Navigate(s.url+"/admin/people/new"))
	until(t, ctx, "document.querySelector('input[name=name]')")
	do(t, ctx, chromedp.SendKeys("input[name=name]", "grace"), chromedp.Click("main form button.btn--main"))
	until(t, ctx, "document.querySelector('#new-link')")
	shot(t, ctx, "link")
	link := script[string](t, ctx, "document.querySelector('#new-link').value")
	link = s.url + link[strings.Index(link, "/user/"):]
	c := client(t)
	res, _ := s.do(c, "POST", strings.TrimPrefix(link, s.url), "", "Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded")
	if res.StatusCode != 303 {
		t.Fatalf("the link: %d", res.StatusCode)
	}
	if res, body := s.get(c, "/user"); res.StatusCode != 200 || !strings.Contains(body, "grace") {
		t.Errorf("signed in by link: %d", res.StatusCode)
	}
	if res, _ := s.do(client(t), "POST", strings.TrimPrefix(link, s.url), "", "Sec-Fetch-Site", "same-origin", "Content-Type", "application/x-www-form-urlencoded"); res.StatusCode == 303 {
		t.Error("the link worked twice")
	}
}
