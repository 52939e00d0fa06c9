package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// An administrator builds what a small site needs: a language, a type with a
// field, a menu with an entry below another, terms, a redirect, a role. Then the
// same pages are looked at on a phone and in Arabic.
func TestBrowserStructure(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery", "DOCENT_CONFIG_WRITABLE": "on"})
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
	}
	submit := ".admin__main form button.btn--main"
	signIn()

	visit("/admin/config", "overview")
	visit("/admin/config/languages/new", "language-new")
	do(t, ctx, chromedp.SetValue("#language-known", "de"), chromedp.Click(submit))
	until(t, ctx, "document.querySelector('.notice--ok') && document.querySelector('#row-de')")
	shot(t, ctx, "languages")

	visit("/admin/structure/types/new", "type-new")
	do(t, ctx, chromedp.SendKeys("#type-label", "Recipe"), chromedp.Click(submit))
	until(t, ctx, "location.pathname === '/admin/structure/types/recipe/fields'")
	visit("/admin/structure/types/recipe/fields/new", "field-types")
	do(t, ctx, chromedp.Click("a[href$='type=list']"))
	until(t, ctx, "document.querySelector('#field-choices')")
	do(t, ctx, chromedp.SendKeys("#field-label", "Course"), chromedp.Click(submit))
	until(t, ctx, "document.querySelector('#field-choices:invalid')") // the browser itself asks for values
	do(t, ctx, chromedp.SendKeys("#field-choices", "starter|Starter\nmain|Main dish"))
	shot(t, ctx, "field-list")
	do(t, ctx, chromedp.Click(submit))
	until(t, ctx, "document.querySelector('#row-course')")
	visit("/admin/structure/types", "types")
	visit("/admin/structure/types/event/fields", "fields")
	visit("/admin/structure/types/event/displays/form", "display-form")

	// A field is moved with the keyboard; the focus stays with it.
	do(t, ctx, chromedp.Focus("#row-place button[value='up:place']"), chromedp.KeyEvent("\r"))
	until(t, ctx, "location.hash === '#row-place' && document.querySelector('.notice--ok')")
	until(t, ctx, "document.activeElement.id === 'row-place'")
	visit("/admin/structure/types/event/displays/teaser", "display-teaser")

	visit("/admin/structure/menus/main", "menu")
	first := script[string](t, ctx, "document.querySelectorAll('.tree > ul > li')[0].dataset.docentNode")
	second := script[string](t, ctx, "document.querySelectorAll('.tree > ul > li')[1].dataset.docentNode")
	do(t, ctx, chromedp.Click("#row-"+second+" button[value='in:"+second+"']"))
	until(t, ctx, "document.querySelector('#row-"+first+" #row-"+second+"')")
	shot(t, ctx, "menu-nested")
	// Dragged back before the entry it is below.
	script[bool](t, ctx, `(() => {
		const from = document.querySelector('#row-`+second+` > .tree__row'), to = document.querySelector('#row-`+first+` > .tree__row');
		const data = new DataTransfer(), box = to.getBoundingClientRect();
		const fire = (target, type) => target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data, clientX: box.left + 9, clientY: box.top + 2 }));
		fire(from, 'dragstart'); fire(to, 'dragover'); fire(to, 'drop'); return true })()`)
	until(t, ctx, "document.querySelectorAll('.tree > ul > li')[0]?.dataset.docentNode === '"+second+"'")
	visit("/admin/structure/menus/main/add?text=visit", "menu-add")
	do(t, ctx, chromedp.SendKeys("#link-url", "https://shop.example.org/"), chromedp.SendKeys("#link-label-en", "Shop"),
		chromedp.SendKeys("#link-label-ar", "المتجر"), chromedp.Click("form.fields button.btn--main"))
	until(t, ctx, "document.querySelector('.tree').innerText.includes('Shop')")

	visit("/admin/structure/redirects/new", "redirect-new")
	do(t, ctx, chromedp.SendKeys("#redirect-from", "/old/"), chromedp.SendKeys("#redirect-to", "/old"), chromedp.Click(submit))
	until(t, ctx, "document.querySelector('#redirect-to-error')")
	shot(t, ctx, "redirect-refused")
	do(t, ctx, chromedp.SetValue("#redirect-to", "/visit/"), chromedp.Click(submit))
	until(t, ctx, "location.pathname === '/admin/structure/redirects'")
	if res, _ := s.get(client(t), "/old/"); res.StatusCode != 301 || res.Header.Get("Location") != "/visit/" {
		t.Errorf("the old address: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	visit("/admin/structure/redirects", "redirects")

	visit("/admin/structure/terms", "vocabularies")
	visit("/admin/structure/terms/topics", "terms")
	do(t, ctx, chromedp.SendKeys("#term-name", "Night walks"), chromedp.Click(".termforms button.btn--main"))
	until(t, ctx, "document.querySelector('.tree').innerText.includes('Night walks')")
	merge := script[string](t, ctx, "document.querySelector('.tree a[href$=\"/merge\"]').getAttribute('href')")
	visit(merge, "term-merge")

	visit("/admin/structure/formats", "formats")
	visit("/admin/structure/formats/full_html", "format")
	visit("/admin/people/roles", "roles")
	do(t, ctx, chromedp.Click("input[value='editor|administer site']"), chromedp.Click(submit))
	until(t, ctx, "document.querySelector('.notice--ok') && document.querySelector(\"input[value='editor|administer site']\").checked")
	visit("/admin/people/roles?text=article", "roles-filtered")
	visit("/admin/people", "people")
	person := script[string](t, ctx, "document.querySelector('tbody th a').getAttribute('href')")
	visit(person, "person")
	visit("/admin/config/site", "site")
	visit("/admin/config/languages/ar/default", "language-default")

	ctx = browser(t, 390, 844)
	signIn()
	for _, path := range []string{
		"/admin/config", "/admin/people/roles", "/admin/structure/menus/main", "/admin/structure/types", "/admin/structure/types/event/fields",
		"/admin/structure/types/event/displays/full", "/admin/structure/terms/topics", "/admin/structure/redirects", "/admin/config/languages", "/admin/people",
	} {
		visit(path, "phone"+strings.ReplaceAll(path, "/", "-"))
	}

	ctx = browser(t, 1280, 900, chromedp.Flag("accept-lang", "ar"))
	signIn()
	for _, path := range []string{"/admin/config", "/admin/structure/menus/main", "/admin/structure/types/event/displays/full", "/admin/people/roles", "/admin/structure/types/event/fields/place"} {
		visit(path, "ar"+strings.ReplaceAll(path, "/", "-"))
		if dir := script[string](t, ctx, "document.documentElement.dir"); dir != "rtl" {
			t.Errorf("%s runs %s", path, dir)
		}
	}
}
