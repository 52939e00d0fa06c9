package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/content"
)

// statements counts what a page asks the database, for whoever has these cookies.
// What is read once and kept does not count, nor do caches that look once a second
// whether they are current: of several tries the least counts.
func (s *testSite) statements(t *testing.T, path string, cookies ...*http.Cookie) int64 {
	t.Helper()
	least := int64(1000)
	for range 4 {
		ctx, n := db.Counting(t.Context())
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r.Header.Set("Cache-Control", "no-cache") // not as it was made before
		for _, c := range cookies {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		s.echo.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d", path, w.Code)
		}
		least = min(least, n.Load())
	}
	return least
}

// A public page takes a few statements, and no more on a site with more pages.
func TestStatementsOfPages(t *testing.T) {
	paths := map[string]int64{"/": 16, "/visit/": 16, "/visit/the-pond/": 16, "/news/": 16, "/events/": 16, "/topics/frogs/": 16, "/news/frogs/": 16,
		"/feed.xml": 8, "/sitemap.xml": 2, "/search?q=frogs": 12}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newTestSite(t, d, bilingual(d))
		garden(t, s)
		news(t, s)
		term := s.topic(t, "Frogs")
		add := func(from, to int) {
			for i := from; i < to; i++ {
				s.save(t, content.Input{Bundle: "article", Title: fmt.Sprintf("Frogs %d", i), Path: fmt.Sprintf("/news/more-%d/", i),
					Fields: content.Fields{"summary": "Frogs.", "topics": []any{term}}})
				s.save(t, content.Input{Bundle: "event", Title: fmt.Sprintf("Night %d", i), Path: fmt.Sprintf("/events/e%d/", i),
					Fields: content.Fields{"when": map[string]any{"from": time.Now().UTC().AddDate(0, 0, i).Format(time.RFC3339)}}})
				s.save(t, content.Input{Title: fmt.Sprintf("Pond %d", i), Path: fmt.Sprintf("/visit/p%d/", i)})
			}
		}
		add(0, 3)
		few := map[string]int64{}
		for path := range paths {
			few[path] = s.statements(t, path)
		}
		add(3, 30)
		for path, most := range paths {
			n := s.statements(t, path)
			t.Logf("%s: %d statements", path, n)
			if n > few[path] {
				t.Errorf("%s takes %d statements, and took %d with fewer pages", path, n, few[path])
			}
			if n > most {
				t.Errorf("%s takes %d statements", path, n)
			}
		}
	})
}
