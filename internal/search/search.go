package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// A Query asks for the passages that fit a text best.
type Query struct {
	Text       string
	Index      config.Index    // the part of the content that is searched
	Lang       string          // preferred; an entity's other languages rank below it
	Who        account.Account // hits are what this account may see
	ForAnswers bool            // leave out what answers leave out
	Limit      int             // passages; 0 means 10
	MinScore   float64         // from 0 to 1; hits below are dropped
}

// A Hit is a passage that was found.
type Hit struct {
	content.Ref
	Lang       string
	Bundle     string
	Title      string
	Path       string
	Origin     string // what an importer made the entity from; empty otherwise
	ChunkID    string
	Heading    string // nearest above the passage; empty before the first
	Anchor     string // id of that heading on the entity's page
	Text       string // the passage, in Markdown
	Start, End int    // where it lies in the body, as byte offsets; both 0 for a summary
	Date       time.Time
	Score      float64  // 0 to 1: how much of what was asked the passage speaks of
	OtherLangs []string // the entity's other published languages
}

const (
	defaultLimit = 10
	// candidateLimit is how many passages are read and scored for a question.
	candidateLimit = 400
)

// Search returns the best passages, the best first. Only published content that
// the asking account may see is looked at, in the languages and content types of
// the index.
func (e *Engine) Search(ctx context.Context, q Query) ([]Hit, error) {
	if !q.Who.Can(account.AccessContent) {
		return nil, nil
	}
	lex, err := e.currentLexicon(ctx)
	if err != nil {
		return nil, err
	}
	concepts := e.understand(q, lex)
	if len(concepts) == 0 {
		return nil, nil
	}
	cands, err := e.candidates(ctx, q, lex, concepts)
	if err != nil {
		return nil, err
	}
	scored := rank(q, lex, concepts, cands, defaultTuning)
	limit := q.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	var top []scoredChunk
	for _, s := range scored {
		if s.score >= q.MinScore && len(top) < limit {
			top = append(top, s)
		}
	}
	return e.hits(ctx, top)
}

