package content

import (
	"bytes"
	"context"
	"errors"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/media"
)

var member = account.Account{ID: "m", Roles: []string{account.RoleAuthenticated, "member"}, Permissions: map[account.Permission]bool{account.AccessContent: true}}

// mediaStore is a store whose documents are read, and what its index was told of.
func mediaStore(t *testing.T, d *db.DB) (*Store, *[]string) {
	t.Helper()
	reader, err := media.NewReader(filepath.Join(os.TempDir(), "docent-test-pdf"))
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	s := New(d, Options{FilesDir: t.TempDir(), Documents: reader, OnChange: func(_ context.Context, _ *db.DB, ids []string) error {
		changed = append(changed, ids...)
		return nil
	}})
	return s, &changed
}

func saveMedium(t *testing.T, s *Store, in Input) Item {
	t.Helper()
	if in.Lang == "" {
		in.Lang = "en"
	}
	it, err := s.Save(t.Context(), editor, in)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func uploaded(t *testing.T, s *Store, name string, b []byte, standalone bool) File {
	t.Helper()
	f, err := s.Upload(t.Context(), editor, Upload{Name: name, Body: bytes.NewReader(b), Standalone: standalone})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func imageMedium(t *testing.T, s *Store, f File) Item {
	return saveMedium(t, s, Input{Ref: Ref{Type: TypeMedia}, Bundle: "image", Title: "A picture", State: Published,
		Fields: Fields{"image": map[string]any{"file": f.ID}, "alt": "A red door"}})
}

// readers tells who may read a file.
func readers(t *testing.T, s *Store, id string) string {
	t.Helper()
	f, err := s.File(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, who := range []struct {
		name string
		account.Account
	}{{"visitor", visitor}, {"member", member}, {"editor", editor}} {
		switch err := s.MayRead(t.Context(), who.Account, f); {
		case err == nil:
			out = append(out, who.name)
		case !errors.Is(err, db.ErrNotFound) && !errors.Is(err, ErrForbidden):
			t.Fatal(err)
		}
	}
	return strings.Join(out, " ")
}

func TestFilesFollowThePages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, changed := mediaStore(t, d)
		f := uploaded(t, s, "door.png", picture(t, 30, 20, color.Black), false)
		expect := func(what, want string) {
			t.Helper()
			if got := readers(t, s, f.ID); got != want {
				t.Errorf("%s: read by %q, not %q", what, got, want)
			}
		}
		expect("nothing holds it", "editor")
		m := imageMedium(t, s, f)
		expect("media alone", "editor")
		page := saveMedium(t, s, Input{Bundle: "article", Title: "News", State: Draft, Fields: Fields{"image": m.ID}})
		expect("a draft shows it", "editor")
		if err := s.MayVisit(t.Context(), visitor, m); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("visiting media of a draft: %v", err)
		}
		*changed = nil
		page, err := s.SetState(t.Context(), editor, page.Ref, "en", Published, "")
		if err != nil {
			t.Fatal(err)
		}
		expect("published", "visitor member editor")
		if !slices.Contains(*changed, m.ID) {
			t.Errorf("the index does not hear of the media: %v", *changed)
		}
		in := InputOf(page)
		in.State, in.Access = Published, &Access{ViewRoles: []string{"member"}}
		page = saveMedium(t, s, in)
		expect("for members", "member editor")
		if err := s.MayVisit(t.Context(), visitor, m); !errors.Is(err, ErrForbidden) {
			t.Errorf("visiting media of members: %v", err)
		}
		if media, err := s.Media(t.Context(), visitor, "en", []string{f.ID}); err != nil || len(media) > 0 {
			t.Errorf("listed for visitors: %v, %v", media, err)
		}
		other := saveMedium(t, s, Input{Bundle: "article", Title: "Other news", State: Published, Fields: Fields{"image": m.ID}})
		expect("another page shows it", "visitor member editor")
		if err := s.Delete(t.Context(), editor, other.Ref); err != nil {
			t.Fatal(err)
		}
		expect("the other page is gone", "member editor")
		if _, err := s.SetState(t.Context(), editor, page.Ref, "en", Archived, ""); err != nil {
			t.Fatal(err)
		}
		expect("archived", "editor")
		if err := s.SetFocus(t.Context(), f, media.Centre, true); err != nil {
			t.Fatal(err)
		}
		expect("standing alone", "visitor member editor")

		listed, err := s.Media(t.Context(), editor, "en", []string{m.ID, f.ID, "unknown"})
		if err != nil || len(listed) != 2 || listed[m.ID].Alt != "A red door" || listed[m.ID].File.ID != f.ID || listed[f.ID].Label != "door.png" {
			t.Errorf("%+v, %v", listed, err)
		}
	})
}

