package content

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"docent/db"
)

// importMessage is what the history says about imported revisions.
const importMessage = "Imported"

// Imported returns what is known of the files imported so far, by origin.
func (s *Store) Imported(ctx context.Context) (map[string]Known, error) {
	rows, err := s.d.Query(ctx, `select t.origin, t.origin_hash, r.message from translations t
		join revisions r on r.id = t.latest_revision_id where t.origin is not null`)
	if err != nil {
		return nil, fmt.Errorf("read imports: %w", err)
	}
	defer rows.Close()
	known := map[string]Known{}
	for rows.Next() {
		var origin, message string
		var k Known
		if err := rows.Scan(&origin, &k.Hash, &message); err != nil {
			return nil, fmt.Errorf("read imports: %w", err)
		}
		k.Edited = message != importMessage
		known[origin] = k
	}
	return known, rows.Err()
}

// A knownTranslation is what was there before a batch, by entity id and language.
type knownTranslation struct {
	ID          string         `db:"entity_id"`
	Lang        string         `db:"lang"`
	Path        sql.NullString `db:"path"`
	PublishedID sql.NullString `db:"published_revision_id"`
	CreatedAt   time.Time      `db:"created_at"`
}

// created is when the entity was made: now, if it was not known.
func (k knownTranslation) created(now time.Time) time.Time {
	if k.CreatedAt.IsZero() {
		return now
	}
	return k.CreatedAt.UTC()
}

// identify gives every page its entity's id, new or known, and reads the
// translations that are there.
func (b *bulk) identify(ctx context.Context) (map[string]knownTranslation, error) {
	var keys, origins []string
	for _, p := range b.pages {
		keys, origins = append(keys, p.Key), append(origins, p.Origin)
	}
	// A file may have become the translation of another page since the last import.
	moved, err := selectIn[struct {
		Origin string `db:"origin"`
		Key    string `db:"key"`
	}](ctx, b.tx, `select t.origin, coalesce(e.origin, '') as key from translations t
		join entities e on e.id = t.entity_id where t.origin in (?)`, origins)
	if err != nil {
		return nil, err
	}
	for _, m := range moved {
		if i := slices.Index(origins, m.Origin); keys[i] != m.Key {
			if err := b.s.removeByOrigin(ctx, b.tx, m.Origin); err != nil {
				return nil, err
			}
		}
	}
	entities, err := selectIn[struct {
		ID     string `db:"id"`
		Origin string `db:"origin"`
	}](ctx, b.tx, "select id, origin from entities where origin in (?)", keys)
	if err != nil {
		return nil, err
	}
	ids := map[string]string{}
	var all []string
	for _, e := range entities {
		ids[e.Origin] = e.ID
		all = append(all, e.ID)
	}
	for i := range b.pages {
		p := &b.pages[i]
		if ids[p.Key] == "" {
			ids[p.Key] = newID()
		}
		p.Ref = Ref{Type: cmp.Or(p.Type, TypeNode), ID: ids[p.Key]}
	}
	known := map[string]knownTranslation{}
	found, err := selectIn[knownTranslation](ctx, b.tx, `select t.entity_id, t.lang, t.path, t.published_revision_id, e.created_at
		from translations t join entities e on e.id = t.entity_id where t.entity_id in (?)`, all)
	for _, k := range found {
		known[k.ID+k.Lang] = k
	}
	return known, err
}

// A pathOwner has a path that a page of the batch wants.
type pathOwner struct {
	ID       string `db:"entity_id"`
	Lang     string `db:"lang"`
	Path     string `db:"path"`
	Imported bool   `db:"imported"`
}

func pathHolders(ctx context.Context, tx *db.DB, pages []Imported) (map[string]pathOwner, error) {
	var paths []string
	for _, p := range pages {
		paths = append(paths, p.Path)
	}
	found, err := selectIn[pathOwner](ctx, tx, "select entity_id, lang, path, origin is not null as imported from translations where path in (?)", paths)
	holders := make(map[string]pathOwner, len(found))
	for _, h := range found {
		holders[h.Lang+h.Path] = h
	}
	return holders, err
}

func releasePath(ctx context.Context, tx *db.DB, lang, path string) error {
	_, err := tx.Exec(ctx, "update translations set path = null where lang = ? and path = ?", lang, path)
	return err
}

