package content

import (
	"errors"
	"slices"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
)

func TestReferences(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		in := page("Prices", "/visit/prices/", Published)
		in.Menu = "main"
		target := save(t, s, in)
		link := func(title, body string, state State, roles ...string) Item {
			in := page(title, "", state)
			in.Fields[FieldBody] = body
			in.Access = &Access{ViewRoles: roles}
			return save(t, s, in)
		}
		link("Markdown", "See [prices](/visit/prices/?x#adults).", Published)
		link("HTML", `<a href='/Visit/Prices'>x</a>`, Published)
		link("Reference", "See [prices][1].\n\n[1]: /visit/prices/", Draft)
		link("Elsewhere", "https://example.org/visit/prices/ and [x](/visit/prices/adults/)", Published)
		link("Members", "[x](/visit/prices/)", Published, "member")
		save(t, s, Input{Ref: Ref{Type: TypeMenuLink}, Bundle: "foot", Menu: "foot", Lang: "en", Title: "Costs", Fields: Fields{FieldSource: "/visit/prices/"}})
		save(t, s, Input{Ref: Ref{Type: TypeMenuLink}, Bundle: "main", Menu: "main", MenuParent: target.ID, Lang: "en", Title: "Below", Fields: Fields{FieldSource: "/x/"}})

		titles := func(u Usage) (out []string) {
			for _, use := range u.Uses {
				out = append(out, use.Item.Title+" "+use.Label)
			}
			slices.Sort(out)
			return out
		}
		u, err := s.References(t.Context(), editor, target.Ref)
		if err != nil {
			t.Fatal(err)
		}
		if got := titles(u); !slices.Equal(got, []string{"Costs Address", "HTML Text", "Markdown Text", "Members Text", "Reference Text"}) || u.Hidden != 0 {
			t.Errorf("%v, %d hidden", got, u.Hidden)
		}
		if len(u.Menu) != 2 || u.Menu[0].ID != target.ID || u.Menu[1].Title != "Below" {
			t.Errorf("menu %v", u.Menu)
		}
		u, err = s.References(t.Context(), visitor, target.Ref)
		if got := titles(u); err != nil || !slices.Equal(got, []string{"Costs Address", "HTML Text", "Markdown Text"}) || u.Hidden != 2 {
			t.Errorf("a visitor sees %v, %d hidden, %v", got, u.Hidden, err)
		}
		moved := InputOf(target)
		moved.Path, moved.State = "/prices/", Published
		save(t, s, moved)
		if u, err := s.References(t.Context(), editor, target.Ref); err != nil || len(u.Uses) != 5 {
			t.Errorf("after moving: %v, %v", titles(u), err)
		}
		counts, err := s.CountBundles(t.Context())
		if err != nil || !slices.Contains(counts, BundleCount{TypeNode, "page", 6}) {
			t.Errorf("%v, %v", counts, err)
		}
	})
}

func TestMenuTree(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		link := func(title, parent string, weight int) Item {
			return save(t, s, Input{Ref: Ref{Type: TypeMenuLink}, Bundle: "main", Menu: "main", MenuParent: parent, Weight: weight, Lang: "en",
				Title: title, Fields: Fields{FieldSource: "https://example.org/"}})
		}
		a := link("A", "", 2)
		b := link("B", "", 1)
		under := link("A1", a.ID, 0)
		link("A2", under.ID, 0)
		menu, err := s.Menu(t.Context(), visitor, "en", "main")
		if err != nil || len(menu) != 2 || menu[0].Title != "B" || menu[1].Children[0].Title != "A1" || menu[1].Children[0].Children[0].Title != "A2" {
			t.Fatalf("%+v, %v", menu, err)
		}
		loop := InputOf(a)
		loop.MenuParent = under.ID
		if _, err := s.Save(t.Context(), editor, loop); !refuses(err, "menu_parent") {
			t.Errorf("below itself: %v", err)
		}
		loop.MenuParent = "nothing"
		if _, err := s.Save(t.Context(), editor, loop); !refuses(err, "menu_parent") {
			t.Errorf("below nothing: %v", err)
		}
		bad := InputOf(b)
		bad.Fields = Fields{}
		if _, err := s.Save(t.Context(), editor, bad); !refuses(err, FieldSource) {
			t.Errorf("no address: %v", err)
		}
		keeper := account.Account{ID: "k", Permissions: map[account.Permission]bool{account.AdministerMenus: true, account.AccessContent: true}}
		if _, err := s.Save(t.Context(), keeper, InputOf(b)); err != nil {
			t.Errorf("who keeps menus: %v", err)
		}
		if _, err := s.Save(t.Context(), visitor, InputOf(b)); !errors.Is(err, ErrForbidden) {
			t.Errorf("a visitor: %v", err)
		}
		tree := menuTree([]Item{ // as no form can make them
			{Ref: Ref{ID: "1"}, Title: "1", MenuParent: "2"}, {Ref: Ref{ID: "2"}, Title: "2", MenuParent: "1"}, {Ref: Ref{ID: "3"}, Title: "3", MenuParent: "gone"},
		})
		if len(tree) != 3 {
			t.Errorf("a circle: %+v", tree)
		}
	})
}

func refuses(err error, field string) bool {
	refused, ok := errors.AsType[*InvalidError](err)
	return ok && refused.Fields[field] != ""
}

func TestRedirects(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStore(d)
		in := Input{Ref: Ref{Type: TypeRedirect}, Lang: "en", Path: "/Old/Shop", Fields: Fields{FieldTo: "/shop/"}}
		it := save(t, s, in)
		if it.Title != "/old/shop/" || it.Path != "/old/shop/" || it.Bundle != TypeRedirect {
			t.Errorf("%+v", it)
		}
		var moved *Redirect
		if _, err := s.ByPath(t.Context(), visitor, "en", "/old/shop/"); !errors.As(err, &moved) || moved.To != "/shop/" || moved.Temporary {
			t.Errorf("%v", err)
		}
		if _, err := s.Save(t.Context(), editor, in); !refuses(err, "path") {
			t.Errorf("twice: %v", err)
		}
		for field, change := range map[string]func(*Input){
			"path":  func(in *Input) { in.Path = "" },
			FieldTo: func(in *Input) { in.Fields = Fields{FieldTo: "javascript:alert(1)"} },
		} {
			bad := in
			bad.Path = "/elsewhere/"
			change(&bad)
			if _, err := s.Save(t.Context(), editor, bad); !refuses(err, field) {
				t.Errorf("%s: %v", field, err)
			}
		}
		if _, err := s.Save(t.Context(), editor, page("Shop", "/old/shop/", Published)); !refuses(err, "path") {
			t.Errorf("a page at a redirect's address: %v", err)
		}
		below := save(t, s, page("Bread", "/old/shop/bread/", Published))
		if above, err := s.Ancestors(t.Context(), editor, below); err != nil || below.ParentPath != "/" || len(above) != 0 {
			t.Errorf("below a redirect: %q, %v, %v", below.ParentPath, above, err)
		}
		if _, err := s.SetState(t.Context(), editor, it.Ref, "en", Archived, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := s.ByPath(t.Context(), editor, "en", "/old/shop/"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("archived: %v", err)
		}
	})
}
