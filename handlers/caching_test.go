package handlers

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// What everybody gets of a page with the three blocks.
var shellPaths = []string{"/", "/visit/", "/answers", "/es/", "/es/visit/pond/", "/es/answers"}

// largestBlocks is how much the page with the three blocks alone may weigh, in bytes.
const largestBlocks = 16 << 10

// A page with blocks is byte for byte the same for all visitors, whatever they did
// before, in whatever way they ask for it.
func TestShellsAreTheSameForEverybody(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		front, err := s.Content.ByPath(t.Context(), account.Account{Roles: []string{account.RoleAdministrator}}, "en", "/")
		if err != nil {
			t.Fatal(err)
		}
		s.save(t, content.Input{Ref: front.Ref, Lang: "es", Title: "El jardín", Path: "/", SectionIndex: true})
		stranger, regular := s.browser(), s.browser()
		regular.get("/session/token").want(t, http.StatusOK)
		st := askedBy(t, s, regular)
		// No compression unless it is asked for.
		plain := []string{"Accept-Encoding", "identity"}
		for _, path := range shellPaths {
			first := stranger.get(path, plain...).want(t, http.StatusOK)
			etag := first.Header.Get("ETag")
			if !strings.HasPrefix(etag, `"`) || first.Header.Get("Cache-Control") != anyoneMayKeep || len(first.Cookies()) != 0 {
				t.Errorf("%s: %v", path, first.Header)
			}
			for _, name := range []string{"Cookie", "Accept-Encoding", "HX-Request"} {
				if !slices.Contains(first.Header.Values("Vary"), name) {
					t.Errorf("%s does not vary by %s: %v", path, name, first.Header.Values("Vary"))
				}
			}
			if strings.Contains(first.body, st) || !strings.Contains(first.body, `data-docent-block="question"`) && !strings.Contains(first.body, `data-docent-block="answer"`) {
				t.Errorf("%s has no blocks, or a visitor's conversation", path)
			}
			again := regular.get(path, append(plain, "Referer", s.url+"/news/", "User-Agent", "another")...).want(t, http.StatusOK)
			if again.body != first.body || again.Header.Get("ETag") != etag || len(again.Cookies()) != 0 {
				t.Errorf("%s differs for a visitor who asked before", path)
			}
			if r := regular.get(path, append(plain, "If-None-Match", etag)...).want(t, http.StatusNotModified); r.body != "" || r.Header.Get("Cache-Control") != anyoneMayKeep ||
				r.Header.Get("ETag") != etag || len(r.Cookies()) != 0 {
				t.Errorf("%s unchanged: %v %q", path, r.Header, r.body)
			}
			if r := stranger.send(http.MethodHead, path, "", plain...).want(t, http.StatusOK); r.body != "" || r.Header.Get("ETag") != etag {
				t.Errorf("HEAD %s: %v", path, r.Header)
			}
			zipped := stranger.get(path, "Accept-Encoding", "gzip").want(t, http.StatusOK)
			z, err := gzip.NewReader(bytes.NewReader([]byte(zipped.body)))
			if err != nil {
				t.Fatalf("%s: %v %v", path, zipped.Header, err)
			}
			if b, err := io.ReadAll(z); err != nil || string(b) != first.body {
				t.Errorf("%s is another page when compressed, %v", path, err)
			}
			if tag := zipped.Header.Get("ETag"); tag == etag || !strings.HasPrefix(tag, `"`) {
				t.Errorf("%s: two bodies have the tags %s and %s", path, etag, tag)
			} else {
				stranger.get(path, "Accept-Encoding", "gzip", "If-None-Match", tag).want(t, http.StatusNotModified)
				stranger.get(path, append(plain, "If-None-Match", tag)...).want(t, http.StatusOK)
			}
		}
		if r := stranger.get("/answers", plain...); len(r.body) > largestBlocks {
			t.Errorf("the page with the three blocks has %d bytes", len(r.body))
		} else {
			t.Logf("the page with the three blocks has %d bytes", len(r.body))
		}
		s.person("ada")
		ada := s.browser().login("ada")
		for _, path := range shellPaths {
			if r := ada.get(path, plain...).want(t, http.StatusOK); r.Header.Get("Cache-Control") != "private, no-cache" || len(r.Cookies()) != 0 {
				t.Errorf("%s of an account: %v", path, r.Header)
			}
		}
		// A language that a visitor chose leads the front page elsewhere, however
		// many got it as it is.
		stranger.get("/").want(t, http.StatusOK)
		regular.get("/language/es").want(t, http.StatusSeeOther)
		if r := regular.get("/").want(t, http.StatusFound); r.Header.Get("Location") != "/es/" {
			t.Errorf("the front page leads to %q", r.Header.Get("Location"))
		}
		stranger.get("/").want(t, http.StatusOK)
	})
}

// askedBy starts a conversation and returns its id.
func askedBy(t *testing.T, s *testSite, b *browser) string {
	t.Helper()
	r := b.submit(questionURL, url.Values{"question": {"Where are the frogs?"}, "agent": {"site"}, "lang": {"en"}}).want(t, http.StatusOK)
	var asked struct {
		ConversationID string `json:"conversation_id"`
	}
	if err := json.Unmarshal([]byte(r.body), &asked); err != nil || asked.ConversationID == "" {
		t.Fatalf("no conversation: %v %s", err, r.body)
	}
	return asked.ConversationID
}

// A page has another tag as soon as anything in it is another, and only then.
func TestShellsChangeWithWhatTheyShow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		tags := func() map[string]string {
			all := map[string]string{}
			for _, path := range shellPaths {
				all[path] = s.browser().get(path, "Accept-Encoding", "identity").want(t, http.StatusOK).Header.Get("ETag")
			}
			return all
		}
		before := tags()
		changes := func(what string, want ...string) {
			t.Helper()
			after := tags()
			for _, path := range shellPaths {
				if changed := after[path] != before[path]; changed != slices.Contains(want, path) {
					t.Errorf("%s: %s changed %v", what, path, changed)
				}
			}
			before = after
		}
		askedBy(t, s, s.browser())
		s.browser().get("/session/token")
		changes("a question")

		pond, err := s.Content.ByPath(t.Context(), account.Account{Roles: []string{account.RoleAdministrator}}, "en", "/visit/the-pond/")
		if err != nil {
			t.Fatal(err)
		}
		in := content.InputOf(pond)
		in.Menu, in.State = "main", content.Published
		s.save(t, in)
		changes("a menu entry", shellPaths...)

		all, err := config.All[config.Placement](t.Context(), s.Config)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(all, func(p config.Named[config.Placement]) bool { return p.Value.Answer != nil })
		p := all[i].Value
		p.Answer.Empty = map[string]string{"en": "Ask away."}
		if err := config.Put(t.Context(), s.Config, all[i].Name, p, ""); err != nil {
			t.Fatal(err)
		}
		changes("a block's text", "/answers")
	})
}
