package search

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A latent is a space in which terms that stand in the same documents lie close to
// each other: it is learnt from the indexed documents alone, so that a page can be
// near a question whose words it does not use. Learning the same documents in the
// same order gives the same space.
type latent struct {
	vectors map[string]*latentTerm
}

// A latentTerm is where a term lies; its length is the term's weight.
type latentTerm struct {
	n      int // of all terms
	vector place
}

const (
	latentDims = 64
	// latentMinimum is how many documents it takes to learn anything.
	latentMinimum = 100
	// latentMaximum bounds the documents that are learnt from, latentTerms the terms.
	latentMaximum = 20_000
	latentTerms   = 12_000
	latentRounds  = 5
)

// A bag is how often terms stand in a document.
type bag map[string]int

// add counts terms that are separated by spaces.
func (b bag) add(terms string, times int) {
	for term := range strings.SplitSeq(terms, " ") {
		if term != "" {
			b[term] += times
		}
	}
}

// learn finds the space: the strongest directions of the matrix of documents and
// terms, by subspace iteration. It returns nil for too few documents.
func learn(docs []bag) *latent {
	if len(docs) < latentMinimum {
		return nil
	}
	m, terms := newMatrix(docs)
	if len(terms) < 4*latentDims {
		return nil
	}
	random := rand.New(rand.NewPCG(1, 2))
	space := make([]row, len(terms))
	for i := range space {
		for k := range space[i] {
			space[i][k] = random.Float64() - 0.5
		}
	}
	orthonormalize(space)
	for range latentRounds {
		space = m.timesTransposed(m.times(space))
		orthonormalize(space)
		orthonormalize(space) // once more: the first is inexact where columns are nearly alike
	}
	l := &latent{vectors: make(map[string]*latentTerm, len(terms))}
	for i, t := range terms {
		v := &latentTerm{n: i}
		for k := range latentDims {
			v.vector[k] = float32(t.idf * space[i][k])
		}
		l.vectors[t.term] = v
	}
	return l
}

type row = [latentDims]float64

// A matrix has a row a document, of unit length, and a column a term.
type matrix struct {
	rows  [][]entry
	terms int
}

type entry struct {
	term   int
	weight float64
}

type weightedTerm struct {
	term string
	idf  float64
}

func newMatrix(docs []bag) (matrix, []weightedTerm) {
	frequency := map[string]int{}
	for _, d := range docs {
		for term := range d {
			frequency[term]++
		}
	}
	var terms []weightedTerm
	for term, n := range frequency {
		if n >= 3 && float64(n) <= 0.4*float64(len(docs)) {
			terms = append(terms, weightedTerm{term, math.Log(float64(len(docs)) / float64(n))})
		}
	}
	slices.SortFunc(terms, func(a, b weightedTerm) int {
		return cmp.Or(cmp.Compare(a.idf, b.idf), cmp.Compare(a.term, b.term))
	})
	terms = terms[:min(len(terms), latentTerms)]
	column := make(map[string]int, len(terms))
	for i, t := range terms {
		column[t.term] = i
	}
	m := matrix{rows: make([][]entry, len(docs)), terms: len(terms)}
	for i, d := range docs {
		var r []entry
		sum := 0.0
		for term, n := range d {
			if c, ok := column[term]; ok {
				w := (1 + math.Log(float64(n))) * terms[c].idf
				r = append(r, entry{c, w})
			}
		}
		// In order, so that sums come out the same every time.
		slices.SortFunc(r, func(a, b entry) int { return a.term - b.term })
		for _, e := range r {
			sum += e.weight * e.weight
		}
		for j := range r {
			r[j].weight /= math.Sqrt(sum)
		}
		m.rows[i] = r
	}
	return m, terms
}

func (m matrix) times(x []row) []row {
	out := make([]row, len(m.rows))
	for i, r := range m.rows {
		for _, e := range r {
			addScaled(&out[i], &x[e.term], e.weight)
		}
	}
	return out
}

func (m matrix) timesTransposed(y []row) []row {
	out := make([]row, m.terms)
	for i, r := range m.rows {
		for _, e := range r {
			addScaled(&out[e.term], &y[i], e.weight)
		}
	}
	return out
}

func addScaled(sum, x *row, by float64) {
	for k := range sum {
		sum[k] += by * x[k]
	}
}

// orthonormalize makes the columns of x orthogonal and of unit length, by the
// Cholesky factor of their inner products.
func orthonormalize(x []row) {
	var g [latentDims]row
	for i := range x {
		for a := range latentDims {
			v := x[i][a]
			for b := 0; b <= a; b++ {
				g[a][b] += v * x[i][b]
			}
		}
	}
	for a := range latentDims {
		for b := 0; b <= a; b++ {
			sum := g[a][b]
			for k := range b {
				sum -= g[a][k] * g[b][k]
			}
			if a == b {
				g[a][a] = math.Sqrt(max(sum, 1e-12))
			} else {
				g[a][b] = sum / g[b][b]
			}
		}
	}
	for i := range x {
		for a := range latentDims {
			sum := x[i][a]
			for b := range a {
				sum -= g[a][b] * x[i][b]
			}
			x[i][a] = sum / g[a][a]
		}
	}
}

// A place is where a text lies in the space.
type place [latentDims]float32

// A placer finds the places of texts, one after the other.
type placer struct {
	latent *latent
	counts []int // of every term in the text at hand
	seen   []*latentTerm
}

func newPlacer(l *latent) *placer { return &placer{latent: l, counts: make([]int, len(l.vectors))} }

// count counts terms that are separated by spaces.
func (p *placer) count(terms string, times int) {
	for term := range strings.SplitSeq(terms, " ") {
		if t := p.latent.vectors[term]; t != nil {
			if p.counts[t.n] == 0 {
				p.seen = append(p.seen, t)
			}
			p.counts[t.n] += times
		}
	}
}

// place is where what was counted lies; counting starts anew.
func (p *placer) place() *place {
	var out place
	for _, t := range p.seen {
		out.add(t, float32(1+math.Log(float64(p.counts[t.n]))))
		p.counts[t.n] = 0
	}
	p.seen = p.seen[:0]
	return &out
}

// term is a term of the space; nil when it or the space is unknown.
func (l *latent) term(term string) *latentTerm {
	if l == nil {
		return nil
	}
	return l.vectors[term]
}

func (p *place) add(t *latentTerm, weight float32) {
	for k := range p {
		p[k] += weight * t.vector[k]
	}
}

// closeness is the cosine of two places, 0 when it is negative or one is nowhere.
func closeness(a, b *place) float64 {
	var ab, aa, bb float64
	for k := range a {
		x, y := float64(a[k]), float64(b[k])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return max(0, ab/math.Sqrt(aa*bb))
}
