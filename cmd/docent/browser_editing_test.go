package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const editingPassword = "correct horse battery"

// signIn signs the tab in as the administrator.
func signIn(t *testing.T, ctx context.Context, s *testSite, name string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(s.url+"/user/login?destination=/admin/content"))
	until(t, ctx, "document.querySelector('input[name=password]')")
	do(t, ctx, chromedp.SendKeys("input[name=name]", name), chromedp.SendKeys("input[name=password]", editingPassword),
		chromedp.Click("main form button[type=submit]:not([data-docent-reveal])"))
	until(t, ctx, "location.pathname === '/admin/content' && document.querySelector('.admin h1')")
}

// set types into a field as a person would, in place of what it holds.
func set(t *testing.T, ctx context.Context, selector, text string) {
	t.Helper()
	script[bool](t, ctx, `(() => { const f = document.querySelector(`+quote(selector)+`); f.focus(); f.value = `+quote(text)+`;
		f.dispatchEvent(new Event('input', {bubbles: true})); f.dispatchEvent(new Event('change', {bubbles: true})); return true })()`)
}

func quote(s string) string {
	return "`" + strings.NewReplacer("\\", "\\\\", "`", "\\`", "$", "\\$").Replace(s) + "`"
}

// press clicks a button of the action bar and waits for what the next page says.
func press(t *testing.T, ctx context.Context, op, want string) {
	t.Helper()
	script[bool](t, ctx, "window.before = true")
	do(t, ctx, chromedp.Click(`.actions button[name="op"][value="`+op+`"]`))
	until(t, ctx, "!window.before && document.querySelector("+quote(want)+")")
}

