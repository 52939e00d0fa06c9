package llm

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

const (
	maxQuotes    = 6
	maxWords     = 125 // of an answer; a quote that does not fit is left out
	listBudget   = 120 // words of a list before its items are shortened
	maxItems     = 16
	maxRows      = 5 // of a table that is quoted whole
	maxItemWords = 28
	maxUnitWords = 75
)

// Shares of the best unit's score.
const (
	fullShare = 0.5 // for a further quote
	cueShare  = 0.5 // for the unit that holds the kind of thing asked for
)

// enoughCoverage is the part of a question's weight that the best place must
// cover. Long questions tell a story around what they ask and get away with less.
func enoughCoverage(terms int) float64 {
	return max(0.2, 0.27-0.01*float64(max(0, terms-5)))
}

// answer is the Markdown answer to text, empty when the sources hold none.
func (o *Offline) answer(text, topic string, sources []Source) string {
	if orders.MatchString(text) {
		return ""
	}
	var passages []passage
	var langs []string
	for _, s := range sources {
		passages = append(passages, takeApart(s))
		if s.Lang != "" && !slices.Contains(langs, s.Lang) {
			langs = append(langs, s.Lang)
		}
	}
	if len(langs) == 0 {
		langs = append(langs, languageOf(text))
	}
	q := o.readQuestion(text, topic, langs)
	if len(q.terms) == 0 {
		return ""
	}
	r := o.rank(q, passages)
	if r.best < 0 || !r.named && (r.missing || r.coverage < enoughCoverage(len(q.terms))) {
		return ""
	}
	c := chooser{taken: map[int]bool{}}
	parts := splitQuestion(text)
	for i, part := range parts {
		if len(parts) > 1 {
			others := strings.Join(slices.Concat(parts[:i], parts[i+1:]), " ")
			r = o.rank(o.readQuestion(part, others+" "+topic, langs), passages)
		}
		if quotes := c.choose(r, maxWords*(i+1)/len(parts)); i > 0 || r.named || r.fitsCue(quotes) {
			c.quotes = append(c.quotes, quotes...)
		}
	}
	return render(r, arrange(c.quotes))
}

// joint is where a question asks a second thing.
var joint = regexp.MustCompile(`(?i)(?:[,;]|\?)?\s+(?:and|y|و)\s+(?:(?:on|at|for|to|from|in|by|a|en|de|por)\s+)?(?:what|which|who|how|when|where|why|does|do|is|are|was|can|qué|cuál|quién|cómo|cuándo|dónde|cuánt[oa]s?)\b|[?؟]\s+`)

// splitQuestion cuts a question that asks several things, at most three.
func splitQuestion(text string) []string {
	var parts []string
	start := 0
	for _, m := range joint.FindAllStringIndex(text, 2) {
		if len(strings.Fields(text[start:m[0]])) < 3 || len(strings.Fields(text[m[0]:])) < 3 {
			continue
		}
		parts = append(parts, strings.TrimSpace(text[start:m[0]]))
		start = m[0]
	}
	return append(parts, strings.TrimSpace(text[start:]))
}

// fitsCue tells whether quotes hold the kind of thing that the question asks for,
// where that can be told: a date, a number, a price.
func (r *ranking) fitsCue(quotes []quote) bool {
	pattern := map[cue]*regexp.Regexp{cueWhen: hasDate, cueAmount: hasNumber, cuePrice: hasPrice}[r.question.cue]
	if pattern == nil {
		return true
	}
	for _, q := range quotes {
		if r.lacksName(q.passage) {
			continue
		}
		for _, i := range q.units {
			if r.units[r.first[q.passage]+i].score < cueShare*r.units[r.best].score {
				continue
			}
			if u := r.passages[q.passage].units[i]; pattern.MatchString(u.text + " " + u.above()) {
				return true
			}
		}
	}
	return false
}

// lacksName tells whether a page does not hold a name of the question.
func (r *ranking) lacksName(passage int) bool {
	for i, t := range r.question.terms {
		if t.named && !t.topic && r.pages[passage][i] < 0.5 {
			return true
		}
	}
	return false
}

// quote is a run of units of one passage, quoted together.
type quote struct {
	passage int
	units   []int // indexes in the passage, ascending
}