// insert writes the batch with few statements.
func (b *bulk) insert(ctx context.Context, known map[string]knownTranslation) error {
	var entities, revisions, translations, aliases, terms, usages [][]any
	var ids, parents []string
	at := b.now
	for i := range b.pages {
		p := &b.pages[i]
		k := known[p.ID+p.Lang]
		if p.Updated.IsZero() {
			p.Updated = at
		}
		p.BasedOn = newID() // of the revision being written
		p.Fields, _ = b.types.CheckFields(p.Type, p.Bundle, p.Fields)
		fields, err := p.Fields.marshal()
		if err != nil {
			return fmt.Errorf("%s: %w", p.Origin, err)
		}
		var published, date any
		if p.State == Published {
			published = p.BasedOn
		}
		if !p.Date.IsZero() {
			date = p.Date.UTC()
		}
		if len(ids) == 0 || ids[len(ids)-1] != p.ID {
			entities = append(entities, []any{p.ID, p.Type, p.Bundle, rolesJSON(p.Access.ViewRoles), p.Access.OutOfAnswers, p.Key, at, at})
			ids = append(ids, p.ID)
		}
		revisions = append(revisions, []any{p.BasedOn, p.ID, p.Lang, p.Title, string(fields), string(p.State), importMessage, at})
		translations = append(translations, []any{
			p.ID, p.Lang, p.Type, p.Bundle, rolesJSON(p.Access.ViewRoles), p.BasedOn, published, p.Title, titleKey(p.Title), string(p.State), sql.NullString{String: p.Path, Valid: p.Path != ""}, p.ParentPath, p.SectionIndex,
			p.Weight, date, p.Menu, p.MenuTitle, p.Origin, p.Hash, p.Updated.UTC(), at,
		})
		for _, alias := range p.Aliases {
			aliases = append(aliases, []any{p.Lang, alias, p.ID})
		}
		if k.Path.Valid && k.Path.String != p.Path {
			aliases = append(aliases, []any{p.Lang, k.Path.String, p.ID})
		}
		ct, typed := b.types.Type(p.Type, p.Bundle)
		for _, id := range termsOf(ct, typed, p.Fields) {
			terms = append(terms, []any{p.ID, p.Lang, id})
		}
		for _, u := range targets(ct, p.Fields) {
			usages = append(usages, []any{p.ID, p.Lang, u.field, u.target, p.State == Published})
		}
		if p.HasChildren && (!k.Path.Valid || k.Path.String != p.Path) {
			parents = append(parents, p.Path)
		}
		if k.ID != "" {
			for _, table := range []string{"entity_terms", "usages"} {
				if _, err := b.tx.Exec(ctx, "delete from "+table+" where entity_id = ? and lang = ?", p.ID, p.Lang); err != nil {
					return err
				}
			}
		}
	}
	for _, in := range []struct {
		into, then string
		rows       [][]any
	}{
		{"entities (id, type, bundle, view_roles, out_of_answers, origin, created_at, updated_at)",
			`on conflict (id) do update set bundle = excluded.bundle, view_roles = excluded.view_roles,
			out_of_answers = excluded.out_of_answers, updated_at = excluded.updated_at`, entities},
		{"revisions (id, entity_id, lang, title, fields, state, message, created_at)", "", revisions},
		{`translations (entity_id, lang, type, bundle, view_roles, latest_revision_id, published_revision_id, title, title_key, state, path, parent_path,
			section_index, weight, date, menu, menu_title, origin, origin_hash, changed_at, updated_at)`,
			`on conflict (entity_id, lang) do update set bundle = excluded.bundle, view_roles = excluded.view_roles,
			latest_revision_id = excluded.latest_revision_id,
			published_revision_id = excluded.published_revision_id, title = excluded.title, title_key = excluded.title_key,
			state = excluded.state, path = excluded.path, parent_path = excluded.parent_path, section_index = excluded.section_index,
			weight = excluded.weight, date = excluded.date, menu = excluded.menu, menu_title = excluded.menu_title,
			origin = excluded.origin, origin_hash = excluded.origin_hash, changed_at = excluded.changed_at, updated_at = excluded.updated_at`, translations},
		{"aliases (lang, path, entity_id)", "on conflict (lang, path) do nothing", aliases},
		{"entity_terms (entity_id, lang, term_id)", "on conflict do nothing", terms},
		{"usages (entity_id, lang, field, target, live)", "on conflict do nothing", usages},
	} {
		if err := insertMany(ctx, b.tx, in.into, in.then, in.rows); err != nil {
			return err
		}
	}
	if err := followEntities(ctx, b.tx, ids); err != nil {
		return err
	}
	for _, path := range parents {
		if err := adopt(ctx, b.tx, path); err != nil {
			return err
		}
	}
	return nil
}

// followEntities brings what translations repeat of their entities up to date, also
// in languages that were not written.
func followEntities(ctx context.Context, tx *db.DB, ids []string) error {
	for chunk := range slices.Chunk(ids, inChunk) {
		query, args, err := db.In(`update translations set
			bundle = (select e.bundle from entities e where e.id = translations.entity_id),
			view_roles = (select e.view_roles from entities e where e.id = translations.entity_id)
			where entity_id in (?)`, chunk)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return err
		}
	}
	return nil
}

// origin is the name by which the term is found again.
func (t Term) origin() string { return termOrigin + t.Vocabulary + "/" + t.Slug }

