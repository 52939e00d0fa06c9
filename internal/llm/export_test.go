package llm

import (
	"os"
	"strconv"
)

func Knobs() *struct{ Context, Section, Title, Page, Fragment, Meta, Rank, Pair, Cue, Share float64 } {
	return &K
}
func init() {
	if s := os.Getenv("COV"); s != "" {
		enoughCoverage, _ = strconv.ParseFloat(s, 64)
		ignoreMissing = enoughCoverage == 0
	}
}
func (o *Offline) Features(text string, sources []Source) (cov, own float64, missing bool, lacks string) {
	q := o.readQuestion(text, "")
	var ps []passage
	for _, s := range sources {
		ps = append(ps, takeApart(s))
	}
	r := o.rank(q, ps)
	if r.best < 0 {
		return
	}
	sum := 0.0
	for i, t := range r.question.terms {
		sum += t.weight
		own += t.weight * r.units[r.best].own[i]
		c := r.units[r.best].context[i]
		if c < 0.9 {
			lacks += t.word
			if t.named {
				lacks += "*"
			}
			if t.frame {
				lacks += "~"
			}
			lacks += strconv.FormatFloat(c, 'f', 1, 64) + "/" + strconv.FormatFloat(t.weight, 'f', 2, 64) + " "
		}
	}
	return r.coverage, own / sum, r.missing, lacks
}
