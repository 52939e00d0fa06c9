package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// publicBudget is how many bytes of styles and scripts a public page may load,
// compressed.
const publicBudget = 60 << 10

// watchPage notes what moves and what is refused from the moment a page opens.
const watchPage = `new Promise(done => {
	let shift = 0
	new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) shift += e.value }).observe({type: "layout-shift", buffered: true})
	const settled = () => setTimeout(() => {
		const files = performance.getEntriesByType("resource")
		done(JSON.stringify({
			shift,
			foreign: files.filter(f => new URL(f.name).origin !== location.origin).map(f => f.name),
			bytes: files.filter(f => /\.(css|js)$/.test(new URL(f.name).pathname)).reduce((n, f) => n + f.encodedBodySize, 0),
			pictures: [...document.images].filter(i => !i.getAttribute("width") || !i.getAttribute("height")).map(i => i.src),
			broken: [...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src),
			wide: document.documentElement.scrollWidth > innerWidth,
		}))
	}, 300)
	document.readyState === "complete" ? settled() : addEventListener("load", settled)
})`

// Public pages hold still while they load, take little, load nothing from
// elsewhere and break no rule of their own.
func TestPublicPagesInBrowser(t *testing.T) {
	s := serveSite(t, map[string]string{})
	for _, screen := range []screen{desktop, phone} {
		t.Run(screen.name, func(t *testing.T) {
			ctx := browser(t, screen.width, screen.height)
			messages := chromedp.Console(ctx)
			complaints := make(chan string, 100)
			go func() {
				for m, err := range messages {
					if err != nil {
						return
					}
					complaints <- fmt.Sprint(m)
				}
			}()
			for name, path := range publicPages(t, s) {
				do(t, ctx, chromedp.Navigate(s.url+path))
				text, err := chromedp.Run(ctx, chromedp.Evaluate[string](watchPage, chromedp.EvalAwaitPromise))
				if err != nil {
					t.Fatal(err)
				}
				var seen struct {
					Shift                     float64
					Foreign, Pictures, Broken []string
					Bytes                     int
					Wide                      bool
				}
				if err := json.Unmarshal([]byte(text), &seen); err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: moved %.4f, %d bytes of styles and scripts", path, seen.Shift, seen.Bytes)
				if seen.Shift > 0.05 || len(seen.Foreign)+len(seen.Pictures)+len(seen.Broken) > 0 || seen.Wide {
					t.Errorf("%s: %s", path, text)
				}
				if seen.Bytes == 0 || seen.Bytes > publicBudget {
					t.Errorf("%s loads %d bytes of styles and scripts", path, seen.Bytes)
				}
				shot(t, ctx, name)
				select {
				case m := <-complaints:
					if name != "missing" {
						t.Errorf("%s: %s", path, m)
					}
				default:
				}
			}
		})
	}
}

// publicPages finds a page of every kind on the demo site.
func publicPages(t *testing.T, s *testSite) map[string]string {
	t.Helper()
	pages := map[string]string{
		"front": "/", "section": "/visit/", "news": "/news/", "events": "/events/", "topics": "/topics/", "search": "/search?q=opening+hours",
		"nothing": "/search?q=zzzqqq", "missing": "/visit/opening-hour/", "arabic": "/ar/",
	}
	c := client(t)
	for name, path := range pages {
		if res, _ := s.get(c, path); res.StatusCode != http.StatusOK && name != "missing" {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	return pages
}

// A slowFonts is the site behind a line on which fonts come only when they are let
// through, and every time anew.
type slowFonts struct {
	url  string
	mu   sync.Mutex
	hold chan struct{} // closed when fonts may come, nil for never
}

func serveSlowFonts(t *testing.T, site string) *slowFonts {
	t.Helper()
	target, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	f := &slowFonts{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(res *http.Response) error {
			if strings.HasSuffix(res.Request.URL.Path, ".woff2") {
				res.Header.Set("Cache-Control", "no-store")
			}
			return nil
		},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".woff2") {
			f.mu.Lock()
			hold := f.hold
			f.mu.Unlock()
			select {
			case <-hold:
			case <-r.Context().Done():
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// holdBack lets no font through until the function that it returns is called.
func (f *slowFonts) holdBack() (letThrough func()) {
	hold := make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hold = hold
	return func() { close(hold) }
}

// Text that was painted before its fonts came hardly moves when they do.
func TestLateFontsMoveLittle(t *testing.T) {
	s := serveSite(t, map[string]string{})
	fonts := serveSlowFonts(t, s.url)
	const ours = `[...document.fonts].filter(f => /^"?(Noto Sans|Newsreader)"?$/.test(f.family))`
	for _, screen := range []screen{desktop, phone} {
		t.Run(screen.name, func(t *testing.T) {
			ctx := browser(t, screen.width, screen.height)
			for _, path := range []string{"/", "/es/", "/visit/", "/visit/opening-hours/", "/news/", "/search?q=opening+hours"} {
				letThrough := fonts.holdBack()
				script[bool](t, ctx, fmt.Sprintf("location.assign(%q), true", fonts.url+path))
				until(t, ctx, fmt.Sprintf(`location.href === %q && performance.getEntriesByName("first-contentful-paint").length`, fonts.url+path))
				if os.Getenv("CI") == "" && !script[bool](t, ctx, `[...document.fonts].some(f => f.family.includes("Noto Sans for") && f.status === "loaded")`) {
					letThrough()
					t.Skip("neither Arial nor what is as wide (fonts-liberation) nor Roboto is there to stand in")
				}
				if n := script[int](t, ctx, ours+`.filter(f => f.status === "loading").length`); n < 2 {
					t.Errorf("%s: %d fonts are late", path, n)
				}
				letThrough()
				text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.fonts.ready.then(() => "+watchPage+")", chromedp.EvalAwaitPromise))
				if err != nil {
					t.Fatal(err)
				}
				var seen struct{ Shift float64 }
				if err := json.Unmarshal([]byte(text), &seen); err != nil {
					t.Fatal(err)
				}
				loaded := script[int](t, ctx, ours+`.filter(f => f.status === "loaded").length`)
				t.Logf("%s: moved %.4f", path, seen.Shift)
				if seen.Shift > 0.025 || loaded < 2 {
					t.Errorf("%s moved %.4f when %d fonts came", path, seen.Shift, loaded)
				}
			}
		})
	}
}
