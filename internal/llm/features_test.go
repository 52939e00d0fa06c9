package llm_test

import (
	"docent/internal/llm"
	"os"
	"testing"
)

func TestFeatures(t *testing.T) {
	if os.Getenv("FEAT") == "" {
		t.Skip()
	}
	dir := testData(t)
	questions, pages := readQuestions(t, dir), readPages(t, dir)
	index := newBM25(pages)
	model := llm.NewOffline(snowball)
	for _, q := range questions {
		r := index.top(q.Question, nil)
		c, o, m, l := model.Features(q.Question, r)
		label := "NO "
		if q.Answerable {
			label = "out"
			if factsMatched(join(r).Text, q.AnswerFacts) == len(q.AnswerFacts) {
				label = "yes"
			}
		}
		t.Logf("%s %.2f %.2f %v %s | %s | %s", label, c, o, m, q.ID, q.Question, l)
		if q.Answerable {
			c, o, m, l := model.Features(q.Question, index.top(q.Question, q.Gold))
			t.Logf("less %.2f %.2f %v %s | | %s", c, o, m, q.ID, l)
		}
	}
}