// An author who may create articles and nothing else must not get at a file by
// putting its id into an article.
func TestFilesAreNotBorrowed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := mediaStore(t, d)
		f := uploaded(t, s, "plan.txt", []byte("The secret plan."), true)
		saveMedium(t, s, Input{Ref: Ref{Type: TypeMedia}, Bundle: "document", Title: "Plan", State: Published,
			Fields: Fields{"file": map[string]any{"file": f.ID}}, Access: &Access{ViewRoles: []string{"board"}}})
		author := account.Account{ID: "a", Roles: []string{account.RoleAuthenticated}, Permissions: map[account.Permission]bool{
			account.AccessContent: true, "create document media": true, "create article content": true,
		}}
		if why, err := s.MayUse(t.Context(), author, config.Field{}, f.ID); err != nil || why == "" {
			t.Errorf("it may be used: %v", err)
		}
		_, err := s.Save(t.Context(), author, Input{Ref: Ref{Type: TypeMedia}, Bundle: "document", Lang: "en", Title: "Mine", State: Published,
			Fields: Fields{"file": map[string]any{"file": f.ID}}})
		if refused, ok := errors.AsType[*InvalidError](err); !ok || refused.Fields["file"] == "" {
			t.Errorf("saved: %v", err)
		}
		for _, link := range []string{f.URL(), "/files/styles/wide/" + f.ID + "/any"} {
			_, err = s.Save(t.Context(), author, Input{Bundle: "article", Lang: "en", Title: "Mine", State: Draft, Fields: Fields{"body": "See [the plan](" + link + ")."}})
			if refused, ok := errors.AsType[*InvalidError](err); !ok || refused.Fields["body"] == "" {
				t.Errorf("linked by %s: %v", link, err)
			}
		}
		if got := readers(t, s, f.ID); got != "editor" {
			t.Errorf("read by %q", got)
		}
	})
}

// What a text shows, visitors of its page see.
func TestFilesInTexts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := mediaStore(t, d)
		f := uploaded(t, s, "خريطة map.png", picture(t, 900, 300, color.Black), false)
		m := imageMedium(t, s, f)
		for _, address := range []string{f.URL(), f.Derivative("wide").URL, FilePrefix + f.Path} {
			page := saveMedium(t, s, Input{Bundle: "page", Title: "Map", State: Published, Fields: Fields{"body": "Here:\n\n![A map](" + address + ")"}})
			if got := readers(t, s, f.ID); got != "visitor member editor" {
				t.Errorf("shown by %s: read by %q", address, got)
			}
			uses, err := s.References(t.Context(), editor, m.Ref)
			if err != nil || len(uses.Uses) != 1 || uses.Uses[0].Item.ID != page.ID {
				t.Errorf("shown by %s: used by %+v, %v", address, uses, err)
			}
			if err := s.Delete(t.Context(), editor, page.Ref); err != nil {
				t.Fatal(err)
			}
			if got := readers(t, s, f.ID); got != "editor" {
				t.Errorf("no longer shown: read by %q", got)
			}
		}
		saveMedium(t, s, Input{Bundle: "page", Title: "Nowhere", State: Published, Fields: Fields{"body": "![](/files/nowhere.png) ![](/files/%zz)"}})
	})
}