func picture(t *testing.T) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for x := range 640 {
		for y := range 480 {
			img.Set(x, y, color.RGBA{uint8(x / 3), uint8(y / 2), 120, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "garden.png")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An editor makes an article, saves a draft, looks at it, publishes it, changes it
// in a draft that nobody sees, compares, publishes, goes back, and translates it.
func TestBrowserEditing(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword})
	ctx := browser(t, 1280, 1000)
	visitor := client(t)
	signIn(t, ctx, s, "admin")
	shot(t, ctx, "list")
	script[bool](t, ctx, "(() => { for (const b of [...document.querySelectorAll('tbody .box')].slice(1, 4)) b.click(); document.documentElement.dataset.theme = 'dark'; return true })()")
	until(t, ctx, "document.querySelector('[data-docent-count]').textContent.startsWith('3 ') && document.querySelector('[data-docent-all]').indeterminate")
	shot(t, ctx, "selected-dark")
	do(t, ctx, chromedp.Click(".drop > summary"))
	shot(t, ctx, "add")
	do(t, ctx, chromedp.Navigate(s.url+"/admin/content/add/article"))
	until(t, ctx, "document.querySelector('[data-docent-edit]') && document.documentElement.classList.contains('js')")

	set(t, ctx, "#f-title-0", "Night of the apples")
	set(t, ctx, "#f-summary-0", "Lanterns in the orchard, for one evening.")
	set(t, ctx, "#f-body-0", "Come at dusk.\n\n## What happens\n\n- soup\n- a song for the trees\n")
	// The toolbar writes Markdown around what is selected.
	script[bool](t, ctx, "(() => { const b = document.querySelector('#f-body-0'); b.focus(); b.setSelectionRange(0, 4); document.querySelector('[data-docent-mark=bold]').click(); return true })()")
	until(t, ctx, "document.querySelector('#f-body-0').value.startsWith('**Come** at dusk')")
	// A topic is found as one types.
	do(t, ctx, chromedp.SendKeys("#f-topics-0", "ga"))
	until(t, ctx, "document.querySelector('.combo__list:not([hidden]) [data-id]')")
	shot(t, ctx, "suggestions")
	script[bool](t, ctx, "(() => { const i = document.querySelector('#f-topics-0'); for (const key of ['ArrowDown', 'Enter']) i.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true})); return true })()")
	until(t, ctx, "document.querySelector('[name=\"f.topics.0.id\"]').value !== ''")
	// The form is kept without a word.
	until(t, ctx, "document.querySelector('#edit-saved').textContent.trim() !== ''")
	pickImage(t, ctx, picture(t))
	shot(t, ctx, "form")

	press(t, ctx, "draft", ".notice--ok")
	until(t, ctx, "/^\\/admin\\/content\\/[^/]+\\/en$/.test(location.pathname)")
	shot(t, ctx, "draft")
	address := script[string](t, ctx, "location.pathname")
	path := script[string](t, ctx, "document.querySelector('#side-path').value")
	if res, _ := s.get(visitor, path); res.StatusCode != 404 {
		t.Fatalf("a draft is public: %d", res.StatusCode)
	}
	do(t, ctx, chromedp.Navigate(s.url+script[string](t, ctx, "document.querySelector('.tabs a[href^=\"/preview/\"]').getAttribute('href')")))
	until(t, ctx, "document.querySelector('[data-docent-preview]') && document.querySelector('h1').textContent.includes('Night of the apples')")
	shot(t, ctx, "preview")

	do(t, ctx, chromedp.Navigate(s.url+address))
	until(t, ctx, "document.querySelector('[data-docent-edit]')")
	press(t, ctx, "publish", ".notice--ok")
	if res, body := s.get(visitor, path); res.StatusCode != 200 || !strings.Contains(body, "Night of the apples") || !strings.Contains(body, "<img") {
		t.Fatalf("the page: %d", res.StatusCode)
	}

	// A forward draft.
	set(t, ctx, "#f-summary-0", "Lanterns in the orchard, for two evenings.")
	set(t, ctx, "#side-message", "A second evening")
	script[bool](t, ctx, "window.before = true")
	script[bool](t, ctx, "document.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true, bubbles: true, cancelable: true})) || true")
	until(t, ctx, "!window.before && document.querySelector('.notice--ok')")
	if _, body := s.get(visitor, path); strings.Contains(body, "two evenings") {
		t.Fatal("a draft is public")
	}
	shot(t, ctx, "forward")
	do(t, ctx, chromedp.Navigate(s.url+address+"/revisions"))
	until(t, ctx, "document.querySelectorAll('tbody tr').length === 3")
	shot(t, ctx, "revisions")
	do(t, ctx, chromedp.Click(".bulk button"))
	until(t, ctx, "document.querySelector('.diff del')?.textContent.includes('one') && document.querySelector('.diff ins')?.textContent.includes('two')")
	shot(t, ctx, "compare")
	do(t, ctx, chromedp.Navigate(s.url+address))
	until(t, ctx, "document.querySelector('[data-docent-edit]')")
	press(t, ctx, "publish", ".notice--ok")
	if _, body := s.get(visitor, path); !strings.Contains(body, "two evenings") {
		t.Fatal("the draft is not public")
	}
	do(t, ctx, chromedp.Navigate(s.url+address+"/revisions"))
	until(t, ctx, "document.querySelectorAll('tbody tr').length === 4")
	do(t, ctx, chromedp.Click("tbody tr:last-child form button"))
	until(t, ctx, "document.querySelector('.notice--ok') && document.querySelector('#f-summary-0').value.includes('one evening')")
	press(t, ctx, "publish", ".notice--ok")
	if _, body := s.get(visitor, path); !strings.Contains(body, "one evening") {
		t.Fatal("the old text is not back")
	}

	// Into Arabic, from right to left.
	do(t, ctx, chromedp.Navigate(s.url+address+"/translations"))
	until(t, ctx, "document.querySelector('tbody a[href*=\"/ar\"]')")
	shot(t, ctx, "translations")
	do(t, ctx, chromedp.Click("tbody a[href*='/ar']"))
	until(t, ctx, "document.querySelector('#field-body ~ .source')?.textContent.includes('Come')")
	set(t, ctx, "#f-title-0", "ليلة التفاح")
	set(t, ctx, "#f-summary-0", "فوانيس في البستان لأمسية واحدة.")
	set(t, ctx, "#f-body-0", "تعالوا عند الغروب.")
	set(t, ctx, "#side-path", "")
	shot(t, ctx, "translate")
	press(t, ctx, "publish", ".notice--ok")
	arabic := script[string](t, ctx, "document.querySelector('.drop__panel a').getAttribute('href')")
	do(t, ctx, chromedp.Navigate(s.url+arabic))
	until(t, ctx, "document.documentElement.dir === 'rtl' && document.querySelector('h1').textContent.includes('ليلة التفاح')")
	shot(t, ctx, "arabic")

	// Archiving says what it touches.
	do(t, ctx, chromedp.Navigate(s.url+address+"/archive"))
	until(t, ctx, "document.querySelector('.ask')")
	shot(t, ctx, "archive")
	do(t, ctx, chromedp.Click(".ask button[type=submit]"))
	until(t, ctx, "document.querySelector('.notice--ok')")
	if res, _ := s.get(visitor, path); res.StatusCode == 200 {
		t.Error("the archived page is still there")
	}
}

// pickImage has an image uploaded in the library's dialog and put into the form.
func pickImage(t *testing.T, ctx context.Context, file string) {
	t.Helper()
	do(t, ctx, chromedp.Click("#field-image [data-docent-pick]"))
	until(t, ctx, "document.querySelector('#media-picker[open] input[type=file]')")
	shot(t, ctx, "picker")
	do(t, ctx, chromedp.SetUploadFiles("#media-picker input[type=file]", []string{file}))
	until(t, ctx, "document.querySelector('#media-picker input[name=\"alt\"], #media-picker [name=\"f.alt.0\"], #field-image .medium')")
	if script[bool](t, ctx, "document.querySelector('#media-picker[open]') !== null") {
		script[bool](t, ctx, "(() => { const a = document.querySelector('#media-picker input[name=alt]'); if (a) { a.value = 'A garden at night'; a.form.requestSubmit() } return true })()")
	}
	until(t, ctx, "document.querySelector('#field-image .medium img')?.complete")
}

// A page kept to members is gone for everybody else: page, list, search, answers.
func TestBrowserMembersOnly(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword})
	ctx := browser(t, 1280, 1000)
	visitor := client(t)
	signIn(t, ctx, s, "admin")
	do(t, ctx, chromedp.Navigate(s.url+"/admin/content/add/article"))
	until(t, ctx, "document.querySelector('[data-docent-edit]')")
	pickImage(t, ctx, picture(t))
	set(t, ctx, "#f-title-0", "Quibblewort cellar")
	set(t, ctx, "#f-summary-0", "Where the quibblewort tubers sleep.")
	set(t, ctx, "#f-body-0", "The quibblewort cellar opens on the ninth of October at seven.")
	set(t, ctx, "#side-path", "/visit/quibblewort/")
	press(t, ctx, "publish", ".notice--ok")
	finds := func(path string) bool {
		_, body := s.get(visitor, path)
		return strings.Contains(body, "/visit/quibblewort/")
	}
	res, body := s.get(visitor, "/visit/quibblewort/")
	if res.StatusCode != 200 {
		t.Fatalf("the page: %d", res.StatusCode)
	}
	file := parse(t, body).Find("main figure img, main article img").First().AttrOr("src", "")
	if res, _ := s.get(visitor, file); res.StatusCode != 200 {
		t.Fatalf("the image at %q: %d", file, res.StatusCode)
	}
	if !finds("/visit/") {
		t.Error("the section does not list the page")
	}
	eventually(t, "the search finds the page", func() bool { return finds("/search?q=quibblewort") })

	script[bool](t, ctx, "(() => { document.querySelector('[name=view][value=roles]').click(); document.querySelector('[name=roles]').click(); return true })()")
	shot(t, ctx, "restricted")
	press(t, ctx, "publish", ".notice--ok")
	if res, _ := s.get(visitor, "/visit/quibblewort/"); res.StatusCode != 403 {
		t.Errorf("a visitor gets the page: %d", res.StatusCode)
	}
	if finds("/visit/") {
		t.Error("the section lists the page")
	}
	eventually(t, "the search forgets the page", func() bool { return !finds("/search?q=quibblewort") })
	if res, _ := s.get(visitor, file); res.StatusCode == 200 {
		t.Error("a visitor gets the image")
	}
	res, _ = s.do(visitor, "POST", "/ai-answers/question", "agent=site&question=When+does+the+quibblewort+cellar+open%3F",
		"Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html", "Sec-Fetch-Site", "same-origin")
	if res.StatusCode != 303 {
		t.Fatalf("asked: %d", res.StatusCode)
	}
	if _, body := s.get(visitor, res.Header.Get("Location"), "Accept", "text/html"); strings.Contains(body, "/visit/quibblewort/") || strings.Contains(body, "ninth of October") {
		t.Error("the answer gives the page away")
	}
}

