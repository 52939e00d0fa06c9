package handlers

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"docent/components"
	"docent/internal/answer"
	"docent/internal/markdown"
)

// seen is how much of a turn a watcher has, as told by the id of the last event
// it received: that many blocks, the first of them settled, and that many cards
// on its list of sources. They show so many bytes of the model's text, and List
// tells what the turn's cards say from what they might say.
type seen struct {
	Settled int
	Blocks  int
	Cards   int
	Text    int
	List    int
}

func (s seen) String() string {
	return fmt.Sprintf("%d.%d.%d.%s.%s", s.Settled, s.Blocks, s.Cards, strconv.FormatInt(int64(s.Text), 36), strconv.FormatInt(int64(s.List), 36))
}

// maxTurnCards is more cards than one turn can ever have on a page. A position
// comes from the client, which may say anything.
const maxTurnCards = 200

// parseSeen reads what String wrote. Anything else is a watcher that has nothing.
func parseSeen(id string) (s seen, ok bool) {
	parts := strings.Split(id, ".")
	if len(parts) != 5 {
		return seen{}, false
	}
	for i, dest := range []*int{&s.Settled, &s.Blocks, &s.Cards, &s.Text, &s.List} {
		base := 10
		if i > 2 {
			base = 36
		}
		n, err := strconv.ParseUint(parts[i], base, 31)
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
	return seen{Settled: len(st.Blocks.Settled), Blocks: st.Blocks.Len(), Cards: cards, Text: len(st.Text)}
}

// seenIn is what an Answer block has that shows a whole state.
func seenIn(st answer.State, block answersBlock) seen {
	s := seenOf(st, cardsOf(st, block))
	s.List = listOf(st, len(block.carded), s.Cards)
	return s
}

// listOf tells one content of the cards behind number from up to number to from
// another.
func listOf(st answer.State, from, to int) int {
	h := fnv.New32a()
	for n := from + 1; n <= min(to, from+maxTurnCards); n++ {
		s, _ := sourceAt(st, n)
		fmt.Fprintf(h, "%q %v", s.Key, ground(s))
	}
	return int(h.Sum32() % (36 * 36 * 36))
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
func (w *turnWatch) frame(ctx context.Context, st answer.State) (frame, error) {
	if w.ahead(st) {
		return frame{}, nil
	}
	if st.Refused {
		st.Blocks = markdown.Blocks{} // pages show the refusal below the text, with ways on
	}
	dom := answer.DOMID(st.ID)
	var props components.TurnProps // of what stands around the text: growing text changes none of it
	var parts []templ.Component
	if w.last == nil || !sameStatus(*w.last, st) { // always so at the end
		props = w.h.turnProps(ctx, st, w.page)
		parts = append(parts, components.Partial("#"+dom+"-status", components.SwapMorph, components.TurnStatus(props)))
	}
	changes, added := w.blocks(dom, st)
	parts = append(parts, changes...)
	parts = append(parts, w.sources(ctx, st)...)
	if !st.IsRunning() {
		parts = append(parts,
			components.Partial("#"+dom+"-end", components.SwapReplace, components.TurnEnd(props)),
			components.Partial("#"+w.page.ID+"-follow", components.SwapInside, components.FollowUp(w.h.followUpProps(st, w.page))),
			components.Partial("#"+dom+"-stream", components.SwapDelete, templ.NopComponent))
	}
	w.have = seenIn(st, w.page)
	w.last = &st
	if len(added) > 0 && len(added) == len(parts) {
		return wordsFrame(added)
	}
	var b strings.Builder
	err := templ.Join(parts...).Render(ctx, &b)
	return frame{data: b.String()}, err
}

// sameStatus reports whether the status of a running turn still says the same.
func sameStatus(before, now answer.State) bool {
	return now.IsRunning() && turnState(before) == turnState(now) && len(before.Sources) == len(now.Sources)
}

// ahead reports whether the page shows more than st, which another process still
// writes and has not stored as far: what is there stays until st has caught up.
func (w *turnWatch) ahead(st answer.State) bool {
	return st.IsRunning() && len(st.Text) < w.have.Text
}

// mostLoose is more blocks than can go again at the growing end of an answer.
const mostLoose = 8

// blocks are the changes of the answer's text; added are those of them that are
// words alone.
func (w *turnWatch) blocks(dom string, st answer.State) (parts []templ.Component, added []words) {
	body := "#" + dom + "-body"
	if w.have.Settled > st.Blocks.Len() || w.last == nil && w.have.Blocks > st.Blocks.Len()+mostLoose {
		// The page has more than there is: the process that wrote it is gone and
		// its last words with it. Or the position is made up: it must cost nothing.
		return []templ.Component{components.Partial(body, components.SwapInside, components.HTML(joinBlocks(st, 0)))}, nil
	}
	put := func(i int, inside string, swap components.Swap, html string) {
		parts = append(parts, components.Partial(fmt.Sprintf("#%s-b%d%s", dom, i, inside), swap, components.HTML(html)))
	}
	for i := w.have.Settled; i < min(w.have.Blocks, st.Blocks.Len()); i++ {
		now := st.Blocks.At(i).HTML
		if w.last == nil || i >= w.last.Blocks.Len() {
			put(i, "", components.SwapReplace, now)
			continue
		}
		before := w.last.Blocks.At(i).HTML
		if before == now {
			continue
		}
		steps, ok := additions(before, now)
		if !ok {
			put(i, "", components.SwapReplace, now)
		}
		for _, step := range steps {
			put(i, strings.Repeat(">:last-child", step.depth), components.SwapAppend, step.html)
			if text, ok := step.asWords(i); ok {
				added = append(added, text)
			}
		}
	}
	for i := st.Blocks.Len(); i < w.have.Blocks; i++ {
		put(i, "", components.SwapDelete, "")
	}
	if st.Blocks.Len() > w.have.Blocks {
		parts = append(parts, components.Partial(body, components.SwapAppend, components.HTML(joinBlocks(st, w.have.Blocks))))
	}
	return parts, added
}

func joinBlocks(st answer.State, from int) string {
	var b strings.Builder
	for block := range st.Blocks.From(from) {
		b.WriteString(block.HTML)
	}
	return b.String()
}

// sources are the changes of the list of sources.
func (w *turnWatch) sources(ctx context.Context, st answer.State) []templ.Component {
	var parts []templ.Component
	have := min(w.have.Cards, len(w.page.carded)+maxTurnCards)
	// A card already shown becomes another only when a marker near the growing end
	// turned out to be something else, such as code. What its claim rests on is
	// certain in the end.
	known := w.last != nil || have == w.have.Cards && w.have.List == listOf(st, len(w.page.carded), have)
	for n := len(w.page.carded) + 1; n <= have; n++ {
		now, shown := sourceAt(st, n)
		switch {
		case !shown:
			parts = append(parts, components.Partial(w.card(n), components.SwapDelete, templ.NopComponent))
		case !known || w.last != nil && !sameSource(*w.last, n, now.Key):
			parts = append(parts, components.Partial(w.card(n), components.SwapReplace, components.SourceCard(w.h.cardProps(ctx, []answer.Source{now}, w.page)[0])))
		case w.last != nil && !sameGround(*w.last, n, now):
			parts = append(parts, components.Partial(w.card(n)+components.SourceWhyPlace, components.SwapMorphInside, components.SourceWhy(w.h.sourceProps(now))))
		}
	}
	if added := w.h.cardProps(ctx, newCards(st, have), w.page); len(added) > 0 {
		parts = append(parts, components.Partial(components.InSources(w.page.ID, citedList), components.SwapAppend, each(added, components.SourceCard)))
	}
	parts = append(parts, w.placeholders(st)...)
	cards := cardsOf(st, w.page)
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

// ground is what a source's card says that the first claim citing it rests on.
func ground(s answer.Source) answer.Citation {
	if len(s.Citations) == 0 {
		return answer.Citation{}
	}
	return s.Citations[0]
}

func sameGround(st answer.State, n int, now answer.Source) bool {
	s, _ := sourceAt(st, n)
	return ground(s) == ground(now)
}

// placeholders are the changes of what stands for sources that are not cited yet.
// Mostly one of them goes.
func (w *turnWatch) placeholders(st answer.State) (parts []templ.Component) {
	now, list := w.waiting(st), components.InSources(w.page.ID, waitingList)
	if w.last != nil {
		before, left := w.waiting(*w.last), now
		for i := len(before) - 1; i >= 0; i-- {
			if last := len(left) - 1; last >= 0 && before[i].Key == left[last].Key {
				left = left[:last]
				continue
			}
			parts = append(parts, components.Partial(fmt.Sprintf("%s>:nth-child(%d)", list, i+1), components.SwapDelete, templ.NopComponent))
		}
		if len(left) == 0 && (len(now) > 0 || len(parts) < 2) {
			return parts
		}
	}
	return []templ.Component{components.Partial(list, components.SwapInside, each(w.h.placeholderProps(now), components.SourceWaiting))}
}

// waiting are the sources that the text may still cite.
func (w *turnWatch) waiting(st answer.State) []answer.Source {
	if !st.IsRunning() {
		return nil
	}
	return uncited(st, w.page.carded)
}

// each renders one component for each of props.
func each[P any](props []P, component func(P) templ.Component) templ.Component {
	parts := make([]templ.Component, len(props))
	for i, p := range props {
		parts[i] = component(p)
	}
	return templ.Join(parts...)
}
