package main

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// styleguide opens the style guide on a site under development.
func styleguide(t *testing.T, screen screen) (context.Context, *testSite) {
	t.Helper()
	s := serveSite(t, map[string]string{"DOCENT_DEV": "on"})
	ctx := browser(t, screen.width, screen.height)
	on(t, ctx, s.url+"/styleguide#source-2")
	return ctx, s
}

// style is a computed property of the first element that a selector finds.
func style(t *testing.T, ctx context.Context, selector, property string) string {
	t.Helper()
	return script[string](t, ctx, `(() => { const e = document.querySelector(`+quote(selector)+`);
		return e ? getComputedStyle(e).getPropertyValue(`+quote(property)+`) : "no such element" })()`)
}

func differ(t *testing.T, ctx context.Context, property, one, other string) {
	t.Helper()
	if a, b := style(t, ctx, one, property), style(t, ctx, other, property); a == b {
		t.Errorf("%s of %s and of %s is %s", property, one, other, a)
	}
}

func want(t *testing.T, ctx context.Context, selector, property, value string) {
	t.Helper()
	if got := style(t, ctx, selector, property); got != value {
		t.Errorf("%s of %s is %q, want %q", property, selector, got, value)
	}
}

// styleSamples are what the style guide must show besides the states of turns:
// most of it is put into the page by scripts, and would be judged nowhere else.
var styleSamples = []string{
	"#answers-closed .d-answer__empty .notice",
	"#answers-recent [data-docent-recent-list] li time[datetime]", "#answers-recent-narrow [data-docent-forget-all]",
	"#answers-japanese .d-turn__body[lang=ja] table", "#answers-japanese .d-turn__body pre", "#answers-japanese-narrow .d-turn__body[lang=ja] .d-cite",
	"#ends-reconnecting [data-docent-connection]", "#ends-lost [data-docent-connection]",
	"#ends-stop .d-status form > .notice", "#ends-unshared .d-share [id$=-notice] > .notice",
	"#questions-error .notice", "#questions-busy .notice", "#questions-limited .notice", "#questions-day .notice",
	"#questions-unsent .d-question__notice > .notice", "#questions-gone .d-question__notice > .notice",
	"#feedback-failed .d-feedback__vote > .notice", "#sources-card .d-citecard",
}

// The style guide is for those who build the site.
func TestStyleguideIsNotForVisitors(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	if res, _ := s.get(client(t), "/styleguide", "Accept", "text/html"); res.StatusCode != http.StatusNotFound {
		t.Errorf("a visitor gets %d, want 404", res.StatusCode)
	}
	c, _ := s.signIn()
	for _, path := range []string{"/styleguide", "/styleguide?lang=ar", "/styleguide?lang=es"} {
		res, body := s.get(c, path, "Accept", "text/html")
		if res.StatusCode != http.StatusOK || res.Header.Get("Cache-Control") != "no-store" {
			t.Fatalf("%s: %d, %s", path, res.StatusCode, res.Header.Get("Cache-Control"))
		}
		doc := parse(t, body)
		ids := map[string]bool{}
		for _, e := range doc.Find("[id]").EachIter() {
			if id := e.AttrOr("id", ""); ids[id] {
				t.Errorf("%s has the id %s twice", path, id)
			} else {
				ids[id] = true
			}
		}
		for _, state := range []string{"empty", "searching", "reading", "writing", "done", "stopped", "interrupted", "cutoff", "failed", "refused"} {
			if doc.Find("[data-docent-state="+state+"]").Length() == 0 {
				t.Errorf("%s shows nothing in the state %s", path, state)
			}
		}
		for _, selector := range styleSamples {
			if doc.Find(selector).Length() == 0 {
				t.Errorf("%s shows nothing at %s", path, selector)
			}
		}
		if strings.Contains(path, "=ar") && doc.Find("html[dir=rtl]").Length() != 1 {
			t.Error("the Arabic style guide runs from left to right")
		}
	}
}