func TestFieldsChooseFiles(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := mediaStore(t, d)
		text, image := uploaded(t, s, "a.txt", []byte("words"), true), uploaded(t, s, "a.png", picture(t, 9, 9, color.Black), true)
		for _, c := range []struct {
			what  string
			field config.Field
			file  File
			ok    bool
		}{
			{"an image", config.Field{Type: config.FieldImage}, image, true},
			{"a text as an image", config.Field{Type: config.FieldImage}, text, false},
			{"a kind that is allowed", config.Field{Type: config.FieldFile, Settings: config.FieldSettings{Extensions: []string{"pdf", "txt"}}}, text, true},
			{"a kind that is not", config.Field{Type: config.FieldFile, Settings: config.FieldSettings{Extensions: []string{"pdf"}}}, text, false},
			{"too large", config.Field{Type: config.FieldFile, Settings: config.FieldSettings{MaxBytes: 4}}, text, false},
			{"none", config.Field{Type: config.FieldFile}, File{ID: "unknown"}, false},
		} {
			if why, err := s.MayUse(t.Context(), editor, c.field, c.file.ID); err != nil || (why == "") != c.ok {
				t.Errorf("%s: %q, %v", c.what, why, err)
			}
		}
	})
}

func TestDocumentsAreFound(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, changed := mediaStore(t, d)
		s.opts.PageLabel = func(lang string, n int) string { return lang + " page " + string(rune('0'+n)) }
		f := uploaded(t, s, "hours.md", []byte("# Hours\n\nOpen from nine to five."), true)
		doc := saveMedium(t, s, Input{Ref: Ref{Type: TypeMedia}, Bundle: "document", Title: "Opening hours", State: Published,
			Fields: Fields{"file": map[string]any{"file": f.ID}, "summary": "When we are open."}})
		indexed := func() []Item {
			t.Helper()
			items, err := s.Translations(t.Context(), doc.ID)
			if err != nil {
				t.Fatal(err)
			}
			var all []Item
			if err := s.Published(t.Context(), func(it Item) error {
				if it.ID == doc.ID {
					all = append(all, it)
				}
				return nil
			}); err != nil || len(all) != len(items) {
				t.Errorf("all: %v, %v", all, err)
			}
			return items
		}
		if got := indexed(); len(got) != 0 {
			t.Errorf("before it was read: %+v", got)
		}
		*changed = nil
		for range 2 {
			if err := s.ReadText(t.Context(), f.Hash); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(*changed, []string{doc.ID}) {
			t.Errorf("the index hears of %v", *changed)
		}
		got := indexed()
		if len(got) != 1 || !strings.Contains(got[0].Fields.Text(FieldBody), "nine to five") || got[0].Fields.Text(FieldSummary) != "When we are open." ||
			got[0].Path != "/media/"+doc.ID+"/" {
			t.Fatalf("%+v", got)
		}
		if text, err := s.DocumentText(t.Context(), doc); err != nil || !text.Read || text.Problem != "" {
			t.Errorf("%+v, %v", text, err)
		}
		if err := s.SetFocus(t.Context(), f, f.Focus(), false); err != nil {
			t.Fatal(err)
		}
		if got := indexed(); len(got) != 0 {
			t.Errorf("no page shows it: %+v", got)
		}
		if got := s.pages("en", "first\fsecond"); got != "## en page 1\n\nfirst\n\n## en page 2\n\nsecond" {
			t.Errorf("%q", got)
		}
		broken := uploaded(t, s, "broken.pdf", []byte("%PDF-1.7 and nothing more"), true)
		if err := s.ReadText(t.Context(), broken.Hash); err != nil {
			t.Fatal(err)
		}
		texts, err := s.fileTexts(t.Context(), []string{broken.Hash})
		if err != nil || texts[broken.Hash].Problem == "" {
			t.Errorf("%+v, %v", texts, err)
		}
	})
}

func TestRolesOfPages(t *testing.T) {
	for _, c := range []struct {
		own   []string
		pages [][]string
		want  []string
		ok    bool
	}{
		{nil, nil, nil, false}, {nil, [][]string{nil}, nil, true}, {[]string{"a"}, [][]string{nil}, []string{"a"}, true},
		{nil, [][]string{{"a"}, {"b", "a"}}, []string{"a", "b"}, true}, {[]string{"a", "c"}, [][]string{{"a", "b"}}, []string{"a"}, true},
		{[]string{"c"}, [][]string{{"a"}}, nil, false}, {nil, [][]string{{"a"}, nil}, nil, true},
	} {
		var pages []Item
		for _, roles := range c.pages {
			pages = append(pages, Item{ViewRoles: roles})
		}
		if got, ok := rolesOfPages(c.own, pages); ok != c.ok || ok && !slices.Equal(got, c.want) {
			t.Errorf("%v with %v: %v, %v", c.own, c.pages, got, ok)
		}
	}
}

