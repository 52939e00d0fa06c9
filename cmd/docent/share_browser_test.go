package main

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A visitor shares an answer, somebody else reads it, and the visitor ends it, all
// without leaving the page or losing the focus.
func TestBrowserShare(t *testing.T) {
	s := serveSite(t, nil)
	ctx := browser(t, 1280, 1000)
	do(t, ctx, chromedp.Navigate(s.url+"/answers"))
	ready(t, ctx)
	put(t, ctx, "How much is a ticket for a family?")
	until(t, ctx, "document.querySelector('.d-follow .chip')")
	do(t, ctx, chromedp.Click(".d-share button[type=submit]"))
	until(t, ctx, "document.activeElement?.matches('.d-share input[readonly]')")
	link := script[string](t, ctx, "document.querySelector('.d-share input').value")
	path := link[strings.Index(link, "/ai-answers/"):]
	if res, body := s.get(client(t), path); res.StatusCode != 200 || !strings.Contains(body, "Family") {
		t.Errorf("%s: %d", path, res.StatusCode)
	}
	do(t, ctx, chromedp.Click(".d-share form button"))
	until(t, ctx, "document.activeElement?.matches('.d-share:not(.d-share--on) button')")
	if res, _ := s.get(client(t), path); res.StatusCode != 404 {
		t.Errorf("after it was ended: %d", res.StatusCode)
	}
	// A suggestion that is asked goes on with the conversation.
	do(t, ctx, chromedp.Click(".d-follow .chip"))
	until(t, ctx, "document.querySelectorAll('.d-turn').length === 2 && document.querySelector('.d-follow .chip')")
	if text := script[string](t, ctx, "document.querySelectorAll('.d-turn')[1].querySelector('.d-turn__body').textContent"); text == "" {
		t.Error("the suggestion is not answered")
	}
}
