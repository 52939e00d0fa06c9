package handlers

import (
	"bytes"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"golang.org/x/net/html"

	"docent/components"
	"docent/db/dbtest"
	"docent/internal/benchtest"
	"docent/views"
)

// benchShell is the page with the three blocks, of data that is ready. With 40
// entries in each menu it is about as large as a page of an ordinary site.
func benchShell() views.AnswersPage {
	const id = "ai-answers-answer-site"
	p := views.AnswersPage{Title: "Answers", Site: views.Site{Lang: "en", HomeURL: "/", SiteName: "The library", Tagline: "Open to all"}}
	for i := range 40 {
		l := components.Link{Label: fmt.Sprintf("Opening hours of branch %d", i), URL: fmt.Sprintf("/visit/branch-%d/", i)}
		p.Site.Menu, p.Site.FooterLinks = append(p.Site.Menu, l), append(p.Site.FooterLinks, l)
	}
	p.Main = []components.BlockProps{
		{Question: &components.QuestionProps{ID: "site-question", Action: questionURL, AnswerID: id, Label: "Ask the library", Note: "Answers come from this site.", Limit: 500, Lang: "en",
			Suggestions: []string{"When do you open?", "What does a card cost?", "How many books may I borrow?"}}},
		{Answer: &components.AnswerProps{ID: id}},
		{Sources: &components.SourceListProps{ID: "site-sources", AnswerID: id}},
	}
	return p
}

// asTemplate makes an html/template of a page: every text and every address is a
// value.
func asTemplate(t *testing.T, page []byte) (*template.Template, []string) {
	t.Helper()
	var src strings.Builder
	var values []string
	value := func(v string) string {
		values = append(values, v)
		return fmt.Sprintf("{{index . %d}}", len(values)-1)
	}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		token := z.Token()
		switch kind {
		case html.TextToken:
			if strings.TrimSpace(token.Data) == "" {
				src.WriteString(token.Data)
			} else {
				src.WriteString(value(token.Data))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			src.WriteString("<" + token.Data)
			for _, a := range token.Attr {
				switch a.Key {
				case "href", "src", "action", "aria-label", "value":
					fmt.Fprintf(&src, ` %s="%s"`, a.Key, value(a.Val))
				default:
					fmt.Fprintf(&src, ` %s="%s"`, a.Key, html.EscapeString(a.Val))
				}
			}
			src.WriteString(">")
		default:
			src.WriteString(token.String())
		}
	}
	parsed, err := template.New("page").Parse(src.String())
	if err != nil {
		t.Fatal(err)
	}
	return parsed, values
}

// TestBenchShell compares a page that everybody gets, asked for again and again,
// with rendering it each time. The sites' middleware is around all of them.
func TestBenchShell(t *testing.T) {
	benchtest.Only(t)
	s := newTestSite(t, dbtest.SQLite(t))
	s.echo.GET("/bench/shell", func(c echo.Context) error { return s.renderCacheable(c, views.Answers(benchShell())) }, s.keepShells)
	s.echo.GET("/bench/templ", func(c echo.Context) error {
		return rendered(c, views.Answers(benchShell()), func(b []byte) error { return c.HTMLBlob(http.StatusOK, b) })
	})
	get := func(path, etag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		w := httptest.NewRecorder()
		s.echo.ServeHTTP(w, r)
		return w
	}
	first := get("/bench/templ", "")
	page, values := asTemplate(t, first.Body.Bytes())
	s.echo.GET("/bench/template", func(c echo.Context) error {
		var b bytes.Buffer
		if err := page.Execute(&b, values); err != nil {
			return err
		}
		return c.HTMLBlob(http.StatusOK, b.Bytes())
	})
	side := func(path, etag string, status, least int) benchtest.Side {
		return func() float64 {
			return benchtest.CPUOf(func() {
				if w := get(path, etag); w.Code != status || w.Body.Len() < least {
					t.Fatalf("%s: %d with %d bytes", path, w.Code, w.Body.Len())
				}
			})
		}
	}
	size := first.Body.Len() * 9 / 10
	m := benchtest.Alternate(
		side("/bench/shell", "", http.StatusOK, size),
		side("/bench/shell", get("/bench/shell", "").Header().Get("ETag"), http.StatusNotModified, 0),
		side("/bench/templ", "", http.StatusOK, size),
		side("/bench/template", "", http.StatusOK, size))
	benchtest.Gate{ID: "B13", What: "a page for everybody: html/template / ours", AtLeast: 5, Stretch: 10}.
		Check(t, m[3]/m[0], "%.0f and %.0f us, %d bytes", m[3], m[0], first.Body.Len())
	benchtest.Gate{ID: "B13 304", What: "the same, unchanged: rendering with templ / ours", AtLeast: 4, Stretch: 8}.
		Check(t, m[2]/m[1], "%.0f and %.0f us", m[2], m[1])
}
