package answer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/db/dbtest"
	"docent/internal/answer"
	"docent/internal/config"
	"docent/internal/llm/llmtest"
)

// What the specification says of the pipeline and of sources, sentence by sentence
// in our words, and the tests that hold it, by folder and name.
var specification = []struct{ sentence, tests string }{
	{"a question that is empty or only white space is refused", "internal/answer TestBadQuestions"},
	{"a follow-up stays with the agent of its conversation, whatever the request names", "internal/answer TestFollowUpHoldsSourcesAndNumbersRunOn"},
	{"an agent answers only when it is enabled and its index is forced and exists", "internal/answer TestBadQuestions; internal/answer TestGates"},
	{"an anonymous conversation goes on for whoever has its id, an account's for that account, else it is not found", "internal/answer TestOwnerRule"},
	{"the model gets the history and the question, and each run an id of its own", "internal/answer TestPromptSections; internal/answer TestEveryRunIsRecorded"},
	{"the first question is always searched for", "internal/answer TestAnswerIsCitedAndStored"},
	{"on a follow-up the model decides to search, else the sources held are used again", "internal/answer TestFollowUpHoldsSourcesAndNumbersRunOn; internal/answer TestTopicDrift"},
	{"sources found in a later round are there when that round's text is read", "internal/answer TestRoundsKeepNumbers"},
	{"the no-answer message stands when nothing reached the client, and only then", "internal/answer TestNoAnswerStandsExactlyWhenNothingReachedTheClient"},
	{"nothing of one run reaches another", "internal/answer TestConcurrentRunsDoNotBleed"},
	{"contract, guidance and sources are added to the agent's own prompt, which is never replaced", "internal/answer TestPromptSections"},
	{"other sections come after, by priority", "internal/answer TestPromptSections"},
	{"results of the search tool and of the agent's source tools become sources, others do not", "internal/answer TestContentListIsComplete; internal/answer TestUnknownToolAndBadArgumentsGoBackToTheModel"},
	{"a tool's message is replaced by the sources it added, with final numbers, below its own summary", "internal/answer TestFollowUpHoldsSourcesAndNumbersRunOn; internal/answer TestContentListIsComplete"},
	{"hits below the agent's score are dropped", "internal/answer TestScoreGate"},
	{"a rerank endpoint orders what was found, and is done without when it fails", "internal/answer TestRerankOrdersAndFailsSoft"},
	{"the cap counts distinct entities and skips, so further passages of those already in are kept", "internal/answer TestCapCountsEntities"},
	{"an entity is loaded again as the visitor; what may not be seen gets no number", "internal/answer TestAccessIsCheckedAgain; internal/answer TestMembersSeeTheirOwn"},
	{"the visitor's language is preferred, else the language that was found", "internal/answer TestTranslationOfSources"},
	{"listing tools may give rows in either of two shapes", "internal/answer TestListedRowsInBothShapes"},
	{"a listed row without text is one line that tells namesakes apart", "internal/answer TestSourceToolKeepsNamesakesApart"},
	{"a listing is complete: no score, no rerank, only its own cap", "internal/answer TestContentListIsComplete"},
	{"references are sent before the text is complete and hold everything found", "cmd/docent TestAnswerAPI"},
	{"an entity keeps its number through all rounds of a turn", "internal/answer TestRoundsKeepNumbers"},
	{"sources that nothing cites are dropped, the others numbered by first citation", "internal/answer TestAnswerIsCitedAndStored; internal/markdown TestRenumber"},
	{"JSON has the final list alone; the stream's end carries the corrected pair", "cmd/docent TestAnswerAPI"},
	{"log and trace ids are kept with the turn, and a rating replaces the one before", "internal/answer TestEveryRunIsRecorded; internal/answer TestRating"},
}

func TestSpecificationIsCovered(t *testing.T) {
	for _, s := range specification {
		for ref := range strings.SplitSeq(s.tests, "; ") {
			dir, name, _ := strings.Cut(ref, " ")
			files, err := filepath.Glob(filepath.Join("../..", dir, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				found = found || strings.Contains(string(text), "func "+name+"(t *testing.T)")
			}
			if !found {
				t.Errorf("%q: there is no test %s in %s", s.sentence, name, dir)
			}
		}
	}
}

func TestScoreGate(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript(llmtest.Turn{llmtest.Text("a [1]")}, llmtest.Turn{llmtest.Text("b [1]")}))
	if st := s.wait(s.ask(answer.Question{Text: "opening hours"}), s.visitor); len(st.Sources) == 0 {
		t.Fatal("no sources although the gate is low")
	}
	agent, err := config.Get[config.Agent](t.Context(), s.opts.Config, "site")
	if err != nil {
		t.Fatal(err)
	}
	agent.MinScore = 1
	if err := config.Put(t.Context(), s.opts.Config, "site", agent, ""); err != nil {
		t.Fatal(err)
	}
	if st := s.wait(s.ask(answer.Question{Text: "winter hours of the mill museum shop"}), s.visitor); len(st.Sources) != 0 || !st.Refused {
		t.Errorf("sources below the agent's score: %v", titles(st.Sources))
	}
}

// An agent without an index, or with one that is gone, cannot answer: no request
// and no model can name another.
func TestGates(t *testing.T) {
	s := newSite(t, dbtest.SQLite(t), llmtest.NewScript())
	if err := s.Usable(t.Context(), "site"); err != nil {
		t.Errorf("the shipped agent: %v", err)
	}
	agent, err := config.Get[config.Agent](t.Context(), s.opts.Config, "site")
	if err != nil {
		t.Fatal(err)
	}
	for _, index := range []string{"", "gone"} {
		agent.Index = index
		_, err := s.Ask(t.Context(), answer.Question{Agent: "site", Text: "hours", Who: s.visitor, Lang: "en", Trial: &agent})
		if _, ok := errors.AsType[*answer.UnusableError](err); !ok {
			t.Errorf("index %q: %v", index, err)
		}
	}
}
