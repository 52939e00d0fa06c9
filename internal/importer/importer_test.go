package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"
)

var (
	visitor = account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.AccessContent: true}}
	admin   = account.Account{ID: "root", Roles: []string{account.RoleAdministrator}}
)

// site makes a file system of names and texts.
func site(files ...string) fstest.MapFS {
	fs := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		fs[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return fs
}

func store(d *db.DB, dir string) *content.Store {
	return content.New(d, content.Options{Languages: func() []string { return []string{"en", "es", "ar"} }, FilesDir: dir})
}

// problems lists the problems of a summary as text.
func problems(sum Summary) (out []string) {
	for _, p := range sum.Problems {
		out = append(out, p.String())
	}
	return out
}

func TestLanguages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store(d, "")
		sum := mustRun(t, Options{Store: s, FS: site(
			"visit/hours.md", "---\ntitle: Hours\nview_roles: [member]\n---\n[p](prices.md)",
			"visit/hours.es.md", "---\ntitle: Horario\n---\n[p](prices.md)",
			"ar/visit/hours.md", "---\ntitle: الساعات\nslug: الساعات\n---\n",
			"visit/prices.md", "---\ntitle: Prices\n---\n",
			"es/visit/prices.md", "---\ntitle: Precios\nurl: /es/entradas/\naliases: [/es/tarifas/]\n---\n",
			"i18n/es/docusaurus-plugin-content-docs/current/a.md", "---\ntitle: Uno\n---\n",
			"docs/a.md", "---\ntitle: One\n---\n",
			"fr/x.md", "---\ntitle: No language of the site\n---\n",
		)})
		if sum.Added != 8 || len(sum.Problems) > 0 {
			t.Errorf("%+v", sum)
		}
		member := account.Account{Roles: []string{"member"}, Permissions: visitor.Permissions}
		for path, title := range map[string]string{
			"en /visit/hours/": "Hours", "es /visit/hours/": "Horario", "ar /visit/الساعات/": "الساعات", "es /entradas/": "Precios",
			"es /docs/a/": "Uno", "en /fr/x/": "No language of the site",
		} {
			lang, p, _ := strings.Cut(path, " ")
			if it, err := s.ByPath(t.Context(), member, lang, p); err != nil || it.Title != title {
				t.Errorf("%s: %q, %v", path, it.Title, err)
			}
		}
		// The translation is as closed as its original.
		if _, err := s.ByPath(t.Context(), visitor, "es", "/visit/hours/"); !errors.Is(err, content.ErrForbidden) {
			t.Errorf("Spanish page: %v", err)
		}
		es, err := s.ByPath(t.Context(), member, "es", "/visit/hours/")
		if err != nil || es.Fields.Text(content.FieldBody) != "[p](/es/entradas/)" || !slices.Equal(es.Languages, []string{"ar", "en", "es"}) {
			t.Errorf("%+v, %v", es, err)
		}
		var moved *content.Redirect
		if _, err := s.ByPath(t.Context(), member, "es", "/tarifas/"); !errors.As(err, &moved) || moved.To != "/es/entradas/" {
			t.Errorf("alias: %v", err)
		}
	})
}

func TestChangesOverTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var heard []string
		s := content.New(d, content.Options{OnChange: func(_ context.Context, _ *db.DB, ids []string) error {
			heard = append(heard, ids...)
			return nil
		}})
		var indexed []content.Item
		opts := Options{Store: s, IndexBatch: func(_ context.Context, tx *db.DB, items []content.Item) error {
			if tx.Tx() == nil {
				t.Error("indexed outside of the transaction")
			}
			indexed = append(indexed, items...)
			return nil
		}}
		run := func(files ...string) Summary {
			t.Helper()
			heard, indexed = nil, nil
			opts.FS = site(files...)
			return mustRun(t, opts)
		}
		counts := func(sum Summary) string {
			return fmt.Sprint(sum.Added, sum.Changed, sum.Unchanged, sum.Drafts, len(sum.Gone), sum.Removed, " ", len(indexed), len(heard))
		}
		a, b := "---\ntitle: A\nslug: x\ntopics: [Open data, mobile]\naliases: [/old/]\n---\nText", "---\ntitle: B\n---\n"
		if got := counts(run("a.md", a, "b.md", b)); got != "2 0 0 0 0 0 2 0" {
			t.Errorf("first: %s", got)
		}
		var first content.Item
		for _, it := range indexed {
			stored, err := s.Load(t.Context(), visitor, it.Ref, "en")
			if err != nil || fmt.Sprintf("%+v", it) != fmt.Sprintf("%+v", stored) {
				t.Errorf("indexed %+v\nstored  %+v, %v", it, stored, err)
			}
			if it.Title == "A" {
				first = it
			}
		}
		topics, err := s.LoadMany(t.Context(), visitor, []content.Ref{{Type: content.TypeTerm, ID: first.Fields.Strings(content.FieldTopics)[0]}}, "en")
		if err != nil || len(topics) != 1 {
			t.Errorf("topics %v, %v", topics, err)
		}
		if got := counts(run("a.md", a, "b.md", b)); got != "0 0 2 0 0 0 0 0" {
			t.Errorf("again: %s", got)
		}
		// The address moves on, the entity stays; its page gets a neighbour that takes the old one.
		if got := counts(run("a.md", strings.Replace(a, "slug: x", "slug: y", 1), "b.md", "---\ntitle: B\nslug: x\n---\n")); got != "0 2 0 0 0 0 2 0" {
			t.Errorf("moved: %s", got)
		}
		if it, err := s.ByPath(t.Context(), visitor, "en", "/x/"); err != nil || it.Title != "B" {
			t.Errorf("/x/ is %q, %v", it.Title, err)
		}
		if it, err := s.ByPath(t.Context(), visitor, "en", "/y/"); err != nil || it.ID != first.ID || !it.CreatedAt.Equal(first.CreatedAt) {
			t.Errorf("/y/ is %+v, %v", it, err)
		}
		var moved *content.Redirect
		for _, old := range []string{"/old/"} {
			if _, err := s.ByPath(t.Context(), visitor, "en", old); !errors.As(err, &moved) || moved.To != "/y/" {
				t.Errorf("%s: %v", old, err)
			}
		}
		// Edited on the site, then changed in its file.
		it, err := s.ByPath(t.Context(), admin, "en", "/y/")
		if err != nil {
			t.Fatal(err)
		}
		in := content.InputOf(it)
		in.Title = "Edited"
		if _, err := s.Save(t.Context(), admin, in); err != nil {
			t.Fatal(err)
		}
		sum := run("a.md", strings.Replace(a, "slug: x", "slug: y\ndraft: true", 1), "b.md", "---\ntitle: B\nslug: x\n---\n")
		if got := counts(sum); got != "0 1 1 1 0 0 0 1" || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Message, "edited on the site") {
			t.Errorf("to draft: %s %v", got, sum.Problems)
		}
		if _, err := s.ByPath(t.Context(), visitor, "en", "/y/"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("a draft is visible: %v", err)
		}
		history, err := s.History(t.Context(), admin, first.Ref, "en")
		if err != nil || len(history) != 4 {
			t.Errorf("history %+v, %v", history, err)
		}
		// Gone, and kept; gone, and removed.
		if got := counts(run("b.md", "---\ntitle: B\nslug: x\n---\n")); got != "0 0 1 0 1 0 0 0" {
			t.Errorf("gone: %s", got)
		}
		opts.Prune = func(gone []string) bool { return slices.Equal(gone, []string{"a.md"}) }
		if got := counts(run("b.md", "---\ntitle: B\nslug: x\n---\n")); got != "0 0 1 0 1 1 0 1" {
			t.Errorf("pruned: %s", got)
		}
		if _, err := s.Load(t.Context(), admin, first.Ref, "en"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("removed, yet %v", err)
		}
	})
}

