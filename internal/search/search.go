package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// A Query asks for the passages that fit a text best.
type Query struct {
	Text       string
	Before     string          // what was asked before, when Text goes on from there
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

// DefaultMinScore drops passages that hold next to nothing of a question, and few
// others. No score tells whether a passage that speaks of the subject answers.
const DefaultMinScore = 0.3

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
	concepts := understand(q, lex)
	if len(concepts) == 0 {
		return nil, nil
	}
	cands, err := e.candidates(ctx, q, lex, concepts)
	if err != nil {
		return nil, err
	}
	scored := newRanking(lex, concepts, defaultTuning).rank(cands, q.Lang)
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

// Bounds of the preselection: how many passages all terms together may match, and
// from what share of the index on a term only serves when there is no rarer one.
const (
	postingsBudget = 15_000
	commonShare    = 0.1
	synonymShare   = 0.05
)

// A lookup is a term to look up and what a passage that holds it gains.
type lookup struct {
	term    string
	concept int
	gain    float64
}

// lookups chooses the terms by which passages are preselected. Every concept is
// looked for in titles.
func lookups(lex *lexicon, concepts []concept) []lookup {
	byRarity := make([]int, len(concepts))
	for i := range byRarity {
		byRarity[i] = i
	}
	slices.SortStableFunc(byRarity, func(a, b int) int { return cmp.Compare(concepts[b].idf, concepts[a].idf) })
	var out []lookup
	budget, chosen := postingsBudget, 0
	for _, i := range byRarity {
		c := concepts[i]
		for _, v := range c.variants {
			n := lex.frequency[v.term]
			gain := v.weight * min(c.idf, lex.idf(n))
			out = append(out, lookup{titleMark + v.term, i, gain})
			share := commonShare
			if v.weight <= synonymWeight {
				share = synonymShare
			}
			if chosen >= 2 && (n > budget || float64(n) > share*float64(lex.chunks)) {
				continue
			}
			budget -= n
			out = append(out, lookup{v.term, i, gain})
		}
		if c.known {
			chosen++
		}
	}
	return out
}

// A tally adds up what something gains; of the words for one concept, which come
// one after the other, the best counts.
type tally struct {
	sum     float64
	concept int
	best    float64
}

func count(tallies map[int64]tally, id int64, l lookup) {
	t, ok := tallies[id]
	if !ok || t.concept != l.concept {
		t.concept, t.best = l.concept, 0
	}
	if l.gain > t.best {
		t.sum += l.gain - t.best
		t.best = l.gain
	}
	tallies[id] = t
}

// titleShare is what a term in the title adds to passages of its document before
// they are read.
const titleShare = 0.5

// preselect orders the ids of all passages worth reading, the most promising first.
func (e *Engine) preselect(ctx context.Context, lex *lexicon, concepts []concept) ([]int64, error) {
	chosen := lookups(lex, concepts)
	terms := make([]string, len(chosen))
	for i, l := range chosen {
		terms[i] = l.term
	}
	lists, err := postings(ctx, e.db, terms)
	if err != nil {
		return nil, fmt.Errorf("look terms up: %w", err)
	}
	passages, titles := map[int64]tally{}, map[int64]tally{}
	for i, list := range lists {
		for _, id := range list {
			count(passages, id, chosen[i])
			if strings.HasPrefix(chosen[i].term, titleMark) {
				count(titles, documentOf(id), chosen[i])
			}
		}
	}
	order := make([]scoredChunk, 0, len(passages))
	for id, t := range passages {
		order = append(order, scoredChunk{id, t.sum + titleShare*titles[documentOf(id)].sum})
	}
	slices.SortFunc(order, func(a, b scoredChunk) int {
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
			Ref: content.Ref{Type: r.Type, ID: r.EntityID}, Lang: r.Lang, Bundle: r.Bundle, Title: r.Title, Path: r.Path, Origin: r.Origin,
			ChunkID: fmt.Sprint(r.ID), Heading: r.Heading, Anchor: r.Anchor, Text: r.Text, Start: r.Start, End: r.End,
			Score:      top[place[r.ID]].score,
			OtherLangs: slices.DeleteFunc(langs, func(l string) bool { return l == r.Lang }),
		}
		if r.Date != nil {
			h.Date = r.Date.UTC()
		}
		hits = append(hits, h)
	}
	return hits, nil
}
