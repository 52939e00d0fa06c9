package handlers

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"
)

// news adds two articles to the garden, one for members, and returns its topic.
func news(t *testing.T, s *testSite) {
	t.Helper()
	term := s.topic(t, "Frogs")
	s.save(t, content.Input{Bundle: "article", Title: "Frogs & toads", Path: "/news/frogs/", Date: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		Fields: content.Fields{"summary": "They <i>croak</i>.", "body": "See [the pond](/visit/).\n\n## Where\n\nEverywhere.", "topics": []any{term}}})
	s.save(t, content.Input{Bundle: "article", Title: "For members", Path: "/news/members/", Date: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
		Access: &content.Access{ViewRoles: []string{account.RoleAuthenticated}}, Fields: content.Fields{"body": "Secret.", "topics": []any{term}}})
}

func TestFeeds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		news(t, s)
		base := s.BaseURL.String()
		for path, want := range map[string]string{"/feed.xml": base + "/", "/news/feed.xml": base + "/news/", "/topics/frogs/feed.xml": base + "/topics/frogs/"} {
			res := s.browser().get(path)
			var f atomFeed
			if err := xml.Unmarshal([]byte(res.body), &f); err != nil || res.StatusCode != 200 || res.Header.Get("Content-Type") != atomKind {
				t.Fatalf("%s: %d %v\n%s", path, res.StatusCode, err, res.body)
			}
			if f.ID != want || f.Links[0].Href != base+path || f.Updated == "" || f.Title == "" {
				t.Errorf("%s: %+v", path, f)
			}
			i := slices.IndexFunc(f.Entries, func(e atomEntry) bool { return e.Title == "Frogs & toads" })
			if i < 0 || strings.Contains(res.body, "members") {
				t.Fatalf("%s has %v", path, f.Entries)
			}
			e := f.Entries[i]
			if e.Summary != "They <i>croak</i>." || !strings.Contains(e.Content.Text, `<a href="/visit/">`) || e.Published != "2026-03-01T09:00:00Z" ||
				e.Links[0].Href != base+"/news/frogs/" || !strings.HasPrefix(e.ID, base+"/node/") {
				t.Errorf("%s: %+v", path, e)
			}
			if again := s.browser().get(path, "If-None-Match", res.Header.Get("ETag")); again.StatusCode != 304 {
				t.Errorf("%s again: %d", path, again.StatusCode)
			}
		}
		for _, path := range []string{"/es/feed.xml"} {
			if res := s.browser().get(path); res.StatusCode != 200 || strings.Contains(res.body, "<entry>") {
				t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
			}
		}
		for path, want := range map[string]int{"/visit/the-pond/feed.xml": 404, "/nowhere/feed.xml": 404, "/visit/secret/feed.xml": 403} {
			if res := s.browser().get(path); res.StatusCode != want {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
		s.person("ada")
		if res := s.browser().login("ada").get("/feed.xml"); !strings.Contains(res.body, "For members") || !strings.HasPrefix(res.Header.Get("Cache-Control"), "private") {
			t.Errorf("a member's feed: %s", res.Header.Get("Cache-Control"))
		}
		_, doc := s.open("/news/")
		if got := doc.Find(`head link[type="application/atom+xml"]`).Map(func(_ int, l *goquery.Selection) string { return l.AttrOr("href", "") }); !slices.Equal(got, []string{"/feed.xml", "/news/feed.xml"}) {
			t.Errorf("feeds %q", got)
		}
	})
}

