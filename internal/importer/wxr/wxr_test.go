package wxr

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/importer"
)

var (
	visitor = account.Account{Roles: []string{account.RoleAnonymous}, Permissions: map[account.Permission]bool{account.AccessContent: true}}
	admin   = account.Account{ID: "root", Roles: []string{account.RoleAdministrator}}
)

func opened(text string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func uploads(t *testing.T, names ...string) fstest.MapFS {
	t.Helper()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, name := range names {
		out[name] = &fstest.MapFile{Data: picture.Bytes()}
	}
	return out
}

func TestRun(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		store := content.New(d, content.Options{FilesDir: t.TempDir()})
		opts := Options{
			Open:  func() (io.ReadCloser, error) { return os.Open("testdata/mill.xml") },
			Store: store, Uploads: uploads(t, "2024/05/wheel.png"),
		}
		sum, err := Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Files != 6 || sum.Added != 6 || sum.Drafts != 3 {
			t.Errorf("%+v", sum)
		}
		said := map[string]bool{}
		for _, p := range sum.Problems {
			said[p.String()] = true
		}
		for _, want := range []string{
			`page 12 "Visit": image https://mill.example/blog/wp-content/uploads/gone.png is not among the uploads: its alternative text is kept`,
			`page 16 "Members": is kept as a draft: it asks for a password`,
			`post 15 "Minutes": is kept as a draft: it is private`,
			`nav_menu_item: 1 items of this type are left out`,
		} {
			if !said[want] {
				t.Errorf("not said: %s\nsaid: %v", want, said)
			}
		}
		if len(sum.Problems) != 4 {
			t.Errorf("problems %v", sum.Problems)
		}

		post, err := store.ByPath(t.Context(), visitor, "en", "/2024/05/a-day-at-the-mill/")
		if err != nil {
			t.Fatal(err)
		}
		wantBody := "The wheel turned **twice**. Read [when we open](/visit/hours/#winter).\n\n" +
			"![The wheel](/files/wp-content/uploads/2024/05/wheel.png)\n\nOak and iron\n\n" +
			"[https://video.example/watch?v=1](https://video.example/watch?v=1)"
		if post.Title != "A day at the mill & the pond" || post.Bundle != "article" || post.Fields.Text(content.FieldBody) != wantBody ||
			post.Fields.Text(content.FieldSummary) != "Two tides in one day." || post.Date.Format("2006-01-02T15:04") != "2024-05-08T09:30" {
			t.Errorf("post %q %q %q %v\n%s", post.Title, post.Bundle, post.Fields.Text(content.FieldSummary), post.Date, post.Fields.Text(content.FieldBody))
		}
		if n := len(post.Fields.Strings(content.FieldTopics)); n != 2 {
			t.Errorf("%d topics", n)
		}
		if _, err := store.FileByPath(t.Context(), "wp-content/uploads/2024/05/wheel.png"); err != nil {
			t.Errorf("image: %v", err)
		}
		if got := post.Fields.Text("byline"); got != "Ada Miller" {
			t.Errorf("author %q", got)
		}
		wheel, err := store.Load(t.Context(), visitor, content.Ref{Type: content.TypeMedia, ID: post.Fields.Text("image")}, "en")
		if err != nil || wheel.Title != "wheel" || wheel.Fields.Text("alt") != "An oak wheel" {
			t.Errorf("picture %q %q, %v", wheel.Title, wheel.Fields.Text("alt"), err)
		}
		term, err := store.ByPath(t.Context(), visitor, "en", "/topics/oak-iron/")
		if err != nil || term.Title != "Oak & iron" {
			t.Errorf("term %q, %v", term.Title, err)
		}

		visit, err := store.ByPath(t.Context(), visitor, "en", "/visit/")
		if err != nil {
			t.Fatal(err)
		}
		wantBody = "Come by boat.  \nOr on foot.\n\nA gate The gate\n\n" +
			"It is \\[sic] free. Book \\[gallery] [https://mill.example/a.mp3](https://mill.example/a.mp3)\n\n" +
			"```\na\n\nb\n```\n\n[https://map.example/mill](https://map.example/mill)"
		if got := visit.Fields.Text(content.FieldBody); got != wantBody || visit.Weight != 3 || !visit.IsSectionIndex {
			t.Errorf("page (weight %d, section %v)\n%s\nwant\n%s", visit.Weight, visit.IsSectionIndex, got, wantBody)
		}
		for _, hidden := range []string{"/visit/hours/not-yet/", "/minutes/", "/members/"} {
			if _, err := store.ByPath(t.Context(), visitor, "en", hidden); err == nil {
				t.Errorf("visitors see %s", hidden)
			}
			if _, err := store.ByPath(t.Context(), admin, "en", hidden); err != nil {
				t.Errorf("%s: %v", hidden, err)
			}
		}

		if sum, err = Run(t.Context(), opts); err != nil || sum.Unchanged != 6 || sum.Added+sum.Changed != 0 {
			t.Errorf("again: %+v, %v", sum, err)
		}
		text, err := os.ReadFile("testdata/mill.xml")
		if err != nil {
			t.Fatal(err)
		}
		opts.Open = opened(strings.Replace(string(text), "Closed.", "Open on Sundays.", 1))
		if sum, err = Run(t.Context(), opts); err != nil || sum.Unchanged != 5 || sum.Changed != 1 {
			t.Errorf("one changed: %+v, %v", sum, err)
		}
		hours, err := store.ByPath(t.Context(), visitor, "en", "/visit/hours/")
		if err != nil || hours.Fields.Text(content.FieldBody) != "## Winter\n\nOpen on Sundays." {
			t.Errorf("changed page %q, %v", hours.Fields.Text(content.FieldBody), err)
		}
		files, err := importer.Run(t.Context(), importer.Options{FS: fstest.MapFS{}, Store: store, Prune: func([]string) bool { return true }})
		if err != nil || files.Removed != 0 {
			t.Errorf("an import of files removed %d pages of another import, %v", files.Removed, err)
		}
	})
}

