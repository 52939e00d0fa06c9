package handlers

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

// A subject is one translation of a random entity.
type subject struct {
	content.Item
	word       string // stands in its text and nowhere else
	file       content.File
	translated bool // there is another translation, which references may lead to
}

// For random accounts and content, every way to read agrees with [content.CanView]:
// pages, lists, topics, search, feeds, the sitemap, references and files.
func TestAccessAgreesEverywhere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		seed := rand.Uint64()
		t.Logf("seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		files := t.TempDir()
		s := newTestSite(t, d, func(deps *Deps) {
			conf := deps.Config
			deps.Content = content.New(d, content.Options{
				Languages: func() []string { return []string{"en", "es"} }, FilesDir: files,
				Types: func(ctx context.Context) (*content.Types, error) { return content.LoadTypes(ctx, conf) },
			})
		})
		accounts := randomAccounts(t, s, r)
		subjects, refs := randomContent(t, s, r)
		visitor, err := s.Accounts.Anonymous(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range accounts {
			who := visitor
			if name != "" {
				rec, err := s.Accounts.ByName(t.Context(), name)
				if err != nil {
					t.Fatal(err)
				}
				if who, err = s.Accounts.Resolve(t.Context(), rec.ID); err != nil {
					t.Fatal(err)
				}
			}
			seen := everythingSeen(t, b)
			references := hrefs(b.get(refs).page(t).Find("main"))
			for _, it := range subjects {
				may := content.CanView(who, it.Item)
				public := may && it.Published
				what := fmt.Sprintf("%s (%s, published %v, for %v) for %q %v", it.Path, it.State, it.Published, it.ViewRoles, name, who.Permissions)
				if res := b.get(it.Path); (res.StatusCode == http.StatusOK) != may || !may && strings.Contains(res.body, it.word) {
					t.Errorf("page: %d for %s", res.StatusCode, what)
				}
				for _, where := range []string{"list", "topic", "feed"} {
					if seen[where][it.Path] != public {
						t.Errorf("%s: %v for %s", where, seen[where][it.Path], what)
					}
				}
				if found := strings.Contains(b.get("/search?q="+it.word).page(t).Find(".found").Text(), it.Title); found != public {
					t.Errorf("search: %v for %s", found, what)
				}
				if listed := seen["sitemap"][it.Path]; listed != (it.Published && content.CanView(visitor, it.Item)) {
					t.Errorf("sitemap: %v for %s", listed, what)
				}
				if !it.translated && references[it.Path] != may {
					t.Errorf("reference: %v for %s", references[it.Path], what)
				}
				if it.file.ID == "" {
					continue
				}
				for _, address := range []string{it.file.URL(), it.file.Derivative("card").URL} {
					status := b.get(address).StatusCode
					if public && status != http.StatusOK || !may && !who.Can(account.ViewUnpublished) && status == http.StatusOK {
						t.Errorf("file %s: %d for %s", address, status, what)
					}
				}
			}
		}
	})
}