func TestSitemap(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		news(t, s)
		base := s.BaseURL.String()
		if _, err := s.Content.PutImported(t.Context(), []content.Imported{{
			Key: "external:https://x.example/", Origin: "external:https://x.example/", ParentPath: "/",
			Input: content.Input{Bundle: "external", Lang: "en", Title: "Elsewhere", Path: "/external/x.example/", State: content.Published,
				Access: &content.Access{}, Fields: content.Fields{"source_url": "https://x.example/", "body": "Text."}},
		}}, nil); err != nil {
			t.Fatal(err)
		}
		s.person("ada", account.RoleAdministrator)
		for _, who := range []*browser{s.browser(), s.browser().login("ada")} {
			res := who.get("/sitemap.xml").want(t, 200)
			type entry struct {
				Loc     string `xml:"loc"`
				LastMod string `xml:"lastmod"`
				Links   []struct {
					Lang string `xml:"hreflang,attr"`
					Href string `xml:"href,attr"`
				} `xml:"http://www.w3.org/1999/xhtml link"`
			}
			var m struct {
				URLs []entry `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
			}
			if err := xml.Unmarshal([]byte(res.body), &m); err != nil {
				t.Fatal(err)
			}
			byLoc := map[string]entry{}
			for _, u := range m.URLs {
				byLoc[u.Loc] = u
			}
			if pond := byLoc[base+"/visit/the-pond/"]; len(pond.Links) != 2 || pond.Links[1].Href != base+"/es/visit/pond/" || pond.LastMod == "" {
				t.Errorf("pond %+v", pond)
			}
			if _, ok := byLoc[base+"/"]; !ok || len(m.URLs) != 7+listSize+3 {
				t.Errorf("%d addresses", len(m.URLs))
			}
			for _, hidden := range []string{"secret", "draft", "members", "external"} {
				if strings.Contains(res.body, hidden) {
					t.Errorf("lists %s", hidden)
				}
			}
		}
		for path, want := range map[string]int{"/sitemap/1.xml": 200, "/sitemap/2.xml": 404, "/sitemap/0.xml": 404, "/sitemap/01.xml": 404, "/sitemap/x": 404} {
			if res := s.browser().get(path); res.StatusCode != want {
				t.Errorf("%s: %d", path, res.StatusCode)
			}
		}
		res := s.browser().get("/robots.txt").want(t, 200)
		for _, line := range []string{"Sitemap: " + base + "/sitemap.xml", "Disallow: /admin", "Disallow: /search", "Disallow: /es/search"} {
			if !strings.Contains(res.body, line+"\n") {
				t.Errorf("robots.txt lacks %q", line)
			}
		}
		_, doc := s.open("/external/x.example/")
		if doc.Find("link[rel=canonical]").AttrOr("href", "") != "https://x.example/" || doc.Find(`.notice a[href="https://x.example/"]`).Length() != 1 {
			t.Errorf("a copy does not lead to its original: %s", doc.Find("main").Text())
		}
	})
}

// jsonLD reads what a page says as schema.org data, by type.
func jsonLD(t *testing.T, doc *goquery.Document) map[string]map[string]any {
	t.Helper()
	out := map[string]map[string]any{}
	doc.Find(`script[type="application/ld+json"]`).Each(func(_ int, s *goquery.Selection) {
		var v map[string]any
		if err := json.Unmarshal([]byte(s.Text()), &v); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		out[v["@type"].(string)] = v
	})
	return out
}

func TestStructuredData(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		news(t, s)
		s.save(t, content.Input{Bundle: "event", Title: "Frog night </script><b>", Path: "/e/", Fields: content.Fields{
			"when": map[string]any{"from": "2026-06-01T20:00:00Z", "to": "2026-06-01T22:00:00Z"}, "place": "The pond"}})
		s.save(t, content.Input{Bundle: "faq", Title: "Questions", Path: "/questions/", Fields: content.Fields{
			"body": "Hello.\n\n## About frogs\n\n### Do frogs bite?\n\nNo, **never**.\n\n### Do toads?\n\nNo.\n\n- Not even\n- at night\n"}})
		base := s.BaseURL.String()

		_, doc := s.open("/news/frogs/")
		data := jsonLD(t, doc)
		if a := data["Article"]; a["headline"] != "Frogs & toads" || a["datePublished"] != "2026-03-01T09:00:00Z" || a["url"] != base+"/news/frogs/" {
			t.Errorf("article %v", a)
		}
		if list, _ := data["BreadcrumbList"]["itemListElement"].([]any); len(list) != 3 || list[1].(map[string]any)["item"] != base+"/news/" {
			t.Errorf("breadcrumb %v", data["BreadcrumbList"])
		}
		meta := func(name string) string {
			return doc.Find(`meta[property="og:`+name+`"]`).AttrOr("content", "")
		}
		if meta("title") != "Frogs & toads" || meta("type") != "article" || meta("url") != base+"/news/frogs/" || meta("description") != "They <i>croak</i>." {
			t.Errorf("Open Graph: %q %q %q", meta("title"), meta("type"), meta("url"))
		}
		_, doc = s.open("/e/")
		if e := jsonLD(t, doc)["Event"]; e["startDate"] != "2026-06-01T20:00:00Z" || e["endDate"] != "2026-06-01T22:00:00Z" || e["location"].(map[string]any)["name"] != "The pond" {
			t.Errorf("event %v", e)
		}
		if got := texts(doc.Find(".facts dt")); !slices.Equal(got, []string{"When", "Place"}) {
			t.Errorf("facts %q", got)
		}
		if got := strings.TrimSpace(doc.Find(".facts dd").First().Text()); got != "1 June 2026, 20:00–22:00" {
			t.Errorf("when %q", got)
		}
		_, doc = s.open("/questions/")
		faq, _ := jsonLD(t, doc)["FAQPage"]["mainEntity"].([]any)
		if len(faq) != 2 {
			t.Fatalf("questions %v", faq)
		}
		first := faq[0].(map[string]any)
		if answer := first["acceptedAnswer"].(map[string]any)["text"].(string); first["name"] != "Do frogs bite?" || !strings.Contains(answer, "<strong>never</strong>") || strings.Contains(answer, "toads") {
			t.Errorf("question %v", first)
		}
	})
}

func TestCompression(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		plain := s.browser().get("/visit/", "Accept-Encoding", "identity")
		zipped := s.browser().get("/visit/", "Accept-Encoding", "br, gzip;q=0.8")
		if plain.Header.Get("Content-Encoding") != "" || zipped.Header.Get("Content-Encoding") != "gzip" {
			t.Fatalf("%q %q", plain.Header.Get("Content-Encoding"), zipped.Header.Get("Content-Encoding"))
		}
		z, err := gzip.NewReader(strings.NewReader(zipped.body))
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(z); err != nil || string(body) != plain.body {
			t.Errorf("other bytes, %v", err)
		}
		if plain.Header.Get("ETag") == zipped.Header.Get("ETag") {
			t.Error("two encodings have one strong ETag")
		}
		for _, res := range []reply{plain, zipped} {
			if !strings.Contains(strings.Join(res.Header.Values("Vary"), ","), "Accept-Encoding") {
				t.Errorf("varies by %q", res.Header.Values("Vary"))
			}
		}
		again := s.browser().get("/visit/", "Accept-Encoding", "gzip", "If-None-Match", zipped.Header.Get("ETag"))
		if again.StatusCode != http.StatusNotModified || again.Header.Get("Content-Encoding") != "" || again.body != "" || again.Header.Get("ETag") != zipped.Header.Get("ETag") {
			t.Errorf("again: %d %v", again.StatusCode, again.Header)
		}
		s.person("ada", account.RoleAdministrator)
		ada := s.browser().login("ada")
		for _, path := range []string{"/admin/content", "/user", "/session/token", "/search?q=frogs"} {
			if res := ada.get(path, "Accept-Encoding", "gzip"); res.Header.Get("Content-Encoding") != "" {
				t.Errorf("%s is compressed", path)
			}
		}
	})
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "gzip;q=0": false, "gzip; q=0.0": false, "gzip;q=0.1": true, "deflate, br": false, "*": true,
		"*;q=0": false, "gzip;q=0, *": false, "br;q=1.0, gzip;q=0.8, *;q=0.1": true,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}
