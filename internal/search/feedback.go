package search

import (
	"cmp"
	"slices"
	"strings"
)

// feedback returns terms that the best passages share beyond the question, as
// concepts that can only add: what the pages in question call things.
func feedback(lex *lexicon, concepts []concept, cands []candidate, ranked []scoredChunk, t tuning) []concept {
	asked := map[string]bool{}
	for _, c := range concepts {
		for _, v := range c.variants {
			if v.weight >= 0.7 {
				asked[v.term] = true
			}
		}
	}
	byID := make(map[int64]*candidate, len(cands))
	for i := range cands {
		byID[cands[i].ID] = &cands[i]
	}
	type stat struct {
		sum float64
		n   int
	}
	stats := map[string]*stat{}
	perDoc := map[int64]int{}
	used, total := 0, 0.0
	for _, s := range ranked {
		if used >= int(t.fbDocs) {
			break
		}
		c := byID[s.id]
		if perDoc[documentOf(s.id)] >= 2 {
			continue
		}
		perDoc[documentOf(s.id)]++
		used++
		total += s.score
		tf := map[string]int{}
		for term := range strings.SplitSeq(c.BodyTerms, " ") {
			tf[term]++
		}
		for term := range strings.SplitSeq(c.TitleTerms, " ") {
			tf[term] += 2
		}
		for term, n := range tf {
			if asked[term] || len(term) < 3 {
				continue
			}
			f := lex.frequency[term]
			if f < 2 || float64(f) > 0.05*float64(lex.chunks) {
				continue
			}
			st := stats[term]
			if st == nil {
				st = &stat{}
				stats[term] = st
			}
			st.sum += s.score * float64(n) / (float64(n) + 1) * lex.idf(f)
			st.n++
		}
	}
	if total == 0 {
		return nil
	}
	type scored struct {
		term  string
		score float64
	}
	var terms []scored
	for term, st := range stats {
		if st.n >= 2 {
			terms = append(terms, scored{term, st.sum / total})
		}
	}
	slices.SortFunc(terms, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.term, b.term))
	})
	terms = terms[:min(len(terms), int(t.fbTerms))]
	var out []concept
	for _, s := range terms {
		c := concept{variants: []variant{{s.term, 1}}, extra: true, known: true, feedback: true}
		c.idf = s.score / terms[0].score
		out = append(out, c)
	}
	return out
}
