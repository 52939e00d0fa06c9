package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// An administrator places a Question block, sees it change while typing, drags it
// to another region, moves it on with the keyboard, and adds blocks to a page.
func TestBrowserPlacement(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery"})
	ctx := browser(t, 1280, 900)
	signIn := func() {
		do(t, ctx, chromedp.Navigate(s.url+"/admin"))
		until(t, ctx, "document.querySelector('input[name=password]')")
		do(t, ctx, chromedp.SendKeys("input[name=name]", "admin"), chromedp.SendKeys("input[name=password]", "correct horse battery"),
			chromedp.Click("main form button[type=submit]:not([data-docent-reveal])"))
		until(t, ctx, "location.pathname === '/admin'")
	}
	visit := func(path, name string) {
		do(t, ctx, chromedp.Navigate(s.url+path))
		until(t, ctx, "document.readyState === 'complete' && document.querySelector('.admin h1')")
		if wide := script[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide > 0 {
			t.Errorf("%s is %d pixels wider than the window", path, wide)
		}
		shot(t, ctx, name)
		for _, scheme := range []string{"dark", "light"} {
			emulate(t, ctx, "prefers-color-scheme", scheme)
			axe(t, ctx, path+" "+scheme)
		}
	}
	signIn()
	visit("/admin/structure/blocks", "layout")
	visit("/admin/structure/blocks/add?region=aside", "kinds")
	visit("/admin/structure/blocks/add/question?region=aside", "new")
	ready(t, ctx)

	// The preview follows what is typed, and nobody can ask in it.
	do(t, ctx, chromedp.SendKeys("#block-title", "Ask beside"), chromedp.SendKeys("#block-label-en", "Ask the gardeners"))
	until(t, ctx, "document.querySelector('.blockform__stage .d-question__label')?.textContent === 'Ask the gardeners'")
	do(t, ctx, chromedp.Click("input[name=display][value=band]"))
	until(t, ctx, "document.querySelector('.blockform__stage[inert] .d-question--band')")
	if script[bool](t, ctx, "(() => { const f = document.querySelector('.blockform__stage input[name=question]'); f.focus(); return document.activeElement === f })()") {
		t.Error("the preview takes the focus")
	}
	do(t, ctx, chromedp.SetValue("select[name=preview_lang]", "ar"))
	script[bool](t, ctx, "document.querySelector('select[name=preview_lang]').dispatchEvent(new Event('change', { bubbles: true }))")
	until(t, ctx, "document.querySelector('.blockform__stage[lang=ar][dir=rtl]')")
	shot(t, ctx, "preview-arabic")
	do(t, ctx, chromedp.Click(".blockform__end .btn--main"))
	until(t, ctx, "document.activeElement?.id === 'row-ask_beside' && document.querySelector('[data-docent-slot=\"@aside\"] #row-ask_beside')")
	shot(t, ctx, "placed")

	// With the keyboard: up, then past the beginning of the region into the one before.
	do(t, ctx, chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierAlt)))
	until(t, ctx, "[...document.querySelectorAll('[data-docent-slot=\"@aside\"] [data-docent-node]')][0]?.id === 'row-ask_beside' && document.activeElement?.id === 'row-ask_beside'")
	do(t, ctx, chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierAlt)))
	until(t, ctx, "document.querySelector('[data-docent-slot=\"@content.body\"] #row-ask_beside')")

	// Dragged into an empty region, then before another block.
	drag := func(to, offset string) {
		script[bool](t, ctx, `(() => {
			const from = document.querySelector('#row-ask_beside > .tree__row'), to = document.querySelector('`+to+`');
			const data = new DataTransfer(), box = to.getBoundingClientRect();
			const fire = (target, type) => target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data, clientX: box.left + 9, clientY: box.`+offset+` }));
			fire(from, 'dragstart'); fire(to, 'dragover'); fire(to, 'drop'); return true })()`)
	}
	drag("[data-docent-slot=\"@bottom\"] .layout__empty", "top + 9")
	until(t, ctx, "document.querySelector('[data-docent-slot=\"@bottom\"] #row-ask_beside') && document.querySelector('.notice--ok')")
	drag("#row-site_question > .tree__row", "top + 2")
	until(t, ctx, "document.querySelector('[data-docent-slot=\"@top\"]')?.innerText.includes('Ask beside')")

	visit("/admin/structure/blocks/site_answer", "answer")
	visit("/admin/structure/blocks/site_sources", "sources")
	visit("/admin/structure/blocks/site_answer/delete", "delete")

	// On a page: an Answer block and a Question block that finds it.
	visit("/admin/content/add/page", "page")
	ready(t, ctx)
	do(t, ctx, chromedp.SendKeys("#f-title-0", "Ask us"), chromedp.Click("button[value='add:parts:answer']"))
	until(t, ctx, "document.querySelectorAll('#field-parts [data-docent-row]').length === 1 && document.activeElement?.name === 'f.parts.0.b.agent'")
	do(t, ctx, chromedp.Click("button[value='add:parts:question']"))
	until(t, ctx, "document.querySelectorAll('#field-parts [data-docent-row]').length === 2")
	if got := script[string](t, ctx, "document.querySelector('#field-parts select[name$=\".b.target\"]').selectedOptions[0].textContent"); got != "On this page" {
		t.Errorf("the Question block belongs to %q", got)
	}
	do(t, ctx, chromedp.Click("#field-parts [data-docent-row]:last-child summary"), chromedp.ScrollIntoView("#field-parts legend"))
	shot(t, ctx, "parts")
	axe(t, ctx, "the parts of a page")
	do(t, ctx, chromedp.Click("#field-parts [data-docent-row]:last-child button[data-docent-move=up]"))
	until(t, ctx, "document.querySelector('#field-parts [data-docent-row]').querySelector('select[name$=\".b.target\"]')")
	do(t, ctx, chromedp.Click("button[value=publish]"))
	until(t, ctx, "document.querySelector('.notice--ok') && location.pathname.startsWith('/admin/content/')")
	page := script[string](t, ctx, "document.querySelector('#side-path').value")
	do(t, ctx, chromedp.Navigate(s.url+page))
	ready(t, ctx)
	until(t, ctx, "document.querySelector('main article [data-docent-block=question]')")
	do(t, ctx, chromedp.SendKeys("article form[data-docent-question] input[name=question]", "When is the garden open?\r"))
	until(t, ctx, "document.querySelector('article [data-docent-block=answer] [data-docent-turn]')")
	if path := script[string](t, ctx, "location.pathname"); !strings.HasPrefix(path, "/ask-us") {
		t.Errorf("the question was taken to %s", path)
	}
	shot(t, ctx, "asked")

	ctx = browser(t, 390, 844)
	signIn()
	visit("/admin/structure/blocks", "phone-layout")
	visit("/admin/structure/blocks/site_question", "phone-form")
}
