package eval

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Scores are shares from 0 to 1.
type Scores struct {
	Questions  int     `json:"questions"`
	Answerable int     `json:"answerable"`
	RecallAt1  float64 `json:"recall_at_1"` // of answerable questions: a gold page is the first
	RecallAt5  float64 `json:"recall_at_5"`
	RecallAt10 float64 `json:"recall_at_10"`
	MRR        float64 `json:"mrr"` // mean of 1/rank of the first gold page in the first ten

	GoldCited    float64 `json:"gold_cited"`    // of answerable questions with a gold page in the first five: one is cited
	Facts        float64 `json:"facts"`         // of answerable questions: the answer states all facts
	RefusedRight float64 `json:"refused_right"` // of unanswerable questions: refused
	RefusedWrong float64 `json:"refused_wrong"` // of answerable questions: refused
}

// Times are durations in milliseconds.
type Times struct {
	P50 float64 `json:"p50_ms"`
	P95 float64 `json:"p95_ms"`
}

// A Result is what happened to one question.
type Result struct {
	ID         string   `json:"id"`
	Question   string   `json:"question"`
	Answerable bool     `json:"answerable"`
	Gold       []string `json:"gold,omitempty"`
	Rank       int      `json:"rank"` // of the first gold page; 0: not found
	Found      []string `json:"found,omitempty"`
	Cited      []string `json:"cited,omitempty"`
	GoldCited  bool     `json:"gold_cited"`
	Facts      bool     `json:"facts"`
	Refused    bool     `json:"refused"`
	Answer     string   `json:"answer,omitempty"`
}

// A Report holds the figures of a run. Follow-ups are counted by themselves.
type Report struct {
	Scores
	FollowUps   *Scores  `json:"follow_ups,omitempty"`
	FindTimes   Times    `json:"retrieval"`
	AnswerTimes Times    `json:"answer"`
	Results     []Result `json:"results"`
}

// tally counts results.
type tally struct {
	anyPage                           bool // nothing was searched: every answerable question could cite
	questions, answerable             int
	at1, at5, at10                    int
	reciprocal                        float64
	citable, cited, facts             int
	refusedRight, refusedWrong, other int
}

func (t *tally) add(r Result) {
	t.questions++
	if !r.Answerable {
		t.other++
		if r.Refused {
			t.refusedRight++
		}
		return
	}
	t.answerable++
	if r.Rank > 0 && r.Rank <= 10 {
		t.at10++
		t.reciprocal += 1 / float64(r.Rank)
	}
	if r.Rank == 1 {
		t.at1++
	}
	if r.Rank > 0 && r.Rank <= 5 {
		t.at5++
	}
	if r.Rank > 0 && r.Rank <= 5 || t.anyPage {
		t.citable++
		if r.GoldCited {
			t.cited++
		}
	}
	if r.Facts {
		t.facts++
	}
	if r.Refused {
		t.refusedWrong++
	}
}

// scores are the shares of what was measured.
func (t *tally) scores(found, answered bool) Scores {
	s := Scores{Questions: t.questions, Answerable: t.answerable}
	if found {
		s.RecallAt1, s.RecallAt5, s.RecallAt10 = share(t.at1, t.answerable), share(t.at5, t.answerable), share(t.at10, t.answerable)
		if t.answerable > 0 {
			s.MRR = t.reciprocal / float64(t.answerable)
		}
	}
	if answered {
		s.GoldCited, s.Facts = share(t.cited, t.citable), share(t.facts, t.answerable)
		s.RefusedRight, s.RefusedWrong = share(t.refusedRight, t.other), share(t.refusedWrong, t.answerable)
	}
	return s
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func timesOf(d []time.Duration) Times {
	if len(d) == 0 {
		return Times{}
	}
	d = slices.Sorted(slices.Values(d))
	ms := func(i int) float64 { return float64(d[min(i, len(d)-1)].Microseconds()) / 1000 }
	return Times{P50: ms(len(d) / 2), P95: ms(len(d) * 95 / 100)}
}

// Print writes the figures as a table and, when verbose, every miss.
func (r Report) Print(w io.Writer, verbose bool) error {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "\tquestions")
	if r.FollowUps != nil {
		fmt.Fprint(tw, "\tfollow-ups")
	}
	fmt.Fprintln(tw)
	row := func(name string, value func(Scores) string) {
		fmt.Fprintf(tw, "%s\t%s", name, value(r.Scores))
		if r.FollowUps != nil {
			fmt.Fprintf(tw, "\t%s", value(*r.FollowUps))
		}
		fmt.Fprintln(tw)
	}
	figure := func(name string, value func(Scores) float64) {
		row(name, func(s Scores) string { return fmt.Sprintf("%.3f", value(s)) })
	}
	row("asked", func(s Scores) string { return fmt.Sprintf("%d, %d answerable", s.Questions, s.Answerable) })
	figure("recall@1", func(s Scores) float64 { return s.RecallAt1 })
	figure("recall@5", func(s Scores) float64 { return s.RecallAt5 })
	figure("recall@10", func(s Scores) float64 { return s.RecallAt10 })
	figure("MRR", func(s Scores) float64 { return s.MRR })
	figure("gold cited", func(s Scores) float64 { return s.GoldCited })
	figure("facts", func(s Scores) float64 { return s.Facts })
	figure("refused rightly", func(s Scores) float64 { return s.RefusedRight })
	figure("refused wrongly", func(s Scores) float64 { return s.RefusedWrong })
	fmt.Fprintf(tw, "finding p50, p95\t%.1f ms, %.1f ms\n", r.FindTimes.P50, r.FindTimes.P95)
	fmt.Fprintf(tw, "answer p50, p95\t%.1f ms, %.1f ms\n", r.AnswerTimes.P50, r.AnswerTimes.P95)
	if err := tw.Flush(); err != nil {
		return err
	}
	if verbose {
		for _, res := range r.Results {
			res.print(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// print writes what went wrong with one question; nothing when all went well.
func (r Result) print(b *strings.Builder) {
	var faults []string
	answered := r.Answer != "" || r.Refused
	switch {
	case !r.Answerable && answered && !r.Refused:
		faults = append(faults, "answered without an answer in the content")
	case r.Answerable:
		if r.Rank != 1 && len(r.Found) > 0 {
			place := "not found"
			if r.Rank > 0 {
				place = fmt.Sprintf("found at %d", r.Rank)
			}
			faults = append(faults, place)
		}
		if answered && r.Refused {
			faults = append(faults, "refused")
		} else if answered && !r.Facts {
			faults = append(faults, "facts missing")
		}
		if answered && !r.GoldCited {
			faults = append(faults, "gold not cited")
		}
	}
	if len(faults) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s  %s\n  %s\n", r.ID, r.Question, strings.Join(faults, "; "))
	if len(r.Gold) > 0 {
		fmt.Fprintf(b, "  gold: %s\n", strings.Join(r.Gold, ", "))
	}
	if len(r.Found) > 0 && r.Rank != 1 {
		fmt.Fprintf(b, "  found: %s\n", strings.Join(r.Found[:min(5, len(r.Found))], ", "))
	}
}
