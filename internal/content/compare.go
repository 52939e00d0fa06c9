package content

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sergi/go-diff/diffmatchpatch"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
)

// A DiffKind says how the two sides of a field are told apart.
type DiffKind string

// The kinds of differences.
const (
	DiffText   DiffKind = "text"   // [FieldDiff.Segments]
	DiffValues DiffKind = "values" // [FieldDiff.Before] and [FieldDiff.After], with texts
	DiffImages DiffKind = "images" // the same, with images
)

// A Comparison is two revisions of a translation, field by field.
type Comparison struct {
	A, B   Item
	Fields []FieldDiff // the title first, then fields in the order of the type, then other parts that differ
}

// A FieldDiff is one field of both revisions.
type FieldDiff struct {
	Name          string
	Label         string // "" for parts that are no fields: title, path, date, menu, view_roles
	Kind          DiffKind
	Changed       bool
	Segments      []Segment // of texts, word by word; also when nothing changed
	Before, After []RenderedValue
}

// Op tells what became of a part of a text.
type Op string

// What a segment says.
const (
	Same    Op = "same"
	Removed Op = "removed"
	Added   Op = "added"
)

// A Segment is a part of a text that both revisions have, or only one.
type Segment struct {
	Op   Op
	Text string
}

// diffTime bounds how long one text is compared; what is left then is told apart
// more roughly.
const diffTime = 500 * time.Millisecond

// Compare shows what changed from one revision of a translation to another. An
// empty a means the published revision, an empty b the latest.
func (s *Store) Compare(ctx context.Context, who account.Account, ref Ref, lang, a, b string) (Comparison, error) {
	cur, err := s.latest(ctx, ref.ID, lang)
	if err != nil {
		return Comparison{}, err
	}
	if a == "" {
		if a = cur.PublishedID.String; a == "" {
			return Comparison{}, db.ErrNotFound
		}
	}
	if b == "" {
		b = cur.LatestID
	}
	var c Comparison
	if c.A, err = s.Revision(ctx, who, ref, lang, a); err != nil {
		return Comparison{}, err
	}
	if c.B, err = s.Revision(ctx, who, ref, lang, b); err != nil {
		return Comparison{}, err
	}
	c.Fields, err = s.compare(ctx, who, c.A, c.B)
	return c, err
}

// CompareItems compares two states of one translation that need not be stored,
// such as both sides of a [Conflict].
func (s *Store) CompareItems(ctx context.Context, who account.Account, a, b Item) (Comparison, error) {
	fields, err := s.compare(ctx, who, a, b)
	return Comparison{A: a, B: b, Fields: fields}, err
}

func (s *Store) compare(ctx context.Context, who account.Account, a, b Item) ([]FieldDiff, error) {
	types, err := s.Types(ctx)
	if err != nil {
		return nil, err
	}
	ct, known := types.Type(a.Type, a.Bundle)
	if !known {
		for _, name := range fieldNames(a.Fields, b.Fields) {
			ct.Fields = append(ct.Fields, config.Field{Name: name, Label: Humanize(name), Type: config.FieldLongText})
		}
	}
	l, err := s.lookup(ctx, who, types, []Item{a, b})
	if err != nil {
		return nil, err
	}
	diffs := []FieldDiff{textDiff("title", "", a.Title, b.Title)}
	for _, f := range ct.Fields {
		before, after := a.Fields[f.Name], b.Fields[f.Name]
		if before == nil && after == nil {
			continue
		}
		diffs = append(diffs, l.diff(f, a.Lang, before, after))
	}
	for _, part := range []struct {
		name          string
		before, after string
	}{
		{"path", a.Path, b.Path},
		{"date", dateText(a.Date), dateText(b.Date)},
		{"menu", strings.TrimSpace(a.Menu + " " + a.MenuTitle), strings.TrimSpace(b.Menu + " " + b.MenuTitle)},
		{"view_roles", strings.Join(a.ViewRoles, ", "), strings.Join(b.ViewRoles, ", ")},
	} {
		if part.before != part.after {
			diffs = append(diffs, textDiff(part.name, "", part.before, part.after))
		}
	}
	return diffs, nil
}

