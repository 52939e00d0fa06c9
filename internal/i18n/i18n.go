// Package i18n gives the words of the interface in the reader's language: one
// embedded catalogue per language, with plural forms, dates and text direction.
package i18n

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

// Default is the language used when a context names none, and where a catalogue
// of another language lacks a message.
const Default = "en"

//go:embed locales/*.json
var locales embed.FS

// entry is one message of a catalogue: a text, or one text per plural form of the
// first argument. Texts use the verbs of package fmt with explicit indexes.
type entry struct {
	text  string
	forms map[string]string
}

// UnmarshalJSON accepts a string or an object from plural form to string.
func (e *entry) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		return json.Unmarshal(data, &e.forms)
	}
	return json.Unmarshal(data, &e.text)
}

// texts holds the parsed catalogues and one printer for each of them.
type texts struct {
	entries  map[string]map[string]entry
	printers map[string]*message.Printer
}

// load is evaluated once: the embedded catalogues cannot change while the
// program runs.
var load = sync.OnceValue(func() texts {
	t, err := parse()
	if err != nil {
		panic(err)
	}
	return t
})

func parse() (texts, error) {
	t := texts{entries: map[string]map[string]entry{}, printers: map[string]*message.Printer{}}
	files, err := locales.ReadDir("locales")
	if err != nil {
		return t, fmt.Errorf("i18n: %w", err)
	}
	builder := catalog.NewBuilder(catalog.Fallback(language.MustParse(Default)))
	for _, file := range files {
		lang := strings.TrimSuffix(file.Name(), ".json")
		data, err := locales.ReadFile(path.Join("locales", file.Name()))
		if err != nil {
			return t, fmt.Errorf("i18n: %w", err)
		}
		var entries map[string]entry
		if err := json.Unmarshal(data, &entries); err != nil {
			return t, fmt.Errorf("i18n: %s: %w", file.Name(), err)
		}
		tag, err := language.Parse(lang)
		if err != nil {
			return t, fmt.Errorf("i18n: %s: %w", file.Name(), err)
		}
		for key, e := range entries {
			if err := builder.Set(tag, key, e.message()); err != nil {
				return t, fmt.Errorf("i18n: %s: %s: %w", file.Name(), key, err)
			}
		}
		t.entries[lang] = entries
		// Western digits in every language: numbers stand beside content, whose
		// digits are left as they are.
		t.printers[lang] = message.NewPrinter(language.MustParse(lang+"-u-nu-latn"), message.Catalog(builder))
	}
	return t, nil
}

func (e entry) message() catalog.Message {
	if e.forms == nil {
		return catalog.String(e.text)
	}
	var cases []any
	for _, form := range []string{"=0", "=1", "zero", "one", "two", "few", "many", "other"} {
		if text, ok := e.forms[form]; ok {
			cases = append(cases, form, text)
		}
	}
	return plural.Selectf(1, "%d", cases...)
}

type contextKey struct{}

// WithLanguage returns a context in which texts are in lang, a BCP 47 tag.
func WithLanguage(ctx context.Context, lang string) context.Context {
	return context.WithValue(ctx, contextKey{}, lang)
}

// Language returns the language set by WithLanguage, or Default.
func Language(ctx context.Context) string {
	if lang, ok := ctx.Value(contextKey{}).(string); ok && lang != "" {
		return lang
	}
	return Default
}

// T returns the text for key in the context's language. Args fill the text's
// verbs; a text with plural forms counts by the first of them. An unknown key
// comes back as itself, which the tests of this package keep from happening.
func T(ctx context.Context, key string, args ...any) string {
	t := load()
	lang := catalogueFor(t, Language(ctx))
	if len(args) == 0 {
		if e, ok := t.entries[lang][key]; ok && e.forms == nil {
			return e.text
		}
	}
	return t.printers[lang].Sprintf(key, args...)
}

// catalogueFor returns the language whose catalogue serves lang: lang itself, its
// base ("es" for "es-MX"), or Default.
func catalogueFor(t texts, lang string) string {
	if _, ok := t.printers[lang]; ok {
		return lang
	}
	base, _, _ := strings.Cut(lang, "-")
	if _, ok := t.printers[base]; ok {
		return base
	}
	return Default
}

// Languages returns the languages the interface is translated into, sorted.
func Languages() []string {
	return slices.Sorted(maps.Keys(load().printers))
}

// Name returns a language's name in itself, or the tag when it is not known.
func Name(lang string) string {
	if name, ok := names[lang]; ok {
		return name
	}
	return lang
}

// Direction returns "rtl" for languages written from right to left, else "ltr".
func Direction(lang string) string {
	tag, err := language.Parse(lang)
	if err != nil {
		return "ltr"
	}
	script, _ := tag.Script()
	switch script.String() {
	case "Arab", "Hebr", "Thaa", "Syrc", "Nkoo", "Adlm", "Rohg":
		return "rtl"
	}
	return "ltr"
}