// With the system's own few colours, what differs without them still differs.
func TestForcedColors(t *testing.T) {
	ctx, s := styleguide(t, desktop)
	emulate(t, ctx, "forced-colors", "active")
	differ(t, ctx, "background-color", ".btn--main", "#forms-buttons .btn--danger")
	differ(t, ctx, "background-color", "#forms-buttons [aria-pressed=true]", "#forms-buttons [aria-pressed=false]")
	differ(t, ctx, "color", "#forms-buttons .btn:disabled", "#forms-buttons .btn--danger")
	differ(t, ctx, "border-top-style", ".field--error .input", ".field .input")
	differ(t, ctx, "background-color", ".d-source:target .d-source__n", ".d-source__n")
	differ(t, ctx, "background-color", "#answers-writing .working", "body")
	want(t, ctx, ".d-source:target", "outline-style", "solid")
	want(t, ctx, ".notice", "border-top-style", "solid")
	want(t, ctx, ".chip", "border-top-style", "solid")
	want(t, ctx, ".d-citecard", "border-top-style", "solid")
	shot(t, ctx, "styleguide")

	do(t, ctx, chromedp.Focus("#answers-done .d-cite a"))
	keys(t, ctx, "\t") // what the keyboard leads to shows that it has the focus
	if got := script[string](t, ctx, "getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth"); got != "solid2px" {
		t.Errorf("the focus has the outline %s", got)
	}
	on(t, ctx, s.url+"/visit/") // a section of the menu
	differ(t, ctx, "border-bottom-color", ".menu [aria-current]", ".menu a:not([aria-current])")
}

// Whoever wants no motion gets none.
func TestReducedMotion(t *testing.T) {
	ctx, _ := styleguide(t, desktop)
	emulate(t, ctx, "prefers-reduced-motion", "no-preference")
	if script[int](t, ctx, "document.getAnimations().length") == 0 {
		t.Error("nothing moves, so nothing is tested")
	}
	emulate(t, ctx, "prefers-reduced-motion", "reduce")
	if n := script[int](t, ctx, "document.getAnimations().length"); n != 0 {
		t.Errorf("%d animations run", n)
	}
	slow := script[string](t, ctx, `[...new Set([...document.querySelectorAll("*")].filter(e => [e, "::before", "::after"].some((p, i) => {
		const s = i ? getComputedStyle(e, p) : getComputedStyle(e)
		return s.transitionDuration.split(",").some(d => parseFloat(d) > 0.001) || s.animationName !== "none" || s.scrollBehavior === "smooth"
	})).map(e => e.className))].join()`)
	if slow != "" {
		t.Errorf("these still move: %s", slow)
	}
}

// More contrast is pure black and white, strong lines, a wider focus.
func TestMoreContrast(t *testing.T) {
	ctx, _ := styleguide(t, desktop)
	before := style(t, ctx, ".d-source", "border-bottom-color")
	emulate(t, ctx, "prefers-contrast", "more", "prefers-color-scheme", "light")
	want(t, ctx, "body", "color", "rgb(0, 0, 0)")
	want(t, ctx, "body", "background-color", "rgb(255, 255, 255)")
	want(t, ctx, ":root", "--focus-width", "3px")
	if style(t, ctx, ".d-source", "border-bottom-color") == before {
		t.Error("lines are as faint as before")
	}
	emulate(t, ctx, "prefers-contrast", "more", "prefers-color-scheme", "dark")
	want(t, ctx, "body", "color", "rgb(255, 255, 255)")
	want(t, ctx, "body", "background-color", "rgb(0, 0, 0)")
}

