package importer

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/content"
)

func picture(t *testing.T, size int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, size, size))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Front matter fills the fields of the type that a page is of.
func TestTypedFields(t *testing.T) {
	for _, tt := range []struct {
		matter string
		bundle string
		fields string // those that only the type has, in order of their names
		note   string
	}{
		{"type: event\nwhen: {from: 2026-05-01 19:00, to: 2026-05-01 21:30}\nplace: The pond", "event", "place=The pond when=map[from:2026-05-01T19:00:00Z to:2026-05-01T21:30:00Z]", ""},
		{"type: events\nstart: 2026-05-01\nend: 2026-05-03\nlocation: Hall", "event", "place=Hall when=map[from:2026-05-01 to:2026-05-03]", ""},
		{"type: event\ndate: 2026-05-01T10:00:00Z", "event", "when=map[from:2026-05-01T10:00:00Z]", ""},
		{"type: event\nwhen: soon", "event", "", "a.md:3: when does not fit the field When"},
		{"type: event\nstart: 2026-05-03\nend: 2026-05-01", "event", "when=map[from:2026-05-03]", ""},
		{"type: post\nplace: nowhere", "article", "", ""},
		{"type: landing page", "page", "", ""},
		{"place: nowhere", "page", "", ""},
	} {
		t.Run(tt.matter, func(t *testing.T) {
			s := store(dbtest.SQLite(t), t.TempDir())
			sum, err := Run(t.Context(), Options{Store: s, FS: site("a.md", "---\n"+tt.matter+"\ntitle: A\n---\nText.\n")})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(problems(sum), "\n"); got != tt.note {
				t.Errorf("problems %q", got)
			}
			it, err := s.ByPath(t.Context(), admin, "en", "/a/")
			if err != nil {
				t.Fatal(err)
			}
			delete(it.Fields, content.FieldBody)
			var got []string
			for _, name := range []string{"place", "when"} {
				if v, ok := it.Fields[name]; ok {
					got = append(got, fmt.Sprintf("%s=%v", name, v))
				}
			}
			if strings.Join(got, " ") != tt.fields || len(it.Fields) != len(got) || it.Bundle != tt.bundle {
				t.Errorf("%s %v", it.Bundle, it.Fields)
			}
		})
	}
}

// Images of an import stand in the media library, once each, and articles refer
// to theirs.
func TestImagesBecomeMedia(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := store(d, t.TempDir())
		files := site("news/_index.md", "---\ntitle: News\n---\n![A gate](/images/gate.png)", "news/a.md", "---\ntitle: A\ntype: article\nimage: wheel.png\nimage_alt: The wheel\n---\nText.",
			"news/b.md", "---\ntitle: B\ntype: article\ncover: {src: /images/gate.png}\n---\nText.", "news/wheel.png", picture(t, 3), "images/gate.png", picture(t, 4))
		for range 2 {
			if sum, err := Run(t.Context(), Options{Store: s, FS: files}); err != nil || len(sum.Problems) > 0 {
				t.Fatal(err, problems(sum))
			}
		}
		media, total, err := s.List(t.Context(), visitor, content.Filter{Type: content.TypeMedia, Order: content.ByTitle})
		if err != nil || total != 2 {
			t.Fatalf("%d images among the media, %v", total, err)
		}
		gate, wheel := media[0], media[1]
		if gate.Title != "Gate" || gate.Fields.Text("alt") != "A gate" || wheel.Fields.Text("alt") != "The wheel" {
			t.Errorf("%q %q, %q", gate.Title, gate.Fields.Text("alt"), wheel.Fields.Text("alt"))
		}
		for path, want := range map[string]string{"/news/a/": wheel.ID, "/news/b/": gate.ID} {
			it, err := s.ByPath(t.Context(), visitor, "en", path)
			if err != nil || it.Fields.Text("image") != want {
				t.Errorf("%s has %q, %v", path, it.Fields.Text("image"), err)
			}
			rendered, err := s.Render(t.Context(), visitor, it, "teaser")
			if err != nil || len(rendered) != 1 || rendered[0].Values[0].Item == nil && rendered[0].Values[0].Image == nil {
				t.Errorf("%s shows %+v, %v", path, rendered, err)
			}
		}
		before := gate.Fields
		if _, err := Run(t.Context(), Options{Store: s, FS: files}); err != nil {
			t.Fatal(err)
		}
		if again, err := s.Load(t.Context(), visitor, gate.Ref, "en"); err != nil || !reflect.DeepEqual(again.Fields, before) || again.RevisionID != gate.RevisionID {
			t.Errorf("an unchanged image was written again: %v", err)
		}
		gone, err := Run(t.Context(), Options{Store: s, FS: site(), Prune: func([]string) bool { return true }})
		if err != nil || gone.Removed != 3 {
			t.Errorf("%d pages removed, %v", gone.Removed, err)
		}
	})
}
