package handlers

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"docent/components"
	"docent/internal/answer"
)

// seen is how much of a turn a watcher has, as told by the id of the last event
// it received: that many blocks, the first of them settled, and that many cards
// on its list of sources.
type seen struct {
	Settled int
	Blocks  int
	Cards   int
}

func (s seen) String() string {
	return fmt.Sprintf("%d.%d.%d", s.Settled, s.Blocks, s.Cards)
}

// maxTurnCards is more cards than one turn can ever have on a page. A position
// comes from the client, which may say anything.
const maxTurnCards = 200

// parseSeen reads what String wrote. Anything else is a watcher that has nothing.
func parseSeen(id string) (s seen, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 3 {
		return seen{}, false
	}
	for i, dest := range []*int{&s.Settled, &s.Blocks, &s.Cards} {
		n, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil {
			return seen{}, false
		}
		*dest = int(n)
	}
	return s, s.Settled <= s.Blocks
}

// seenOf is what a watcher has that was shown a whole state, on a page whose list
// of sources has cards from earlier turns.
func seenOf(st answer.State, cards int) seen {
	s := seen{Blocks: len(st.Blocks), Cards: cards}
	for s.Settled < len(st.Blocks) && st.Blocks[s.Settled].Settled {
		s.Settled++
	}
	return s
}

// A turnWatch turns the states of one turn into frames for one page. It knows
// what the page has and sends only what is new; the page's settled blocks are
// never touched again.
type turnWatch struct {
	h    *Handlers
	page answersBlock
	have seen
	last *answer.State // what the page shows, exactly; nil right after a (re)connection
}

// frame returns what brings the page from what it has to st; nothing when nothing
// changed.
func (w *turnWatch) frame(ctx context.Context, st answer.State) (string, error) {
	if st.Refused {
		st.Blocks = nil // pages show the refusal below the text, with ways on
	}
	props := w.h.turnProps(ctx, st, w.page)
	dom := props.DOMID
	var parts []templ.Component
	if w.last == nil || !w.sameStatus(ctx, props) {
		parts = append(parts, components.Partial("#"+dom+"-status", components.SwapMorph, components.TurnStatus(props)))
	}
	parts = append(parts, w.blocks(dom, st)...)
	parts = append(parts, w.sources(st)...)
	if !st.IsRunning() {
		parts = append(parts,
			components.Partial("#"+dom+"-end", components.SwapReplace, components.TurnEnd(props)),
			components.Partial("#"+w.page.ID+"-follow", components.SwapInside, components.FollowUp(w.h.followUpProps(st, w.page))),
			components.Partial("#"+dom+"-stream", components.SwapDelete, templ.NopComponent))
	}
	w.have = seenOf(st, cardsOf(st, w.page))
	w.last = &st
	var b strings.Builder
	err := templ.Join(parts...).Render(ctx, &b)
	return b.String(), err
}

func (w *turnWatch) sameStatus(ctx context.Context, now components.TurnProps) bool {
	before := w.h.turnProps(ctx, *w.last, w.page)
	return before.State == now.State && before.SourceCount == now.SourceCount && now.State.Running()
}

// blocks are the changes of the answer's text.
func (w *turnWatch) blocks(dom string, st answer.State) []templ.Component {
	body := "#" + dom + "-body"
	if w.have.Settled > len(st.Blocks) || w.last == nil && w.have.Blocks > len(st.Blocks) {
		// The page has more than there is: the process that wrote it is gone and
		// its last words with it. Or the position is made up: it must cost nothing.
		return []templ.Component{components.Partial(body, components.SwapInside, components.HTML(joinBlocks(st, 0)))}
	}
	var parts []templ.Component
	put := func(i int, swap components.Swap, html string) {
		parts = append(parts, components.Partial(fmt.Sprintf("#%s-b%d", dom, i), swap, components.HTML(html)))
	}
	for i := w.have.Settled; i < min(w.have.Blocks, len(st.Blocks)); i++ {
		now := st.Blocks[i].HTML
		if w.last == nil || i >= len(w.last.Blocks) {
			put(i, components.SwapReplace, now)
			continue
		}
		before := w.last.Blocks[i].HTML
		if before == now {
			continue
		}
		if more, ok := appended(before, now); ok {
			put(i, components.SwapAppend, more)
		} else {
			put(i, components.SwapReplace, now)
		}
	}
	for i := len(st.Blocks); i < w.have.Blocks; i++ {
		put(i, components.SwapDelete, "")
	}
	if len(st.Blocks) > w.have.Blocks {
		parts = append(parts, components.Partial(body, components.SwapAppend, components.HTML(joinBlocks(st, w.have.Blocks))))
	}
	return parts
}

