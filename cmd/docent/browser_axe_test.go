package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"docent/internal/llm/llmtest"
)

//go:embed testdata/axe/axe.min.js
var axeScript string

// axeRules are those of WCAG 2.2 on levels A and AA, and what axe calls best
// practice.
const axeRules = `axe.run(document, {
	resultTypes: ["violations"], rules: Object.fromEntries(%s.map(id => [id, {enabled: false}])),
	runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}).then(r => JSON.stringify(r.violations.map(v => ({
	rule: v.id, help: v.help, nodes: v.nodes.map(n => n.target.join(" ") + ": " + n.failureSummary.replace(/\s+/g, " ").slice(0, 300)),
}))))`

type axeViolation struct {
	Rule, Help string
	Nodes      []string
}

// axe runs axe-core on the page as it is, but for some rules. It is put there by
// the debugger, which the page's policy does not bind.
func axe(t *testing.T, ctx context.Context, what string, without ...string) {
	t.Helper()
	if !script[bool](t, ctx, "typeof axe === 'object'") {
		script[bool](t, ctx, axeScript+"\n;true")
	}
	// What fades in is judged as it will be.
	script[bool](t, ctx, "document.getAnimations().forEach(a => { try { a.finish() } catch {} }), true")
	off, err := json.Marshal(append([]string{}, without...))
	if err != nil {
		t.Fatal(err)
	}
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf(axeRules, off), chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	var found []axeViolation
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("%s: %v: %s", what, err, text)
	}
	for _, v := range found {
		if len(v.Nodes) > 5 {
			v.Nodes = append(v.Nodes[:5], fmt.Sprintf("and %d more", len(v.Nodes)-5))
		}
		t.Errorf("%s: %s (%s):\n\t%s", what, v.Rule, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
	if len(found) > 0 {
		shot(t, ctx, strings.ReplaceAll(what, "/", "-"))
	}
}

// narrow reports what makes a page wider than its window, if anything does.
const tooWide = `(() => {
	if (document.documentElement.scrollWidth <= innerWidth) return ""
	const scrollsAbove = e => e === null ? null : getComputedStyle(e).overflowX !== "visible" ? e : scrollsAbove(e.parentElement)
	const wide = [...document.querySelectorAll("body *")].filter(e => {
		const b = e.getBoundingClientRect()
		return (b.right > innerWidth + 1 || b.left < -1) && getComputedStyle(e).position !== "absolute" && scrollsAbove(e) === null
	})
	return document.documentElement.scrollWidth + " of " + innerWidth + ": " + wide.slice(0, 4).map(e => e.tagName + "." + e.className + "#" + e.id).join(", ")
})()`

func reflow(t *testing.T, ctx context.Context, what string) {
	t.Helper()
	if wide := script[string](t, ctx, tooWide); wide != "" {
		t.Errorf("%s scrolls sideways: %s", what, wide)
		shot(t, ctx, "wide-"+strings.ReplaceAll(what, "/", "-"))
	}
}

// emulate sets media features, given as name, value, name, value, and resets the others.
func emulate(t *testing.T, ctx context.Context, features ...string) {
	t.Helper()
	set := map[string]string{"prefers-color-scheme": "", "prefers-contrast": "", "prefers-reduced-motion": "", "forced-colors": ""}
	for i := 0; i < len(features); i += 2 {
		set[features[i]] = features[i+1]
	}
	var params emulation.SetEmulatedMediaParams
	for name, value := range set {
		params.Features = append(params.Features, &emulation.MediaFeature{Name: name, Value: value})
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, params); err != nil {
		t.Fatal(err)
	}
}

type screen struct {
	name          string
	width, height int
}

var (
	desktop = screen{"desktop", 1280, 900}
	wide    = screen{"wide", 1920, 1080}
	phone   = screen{"phone", 390, 844}
	small   = screen{"small", 320, 640}
	zoomed  = screen{"zoomed", 640, 450} // a desktop at 200 %
)

func (s screen) show(t *testing.T, ctx context.Context) {
	t.Helper()
	do(t, ctx, chromedp.EmulateViewport(int64(s.width), int64(s.height)))
}

// The style guide shows the same blocks many times: their names are the same too.
const manyAlike = "landmark-unique"

// Every component in every state, in every colour scheme and both directions.
func TestAxeStyleguide(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_DEV": "on"})
	for _, look := range []struct {
		name, query string
		features    []string
	}{
		{"light", "", []string{"prefers-color-scheme", "light"}},
		{"dark", "", []string{"prefers-color-scheme", "dark"}},
		{"contrast", "", []string{"prefers-color-scheme", "light", "prefers-contrast", "more"}},
		{"contrast-dark", "", []string{"prefers-color-scheme", "dark", "prefers-contrast", "more"}},
		{"rtl", "?lang=ar", []string{"prefers-color-scheme", "light"}},
		{"rtl-dark", "?lang=ar", []string{"prefers-color-scheme", "dark"}},
		{"spanish", "?lang=es", nil},
	} {
		t.Run(look.name, func(t *testing.T) {
			ctx := browser(t, desktop.width, desktop.height)
			emulate(t, ctx, look.features...)
			on(t, ctx, s.url+"/styleguide"+look.query+"#source-2")
			axe(t, ctx, "desktop", manyAlike)
			for _, screen := range []screen{wide, small, zoomed, phone} {
				screen.show(t, ctx)
				reflow(t, ctx, screen.name)
			}
			axe(t, ctx, "phone", manyAlike)
			desktop.show(t, ctx)
			script[bool](t, ctx, "document.documentElement.style.fontSize = '200%', true")
			reflow(t, ctx, "large text")
		})
	}
}

// Every kind of page that visitors see.
func TestAxePublicPages(t *testing.T) {
	s := serveSite(t, nil)
	pages := publicPages(t, s)
	for name, path := range map[string]string{
		"page": "/visit/prices/", "event": "/events/seed-swap-2027/", "spanish": "/es/", "arabic-page": "/ar/visit/",
		"answers": "/answers", "answers-arabic": "/ar/answers", "login": "/user/login", "no-conversation": "/ai-answers/conversations/none",
	} {
		pages[name] = path
	}
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			ctx := browser(t, desktop.width, desktop.height)
			emulate(t, ctx, "prefers-color-scheme", scheme)
			for name, path := range pages {
				desktop.show(t, ctx)
				on(t, ctx, s.url+path)
				axe(t, ctx, name)
				if scheme == "dark" {
					continue
				}
				for _, screen := range []screen{wide, small, zoomed, phone} {
					screen.show(t, ctx)
					reflow(t, ctx, name+"-"+screen.name)
				}
				axe(t, ctx, name+"-phone")
			}
		})
	}
}

