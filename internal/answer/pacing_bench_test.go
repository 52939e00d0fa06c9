package answer

import (
	"fmt"
	"testing"
	"time"

	"docent/internal/benchtest"
	"docent/internal/markdown"
)

// paced plays a text of 100 tokens a second into a stream as a run does, on a clock
// of its own. It returns the share of one core that rendering takes and the longest
// time in which a reader sees nothing new.
func paced(text string) (share float64, gap time.Duration) {
	const interval = 10 * time.Millisecond
	stream := markdown.NewStream(markdown.Options{
		Source:  func(n int) (string, bool) { return fmt.Sprintf("node:%d", n), n < 10 },
		BlockID: func(i int) string { return fmt.Sprintf("turn-01234567-b%d", i) },
	})
	var now, next, last, spent time.Duration
	show := func(at time.Duration) {
		before := benchtest.CPU()
		stream.Render(false)
		stream.Text()
		cost := benchtest.CPU() - before
		spent += cost
		gap = max(gap, at+cost-last)
		last, next = at+cost, at+pause(cost)
	}
	pending := false
	for _, token := range benchtest.Tokens(text) {
		if pending && next <= now { // the timer was faster than the token
			show(next)
			pending = false
		}
		stream.Write(token)
		pending = true
		if now >= next {
			show(now)
			pending = false
		}
		now += interval
	}
	return float64(spent) / float64(now), gap
}

// TestBenchHostile is about answers of one block, which never settles: each
// rendering costs as much as the answer is long.
func TestBenchHostile(t *testing.T) {
	benchtest.Only(t)
	for name, text := range benchtest.Hostile(60 << 10) {
		var shares []float64
		var gaps []time.Duration
		for range benchtest.Rounds {
			share, gap := paced(text)
			shares, gaps = append(shares, 100*share), append(gaps, gap)
		}
		gap := benchtest.Median(gaps)
		benchtest.Gate{ID: "B9 " + name, What: "one 60 KB " + name + ", 100 tokens/s: percent of one core", AtMost: 6, Stretch: 1}.
			Check(t, benchtest.Median(shares), "")
		benchtest.Gate{ID: "B9 " + name + " gap", What: "the same: longest time without new text, ms", AtMost: 300, Stretch: 270}.
			Check(t, float64(gap.Milliseconds()), "")
	}
}