// ensureTerms makes sure of terms in a language and returns their ids by origin.
func (s *Store) ensureTerms(ctx context.Context, tx *db.DB, terms []Term, lang string) (map[string]string, error) {
	byOrigin := map[string]Term{}
	var origins []string
	for _, t := range terms {
		if _, ok := byOrigin[t.origin()]; !ok {
			origins = append(origins, t.origin())
			byOrigin[t.origin()] = t
		}
	}
	type term struct {
		ID     string `db:"id"`
		Origin string `db:"origin"`
	}
	read := func() (map[string]string, error) {
		found, err := selectIn[term](ctx, tx, "select id, origin from entities where origin in (?)", origins)
		ids := make(map[string]string, len(found))
		for _, f := range found {
			ids[f.Origin] = f.ID
		}
		return ids, err
	}
	ids, err := read()
	if err != nil || len(ids) == len(origins) {
		return ids, err
	}
	now := db.Now()
	var entities, revisions, translations [][]any
	for _, origin := range origins {
		if ids[origin] == "" {
			entities = append(entities, []any{newID(), TypeTerm, byOrigin[origin].Vocabulary, origin, now, now})
		}
	}
	// Somebody else may make the same term at the same time: whoever was first made it.
	if err := insertMany(ctx, tx, "entities (id, type, bundle, origin, created_at, updated_at)",
		"on conflict (origin) where origin is not null do nothing", entities); err != nil {
		return nil, err
	}
	if ids, err = read(); err != nil {
		return nil, err
	}
	for _, e := range entities {
		id, origin := e[0].(string), e[3].(string)
		if ids[origin] != id {
			continue
		}
		revision, label := newID(), byOrigin[origin].Label
		revisions = append(revisions, []any{revision, id, lang, label, "{}", string(Published), now})
		translations = append(translations, []any{id, lang, TypeTerm, byOrigin[origin].Vocabulary, revision, revision, label, titleKey(label), string(Published), now, now})
	}
	if err := insertMany(ctx, tx, "revisions (id, entity_id, lang, title, fields, state, created_at)", "", revisions); err != nil {
		return nil, err
	}
	return ids, insertMany(ctx, tx, `translations (entity_id, lang, type, bundle, latest_revision_id, published_revision_id, title, title_key, state,
		changed_at, updated_at)`, "", translations)
}

// relabel names a term as the page that stands at its address is named.
func relabel(ctx context.Context, tx *db.DB, origin, lang, label string) error {
	const term = "lang = ? and entity_id in (select id from entities where origin = ?)"
	if _, err := tx.Exec(ctx, "update translations set title = ?, title_key = ? where "+term, label, titleKey(label), lang, origin); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "update revisions set title = ? where "+term, label, lang, origin)
	return err
}

// deleteTranslation deletes what was made from a file and returns how many
// languages the entity has left; id "" when there was nothing.
func deleteTranslation(ctx context.Context, tx *db.DB, origin string) (id, path string, left int, err error) {
	var t struct {
		ID   string         `db:"entity_id"`
		Lang string         `db:"lang"`
		Path sql.NullString `db:"path"`
	}
	err = tx.Get(ctx, &t, "select entity_id, lang, path from translations where origin = ?", origin)
	if errors.Is(err, db.ErrNotFound) {
		return "", "", 0, nil
	}
	if err != nil {
		return "", "", 0, err
	}
	if err := deleteLanguage(ctx, tx, t.ID, t.Lang); err != nil {
		return "", "", 0, err
	}
	err = tx.Get(ctx, &left, "select count(*) from translations where entity_id = ?", t.ID)
	return t.ID, t.Path.String, left, err
}

// selectIn reads the rows of a query that ends in an "in (?)" over values.
func selectIn[T any](ctx context.Context, tx *db.DB, query string, values []string) ([]T, error) {
	var out []T
	for chunk := range slices.Chunk(values, inChunk) {
		q, args, err := db.In(query, chunk)
		if err != nil {
			return nil, err
		}
		var rows []T
		if err := tx.Select(ctx, &rows, q, args...); err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// insertMany inserts rows with as few statements as parameters allow.
func insertMany(ctx context.Context, tx *db.DB, into, then string, rows [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	const maxParameters = 8000
	width := len(rows[0])
	tuple := "(" + strings.TrimSuffix(strings.Repeat("?, ", width), ", ") + ")"
	for chunk := range slices.Chunk(rows, maxParameters/width) {
		args := make([]any, 0, len(chunk)*width)
		for _, r := range chunk {
			args = append(args, r...)
		}
		values := strings.TrimSuffix(strings.Repeat(tuple+", ", len(chunk)), ", ")
		if _, err := tx.Exec(ctx, "insert into "+into+" values "+values+" "+then, args...); err != nil {
			table, _, _ := strings.Cut(into, " ")
			return fmt.Errorf("insert %s: %w", table, err)
		}
	}
	return nil
}
