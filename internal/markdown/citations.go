package markdown

import (
	"slices"
	"strconv"
)

// edit is a marker of the source text and what became of it.
type edit struct {
	start, stop int
	placeholder bool
	keys        []string // sources it names, without those named directly before it
	shown       []int    // the reader's numbers of keys
}

// citations gives sources the reader's running numbers in order of first
// citation. What the unsettled part of an answer added can be taken back.
type citations struct {
	o       *Options
	numbers map[string]int
	fresh   []string // keys numbered here, in order
	cited   []string // keys cited here, in order of first citation
	seen    map[string]bool
	dropped int
	edits   []edit
}

// mark is a state of citations to return to.
type mark struct{ fresh, cited, dropped, edits int }

func newCitations(o *Options) *citations {
	c := &citations{o: o, numbers: map[string]int{}, seen: map[string]bool{}}
	for i, key := range o.Numbered {
		if _, ok := c.numbers[key]; !ok {
			c.numbers[key] = i + 1
		}
	}
	return c
}

func (c *citations) mark() mark {
	return mark{len(c.fresh), len(c.cited), c.dropped, len(c.edits)}
}

func (c *citations) rollback(m mark) {
	for _, key := range c.fresh[m.fresh:] {
		delete(c.numbers, key)
	}
	for _, key := range c.cited[m.cited:] {
		delete(c.seen, key)
	}
	c.fresh, c.cited, c.edits = c.fresh[:m.fresh], c.cited[:m.cited], c.edits[:m.edits]
	c.dropped = m.dropped
}

// resolve looks up the sources of a marker and records what became of it.
func (c *citations) resolve(n *cite, base int) edit {
	e := edit{start: base + n.start, stop: base + n.stop, placeholder: len(n.spans) == 0}
	before := c.adjacent(e.start)
	for _, s := range n.spans {
		for i := s.from; i <= s.to; i++ {
			key, ok := "", false
			if c.o.Source != nil {
				key, ok = c.o.Source(i)
			}
			if !ok || i-s.from >= maxRange {
				c.dropped++
				if i-s.from >= maxRange {
					break
				}
				continue
			}
			if slices.Contains(before, key) || slices.Contains(e.keys, key) {
				continue // two passages of one source
			}
			e.keys = append(e.keys, key)
			e.shown = append(e.shown, c.number(key))
		}
	}
	c.edits = append(c.edits, e)
	return e
}

// adjacent returns the keys of the markers that end directly at offset at.
func (c *citations) adjacent(at int) []string {
	var keys []string
	for i := len(c.edits) - 1; i >= 0 && c.edits[i].stop == at; i-- {
		keys = append(keys, c.edits[i].keys...)
		at = c.edits[i].start
	}
	return keys
}

func (c *citations) number(key string) int {
	if !c.seen[key] {
		c.seen[key] = true
		c.cited = append(c.cited, key)
	}
	n, ok := c.numbers[key]
	if !ok {
		c.fresh = append(c.fresh, key)
		n = len(c.o.Numbered) + len(c.fresh)
		c.numbers[key] = n
	}
	return n
}

func (c *citations) href(number int) string {
	if c.o.CiteHref != nil {
		return c.o.CiteHref(number)
	}
	return "#source-" + strconv.Itoa(number)
}

func (c *citations) label(number int) string {
	if c.o.CiteLabel != nil {
		return c.o.CiteLabel(number)
	}
	return "Source " + strconv.Itoa(number)
}

// rewrite rewrites text from an offset on that no marker holds: replace returns
// what stands for a marker, and false to leave it as it is. A marker that goes takes
// the space before it along.
func rewrite(text []byte, at int, markers []edit, replace func(edit) (string, bool)) []byte {
	out := make([]byte, 0, len(text)-at)
	for _, e := range markers {
		if e.start < at || e.stop > len(text) {
			continue
		}
		s, ok := replace(e)
		if !ok {
			continue
		}
		out = append(out, text[at:e.start]...)
		if s == "" && endsClause(text[e.stop:]) {
			out = trimSpaces(out)
		}
		out = append(out, s...)
		at = e.stop
	}
	return append(out, text[at:]...)
}
