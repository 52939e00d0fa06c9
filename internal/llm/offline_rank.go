package llm

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// scored is a unit with what the ranking found out about it.
type scored struct {
	passage, unit int
	own           []float64 // match of each term in the unit itself
	context       []float64 // with its headings, table header and lead-in
	score         float64
}

// ranking holds everything computed for one question over its sources.
type ranking struct {
	question question
	passages []passage
	units    []scored
	pages    [][]float64 // best match of each term anywhere in each passage
	first    []int       // index in units of each passage's first unit
	best     int         // index of the best unit, -1 without any
	named    bool        // the question names a heading: what stands below it is the answer
	coverage float64     // 0 to 1: how much of the question the place of the best unit covers
	missing  bool        // a name or number of the question is not on its page
}

// How much a term counts for a unit when it stands elsewhere: in the same
// section, in the title, anywhere on the page. Headings count like the unit. A
// page need not repeat in every sentence what it is about, so the title counts
// nearly as much: what else the question asks tells the sentences apart.
const (
	sectionShare = 0.15
	titleShare   = 0.75
	pageShare    = 0.1
)

// What is left of the score of units that are no sentence, that are long and cut
// off, that announce content, or that invite; how much earlier sources gain; how much neighbours in question
// and unit add; and how much each year of age costs.
const (
	fragmentShare = 0.85
	brokenShare   = 0.6
	announceShare = 0.7
	inviteShare   = 0.6
	rankShare     = 0.2
	pairShare     = 0.08
	ageShare      = 0.02
)

// topicShare is how much a word of the context counts for ranking, of the question
// before or of the other part of a question that asks two things, unless the
// question has no subject of its own.
const topicShare = 0.5

// otherPage is the trust in a page that lacks a name which other sources hold.
const otherPage = 0.8

// analyzed holds the tokens of a passage.
type analyzed struct {
	title []string
	units [][]string
	above [][]string // of the headings and the table header over each unit
}

// corpus is what the terms of a question are looked up in. The frequency of a
// token counts units; tokens that stand in titles and headings only have 0.
type corpus struct {
	passages  []analyzed
	frequency map[string]int
	units     int
}

// read analyzes passages, each in its language.
func (o *Offline) read(q question, passages []passage) corpus {
	c := corpus{frequency: map[string]int{}}
	mention := func(tokens []string) []string {
		for _, t := range tokens {
			c.frequency[t] += 0
		}
		return tokens
	}
	for _, p := range passages {
		lang := p.lang(q)
		a := analyzed{title: mention(o.analyze(lang, p.Title+" . "+p.Where))}
		above := map[string][]string{}
		for _, u := range p.units {
			tokens := o.analyze(lang, u.text)
			for _, t := range unique(tokens) {
				c.frequency[t]++
			}
			key := u.above()
			if _, ok := above[key]; !ok {
				above[key] = mention(o.analyze(lang, key))
			}
			a.units = append(a.units, tokens)
			a.above = append(a.above, above[key])
		}
		c.passages = append(c.passages, a)
		c.units += len(p.units)
	}
	return c
}

// rank weighs every unit of the passages against the question.
func (o *Offline) rank(q question, passages []passage) ranking {
	r := ranking{question: q, passages: passages, best: -1}
	c := o.read(q, passages)
	links := o.links(&r.question, passages, c)
	match := func(text string, tokens []string) []float64 { return r.question.match(links, text, tokens) }

	r.pages = make([][]float64, len(passages))
	fits := make([]float64, len(passages)) // how well each covers the question
	fittest := 0.0
	for p, ps := range passages {
		r.pages[p] = match(ps.Title, c.passages[p].title)
		for i, u := range ps.units {
			raise(r.pages[p], match(u.text, c.passages[p].units[i]))
			raise(r.pages[p], match(u.above(), c.passages[p].above[i]))
		}
		for i, t := range r.question.terms {
			fits[p] += t.weight * r.pages[p][i]
		}
		fittest = max(fittest, fits[p])
	}
	var places [][]float64 // best match around each unit: its section and the title
	for p, ps := range passages {
		r.first = append(r.first, len(r.units))
		title := match(ps.Title, c.passages[p].title)
		sections := map[int][]float64{}
		for i, u := range ps.units {
			s := scored{passage: p, unit: i, own: match(u.text, c.passages[p].units[i])}
			s.context = raise(slices.Clone(s.own), match(u.above(), c.passages[p].above[i]))
			if u.lead >= 0 {
				raise(s.context, match(ps.units[u.lead].text, c.passages[p].units[u.lead]))
			}
			r.units = append(r.units, s)
			sections[u.section] = raise(sections[u.section], s.context)
		}
		for i, u := range ps.units {
			s := &r.units[r.first[p]+i]
			s.score = r.score(s, u, title, sections[u.section], c.passages[p].units[i])
			if fittest > 0 {
				s.score *= 1 - pageShare + pageShare*fits[p]/fittest
			}
			places = append(places, raise(slices.Clone(title), sections[u.section]))
		}
	}
	r.judge(places)
	return r
}