// On paper stand the answer and its sources with their addresses, and nothing to
// press.
func TestPrint(t *testing.T) {
	ctx, s := styleguide(t, desktop)
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	const done = "#answers-done "
	shown := func(selector string) bool {
		return script[bool](t, ctx, "[...document.querySelectorAll(`"+selector+"`)].some(e => e.checkVisibility())")
	}
	for _, selector := range []string{".d-turn__question", ".d-turn__body table", ".d-turn__body pre", ".d-source__title", ".d-source q"} {
		if !shown(done + selector) {
			t.Errorf("%s is not printed", selector)
		}
	}
	for _, selector := range []string{".d-question", done + ".d-tools", done + ".d-follow", done + "button", done + "input", done + ".d-status .btn", "#sources-provisional .d-source--waiting", ".d-source summary", ".site__menu"} {
		if shown(selector) {
			t.Errorf("%s is printed", selector)
		}
	}
	address := script[string](t, ctx, `getComputedStyle(document.querySelector("#answers-done .d-source__title a"), "::after").content`)
	if !strings.Contains(strings.ReplaceAll(address, `" "`, ""), s.url+`/styleguide`) && !strings.Contains(address, s.url) {
		t.Errorf("the address of a source is printed as %s", address)
	}
	if got := script[string](t, ctx, tooWide); got != "" {
		t.Errorf("the page is wider than the paper: %s", got)
	}
}

// A block looks as the place it stands in has room for.
func TestBlocksFitTheirPlace(t *testing.T) {
	ctx, _ := styleguide(t, desktop)
	beside := func(one, other string) bool {
		return script[bool](t, ctx, `(() => { const [a, b] = [`+quote(one)+`, `+quote(other)+`].map(s => document.querySelector(s).getBoundingClientRect());
			return a.right <= b.left && a.top < b.bottom && b.top < a.bottom })()`)
	}
	for _, c := range []struct {
		one, other string
		wide       bool // they stand side by side on a wide page
	}{
		{"#question-band-form", "#questions-band .d-question__chips", true},
		{"#question-narrow-form", "#questions-narrow .d-question__chips", false},
		{"#questions-line .d-question__label", "#questions-line .d-question__line", true},
		{"#questions-narrow-line .d-question__label", "#questions-narrow-line .d-question__line", false},
		{"#answers-own .d-answer__main", "#answers-own .d-sources", true},
		{"#answers-narrow .d-answer__main", "#answers-narrow .d-sources", false},
	} {
		desktop.show(t, ctx)
		if beside(c.one, c.other) != c.wide {
			t.Errorf("%s and %s stand side by side: %v", c.one, c.other, !c.wide)
		}
		phone.show(t, ctx)
		if beside(c.one, c.other) {
			t.Errorf("%s and %s stand side by side on a phone", c.one, c.other)
		}
	}
}

// What changes while an answer is written changes in a row of fixed height, which
// stays in sight.
func TestStatusRowHoldsStill(t *testing.T) {
	ctx, s := styleguide(t, desktop)
	for _, lang := range []string{"en", "es", "ar"} {
		on(t, ctx, s.url+"/styleguide?lang="+lang)
		for _, screen := range []screen{desktop, phone, small} {
			screen.show(t, ctx)
			script[bool](t, ctx, "document.querySelectorAll('[data-docent-new-text]').forEach(b => b.hidden = false), true")
			heights := script[string](t, ctx, `[...new Set([...document.querySelectorAll("#answers .styleguide__stage--text .d-status, #ends-stop .d-status")].filter(e => e.id !== "turn-uncited-status")
				.map(e => e.getBoundingClientRect().height))].join()`)
			if strings.Contains(heights, ",") {
				t.Errorf("%s, %s: status rows are %s pixels high", lang, screen.name, heights)
			}
		}
	}
	desktop.show(t, ctx)
	top := script[float64](t, ctx, `(() => { document.querySelector("#turn-writing-body > :nth-child(6)").scrollIntoView();
		return document.querySelector("#turn-writing-status").getBoundingClientRect().top })()`)
	if top != 0 {
		t.Errorf("while it is written the status row stands at %g pixels, want the window's edge", top)
	}
}
