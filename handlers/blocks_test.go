package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
	"docent/internal/llm/llmtest"
)

const (
	blockA = "0192a4c0-5d00-7000-8000-0000000000a1"
	blockB = "0192a4c0-5d00-7000-8000-0000000000a2"
	blockC = "0192a4c0-5d00-7000-8000-0000000000a3"
)

// place puts a Sources block on pages, which shows in any region.
func (s *testSite) place(uuid string, change func(*config.Placement)) {
	s.t.Helper()
	p := config.Placement{UUID: uuid, Label: uuid, Region: config.RegionAfter, Block: config.NewBlock(config.BlockSources)}
	p.Sources.Target = config.SiteAnswerID
	change(&p)
	if err := config.Put(s.t.Context(), s.Config, "b_"+uuid[len(uuid)-2:], p, ""); err != nil {
		s.t.Fatal(err)
	}
}

// Among the fields of a page blocks stand above all, below the field that they
// name, or at the end when the page does not show that.
func TestBlocksAmongFields(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStructureSite(t, d)
		text := func(words string) map[string]any {
			return map[string]any{"type": "text", "value": words, "format": "markdown"}
		}
		s.keep(content.Input{Bundle: "page", Title: "Both", Path: "/both/", Fields: content.Fields{"body": "The body.", "parts": []any{text("The parts.")}}})
		s.keep(content.Input{Bundle: "page", Title: "Parts", Path: "/parts/", Fields: content.Fields{"parts": []any{text("The parts.")}}})
		among := func(after string, weight int) func(*config.Placement) {
			return func(p *config.Placement) {
				p.Region, p.After, p.Weight, p.Visibility.Paths = config.RegionContent, after, weight, []string{"/both/", "/parts/"}
			}
		}
		order := func(path string) string {
			t.Helper()
			var out []string
			page := s.browser().get(path).want(t, http.StatusOK).page(t)
			for _, e := range page.Find("article .prose p, article [data-docent-block]").EachIter() {
				if id := e.AttrOr("id", ""); id != "" {
					out = append(out, id[len(id)-2:])
					continue
				}
				out = append(out, strings.ToLower(strings.Trim(strings.TrimPrefix(e.Text(), "The "), ".")))
			}
			if n := page.Find(`[data-docent-block="sources"]`).Length(); n != 3 {
				t.Errorf("%s has %d blocks", path, n)
			}
			return strings.Join(out, " ")
		}
		for _, tt := range []struct {
			a, b, c     func(*config.Placement)
			both, parts string
		}{
			{among("body", 0), among("", 0), among("byline", 0), "a2 body a1 parts a3", "a2 parts a1 a3"},
			{among("body", 2), among("body", 1), among("parts", 0), "body a2 a1 parts a3", "parts a3 a2 a1"},
			{among("", 5), among("", 4), among("", 3), "a3 a2 a1 body parts", "a3 a2 a1 parts"},
			{among("gone", 1), among("byline", 0), among("body", 0), "body a3 parts a2 a1", "parts a2 a3 a1"},
		} {
			s.place(blockA, tt.a)
			s.place(blockB, tt.b)
			s.place(blockC, tt.c)
			if got := order("/both/"); got != tt.both {
				t.Errorf("with both fields the page is %q, want %q", got, tt.both)
			}
			if got := order("/parts/"); got != tt.parts {
				t.Errorf("without a body the page is %q, want %q", got, tt.parts)
			}
		}
	})
}

