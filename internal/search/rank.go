package search

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// tuning holds the parameters of the ranking.
type tuning struct {
	saturation, lengthShare      float64
	title, heading               float64 // weights of the fields; the body's is 1
	near, nearTitle              float64 // what neighbours in the question gain by standing near each other
	document, second             float64 // what the rest of a document adds
	coverage                     float64 // how much missing parts of the question cost
	extra, cue                   float64 // weights of compounds and of words about the kind of answer
	recency                      float64
	expand                       float64
	fbDocs, fbTerms, fbWeight    float64
	whole, wholeLength, wholeSat float64
}

var defaultTuning = tuning{saturation: 1.6, lengthShare: 0.4, title: 2.5, heading: 2.5, near: 0.2, nearTitle: 0.2, document: 0.25, second: 0.15,
	coverage: 0, extra: 0.7, cue: 0.3, recency: 0.08, expand: 0.4, fbDocs: 10, fbTerms: 12, fbWeight: 0, whole: 0, wholeLength: 0.5, wholeSat: 2}

type scoredChunk struct {
	id    int64
	score float64
}

// rank scores candidates and orders them, the best first.
func rank(q Query, lex *lexicon, concepts []concept, cands []candidate, t tuning) []scoredChunk {
	first := rankOnce(q, lex, concepts, cands, t)
	if t.fbWeight == 0 {
		return first
	}
	more := feedback(lex, concepts, cands, first, t)
	total := 0.0
	for _, c := range concepts {
		total += c.idf
	}
	sum := 0.0
	for _, c := range more {
		sum += c.idf
	}
	for i := range more {
		more[i].idf *= t.fbWeight * total / sum
	}
	return rankOnce(q, lex, append(slices.Clone(concepts), more...), cands, t)
}

