package answer

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"docent/internal/markdown"
	"docent/internal/search"
)

const (
	leastGround    = 0.2 // share of a claim's words that its quote must hold
	partWeight     = 2   // of words behind the marker before, against the whole sentence's 1
	numberWeight   = 2   // of words with a digit
	passageLimit   = 320 // characters shown around a quote
	beforeQuote    = 100 // of them before it, at most
	fragmentWords  = 9   // up to this many words a text fragment names all of them
	fragmentBorder = 4   // else so many at each end
)

// A grounder finds what claims rest on. It remembers what it has read of a turn's
// sources, so one serves a turn.
type grounder struct {
	lang   string // of the answer
	source map[string][]sentence
}

// A sentence of a source's passage, in plain text.
type sentence struct {
	passage    int
	plain      string // the whole passage
	start, end int    // of the sentence in it
	words      map[string]bool
}

// ground sets the citations of the sources that text cites, one for each marker.
// Only keys in want are looked at, nil meaning all; others keep what they have.
func (g *grounder) ground(text string, o markdown.Options, sources []Source, want map[string]bool) {
	at := map[string]int{}
	for i, s := range sources {
		if want == nil || want[s.Key] {
			at[s.Key] = i
			sources[i].Citations = nil
		}
	}
	for _, c := range markdown.Claims(text, o) {
		for _, key := range c.Keys {
			if i, ok := at[key]; ok {
				sources[i].Citations = append(sources[i].Citations, g.cite(sources[i], c))
			}
		}
	}
}

func (g *grounder) cite(s Source, claim markdown.Claim) Citation {
	weights := map[string]float64{}
	for part, w := range map[string]float64{claim.Sentence: 1, claim.Part: partWeight} {
		for _, word := range search.Analyze(g.lang, part) {
			if strings.ContainsFunc(word, unicode.IsDigit) {
				w *= numberWeight
			}
			weights[word] = max(weights[word], w)
		}
	}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	var best *sentence
	most := 0.0
	all := g.sentences(s)
	for i, x := range all {
		have := 0.0
		for word := range x.words {
			have += weights[word]
		}
		// Of two that hold the same, the shorter says it more exactly.
		if score := have - 0.01*float64(len(x.words)); have >= leastGround*total && have > 0 && (best == nil || score > most) {
			best, most = &all[i], score
		}
	}
	if best != nil && claim.Before != "" {
		best = extend(all, slices.IndexFunc(all, func(x sentence) bool { return x.passage == best.passage && x.start == best.start }),
			search.Analyze(g.lang, claim.Before))
	}
	if best == nil {
		c := Citation{URL: s.pageAt("", "")}
		if len(all) > 0 {
			c.Passage, _ = window(all[0].plain, 0, 0)
		}
		if len(s.Passages) > 0 {
			c.URL = s.pageAt(s.Passages[0].Anchor, "")
		}
		return c
	}
	c := Citation{Quote: best.plain[best.start:best.end]}
	c.Passage, c.Mark = window(best.plain, best.start, best.end)
	c.URL = s.pageAt(s.Passages[best.passage].Anchor, c.Quote)
	return c
}

// sameShare is the share of a sentence's words that the answer must hold for the
// sentence to belong to the quote.
const sameShare = 0.7

// extend adds to a sentence those right before it that the answer has said too.
func extend(all []sentence, at int, said []string) *sentence {
	quote := all[at]
	for i := at - 1; i >= 0 && all[i].passage == quote.passage; i-- {
		have := 0
		for w := range all[i].words {
			if slices.Contains(said, w) {
				have++
			}
		}
		if len(all[i].words) == 0 || float64(have) < sameShare*float64(len(all[i].words)) {
			break
		}
		quote.start = all[i].start
	}
	return &quote
}

