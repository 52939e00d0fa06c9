package llm_test

import (
	"html"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"docent/internal/llm"
)

var marks = regexp.MustCompile(`\*\*|\\|` + "`")

func ask(t *testing.T, model llm.Generator, question string, sources []llm.Source) string {
	t.Helper()
	for i := range sources {
		sources[i].Number = i + 1
	}
	var b strings.Builder
	for e, err := range model.Generate(t.Context(), llm.Request{Messages: []llm.Message{
		{Role: llm.RoleSystem, Text: "Answer from the sources.\n\n" + llm.FormatSources(sources)},
		{Role: llm.RoleUser, Text: question},
	}}) {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Text)
	}
	return b.String()
}

func factsMatched(answer string, facts []string) int {
	plain := strings.Join(strings.Fields(html.UnescapeString(marks.ReplaceAllString(answer, ""))), " ")
	n := 0
	for _, f := range facts {
		if regexp.MustCompile("(?i)" + f).MatchString(plain) {
			n++
		}
	}
	return n
}

// tally counts outcomes of answerable questions.
type tally struct{ asked, right, facts, factsHit, refused, words int }

func (c *tally) add(q evalQuestion, answer string) (hit int) {
	hit = factsMatched(answer, q.AnswerFacts)
	c.asked++
	c.facts += len(q.AnswerFacts)
	c.factsHit += hit
	c.words += len(strings.Fields(answer))
	if hit == len(q.AnswerFacts) {
		c.right++
	}
	if answer == "" {
		c.refused++
	}
	return hit
}

func (c tally) log(t *testing.T, name string) {
	t.Helper()
	t.Logf("%-34s %d of %d right (%.0f%%), facts %d of %d (%.0f%%), refused %d, %d words an answer", name, c.right, c.asked,
		100*float64(c.right)/float64(c.asked), c.factsHit, c.facts, 100*float64(c.factsHit)/float64(c.facts), c.refused,
		c.words/max(1, c.asked-c.refused))
}

// TestOfflineQuality measures the offline model on real pages and questions. Its
// floors are modest; the figures it logs are what to watch.
func TestOfflineQuality(t *testing.T) {
	if testing.Short() {
		t.Skip("measures, slowly")
	}
	dir := testData(t)
	questions, pages := readQuestions(t, dir), readPages(t, dir)
	byPath := map[string]*evalPage{}
	for _, p := range pages {
		byPath[p.path] = p
	}
	index := newBM25(pages)
	model := llm.NewOffline(snowball)
	random := rand.New(rand.NewPCG(1, 2))

	var given, found, goldless, ceiling tally
	kinds := map[string]*tally{}
	refusedUnanswerable, unanswerable := 0, 0
	for _, q := range questions {
		if !q.Answerable {
			unanswerable++
			answer := ask(t, model, q.Question, index.top(q.Question, nil))
			if answer == "" {
				refusedUnanswerable++
			} else if testing.Verbose() {
				t.Logf("%s answered though it cannot be: %s\n%s", q.ID, q.Question, answer)
			}
			continue
		}
		var sources []llm.Source
		sources = append(sources, join(byPath[q.Gold[0]].chunks))
		for len(sources) < 5 {
			if p := pages[random.IntN(len(pages))]; len(p.chunks) > 0 {
				sources = append(sources, join(p.chunks))
			}
		}
		random.Shuffle(len(sources), func(i, k int) { sources[i], sources[k] = sources[k], sources[i] })
		answer := ask(t, model, q.Question, sources)
		hit := given.add(q, answer)
		if kinds[q.Kind] == nil {
			kinds[q.Kind] = &tally{}
		}
		kinds[q.Kind].add(q, answer)
		if hit < len(q.AnswerFacts) && os.Getenv("EVAL_SHOW") == "given" {
			t.Logf("%s %d/%d %s %q\n%s", q.ID, hit, len(q.AnswerFacts), q.Question, q.AnswerFacts, answer)
		}
		retrieved := index.top(q.Question, nil)
		ceiling.add(q, join(retrieved).Text)
		answer = ask(t, model, q.Question, retrieved)
		hit = found.add(q, answer)
		if hit < len(q.AnswerFacts) && os.Getenv("EVAL_SHOW") == "found" && factsMatched(join(retrieved).Text, q.AnswerFacts) == len(q.AnswerFacts) {
			t.Logf("%s %d/%d %s %q\n%s", q.ID, hit, len(q.AnswerFacts), q.Question, q.AnswerFacts, answer)
		}
		goldless.add(q, ask(t, model, q.Question, index.top(q.Question, q.Gold)))
	}
	given.log(t, "gold page among random ones:")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		kinds[kind].log(t, "  "+kind+":")
	}
	ceiling.log(t, "  (what the retrieved text holds):")
	found.log(t, "simple BM25 retrieval:")
	t.Logf("unanswerable: refused %d of %d", refusedUnanswerable, unanswerable)
	t.Logf("gold pages withheld: refused %d of %d (some other pages answer too)", goldless.refused, goldless.asked)

	for _, floor := range []struct {
		what      string
		got, want int
	}{
		{"right with the gold page given", given.right, 40},
		{"facts with the gold page given", given.factsHit, 84},
		{"right with simple retrieval", found.right, 30},
		{"unanswerable questions refused", refusedUnanswerable, 12},
	} {
		if floor.got < floor.want {
			t.Errorf("%s: %d, want at least %d", floor.what, floor.got, floor.want)
		}
	}
	if words := found.words / (found.asked - found.refused); words > 140 {
		t.Errorf("%d words an answer are too many", words)
	}
}
