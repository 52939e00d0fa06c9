package content

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"docent/db"
)

// touchEntity marks an entity as changed, and makes other writers of it wait.
func touchEntity(ctx context.Context, tx *db.DB, id string, at time.Time) error {
	n, err := tx.Exec(ctx, "update entities set updated_at = ? where id = ?", at, id)
	if err == nil && n == 0 {
		return db.ErrNotFound
	}
	return err
}

func insertEntity(ctx context.Context, tx *db.DB, e Item, origin *string, author string, at time.Time) error {
	_, err := tx.Exec(ctx, `insert into entities (id, type, bundle, view_roles, out_of_answers, author_id, origin, created_at, updated_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.ID, e.Type, e.Bundle, rolesJSON(e.ViewRoles), e.OutOfAnswers, author, origin, at, at)
	return err
}

func updateAccess(ctx context.Context, tx *db.DB, id string, roles []string, outOfAnswers bool) error {
	if _, err := tx.Exec(ctx, "update entities set view_roles = ?, out_of_answers = ? where id = ?", rolesJSON(roles), outOfAnswers, id); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "update translations set view_roles = ? where entity_id = ?", rolesJSON(roles), id)
	return err
}

func insertRevision(ctx context.Context, tx *db.DB, r row, author, message string) error {
	_, err := tx.Exec(ctx, `insert into revisions (id, entity_id, lang, title, fields, settings, state, author_id, message, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.RevisionID, r.ID, r.Lang, r.RevTitle, r.Fields, r.Settings, r.State, author, message, r.RevisedAt)
	return err
}

// upsertTranslation makes the translation show what the row says.
func upsertTranslation(ctx context.Context, tx *db.DB, r row) error {
	_, err := tx.Exec(ctx, `insert into translations (entity_id, lang, type, bundle, view_roles, author_id, latest_revision_id, published_revision_id, title, title_key, state,
			path, parent_path, section_index, weight, date, menu, menu_title, menu_parent, changed_at, updated_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (entity_id, lang) do update set latest_revision_id = excluded.latest_revision_id,
			published_revision_id = excluded.published_revision_id, title = excluded.title, title_key = excluded.title_key,
			state = excluded.state, path = excluded.path, parent_path = excluded.parent_path, section_index = excluded.section_index,
			weight = excluded.weight, date = excluded.date, menu = excluded.menu, menu_title = excluded.menu_title, menu_parent = excluded.menu_parent,
			changed_at = excluded.changed_at, updated_at = excluded.updated_at`,
		r.ID, r.Lang, r.Type, r.Bundle, r.ViewRoles, r.AuthorID, r.LatestID, r.PublishedID, r.Title, titleKey(r.Title), r.LatestState,
		r.Path, r.ParentPath, r.SectionIndex, r.Weight, r.Date, r.Menu, r.MenuTitle, r.MenuParent, r.ChangedAt, r.RevisedAt)
	return err
}

// addDraft puts a draft beside the published revision, which stays as it is.
func addDraft(ctx context.Context, tx *db.DB, r row) error {
	_, err := tx.Exec(ctx, "update translations set latest_revision_id = ?, state = ?, updated_at = ? where entity_id = ? and lang = ?",
		r.RevisionID, r.State, r.RevisedAt, r.ID, r.Lang)
	return err
}

// pathHolder returns the entity whose address a path is; "" when it is free.
func pathHolder(ctx context.Context, tx *db.DB, lang, path string) (id string, err error) {
	err = tx.Get(ctx, &id, "select entity_id from translations where lang = ? and path = ?", lang, path)
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	return id, err
}

func insertAlias(ctx context.Context, tx *db.DB, lang, path, id string) error {
	_, err := tx.Exec(ctx, `insert into aliases (lang, path, entity_id) values (?, ?, ?)
		on conflict (lang, path) do update set entity_id = excluded.entity_id`, lang, path, id)
	return err
}

func deleteAlias(ctx context.Context, tx *db.DB, lang, path string) error {
	_, err := tx.Exec(ctx, "delete from aliases where lang = ? and path = ?", lang, path)
	return err
}

// parentOf finds the nearest address above a path that has a page in any language.
func parentOf(ctx context.Context, tx *db.DB, path string) (string, error) {
	above := Parents(path)
	if len(above) == 0 {
		return "", nil
	}
	query, args, err := db.In("select distinct path from translations where path in (?) and type = 'node'", above)
	if err != nil {
		return "", err
	}
	var found []string
	if err := tx.Select(ctx, &found, query, args...); err != nil {
		return "", err
	}
	for _, p := range above {
		if slices.Contains(found, p) {
			return p, nil
		}
	}
	return "/", nil
}

// adopt moves the pages below a path to it, unless they have a nearer parent.
func adopt(ctx context.Context, tx *db.DB, path string) error {
	_, err := tx.Exec(ctx, "update translations set parent_path = ? where path > ? and path < ? and length(parent_path) < ?",
		path, path, strings.TrimSuffix(path, "/")+"0", len([]rune(path))) // "0" follows "/"
	return err
}

// orphan gives the children of a path that nobody has any longer to the next one above.
func orphan(ctx context.Context, tx *db.DB, path string) error {
	if path == "/" {
		return nil
	}
	var n int
	if err := tx.Get(ctx, &n, "select count(*) from translations where path = ? and type = 'node'", path); err != nil || n > 0 {
		return err
	}
	parent, err := parentOf(ctx, tx, path)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "update translations set parent_path = ? where parent_path = ?", parent, path)
	return err
}

// setTerms stores which terms a translation has. Ids that are no terms are left out.
func setTerms(ctx context.Context, tx *db.DB, id, lang string, terms []string) error {
	if _, err := tx.Exec(ctx, "delete from entity_terms where entity_id = ? and lang = ?", id, lang); err != nil || len(terms) == 0 {
		return err
	}
	query, args, err := db.In("insert into entity_terms (entity_id, lang, term_id) select ?, ?, id from entities where type = 'term' and id in (?)", id, lang, terms)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, query, args...)
	return err
}

func publishedCount(ctx context.Context, tx *db.DB, id string) (n int, err error) {
	err = tx.Get(ctx, &n, "select count(*) from translations where entity_id = ? and published_revision_id is not null", id)
	return n, err
}

func pathsOf(ctx context.Context, tx *db.DB, id string) (paths []string, err error) {
	err = tx.Select(ctx, &paths, "select path from translations where entity_id = ? and path is not null", id)
	return paths, err
}

func deleteEntity(ctx context.Context, tx *db.DB, id string) error {
	n, err := tx.Exec(ctx, "delete from entities where id = ?", id)
	if err == nil && n == 0 {
		return db.ErrNotFound
	}
	return err
}

// deleteLanguage deletes all that one language of an entity has.
func deleteLanguage(ctx context.Context, tx *db.DB, id, lang string) error {
	for _, table := range []string{"entity_terms", "usages", "translations", "aliases", "revisions"} {
		if _, err := tx.Exec(ctx, "delete from "+table+" where entity_id = ? and lang = ?", id, lang); err != nil {
			return err
		}
	}
	return nil
}

func rolesJSON(roles []string) string {
	if len(roles) == 0 {
		return "[]"
	}
	b, _ := json.Marshal(roles)
	return string(b)
}

// entityRow reads an entity as the row of a language that it does not have yet.
func entityRow(ctx context.Context, tx *db.DB, id string) (row, error) {
	var r row
	err := tx.Get(ctx, &r, "select id, type, bundle, view_roles, out_of_answers, author_id, origin as entity_origin, created_at from entities where id = ?", id)
	return r, err
}
