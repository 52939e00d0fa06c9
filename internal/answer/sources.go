package answer

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/internal/content"
	"docent/internal/llm"
	"docent/internal/markdown"
	"docent/internal/search"
)

// chunksPerSource is how many passages are looked at for each source wanted:
// several often belong to one page.
const chunksPerSource = 4

// retrieve searches the agent's index as the asking visitor and adds what it
// finds to the turn's sources. It returns the numbers it touched.
func (r *run) retrieve(ctx context.Context, query, before string) ([]int, error) {
	r.setPhase(Searching)
	step := r.begin(StepSearch, "search", query)
	hits, err := r.s.Search.Search(ctx, search.Query{
		Text: query, Before: before, Index: r.index, Lang: r.turn.Lang, Who: r.who, ForAnswers: true,
		Limit: r.agent.MaxResults * chunksPerSource, MinScore: r.agent.MinScore,
	})
	if err != nil {
		step.Error = err.Error()
		step.end()
		return nil, fmt.Errorf("search: %w", err)
	}
	hits = r.rerank(ctx, query, hits)
	touched, err := r.merge(ctx, hits)
	r.retrieved = true
	for _, h := range hits {
		step.Hits = append(step.Hits, r.stepHit(h))
	}
	step.end()
	return touched, err
}

// rerank puts hits into the order that the rerank endpoint gives them, if there is
// one; when it fails they stay as they are.
func (r *run) rerank(ctx context.Context, query string, hits []search.Hit) []search.Hit {
	if r.s.Rerank == nil || len(hits) < 2 {
		return hits
	}
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = strings.TrimSpace(h.Title + "\n" + h.Heading + "\n" + h.Text)
	}
	step := r.begin(StepRerank, "rerank", query)
	defer step.end()
	order, err := r.s.Rerank.Order(ctx, query, texts)
	if err != nil {
		step.Error = err.Error()
		r.s.Log.Warn("rerank", "turn", r.turn.ID[:8], "err", err)
		return hits
	}
	out := make([]search.Hit, len(order))
	for i, at := range order {
		out[i] = hits[at]
	}
	return out
}

// load reads entities as the visitor may see them now: the index may lag. Each
// comes in the visitor's language when it has that, else in the one it was found in.
func (r *run) load(ctx context.Context, found map[content.Ref]string) (map[content.Ref]content.Item, error) {
	refs := make([]content.Ref, 0, len(found))
	for ref := range found {
		refs = append(refs, ref)
	}
	items, err := r.s.Content.LoadMany(ctx, r.who, refs, r.turn.Lang)
	if err != nil {
		return nil, fmt.Errorf("load sources: %w", err)
	}
	other := map[string][]content.Ref{} // by language found in
	for ref, it := range items {
		if lang := found[ref]; lang != "" && it.Lang != r.turn.Lang && it.Lang != lang {
			other[lang] = append(other[lang], ref)
		}
	}
	for lang, refs := range other {
		more, err := r.s.Content.LoadMany(ctx, r.who, refs, lang)
		if err != nil {
			return nil, fmt.Errorf("load sources: %w", err)
		}
		for ref, it := range more {
			items[ref] = it
		}
	}
	return items, nil
}

// merge adds hits to the turn's sources. An entity that has a number keeps it;
// the cap counts distinct new entities and skips what is over it, so that more
// passages of entities already in are not lost.
func (r *run) merge(ctx context.Context, hits []search.Hit) ([]int, error) {
	found := map[content.Ref]string{}
	for _, h := range hits {
		if _, ok := found[h.Ref]; !ok {
			found[h.Ref] = h.Lang
		}
	}
	items, err := r.load(ctx, found)
	if err != nil {
		return nil, err
	}
	sources := slices.Clone(r.turn.Sources)
	var touched []int
	added := 0
	for _, h := range hits {
		item, ok := items[h.Ref]
		if !ok {
			continue
		}
		i := slices.IndexFunc(sources, func(s Source) bool { return s.Key == keyOf(h.Ref) })
		switch {
		case i < 0 && added == r.agent.MaxResults:
			continue
		case i < 0:
			added++
			s := r.source(ctx, item, len(sources)+1)
			s.Anchor, s.Passage, s.Score, s.FoundLang, s.FoundPath = h.Anchor, h.Text, h.Score, h.Lang, address(h.Path, h.Origin)
			sources = append(sources, s)
			i = len(sources) - 1
		case h.Lang != sources[i].FoundLang && !sources[i].listed():
			continue // the same words in another language
		}
		sources[i].add(h)
		if n := sources[i].Number; !slices.Contains(touched, n) {
			touched = append(touched, n)
		}
	}
	// Snapshots share the old slice with watchers, so it is replaced, not changed.
	r.turn.Sources = sources
	return touched, nil
}

// add puts a passage where it stands on its page, unless it is there.
func (s *Source) add(h search.Hit) {
	p := Passage{Text: h.Text, Heading: h.Heading, Anchor: h.Anchor, Start: h.Start}
	if s.listed() { // a search says more than a list
		s.Passages, s.Passage, s.Anchor = nil, h.Text, h.Anchor
		s.FoundLang, s.FoundPath, s.Score = h.Lang, address(h.Path, h.Origin), h.Score
	}
	if slices.ContainsFunc(s.Passages, func(q Passage) bool { return q.Text == p.Text || strings.Contains(q.Text, p.Text) }) {
		return
	}
	at, _ := slices.BinarySearchFunc(s.Passages, p, func(a, b Passage) int {
		if a.Start <= b.Start {
			return -1
		}
		return 1
	})
	s.Passages = slices.Insert(slices.Clone(s.Passages), at, p)
}