func (g *grounder) sentences(s Source) []sentence {
	if known, ok := g.source[s.Key]; ok {
		return known
	}
	var out []sentence
	lang := s.FoundLang
	if lang == "" {
		lang = s.Lang
	}
	for i, p := range s.Passages {
		plain := plainLines(p.Text)
		for _, span := range sentenceSpans(plain) {
			x := sentence{passage: i, plain: plain, start: span[0], end: span[1], words: map[string]bool{}}
			for _, w := range search.Analyze(lang, plain[span[0]:span[1]]) {
				x.words[w] = true
			}
			out = append(out, x)
		}
	}
	if g.source == nil {
		g.source = map[string][]sentence{}
	}
	g.source[s.Key] = out
	return out
}

// plainLines is Markdown as people read it: its lines stay apart, so that rows of
// a table and items of a list can be told from each other.
func plainLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(markdown.PlainText(text), "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// sentenceSpans cuts text at line ends and behind sentences.
func sentenceSpans(text string) [][2]int {
	var spans [][2]int
	start := 0
	add := func(end int) {
		s := text[start:end]
		from := start + len(s) - len(strings.TrimLeft(s, " \n"))
		to := start + len(strings.TrimRight(s, " \n"))
		if strings.HasPrefix(text[from:max(from, to)], "- ") { // a list's mark is not on the page
			from += 2
		}
		if from < to {
			spans = append(spans, [2]int{from, to})
		}
		start = end
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch {
		case r == '\n', strings.ContainsRune("。！？", r):
			add(next)
		case strings.ContainsRune(".!?؟", r) && next < len(text) && text[next] == ' ' && !abbreviated(text[start:i]):
			add(next)
		}
	}
	add(len(text))
	return spans
}

// abbreviated reports whether a full stop behind text more likely ends a short
// form or a number than a sentence.
func abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " \n(")+1:]
	return utf8.RuneCountInString(word) <= 2 || strings.ContainsRune(word, '.')
}

// window shortens a passage to what stands around a quote, at words.
func window(text string, start, end int) (string, [2]int) {
	if utf8.RuneCountInString(text) <= passageLimit {
		return text, [2]int{start, end}
	}
	from, room := 0, beforeQuote
	if utf8.RuneCountInString(text[:start]) > room {
		from = start
		for room > 0 {
			_, n := utf8.DecodeLastRuneInString(text[:from])
			from -= n
			room--
		}
		if i := strings.IndexAny(text[from:start], " \n"); i >= 0 {
			from += i + 1
		}
	}
	to := from
	for range passageLimit {
		if to >= len(text) {
			break
		}
		_, n := utf8.DecodeRuneInString(text[to:])
		to += n
	}
	if to < end {
		to = end
	} else if to < len(text) {
		if i := strings.LastIndexAny(text[end:to], " \n"); i >= 0 {
			to = end + i
		}
	}
	before, after := "", ""
	if from > 0 {
		before = "…"
	}
	if to < len(text) {
		after = "…"
	}
	return before + text[from:to] + after, [2]int{len(before) + start - from, len(before) + end - from}
}

// pageAt is the address of the page that the passages are from, at an anchor and,
// in browsers that know text fragments, at a quote.
func (s Source) pageAt(anchor, quote string) string {
	address := s.FoundPath
	if address == "" {
		address = s.Path
	}
	if address == "" {
		return ""
	}
	fragment := url.PathEscape(anchor)
	if directive := textFragment(quote); directive != "" {
		fragment += ":~:text=" + directive
	}
	if fragment == "" {
		return address
	}
	return address + "#" + fragment
}

// textFragment names a quote for a text fragment: whole, or by its ends. Of a
// table's row the first cell has to do: the others are texts of their own.
func textFragment(quote string) string {
	quote, _, _ = strings.Cut(quote, " | ")
	words := strings.Fields(quote)
	if len(words) == 0 {
		return ""
	}
	if len(words) <= fragmentWords {
		return escapeFragment(strings.Join(words, " "))
	}
	return escapeFragment(strings.Join(words[:fragmentBorder], " ")) + "," +
		escapeFragment(strings.Join(words[len(words)-fragmentBorder:], " "))
}

var fragmentMarks = strings.NewReplacer("-", "%2D", ",", "%2C", "&", "%26")

func escapeFragment(s string) string { return fragmentMarks.Replace(url.PathEscape(s)) }