// chooser gathers quotes for the parts of one question.
type chooser struct {
	quotes []quote
	taken  map[int]bool // units quoted, by their index in the ranking
	said   []string     // fingerprints of their texts
	words  int
}

// choose picks quotes: the best unit with what it needs to be understood, then
// others nearly as good that say something else, as long as all fit in budget words.
// Below a heading that the question names all is good, and nothing elsewhere.
func (c *chooser) choose(r ranking, budget int) []quote {
	order := make([]int, len(r.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.units[b].score, r.units[a].score) })
	var quotes []quote
	if r.named {
		order = slices.DeleteFunc(order, func(i int) bool { return !r.question.names(r.passages[r.units[i].passage].units[r.units[i].unit]) })
	}
	for n, i := range order {
		s := r.units[i]
		if len(quotes) == maxQuotes || n > 0 && (c.words >= budget || !r.named && s.score < fullShare*r.units[r.best].score) {
			break
		}
		p := r.passages[s.passage]
		if c.taken[i] || c.repeats(p.units[s.unit].text) || n > 0 && !r.named && !r.speaks(s) {
			continue
		}
		q := quote{passage: s.passage}
		needed := expand(r, s)
		if n > 0 && c.words+wordsOf(p.units, needed) > budget {
			continue
		}
		for _, u := range needed {
			g := r.first[s.passage] + u
			if c.taken[g] {
				continue
			}
			c.taken[g] = true
			c.said = append(c.said, fingerprint(p.units[u].text))
			q.units = append(q.units, u)
		}
		c.words += wordsOf(p.units, q.units)
		quotes = append(quotes, q)
	}
	return quotes
}

// speaks tells whether a unit holds a word of the question itself. Items of a
// list that is asked for need not repeat what it is a list of.
func (r *ranking) speaks(s scored) bool {
	match := s.own
	if r.passages[s.passage].units[s.unit].kind == itemUnit && r.question.cue == cueList {
		match = s.context
	}
	for i, t := range r.question.terms {
		if !t.frame && match[i] >= 0.5 {
			return true
		}
	}
	return false
}

// repeats tells whether a quote says text already, as a summary and the text it was
// cut from do.
func (c *chooser) repeats(text string) bool {
	text = fingerprint(text)
	return slices.ContainsFunc(c.said, func(said string) bool {
		short, long := said, text
		if len(short) > len(long) {
			short, long = long, short
		}
		return short == long || len(short) >= 40 && strings.Contains(long, short)
	})
}

// fingerprint is text without anything but its letters and digits.
func fingerprint(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// wordsOf is about how many words quoting units takes.
func wordsOf(units []unit, indexes []int) int {
	long, words := listWords(units, indexes), 0
	for _, i := range indexes {
		text := cut(units[i].text, maxUnitWords)
		if units[i].kind == itemUnit {
			text = shorten(text, long)
		}
		words += wordCount(text)
	}
	return words
}

// listWords counts the words of list items.
func listWords(units []unit, indexes []int) int {
	words := 0
	for _, i := range indexes {
		if units[i].kind == itemUnit {
			words += wordCount(units[i].text)
		}
	}
	return words
}

func wordCount(s string) int { return strings.Count(s, " ") + 1 }

// arrange puts quotes of one passage together and in the order of the page, the
// best passage first, and joins runs that touch.
func arrange(quotes []quote) []quote {
	rank := map[int]int{}
	for _, q := range quotes {
		if _, ok := rank[q.passage]; !ok {
			rank[q.passage] = len(rank)
		}
	}
	for _, q := range quotes {
		slices.Sort(q.units)
	}
	slices.SortStableFunc(quotes, func(a, b quote) int {
		if d := rank[a.passage] - rank[b.passage]; d != 0 {
			return d
		}
		return a.units[0] - b.units[0]
	})
	var out []quote
	for _, q := range quotes {
		if n := len(out); n > 0 && out[n-1].passage == q.passage && out[n-1].units[len(out[n-1].units)-1]+1 == q.units[0] {
			out[n-1].units = append(out[n-1].units, q.units...)
			continue
		}
		out = append(out, q)
	}
	return out
}