func rankOnce(q Query, lex *lexicon, concepts []concept, cands []candidate, t tuning) []scoredChunk {
	r := newRanking(lex, concepts, t)
	type doc struct {
		best, second float64
		n            int
		tf           []float64
		covered      []float64
	}
	docs := map[int64]*doc{}
	passages := make([]float64, len(cands))
	for i, c := range cands {
		score, has, raw := r.passage(c)
		passages[i] = score
		d := docs[documentOf(c.ID)]
		if d == nil {
			d = &doc{covered: make([]float64, len(concepts))}
			docs[documentOf(c.ID)] = d
		}
		d.n++
		if d.tf == nil {
			d.tf = make([]float64, r.uses)
		}
		for u := range raw {
			d.tf[u] += raw[u]
		}
		if score > d.best {
			d.best, d.second = score, d.best
		} else {
			d.second = max(d.second, score)
		}
		for g, h := range has {
			d.covered[g] = max(d.covered[g], h)
		}
	}
	out := make([]scoredChunk, len(cands))
	for i, c := range cands {
		d := docs[documentOf(c.ID)]
		s := (1-t.document)*passages[i] + t.document*r.share(d.covered)/math.Sqrt(1+math.Log(float64(d.n))) + t.second*d.second
		if t.whole > 0 {
			s = (1-t.whole)*s + t.whole*r.wholeScore(d.tf, 1-t.wholeLength+t.wholeLength*float64(c.DocLength)/lex.averageDocument)
		}
		if c.Date != nil && !lex.newest.IsZero() {
			age := lex.newest.Sub(*c.Date).Hours() / 24 / 365
			s *= 1 + t.recency*math.Exp(-age/4)
		}
		out[i] = scoredChunk{c.ID, min(s, 1)}
	}
	slices.SortFunc(out, func(a, b scoredChunk) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return out
}

// A ranking scores passages for one question.
type ranking struct {
	lex      *lexicon
	concepts []concept
	terms    map[string][]use
	uses     int
	total    float64 // what all concepts say together
	t        tuning
}

// A use is where in the question a term belongs.
type use struct {
	n       int // of all uses
	concept int
	gain    float64 // what a passage gains by the term at most
}

func newRanking(lex *lexicon, concepts []concept, t tuning) *ranking {
	r := &ranking{lex: lex, concepts: slices.Clone(concepts), terms: map[string][]use{}, t: t}
	for g := range r.concepts {
		c := &r.concepts[g]
		if c.extra && !c.feedback {
			c.idf *= t.extra
		}
		if c.cue {
			c.idf *= t.cue
		}
		if !c.extra {
			r.total += c.idf
		}
		for _, v := range c.variants {
			r.terms[v.term] = append(r.terms[v.term], use{r.uses, g, r.weight(v) * min(c.idf, lex.idf(lex.frequency[v.term]))})
			r.uses++
		}
	}
	if r.total == 0 {
		r.total = 1
	}
	return r
}

func (r *ranking) weight(v variant) float64 {
	if v.weight >= 0.7 {
		return v.weight
	}
	return v.weight * r.t.expand
}

// passage scores one passage from 0 to about 1 and tells how much of every
// concept it holds, from 0 to its idf.
func (r *ranking) passage(c candidate) (float64, []float64, []float64) {
	n := len(r.concepts)
	tf := make([]float64, r.uses)
	raw := make([]float64, r.uses)
	gain := make([]float64, r.uses)
	places, titlePlaces := make([][]int, n), make([][]int, n)
	owner := make([]int, r.uses)
	add := func(terms string, weight float64, places [][]int) {
		pos := 0
		for term := range strings.SplitSeq(terms, " ") {
			for _, u := range r.terms[term] {
				tf[u.n] += weight
				raw[u.n]++
				gain[u.n] = u.gain
				owner[u.n] = u.concept
				if places != nil {
					places[u.concept] = append(places[u.concept], pos)
				}
			}
			pos++
		}
	}
	t := r.t
	norm := 1 - t.lengthShare + t.lengthShare*float64(c.Length)/r.lex.averageLength
	add(c.TitleTerms, t.title, titlePlaces)
	add(c.HeadingTerms, t.heading, nil)
	add(c.BodyTerms, 1/norm, places)
	has := make([]float64, n)
	got := make([]float64, n)
	for u := range tf {
		if tf[u] > 0 {
			g := owner[u]
			has[g] = max(has[g], gain[u])
			got[g] = max(got[g], gain[u]*tf[u]/(tf[u]+t.saturation))
		}
	}
	score := 0.0
	for g := range got {
		score += got[g]
	}
	near := 0.0
	for g := 0; g+1 < n; g++ {
		if r.concepts[g+1].feedback {
			break
		}
		pair := min(has[g], has[g+1])
		if d := distance(places[g], places[g+1]); d > 0 && d <= 8 {
			near += t.near * pair / math.Sqrt(float64(d))
		}
		if d := distance(titlePlaces[g], titlePlaces[g+1]); d > 0 && d <= 3 {
			near += t.nearTitle * pair / math.Sqrt(float64(d))
		}
	}
	s := (score + near) / r.total
	if t.coverage > 0 {
		s *= math.Pow(r.share(has), t.coverage)
	}
	return s, has, raw
}

// share is how much of the question passages hold that have these parts of it.
func (r *ranking) share(has []float64) float64 {
	sum := 0.0
	for g, h := range has {
		if !r.concepts[g].extra {
			sum += h
		}
	}
	return sum / r.total
}

// distance is the smallest distance between two lists of positions; 0 for none.
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

func (r *ranking) wholeScore(tf []float64, norm float64) float64 {
	got := make([]float64, len(r.concepts))
	for _, uses := range r.terms {
		for _, u := range uses {
			if x := tf[u.n] / norm; x > 0 {
				got[u.concept] = max(got[u.concept], u.gain*x/(x+r.t.wholeSat))
			}
		}
	}
	sum := 0.0
	for _, g := range got {
		sum += g
	}
	return sum / r.total
}
