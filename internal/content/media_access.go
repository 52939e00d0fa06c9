package content

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"docent/db"
	"docent/internal/account"
	"docent/internal/config"
	"docent/internal/media"
)

// mayUpload reports whether an account makes content that files could belong to.
func (s *Store) mayUpload(ctx context.Context, who account.Account) (bool, error) {
	for _, entity := range []string{TypeMedia, TypeNode} {
		types, err := s.MayCreate(ctx, who, entity)
		if err != nil || len(types) > 0 {
			return len(types) > 0, err
		}
	}
	return false, nil
}

// MayRead returns nil when an account may read a file, and otherwise
// [db.ErrNotFound], or [ErrForbidden] when others may. Files that are not private
// are for everybody. A private one is for who may see something published that
// holds it; media that does not stand alone counts only with a page that shows it.
// Whoever makes content also sees what nothing holds yet, and what drafts that
// they may see hold.
func (s *Store) MayRead(ctx context.Context, who account.Account, f File) error {
	if !f.Private {
		return nil
	}
	holders, err := s.holders(ctx, []string{fileTarget(f.ID)})
	if err != nil {
		return err
	}
	items, err := s.itemsOf(ctx, holders)
	if err != nil {
		return err
	}
	following := map[string][]string{} // media to be seen only on a page
	published := false
	for _, h := range holders {
		for _, it := range items[h.ID] {
			switch {
			case s.May(who, config.OpViewUnpublished, it) == nil:
				return nil
			case !h.Live || !it.Published:
			case !CanView(who, it):
				published = true
			case it.Type != TypeMedia || f.Standalone:
				return nil
			default:
				following[it.ID] = []string{it.ID}
			}
		}
	}
	shown, hidden, err := s.shownOn(ctx, who, following)
	if err != nil || shown {
		return err
	}
	if len(following) > 0 || len(holders) == 0 {
		if author, err := s.mayUpload(ctx, who); err != nil || author {
			return err
		}
	}
	if published || hidden {
		return ErrForbidden
	}
	return db.ErrNotFound
}

// MayUse tells why an account may not put a file into a field; "" means that it may.
func (s *Store) MayUse(ctx context.Context, who account.Account, field config.Field, fileID string) (why string, err error) {
	f, err := s.File(ctx, fileID)
	if err == nil {
		err = s.MayRead(ctx, who, f)
	}
	if errors.Is(err, db.ErrNotFound) || errors.Is(err, ErrForbidden) {
		return "holds a file that does not exist any longer, or that you may not see", nil
	}
	settings, extension := field.Settings, strings.TrimPrefix(media.Extension(f.MIME), ".")
	switch {
	case err != nil:
		return "", err
	case field.Type == config.FieldImage && !f.IsImage():
		return "must be an image", nil
	case field.Type == config.FieldFile && len(settings.Extensions) > 0 && !slices.Contains(settings.Extensions, extension):
		return "must be a file of these kinds: " + strings.Join(settings.Extensions, ", "), nil
	case settings.MaxBytes > 0 && f.Size > settings.MaxBytes:
		return fmt.Sprintf("has more than %d bytes", settings.MaxBytes), nil
	}
	return "", nil
}

// checkLinkedFiles refuses texts that link to private files that their author may
// not see: a text that shows a file has others see it too.
func (w *writer) checkLinkedFiles(ctx context.Context, v *values, in *Input) error {
	if in.former { // it stood there before
		return nil
	}
	ct, _ := w.types.Type(in.Type, in.Bundle)
	before := targets(ct, v.before)
	for _, u := range targets(ct, in.Fields) {
		field, _ := ct.Field(u.field)
		id, ok := strings.CutPrefix(u.target, fileTarget(""))
		if !ok || field.Type == config.FieldImage || field.Type == config.FieldFile || slices.Contains(before, u) {
			continue
		}
		f, err := w.s.File(ctx, id)
		if err == nil {
			err = w.s.MayRead(ctx, w.author, f)
		}
		switch {
		case err == nil, errors.Is(err, db.ErrNotFound) && f.ID == "": // a link that leads nowhere harms nobody
		case errors.Is(err, db.ErrNotFound), errors.Is(err, ErrForbidden):
			v.bad[u.field] = "links to a file that you may not see"
			v.labels[u.field] = field.Label
		default:
			return err
		}
	}
	return nil
}

// MayVisit is [CanView] for a media entity as a page of its own: one that does not
// stand alone is seen there by whoever sees a page that shows it, and by those who
// make content.
func (s *Store) MayVisit(ctx context.Context, who account.Account, it Item) error {
	if s.May(who, config.OpViewUnpublished, it) == nil {
		return nil
	}
	if !CanView(who, it) {
		return ErrForbidden
	}
	files, err := s.Files(ctx, it.Fields.FileIDs())
	if err != nil {
		return err
	}
	names := map[string][]string{it.ID: {it.ID}}
	for _, f := range files {
		if f.Standalone {
			return nil
		}
		names[fileTarget(f.ID)] = []string{it.ID}
	}
	shown, hidden, err := s.shownOn(ctx, who, names)
	if err != nil || shown {
		return err
	}
	if author, err := s.mayUpload(ctx, who); err != nil || author {
		return err
	}
	if hidden {
		return ErrForbidden
	}
	return db.ErrNotFound
}

// itemsOf reads the holders' translations as they are shown, by entity.
func (s *Store) itemsOf(ctx context.Context, holders []holder) (map[string][]Item, error) {
	var ids []string
	for _, h := range holders {
		ids = append(ids, h.ID)
	}
	slices.Sort(ids)
	items, err := s.byEntities(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	out := map[string][]Item{}
	for _, it := range items {
		out[it.ID] = append(out[it.ID], it)
	}
	return out, nil
}

// shownOn tells whether any of some media stands on a published page that an
// account may see, and else whether it stands on others; see [Store.pagesWith].
func (s *Store) shownOn(ctx context.Context, who account.Account, names map[string][]string) (shown, hidden bool, err error) {
	pages, err := s.pagesWith(ctx, names)
	for _, items := range pages {
		hidden = hidden || len(items) > 0
		shown = shown || slices.ContainsFunc(items, func(it Item) bool { return CanView(who, it) })
	}
	return shown, hidden, err
}

// pagesWith lists the published translations that show media, by media entity.
// names maps what pages may call it, by itself or by its file, to the entities.
func (s *Store) pagesWith(ctx context.Context, names map[string][]string) (map[string][]Item, error) {
	if len(names) == 0 {
		return nil, nil
	}
	holders, err := s.holders(ctx, slices.Sorted(maps.Keys(names)))
	if err != nil {
		return nil, err
	}
	holders = slices.DeleteFunc(holders, func(h holder) bool { return !h.Live })
	items, err := s.itemsOf(ctx, holders)
	if err != nil {
		return nil, err
	}
	out := map[string][]Item{}
	for _, h := range holders {
		for _, it := range items[h.ID] {
			if it.Published && it.Type != TypeMedia { // media holds its own file
				for _, id := range names[h.Target] {
					out[id] = append(out[id], it)
				}
			}
		}
	}
	return out, nil
}
