package content

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"docent/db"
	"docent/internal/account"
	"docent/internal/media"
)

// mediaPrefix starts the address of media entities, which have no other.
const mediaPrefix = "/media/"

// unusedFor is how long an upload is kept that nothing holds.
const unusedFor = 24 * time.Hour

// DefaultUploadLimit is how many bytes a file of a type may have on a new site.
func DefaultUploadLimit(mime string) int64 {
	if (media.Info{MIME: mime}).IsImage() {
		return 20 << 20
	}
	return 50 << 20
}

// FileIDs lists the files that the values of an item's fields hold.
func (f Fields) FileIDs() []string {
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if id, ok := v["file"].(string); ok && id != "" {
				out = append(out, id)
			}
		}
	}
	for _, v := range f {
		walk(v)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// SetFocus moves the point of an image that stays in sight, from 0 to 1 in either
// direction, and says whether media that holds the file stands alone.
func (s *Store) SetFocus(ctx context.Context, f File, at media.Focus, standalone bool) error {
	if !(at.X >= 0 && at.X <= 1 && at.Y >= 0 && at.Y <= 1) {
		return invalid("focus", "lies outside of the image")
	}
	f.FocusX, f.FocusY, f.Standalone = at.X, at.Y, standalone
	return s.d.InTx(ctx, func(tx *db.DB) error {
		if err := updateFile(ctx, tx, f); err != nil {
			return err
		}
		ids, err := s.In(tx).mediaWith(ctx, f.Hash)
		if err != nil || len(ids) == 0 {
			return err
		}
		return s.opts.OnChange(ctx, tx, ids)
	})
}

// A Medium is a media entity or a file as lists and forms show it.
type Medium struct {
	ID     string // of the entity, or of the file
	Label  string
	Bundle string // of the entity
	Alt    string // says what an image shows
	File   File
}

// Media finds media entities, and files, by their ids, in the language preferred;
// what does not exist or is not for the account is left out.
func (s *Store) Media(ctx context.Context, who account.Account, lang string, ids []string) (map[string]Medium, error) {
	refs := make([]Ref, len(ids))
	for i, id := range ids {
		refs[i] = Ref{Type: TypeMedia, ID: id}
	}
	items, err := s.LoadMany(ctx, who, refs, lang)
	if err != nil {
		return nil, err
	}
	fileOf := map[string]string{}
	fileIDs := slices.Clone(ids)
	for ref, it := range items {
		if held := it.Fields.FileIDs(); len(held) > 0 {
			fileOf[ref.ID] = held[0]
			fileIDs = append(fileIDs, held[0])
		}
	}
	files, err := s.Files(ctx, fileIDs)
	if err != nil {
		return nil, err
	}
	out := map[string]Medium{}
	for ref, it := range items {
		out[ref.ID] = Medium{ID: ref.ID, Label: it.Title, Bundle: it.Bundle, Alt: it.Alt(), File: files[fileOf[ref.ID]]}
	}
	for _, id := range ids {
		f, ok := files[id]
		if !ok {
			continue
		}
		switch err := s.MayRead(ctx, who, f); {
		case err == nil:
			out[id] = Medium{ID: id, Label: cmp.Or(f.Name, f.Path), File: f}
		case !errors.Is(err, db.ErrNotFound) && !errors.Is(err, ErrForbidden):
			return nil, err
		}
	}
	return out, nil
}

// Alt says what the image shows that a media item holds.
func (it Item) Alt() string {
	if alt := it.Fields.Text("alt"); alt != "" {
		return alt
	}
	image, _ := it.Fields["image"].(map[string]any)
	alt, _ := image["alt"].(string)
	return alt
}

// Sweep deletes uploads that nothing has held for a day, not even a former
// revision, and bytes that no file has any longer.
func (s *Store) Sweep(ctx context.Context) error {
	old := db.Now().Add(-unusedFor)
	if err := s.deleteUnusedFiles(ctx, old); err != nil {
		return err
	}
	if !s.HasFiles() {
		return nil
	}
	return s.files.Sweep(old, func(hash string, private bool) (bool, error) { return s.hasBytes(ctx, hash, private) })
}