func TestSweep(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := mediaStore(t, d)
		held := uploaded(t, s, "held.txt", []byte("held"), true)
		former := uploaded(t, s, "former.txt", []byte("former"), true)
		unused := uploaded(t, s, "unused.txt", []byte("unused"), true)
		fresh := uploaded(t, s, "fresh.txt", []byte("fresh"), true)
		doc := saveMedium(t, s, Input{Ref: Ref{Type: TypeMedia}, Bundle: "document", Title: "A", State: Published, Fields: Fields{"file": map[string]any{"file": former.ID}}})
		in := InputOf(doc)
		in.State, in.Fields = Published, Fields{"file": map[string]any{"file": held.ID}}
		saveMedium(t, s, in)
		old := db.Now().Add(-2 * unusedFor)
		for _, f := range []File{held, former, unused} {
			if _, err := d.Exec(t.Context(), "update files set created_at = ? where id = ?", old, f.ID); err != nil {
				t.Fatal(err)
			}
		}
		err := filepath.WalkDir(s.opts.FilesDir, func(name string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() && e.Name() != fresh.Hash {
				err = os.Chtimes(name, time.Time{}, old)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for f, want := range map[File]bool{held: true, former: true, unused: false, fresh: true} {
			r, err := s.OpenFile(f)
			if err == nil {
				r.Close()
			}
			_, known := s.File(t.Context(), f.ID)
			if (err == nil) != want || (known == nil) != want {
				t.Errorf("%s: %v, %v", f.Name, err, known)
			}
		}
	})
}

// Whoever finds a document's text may visit it, and the other way round, however
// the document and the pages that link to it are published and restricted.
func TestIndexAgreesWithVisits(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := mediaStore(t, d)
		random := rand.New(rand.NewPCG(1, 2))
		roles := func() *Access {
			return &Access{ViewRoles: [][]string{nil, {"member"}, {"board"}, {"member", "board"}}[random.IntN(4)]}
		}
		board := member
		board.Roles = []string{account.RoleAuthenticated, "board"}
		f := uploaded(t, s, "plan.txt", []byte("The plan."), true)
		if err := s.ReadText(t.Context(), f.Hash); err != nil {
			t.Fatal(err)
		}
		for n := range 40 {
			doc := saveMedium(t, s, Input{Ref: Ref{Type: TypeMedia}, Bundle: "document", Title: "Plan", State: Published,
				Fields: Fields{"file": map[string]any{"file": f.ID}}, Access: roles()})
			if err := s.SetFocus(t.Context(), f, media.Centre, random.IntN(3) == 0); err != nil {
				t.Fatal(err)
			}
			pages := []Item{doc}
			for range random.IntN(3) {
				link := []string{doc.Path, f.URL()}[random.IntN(2)]
				pages = append(pages, saveMedium(t, s, Input{Bundle: "page", Title: "Page", Access: roles(),
					State: []State{Draft, Published, Published}[random.IntN(3)], Fields: Fields{"body": "[The plan](" + link + ")"}}))
			}
			indexed, err := s.Translations(t.Context(), doc.ID)
			if err != nil || len(indexed) > 1 {
				t.Fatal(indexed, err)
			}
			file, err := s.File(t.Context(), f.ID)
			if err != nil {
				t.Fatal(err)
			}
			for name, who := range map[string]account.Account{"visitor": visitor, "member": member, "board": board, "editor": editor} {
				found := len(indexed) == 1 && CanViewRoles(who, indexed[0].ViewRoles)
				visits := s.MayVisit(t.Context(), who, doc) == nil
				reads := s.MayRead(t.Context(), who, file) == nil
				if who.ID != editor.ID && found != visits || found && !reads || visits && !reads {
					t.Errorf("%d: %s finds %v, visits %v, reads %v; standalone %v, %+v", n, name, found, visits, reads, file.Standalone, pages)
				}
			}
			for _, it := range pages {
				if err := s.Delete(t.Context(), editor, it.Ref); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