// candidates picks the passages worth scoring by which terms they hold: rare
// terms and terms in the title count most.
func (e *Engine) candidates(ctx context.Context, q Query, lex *lexicon, concepts []concept) ([]candidate, error) {
	order, err := e.preselect(ctx, lex, concepts)
	if err != nil {
		return nil, err
	}
	f := filter{bundles: q.Index.Bundles, languages: q.Index.Languages, forAnswers: q.ForAnswers}
	var out []candidate
	size := candidateLimit
	for len(order) > 0 && len(out) < candidateLimit {
		n := min(size, len(order))
		rows, err := readCandidates(ctx, e.db, order[:n], f)
		if err != nil {
			return nil, fmt.Errorf("read candidates: %w", err)
		}
		for _, c := range rows {
			roles, err := unmarshalStrings(c.ViewRoles)
			if err != nil {
				return nil, fmt.Errorf("roles of document %d: %w", documentOf(c.ID), err)
			}
			if content.CanViewRoles(q.Who, roles) {
				out = append(out, c)
			}
		}
		order = order[n:]
		size *= 2
	}
	slices.SortFunc(out, func(a, b candidate) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Bounds of the preselection, in passages: what all terms together may match, and
// from what share of the index on a term only counts when there is no rarer one.
const (
	postingsBudget = 40_000
	commonShare    = 0.2
)

// preselect orders the ids of all passages that hold terms of the question.
func (e *Engine) preselect(ctx context.Context, lex *lexicon, concepts []concept) ([]int64, error) {
	type source struct {
		concept int
		weight  float64
		title   bool
	}
	var terms []string
	var sources []source
	byRarity := make([]int, len(concepts))
	for i := range byRarity {
		byRarity[i] = i
	}
	slices.SortStableFunc(byRarity, func(a, b int) int { return cmp.Compare(concepts[b].idf, concepts[a].idf) })
	budget, chosen := postingsBudget, 0
	for _, i := range byRarity {
		for _, v := range concepts[i].variants {
			n := lex.frequency[v.term]
			terms, sources = append(terms, titleMark+v.term), append(sources, source{i, v.weight, true})
			if chosen >= 2 && (n > budget || float64(n) > commonShare*float64(lex.chunks)) {
				continue
			}
			budget -= n
			terms, sources = append(terms, v.term), append(sources, source{i, v.weight, false})
		}
		if concepts[i].known {
			chosen++
		}
	}
	lists, err := postings(ctx, e.db, terms)
	if err != nil {
		return nil, fmt.Errorf("look terms up: %w", err)
	}

	// Of a concept's variants the best one counts.
	type tally struct {
		sum  float64
		last int
		add  float64
	}
	scores := map[int64]*tally{}
	count := func(id int64, concept int, add float64) {
		t := scores[id]
		if t == nil {
			t = &tally{last: -1}
			scores[id] = t
		}
		if t.last != concept {
			t.last, t.add = concept, 0
		}
		if add > t.add {
			t.sum += add - t.add
			t.add = add
		}
	}
	titles := map[int64]float64{}
	documents := map[int64]*tally{}
	for n, list := range lists {
		s := sources[n]
		gain := s.weight * min(concepts[s.concept].idf, lex.idf(len(list)))
		for _, id := range list {
			if s.title {
				d := documentOf(id)
				titles[d] = max(titles[d], 0)
				t := documents[d]
				if t == nil {
					t = &tally{last: -1}
					documents[d] = t
				}
				if t.last != s.concept {
					t.last, t.add = s.concept, 0
				}
				if gain > t.add {
					t.sum += gain - t.add
					t.add = gain
				}
			}
			count(id, s.concept, gain)
		}
	}
	type scored struct {
		id    int64
		score float64
	}
	order := make([]scored, 0, len(scores))
	for id, t := range scores {
		s := t.sum
		if d := documents[documentOf(id)]; d != nil {
			s += 0.3 * d.sum
		}
		order = append(order, scored{id, s})
	}
	slices.SortFunc(order, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	ids := make([]int64, len(order))
	for i, o := range order {
		ids[i] = o.id
	}
	return ids, nil
}

// hits reads what is shown of scored chunks.
func (e *Engine) hits(ctx context.Context, top []scoredChunk) ([]Hit, error) {
	if len(top) == 0 {
		return nil, nil
	}
	ids := make([]int64, len(top))
	place := make(map[int64]int, len(top))
	for i, s := range top {
		ids[i], place[s.id] = s.id, i
	}
	rows, err := readFound(ctx, e.db, ids)
	if err != nil {
		return nil, fmt.Errorf("read hits: %w", err)
	}
	slices.SortFunc(rows, func(a, b found) int { return cmp.Compare(place[a.ID], place[b.ID]) })
	hits := make([]Hit, 0, len(rows))
	for _, r := range rows {
		langs, err := unmarshalStrings(r.Languages)
		if err != nil {
			return nil, fmt.Errorf("languages of document %d: %w", documentOf(r.ID), err)
		}
		h := Hit{
			Ref: content.Ref{Type: r.Type, ID: r.EntityID}, Lang: r.Lang, Bundle: r.Bundle, Title: r.Title, Path: r.Path,
			ChunkID: fmt.Sprint(r.ID), Heading: r.Heading, Anchor: r.Anchor, Text: r.Text, Start: r.Start, End: r.End,
			Score:      top[place[r.ID]].score,
			OtherLangs: slices.DeleteFunc(langs, func(l string) bool { return l == r.Lang }),
		}
		if r.Origin != nil {
			h.Origin = *r.Origin
		}
		if r.Date != nil {
			h.Date = r.Date.UTC()
		}
		hits = append(hits, h)
	}
	return hits, nil
}
