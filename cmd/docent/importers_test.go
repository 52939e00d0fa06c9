package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"docent/db/dbtest"
)

// What importers bring is on the site, found by search, and cited with the
// original's address.
func TestImportersEndToEnd(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/sitemap.xml":
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/lighthouse</loc></url></urlset>", r.Host)
		case "/lighthouse":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<!doctype html><html lang=en><body><h1>The lighthouse</h1><article><p>%s</p></article></body></html>",
				strings.Repeat("The lighthouse keeper climbs two hundred steps every evening to light the lamp. ", 8))
		default:
			http.NotFound(w, r)
		}
	}))
	defer elsewhere.Close()
	for _, database := range []string{"sqlite", "postgres"} {
		t.Run(database, func(t *testing.T) {
			env := map[string]string{"DOCENT_DEMO": "off", "DOCENT_DATA": t.TempDir()}
			if database == "postgres" {
				env["DATABASE_URL"] = dbtest.PostgresURL(t)
			}
			command := func(args ...string) (string, error) {
				t.Helper()
				return docent(t, "", func(name string) string { return env[name] }, args...)
			}
			must := func(args ...string) string {
				t.Helper()
				out, err := command(args...)
				if err != nil {
					t.Fatalf("%v: %v\n%s", args, err, out)
				}
				return out
			}
			if out := must("import", "-wxr", "../../internal/importer/wxr/testdata/mill.xml"); !strings.Contains(out, "6 added") {
				t.Error(out)
			}
			if _, err := command("import", "-sitemap", elsewhere.URL); err == nil || !strings.Contains(err.Error(), "private address") {
				t.Errorf("read a private address: %v", err)
			}
			if out := must("import", "-crawl-private=on", "-sitemap", elsewhere.URL, "-every", "24"); !strings.Contains(out, "1 added") {
				t.Error(out)
			}
			if out := must("import", "-crawl-private=on", "-sitemap", elsewhere.URL); !strings.Contains(out, "1 unchanged") {
				t.Error(out)
			}
			for _, bad := range [][]string{{"import"}, {"import", "-wxr", t.TempDir()}, {"import", "-wxr", "x.xml", "-sitemap", "https://a.example"}, {"import", "-sitemap", "nonsense"}} {
				if _, err := command(bad...); err == nil {
					t.Errorf("%v did not fail", bad)
				}
			}

			s := serveSite(t, env)
			c := client(t)
			if _, body := s.get(c, "/visit/"); !strings.Contains(body, "Come by boat.") {
				t.Error("no page of the export")
			}
			if _, body := s.get(c, "/search?q=lighthouse+keeper"); !strings.Contains(body, `href="`+elsewhere.URL+`/lighthouse"`) {
				t.Error("search does not lead to the original")
			}
			_, body := s.do(c, http.MethodPost, "/ai-answers/question", `{"agent":"site","question":"How many steps does the lighthouse keeper climb?"}`,
				"Content-Type", "application/json", "Accept", "application/json", "X-CSRF-Token", s.token(c))
			if !strings.Contains(body, elsewhere.URL+"/lighthouse") || !strings.Contains(body, "two hundred steps") {
				t.Errorf("answer: %s", body)
			}
		})
	}
}