// Blocks are shown on the pages, in the languages and to the visitors that they
// are for.
func TestBlocksAreShownWhereTheyAreFor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		s.save(t, content.Input{Bundle: "article", Title: "A piece", Path: "/piece/", Fields: content.Fields{"body": "x"}})
		s.person("ada")
		s.person("ed", account.RoleEditor)
		visitors := map[string]*browser{"anonymous": s.browser(), "ada": s.browser().login("ada"), "ed": s.browser().login("ed")}
		paths := []string{"/", "/visit/", "/visit/the-pond/", "/es/visit/pond/", "/piece/", "/answers", "/articles/", "/search?q=pond"}
		id := config.BlockDOMID(config.BlockSources, blockA)
		everybody := []string{"anonymous", "ada", "ed"}
		for _, tt := range []struct {
			what  string
			shown config.Visibility
			on    []string
			to    []string
		}{
			{"everything", config.Visibility{}, paths, everybody},
			{"articles", config.Visibility{Types: []string{"article"}}, []string{"/piece/"}, everybody},
			{"pages", config.Visibility{Types: []string{"page"}}, []string{"/", "/visit/", "/visit/the-pond/", "/es/visit/pond/"}, everybody},
			{"Spanish", config.Visibility{Languages: []string{"es"}}, []string{"/es/visit/pond/"}, everybody},
			{"a section", config.Visibility{Paths: []string{"/visit/"}}, []string{"/visit/", "/visit/the-pond/", "/es/visit/pond/"}, everybody},
			{"all but one", config.Visibility{Paths: []string{"/visit/"}, Except: []string{"/visit/pond"}}, []string{"/visit/", "/visit/the-pond/"}, everybody},
			{"strangers", config.Visibility{Roles: []string{account.RoleAnonymous}}, paths, []string{"anonymous"}},
			{"accounts", config.Visibility{Roles: []string{account.RoleAuthenticated}}, paths, []string{"ada", "ed"}},
			{"editors", config.Visibility{Roles: []string{account.RoleEditor}, Paths: []string{"/answers", "/articles"}}, []string{"/answers", "/articles/"}, []string{"ed"}},
		} {
			s.place(blockA, func(p *config.Placement) { p.Visibility = tt.shown })
			for _, path := range paths {
				for who, b := range visitors {
					want := slices.Contains(tt.on, path) && slices.Contains(tt.to, who)
					if got := b.get(path).want(t, http.StatusOK).page(t).Find("#"+id).Length() == 1; got != want {
						t.Errorf("%s: %s has it on %s: %v, want %v", tt.what, who, path, got, want)
					}
				}
			}
		}
	})
}

// What an Answer block is set to holds on the page that waits for a question, in
// the answer that scripts get and on the page of those without.
func TestOptionsOfAnAnswerBlock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var turns []llmtest.Turn
		var gates []chan struct{} // for each second answer, which is watched
		for range 4 {
			gate := make(chan struct{})
			gates = append(gates, gate)
			turns = append(turns, llmtest.Turn{llmtest.Text("Frogs [1].")}, llmtest.Turn{llmtest.Wait(gate), llmtest.Text("Frogs [1].")})
		}
		s := pondSite(t, d, turns...)
		id := config.BlockDOMID(config.BlockAnswer, blockA)
		for i, tt := range []struct {
			followUp, feedback, references bool
			without                        string
		}{
			{true, true, true, ""}, {false, true, false, "follow"}, {true, false, true, "feedback"}, {false, false, false, "follow,feedback"},
		} {
			s.place(blockA, func(p *config.Placement) {
				p.Block = config.NewBlock(config.BlockAnswer)
				p.Answer.FollowUp, p.Answer.Feedback, p.Answer.References = tt.followUp, tt.feedback, tt.references
				p.Answer.ReferencesLabel = map[string]string{"en": "Read <on>"}
				p.Answer.Empty = map[string]string{"en": "Ask about <frogs>.", "es": "Pregunte."}
				p.Answer.Suggestions = map[string][]string{"en": {"Where?"}}
			})
			start := s.browser().get("/pond/").want(t, http.StatusOK).page(t)
			block := start.Find("#" + id)
			if got := strings.TrimSpace(block.Find(".d-answer__transcript .d-answer__empty > p").Text()); got != "Ask about <frogs>." {
				t.Errorf("before a question it says %q", got)
			}
			if block.Find(`.d-answer__transcript button[name="question"]`).AttrOr("value", "") != "Where?" {
				t.Error("the suggestion is not there")
			}
			list := block.Find(`[data-ai-answers-sources-target="` + id + `"]`)
			if list.Length() == 1 != tt.references || tt.references && strings.TrimSpace(list.Find("h2").First().Text()) != "Read <on>" {
				t.Errorf("its list of sources is %d times there, called %q", list.Length(), list.Find("h2").Text())
			}
			ask := block.Find("form[data-docent-ask]")
			if ask.Find(`input[name="without"]`).AttrOr("value", "") != tt.without {
				t.Errorf("it says it goes without %q", ask.Find(`input[name="without"]`).AttrOr("value", ""))
			}
			check := func(how string, page *goquery.Document) {
				t.Helper()
				if got := page.Find("form[data-docent-follow]").Length() == 1; got != tt.followUp {
					t.Errorf("%+v: %s can be followed up: %v", tt, how, got)
				}
				if got := page.Find(".d-feedback").Length() == 1; got != tt.feedback {
					t.Errorf("%+v: %s can be rated: %v", tt, how, got)
				}
			}
			b := s.browser()
			page, at := b.sendForm(t, ask, url.Values{"question": {"What lives in the pond?"}})
			check("the page", page)
			live := b.get(at.RequestURI(), "HX-Request", "true").want(t, http.StatusOK)
			changes, transcript, err := partialsOf(live.body)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range changes {
				transcript += c.html
			}
			check("the fragment", reply{live.Response, transcript}.page(t))

			// As scripts ask: the first answer is the turn, its events bring the rest.
			fields := url.Values{}
			for _, in := range ask.Find("input[name]").EachIter() {
				fields.Set(in.AttrOr("name", ""), in.AttrOr("value", ""))
			}
			fields.Set("question", "What lives in the pond?")
			r := b.send(http.MethodPost, questionURL, fields.Encode(), "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "HX-Request", "true").want(t, http.StatusOK)
			events := r.page(t).Find("[data-docent-stream]").AttrOr("hx-sse:connect", "")
			close(gates[i])
			stream := b.get(events, "HX-Request", "true").want(t, http.StatusOK).body
			var lines []string
			for line := range strings.Lines(stream) {
				if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "done" {
					lines = append(lines, data)
				}
			}
			all, _, err := partialsOf(strings.Join(lines, ""))
			if err != nil {
				t.Fatal(err)
			}
			whole := ""
			for _, c := range all {
				whole += c.html
			}
			check("the live answer", reply{r.Response, whole}.page(t))
		}
		es := s.browser().get("/es/answers").want(t, http.StatusOK).page(t)
		if got := strings.TrimSpace(es.Find("#" + id + " .d-answer__transcript .d-answer__empty > p").Text()); got != "Pregunte." {
			t.Errorf("in Spanish it says %q", got)
		}
	})
}

