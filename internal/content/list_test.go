package content

import (
	"slices"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestMenuAndAncestors(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		in := func(title, path, menu string, weight int) Input {
			p := page(title, path, Published)
			p.Menu, p.Weight = menu, weight
			return p
		}
		deep := save(t, s, in("Adults", "/visit/prices/adults/", "", 0))
		if deep.ParentPath != "/" {
			t.Errorf("parent %q", deep.ParentPath)
		}
		save(t, s, in("Home", "/", "", 0))
		visit := save(t, s, in("Visit", "/visit/", "main", 10))
		save(t, s, in("About", "/about/", "main", 20))
		closed := in("Members", "/members/", "main", 5)
		closed.Access = &Access{ViewRoles: []string{"member"}}
		save(t, s, closed)
		save(t, s, Input{Ref: visit.Ref, Lang: "es", Title: "Visitar", MenuTitle: "Su visita", Path: "/visit/", State: Published, Menu: "main", Weight: 10})

		deep, err := s.Load(t.Context(), visitor, deep.Ref, "en")
		if err != nil || deep.ParentPath != "/visit/" {
			t.Errorf("a new section did not adopt what lies below: %q, %v", deep.ParentPath, err)
		}
		titles := func(who account.Account, lang string) (out []string) {
			menu, err := s.Menu(t.Context(), who, lang, "main")
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range menu {
				out = append(out, m.Title+" "+m.Path)
			}
			return out
		}
		if got := titles(visitor, "en"); !slices.Equal(got, []string{"Visit /visit/", "About /about/"}) {
			t.Errorf("menu %v", got)
		}
		if got := titles(withRoles("member"), "es"); !slices.Equal(got, []string{"Su visita /es/visit/"}) {
			t.Errorf("Spanish menu %v", got)
		}
		if got := titles(withRoles("member"), "ar"); !slices.Equal(got, []string{"Members /members/", "Visit /visit/", "About /about/"}) {
			t.Errorf("menu in a language without entries %v", got)
		}
		above, err := s.Ancestors(t.Context(), visitor, deep)
		if err != nil || len(above) != 2 || above[0].Title != "Home" || above[1].Title != "Visit" {
			t.Errorf("ancestors %v, %v", above, err)
		}
		if err := s.Delete(t.Context(), editor, visit.Ref); err != nil {
			t.Fatal(err)
		}
		if deep, err = s.Load(t.Context(), visitor, deep.Ref, "en"); err != nil || deep.ParentPath != "/" {
			t.Errorf("its section is gone: %q, %v", deep.ParentPath, err)
		}
	})
}

func TestList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		var mobile string
		err := d.InTx(t.Context(), func(tx *db.DB) (err error) {
			if mobile, err = s.EnsureTerm(t.Context(), tx, FieldTopics, "mobile-first", "en"); err != nil {
				return err
			}
			again, err := s.EnsureTerm(t.Context(), tx, FieldTopics, "Mobile first", "en")
			if again != mobile {
				t.Errorf("one name, two terms")
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		term, err := s.ByPath(t.Context(), visitor, "en", "/topics/mobile-first/")
		if err != nil || term.Title != "Mobile first" || term.Type != TypeTerm || term.Path != "/topics/mobile-first/" {
			t.Errorf("term %+v, %v", term, err)
		}
		add := func(title string, day int, topics ...string) {
			in := page(title, "/news/"+Slug(title)+"/", Published)
			in.Date = time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)
			in.Fields[FieldTopics] = topics
			save(t, s, in)
		}
		save(t, s, page("News", "/news/", Published))
		add("Ärzte 100%", 1, mobile)
		add("banana_split", 3)
		add("Citrus", 2, mobile)
		save(t, s, page("Hidden", "/news/hidden/", Draft))
		list := func(who account.Account, f Filter) (titles []string, total int) {
			t.Helper()
			items, total, err := s.List(t.Context(), who, f)
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				titles = append(titles, it.Title)
			}
			return titles, total
		}
		for _, tt := range []struct {
			name  string
			who   account.Account
			f     Filter
			want  []string
			total int
		}{
			{"section", visitor, Filter{ParentPath: "/news/", Order: ByDate}, []string{"banana_split", "Citrus", "Ärzte 100%"}, 3},
			{"page two", visitor, Filter{ParentPath: "/news/", Order: ByDate, Limit: 2, Offset: 2}, []string{"Ärzte 100%"}, 3},
			{"undated last", editor, Filter{ParentPath: "/news/", Order: ByDate, Limit: 9}, []string{"banana_split", "Citrus", "Ärzte 100%", "Hidden"}, 4},
			{"titles", visitor, Filter{Type: TypeNode, Order: ByTitle}, []string{"banana_split", "Citrus", "News", "Ärzte 100%"}, 4},
			{"term", visitor, Filter{TermID: mobile, Order: ByTitle}, []string{"Citrus", "Ärzte 100%"}, 2},
			{"drafts", editor, Filter{State: Draft}, []string{"Hidden"}, 1},
			{"drafts of a visitor", visitor, Filter{State: Draft}, nil, 0},
			{"text", visitor, Filter{Text: "ÄRZTE"}, []string{"Ärzte 100%"}, 1},
			{"percent is text", visitor, Filter{Text: "0%"}, []string{"Ärzte 100%"}, 1},
			{"underscore is text", visitor, Filter{Text: "a_s"}, []string{"banana_split"}, 1},
			{"path", visitor, Filter{Text: "/news/c"}, []string{"Citrus"}, 1},
			{"terms", visitor, Filter{Type: TypeTerm, Bundle: FieldTopics, Lang: "en"}, []string{"Mobile first"}, 1},
			{"nothing", visitor, Filter{Lang: "es"}, nil, 0},
		} {
			if got, total := list(tt.who, tt.f); !slices.Equal(got, tt.want) || total != tt.total {
				t.Errorf("%s: %q of %d, want %q of %d", tt.name, got, total, tt.want, tt.total)
			}
		}
	})
}
