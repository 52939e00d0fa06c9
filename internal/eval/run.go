package eval

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A RankedPage is a page that was found; the best comes first.
type RankedPage struct {
	Origin string // what an importer made the page from: "import:guides/a.md" or "guides/a.md"
}

// An Answer is what the system under test said.
type Answer struct {
	Text         string
	CitedOrigins []string
	Refused      bool   // it said that the content has no answer
	Conversation string // where a follow-up goes on; only the answerer reads it
}

// A Turn is what came before a follow-up.
type Turn struct {
	Question string
	Answer   Answer
}

// A Retriever finds pages for a question; prev is nil for a first question.
type Retriever func(ctx context.Context, question, lang string, prev *Turn) ([]RankedPage, error)

// An Answerer answers a question; prev is nil for a first question.
type Answerer func(ctx context.Context, question, lang string, prev *Turn) (Answer, error)

// Run asks every question, one after the other, of the retriever and of the
// answerer; either may be nil. It stops at the first error.
func Run(ctx context.Context, questions []Question, find Retriever, answer Answerer) (Report, error) {
	var r Report
	first, followUps := tally{anyPage: find == nil}, tally{anyPage: find == nil}
	var findTimes, answerTimes []time.Duration
	ask := func(t *tally, q asked, prev *Turn) (Turn, error) {
		turn := Turn{Question: q.text}
		res := Result{ID: q.id, Question: q.text, Answerable: q.answerable, Gold: q.gold}
		if find != nil {
			start := time.Now()
			pages, err := find(ctx, q.text, q.lang, prev)
			if err != nil {
				return turn, fmt.Errorf("find %s: %w", q.id, err)
			}
			findTimes = append(findTimes, time.Since(start))
			res.Rank = rankOf(pages, q.gold)
			for _, p := range pages[:min(len(pages), 10)] {
				res.Found = append(res.Found, pageOf(p.Origin))
			}
		}
		if answer != nil {
			start := time.Now()
			a, err := answer(ctx, q.text, q.lang, prev)
			if err != nil {
				return turn, fmt.Errorf("answer %s: %w", q.id, err)
			}
			answerTimes = append(answerTimes, time.Since(start))
			turn.Answer = a
			res.Answer, res.Refused = a.Text, a.Refused
			for _, o := range a.CitedOrigins {
				res.Cited = append(res.Cited, pageOf(o))
			}
			res.GoldCited = slices.ContainsFunc(res.Cited, func(c string) bool { return slices.Contains(q.gold, c) })
			res.Facts = q.answerable && !a.Refused && holdsAll(a.Text, q.facts)
		}
		t.add(res)
		r.Results = append(r.Results, res)
		return turn, nil
	}
	for _, q := range questions {
		turn, err := ask(&first, asked{q.ID, q.Question, q.Lang, q.Gold, q.facts, q.Answerable}, nil)
		if err != nil {
			return r, err
		}
		if f := q.FollowUp; f != nil {
			if _, err := ask(&followUps, asked{q.ID + "+", f.Question, q.Lang, f.Gold, f.facts, len(f.Gold) > 0}, &turn); err != nil {
				return r, err
			}
		}
	}
	r.Scores = first.scores(find != nil, answer != nil)
	if followUps.questions > 0 {
		s := followUps.scores(find != nil, answer != nil)
		r.FollowUps = &s
	}
	r.FindTimes, r.AnswerTimes = timesOf(findTimes), timesOf(answerTimes)
	return r, nil
}

// asked is a question or follow-up as it is put.
type asked struct {
	id, text, lang string
	gold           []string
	facts          []*regexp.Regexp
	answerable     bool
}

// pageOf is a page's name in question files: an origin without its prefix.
func pageOf(origin string) string {
	if _, file, ok := strings.Cut(origin, ":"); ok {
		return file
	}
	return origin
}

// rankOf is the place of the first gold page among distinct pages, from 1; 0 when
// none was found.
func rankOf(pages []RankedPage, gold []string) int {
	seen := map[string]bool{}
	for _, p := range pages {
		page := pageOf(p.Origin)
		if seen[page] {
			continue
		}
		seen[page] = true
		if slices.Contains(gold, page) {
			return len(seen)
		}
	}
	return 0
}
