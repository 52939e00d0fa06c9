package static

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

func get(t *testing.T, method, target string, header map[string]string) *http.Response {
	t.Helper()
	req := httptest.NewRequest(method, "http://site.example/", nil)
	req.URL.Path = target
	for k, v := range header {
		req.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	Handler().ServeHTTP(rec, req)
	return rec.Result()
}

func body(t *testing.T, res *http.Response) []byte {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestURLIsHashedAndServed(t *testing.T) {
	hashed := regexp.MustCompile(`^/static/.+\.[0-9a-f]{12}\.[a-z0-9]+$`)
	for name, media := range map[string]string{
		"css/docent.css":            "text/css; charset=utf-8",
		"css/admin.css":             "text/css; charset=utf-8",
		"js/docent.js":              "text/javascript; charset=utf-8",
		"vendor/htmx/htmx.min.js":   "text/javascript; charset=utf-8",
		"vendor/htmx/hx-sse.min.js": "text/javascript; charset=utf-8",
		"img/icon.svg":              "image/svg+xml",
		"vendor/fonts/newsreader-latin-600-normal.woff2": "font/woff2",
	} {
		url := URL(name)
		if !hashed.MatchString(url) || path.Ext(url) != path.Ext(name) {
			t.Errorf("URL(%q) = %q", name, url)
		}
		res := get(t, http.MethodGet, url, nil)
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != media {
			t.Errorf("%s: status %d, type %q", url, res.StatusCode, res.Header.Get("Content-Type"))
		}
		if got := res.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("%s: Cache-Control %q", url, got)
		}
		if got := res.Header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", url, got)
		}
		if len(body(t, res)) == 0 {
			t.Errorf("%s is empty", url)
		}
	}
}

func TestURLPanicsOnUnknownName(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	URL("css/none.css")
}

func TestGzip(t *testing.T) {
	url := URL("css/docent.css")
	plain := body(t, get(t, http.MethodGet, url, nil))
	res := get(t, http.MethodGet, url, map[string]string{"Accept-Encoding": "br, gzip;q=0.8"})
	if res.Header.Get("Content-Encoding") != "gzip" || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Fatalf("headers %v", res.Header)
	}
	zr, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(unzipped, plain) {
		t.Error("the compressed body differs from the plain one")
	}
	for _, refused := range []string{"gzip;q=0", "gzip; q=0.000", "br", "identity"} {
		if res := get(t, http.MethodGet, url, map[string]string{"Accept-Encoding": refused}); res.Header.Get("Content-Encoding") != "" {
			t.Errorf("Accept-Encoding %q got %q", refused, res.Header.Get("Content-Encoding"))
		}
	}
	font := get(t, http.MethodGet, URL("vendor/fonts/newsreader-latin-600-normal.woff2"), map[string]string{"Accept-Encoding": "gzip"})
	if font.Header.Get("Content-Encoding") != "" {
		t.Error("a font is compressed twice")
	}
}

func TestConditionalAndHead(t *testing.T) {
	url := URL("js/docent.js")
	etag := get(t, http.MethodGet, url, nil).Header.Get("ETag")
	if res := get(t, http.MethodGet, url, map[string]string{"If-None-Match": etag}); res.StatusCode != http.StatusNotModified {
		t.Errorf("If-None-Match: status %d", res.StatusCode)
	}
	zipped := get(t, http.MethodGet, url, map[string]string{"Accept-Encoding": "gzip"}).Header.Get("ETag")
	if zipped == etag || zipped == "" {
		t.Errorf("ETag %q for both encodings", zipped)
	}
	if res := get(t, http.MethodHead, url, nil); res.StatusCode != http.StatusOK || len(body(t, res)) != 0 {
		t.Errorf("HEAD: status %d", res.StatusCode)
	}
	if res := get(t, http.MethodPost, url, nil); res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: status %d, Allow %q", res.StatusCode, res.Header.Get("Allow"))
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for _, target := range []string{
		"/static/", "/static", "/", "/static/css/docent.css", "/static/css/tokens.css", "/static/css/docent.000000000000.css",
		"/static/../static.go", "/static/../../go.mod", "/static/js/../js/docent.js", "/static//js/docent.js", "/static/vendor/fonts/", "/static/js/docent/base.js",
		"/static/vendor/fonts/LICENSE-fontsource-newsreader.txt", "/static/%2e%2e/static.go", "/static/\x00",
	} {
		if res := get(t, http.MethodGet, target, nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("%q: status %d", target, res.StatusCode)
		}
	}
}