// Two editors, two browsers, one field: the second one sees both texts and loses
// nothing.
func TestBrowserConflict(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword})
	one, two := browser(t, 1280, 1000), browser(t, 390, 844)
	signIn(t, one, s, "admin")
	do(t, one, chromedp.Navigate(s.url+"/admin/content/add/page"))
	until(t, one, "document.querySelector('[data-docent-edit]')")
	set(t, one, "#f-title-0", "Rules of the pond")
	set(t, one, "#f-summary-0", "No swimming.")
	set(t, one, "#f-body-0", "Feed no bread to the ducks.")
	press(t, one, "publish", ".notice--ok")
	address := script[string](t, one, "location.pathname")

	signIn(t, two, s, "admin")
	shot(t, two, "phone-list")
	do(t, two, chromedp.Navigate(s.url+address))
	until(t, two, "document.querySelector('[data-docent-edit]')")
	shot(t, two, "phone-form")
	set(t, one, "#f-summary-0", "No swimming after dark.")
	set(t, one, "#f-title-0", "Rules of the great pond")
	press(t, one, "publish", ".notice--ok")

	set(t, two, "#f-summary-0", "No swimming, no boats.")
	set(t, two, "#f-body-0", "Feed no bread to the ducks, nor cake.")
	press(t, two, "draft", "#edit-conflict")
	shot(t, two, "phone-conflict")
	if got := script[string](t, two, "[...document.querySelectorAll('#edit-conflict .diff__text')].map(d => { const c = d.cloneNode(true); c.querySelectorAll('del').forEach(x => x.remove()); return c.textContent.trim() }).join('|')"); got != "No swimming after dark.|No swimming, no boats." {
		t.Errorf("both texts: %q", got)
	}
	if !script[bool](t, two, "document.activeElement.id === 'edit-conflict'") {
		t.Error("the conflict has not the focus")
	}
	set(t, two, "#f-summary-0", "No swimming after dark, no boats.")
	press(t, two, "publish", ".notice--ok")
	_, body := s.get(client(t), script[string](t, two, "document.querySelector('#side-path').value"))
	for _, want := range []string{"Rules of the great pond", "No swimming after dark, no boats.", "nor cake"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is lost", want)
		}
	}
}

