package llm

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// scored is a unit with what the ranking found out about it.
type scored struct {
	passage, unit int
	own           []float64 // match of each term in the unit itself
	context       []float64 // with headings, header, lead-in and title
	score         float64
}

// ranking holds everything computed for one question over its sources.
type ranking struct {
	question question
	passages []passage
	units    []scored
	first    []int // index in units of each passage's first unit
	coverage float64
	missing  bool // a name or number of the question stands nowhere near
	best     int
}

// How much a term counts that stands in a source not as it was typed: as a word
// of like meaning, as what it is a slip of, or sharing its beginning.
const (
	asKin    = 0.55
	asTypo   = 0.8
	asPrefix = 0.6
)

// How much a term counts for a unit when it stands elsewhere: in the same
// section, in the title, anywhere on the page. Headings count like the unit.
const (
	sectionShare = 0.15
	titleShare   = 0.25
	pageShare    = 0.1
)

// What is left of the score of units that are cut off, that announce content, or
// that invite; how much earlier sources gain; and how much neighbours in question
// and unit add.
const (
	fragmentShare = 0.85
	announceShare = 0.7
	inviteShare   = 0.6
	rankShare     = 0.2
	pairShare     = 0.08
)

// otherPage is the trust in a page that lacks a name which other sources hold.
const otherPage = 0.8

type link struct {
	term     int
	strength float64
}

// rank weighs every unit of the passages against the question.
func (o *Offline) rank(q question, passages []passage) ranking {
	r := ranking{question: q, passages: passages}
	tokens := make([][][]string, len(passages)) // of each unit
	titles := make([][]string, len(passages))
	paths := make([][][]string, len(passages))
	df := map[string]int{}
	total := 0
	for p, ps := range passages {
		lang := passageLang(ps, q)
		titles[p] = o.analyze(lang, ps.Title+" . "+ps.Where)
		for _, t := range titles[p] {
			df[t] += 0
		}
		pathTokens := map[string][]string{}
		for _, u := range ps.units {
			ts := o.analyze(lang, u.text)
			tokens[p] = append(tokens[p], ts)
			key := u.above()
			if _, ok := pathTokens[key]; !ok {
				pathTokens[key] = o.analyze(lang, key)
				for _, t := range pathTokens[key] {
					df[t] += 0
				}
			}
			paths[p] = append(paths[p], pathTokens[key])
			for _, t := range unique(ts) {
				df[t]++
			}
			total++
		}
	}
	links := o.links(&r.question, passages, df, total)
	n := len(r.question.terms)
	match := func(text string, tokens []string) []float64 {
		m := make([]float64, n)
		for _, t := range tokens {
			for _, l := range links[t] {
				m[l.term] = max(m[l.term], l.strength)
			}
		}
		for i, t := range r.question.terms {
			if t.literal != nil {
				m[i] = 0
				if t.literal.MatchString(text) {
					m[i] = 1
				}
			}
		}
		return m
	}
	r.first = make([]int, len(passages))
	var fits []float64 // how well each passage covers the question
	top := 0.0
	var wholes [][]float64
	for p, ps := range passages {
		m := match(ps.Title, titles[p])
		for i, u := range ps.units {
			atLeast(m, match(u.text, tokens[p][i]), 1)
			atLeast(m, match(u.above(), paths[p][i]), 1)
		}
		wholes = append(wholes, m)
		fit := 0.0
		for i, t := range r.question.terms {
			fit += t.weight * m[i]
		}
		fits = append(fits, fit)
		top = max(top, fit)
	}
	sections := make([][]float64, 0, total) // best match in the section of each unit
	for p, ps := range passages {
		r.first[p] = len(r.units)
		title := match(ps.Title, titles[p])
		section := map[int][]float64{}
		for i, u := range ps.units {
			own := match(u.text, tokens[p][i])
			near := atLeast(slices.Clone(own), match(u.above(), paths[p][i]), 1)
			if u.lead >= 0 {
				near = atLeast(near, match(ps.units[u.lead].text, tokens[p][u.lead]), 1)
			}
			r.units = append(r.units, scored{passage: p, unit: i, own: own, context: near})
			if section[u.section] == nil {
				section[u.section] = make([]float64, n)
			}
			atLeast(section[u.section], near, 1)
		}
		for i, u := range ps.units {
			s := &r.units[r.first[p]+i]
			s.score = r.score(s, u, title, section[u.section], tokens[p][i])
			if top > 0 {
				s.score *= 1 - pageShare + pageShare*fits[p]/top
			}
			sections = append(sections, atLeast(slices.Clone(section[u.section]), title, 1))
		}
	}
	r.judge(sections, wholes)
	return r
}

