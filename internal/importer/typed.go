package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"docent/internal/config"
	"docent/internal/content"
)

// typeNames are what authors call the types that a new site has.
var typeNames = map[string]string{
	"article": "article", "articles": "article", "blog": "article", "news": "article", "post": "article", "posts": "article",
	"event": "event", "events": "event", "faq": "faq", "faqs": "faq",
}

// typeOf finds the content type that a page is of: the one it names, and else a
// page.
func typeOf(types *content.Types, p *page) string {
	if _, ok := types.Type(content.TypeNode, p.bundle); ok {
		return p.bundle
	}
	if known := typeNames[p.bundle]; known != "" {
		if _, ok := types.Type(content.TypeNode, known); ok {
			return known
		}
	}
	return "page"
}

// otherNames are further names of fields in front matter.
var otherNames = map[string][]string{
	"place":  {"place", "location", "venue"},
	"when":   {"when", "start", "start_date", "event_date", "date"},
	"byline": {"byline", "author", "authors"},
	"image":  {"image", "featured_image", "cover", "hero", "thumbnail"},
}

// typed reads the fields of a type that only it has, from the entries of front
// matter that are named like them.
func typed(m matter, ct config.ContentType, report func(line int, format string, args ...any)) content.Fields {
	out := content.Fields{}
	for _, f := range ct.Fields {
		switch f.Name {
		case content.FieldSummary, content.FieldBody, content.FieldTopics, content.FieldSource:
			continue
		}
		names := otherNames[f.Name]
		if names == nil {
			names = []string{f.Name}
		}
		i := slices.IndexFunc(names, func(name string) bool { _, ok := m.values[name]; return ok })
		if i < 0 {
			continue
		}
		v, name := m.values[names[i]], names[i]
		value, ok := typedValue(m, f, v)
		switch {
		case !ok:
			report(v.line, "%s does not fit the field %s", name, f.Label)
		case value != nil && f.Multiple():
			out[f.Name] = value
		case value != nil:
			out[f.Name] = one(value)
		}
	}
	return out
}

// one is the first of several values.
func one(value any) any {
	if list, ok := value.([]any); ok {
		return list[0]
	}
	return value
}

// typedValue reads an entry as a field keeps it: nil when there is nothing in it,
// or nothing that an import could bring.
func typedValue(m matter, f config.Field, v value) (any, bool) {
	texts := v.list
	if v.text != "" {
		texts = []string{v.text}
	}
	if f.Type == config.FieldDateRange {
		return typedRange(m, f, v)
	}
	var out []any
	for _, text := range texts {
		text = plain(text)
		var x any = text
		ok := text != ""
		switch f.Type {
		case config.FieldText, config.FieldList, config.FieldDecimal, config.FieldEmail:
		case config.FieldLongText:
			x = strings.TrimSpace(v.text)
		case config.FieldDate:
			x, ok = typedDate(f, text)
		case config.FieldInteger:
			n, err := strconv.Atoi(text)
			x, ok = float64(n), err == nil
		case config.FieldBoolean:
			x, ok = text == "true" || text == "yes", slices.Contains([]string{"true", "yes", "false", "no"}, text)
		case config.FieldLink:
			u, err := url.Parse(text)
			ok = err == nil && (u.Scheme == "https" || u.Scheme == "http" || strings.HasPrefix(text, "/"))
		default:
			return nil, true
		}
		if !ok {
			return nil, false
		}
		out = append(out, x)
	}
	if len(out) == 0 {
		return nil, true
	}
	return out, true
}

// typedDate writes a date as fields keep it, with its time if it has one.
func typedDate(f config.Field, text string) (string, bool) {
	t, ok := parseDate(text)
	switch {
	case !ok:
		return "", false
	case f.Settings.Time && strings.Contains(text, ":"):
		return t.Format("2006-01-02T15:04:05Z"), true
	}
	return t.Format("2006-01-02"), true
}