func TestStyleSheetsNameExistingFiles(t *testing.T) {
	refs := regexp.MustCompile(`url\("?([^")]+)"?\)`)
	for _, name := range []string{"css/docent.css", "css/admin.css"} {
		sheet := string(body(t, get(t, http.MethodGet, URL(name), nil)))
		for _, m := range refs.FindAllStringSubmatch(sheet, -1) {
			if res := get(t, http.MethodGet, m[1], nil); res.StatusCode != http.StatusOK {
				t.Errorf("%s refers to %s: status %d", name, m[1], res.StatusCode)
			}
		}
		if strings.Contains(sheet, "@import") {
			t.Errorf("%s imports another sheet", name)
		}
	}
}

func TestEverySheetIsInABundle(t *testing.T) {
	bundled := map[string]bool{}
	for _, parts := range bundles {
		for _, part := range parts {
			bundled[part] = true
		}
	}
	sheets, err := fs.Glob(files, "css/*.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, sheet := range sheets {
		if !bundled[sheet] {
			t.Errorf("%s is in no bundle", sheet)
		}
	}
}

// Physical sides would be wrong in text that runs from right to left.
func TestLogicalPropertiesOnly(t *testing.T) {
	physical := regexp.MustCompile(`(?m)^\s*(?:margin|padding|border)-(?:left|right|top|bottom)|(?:^|[\s;{])(?:left|right|top|bottom|width|height|min-width|max-width|min-height|max-height)\s*:|text-align:\s*(?:left|right)|float:\s*(?:left|right)`)
	comments := regexp.MustCompile(`(?s)/\*.*?\*/`)
	sheets, err := fs.Glob(files, "css/*.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, sheet := range sheets {
		data, err := fs.ReadFile(files, sheet)
		if err != nil {
			t.Fatal(err)
		}
		// Comments are blanked line by line, so that the numbers stay right.
		plain := comments.ReplaceAllStringFunc(string(data), func(c string) string {
			return strings.Repeat("\n", strings.Count(c, "\n"))
		})
		for i, line := range strings.Split(plain, "\n") {
			if strings.Contains(line, "@media") {
				continue
			}
			if physical.MatchString(line) {
				t.Errorf("%s:%d: physical property: %s", sheet, i+1, strings.TrimSpace(line))
			}
		}
	}
}

func TestPublicPageIsLight(t *testing.T) {
	const limit = 60_000
	total := 0
	for _, name := range []string{"css/docent.css", "js/docent.js", "vendor/htmx/htmx.min.js", "vendor/htmx/hx-sse.min.js"} {
		res := get(t, http.MethodGet, URL(name), map[string]string{"Accept-Encoding": "gzip"})
		n := len(body(t, res))
		t.Logf("%s: %d bytes compressed", name, n)
		total += n
	}
	if total > limit {
		t.Errorf("styles and scripts of a public page are %d bytes compressed, limit %d", total, limit)
	}
}

func TestScriptNeedsNoEval(t *testing.T) {
	data := body(t, get(t, http.MethodGet, URL("js/docent.js"), nil))
	if !bytes.HasPrefix(data, []byte("(() => {\n\"use strict\";\n")) {
		t.Error("docent.js declares things for the whole page")
	}
	for _, banned := range []string{"eval(", "new Function", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "setAttribute(\"style\""} {
		if bytes.Contains(data, []byte(banned)) {
			t.Errorf("docent.js uses %s", banned)
		}
	}
}

func TestMissingReferenceIsAnError(t *testing.T) {
	fsys := fstest.MapFS{"css/a.css": {Data: []byte(`a { background: url("../img/none.svg"); }`)}}
	_, err := build(fsys, map[string][]string{"css/a.css": {"css/a.css"}})
	if err == nil || !strings.Contains(err.Error(), "none.svg") {
		t.Errorf("error %v does not name the missing file", err)
	}
	if _, err := build(fsys, map[string][]string{"css/b.css": {"css/b.css"}}); err == nil {
		t.Error("no error for a bundle of a missing file")
	}
}