// A closed agent's block says so in place of what it would say, its Question block
// is not there, and what is asked all the same is refused.
func TestClosedAgent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := pondSite(t, d)
		s.gardenAgent()
		agent, err := config.Get[config.Agent](t.Context(), s.Config, "garden")
		if err != nil {
			t.Fatal(err)
		}
		answerBlock, question := config.BlockDOMID(config.BlockAnswer, blockA), config.BlockDOMID(config.BlockQuestion, blockB)
		s.place(blockA, func(p *config.Placement) {
			p.Block = config.NewBlock(config.BlockAnswer)
			p.Answer.Agent, p.Answer.Empty, p.Answer.Suggestions = "garden", map[string]string{"en": "Ask away."}, map[string][]string{"en": {"Where?"}}
		})
		s.place(blockB, func(p *config.Placement) {
			p.Block = config.NewBlock(config.BlockQuestion)
			p.Question.Target = answerBlock
		})
		for _, open := range []bool{true, false} {
			agent.Enabled = open
			if err := config.Put(t.Context(), s.Config, "garden", agent, ""); err != nil {
				t.Fatal(err)
			}
			page := s.browser().get("/pond/").want(t, http.StatusOK).page(t)
			empty := page.Find("#" + answerBlock + " .d-answer__transcript .d-answer__empty")
			if got := empty.Find(".notice").Length() == 0; got != open || empty.Find(".chips").Length() == 1 != open || strings.Contains(empty.Text(), "Ask away.") != open {
				t.Errorf("open %v: the block says %q", open, strings.TrimSpace(empty.Text()))
			}
			if got := page.Find("#"+question).Length() == 1; got != open {
				t.Errorf("open %v: the Question block is there: %v", open, got)
			}
		}
		r := s.browser().send(http.MethodPost, questionURL, url.Values{"question": {"Where?"}, "block": {answerBlock}}.Encode(), "Content-Type", formType, "Sec-Fetch-Site", "same-origin", "HX-Request", "true")
		if r.StatusCode != http.StatusConflict {
			t.Errorf("asking a closed agent: %d %s", r.StatusCode, r.body)
		}
	})
}