// typedRange reads "when: {from, to}", or a start with an end beside it.
func typedRange(m matter, f config.Field, v value) (any, bool) {
	from := cmp.Or(v.below["from"].text, v.below["start"].text, v.text)
	to := cmp.Or(v.below["to"].text, v.below["end"].text, m.values["end"].text, m.values["end_date"].text)
	if from == "" {
		return nil, true
	}
	start, ok := typedDate(f, from)
	if !ok {
		return nil, false
	}
	out := map[string]any{"from": start}
	if to != "" {
		end, ok := typedDate(f, to)
		if !ok {
			return nil, false
		}
		if len(end) == len(start) && end >= start {
			out["to"] = end
		}
	}
	return out, true
}

// featured is the picture that front matter names for the page as a whole.
func featured(m matter) (src, alt string) {
	for _, name := range otherNames["image"] {
		v := m.values[name]
		if src = cmp.Or(v.text, v.below["src"].text, v.below["path"].text, v.below["url"].text, v.below["image"].text); src != "" {
			return src, plain(cmp.Or(v.below["alt"].text, m.values[name+"_alt"].text, m.values["image_alt"].text))
		}
	}
	return "", ""
}

// pictureField is the field in which a type keeps its picture, if it has one.
func pictureField(ct config.ContentType) (config.Field, bool) {
	f, ok := ct.Field("image")
	return f, ok && f.Type == config.FieldReference && f.Settings.Target == content.TypeMedia
}

// imageOrigin starts the names of images among the media.
const imageOrigin = "image:"

// putMedia makes media of images that were stored, so that they can be found and
// used again, with the alternative text that a page gives them.
func (r *run) putMedia(ctx context.Context, stored map[string]content.File) error {
	if _, ok := r.types.Type(content.TypeMedia, "image"); !ok || len(stored) == 0 {
		return nil
	}
	var items []content.Imported
	for name, f := range stored {
		base := path.Base(name)
		title := content.Humanize(strings.TrimSuffix(base, path.Ext(base)))
		known, isKnown := r.knownMedia[imageOrigin+name]
		alt := r.resolver.alt(name)
		if isKnown && (alt == "" || known.Edited) { // the pages that show it were not read again
			continue
		}
		alt = cmp.Or(alt, title)
		in := Picture(imageOrigin+name, r.Languages[0], title, alt, f)
		if known.Hash != in.Hash {
			items = append(items, in)
		}
	}
	slices.SortFunc(items, func(a, b content.Imported) int { return strings.Compare(a.Key, b.Key) })
	for part := range slices.Chunk(items, batchSize) {
		if _, err := r.Store.PutImported(ctx, part, r.IndexBatch); err != nil {
			return fmt.Errorf("store media: %w", err)
		}
	}
	return nil
}

// Picture is an image among the media, by the name that its import gives it.
func Picture(origin, lang, title, alt string, f content.File) content.Imported {
	sum := sha256.Sum256([]byte(fmt.Sprintln(converted, f.ID, title, alt)))
	return content.Imported{
		Key: origin, Origin: origin, Hash: hex.EncodeToString(sum[:]),
		Input: content.Input{
			Ref: content.Ref{Type: content.TypeMedia}, Bundle: "image", Lang: lang, Title: cut(title), State: content.Published,
			Access: &content.Access{}, Fields: content.Fields{"image": map[string]any{"file": f.ID}, "alt": alt},
		},
	}
}

// setPictures refers pages to their pictures, which are stored by now.
func (r *run) setPictures(ctx context.Context, pages []*page, imported []content.Imported) error {
	for i, p := range pages {
		if p.picture == "" {
			continue
		}
		id, err := r.Store.ImportedID(ctx, imageOrigin+p.picture)
		if err != nil {
			return err
		}
		if id != "" {
			imported[i].Fields["image"] = id
		}
	}
	return nil
}