func TestOneAddressForTwo(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store(d, "")
		editor := admin
		if _, err := s.Save(t.Context(), editor, content.Input{Bundle: "page", Lang: "en", Title: "Made here", Path: "/made/", State: content.Published}); err != nil {
			t.Fatal(err)
		}
		files := site(
			"a.md", "---\ntitle: A\nslug: same\n---\n", "b.md", "---\ntitle: B\nslug: same\naliases: [/same/, /other/]\n---\n", "c.md", "---\ntitle: C\naliases: /other/\n---\n",
			"d/_index.md", "---\ntitle: D\n---\n", "d/index.md", "---\ntitle: D2\n---\n", "d/README.md", "---\ntitle: D3\n---\n",
			"e.md", "---\ntitle: E\n---\n", "e.mdx", "---\ntitle: E2\n---\n",
			"made.md", "---\ntitle: Imported\n---\n",
		)
		sum := mustRun(t, Options{Store: s, FS: files})
		want := []string{
			"b.md: a.md has the same address: /same-2/ is taken",
			"c.md: the alias /other/ is the address of b.md",
			"d/README.md: d/_index.md has the same address: /d/readme/ is taken", "d/index.md: d/_index.md has the same address: /d/index/ is taken",
			"e.mdx: e.md has the same address: /e-2/ is taken", "e.mdx: e.md is the same page: kept as another one",
			"made.md: its address belongs to a page of the site: it is at /made-2/",
		}
		got := problems(sum)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if sum := mustRun(t, Options{Store: s, FS: files}); sum.Unchanged != 9 {
			t.Errorf("again: %+v", sum)
		}
	})
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret.md")
	os.WriteFile(secret, []byte("---\ntitle: Secret\n---\n"), 0o644)
	picture := filepath.Join(t.TempDir(), "p.png")
	os.WriteFile(picture, pngOf(t, 2, 2), 0o644)
	write("good.md", []byte("---\ntitle: Good\n---\n![Out](p.png) ![Up](../../p.png)"))
	write("huge.md", bytes.Repeat([]byte("word "), 1<<20+10))
	write("binary.md", []byte("a\x00b"))
	write("utf16.md", []byte("\xff\xfea\x00"))
	write(".git/x.md", []byte("x"))
	write("node_modules/y/README.md", []byte("x"))
	write("note.txt", []byte("x"))
	if err := os.Symlink(secret, filepath.Join(dir, "link.md")); err != nil {
		t.Skip(err)
	}
	os.Symlink(filepath.Dir(secret), filepath.Join(dir, "folder"))
	os.Symlink(picture, filepath.Join(dir, "p.png"))
	s := store(dbtest.SQLite(t), t.TempDir())
	sum := mustRun(t, Options{Dir: dir, Store: s})
	want := []string{
		"binary.md: is not text", "good.md: no image ../../p.png", "good.md: no image p.png", "huge.md: is larger than 5 MB",
		"link.md: is a link or a device, not a file", "utf16.md: is UTF-16: save it as UTF-8",
	}
	got := problems(sum)
	slices.Sort(got)
	if !slices.Equal(got, want) || sum.Files != 5 || sum.Added != 1 || sum.Skipped != 4 {
		t.Errorf("%q %+v", got, sum)
	}
	it, err := s.ByPath(t.Context(), visitor, "en", "/good/")
	if err != nil || it.Fields.Text(content.FieldBody) != "Out Up" {
		t.Errorf("%+v, %v", it, err)
	}
	if _, err := Run(t.Context(), Options{Dir: filepath.Join(dir, "none"), Store: s}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if sum, err := Run(t.Context(), Options{FS: fstest.MapFS{}, Store: s}); err != nil || sum.Files != 0 || !slices.Equal(sum.Gone, []string{"good.md"}) {
		t.Errorf("empty folder: %+v, %v", sum, err)
	}
}

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	m := image.NewGray(image.Rect(0, 0, w, h))
	m.SetGray(0, 0, color.Gray{Y: 200})
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store(d, t.TempDir())
		files := site("visit/a.md", "---\ntitle: A\n---\n![Plan](Plan.png)\n![Front](/img/front.png)\n![Vector](x.svg)\n{{< img src=\"plan.png\" alt=\"No\" >}}\n<img src=Plan.png alt=Again>")
		files["visit/Plan.png"] = &fstest.MapFile{Data: pngOf(t, 3, 2)}
		files["static/img/front.png"] = &fstest.MapFile{Data: pngOf(t, 4, 4)}
		files["visit/x.svg"] = &fstest.MapFile{Data: []byte("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>")}
		sum := mustRun(t, Options{FS: files, Store: s})
		want := []string{"visit/a.md: no image plan.png", "visit/a.md: image visit/x.svg is not a JPEG, PNG, GIF or WebP image"}
		if got := problems(sum); !slices.Equal(got, want) {
			t.Errorf("problems %q", got)
		}
		it, err := s.ByPath(t.Context(), visitor, "en", "/visit/a/")
		body := "![Plan](/files/visit/plan.png)\n![Front](/files/static/img/front.png)\nVector\nNo\n![Again](/files/visit/plan.png)"
		if err != nil || it.Fields.Text(content.FieldBody) != body {
			t.Errorf("%q, %v", it.Fields.Text(content.FieldBody), err)
		}
		f, err := s.FileByPath(t.Context(), "visit/plan.png")
		if err != nil || f.Width != 3 || f.Height != 2 || f.MIME != "image/png" {
			t.Errorf("%+v, %v", f, err)
		}
		// The picture changes, its page does not.
		files["visit/Plan.png"] = &fstest.MapFile{Data: pngOf(t, 5, 6)}
		if sum := mustRun(t, Options{FS: files, Store: s}); sum.Unchanged != 1 {
			t.Errorf("%+v", sum)
		}
		if f, err = s.FileByPath(t.Context(), "visit/plan.png"); err != nil || f.Width != 5 {
			t.Errorf("%+v, %v", f, err)
		}
		r, err := s.OpenFile(f)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if b, err := io.ReadAll(r); err != nil || int64(len(b)) != f.Size {
			t.Errorf("%d bytes of %d, %v", len(b), f.Size, err)
		}
	})
}

