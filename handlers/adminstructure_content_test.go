package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/content"
)

func TestMenus(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		s.language("es", "Español")
		const menu = "/admin/structure/menus/main"
		visit := s.keep(content.Input{Bundle: "page", Title: "Visit", Path: "/visit/"})
		s.keep(content.Input{Ref: visit.Ref, Lang: "es", Title: "Visita", Path: "/visita/"})
		prices := s.keep(content.Input{Bundle: "page", Title: "Prices", Path: "/visit/prices/"})

		found := root.get(menu+"/add?text=pri").want(t, http.StatusOK).page(t)
		if found.Find(`button[name="page"]`).Length() != 1 || found.Find(`button[value="`+prices.ID+`"]`).Length() != 1 {
			t.Fatal("the search does not find the page")
		}
		root.submitWithToken(menu+"/pages", url.Values{"page": {visit.ID}}).wantLocation(t, menu+"?done=added#row-"+visit.ID)
		root.submitWithToken(menu+"/pages", url.Values{"page": {prices.ID}}).want(t, http.StatusSeeOther)
		root.submitWithToken(menu+"/pages", url.Values{"page": {prices.ID}}).want(t, http.StatusSeeOther) // twice is once

		bad := root.submitWithToken(menu+"/links", url.Values{"url": {"javascript:alert(1)"}, "label.en": {"Shop"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if bad.Find("#link-url-error").Length() != 1 || bad.Find("#link-label-en").AttrOr("value", "") != "Shop" {
			t.Error("a dangerous address is not refused as it should")
		}
		root.submitWithToken(menu+"/links", url.Values{"url": {"https://shop.example.org/"}, "label.en": {""}}).want(t, http.StatusUnprocessableEntity)
		made := root.submitWithToken(menu+"/links", url.Values{"url": {"https://shop.example.org/"}, "label.en": {"Shop"}, "label.es": {"Tienda"}, "shown": {"on"}}).want(t, http.StatusSeeOther)
		_, shop, _ := strings.Cut(made.Header.Get("Location"), "#row-")

		if got := titles(root.get(menu).page(t)); !slices.Equal(got, []string{"Visit", "Prices", "Shop"}) {
			t.Fatalf("the menu is %v", got)
		}
		root.submitWithToken(menu+"/move", url.Values{"move": {"in:" + prices.ID}}).wantLocation(t, menu+"?done=moved#row-"+prices.ID)
		root.submitWithToken(menu+"/move", url.Values{"move": {"up:" + shop}}).want(t, http.StatusSeeOther)
		page := root.get(menu).page(t)
		if got := titles(page); !slices.Equal(got, []string{"Shop", "Visit", "Prices"}) || page.Find("#row-"+visit.ID+" #row-"+prices.ID).Length() != 1 {
			t.Errorf("after moving the menu is %v", got)
		}
		entries, err := s.Content.Menu(ctx, admin, "en", "main")
		if err != nil || len(entries) != 2 || len(entries[1].Children) != 1 || entries[1].Children[0].Title != "Prices" || entries[0].Path != "https://shop.example.org/" {
			t.Errorf("visitors get %+v, %v", entries, err)
		}
		if spanish, err := s.Content.Menu(ctx, admin, "es", "main"); err != nil || len(spanish) != 2 || spanish[0].Title != "Tienda" || spanish[1].Title != "Visita" {
			t.Errorf("visitors who read Spanish get %+v, %v", spanish, err)
		}
		if revisions, err := s.Content.History(ctx, admin, prices.Ref, "en"); err != nil || len(revisions) != 1 {
			t.Errorf("placing a page made revisions: %d, %v", len(revisions), err)
		}

		root.submitWithToken(menu+"/"+visit.ID, url.Values{"label.en": {"Come and see"}}).want(t, http.StatusSeeOther)
		root.submitWithToken(menu+"/"+shop, url.Values{"url": {"https://shop.example.org/"}, "label.en": {"Shop"}}).want(t, http.StatusSeeOther) // turned off, no Spanish
		entries, err = s.Content.Menu(ctx, admin, "en", "main")
		if err != nil || len(entries) != 1 || entries[0].Title != "Come and see" {
			t.Errorf("visitors get %+v, %v", entries, err)
		}
		if off := root.get(menu).page(t).Find("#row-" + shop + ".tree__off"); off.Length() != 1 {
			t.Error("the administration does not show what is turned off")
		}

		root.submitWithToken(menu+"/move", url.Values{"drop": {prices.ID + ":before:" + visit.ID}}).want(t, http.StatusSeeOther)
		root.submitWithToken(menu+"/move", url.Values{"drop": {visit.ID + ":inside:" + prices.ID}}).want(t, http.StatusSeeOther)
		root.submitWithToken(menu+"/move", url.Values{"drop": {prices.ID + ":inside:" + visit.ID}}).want(t, http.StatusBadRequest)
		ask := root.get(menu+"/"+prices.ID+"/remove").want(t, http.StatusOK).page(t)
		if ask.Find(".consequences li").Length() != 2 {
			t.Error("the question does not say what becomes of the entry below")
		}
		root.submitWithToken(menu+"/"+prices.ID+"/remove", nil).wantLocation(t, menu+"?done=deleted")
		root.submitWithToken(menu+"/"+shop+"/remove", nil).wantLocation(t, menu+"?done=deleted")
		if got := titles(root.get(menu).page(t)); !slices.Equal(got, []string{"Come and see"}) {
			t.Errorf("the menu is %v", got)
		}
		if _, err := s.Content.Load(ctx, admin, prices.Ref, "en"); err != nil {
			t.Errorf("the page is gone with its entry: %v", err)
		}
		root.get("/admin/structure/menus/nowhere").want(t, http.StatusNotFound)
	})
}

// A draft that waits keeps its place in the menu when it is published.
func TestMenuPlaceOfDraft(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	visit := s.keep(content.Input{Bundle: "page", Title: "Visit", Path: "/visit/"})
	draft := s.keep(content.Input{Ref: visit.Ref, Title: "Visit us", Path: "/visit/", State: content.Draft, BasedOn: visit.LatestID})
	root.submitWithToken("/admin/structure/menus/footer/pages", url.Values{"page": {visit.ID}}).want(t, http.StatusSeeOther)
	if _, err := s.Content.SetState(t.Context(), admin, visit.Ref, "en", content.Published, draft.LatestID); err != nil {
		t.Fatal(err)
	}
	if entries, err := s.Content.Menu(t.Context(), admin, "en", "footer"); err != nil || len(entries) != 1 || entries[0].Title != "Visit us" {
		t.Errorf("the menu is %+v, %v", entries, err)
	}
}

func TestRedirects(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, root := newStructureSite(t, d)
		s.language("es", "Español")
		const list = "/admin/structure/redirects"
		s.keep(content.Input{Bundle: "page", Title: "Visit", Path: "/visit/"})
		add := func(from, to string) reply {
			return root.submitWithToken(list+"/new", url.Values{"from": {from}, "to": {to}})
		}
		add("/old/", "/visit/").wantLocation(t, list+"?done=added")
		add("/es/viejo", "https://example.org/x").wantLocation(t, list+"?done=added")
		for _, tt := range []struct{ from, to, control string }{
			{"/self/", "/SELF", "redirect-to"}, {"/visit/", "/old/", "redirect-to"}, {"/a/", "", "redirect-to"}, {"", "/visit/", "redirect-from"},
			{"/", "/visit/", "redirect-from"}, {"https://elsewhere.org/x", "/visit/", "redirect-from"}, {"/a/", "javascript:alert(1)", "redirect-to"},
			{"/a/", "//evil.org/", "redirect-to"}, {"/admin/x", "/visit/", "redirect-from"}, {"/old/", "/visit/", "redirect-from"},
		} {
			page := add(tt.from, tt.to).want(t, http.StatusUnprocessableEntity).page(t)
			if page.Find("#"+tt.control+"-error").Length() != 1 || page.Find("#redirect-from").AttrOr("value", "") != tt.from || page.Find("#redirect-to").AttrOr("value", "") != tt.to {
				t.Errorf("from %q to %q: the refusal is not beside %s, or what was typed is lost", tt.from, tt.to, tt.control)
			}
		}
		add("/older/", "/old/").want(t, http.StatusSeeOther) // a chain is no circle
		row := root.get(list+"?text=/old/").want(t, http.StatusOK).page(t).Find("tbody a")
		path := row.First().AttrOr("href", "")
		circle := root.submitWithToken(path, url.Values{"from": {"/old/"}, "to": {"/older/"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if !strings.Contains(circle.Find("#redirect-to-error").Text(), "circle") {
			t.Error("a circle of two is not refused")
		}

		visitor := s.browser()
		for range 3 {
			r := visitor.get("/old/").want(t, http.StatusMovedPermanently)
			if r.Header.Get("Location") != "/visit/" {
				t.Fatalf("leads to %q", r.Header.Get("Location"))
			}
		}
		if r := visitor.get("/es/viejo/").want(t, http.StatusMovedPermanently); r.Header.Get("Location") != "https://example.org/x" {
			t.Errorf("leads to %q", r.Header.Get("Location"))
		}
		hits := root.get(list + "?text=/old/").page(t).Find("tbody tr").First().Find("td").Eq(2).Text()
		if strings.TrimSpace(hits) != "3" {
			t.Errorf("followed %q times", hits)
		}
		root.submitWithToken(path, url.Values{"from": {"/old/"}, "to": {"/visit/"}, "temporary": {"on"}}).wantLocation(t, list+"?done=saved")
		visitor.get("/old/").want(t, http.StatusFound)
		if !strings.Contains(root.get(path+"/delete").want(t, http.StatusOK).page(t).Find(".consequences").Text(), "4 times") {
			t.Error("the question does not say how often the redirect was followed")
		}
		root.submitWithToken(path+"/delete", nil).wantLocation(t, list+"?done=deleted")
		visitor.get("/old/").want(t, http.StatusNotFound)
	})
}

func TestTerms(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		const list = "/admin/structure/terms/topics"
		term := func(name string) string {
			r := root.submitWithToken(list+"/add", url.Values{"name": {name}}).want(t, http.StatusSeeOther)
			_, id, _ := strings.Cut(r.Header.Get("Location"), "#row-")
			return id
		}
		birds, fowl, fish := term("Birds"), term("Fowl"), term("Fish")
		again := root.submitWithToken(list+"/add", url.Values{"name": {"birds"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if again.Find("#term-name-error").Length() != 1 || again.Find("#term-name").AttrOr("value", "") != "birds" {
			t.Error("a second term of the same name is not refused as it should")
		}
		root.submitWithToken(list+"/move", url.Values{"move": {"up:" + fish}}).want(t, http.StatusSeeOther)
		if got := titles(root.get(list).page(t)); !slices.Equal(got, []string{"Birds", "Fish", "Fowl"}) {
			t.Errorf("terms are %v", got)
		}
		root.submitWithToken(list+"/move", url.Values{"drop": {fowl + ":inside:" + fish}}).want(t, http.StatusBadRequest)

		one := s.keep(content.Input{Bundle: "article", Title: "Hens", Fields: content.Fields{"topics": []any{fowl}}})
		both := s.keep(content.Input{Bundle: "article", Title: "Geese", Fields: content.Fields{"topics": []any{birds, fowl}}})
		ask := root.get(list+"/"+fowl+"/delete").want(t, http.StatusOK).page(t)
		if got := ask.Find(".consequences a").Length(); got != 2 {
			t.Errorf("the question names %d pages", got)
		}
		root.submitWithToken(list+"/"+fowl+"/merge", url.Values{"into": {fowl}}).want(t, http.StatusUnprocessableEntity)
		root.submitWithToken(list+"/"+fowl+"/merge", url.Values{"into": {one.ID}}).want(t, http.StatusUnprocessableEntity)
		root.submitWithToken(list+"/"+fowl+"/merge", url.Values{"into": {birds}}).wantLocation(t, list+"?done=terms_merged#row-"+birds)
		for _, ref := range []content.Ref{one.Ref, both.Ref} {
			it, err := s.Content.Load(ctx, admin, ref, "en")
			if err != nil || !slices.Equal(it.Fields.Strings("topics"), []string{birds}) {
				t.Errorf("topics of %s are %v, %v", it.Title, it.Fields.Strings("topics"), err)
			}
		}
		if _, n, err := s.Content.List(ctx, admin, content.Filter{TermID: birds}); err != nil || n != 2 {
			t.Errorf("%d pages are listed under the term, %v", n, err)
		}
		if usage, err := s.Content.References(ctx, admin, content.Ref{Type: content.TypeTerm, ID: birds}); err != nil || len(usage.Uses) != 2 {
			t.Errorf("%d uses of the term, %v", len(usage.Uses), err)
		}
		if r := s.browser().get("/topics/fowl/").want(t, http.StatusMovedPermanently); r.Header.Get("Location") != "/topics/birds/" {
			t.Errorf("the old address leads to %q", r.Header.Get("Location"))
		}
		root.submitWithToken(list+"/"+fish+"/delete", nil).wantLocation(t, list+"?done=deleted")
		if got := titles(root.get(list).page(t)); !slices.Equal(got, []string{"Birds"}) {
			t.Errorf("terms are %v", got)
		}
	})
}

func TestTypesAndFields(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		const list = "/admin/structure/types"
		bad := root.submitWithToken(list+"/new", url.Values{"label": {"Recipe"}, "name": {"article"}, "entity": {"node"}, "description": {"Food"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if bad.Find("#type-name-error").Length() != 1 || bad.Find("#type-description").Text() != "Food" {
			t.Error("a taken name is not refused as it should")
		}
		root.submitWithToken(list+"/new", url.Values{"label": {"Recipe"}, "entity": {"node"}, "workflow": {"on"}}).wantLocation(t, list+"/recipe/fields?done=added")
		fields := list + "/recipe/fields"
		if n := root.get(fields + "/new").page(t).Find(".fieldtypes a").Length(); n != len(config.FieldTypes()) {
			t.Errorf("%d types of field are offered", n)
		}
		add := func(kind string, form url.Values) reply { return root.submitWithToken(fields+"/new?type="+kind, form) }
		add("integer", url.Values{"label": {"Servings"}, "min": {"1"}, "max": {"many"}}).want(t, http.StatusUnprocessableEntity)
		refused := add("integer", url.Values{"label": {"Servings"}, "min": {"9"}, "max": {"1"}}).want(t, http.StatusUnprocessableEntity).page(t)
		if refused.Find("#field-max-error").Length() != 1 || refused.Find("#field-min").AttrOr("value", "") != "9" {
			t.Error("a range that is none is not refused beside its field")
		}
		add("integer", url.Values{"label": {"Servings"}, "min": {"1"}, "max": {"20"}}).wantLocation(t, fields+"?done=added#row-servings")
		if add("list", url.Values{"label": {"Course"}}).want(t, http.StatusUnprocessableEntity).page(t).Find("#field-choices-error").Length() != 1 {
			t.Error("a list without values is not refused beside its field")
		}
		add("list", url.Values{"label": {"Course"}, "choices": {"starter|Starter\r\nMain dish\r\n"}, "values": {"unlimited"}, "labels.en": {"Courses"}}).want(t, http.StatusSeeOther)
		add("reference", url.Values{"label": {"About"}, "target": {"term"}, "bundles": {"term/topics", "node/article"}}).want(t, http.StatusSeeOther)
		if add("text", url.Values{"label": {"Title"}}).want(t, http.StatusUnprocessableEntity).page(t).Find("#field-name-error").Length() != 1 {
			t.Error("a reserved name is not refused beside its field")
		}
		recipe, err := config.Get[config.ContentType](ctx, s.Config, "recipe")
		if err != nil || len(recipe.Fields) != 3 {
			t.Fatalf("the type is %+v, %v", recipe, err)
		}
		course, about := recipe.Fields[1], recipe.Fields[2]
		if course.Cardinality != config.Unlimited || len(course.Settings.Choices) != 2 || course.Settings.Choices[1].Value != "main_dish" || course.Settings.Choices[1].Label != "Main dish" {
			t.Errorf("the list is %+v", course)
		}
		if about.Settings.Target != "term" || !slices.Equal(about.Settings.Bundles, []string{"topics"}) {
			t.Errorf("the reference is %+v", about.Settings)
		}
		root.submitWithToken(fields+"/move", url.Values{"move": {"up:course"}}).wantLocation(t, fields+"?done=moved#row-course")
		root.submitWithToken(fields+"/servings", url.Values{"label": {"For how many"}, "required": {"on"}, "max": {"30"}}).want(t, http.StatusSeeOther)
		if got := titles(root.get(fields).page(t)); !slices.Equal(got, []string{"Courses", "For how many", "About"}) {
			t.Errorf("fields are %v", got)
		}

		soup := s.keep(content.Input{Bundle: "recipe", Title: "Soup", Fields: content.Fields{"servings": 4, "course": []any{"starter"}}})
		ask := root.get(fields+"/course/delete").want(t, http.StatusOK).page(t)
		if !strings.Contains(ask.Find(".consequences").Text(), "One page has a value") {
			t.Errorf("the question says %q", ask.Find(".consequences").Text())
		}
		root.submitWithToken(fields+"/course/delete", nil).wantLocation(t, fields+"?done=deleted")
		if it, err := s.Content.Load(ctx, admin, soup.Ref, "en"); err != nil || it.Title != "Soup" {
			t.Errorf("the page is %+v, %v", it, err)
		}
		root.submitWithToken(list+"/recipe/delete", nil).want(t, http.StatusConflict)
		if root.get(list+"/recipe/delete").page(t).Find(`.confirm button[type="submit"]`).Length() != 0 {
			t.Error("a type with content can be deleted")
		}

		// What a type gave rise to goes with it, so that its name is nobody's later.
		if err := config.Put(ctx, s.Config, "cook", config.Role{Label: "Cook", Permissions: []account.Permission{"create recipe content", "publish recipe content"}}, ""); err != nil {
			t.Fatal(err)
		}
		root.submitWithToken(list+"/recipe", url.Values{"label": {"Recipe"}}).wantLocation(t, list+"/recipe?done=saved")
		if cook, err := config.Get[config.Role](ctx, s.Config, "cook"); err != nil || !slices.Equal(cook.Permissions, []account.Permission{"create recipe content"}) {
			t.Errorf("without a workflow cooks may %v, %v", cook.Permissions, err)
		}
		if err := s.Content.Delete(ctx, admin, soup.Ref); err != nil {
			t.Fatal(err)
		}
		root.submitWithToken(list+"/recipe/delete", nil).wantLocation(t, list+"?done=deleted")
		if cook, err := config.Get[config.Role](ctx, s.Config, "cook"); err != nil || len(cook.Permissions) != 0 {
			t.Errorf("after the type is gone cooks may %v, %v", cook.Permissions, err)
		}

		root.submitWithToken("/admin/structure/vocabularies/new", url.Values{"label": {"Seasons"}}).wantLocation(t, "/admin/structure/vocabularies/seasons/fields?done=added")
		if root.get("/admin/structure/terms").page(t).Find(`a[href="/admin/structure/terms/seasons"]`).Length() != 1 {
			t.Error("the new vocabulary is not listed")
		}
	})
}

func TestDisplays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s, root := newStructureSite(t, d)
		base := "/admin/structure/types/event/displays/"
		// form is what a browser sends of a display's page.
		form := func(path string) url.Values {
			v := url.Values{}
			page := root.get(path).want(t, http.StatusOK).page(t)
			for _, input := range page.Find(`.display input[name="field"], .display input[type="text"]`).Nodes {
				var name, value string
				for _, a := range input.Attr {
					switch a.Key {
					case "name":
						name = a.Val
					case "value":
						value = a.Val
					}
				}
				v.Add(name, value)
			}
			for _, choice := range page.Find(".display select").EachIter() {
				v.Set(choice.AttrOr("name", ""), choice.Find("option[selected]").AttrOr("value", ""))
			}
			return v
		}
		event := func() config.ContentType {
			e, err := config.Get[config.ContentType](ctx, s.Config, "event")
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		before := event()
		root.submitWithToken(base+"full", form(base+"full")).wantLocation(t, base+"full?done=saved")
		if after := event(); len(after.Views["full"]) != len(before.Views["full"]) || after.Views["full"][0] != before.Views["full"][0] {
			t.Errorf("saving what was shown changed it: %+v", after.Views["full"])
		}
		v := form(base + "form")
		v.Set("widget.place", config.Hidden)
		v.Set("move", "up:place") // the button sends what was chosen, too
		root.submitWithToken(base+"form", v).wantLocation(t, base+"form?done=moved#row-place")
		items := event().FormItems()
		if items[1] != (config.FormItem{Field: "place", Widget: config.Hidden}) || items[2].Field != "when" {
			t.Errorf("the form is %+v", items)
		}
		v = form(base + "card")
		v.Set("formatter.summary", config.Hidden)
		v.Set("formatter.body", "trimmed")
		v.Set("limit.body", "x")
		root.submitWithToken(base+"card", v).want(t, http.StatusUnprocessableEntity)
		v.Set("limit.body", "80")
		v.Set("label.place", config.LabelAbove)
		root.submitWithToken(base+"card", v).want(t, http.StatusSeeOther)
		var names []string
		for _, item := range event().ViewItems(config.ViewCard) {
			names = append(names, item.Field)
			if item.Field == "body" && item.Limit != 80 {
				t.Errorf("the text is cut at %d", item.Limit)
			}
		}
		if slices.Contains(names, "summary") || !slices.Contains(names, "body") {
			t.Errorf("the card shows %v", names)
		}
		v.Set("formatter.place", "html")
		if root.submitWithToken(base+"card", v).want(t, http.StatusUnprocessableEntity).page(t).Find(".notice--danger").Length() != 1 {
			t.Error("a formatter of another type is not refused")
		}
		root.submitWithToken(base+"card", url.Values{"op": {"follow"}}).want(t, http.StatusSeeOther)
		if _, own := event().Views[config.ViewCard]; own {
			t.Error("the card does not follow the full page")
		}
		root.get(base+"poster").want(t, http.StatusNotFound)
	})
}

func TestFormats(t *testing.T) {
	s, root := newStructureSite(t, dbtest.SQLite(t))
	const list = "/admin/structure/formats"
	root.submitWithToken(list+"/new", url.Values{"label": {"Captions"}, "filter": {"none"}}).want(t, http.StatusUnprocessableEntity)
	root.submitWithToken(list+"/new", url.Values{"label": {"Captions"}, "filter": {"restricted_html"}, "weight": {"9"}}).wantLocation(t, list+"?done=added")
	root.submitWithToken(list+"/captions", url.Values{"label": {"Captions"}, "filter": {"plain"}, "weight": {"x"}}).want(t, http.StatusUnprocessableEntity)
	if err := config.Put(t.Context(), s.Config, "clerk", config.Role{Label: "Clerk", Permissions: []account.Permission{config.FormatPermission("captions")}}, ""); err != nil {
		t.Fatal(err)
	}
	if intro := root.get(list + "/captions").page(t).Find(".lead").Text(); !strings.Contains(intro, "Clerk, Administrator") {
		t.Errorf("the form says %q", intro)
	}
	used := root.submitWithToken(list+"/full_html/delete", nil).want(t, http.StatusConflict).page(t)
	if used.Find(`.confirm button[type="submit"]`).Length() != 0 || used.Find(".notice").Length() == 0 {
		t.Error("a format in use is not refused as it should")
	}
	root.submitWithToken(list+"/captions/delete", nil).wantLocation(t, list+"?done=deleted")
	if clerk, err := config.Get[config.Role](t.Context(), s.Config, "clerk"); err != nil || len(clerk.Permissions) != 0 {
		t.Errorf("the clerk may still %v, %v", clerk.Permissions, err)
	}
}
