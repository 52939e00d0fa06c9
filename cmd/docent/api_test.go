package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/llm/llmtest"
)

// The test binary is the program itself when a test starts it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("DOCENT_TEST_AS_PROGRAM") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func parse(t *testing.T, body string) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

type testReference struct {
	Index      int     `json:"index"`
	EntityType string  `json:"entity_type"`
	EntityID   string  `json:"entity_id"`
	Label      string  `json:"label"`
	URL        string  `json:"url"`
	Score      float64 `json:"score"`
	Rendered   string  `json:"rendered"`
}

type testEvent struct{ id, name, data string }

// events reads an event stream to its end.
func events(t *testing.T, body string) []testEvent {
	t.Helper()
	var out []testEvent
	var e testEvent
	lines := bufio.NewScanner(strings.NewReader(body))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "":
			if e.data != "" {
				out = append(out, e)
			}
			e = testEvent{}
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data += value
		}
	}
	return out
}

func decode[T any](t *testing.T, data string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

const asJSON = "application/json"

func TestAnswerAPI(t *testing.T) {
	model := llmtest.NewFakeOpenAI(
		llmtest.Stream("Ten [2", "] to four [1][99]."),
		llmtest.Stream("Again [1]."),
		llmtest.Refuse(401, `{"error":{"message":"bad key sk-SECRET"}}`),
	)
	defer model.Close()
	s := serveSite(t, map[string]string{"DOCENT_MODEL_URL": model.URL, "DOCENT_MODEL": "fake", "DOCENT_MODEL_KEY": "sk-SECRET"})
	c := client(t)
	token := s.token(c)
	ask := func(body string, header ...string) (*http.Response, string) {
		return s.do(c, "POST", "/ai-answers/question", body, append([]string{"Content-Type", asJSON, "X-CSRF-Token", token}, header...)...)
	}

	res, body := ask(`{"agent":"site","question":"When is the garden open in winter?"}`)
	if res.StatusCode != 200 || res.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	got := decode[struct {
		ConversationID string `json:"conversation_id"`
		Turn           int    `json:"turn"`
		TurnID         string `json:"turn_id"`
		Answer         struct {
			Text       string          `json:"text"`
			References []testReference `json:"references"`
		} `json:"answer"`
		TraceID string `json:"trace_id"`
	}](t, body)
	if got.Answer.Text != "Ten [1] to four [2]." || got.Turn != 1 || got.TraceID != "" {
		t.Errorf("answer %+v", got)
	}
	if refs := got.Answer.References; len(refs) != 2 || refs[0].Index != 1 || refs[1].Index != 2 || refs[0].EntityType != "node" ||
		refs[0].Label == "" || !strings.HasPrefix(refs[0].URL, "/") || !strings.Contains(refs[0].Rendered, "<a href=") {
		t.Errorf("references %+v", refs)
	}
	if want := "/ai-answers/turns/" + got.TurnID + "/events"; res.Header.Get("Content-Location") != want {
		t.Errorf("Content-Location %q", res.Header.Get("Content-Location"))
	}

	res, body = ask(`{"agent":"ignored","question":"And the café?","conversation_id":"`+got.ConversationID+`"}`, "Accept", "text/event-stream", "Accept-Encoding", "gzip")
	if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") || res.Header.Get("Content-Encoding") != "" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	if len(res.Cookies()) != 0 {
		t.Errorf("a stream sets cookies: %v", res.Cookies())
	}
	var names []string
	all := events(t, body)
	for _, e := range all {
		if len(names) == 0 || names[len(names)-1] != e.name {
			names = append(names, e.name)
		}
	}
	if strings.Join(names, " ") != "references token done" {
		t.Errorf("events %v", names)
	}
	done := decode[struct {
		Turn       int             `json:"turn"`
		TurnID     string          `json:"turn_id"`
		Text       string          `json:"text"`
		References []testReference `json:"references"`
	}](t, all[len(all)-1].data)
	if done.Turn != 2 || done.Text != "Again [1]." || len(done.References) != 1 {
		t.Errorf("done %+v", done)
	}
	// The finished turn, watched again, tells the same; from the last event on, only its end.
	_, body = s.get(c, "/ai-answers/turns/"+done.TurnID+"/events", "Accept", "text/event-stream")
	if again := events(t, body); again[len(again)-1].data != all[len(all)-1].data {
		t.Errorf("watched again: %v", again)
	}
	// HEAD has the header of the stream and does not wait for more, on the same connection.
	for path, status := range map[string]int{done.TurnID: 200, "0123": 404} {
		req, err := http.NewRequest(http.MethodHead, s.url+"/ai-answers/turns/"+path+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != status || (status == 200) != (res.Header.Get("Content-Type") == "text/event-stream; charset=utf-8") {
			t.Errorf("HEAD: %s, %s", res.Status, res.Header.Get("Content-Type"))
		}
	}
	_, body = s.get(c, "/ai-answers/turns/"+done.TurnID+"/events", "Accept", "text/event-stream", "Last-Event-ID", all[len(all)-2].id)
	if rest := events(t, body); len(rest) != 1 || rest[0].name != "done" {
		t.Errorf("resumed: %v", rest)
	}
	// A page that watches gets frames, whatever it saw before.
	res, body = s.get(c, "/ai-answers/turns/"+done.TurnID+"/events?as=html", "HX-Request", "true")
	frames := events(t, body)
	if len(frames) != 2 || frames[1].name != "done" || frames[0].name != "" || !strings.Contains(frames[0].data, "Again") {
		t.Errorf("frames: %v", frames)
	}
	if res.Header.Get("X-Accel-Buffering") != "no" || !strings.Contains(res.Header.Get("Cache-Control"), "no-transform") {
		t.Errorf("headers %v", res.Header)
	}

	res, body = ask(`{"agent":"site","question":"When is the shop open?"}`)
	if res.StatusCode != 500 || strings.Contains(body, "SECRET") || strings.Contains(body, "bad key") {
		t.Errorf("failed model: %d %s", res.StatusCode, body)
	}
	s.stop()
	if strings.Contains(s.output.String(), "SECRET") || strings.Contains(s.output.String(), "winter?") {
		t.Error("the log holds a key or a question")
	}

}

func TestAnswerAPIRefusals(t *testing.T) {
	s := serveSite(t, nil)
	c := client(t)
	token := s.token(c)
	for _, tt := range []struct {
		name   string
		body   string
		header []string
		status int
	}{
		{"no token", `{"agent":"site","question":"x"}`, []string{"Content-Type", asJSON}, 403},
		{"wrong token", `{"agent":"site","question":"x"}`, []string{"Content-Type", asJSON, "X-CSRF-Token", "0123"}, 403},
		{"forged origin does not replace a token", `{"agent":"site","question":"x"}`, []string{"Content-Type", asJSON, "Sec-Fetch-Site", "same-origin"}, 403},
		{"empty question", `{"agent":"site","question":"  \n "}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 400},
		{"not JSON", `{"agent":`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 400},
		{"two objects", `{"agent":"site","question":"a"}{}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 400},
		{"wrong type", `{"agent":"site","question":7}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 400},
		{"unknown agent", `{"agent":"nobody","question":"x"}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 400},
		{"unknown conversation", `{"agent":"site","question":"x","conversation_id":"abc"}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 404},
		{"long question", `{"agent":"site","question":"` + strings.Repeat("x", 2001) + `"}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 400},
		{"huge body", `{"agent":"site","question":"` + strings.Repeat("x", 80<<10) + `"}`, []string{"Content-Type", asJSON, "X-CSRF-Token", token}, 413},
		{"other type", `question=x`, []string{"Content-Type", "text/plain", "X-CSRF-Token", token}, 415},
		{"form from elsewhere", `agent=site&question=x`, []string{"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site"}, 403},
		{"form from elsewhere by origin", `agent=site&question=x`, []string{"Content-Type", "application/x-www-form-urlencoded", "Origin", "https://evil.example"}, 403},
	} {
		for _, accept := range []string{"*/*", "text/event-stream"} { // before a stream starts, errors have a status
			res, body := s.do(c, "POST", "/ai-answers/question", tt.body, append(tt.header, "Accept", accept)...)
			if res.StatusCode != tt.status {
				t.Errorf("%s (%s): %d, want %d: %s", tt.name, accept, res.StatusCode, tt.status, body)
			}
			if tt.header[1] == asJSON && !strings.Contains(body, `"message"`) {
				t.Errorf("%s: no message in %s", tt.name, body)
			}
		}
	}
	res, _ := s.get(c, "/ai-answers/question")
	if res.StatusCode != 404 && res.StatusCode != 405 {
		t.Errorf("a GET: %d", res.StatusCode)
	}
	res, _ = s.get(c, "/ai-answers/turns/0123/events", "Accept", "text/event-stream")
	if res.StatusCode != 404 {
		t.Errorf("an unknown turn: %d", res.StatusCode)
	}
}

// After kill -9 in mid-answer no turn is lost and none runs, and the page says
// what happened and offers to ask again.
func TestKilledInMidAnswer(t *testing.T) {
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			env := map[string]string{"DOCENT_DATA": t.TempDir()}
			if database == "postgres" {
				env["DATABASE_URL"] = dbtest.PostgresURL(t)
			}
			never := make(chan struct{})
			reply := llmtest.Stream("Half an answer [1].\n\n", "More.")
			reply.Pieces = reply.Pieces[:2]
			reply.Hold = never
			model := llmtest.NewFakeOpenAI(reply, llmtest.Stream("Whole [1]."))
			defer model.Close()
			env["DOCENT_MODEL_URL"], env["DOCENT_MODEL"] = model.URL, "fake"

			program := exec.Command(os.Args[0], "serve")
			program.Env = append(os.Environ(), "DOCENT_TEST_AS_PROGRAM=1", "DOCENT_LISTEN=127.0.0.1:0")
			for k, v := range env {
				program.Env = append(program.Env, k+"="+v)
			}
			out, err := program.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := program.Start(); err != nil {
				t.Fatal(err)
			}
			defer program.Process.Kill()
			s := &testSite{t: t}
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if m := readyLine.FindStringSubmatch(lines.Text()); m != nil {
					s.url = m[1]
					break
				}
			}
			if s.url == "" {
				t.Fatal("the program did not start")
			}
			c := client(t)
			req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/ai-answers/question", strings.NewReader(`{"agent":"site","question":"When is the garden open?"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", asJSON)
			req.Header.Set("X-CSRF-Token", s.token(c))
			req.Header.Set("Accept", "text/event-stream")
			res, err := c.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			turn := regexp.MustCompile(`/turns/(\w+)/`).FindStringSubmatch(res.Header.Get("Content-Location"))[1]
			for lines := bufio.NewScanner(res.Body); lines.Scan(); {
				if strings.Contains(lines.Text(), "Half an answer") {
					break
				}
			}
			untilStored(t, env, turn)
			if err := program.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			program.Wait()

			s = serveSite(t, env)
			_, body := s.get(c, "/ai-answers/turns/"+turn+"/events", "Accept", "text/event-stream")
			all := events(t, body)
			if last := all[len(all)-1]; last.name != "error" {
				t.Fatalf("the turn ended with %v", last)
			}
			stored := conversationOf(t, s, c, turn)
			page := parse(t, stored)
			if page.Find("[data-docent-state=interrupted]").Length() != 1 || page.Find("[data-docent-stream]").Length() != 0 {
				t.Errorf("the page shows %s", page.Find("main").Text())
			}
			if !strings.Contains(page.Find(".d-turn__body").Text(), "Half an answer") {
				t.Error("the text that was written is lost")
			}
			if page.Find(".d-turn__end form input[name=question]").AttrOr("value", "") != "When is the garden open?" {
				t.Error("the page does not offer to ask again")
			}
		})
	}
}

// untilStored waits for the program to have put the text so far into its database,
// which it does every second.
func untilStored(t *testing.T, env map[string]string, turn string) {
	t.Helper()
	d, err := db.Open(t.Context(), env["DATABASE_URL"], env["DOCENT_DATA"])
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(20 * time.Second); ; {
		var text string
		if err := d.Get(t.Context(), &text, "select text from turns where id = ?", turn); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the text so far is never stored")
		}
	}
}

// conversationOf finds the page of a turn's conversation through the frames that
// a page would get.
func conversationOf(t *testing.T, s *testSite, c *http.Client, turn string) string {
	t.Helper()
	_, body := s.get(c, "/ai-answers/turns/"+turn+"/events?as=html", "HX-Request", "true")
	doc := parse(t, events(t, body)[0].data)
	id := doc.Find("input[name=conversation_id]").First().AttrOr("value", "")
	res, page := s.get(c, "/ai-answers/conversations/"+id, "Accept", "text/html")
	if res.StatusCode != 200 {
		t.Fatalf("conversation %q: %d", id, res.StatusCode)
	}
	return page
}