// What is typed survives a lost connection and a closed tab.
func TestBrowserLosesNothing(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword})
	ctx := browser(t, 1280, 1000)
	signIn(t, ctx, s, "admin")
	do(t, ctx, chromedp.Navigate(s.url+"/admin/content/add/page"))
	until(t, ctx, "document.querySelector('[data-docent-edit]')")
	set(t, ctx, "#f-title-0", "Pond")
	press(t, ctx, "publish", ".notice--ok")
	address := script[string](t, ctx, "location.pathname")

	// Kept by the server as it is typed.
	set(t, ctx, "#f-summary-0", "Typed and kept")
	until(t, ctx, "document.querySelector('#edit-saved').textContent.trim() !== ''")
	do(t, ctx, chromedp.Navigate(s.url+"/admin"))
	until(t, ctx, "location.pathname === '/admin'")
	do(t, ctx, chromedp.Navigate(s.url+address))
	until(t, ctx, "document.querySelector('#f-summary-0')?.value === 'Typed and kept' && document.querySelector('form[action^=\"/admin/content/discard\"]')")
	shot(t, ctx, "kept")

	// Without a connection: kept by the browser.
	script[bool](t, ctx, "(() => { window.fetch = () => Promise.reject(new TypeError('offline')); navigator.sendBeacon = () => false; return true })()")
	set(t, ctx, "#f-summary-0", "Typed without a connection")
	until(t, ctx, "document.querySelector('#edit-saved').hasAttribute('data-docent-failed')")
	shot(t, ctx, "offline")
	do(t, ctx, chromedp.Navigate(s.url+address))
	until(t, ctx, "document.querySelector('#edit-backup') && !document.querySelector('#edit-backup').hidden")
	shot(t, ctx, "backup")
	do(t, ctx, chromedp.Click("[data-docent-restore]"))
	until(t, ctx, "document.querySelector('#f-summary-0')?.value === 'Typed without a connection'")
	press(t, ctx, "publish", ".notice--ok")
	do(t, ctx, chromedp.Navigate(s.url+address))
	until(t, ctx, "document.querySelector('#edit-backup')?.hidden && !document.querySelector('form[action^=\"/admin/content/discard\"]')")
}

