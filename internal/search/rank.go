package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// tuning holds the parameters of the ranking.
type tuning struct {
	saturation  float64 // how soon more of the same term stops counting
	lengthShare float64 // how much a passage's length counts against it, 0 to 1
	title       float64 // weight of a term in the title; in the body it is 1
	heading     float64 // weight of a term in the headings above the passage
	near        float64 // what neighbours in the question gain by standing near each other
	nearTitle   float64 // the same in the title
	exact       float64 // what a title gains that says what the question says and no more
	document    float64 // share of the score for what the whole document holds
	second      float64 // share of the score of the document's second best passage
	latent      float64 // what a page gains that lies where the question does
	compound    float64 // weight of a compound beside its parts
	cue         float64 // weight of words that say what kind of answer is wanted
	before      float64 // weight of what was asked before
	recency     float64 // what the newest document gains over a very old one
}

var defaultTuning = tuning{
	saturation: 2.5, lengthShare: 0.5, title: 1.25, heading: 2.5, near: 0.15, nearTitle: 0.2, exact: 0.15,
	document: 0.2, second: 0.15, latent: 0.12, compound: 0.5, cue: 0.25, before: 0.7, recency: 0.08,
}

type scoredChunk struct {
	id    int64
	score float64
}

// A ranking scores passages for one question.
type ranking struct {
	tuning
	lex      *lexicon
	concepts []concept
	terms    map[string][]use
	uses     int
	total    float64 // what all concepts say together
	asked    place   // where the question lies in the latent space
	placer   *placer // nil without such a space
}

// A use is a place in the question that a term stands for.
type use struct {
	n       int // of all uses
	concept int
	gain    float64 // what a passage gains by the term at most
}

func newRanking(lex *lexicon, concepts []concept, t tuning) *ranking {
	r := &ranking{tuning: t, lex: lex, concepts: concepts, terms: map[string][]use{}}
	if lex.latent != nil {
		r.placer = newPlacer(lex.latent)
	}
	for g, c := range concepts {
		weight := 1.0
		switch {
		case c.compound:
			weight = t.compound
		case c.cue:
			weight = t.cue
		}
		if c.before {
			weight *= t.before
		}
		if !c.compound {
			r.total += weight * c.idf
		}
		for _, v := range c.variants {
			gain := v.weight * weight * min(c.idf, lex.idf(lex.frequency[v.term]))
			r.terms[v.term] = append(r.terms[v.term], use{r.uses, g, gain})
			r.uses++
			if t := lex.latent.term(v.term); t != nil && !c.cue && !c.compound {
				r.asked.add(t, float32(weight*v.weight))
			}
		}
	}
	if r.total == 0 {
		r.total = 1
	}
	return r
}

// A pageTally is what a document's candidates say together.
type pageTally struct {
	passages     int
	best, second float64
	near         float64   // how close its closest passage lies to the question
	holds        []float64 // of every concept, as in [ranking.passage]
}

func (p *pageTally) add(score float64, holds []float64) {
	p.passages++
	if score > p.best {
		p.best, p.second = score, p.best
	} else {
		p.second = max(p.second, score)
	}
	for g, h := range holds {
		p.holds[g] = max(p.holds[g], h)
	}
}

// rank scores candidates and orders them, the best first. lang is the preferred
// language.
func (r *ranking) rank(cands []candidate, lang string) []scoredChunk {
	pages := map[int64]*pageTally{}
	out := make([]scoredChunk, len(cands))
	for i := range cands {
		score, holds := r.passage(&cands[i])
		out[i] = scoredChunk{cands[i].ID, score}
		p := pages[documentOf(cands[i].ID)]
		if p == nil {
			p = &pageTally{holds: make([]float64, len(r.concepts))}
			pages[documentOf(cands[i].ID)] = p
		}
		p.add(score, holds)
		p.near = max(p.near, r.closeness(&cands[i]))
	}
	for i := range out {
		p := pages[documentOf(out[i].id)]
		// A long document holds much of everything.
		page := r.share(p.holds) / math.Sqrt(1+math.Log(float64(p.passages)))
		score := (1-r.document)*out[i].score + r.document*page + r.second*p.second + r.latent*p.near
		score *= 1 + r.recency*r.newness(cands[i].Date)
		if cands[i].inOtherLanguage(lang) {
			score *= otherLanguage
		}
		out[i].score = 1 - math.Exp(-2*score) // from 0 to 1, and no two good ones alike
	}
	slices.SortStableFunc(out, func(a, b scoredChunk) int { return cmp.Compare(b.score, a.score) })
	return out
}

