package answer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"docent/internal/content"
	"docent/internal/llm"
	"docent/internal/markdown"
	"docent/internal/search"
	"docent/internal/tool"
)

// chunksPerSource is how many passages are looked at for each source wanted:
// several often belong to one page.
const chunksPerSource = 4

// retrieve searches the agent's index as the asking visitor and adds what it
// finds to the turn's sources. It returns the numbers it touched.
func (r *run) retrieve(ctx context.Context, query string) ([]int, error) {
	r.setPhase(Searching)
	before := "" // what a follow-up may lean on
	if n := len(r.earlier); n > 0 {
		before = r.earlier[n-1].Question
	}
	hits, err := r.s.Search.Search(ctx, search.Query{
		Text: query, Before: before, Index: r.index, Lang: r.turn.Lang, Who: r.who, ForAnswers: true,
		Limit: r.agent.MaxResults * chunksPerSource, MinScore: r.agent.MinScore,
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	touched, err := r.merge(ctx, hits)
	r.retrieved = true
	return touched, err
}

// merge adds hits to the turn's sources. An entity that has a number keeps it;
// the cap counts distinct new entities and skips what is over it, so that more
// passages of entities already in are not lost.
func (r *run) merge(ctx context.Context, hits []search.Hit) ([]int, error) {
	refs := make([]content.Ref, len(hits))
	for i, h := range hits {
		refs[i] = h.Ref
	}
	// The index may lag: what the visitor may see is decided on the content itself.
	items, err := r.s.Content.LoadMany(ctx, r.who, refs, r.turn.Lang)
	if err != nil {
		return nil, fmt.Errorf("load sources: %w", err)
	}
	sources := slices.Clone(r.turn.Sources)
	passages := map[int][]search.Hit{}
	var touched []int
	added := 0
	for _, h := range hits {
		item, ok := items[h.Ref]
		if !ok {
			continue
		}
		key := h.Ref.Type + ":" + h.Ref.ID
		i := slices.IndexFunc(sources, func(s Source) bool { return s.Key == key })
		if i < 0 {
			if added == r.agent.MaxResults {
				continue
			}
			added++
			sources = append(sources, Source{
				Number: len(sources) + 1, Key: key, Ref: h.Ref, Lang: item.Lang, Title: item.Title, Path: item.Path,
				External: external(item.Fields.Text(content.FieldSource)),
				Where:    r.where(ctx, item), Anchor: h.Anchor, Date: isoDate(item.Date), Passage: h.Text, Score: h.Score,
			})
			i = len(sources) - 1
		}
		n := sources[i].Number
		if !strings.Contains(sources[i].Body, h.Text) {
			passages[n] = append(passages[n], h)
		}
		if !slices.Contains(touched, n) {
			touched = append(touched, n)
		}
	}
	for i := range sources {
		found := passages[sources[i].Number]
		if len(found) == 0 {
			continue
		}
		// In the order of the page, so that the model reads them as one text.
		slices.SortStableFunc(found, func(a, b search.Hit) int { return a.Start - b.Start })
		var b strings.Builder
		b.WriteString(sources[i].Body)
		for _, h := range found {
			if b.Len() > 0 {
				b.WriteString("\n\n")
			}
			if h.Heading != "" && h.Heading != sources[i].Title {
				b.WriteString("## " + h.Heading + "\n\n")
			}
			b.WriteString(h.Text)
		}
		sources[i].Body = b.String()
	}
	// Snapshots share the old slice with watchers, so it is replaced, not changed.
	r.turn.Sources = sources
	return touched, nil
}

// hold takes the last turn's sources over, for a follow-up whose model does not
// search; access is checked again.
func (r *run) hold(ctx context.Context) error {
	last := r.earlier[len(r.earlier)-1].Sources
	refs := make([]content.Ref, len(last))
	for i, s := range last {
		refs[i] = s.Ref
	}
	items, err := r.s.Content.LoadMany(ctx, r.who, refs, r.turn.Lang)
	if err != nil {
		return fmt.Errorf("load held sources: %w", err)
	}
	var held []Source
	for _, s := range last {
		if _, ok := items[s.Ref]; !ok {
			continue
		}
		s.Number, s.Final, s.Running = len(held)+1, 0, 0
		held = append(held, s)
	}
	r.turn.Sources = held
	return nil
}

// where names the sections an item lies in.
func (r *run) where(ctx context.Context, item content.Item) string {
	above, err := r.s.Content.Ancestors(ctx, r.who, item)
	if err != nil { // the place is an ornament: a source without one is still a source
		r.s.Log.Warn("place of a source", "err", err)
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

// searchTool lets the model look for more. The index is the agent's: no argument
// names one, so no text can redirect it.
func (r *run) searchTool() tool.Tool {
	return tool.Tool{
		Name:  "search",
		Label: "Search the site",
		Description: "Searches this site's pages and returns numbered sources to answer from. " +
			"Use it when the sources you have do not answer the question. Ask with a complete, standalone query.",
		Class: tool.Read,
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
			`"description":"What to look for, in words that the pages would use"}},"required":["query"],"additionalProperties":false}`),
		Run: func(ctx context.Context, args json.RawMessage) (tool.Result, error) {
			var in struct {
				Query string `json:"query"`
			}
			if err := tool.Decode(args, &in); err != nil {
				return tool.Result{}, err
			}
			query := strings.TrimSpace(in.Query)
			if query == "" {
				return tool.Result{}, &tool.ArgumentError{Reason: "query is empty"}
			}
			if runes := []rune(query); len(runes) > r.agent.QuestionLimit {
				query = string(runes[:r.agent.QuestionLimit])
			}
			touched, err := r.retrieve(ctx, query)
			if err != nil {
				return tool.Result{}, err
			}
			if len(touched) == 0 {
				return tool.Result{Text: "The search found nothing."}, nil
			}
			var found []Source
			for _, s := range r.turn.Sources {
				if slices.Contains(touched, s.Number) {
					found = append(found, s)
				}
			}
			return tool.Result{Text: "Found:\n" + llm.FormatSources(promptSources(found))}, nil
		},
	}
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
		Numbered:   numbered,
		CiteLabel:  func(n int) string { return s.Texts.CiteLabel(lang, n) },
		TableLabel: s.Texts.TableLabel(lang),
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