// An answer in the states that a reader meets, one after the other.
func TestAxeAnswer(t *testing.T) {
	for _, scheme := range []string{"light", "dark"} {
		t.Run(scheme, func(t *testing.T) {
			gate := make(chan struct{})
			const table, code = "| Day | Opens |\n| --- | --- |\n", "```sh\nls --color\n```\n\n"
			reply := llmtest.Stream("In winter the garden opens at ten [1].\n\n", table, "| Monday | 10:00 |\n\n",
				"## Again\n\n"+table+"| Sunday | 11:00 |\n\n#### And code\n\n"+code+code, "It closes **early** [2].\n")
			reply.Gate = gate
			stopped := llmtest.Stream("Half an answer [1].\n\n", "Never seen.")
			stopped.Gate = gate
			model := llmtest.NewFakeOpenAI(reply, stopped, llmtest.Refuse(401, "no"))
			t.Cleanup(model.Close)
			s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake"})
			ctx := browser(t, desktop.width, desktop.height)
			emulate(t, ctx, "prefers-color-scheme", scheme)
			judge := func(state string) {
				t.Helper()
				desktop.show(t, ctx)
				axe(t, ctx, state)
				for _, screen := range []screen{small, zoomed, phone} {
					screen.show(t, ctx)
					reflow(t, ctx, state+"-"+screen.name)
				}
				axe(t, ctx, state+"-phone")
				desktop.show(t, ctx)
			}
			next := func(n int) {
				for range n {
					gate <- struct{}{}
				}
			}
			on(t, ctx, s.url+"/answers")
			put(t, ctx, "When is the garden open in winter?")
			until(t, ctx, "document.querySelector('[data-docent-state=searching],[data-docent-state=reading]')")
			judge("reading")
			next(4)
			until(t, ctx, "document.querySelector('.d-turn__body table')")
			judge("writing")
			next(3)
			until(t, ctx, "document.querySelector('[data-docent-state=done]') && !document.querySelector('[data-docent-stream]')")
			judge("done")
			keys(t, ctx, "\t") // the focus shows itself to whoever uses the keyboard
			script[bool](t, ctx, "document.querySelector('.d-turn__body .d-cite a').focus(), true")
			until(t, ctx, "document.querySelector('.d-citecard')")
			judge("card")
			do(t, ctx, chromedp.Click(".d-turn__body .d-cite a[href='#source-2']"))
			until(t, ctx, "document.activeElement.matches('.d-source--followed')")
			judge("followed")
			do(t, ctx, chromedp.Click(".d-feedback button[value=down]"))
			until(t, ctx, "document.querySelector('.d-feedback__why')")
			judge("feedback")

			do(t, ctx, chromedp.SendKeys(".d-follow input[name=question]", "And for a family?"), chromedp.Click(".d-follow form[data-docent-follow] button[type=submit]"))
			until(t, ctx, "document.querySelectorAll('[data-docent-turn]').length == 2")
			next(2)
			until(t, ctx, "[...document.querySelectorAll('.d-turn__body')].at(-1).innerText.includes('Half an answer')")
			do(t, ctx, chromedp.Click(".d-turn:last-child .d-status form button[type=submit]"))
			until(t, ctx, "document.querySelector('[data-docent-state=stopped]')")
			judge("stopped")
			put(t, ctx, "What about the café?")
			until(t, ctx, "document.querySelector('[data-docent-state=failed]')")
			judge("failed")
		})
	}
}
