package content

import (
	"context"
	"database/sql"
	"encoding/json"

	"docent/internal/config"
)

// A revision is what [writer.write] writes.
type revision struct {
	row     // of what is there
	title   string
	fields  Fields
	state   State
	set     settings
	message string
	beside  bool // a draft beside the published revision, if there is one
	shared  bool // it carries what another language changed
}

// write adds a revision and, unless it is a draft beside a published one, makes
// the translation show it.
func (w *writer) write(ctx context.Context, rev revision) (Item, error) {
	r := rev.row
	settingsJSON, err := json.Marshal(rev.set)
	if err != nil {
		return Item{}, err
	}
	fields, err := rev.fields.marshal()
	if err != nil {
		return Item{}, err
	}
	r.RevTitle, r.Fields, r.State, r.Settings = rev.title, string(fields), string(rev.state), string(settingsJSON)
	r.RevisedAt, r.RevisionID = w.now, newID()
	if err := insertRevision(ctx, w.tx, r, w.author.ID, rev.message); err != nil {
		return Item{}, err
	}
	if rev.set.Path != "" {
		holder, err := pathHolder(ctx, w.tx, r.Lang, rev.set.Path)
		if err != nil {
			return Item{}, err
		}
		if holder != "" && holder != r.ID {
			return Item{}, invalid("path", "is in use already")
		}
	}
	aside := rev.beside && r.PublishedID.Valid
	if aside {
		err = addDraft(ctx, w.tx, r)
	} else {
		err = w.show(ctx, r, rev)
	}
	if err != nil {
		return Item{}, err
	}
	ct, _ := w.types.Type(r.Type, r.Bundle)
	media, err := putUsages(ctx, w.tx, r.ID, r.Lang, aside, !aside && rev.state == Published, targets(ct, rev.fields))
	if err != nil {
		return Item{}, err
	}
	if !aside {
		if err := w.s.opts.OnChange(ctx, w.tx, append([]string{r.ID}, media...)); err != nil {
			return Item{}, err
		}
	}
	if !aside && !rev.shared {
		if err := w.share(ctx, rev); err != nil {
			return Item{}, err
		}
	}
	written, err := w.s.latest(ctx, r.ID, r.Lang)
	if err != nil {
		return Item{}, err
	}
	return w.s.latestItem(ctx, written)
}

// show makes a revision the one that the translation shows.
func (w *writer) show(ctx context.Context, r row, rev revision) error {
	old, set := r.Path, rev.set
	r.LatestID, r.LatestState, r.Title, r.ChangedAt = r.RevisionID, r.State, r.RevTitle, r.RevisedAt
	r.PublishedID = sql.NullString{String: r.RevisionID, Valid: rev.state == Published}
	r.Path = sql.NullString{String: set.Path, Valid: set.Path != ""}
	r.Weight, r.Menu, r.MenuTitle, r.MenuParent, r.SectionIndex = set.Weight, set.Menu, set.MenuTitle, set.MenuParent, set.SectionIndex
	r.Date = sql.NullTime{Time: set.Date.UTC(), Valid: !set.Date.IsZero()}
	if r.Path.Valid {
		parent, err := parentOf(ctx, w.tx, set.Path)
		if err != nil {
			return err
		}
		r.ParentPath = parent
		if err := deleteAlias(ctx, w.tx, r.Lang, set.Path); err != nil {
			return err
		}
	}
	if err := upsertTranslation(ctx, w.tx, r); err != nil {
		return err
	}
	if r.Path.Valid && r.Type == TypeNode {
		if err := adopt(ctx, w.tx, set.Path); err != nil {
			return err
		}
	}
	if old.Valid && old != r.Path {
		if r.Type == TypeNode {
			if err := insertAlias(ctx, w.tx, r.Lang, old.String, r.ID); err != nil {
				return err
			}
		}
		if err := orphan(ctx, w.tx, old.String); err != nil {
			return err
		}
	}
	ct, known := w.types.Type(r.Type, r.Bundle)
	if err := setTerms(ctx, w.tx, r.ID, r.Lang, termsOf(ct, known, rev.fields)); err != nil {
		return err
	}
	n, err := publishedCount(ctx, w.tx, r.ID)
	if err != nil {
		return err
	}
	if set.AccessSet && !rev.shared && (rev.state == Published || n == 0) {
		return updateAccess(ctx, w.tx, r.ID, set.ViewRoles, set.OutOfAnswers)
	}
	return nil
}

// termsOf lists the terms that content is filed under. Without a type they are
// its topics.
func termsOf(ct config.ContentType, known bool, fields Fields) []string {
	if !known {
		return fields.Strings(FieldTopics)
	}
	var ids []string
	for _, f := range ct.Fields {
		if f.Type != config.FieldReference || f.Settings.Target != TypeTerm {
			continue
		}
		if id, ok := fields[f.Name].(string); ok {
			ids = append(ids, id)
		}
		ids = append(ids, fields.Strings(f.Name)...)
	}
	return ids
}

func unmarshalFields(data string) (Fields, error) {
	var fields Fields
	err := json.Unmarshal([]byte(data), &fields)
	return fields, err
}