// Rows of a field are added, moved and removed by keyboard and button, and saved
// in the order in which they stand.
func TestBrowserRows(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": editingPassword})
	ctx := browser(t, 1280, 1000)
	signIn(t, ctx, s, "admin")
	do(t, ctx, chromedp.Navigate(s.url+"/admin/content/add/article"))
	until(t, ctx, "document.querySelector('[data-docent-edit]') && document.documentElement.classList.contains('js')")
	set(t, ctx, "#f-title-0", "Three topics")
	names := []string{"Amber", "Birch", "Cedar"}
	for i, name := range names {
		if i > 0 {
			do(t, ctx, chromedp.Click("[data-docent-add=field-topics]"))
			until(t, ctx, fmt.Sprintf("document.querySelectorAll('#field-topics [data-docent-row]').length === %d && document.activeElement.id === 'f-topics-%d'", i+1, i))
		}
		do(t, ctx, chromedp.SendKeys(fmt.Sprintf("#f-topics-%d", i), name))
		until(t, ctx, fmt.Sprintf("document.querySelector('#f-topics-%d-list [data-id=\"+\"]')", i))
		script[bool](t, ctx, fmt.Sprintf("(() => { const i = document.querySelector('#f-topics-%d'); for (const key of ['ArrowDown', 'Enter']) i.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true})); return true })()", i))
	}
	order := "[...document.querySelectorAll('#field-topics [data-docent-row] input:not([type=hidden])')].map(i => i.value).join()"
	script[bool](t, ctx, "(() => { const i = document.querySelector('#f-topics-2'); i.focus(); i.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp', altKey: true, bubbles: true, cancelable: true})); return true })()")
	until(t, ctx, order+" === 'Amber,Cedar,Birch' && document.activeElement.id === 'f-topics-2'")
	do(t, ctx, chromedp.Click("#field-topics [data-docent-row]:first-child [data-docent-move=remove]"))
	until(t, ctx, order+" === 'Cedar,Birch'")
	shot(t, ctx, "rows")
	press(t, ctx, "draft", ".notice--ok")
	until(t, ctx, order+" === 'Cedar,Birch'")
}