func TestCancelled(t *testing.T) {
	s := store(dbtest.SQLite(t), "")
	files := fstest.MapFS{}
	for i := range 500 {
		files[fmt.Sprintf("%03d.md", i)] = &fstest.MapFile{Data: []byte("# Page\n")}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	batches := 0
	var last Progress
	_, err := Run(ctx, Options{FS: files, Store: s, Progress: func(p Progress) { last = p }, IndexBatch: func(context.Context, *db.DB, []content.Item) error {
		if batches++; batches == 2 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if last.Total != 500 || last.Done < 150 || last.Done > 300 {
		t.Errorf("progress %+v", last)
	}
	boom := errors.New("boom")
	if _, err := Run(t.Context(), Options{FS: files, Store: s, IndexBatch: func(context.Context, *db.DB, []content.Item) error { return boom }}); !errors.Is(err, boom) {
		t.Errorf("indexing fails: %v", err)
	}
	sum := mustRun(t, Options{FS: files, Store: s})
	if sum.Unchanged < 150 || sum.Added+sum.Unchanged != 500 {
		t.Errorf("goes on: %+v", sum)
	}
}

func TestProgressLines(t *testing.T) {
	var b strings.Builder
	show := ProgressTo(&b, false)
	for i := range 5 {
		show(Progress{Done: i, Total: 4})
	}
	if got := b.String(); got != "0 of 4 files\n4 of 4 files\n" {
		t.Errorf("%q", got)
	}
}