func dateText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.DateOnly)
}

// diff compares the values of one field.
func (l *lookup) diff(f config.Field, lang string, before, after any) FieldDiff {
	label := f.LabelIn(lang)
	switch f.Type {
	case config.FieldText, config.FieldLongText:
		if !f.Multiple() {
			a, _ := longText(before)
			b, _ := longText(after)
			d := textDiff(f.Name, label, a, b)
			d.Changed = d.Changed || !reflect.DeepEqual(before, after)
			return d
		}
	case config.FieldComponents:
		d := textDiff(f.Name, label, componentsText(before), componentsText(after))
		d.Changed = d.Changed || !reflect.DeepEqual(before, after) // a block may have other settings
		return d
	}
	d := FieldDiff{Name: f.Name, Label: label, Kind: DiffValues, Changed: !reflect.DeepEqual(before, after)}
	view := config.ViewItem{Field: f.Name, Formatter: config.Formatters(f.Type)[0]}
	d.Before, d.After = l.values(f, view, lang, before), l.values(f, view, lang, after)
	if slices.ContainsFunc(append(slices.Clone(d.Before), d.After...), func(v RenderedValue) bool { return v.Image != nil }) {
		d.Kind = DiffImages
	}
	return d
}

// componentsText tells components as text, blocks by their names.
func componentsText(value any) string {
	var b strings.Builder
	list, _ := value.([]any)
	for _, part := range list {
		m, _ := part.(map[string]any)
		if m["type"] == "block" {
			name, _ := m["block"].(string)
			b.WriteString("[" + name + "]\n\n")
			continue
		}
		text, _ := longText(m)
		b.WriteString(text + "\n\n")
	}
	return strings.TrimSpace(b.String())
}

func textDiff(name, label, a, b string) FieldDiff {
	return FieldDiff{Name: name, Label: label, Kind: DiffText, Changed: a != b, Segments: Words(a, b)}
}

// Words compares two texts word by word.
func Words(a, b string) []Segment {
	if a == b {
		if a == "" {
			return nil
		}
		return []Segment{{Same, a}}
	}
	// Every distinct word becomes one rune, so that the library, which compares
	// characters, compares words.
	var words []string
	index := map[string]rune{}
	encode := func(text string) []rune {
		var out []rune
		for _, w := range splitWords(text) {
			r, ok := index[w]
			if !ok {
				r = wordRune(len(words))
				index[w] = r
				words = append(words, w)
			}
			out = append(out, r)
		}
		return out
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = diffTime
	diffs := d.DiffMainRunes(encode(a), encode(b), false)
	diffs = d.DiffCleanupSemantic(diffs)
	var out []Segment
	for _, diff := range diffs {
		var text strings.Builder
		for _, r := range diff.Text {
			text.WriteString(words[runeWord(r)])
		}
		op := Same
		switch diff.Type {
		case diffmatchpatch.DiffDelete:
			op = Removed
		case diffmatchpatch.DiffInsert:
			op = Added
		}
		if text.Len() > 0 {
			out = append(out, Segment{op, text.String()})
		}
	}
	return out
}

// Runes stand for words; the halves of surrogate pairs are no runes.
const (
	firstSurrogate = 0xD800
	surrogates     = 0x800
)

func wordRune(n int) rune {
	r := rune(n + 1)
	if r >= firstSurrogate {
		r += surrogates
	}
	return r
}

func runeWord(r rune) int {
	if r >= firstSurrogate {
		r -= surrogates
	}
	return int(r) - 1
}

// splitWords cuts a text into words, white space, and single other characters;
// of scripts without spaces every character is a word.
func splitWords(text string) []string {
	var out []string
	start, last := 0, -1
	for i, r := range text {
		class := wordClass(r)
		if i > 0 && (class != last || class == 2) {
			out = append(out, text[start:i])
			start = i
		}
		last = class
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

func wordClass(r rune) int {
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return 2
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’':
		return 0
	case unicode.IsSpace(r):
		return 1
	}
	return 2
}