func passageLang(p passage, q question) string {
	if p.Lang != "" {
		return p.Lang
	}
	return q.lang
}

func unique(tokens []string) []string {
	tokens = slices.Clone(tokens)
	slices.Sort(tokens)
	return slices.Compact(tokens)
}

// atLeast raises each m to factor times other.
func atLeast(m, other []float64, factor float64) []float64 {
	for i := range m {
		m[i] = max(m[i], factor*other[i])
	}
	return m
}

// links finds the sources' words each term matches, and weighs the terms by
// how rare they are in the sources.
func (o *Offline) links(q *question, passages []passage, df map[string]int, total int) map[string][]link {
	links := map[string][]link{}
	words := sync.OnceValue(func() map[string][]string { return o.vocabulary(q, passages) })
	for i := range q.terms {
		t := &q.terms[i]
		frequency, known := 0, false
		for _, stem := range t.stems {
			if f, ok := df[stem]; ok {
				known = true
				frequency = max(frequency, f)
				links[stem] = append(links[stem], link{i, 1 / float64(len(t.stems))})
			}
		}
		for _, stem := range o.forms[t.word] {
			if f, ok := df[stem]; ok && !slices.Contains(t.stems, stem) {
				known = true
				frequency = max(frequency, f)
				links[stem] = append(links[stem], link{i, 1})
			}
		}
		if !known {
			frequency = o.typos(i, t, words(), df, links)
			known = frequency > 0
		}
		t.known = known
		for _, k := range o.kin[t.word] {
			if _, ok := df[k]; ok && !slices.Contains(t.stems, k) {
				t.akin = true
				links[k] = append(links[k], link{i, asKin})
			}
		}
		rarity := math.Log(1+(float64(total)-float64(frequency)+0.5)/(float64(frequency)+0.5)) / math.Log(float64(total)*2+2)
		t.weight = 0.25 + 0.75*rarity
		if t.named {
			t.weight *= 1.4
		}
		if t.frame {
			t.weight *= 0.35
		}
		if t.topic {
			t.weight *= 0.4
		}
		t.claim = t.weight
		if t.loose && !t.frame && !t.named {
			t.claim *= 0.35
		}
	}
	return links
}

// vocabulary maps the sources' words, as written, to their stems.
func (o *Offline) vocabulary(q *question, passages []passage) map[string][]string {
	words := map[string][]string{}
	for _, p := range passages {
		lang := passageLang(p, *q)
		add := func(text string) {
			for _, w := range wordPattern.FindAllString(strings.ToLower(text), -1) {
				if _, ok := words[w]; !ok && utf8.RuneCountInString(w) >= 4 {
					words[w] = o.analyze(lang, w)
				}
			}
		}
		add(p.Title)
		for _, u := range p.units {
			add(u.text)
			add(u.above())
		}
	}
	return words
}

// typos links a word the sources lack to the words it may be a slip of, or shares
// its beginning with, and returns how often these occur.
func (o *Offline) typos(i int, t *term, words map[string][]string, df map[string]int, links map[string][]link) int {
	length := utf8.RuneCountInString(t.word)
	if length < 5 || strings.ContainsFunc(t.word, unicode.IsDigit) {
		return 0
	}
	limit := 1
	if length >= 8 {
		limit = 2
	}
	frequency := 0
	for w, stems := range words {
		strength := 0.0
		switch shared := sharedPrefix(t.word, w); {
		case firstRune(w) == firstRune(t.word) && distance(t.word, w, limit) <= limit:
			strength = asTypo
		case shared >= 5 && shared*10 >= 7*max(length, utf8.RuneCountInString(w)):
			strength = asPrefix
		default:
			continue
		}
		for _, stem := range stems {
			links[stem] = append(links[stem], link{i, strength})
			frequency = max(frequency, df[stem], 1)
		}
	}
	return frequency
}

func sharedPrefix(a, b string) int {
	n := 0
	for a != "" && b != "" {
		x, size := utf8.DecodeRuneInString(a)
		y, other := utf8.DecodeRuneInString(b)
		if x != y {
			break
		}
		n, a, b = n+1, a[size:], b[other:]
	}
	return n
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
	if u.kind == sentenceUnit && !u.isTitle && !strings.ContainsAny(u.text[len(u.text)-1:], ".!?:)\"") && !strings.HasSuffix(u.text, "”") {
		sum *= fragmentShare
	}
	if aboutPage.MatchString(u.text) {
		sum *= announceShare
	}
	if invitation.MatchString(u.text) && !invitation.MatchString(r.question.text) {
		sum *= inviteShare
	}
	sum *= 1 + cueBonus(r.question, s, u)
	return sum * (1 + rankShare/float64(1+s.passage))
}

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

