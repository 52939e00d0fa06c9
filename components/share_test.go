package components

import "testing"

func TestShare(t *testing.T) {
	doc := render(t, Share(ShareProps{ID: "turn-7-share", Action: "/t/share"}))
	count(t, doc, "#turn-7-share form[action='/t/share'][hx-post='/t/share'][hx-target='#turn-7-share'] button[type=submit]", 1)
	count(t, doc, "input, [autofocus]", 0)

	doc = render(t, Share(ShareProps{ID: "turn-7-share", Action: "/t/unshare", URL: "https://example.org/s/1", Until: "2 March", Focus: true}))
	count(t, doc, "label[for='turn-7-share-url'] + div input#turn-7-share-url[readonly][autofocus][value='https://example.org/s/1'][aria-describedby='turn-7-share-until']", 1)
	count(t, doc, "button.needs-js[data-docent-copy='turn-7-share-url']", 1)
	count(t, doc, "form[action='/t/unshare'][hx-post] button[type=submit]", 1)
	count(t, doc, "#turn-7-share-notice", 1)
}
