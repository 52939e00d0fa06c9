package i18n

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func ctxFor(lang string) context.Context {
	return WithLanguage(context.Background(), lang)
}

func TestT(t *testing.T) {
	tests := []struct {
		name, lang, key string
		args            []any
		want            string
	}{
		{name: "plain", lang: "en", key: "action.stop", want: "Stop"},
		{name: "another language", lang: "es", key: "action.stop", want: "Detener"},
		{name: "region falls to its base", lang: "es-MX", key: "action.stop", want: "Detener"},
		{name: "no catalogue falls to English", lang: "ja", key: "action.stop", want: "Stop"},
		{name: "nonsense falls to English", lang: "../x", key: "action.stop", want: "Stop"},
		{name: "one", lang: "en", key: "sources.cited", args: []any{1}, want: "1 cited"},
		{name: "other", lang: "en", key: "answer.pages", args: []any{4}, want: "Written by software from 4 pages."},
		{name: "singular", lang: "en", key: "answer.pages", args: []any{1}, want: "Written by software from one page."},
		{name: "unknown key", lang: "en", key: "no.such.key", want: "no.such.key"},
		{name: "percent in an argument", lang: "en", key: "error.reference", args: []any{"100%d"}, want: "Reference for the site’s team: 100%d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := T(ctxFor(tt.lang), tt.key, tt.args...); got != tt.want {
				t.Errorf("T(%s, %s) = %q, want %q", tt.lang, tt.key, got, tt.want)
			}
		})
	}
}

func TestArabicPluralsDiffer(t *testing.T) {
	seen := map[string]int{}
	for _, n := range []int{0, 1, 2, 3, 11, 100} {
		text := T(ctxFor("ar"), "answer.pages", n)
		if prev, ok := seen[text]; ok {
			t.Errorf("%d and %d give the same text %q", prev, n, text)
		}
		seen[text] = n
		if strings.ContainsAny(text, "٠١٢٣٤٥٦٧٨٩") {
			t.Errorf("%q has Arabic-Indic digits", text)
		}
	}
}

func TestLanguageDefaults(t *testing.T) {
	if got := Language(context.Background()); got != Default {
		t.Errorf("Language() = %q, want %q", got, Default)
	}
	if got := Language(ctxFor("")); got != Default {
		t.Errorf("Language(empty) = %q, want %q", got, Default)
	}
}

func TestDirection(t *testing.T) {
	for lang, want := range map[string]string{
		"ar": "rtl", "he": "rtl", "fa": "rtl", "ur": "rtl", "en": "ltr", "ja": "ltr", "": "ltr", "!": "ltr", "az-Arab": "rtl",
	} {
		if got := Direction(lang); got != want {
			t.Errorf("Direction(%q) = %q, want %q", lang, got, want)
		}
	}
}

func TestDates(t *testing.T) {
	at := time.Date(2027, time.March, 2, 10, 31, 0, 0, time.UTC)
	for lang, want := range map[string]string{
		"en": "2 March 2027, 10:31", "es": "2 de marzo de 2027, 10:31", "ar": "2 مارس 2027، 10:31",
	} {
		if got := DateTime(ctxFor(lang), at); got != want {
			t.Errorf("DateTime(%s) = %q, want %q", lang, got, want)
		}
	}
}

var (
	// A key may be completed by a value: then it ends in a dot and stands for all
	// keys that begin with it.
	usedKey = regexp.MustCompile(`\bT\([\w.()]+, "([a-z0-9_.]+)"`)
	verb    = regexp.MustCompile(`%(?:\[\d+\])?[a-z]`)
)

// usedKeys collects the literal keys in every Go and templ file of the module.
func usedKeys(t *testing.T) map[string]string {
	t.Helper()
	keys := map[string]string{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "node_modules" || base == "var" || (strings.HasPrefix(base, ".") && base != "..") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_templ.go") ||
			!(strings.HasSuffix(name, ".go") || strings.HasSuffix(name, ".templ")) {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range usedKey.FindAllStringSubmatch(string(data), -1) {
			keys[m[1]] = name
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestEveryUsedKeyExistsInEveryLanguage(t *testing.T) {
	used := usedKeys(t)
	if len(used) < 50 {
		t.Fatalf("found only %d keys: the pattern no longer matches how T is called", len(used))
	}
	for _, lang := range Languages() {
		for key, file := range used {
			if !hasKey(load().entries[lang], key) {
				t.Errorf("%s.json lacks %q, used in %s", lang, key, file)
			}
		}
	}
}

func hasKey(entries map[string]entry, key string) bool {
	if !strings.HasSuffix(key, ".") {
		_, ok := entries[key]
		return ok
	}
	for k := range entries {
		if strings.HasPrefix(k, key) {
			return true
		}
	}
	return false
}

func isUsed(used map[string]string, key string) bool {
	if _, ok := used[key]; ok {
		return true
	}
	for prefix := range used {
		if strings.HasSuffix(prefix, ".") && strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

func TestCataloguesAgree(t *testing.T) {
	english := load().entries[Default]
	used := usedKeys(t)
	for _, key := range slices.Sorted(maps.Keys(english)) {
		if !isUsed(used, key) {
			t.Errorf("%q is used nowhere", key)
		}
	}
	for _, lang := range Languages() {
		entries := load().entries[lang]
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			en, ok := english[key]
			if !ok {
				t.Errorf("%s.json has %q, which English lacks", lang, key)
				continue
			}
			e := entries[key]
			if (e.forms == nil) != (en.forms == nil) {
				t.Errorf("%s.json: %q has plural forms in one language only", lang, key)
			}
			if e.forms == nil && e.text == "" {
				t.Errorf("%s.json: %q is empty", lang, key)
			}
			if e.forms != nil && e.forms["other"] == "" {
				t.Errorf("%s.json: %q has no form \"other\"", lang, key)
			}
			if got, want := verbsOf(e), verbsOf(en); !slices.Equal(got, want) {
				t.Errorf("%s.json: %q uses %v, English uses %v", lang, key, got, want)
			}
		}
	}
}

// verbsOf returns the distinct verbs of a message's most general form.
func verbsOf(e entry) []string {
	text := e.text
	if e.forms != nil {
		text = e.forms["other"]
	}
	verbs := verb.FindAllString(text, -1)
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for n := range 200 {
				T(ctxFor("ar"), "answer.pages", n)
				T(ctxFor("en"), "sources.cited", n)
			}
		})
	}
	wg.Wait()
}

func BenchmarkT(b *testing.B) {
	ctx := ctxFor("en")
	for b.Loop() {
		T(ctx, "action.stop")
	}
}
