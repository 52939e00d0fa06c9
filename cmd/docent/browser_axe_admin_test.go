package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// Things of one kind have pages of one kind: an id or a name stands for all.
var (
	adminID   = regexp.MustCompile(`/[0-9a-f]{8}-[0-9a-f-]{27,}`)
	adminName = regexp.MustCompile(`/(types|vocabularies|terms|menus|formats|agents|contexts|roles|languages|fields|displays|add|blocks|components)/([^/?]+)`)
)

func adminKind(path string) string {
	path, _, _ = strings.Cut(path, "?")
	path = adminID.ReplaceAllString(path, "/*")
	return adminName.ReplaceAllStringFunc(path, func(m string) string {
		parts := strings.Split(m, "/")
		if parts[2] == "new" || parts[2] == "add" || parts[2] == "*" {
			return m
		}
		return "/" + parts[1] + "/*"
	})
}

// adminPages follows the links of the administration to a page of every kind.
func adminPages(t *testing.T, s *testSite, c *http.Client) []string {
	t.Helper()
	found := map[string]string{}
	queue := []string{"/admin", "/user"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		res, body := s.get(c, path, "Accept", "text/html")
		if res.StatusCode == http.StatusSeeOther || res.StatusCode == http.StatusFound {
			queue = append(queue, res.Header.Get("Location"))
			continue
		}
		if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			continue
		}
		kind := adminKind(path)
		if _, seen := found[kind]; seen {
			continue
		}
		found[kind] = path
		parse(t, body).Find("main a[href], nav a[href]").Each(func(_ int, a *goquery.Selection) {
			u, err := url.Parse(a.AttrOr("href", ""))
			if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/admin") && !strings.HasPrefix(u.Path, "/user") {
				return
			}
			to := u.Path
			if u.RawQuery != "" {
				to += "?" + u.RawQuery
			}
			if _, seen := found[adminKind(to)]; !seen {
				queue = append(queue, to)
			}
		})
	}
	return slices.SortedFunc(maps.Values(found), func(a, b string) int { return cmp.Compare(adminKind(a), adminKind(b)) })
}

// Every page of the administration, its forms among them.
func TestAxeAdministration(t *testing.T) {
	s := serveSite(t, map[string]string{"DOCENT_ADMIN_PASSWORD": "correct horse battery", "DOCENT_CONFIG_WRITABLE": "on"})
	c, token := s.signIn()
	s.do(c, "POST", "/ai-answers/question", `{"agent":"site","question":"When is the garden open in winter?"}`, "Content-Type", asJSON, "X-CSRF-Token", token)
	pages := adminPages(t, s, c)
	t.Logf("%d kinds of page", len(pages))
	if len(pages) < 40 {
		t.Errorf("only %d kinds of page were found: %v", len(pages), pages)
	}
	const atOnce = 12 // a browser has a limit of time
	for part := range slices.Chunk(pages, atOnce) {
		t.Run(fmt.Sprint(adminKind(part[0])), func(t *testing.T) {
			ctx := browser(t, desktop.width, desktop.height)
			s.takeSession(ctx, c)
			for i, path := range part {
				emulate(t, ctx, "prefers-color-scheme", []string{"light", "dark"}[i%2])
				desktop.show(t, ctx)
				on(t, ctx, s.url+path)
				if script[bool](t, ctx, "location.pathname.startsWith('/user/login')") {
					t.Fatalf("%s asks to sign in", path)
				}
				axe(t, ctx, path)
				for _, screen := range []screen{small, zoomed, phone} {
					screen.show(t, ctx)
					reflow(t, ctx, path+" "+screen.name)
				}
				axe(t, ctx, path+" phone")
			}
		})
	}
}
