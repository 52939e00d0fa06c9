package content

import (
	"slices"
	"strings"
	"testing"
)

func TestNormalizePath(t *testing.T) {
	for in, want := range map[string]string{
		"": "/", "/": "/", "//": "/", "a": "/a/", "/A/B/": "/a/b/", "/ÜBER/": "/über/", "/cafe\u0301/": "/caf\u00e9/", "/visitas/الساعات": "/visitas/الساعات/",
		"/a.html": "/a.html/", "/~x_y-z": "/~x_y-z/",
	} {
		got, err := NormalizePath(in)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
		if again, err := NormalizePath(got); err != nil || again != got {
			t.Errorf("%q is not stable: %q, %v", got, again, err)
		}
	}
	for _, in := range []string{"/a//b", "/a/./b", "/../a", "/a b", "/a?b", "/a#b", "/a%20b", `/a\b`, "/a\x00", "/a\nb", "/\xff", "/" + strings.Repeat("a", 1100), "/<a>"} {
		if got, err := NormalizePath(in); err == nil {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// FuzzCleanPath checks that whatever a path is made of, it is one that
// NormalizePath accepts as it is.
func FuzzCleanPath(f *testing.F) {
	for _, s := range []string{"", "/a b/../C/", "x\x00y", "İ/ß", strings.Repeat("é/", 900), "...", "\u0345"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := CleanPath(s)
		if again, err := NormalizePath(p); err != nil || again != p {
			t.Errorf("%q became %q, which is %q, %v", s, p, again, err)
		}
		slug := Slug(s)
		if slug == "" {
			return
		}
		if again, err := NormalizePath("/" + slug + "/"); err != nil || again != "/"+slug+"/" {
			t.Errorf("%q became the slug %q, which is %q, %v", s, slug, again, err)
		}
	})
}

func TestSlugs(t *testing.T) {
	for in, want := range map[string]string{"Opening hours, 2026!": "opening-hours-2026", "  ": "", "Ça va?": "ça-va", "a.b_c": "a-b-c", "日本語": "日本語"} {
		if got := Slug(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	for in, want := range map[string]string{"plain-language": "Plain language", "": "", "--": "--", "élan_vital": "Élan vital"} {
		if got := Humanize(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if got := Parents("/a/b/c/"); !slices.Equal(got, []string{"/a/b/", "/a/", "/"}) {
		t.Errorf("parents %q", got)
	}
	if got := Parents("/"); got != nil {
		t.Errorf("parents of the root %q", got)
	}
}