// Exports that are broken or mean harm end in an error that says so, soon.
func TestHostileExport(t *testing.T) {
	store := content.New(nil, content.Options{})
	head := `<?xml version="1.0"?><rss><channel><link>https://a.example</link>`
	var laughs strings.Builder
	laughs.WriteString(`<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY x SYSTEM "file:///etc/passwd">`)
	for c := 'b'; c < 'l'; c++ {
		laughs.WriteString(`<!ENTITY ` + string(c) + ` "` + strings.Repeat("&"+string(c-1)+";", 10) + `">`)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"empty":           {"", "not a WordPress export"},
		"text":            {"hello", "not a WordPress export"},
		"a page":          {"<html><body>x</body></html>", "not a WordPress export"},
		"cut off":         {head + "<item><title>x", "unexpected EOF"},
		"no site":         {"<rss><channel></channel></rss>", "does not say which site"},
		"laughs":          {laughs.String() + `]><rss><channel><link>&k;</link></channel></rss>`, "invalid character entity &k;"},
		"external entity": {laughs.String() + `]><rss><channel><link>&x;</link></channel></rss>`, "invalid character entity &x;"},
		"deep":            {head + "<item>" + strings.Repeat("<a>", 20_000), "read export"},
		"huge":            {head + "<item><title>" + strings.Repeat("x", maxItem+1<<20), "has an item of more than"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(t.Context(), Options{Open: opened(tt.text), Store: store})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// Control characters, which real exports hold, do not end an import.
func TestControlCharacters(t *testing.T) {
	n := 0
	_, err := read(strings.NewReader("<rss><channel><item><title>a\x0b\x00b&nbsp;c</title></item></channel></rss>"), func(it *item) error {
		n++
		if it.Title != "a  b\u00a0c" {
			t.Errorf("%q", it.Title)
		}
		return nil
	})
	if err != nil || n != 1 {
		t.Errorf("%d items, %v", n, err)
	}
}