// everythingSeen reads the lists of a site as addresses, by kind of list.
func everythingSeen(t *testing.T, b *browser) map[string]map[string]bool {
	t.Helper()
	seen := map[string]map[string]bool{"list": {}, "topic": {}, "feed": {}, "sitemap": {}}
	for kind, starts := range map[string][]string{"list": {"/s/", "/es/s/"}, "topic": {"/topics/access/", "/es/topics/access/"}} {
		for _, at := range starts {
			for at != "" {
				res := b.get(at)
				if res.StatusCode != http.StatusOK {
					break
				}
				doc := res.page(t)
				for path := range hrefs(doc.Find(".teasers")) {
					seen[kind][path] = true
				}
				at = doc.Find("a[rel=next]").AttrOr("href", "")
			}
		}
	}
	for _, at := range []string{"/s/feed.xml", "/es/s/feed.xml"} {
		var f atomFeed
		if res := b.get(at); res.StatusCode == http.StatusOK {
			if err := xml.Unmarshal([]byte(res.body), &f); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range f.Entries {
			seen["feed"][strings.TrimPrefix(e.Links[0].Href, b.site.BaseURL.String())] = true
		}
	}
	var m sitemapFile
	if err := xml.Unmarshal([]byte(b.get("/sitemap.xml").body), &m); err != nil {
		t.Fatal(err)
	}
	for _, u := range m.URLs {
		seen["sitemap"][strings.TrimPrefix(u.Loc, b.site.BaseURL.String())] = true
	}
	return seen
}

func hrefs(s *goquery.Selection) map[string]bool {
	out := map[string]bool{}
	s.Find("a[href]").Each(func(_ int, a *goquery.Selection) { out[a.AttrOr("href", "")] = true })
	return out
}

// randomAccounts makes roles that may some things, and accounts that have some
// roles. The name "" stands for visitors without an account.
func randomAccounts(t *testing.T, s *testSite, r *rand.Rand) map[string]*browser {
	t.Helper()
	possible := []account.Permission{
		account.ViewUnpublished, config.PermissionFor(config.OpViewUnpublished, "node", "article"), config.PermissionFor(config.OpViewUnpublished, "node", "page"),
		config.PermissionFor(config.OpEditAny, "node", "article"), account.EditContent,
	}
	for _, role := range []string{"red", "blue", "green"} {
		var granted []account.Permission
		for _, p := range possible {
			if r.IntN(4) == 0 {
				granted = append(granted, p)
			}
		}
		if err := config.Put(t.Context(), s.Config, role, config.Role{Label: role, Permissions: granted}, ""); err != nil {
			t.Fatal(err)
		}
	}
	out := map[string]*browser{"": s.browser()}
	for i := range 4 {
		var roles []string
		for _, role := range []string{"red", "blue", "green"} {
			if r.IntN(2) == 0 {
				roles = append(roles, role)
			}
		}
		name := fmt.Sprintf("person%d", i)
		s.person(name, roles...)
		out[name] = s.browser().login(name)
	}
	return out
}

// randomContent makes pages of every kind below /s/, and one that refers to all,
// whose address it returns.
func randomContent(t *testing.T, s *testSite, r *rand.Rand) (subjects []subject, refs string) {
	t.Helper()
	if err := config.Put(t.Context(), s.Config, "linker", config.ContentType{
		Label: "Linker", Entity: config.EntityNode, Workflow: true,
		Fields: []config.Field{{Name: "links", Label: "Links", Type: config.FieldReference, Cardinality: config.Unlimited, Settings: config.FieldSettings{Target: content.TypeNode}}},
		Views:  map[string][]config.ViewItem{config.ViewFull: {{Field: "links", Label: config.LabelAbove, Formatter: "link"}}},
	}, ""); err != nil {
		t.Fatal(err)
	}
	if err := config.Put(t.Context(), s.Config, "es", config.Language{Label: "Español"}, ""); err != nil {
		t.Fatal(err)
	}
	section := s.save(t, content.Input{Title: "Section", Path: "/s/", SectionIndex: true})
	es := content.Input{Title: "Sección", Lang: "es", Path: "/s/", SectionIndex: true}
	es.Ref = section.Ref
	s.save(t, es)
	term := s.topic(t, "Access")
	editor := account.Account{ID: "editor", Roles: []string{account.RoleAdministrator}, Permissions: map[account.Permission]bool{account.EditContent: true}}
	var links []any
	for i := range 20 {
		word := fmt.Sprintf("word%02d", i)
		bundle := []string{"page", "article"}[r.IntN(2)]
		state := []content.State{content.Published, content.Published, content.Draft, content.Archived}[r.IntN(4)]
		var roles []string
		for _, role := range []string{"red", "blue", account.RoleAuthenticated} {
			if r.IntN(4) == 0 {
				roles = append(roles, role)
			}
		}
		sub := subject{word: word}
		fields := content.Fields{"body": "A " + word + ".", "topics": []any{term}}
		if bundle == "article" {
			sub.file, fields["image"] = picture(t, s, editor, i)
		}
		in := content.Input{Bundle: bundle, Lang: "en", Title: "Title " + word, Path: fmt.Sprintf("/s/x%d/", i), Fields: fields, State: state, Access: &content.Access{ViewRoles: roles}}
		if state == content.Archived && r.IntN(2) == 0 {
			in.State = content.Published
		}
		it := s.save(t, in)
		if state != in.State {
			var err error
			if it, err = s.Content.SetState(t.Context(), editor, it.Ref, "en", state, ""); err != nil {
				t.Fatal(err)
			}
			s.reindex(t, it.ID)
		}
		links = append(links, it.ID)
		if state == content.Published && r.IntN(3) == 0 { // a newer draft beside it, that nobody finds
			draft := content.InputOf(it)
			draft.Fields = content.Fields{"body": "Not yet.", "topics": []any{term}, "image": fields["image"]}
			draft.Access = nil
			s.save(t, draft)
		}
		sub.Item = s.shown(t, it.Ref, "en")
		subjects = append(subjects, sub)
		if r.IntN(3) == 0 {
			state := []content.State{content.Published, content.Draft}[r.IntN(2)]
			es := content.Input{Lang: "es", Title: "Título " + word, Path: fmt.Sprintf("/s/es%d/", i), State: state, Fields: content.Fields{"body": "El otro" + word + ".", "topics": []any{term}}}
			es.Ref = it.Ref
			s.save(t, es)
			subjects = append(subjects, subject{Item: s.shown(t, it.Ref, "es"), word: "otro" + word, translated: true})
			original := &subjects[len(subjects)-2]
			original.Item, original.translated = s.shown(t, it.Ref, "en"), true
		}
	}
	s.save(t, content.Input{Bundle: "linker", Title: "Everything", Path: "/refs/", Fields: content.Fields{"links": links}})
	return subjects, "/refs/"
}

func (s *testSite) reindex(t *testing.T, id string) {
	t.Helper()
	if err := s.Search.Refresh(t.Context(), s.Content.Translations, id); err != nil {
		t.Fatal(err)
	}
}

// shown is a translation as whoever sees everything sees it.
func (s *testSite) shown(t *testing.T, ref content.Ref, lang string) content.Item {
	t.Helper()
	items, _, err := s.Content.List(t.Context(), account.Account{Roles: []string{account.RoleAdministrator}}, content.Filter{Lang: lang, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		if it.Ref == ref {
			return it
		}
	}
	t.Fatalf("no %v in %s", ref, lang)
	return content.Item{}
}

// picture uploads an image and makes media of it, for one page alone.
func picture(t *testing.T, s *testSite, who account.Account, n int) (content.File, string) {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 40, 30))
	m.Set(n, 1, color.RGBA{uint8(n), 200, 100, 255})
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	f, err := s.Content.Upload(t.Context(), who, content.Upload{Name: fmt.Sprintf("p%d.png", n), Body: &b})
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Content.Save(t.Context(), who, content.Input{Ref: content.Ref{Type: content.TypeMedia}, Bundle: "image", Lang: "en", Title: "Picture", State: content.Published,
		Fields: content.Fields{"image": map[string]any{"file": f.ID}, "alt": "A picture"}})
	if err != nil {
		t.Fatal(err)
	}
	return f, it.ID
}
