package search

import (
	"strings"
	"testing"
)

func marked(fragments []Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		if f.Match {
			b.WriteString("[" + f.Text + "]")
		} else {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

func TestHighlight(t *testing.T) {
	long := strings.Repeat("Nothing to see here at all. ", 40)
	for _, tt := range []struct{ name, lang, text, query, want string }{
		{"forms of a word", "en", "The herons nested; a heron nests here.", "nesting heron", "The [herons] [nested]; a [heron] [nests] here."},
		{"stop words", "en", "The pond is the pond.", "the pond", "The [pond] is the [pond]."},
		{"diacritics and case", "es", "El Jardín está abierto.", "jardin", "El [Jardín] está abierto."},
		{"Arabic", "ar", "الحديقة مفتوحة كل يوم", "مفتوحة", "الحديقة [مفتوحة] كل يوم"},
		{"Japanese", "ja", "水車小屋は日曜日に開きます", "水車小屋", "[水車小屋]は日曜日に開きます"},
		{"nothing", "en", "A text.", "zebra", "A text."},
		{"markup is text", "en", "<b>pond</b> & more", "pond", "<b>[pond]</b> & more"},
		{"no query", "en", "A text.", "", "A text."},
		{"empty", "en", "", "pond", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := marked(Highlight(tt.lang, tt.text, tt.query, 240)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
	got := marked(Highlight("en", long+"The heron nests in May. "+long, "heron", 120))
	if !strings.HasPrefix(got, "… ") || !strings.HasSuffix(got, " …") || !strings.Contains(got, "[heron]") || len(got) > 140 {
		t.Errorf("%q", got)
	}
	if got := marked(Highlight("en", strings.Repeat("x", 1000), "heron", 120)); len(got) > 130 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("en", "The heron\xffnests", "heron", 5)
	f.Add("ja", "水車\xe6小屋", "水車", 1)
	f.Fuzz(func(t *testing.T, lang, text, query string, limit int) {
		var b strings.Builder
		for _, fragment := range Highlight(lang, text, query, min(max(limit, 1), 1000)) {
			b.WriteString(fragment.Text)
		}
		got := strings.TrimSuffix(strings.TrimPrefix(b.String(), "… "), " …")
		if !strings.Contains(text, got) {
			t.Errorf("%q is no part of %q", got, text)
		}
	})
}