// listed reports whether a source comes from a list alone.
func (s *Source) listed() bool { return len(s.Passages) == 1 && s.Passages[0].Start < 0 }

func keyOf(ref content.Ref) string { return ref.Type + ":" + ref.ID }

// address is where readers of a source are sent: copies of pages elsewhere lead to
// their originals.
func address(path, origin string) string {
	if original, ok := strings.CutPrefix(origin, content.OriginExternal); ok {
		return original
	}
	return path
}

// source is an entity under its number, without passages yet.
func (r *run) source(ctx context.Context, item content.Item, number int) Source {
	return Source{
		Number: number, Key: keyOf(item.Ref), Ref: item.Ref, Lang: item.Lang, Title: item.Title, Path: address(item.Path, item.Origin),
		External: external(item.Fields.Text(content.FieldSource)), Where: r.where(ctx, item), Date: isoDate(item.Date),
	}
}

// hold takes the last turn's sources over, for a follow-up whose model does not
// search; access is checked again.
func (r *run) hold(ctx context.Context) error {
	last := r.earlier[len(r.earlier)-1].Sources
	found := map[content.Ref]string{}
	for _, s := range last {
		found[s.Ref] = s.Lang
	}
	items, err := r.load(ctx, found)
	if err != nil {
		return fmt.Errorf("held sources: %w", err)
	}
	var held []Source
	for _, s := range last {
		if _, ok := items[s.Ref]; !ok {
			continue
		}
		s.Number, s.Final, s.Running, s.Citations = len(held)+1, 0, 0, nil
		held = append(held, s)
	}
	r.turn.Sources = held
	return nil
}

// where names the sections an item lies in.
func (r *run) where(ctx context.Context, item content.Item) string {
	above, err := r.s.Content.Ancestors(ctx, r.who, item)
	if err != nil { // the place is an ornament: a source without one is still a source
		r.s.Log.Warn("place of a source", "turn", r.turn.ID[:8], "err", err)
		return ""
	}
	var titles []string
	for _, a := range above {
		if a.ParentPath != "" { // the front page goes without saying
			titles = append(titles, a.Title)
		}
	}
	if len(titles) == 0 {
		return "" // its title says it all
	}
	return strings.Join(append(titles, item.Title), " / ")
}

func isoDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// external returns an original's address if it is one that may be linked to.
func external(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}

// nearestPages are how many pages a refusal offers.
const nearestPages = 3

// nearest are the pages that come nearest to a question that has no answer: those
// that were found, else what a search without a floor finds.
func (r *run) nearest(ctx context.Context) Links {
	var out Links
	for _, s := range r.turn.Sources {
		if s.Path != "" && len(out) < nearestPages {
			out = append(out, Link{Title: s.Title, Path: s.Path, Where: s.Where})
		}
	}
	if len(out) > 0 {
		return out
	}
	hits, err := r.s.Search.Search(ctx, search.Query{Text: r.turn.Question, Index: r.index, Lang: r.turn.Lang, Who: r.who,
		ForAnswers: true, Limit: nearestPages * chunksPerSource})
	if err != nil {
		r.s.Log.Warn("nearest pages", "turn", r.turn.ID[:8], "err", err)
		return nil
	}
	found := map[content.Ref]string{}
	for _, h := range hits {
		found[h.Ref] = h.Lang
	}
	items, err := r.load(ctx, found)
	if err != nil {
		r.s.Log.Warn("nearest pages", "turn", r.turn.ID[:8], "err", err)
		return nil
	}
	for _, h := range hits {
		it, ok := items[h.Ref]
		if ok && it.Path != "" && len(out) < nearestPages && !slices.ContainsFunc(out, func(l Link) bool { return l.Path == it.Path }) {
			out = append(out, Link{Title: it.Title, Path: it.Path, Where: r.where(ctx, it)})
		}
	}
	return out
}

// promptSources are sources in the form the model reads.
func promptSources(sources []Source) []llm.Source {
	out := make([]llm.Source, len(sources))
	for i, s := range sources {
		lang := s.FoundLang
		if lang == "" {
			lang = s.Lang
		}
		out[i] = llm.Source{Number: s.Number, Title: s.Title, Where: s.Where, Lang: lang, Date: s.Date, Text: s.Body()}
	}
	return out
}

// markdownOptions are how a turn's text becomes blocks.
func (s *Service) markdownOptions(t *Turn, numbered []string) markdown.Options {
	lang := t.Lang
	prefix := DOMID(t.ID) + "-b"
	return markdown.Options{
		Source: func(n int) (string, bool) {
			if n < 1 || n > len(t.Sources) {
				return "", false
			}
			return t.Sources[n-1].Key, true
		},
		Numbered:  numbered,
		CiteLabel: func(n int) string { return s.Texts.CiteLabel(lang, n) },
		Labels:    s.Texts.Labels(lang),
		AllowLink: func(u *url.URL) bool {
			return u.Host == s.SiteURL.Host || slices.ContainsFunc(t.Sources, func(src Source) bool {
				return src.External != "" && src.External == u.String()
			})
		},
		BlockID: func(i int) string { return fmt.Sprintf("%s%d", prefix, i) },
	}
}

// DOMID is the id of a turn's element in pages. It tells too little of the
// turn's own id to open anything.
func DOMID(turnID string) string { return "turn-" + turnID[:8] }