// lang is the language to analyze p in.
func (p passage) lang(q question) string { return cmp.Or(p.Lang, q.lang) }

func unique(tokens []string) []string {
	tokens = slices.Clone(tokens)
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// score is a unit's own matches, then with falling weight those of its headings,
// its section and its page, raised by what the question asks for.
func (r *ranking) score(s *scored, u unit, title, section []float64, tokens []string) float64 {
	var sum float64
	for i, t := range r.question.terms {
		sum += t.weight * max(s.context[i], sectionShare*section[i], titleShare*title[i])
	}
	sum += r.pairs(s, tokens)
	words := strings.Count(u.text, " ") + 1
	switch {
	case u.isTitle:
		sum *= 0.8
	case words < 4 && u.kind == sentenceUnit:
		sum *= 0.5
	case words > 60:
		sum *= 0.85
	}
	if strings.HasSuffix(u.text, "?") {
		sum *= 0.5
	}
	switch {
	case u.kind != sentenceUnit || u.isTitle || finished.MatchString(u.text):
	case words > 12:
		sum *= brokenShare
	default:
		sum *= fragmentShare
	}
	if aboutPage.MatchString(u.text) {
		sum *= announceShare
	}
	if invitation.MatchString(u.text) && !invitation.MatchString(r.question.text) {
		sum *= inviteShare
	}
	sum *= 1 + cueBonus(r.question, s, u)
	return sum * (1 + rankShare/float64(1+s.passage)) * (1 - ageShare*r.age(s.passage))
}

// age tells by how many years, at most 10, a passage is older than the newest.
func (r *ranking) age(p int) float64 {
	date := r.passages[p].Date
	if date == "" {
		return 0
	}
	newest := date
	for _, other := range r.passages {
		newest = max(newest, other.Date)
	}
	return float64(min(10, year(newest)-year(date)))
}

// year is the year of an ISO date, 0 for anything else.
func year(date string) int {
	y, _, _ := strings.Cut(date, "-")
	n, err := strconv.Atoi(y)
	if err != nil {
		return 0
	}
	return n
}

// finished matches the end of a whole sentence.
var finished = regexp.MustCompile("[.!?:;)。！？؟…\"”’»`]$")

// aboutPage matches sentences that announce content instead of being it.
var aboutPage = regexp.MustCompile(`(?i)^(learn|discover|explore|find out|see|watch|read|hear|join|get) (how|about|what|why|more|the)\b|^(this|in this|the following|here) (section|guide|page|article|resource|post|event|session|webinar|talk|presentation|video|blog|tutorial)\b`)

var invitation = regexp.MustCompile(`(?i)\b(send (us )?an email|e-?mail us|contact us|learn more|read more|sign up|join (us|our|the)|register (now|here)|check out|stay tuned|follow us|find out more)\b`)

// pairs rewards terms that stand together in the unit as in the question.
func (r *ranking) pairs(s *scored, tokens []string) float64 {
	sum := 0.0
	terms := r.question.terms
	for i := 1; i < len(terms); i++ {
		if s.own[i] < 1 || s.own[i-1] < 1 || terms[i].topic != terms[i-1].topic {
			continue
		}
		for k := 1; k < len(tokens); k++ {
			if tokens[k-1] == terms[i-1].stems[0] && tokens[k] == terms[i].stems[0] {
				sum += pairShare * (terms[i].weight + terms[i-1].weight)
				break
			}
		}
	}
	return sum
}

// judge finds the best unit and how much of the question its surroundings cover.
func (r *ranking) judge(places [][]float64) {
	for i, s := range r.units {
		named := r.question.names(r.passages[s.passage].units[s.unit])
		if r.best < 0 || named && !r.named || named == r.named && s.score > r.units[r.best].score {
			r.best, r.named = i, named
		}
	}
	if r.best < 0 {
		return
	}
	passage := r.units[r.best].passage
	sameLang := r.passages[passage].lang(r.question) == r.question.lang
	covered, unknown, sum, trust := 0.0, 0.0, 0.0, 1.0
	for i, t := range r.question.terms {
		sum += t.claim
		covered += t.claim * places[r.best][i]
		if !t.known && !t.akin && !t.frame && sameLang {
			unknown += t.claim
		}
		switch {
		case !t.named || t.topic || r.pages[passage][i] >= 0.5:
		case t.known && t.literal == nil:
			trust = otherPage
		default:
			r.missing = true
		}
	}
	if sum > 0 {
		r.coverage = trust * covered / sum * (1 - unknown/sum)
	}
}