var (
	hasNumber   = regexp.MustCompile(`(?i)[0-9]|\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|thousand|million|billion|once|twice|half|monthly|weekly|daily|yearly|annually|uno|dos|tres|cuatro|cinco|diez|cien|mil)\b`)
	hasDate     = regexp.MustCompile(`(?i)\b(1[89]|20)[0-9]{2}\b|\b(january|february|march|april|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.? [0-9]|\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b[0-9]{1,2}(:[0-9]{2})? ?[ap]\.?m|\b[0-9]+ (business |working )?(days?|weeks?|months?|years?|hours?)\b|\b(within|daily|weekly|monthly)\b|\b(enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b`)
	hasPrice    = regexp.MustCompile(`(?i)[$€£][0-9]|\b(free|no cost|no charge|no fee|fees?|percent|usd|dollars?|gratis|gratuito)\b|[0-9]%`)
	hasAddress  = regexp.MustCompile(`(?i)https?://|\b[a-z0-9-]+\.(gov|com|org|net|mil|edu|io|eu)\b|@`)
	hasReason   = regexp.MustCompile(`(?i)\b(because|since|so that|in order to|due to|reason|therefore|as a result|helps?|allows?|means|porque|debido)\b`)
	hasDigit    = regexp.MustCompile(`[0-9]`)
	hasContrast = regexp.MustCompile(`(?i)\b(while|whereas|unlike|but|however|instead|rather|on the other hand|in contrast|compared|than|mientras)\b`)
)

// cueBonus is the share by which a unit gains when it holds the kind of thing
// the question asks for.
func cueBonus(q question, s *scored, u unit) float64 {
	text := u.text
	if len(u.path) > 0 {
		text = u.path[len(u.path)-1] + "\n" + text
	}
	yes := func(b bool, bonus float64) float64 {
		if b {
			return bonus
		}
		return 0
	}
	switch q.cue {
	case cueWhen:
		return yes(hasDate.MatchString(text), 0.85)
	case cueAmount:
		return yes(hasNumber.MatchString(text), 0.6)
	case cuePrice:
		return yes(hasPrice.MatchString(text), 0.85)
	case cueWho:
		return yes(hasName(u.text), 0.3)
	case cueAddress:
		return yes(hasAddress.MatchString(u.text), 0.5)
	case cueWhy:
		return yes(hasReason.MatchString(u.text), 0.3)
	case cueList:
		return yes(u.kind != sentenceUnit || u.isTitle || strings.HasSuffix(u.text, ":"), 0.4)
	case cueHowTo:
		return yes(u.kind == itemUnit || u.isTitle || strings.HasSuffix(u.text, ":"), 0.35)
	case cueDefinition:
		return yes(defines(q, u.text), 0.85)
	case cueComparison:
		return yes(hasContrast.MatchString(u.text), 0.25) + yes(defines(q, u.text), 0.7)
	}
	return 0
}

// hasName tells whether two capitalised words stand together inside the text.
func hasName(text string) bool {
	run := 0
	for i, w := range strings.Fields(text) {
		if unicode.IsUpper(firstRune(strings.TrimLeft(w, "(“\"'"))) && i > 0 {
			run++
			if run >= 2 {
				return true
			}
		} else {
			run = 0
		}
	}
	return false
}

var copula = regexp.MustCompile(`(?i)\s(?:\([^)]*\) )?(is|are|was|means|refers to|stands for|describes|es|son|significa|se refiere a)\s`)

// defines tells whether text reads "X is …" for the X of the question.
func defines(q question, text string) bool {
	m := copula.FindStringIndex(text)
	if m == nil || m[0] > 120 {
		return false
	}
	subject := strings.ToLower(text[:m[0]])
	named, all := 0, 0
	for _, t := range q.terms {
		if t.frame || t.topic {
			continue
		}
		all++
		if strings.Contains(subject, t.word) {
			named++
		}
	}
	return named > 0 && (named == all || q.cue == cueComparison)
}

// judge finds the best unit and how much of the question its surroundings cover.
func (r *ranking) judge(sections, wholes [][]float64) {
	r.best = -1
	for i, s := range r.units {
		if r.best < 0 || s.score > r.units[r.best].score {
			r.best = i
		}
	}
	if r.best < 0 {
		return
	}
	whole := wholes[r.units[r.best].passage]
	covered, unknown, sum, trust := 0.0, 0.0, 0.0, 1.0
	for i, t := range r.question.terms {
		sum += t.claim
		covered += t.claim * sections[r.best][i]
		if !t.known && !t.akin && !t.frame && passageLang(r.passages[r.units[r.best].passage], r.question) == r.question.lang {
			unknown += t.claim
		}
		switch {
		case !t.named || t.topic || whole[i] >= 0.5:
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