// otherLanguage is what a passage counts when its page exists in the language
// that is preferred.
const otherLanguage = 0.6

func (c *candidate) inOtherLanguage(lang string) bool {
	if lang == "" || c.Lang == lang {
		return false
	}
	return strings.Contains(c.Languages, `"`+lang+`"`)
}

// newness is 1 for the newest document and falls to 0 with the years before it.
func (r *ranking) newness(date *time.Time) float64 {
	if date == nil || r.lex.newest.IsZero() {
		return 0
	}
	years := r.lex.newest.Sub(*date).Hours() / 24 / 365
	return math.Exp(-max(years, 0) / 4)
}

// share is how much of the question is held, from 0 to 1.
func (r *ranking) share(holds []float64) float64 {
	sum := 0.0
	for g, h := range holds {
		if !r.concepts[g].compound {
			sum += h
		}
	}
	return sum / r.total
}

// passage scores one passage from 0 to about 1, and tells how much of every
// concept it holds: all that the concept says, less for words that only come near.
func (r *ranking) passage(c *candidate) (score float64, holds []float64) {
	tf := make([]float64, r.uses)
	body, title := make([][]int, len(r.concepts)), make([][]int, len(r.concepts))
	holds = make([]float64, len(r.concepts))
	count := func(terms string, weight float64, places [][]int) (matched float64) {
		pos := 0
		for term := range strings.SplitSeq(terms, " ") {
			if len(r.terms[term]) > 0 {
				matched++
			}
			for _, u := range r.terms[term] {
				tf[u.n] += weight
				holds[u.concept] = max(holds[u.concept], u.gain)
				if places != nil {
					places[u.concept] = append(places[u.concept], pos)
				}
			}
			pos++
		}
		return matched / float64(pos)
	}
	titled := make([]float64, len(r.concepts)) // as holds, of the title alone
	norm := 1 - r.lengthShare + r.lengthShare*float64(c.Length)/r.lex.averageLength
	words := count(c.TitleTerms, r.title, title)
	copy(titled, holds)
	count(c.HeadingTerms, r.heading, nil)
	count(c.BodyTerms, 1/norm, body)

	// Of the words for one concept the one that says most counts.
	got := make([]float64, len(r.concepts))
	for _, uses := range r.terms {
		for _, u := range uses {
			got[u.concept] = max(got[u.concept], u.gain*tf[u.n]/(tf[u.n]+r.saturation))
		}
	}
	for _, g := range got {
		score += g
	}
	for g := range len(r.concepts) - 1 {
		pair := min(holds[g], holds[g+1])
		score += r.near * pair * nearness(body[g], body[g+1], 8)
		score += r.nearTitle * pair * nearness(title[g], title[g+1], 3)
	}
	return score/r.total + r.exact*words*r.share(titled), holds
}

// closeness is how near a passage lies to the question in the latent space.
func (r *ranking) closeness(c *candidate) float64 {
	if r.placer == nil {
		return 0
	}
	r.placer.count(c.TitleTerms, 2)
	r.placer.count(c.HeadingTerms, 1)
	r.placer.count(c.BodyTerms, 1)
	return closeness(&r.asked, r.placer.place())
}

// nearness is 1 for two terms side by side, less the further they are apart, and 0
// beyond limit.
func nearness(a, b []int, limit int) float64 {
	d := distance(a, b)
	if d == 0 || d > limit {
		return 0
	}
	return 1 / math.Sqrt(float64(d))
}

// distance is the smallest distance of two different positions from two ascending
// lists; 0 when there is none.
func distance(a, b []int) int {
	best := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		d := b[j] - a[i]
		if d < 0 {
			j++
			d = -d
		} else {
			i++
		}
		if d > 0 && (best == 0 || d < best) {
			best = d
		}
	}
	return best
}
