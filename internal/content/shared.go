package content

import (
	"context"
	"database/sql"
	"maps"
	"reflect"
)

// sharedFields names the fields of a row's type that all languages share.
func (w *writer) sharedFields(r row) []string {
	ct, _ := w.types.Type(r.Type, r.Bundle)
	var names []string
	for _, f := range ct.Fields {
		if !f.Translatable {
			names = append(names, f.Name)
		}
	}
	return names
}

// share brings the values that all languages share from a revision just shown
// into the other languages, each by a revision of its own, so that histories,
// comparisons and conflicts of every language are complete. What is published
// changes only by publishing; a draft that has a change of its own keeps it.
func (w *writer) share(ctx context.Context, rev revision) error {
	names := w.sharedFields(rev.row)
	if len(names) == 0 {
		return nil
	}
	latest, err := w.s.allLatest(ctx, rev.ID)
	if err != nil || len(latest) < 2 {
		return err
	}
	published := rev.state == Published
	for _, r := range latest {
		if r.Lang != rev.Lang && r.PublishedID.Valid && !published {
			return nil // it waits until it is published
		}
	}
	var before Fields // the last values that all had in common
	if rev.PublishedID.Valid {
		old, err := w.s.revision(ctx, rev.ID, rev.Lang, rev.PublishedID.String)
		if err != nil {
			return err
		}
		if before, err = unmarshalFields(old.Fields); err != nil {
			return err
		}
	}
	for _, r := range latest {
		if r.Lang != rev.Lang {
			if err := w.shareWith(ctx, rev, r, names, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// shareWith brings shared values into one other language, of which r is the
// latest revision.
func (w *writer) shareWith(ctx context.Context, rev revision, r row, names []string, before Fields) error {
	draft := r
	if r.PublishedID.Valid {
		shown, err := w.s.revision(ctx, r.ID, r.Lang, r.PublishedID.String)
		if err != nil {
			return err
		}
		own, changed, err := overlay(shown, names, rev.fields, nil)
		if err != nil || !changed {
			return err
		}
		if err := w.rewrite(ctx, shown, own, rev.Lang); err != nil {
			return err
		}
		if r.LatestID == r.PublishedID.String {
			return nil
		}
		if before, err = unmarshalFields(shown.Fields); err != nil {
			return err
		}
		if draft.PublishedID, err = w.publishedID(ctx, r); err != nil {
			return err
		}
	}
	own, changed, err := overlay(draft, names, rev.fields, before)
	if err != nil || !changed && !r.PublishedID.Valid {
		return err
	}
	return w.rewrite(ctx, draft, own, rev.Lang) // also unchanged: it goes back on top of what was published
}

// overlay puts shared values over a revision's own. With before, values that
// differ from it are a change of its own and stay.
func overlay(r row, names []string, shared, before Fields) (fields Fields, changed bool, err error) {
	own, err := unmarshalFields(r.Fields)
	if err != nil {
		return nil, false, err
	}
	fields = maps.Clone(own)
	for _, name := range names {
		if reflect.DeepEqual(own[name], shared[name]) || before != nil && !reflect.DeepEqual(own[name], before[name]) {
			continue
		}
		changed = true
		delete(fields, name)
		if shared[name] != nil {
			fields[name] = shared[name]
		}
	}
	return fields, changed, nil
}

// rewrite writes a revision again with other values.
func (w *writer) rewrite(ctx context.Context, r row, fields Fields, from string) error {
	set, err := settingsOf(r)
	if err != nil {
		return err
	}
	_, err = w.write(ctx, revision{
		row: r, title: r.RevTitle, fields: fields, state: State(r.State), set: set, shared: true, beside: State(r.State) == Draft,
		message: "Values shared by all languages, saved in " + from,
	})
	return err
}

func (w *writer) publishedID(ctx context.Context, r row) (sql.NullString, error) {
	now, err := w.s.latest(ctx, r.ID, r.Lang)
	return now.PublishedID, err
}
