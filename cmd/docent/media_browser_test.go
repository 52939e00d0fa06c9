package main

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// dropPictures drops pictures on a form as if they came from the desktop.
const dropPictures = `(async () => {
	const files = new DataTransfer();
	for (const [name, colour] of [["Garden gate.png", "#2f6f4f"], ["Seed drawers.png", "#8a5a2b"]]) {
		const canvas = new OffscreenCanvas(1200, 700);
		const draw = canvas.getContext("2d");
		draw.fillStyle = colour; draw.fillRect(0, 0, 1200, 700);
		draw.fillStyle = "#e8c547"; draw.beginPath(); draw.arc(1020, 180, 120, 0, 7); draw.fill();
		files.items.add(new File([await canvas.convertToBlob()], name, { type: "image/png" }));
	}
	files.items.add(new File(["# Borrowing seed\n\nBring the packet back in autumn."], "Borrowing seed.md"));
	files.items.add(new File(["<svg/>"], "Logo.svg"));
	const form = document.querySelector("form[data-docent-drop]");
	for (const type of ["dragover", "drop"]) form.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: files }));
	return true;
})()`

// An editor drops files on the library, says what they show, moves the focal point
// by mouse and keyboard, and chooses an image for an article in the dialog.
func TestBrowserMedia(t *testing.T) {
	s := serveSite(t, withAdmin)
	ctx := browser(t, 1280, 900)
	do(t, ctx, chromedp.Navigate(s.url+"/user/login?to=%2Fadmin%2Fmedia"))
	until(t, ctx, "document.querySelector('input[name=password]')")
	do(t, ctx, chromedp.SendKeys("input[name=name]", "admin"), chromedp.SendKeys("input[name=password]", "correct horse battery"),
		chromedp.Click("main form button[type=submit]:not([data-docent-reveal])"))
	until(t, ctx, "document.querySelector('.admin h1') || location.pathname === '/user'")
	do(t, ctx, chromedp.Navigate(s.url+"/admin/media"))
	until(t, ctx, "document.querySelector('form[data-docent-drop]')")
	shot(t, ctx, "empty")
	script[bool](t, ctx, dropPictures+", true")
	until(t, ctx, "document.querySelectorAll('.describe__file').length === 3 && document.querySelector('.notice--danger')")
	shot(t, ctx, "describe")
	do(t, ctx, chromedp.SendKeys("#alt-0", "A green gate in the sun"), chromedp.SendKeys("#alt-1", "Drawers full of seed packets"), chromedp.Click("main .btn--main"))
	until(t, ctx, "location.pathname === '/admin/media' && document.querySelectorAll('a.tile').length === 3 && [...document.querySelectorAll('a.tile img')].every((i) => i.complete && i.naturalWidth)")
	shot(t, ctx, "library")

	do(t, ctx, chromedp.Click("a.tile:has(img)"))
	until(t, ctx, "document.querySelector('.focus img')?.complete && document.querySelector('.focus__mark').style.left === '50%'")
	script[bool](t, ctx, `(() => {
		const image = document.querySelector(".focus img"), box = image.getBoundingClientRect();
		image.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: box.left + box.width * 0.84, clientY: box.top + box.height * 0.3 }));
		document.querySelector(".focus__mark").focus();
		return true;
	})()`)
	do(t, ctx, chromedp.KeyEvent("\u0303")) // an arrow to the right
	if x, y := script[string](t, ctx, "document.querySelector('#focus-x').value"), script[string](t, ctx, "document.querySelector('#focus-y').value"); x != "86" || y != "30" {
		t.Errorf("the focus is at %s, %s", x, y)
	}
	do(t, ctx, chromedp.Click("main .mediumform__side .btn--main"))
	until(t, ctx, "location.search.includes('done=saved') && [...document.querySelectorAll('.cuts img')].every((i) => i.complete && i.naturalWidth)")
	shot(t, ctx, "medium")

	do(t, ctx, chromedp.Navigate(s.url+"/admin/content/add/article"))
	until(t, ctx, "document.querySelector('button[data-docent-pick]') && document.querySelector('#media-picker')")
	do(t, ctx, chromedp.Click("button[data-docent-pick]"))
	until(t, ctx, "document.querySelector('#media-picker[open] button[data-docent-medium] img')?.complete")
	shot(t, ctx, "picker")
	do(t, ctx, chromedp.SendKeys("#choice-text", "drawers"), chromedp.Click(".choice__search button"))
	until(t, ctx, "document.querySelectorAll('#media-picker button[data-docent-medium]').length === 1")
	id := script[string](t, ctx, "document.querySelector('#media-picker button[data-docent-medium]').dataset.docentMedium")
	do(t, ctx, chromedp.Click("#media-picker button[data-docent-medium]"))
	until(t, ctx, fmt.Sprintf("!document.querySelector('#media-picker[open]') && document.querySelector(`input[value=%q]`)", id))
	shot(t, ctx, "picked")

	do(t, ctx, chromedp.Navigate(s.url+"/admin/reports/status"))
	until(t, ctx, "document.querySelectorAll('[data-docent-status]').length")
	shot(t, ctx, "status")
	for name, path := range map[string]string{"phone-library": "/admin/media", "phone-pick": "/admin/media/pick?for=media", "phone-status": "/admin/reports/status"} {
		do(t, ctx, chromedp.EmulateViewport(390, 844), chromedp.Navigate(s.url+path))
		until(t, ctx, "document.querySelector('.admin h1')")
		if wide := script[int](t, ctx, "document.documentElement.scrollWidth"); wide > 390 {
			t.Errorf("%s is %d wide", path, wide)
		}
		shot(t, ctx, name)
	}
}
