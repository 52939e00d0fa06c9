package content

import (
	"context"
	"errors"
	"slices"
	"strings"

	"docent/db"
	"docent/internal/media"
)

// ReadText reads what a document says, once, and has the index follow.
func (s *Store) ReadText(ctx context.Context, hash string) error {
	if s.opts.Documents == nil {
		return nil
	}
	if done, err := s.hasText(ctx, hash); err != nil || done {
		return err
	}
	f, err := s.fileWhere(ctx, "hash = ? and private = ?", hash, true)
	if errors.Is(err, db.ErrNotFound) {
		return nil // gone again
	}
	if err != nil {
		return err
	}
	file, err := s.OpenFile(f)
	if errors.Is(err, db.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	w, err := s.opts.Documents.Read(ctx, file, f.MIME)
	if ctx.Err() != nil {
		return ctx.Err() // the program stops: another time
	}
	t := fileText{Hash: hash, Text: strings.ReplaceAll(strings.Join(w.Pages, "\f"), "\x00", ""), Cut: w.Cut}
	switch {
	case errors.Is(err, media.ErrSlow):
		t.Problem = media.ErrSlow.Error()
	case errors.Is(err, media.ErrDamaged), errors.Is(err, media.ErrUnknown):
		t.Problem = media.ErrDamaged.Error()
	case err != nil:
		return err
	}
	return s.d.InTx(ctx, func(tx *db.DB) error {
		if err := putFileText(ctx, tx, t); err != nil {
			return err
		}
		ids, err := s.In(tx).mediaWith(ctx, hash)
		if err != nil || len(ids) == 0 {
			return err
		}
		return s.opts.OnChange(ctx, tx, ids)
	})
}

// A DocumentText is what a document says.
type DocumentText struct {
	Body    string // Markdown
	Read    bool   // it was read already
	Cut     bool   // there is more than was read
	Problem string // why it could not be read
}

// DocumentText returns what the document that an item holds says.
func (s *Store) DocumentText(ctx context.Context, it Item) (DocumentText, error) {
	files, err := s.Files(ctx, it.Fields.FileIDs())
	if err != nil {
		return DocumentText{}, err
	}
	for _, f := range files {
		if f.IsImage() {
			continue
		}
		texts, err := s.fileTexts(ctx, []string{f.Hash})
		if err != nil {
			return DocumentText{}, err
		}
		t, ok := texts[f.Hash]
		return DocumentText{Body: s.pages(it.Lang, t.Text), Read: ok, Cut: t.Cut, Problem: t.Problem}, nil
	}
	return DocumentText{}, nil
}

// pages heads each page of a printed document, so that passages can be found there.
func (s *Store) pages(lang, text string) string {
	pages := strings.Split(text, "\f")
	if len(pages) < 2 {
		return text
	}
	var out strings.Builder
	for i, page := range pages {
		if page != "" {
			out.WriteString("## " + s.opts.PageLabel(lang, i+1) + "\n\n" + page + "\n\n")
		}
	}
	return strings.TrimSpace(out.String())
}

// searchable is what the index holds of published items: pages as they are, and
// media whose documents say something, as their text. Media that does not stand
// alone is for those who may see a page that shows it.
func (s *Store) searchable(ctx context.Context, items []Item) ([]Item, error) {
	var fileIDs []string
	names := map[string][]string{}
	for _, it := range items {
		if it.Type == TypeMedia {
			held := it.Fields.FileIDs()
			fileIDs = append(fileIDs, held...)
			names[it.ID] = []string{it.ID}
			for _, id := range held {
				names[fileTarget(id)] = append(names[fileTarget(id)], it.ID)
			}
		}
	}
	types, err := s.Types(ctx)
	if err != nil {
		return nil, err
	}
	for i, it := range items {
		if it.Type == TypeNode {
			items[i] = s.indexed(types, it)
		}
	}
	if len(names) == 0 {
		return slices.DeleteFunc(items, func(it Item) bool { return it.Type != TypeNode }), nil
	}
	files, err := s.Files(ctx, fileIDs)
	if err != nil {
		return nil, err
	}
	var hashes []string
	for _, f := range files {
		hashes = append(hashes, f.Hash)
	}
	texts, err := s.fileTexts(ctx, hashes)
	if err != nil {
		return nil, err
	}
	pages, err := s.pagesWith(ctx, names)
	if err != nil {
		return nil, err
	}
	out := items[:0]
	for _, it := range items {
		if it.Type == TypeMedia {
			var ok bool
			if it, ok = s.asPage(it, files, texts, pages[it.ID]); !ok {
				continue
			}
		}
		if it.Type == TypeNode || it.Type == TypeMedia {
			out = append(out, it)
		}
	}
	return out, nil
}

// asPage is a media item as the index holds it, if it does.
func (s *Store) asPage(it Item, files map[string]File, texts map[string]fileText, pages []Item) (Item, bool) {
	text, standalone := "", false
	for _, id := range it.Fields.FileIDs() {
		if f, ok := files[id]; ok && !f.IsImage() {
			text += s.pages(it.Lang, texts[f.Hash].Text)
			standalone = standalone || f.Standalone
		}
	}
	if text == "" {
		return it, false
	}
	fields := Fields{FieldBody: text}
	if summary := it.Fields.Text(FieldSummary); summary != "" {
		fields[FieldSummary] = summary
	}
	it.Fields = fields
	if standalone {
		return it, true
	}
	roles, ok := rolesOfPages(it.ViewRoles, pages)
	it.ViewRoles = roles
	return it, ok
}

// rolesOfPages are the roles that pass own and those of one page at least, and
// whether there are any; none means everybody.
func rolesOfPages(own []string, pages []Item) (roles []string, ok bool) {
	if len(pages) == 0 {
		return nil, false
	}
	for _, p := range pages {
		if len(p.ViewRoles) == 0 {
			return own, true
		}
		for _, role := range p.ViewRoles {
			if (len(own) == 0 || slices.Contains(own, role)) && !slices.Contains(roles, role) {
				roles = append(roles, role)
			}
		}
	}
	return roles, len(roles) > 0
}
