package handlers

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"
)

// A change is one partial of a frame or of an answer to a form.
type change struct{ target, swap, html string }

// partialsOf cuts what htmx got into its partials and the rest.
func partialsOf(text string) (changes []change, rest string, err error) {
	for {
		before, after, found := strings.Cut(text, "<hx-partial ")
		rest += before
		if !found {
			return changes, rest, nil
		}
		attributes, after, ok := strings.Cut(after, ">")
		inside, after, ok2 := strings.Cut(after, "</hx-partial>")
		if !ok || !ok2 {
			return nil, "", fmt.Errorf("a partial does not end: %.200q", text)
		}
		element, err := goquery.NewDocumentFromReader(strings.NewReader("<hx-partial " + attributes + "></hx-partial>"))
		if err != nil {
			return nil, "", err
		}
		partial := element.Find("hx-partial")
		changes = append(changes, change{partial.AttrOr("hx-target", ""), partial.AttrOr("hx-swap", ""), inside})
		text = after
	}
}

// changesOf are the changes that an event of words makes to a turn's text.
func changesOf(dom, data string) (changes []change, err error) {
	for line := range strings.SplitSeq(data, "\n") {
		place, quoted, _ := strings.Cut(line, " ")
		var block, depth int
		var text string
		if _, err := fmt.Sscanf(place, "%d.%d", &block, &depth); err != nil {
			return nil, fmt.Errorf("words at %q: %w", place, err)
		}
		if err := json.Unmarshal([]byte(quoted), &text); err != nil {
			return nil, fmt.Errorf("words %q: %w", quoted, err)
		}
		changes = append(changes, change{fmt.Sprintf("#%s-b%d%s", dom, block, strings.Repeat(">:last-child", depth)), "beforeend", html.EscapeString(text)})
	}
	return changes, nil
}

// swapFrame does to a page what htmx, or for words our script, does with a frame of
// a turn's events. It fails where a browser would be left with something else than
// the server thinks.
func swapFrame(page *goquery.Document, dom string, f frame) error {
	if f.name == wordsEvent {
		changes, err := changesOf(dom, f.data)
		if err != nil {
			return err
		}
		return swapAll(page, changes)
	}
	changes, rest, err := partialsOf(f.data)
	if err != nil {
		return err
	}
	if strings.TrimSpace(rest) != "" {
		return fmt.Errorf("frame is not made of partials alone: %.200q", rest)
	}
	return swapAll(page, changes)
}

// swapAnswer does what htmx does with the answer to a form: the partials go to
// their places, the rest into the form's target.
func swapAnswer(page *goquery.Document, text, target, swap string) error {
	changes, rest, err := partialsOf(text)
	if err != nil {
		return err
	}
	return swapAll(page, append([]change{{target, swap, rest}}, changes...))
}

// swapAll finds the places of all changes before it makes the first, as htmx does.
func swapAll(page *goquery.Document, changes []change) error {
	places := make([]*goquery.Selection, len(changes))
	for i, c := range changes {
		places[i] = page.Find(c.target)
		// htmx fills every element that a target finds: all lists of sources.
		n, list := places[i].Length(), strings.HasPrefix(c.target, "[data-ai-answers-sources-target=")
		if n > 1 && !list || n == 0 && !list && c.swap != "delete" {
			return fmt.Errorf("%d elements match %s (%s)", n, c.target, c.swap)
		}
	}
	for i, c := range changes {
		for _, node := range places[i].Nodes {
			if !attached(page, node) {
				return fmt.Errorf("%s (%s) is gone when its turn comes", c.target, c.swap)
			}
		}
		switch c.swap {
		case "innerHTML", "innerMorph":
			places[i].SetHtml(c.html)
		case "beforeend":
			places[i].AppendHtml(c.html)
		case "outerHTML", "outerMorph":
			places[i].ReplaceWithHtml(c.html)
		case "delete":
			places[i].Remove()
		default:
			return fmt.Errorf("unknown swap %q", c.swap)
		}
	}
	return nil
}

func attached(page *goquery.Document, node *html.Node) bool {
	for node.Parent != nil {
		node = node.Parent
	}
	return node == page.Nodes[0]
}