func joinBlocks(st answer.State, from int) string {
	var b strings.Builder
	for _, block := range st.Blocks[from:] {
		b.WriteString(block.HTML)
	}
	return b.String()
}

// appended reports whether the element now is the element before with more at its
// end, and returns that. Both are whole, well-formed elements.
func appended(before, now string) (more string, ok bool) {
	open := strings.IndexByte(before, '>') + 1
	end := strings.LastIndex(before, "</")
	if open == 0 || end < open || !strings.HasPrefix(now, before[:end]) || !strings.HasSuffix(now, before[end:]) {
		return "", false
	}
	return now[end : len(now)-len(before[end:])], true
}

// sources are the changes of the list of sources.
func (w *turnWatch) sources(st answer.State) []templ.Component {
	var parts []templ.Component
	card := func(s answer.Source) templ.Component { return components.SourceCard(w.h.sourceProps(s)) }
	have := min(w.have.Cards, len(w.page.carded)+maxTurnCards)
	// A card already shown changes only when a marker near the growing end turned
	// out to be something else, such as code.
	for n := len(w.page.carded) + 1; n <= have; n++ {
		now, shown := sourceAt(st, n)
		switch {
		case !shown:
			parts = append(parts, components.Partial(w.card(n), components.SwapDelete, templ.NopComponent))
		case w.last == nil || !sameSource(*w.last, n, now.Key):
			parts = append(parts, components.Partial(w.card(n), components.SwapReplace, card(now)))
		}
	}
	for _, s := range newCards(st, have) {
		parts = append(parts, components.Partial(components.InSources(w.page.ID, citedList), components.SwapAppend, card(s)))
	}
	cards, waiting := cardsOf(st, w.page), w.waiting(st)
	if w.last == nil || cards != w.have.Cards || len(waiting) != len(w.waiting(*w.last)) {
		parts = append(parts, components.Partial(components.InSources(w.page.ID, waitingList), components.SwapInside, each(waiting, components.SourceWaiting)))
	}
	if w.last == nil || cards != w.have.Cards || st.IsRunning() != w.last.IsRunning() {
		parts = append(parts, components.Partial(components.InSources(w.page.ID, citedCount), components.SwapReplace, components.SourcesCount(cards, st.IsRunning())))
	}
	return parts
}

// Parts of every list of sources, by what finds them there.
const (
	citedList   = "[data-docent-cited]"
	waitingList = "[data-docent-waiting]"
	citedCount  = "[data-docent-count]"
)

// card finds the card with a number in every list that follows the answer.
func (w *turnWatch) card(n int) string {
	return components.InSources(w.page.ID, `[data-docent-source="`+strconv.Itoa(n)+`"]`)
}

// sourceAt is the source whose card has the number n on the reader's list.
func sourceAt(st answer.State, n int) (answer.Source, bool) {
	i := slices.IndexFunc(st.Sources, func(s answer.Source) bool { return s.Running == n })
	if i < 0 {
		return answer.Source{}, false
	}
	return st.Sources[i], true
}

func sameSource(st answer.State, n int, key string) bool {
	s, ok := sourceAt(st, n)
	return ok && s.Key == key
}

// waiting are the placeholders of sources that the text may still cite.
func (w *turnWatch) waiting(st answer.State) []components.SourceProps {
	if !st.IsRunning() {
		return nil
	}
	return waitingSources(w.h, st, w.page.carded)
}

// each renders one component for each of props.
func each[P any](props []P, component func(P) templ.Component) templ.Component {
	parts := make([]templ.Component, len(props))
	for i, p := range props {
		parts[i] = component(p)
	}
	return templ.Join(parts...)
}
