package handlers

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"

	"docent/internal/answer"
)

// check looks at a tab's page after an event with this id: nothing is there twice,
// settled blocks are the elements they were, and cards keep their numbers. The
// caller holds the lock.
func (t *tab) check(id string) error {
	ids := map[string]bool{}
	for _, el := range t.doc.Find("[id]").EachIter() {
		name := el.AttrOr("id", "")
		if ids[name] {
			return fmt.Errorf("tab %d: %s is there twice", t.n, name)
		}
		ids[name] = true
	}
	if err := t.checkBlocks(id); err != nil {
		return err
	}
	return t.checkCards()
}

// checkBlocks holds on to the blocks that are settled and finds them all again.
func (t *tab) checkBlocks(id string) error {
	for block := range t.tags {
		el := t.doc.Find("#" + block)
		if el.AttrOr("data-tag", "") == "" {
			if !t.w.lossy[t.conv] {
				return fmt.Errorf("tab %d: the settled block %s is not the element it was (%d found)", t.n, block, el.Length())
			}
			delete(t.tags, block)
		}
	}
	if t.turn == "" {
		return nil
	}
	have, ok := parseSeen(id)
	if !ok {
		return fmt.Errorf("an event has the id %q", id)
	}
	dom := answer.DOMID(t.turn)
	for i := range have.Settled {
		block := fmt.Sprintf("%s-b%d", dom, i)
		el := t.doc.Find("#" + block)
		if el.Length() != 1 {
			return fmt.Errorf("tab %d: the settled block %s is there %d times", t.n, block, el.Length())
		}
		el.SetAttr("data-tag", "x")
		t.tags[block] = true
	}
	for i, el := range t.doc.Find("#" + dom + "-body > *").EachIter() {
		if want := fmt.Sprintf("%s-b%d", dom, i); el.AttrOr("id", "") != want {
			return fmt.Errorf("tab %d: block %d is %s", t.n, i, el.AttrOr("id", ""))
		}
	}
	return nil
}

// checkCards looks at the lists of sources: numbered from 1, each source once, as
// they were numbered before, and one for each number in the text.
func (t *tab) checkCards() error {
	if t.w.lossy[t.conv] {
		return nil // the page may show less of a turn than later turns build on, until it is loaded again
	}
	if n := t.doc.Find("#elsewhere li").Length(); n != 0 {
		return fmt.Errorf("tab %d: %d sources in a list of another answer", t.n, n)
	}
	for _, list := range []string{"#list", "#second"} {
		keys := map[string]bool{}
		n := 0
		for i, el := range t.doc.Find(list + " [data-docent-cited] > li").EachIter() {
			key := sourceKey(el)
			if el.AttrOr("data-docent-source", "") != strconv.Itoa(i+1) || keys[key] {
				return fmt.Errorf("tab %d: card %d of %s is %s of %q", t.n, i+1, list, el.AttrOr("data-docent-source", ""), key)
			}
			keys[key] = true
			if n++; n > len(t.cards) {
				t.cards = append(t.cards, key)
			} else if t.cards[i] != key {
				return fmt.Errorf("tab %d: number %d was %q and is %q", t.n, n, t.cards[i], key)
			}
		}
		if n < len(t.cards) {
			return fmt.Errorf("tab %d: %s had %d cards and has %d", t.n, list, len(t.cards), n)
		}
		for _, el := range t.doc.Find(list + " [data-docent-waiting] > li").EachIter() {
			if key := sourceKey(el); keys[key] {
				return fmt.Errorf("tab %d: %q is cited and waits", t.n, key)
			} else {
				keys[key] = true
			}
		}
	}
	next := 1
	for _, el := range t.doc.Find(".d-turn__body .d-cite a").EachIter() {
		n, err := strconv.Atoi(strings.TrimPrefix(el.AttrOr("href", ""), "#source-"))
		if err != nil || n > next || n > len(t.cards) {
			return fmt.Errorf("tab %d: the text cites %s after %d others, and %d have cards", t.n, el.AttrOr("href", ""), next-1, len(t.cards))
		}
		if n == next {
			next++
		}
	}
	return nil
}

func sourceKey(card *goquery.Selection) string {
	return card.Find(".d-source__title a").First().AttrOr("href", "")
}

// compare looks for differences between what a tab shows in the end and the page
// that the server renders whole. What the visitor did to an answer in another tab
// does not count.
func (t *tab) compare(whole *goquery.Document) error {
	page := goquery.CloneDocument(t.doc)
	for _, doc := range []*goquery.Document{page, whole} {
		doc.Find("[data-tag]").RemoveAttr("data-tag")
		doc.Find(".d-feedback").SetHtml("")
		doc.Find(".d-turn__body").SetAttr("aria-busy", "false") // as the script does at the end
	}
	turns := page.Find("[data-docent-turn]")
	if turns.Length() == 0 {
		return fmt.Errorf("tab %d shows nothing", t.n)
	}
	if n := page.Find("[data-docent-stream]").Length(); n != 0 {
		return fmt.Errorf("tab %d: %d elements still stream", t.n, n)
	}
	for i, turn := range turns.EachIter() {
		same := whole.Find("[data-docent-turn]").Eq(i)
		if got, want := outer(turn), outer(same); got != want {
			return fmt.Errorf("tab %d: turn %d is %s", t.n, i+1, difference(got, want))
		}
	}
	parts := []string{"#list [data-docent-cited]", "#second [data-docent-cited]"}
	if turns.Length() == whole.Find("[data-docent-turn]").Length() {
		parts = append(parts, "#list", "#second", "#"+worldBlock+"-follow")
	}
	for _, part := range parts {
		got, want := outer(page.Find(part)), outer(whole.Find(part))
		if len(parts) == 2 { // others were cited after what this tab shows
			got, _ = page.Find(part).Html()
			want, _ = whole.Find(part).Html()
			want = want[:min(len(got), len(want))]
		}
		if got != want {
			return fmt.Errorf("tab %d: %s is %s", t.n, part, difference(got, want))
		}
	}
	return nil
}

func outer(s *goquery.Selection) string {
	h, err := goquery.OuterHtml(s)
	if err != nil {
		return err.Error()
	}
	return h
}

// difference shows where two texts part.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-200):min(len(s), at+200)] }
	return fmt.Sprintf("\n…%s…\nwant\n…%s…", around(got), around(want))
}
