package content

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"docent/db"
)

// A row is one translation with the revision shown and its entity.
type row struct {
	ID           string         `db:"id"`
	Type         string         `db:"type"`
	Bundle       string         `db:"bundle"`
	ViewRoles    string         `db:"view_roles"`
	OutOfAnswers bool           `db:"out_of_answers"`
	AuthorID     string         `db:"author_id"`
	EntityOrigin sql.NullString `db:"entity_origin"`
	CreatedAt    time.Time      `db:"created_at"`
	Lang         string         `db:"lang"`
	LatestID     string         `db:"latest_revision_id"`
	PublishedID  sql.NullString `db:"published_revision_id"`
	Title        string         `db:"title"`
	LatestState  string         `db:"latest_state"`
	Path         sql.NullString `db:"path"`
	ParentPath   string         `db:"parent_path"`
	SectionIndex bool           `db:"section_index"`
	Weight       int            `db:"weight"`
	Date         sql.NullTime   `db:"date"`
	Menu         string         `db:"menu"`
	MenuTitle    string         `db:"menu_title"`
	MenuParent   string         `db:"menu_parent"`
	Origin       sql.NullString `db:"origin"`
	ChangedAt    time.Time      `db:"changed_at"`
	RevisionID   string         `db:"revision_id"`
	RevTitle     string         `db:"revision_title"`
	Fields       string         `db:"fields"`
	Settings     string         `db:"settings"`
	State        string         `db:"state"`
	RevisedBy    string         `db:"revised_by"`
	RevisedAt    time.Time      `db:"revised_at"`
}

const columns = `e.id, e.type, e.bundle, e.view_roles, e.out_of_answers, e.author_id, e.origin as entity_origin, e.created_at,
	t.lang, t.latest_revision_id, t.published_revision_id, t.title, t.state as latest_state, t.path, t.parent_path,
	t.section_index, t.weight, t.date, t.menu, t.menu_title, t.menu_parent, t.origin, t.changed_at,
	r.id as revision_id, r.title as revision_title, r.fields, r.settings, r.state, r.author_id as revised_by, r.created_at as revised_at`

// fromShown joins the revision that is shown: the published one, else the latest.
const fromShown = ` from translations t
	join entities e on e.id = t.entity_id
	join revisions r on r.id = coalesce(t.published_revision_id, t.latest_revision_id)`

const fromLatest = ` from translations t
	join entities e on e.id = t.entity_id
	join revisions r on r.id = t.latest_revision_id`

// inChunk bounds the parameters of one "in" list.
const inChunk = 500

func (s *Store) rows(ctx context.Context, from, where string, args ...any) ([]row, error) {
	query, args, err := db.In("select "+columns+from+" where "+where, args...)
	if err != nil {
		return nil, err
	}
	var rows []row
	if err := s.d.Select(ctx, &rows, query, args...); err != nil {
		return nil, fmt.Errorf("read content: %w", err)
	}
	return rows, nil
}

// shown reads translations with the revision that is shown.
func (s *Store) shown(ctx context.Context, where string, args ...any) ([]Item, error) {
	rows, err := s.rows(ctx, fromShown, where, args...)
	if err != nil {
		return nil, err
	}
	return s.items(ctx, rows)
}

// items makes items of rows and adds the languages that each entity is published in.
func (s *Store) items(ctx context.Context, rows []row) ([]Item, error) {
	ids := make([]string, 0, len(rows))
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	languages, err := s.languagesOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(rows))
	for i, r := range rows {
		if items[i], err = s.item(r); err != nil {
			return nil, err
		}
		items[i].Languages = languages[r.ID]
	}
	return items, nil
}

func (s *Store) languagesOf(ctx context.Context, ids []string) (map[string][]string, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	languages := make(map[string][]string, len(ids))
	for chunk := range slices.Chunk(ids, inChunk) {
		query, args, err := db.In(`select entity_id, lang from translations
			where entity_id in (?) and published_revision_id is not null order by entity_id, lang`, chunk)
		if err != nil {
			return nil, err
		}
		var found []struct {
			ID   string `db:"entity_id"`
			Lang string `db:"lang"`
		}
		if err := s.d.Select(ctx, &found, query, args...); err != nil {
			return nil, fmt.Errorf("read languages: %w", err)
		}
		for _, f := range found {
			languages[f.ID] = append(languages[f.ID], f.Lang)
		}
	}
	return languages, nil
}

func (s *Store) byPath(ctx context.Context, lang, path string) ([]Item, error) {
	return s.shown(ctx, "t.lang = ? and t.path = ?", lang, path)
}

func (s *Store) byPaths(ctx context.Context, lang string, paths []string) ([]Item, error) {
	return s.shown(ctx, "t.lang = ? and t.path in (?) and t.type = 'node'", lang, paths)
}

func (s *Store) byEntities(ctx context.Context, ids []string) ([]Item, error) {
	var items []Item
	for chunk := range slices.Chunk(ids, inChunk) {
		found, err := s.shown(ctx, "e.id in (?)", chunk)
		if err != nil {
			return nil, err
		}
		items = append(items, found...)
	}
	return items, nil
}

func (s *Store) latest(ctx context.Context, id, lang string) (row, error) {
	rows, err := s.rows(ctx, fromLatest, "e.id = ? and t.lang = ?", id, lang)
	if err != nil {
		return row{}, err
	}
	if len(rows) == 0 {
		return row{}, db.ErrNotFound
	}
	return rows[0], nil
}

func (s *Store) aliasTarget(ctx context.Context, lang, path string) (id string, err error) {
	err = s.d.Get(ctx, &id, "select entity_id from aliases where lang = ? and path = ?", lang, path)
	return id, err
}

func (s *Store) byOrigin(ctx context.Context, origin string) (id string, err error) {
	err = s.d.Get(ctx, &id, "select id from entities where origin = ?", origin)
	return id, err
}

// inMenu reads what stands in a menu, in all languages.
func (s *Store) inMenu(ctx context.Context, name string) ([]Item, error) {
	return s.shown(ctx, "t.menu = ? order by t.weight, t.title_key, t.entity_id", name)
}

// publishedAfter reads a batch of published translations of pages, in the order
// of their keys.
func (s *Store) publishedAfter(ctx context.Context, id, lang string, n int) ([]Item, error) {
	return s.shown(ctx, `t.type in ('node', 'media') and t.published_revision_id is not null
		and (t.entity_id > ? or (t.entity_id = ? and t.lang > ?))
		order by t.entity_id, t.lang limit ?`, id, id, lang, n)
}

// AnyNodes reports whether the site has any page at all, published or not.
func (s *Store) AnyNodes(ctx context.Context) (bool, error) {
	var n int
	err := s.d.Get(ctx, &n, "select count(*) from (select 1 from entities where type = 'node' limit 1) as one")
	return n > 0, err
}

func (s *Store) revisions(ctx context.Context, id, lang string) ([]Revision, error) {
	var revisions []Revision
	err := s.d.Select(ctx, &revisions, `select id, title, state, author_id, message, created_at from revisions
		where entity_id = ? and lang = ? order by created_at desc, id desc`, id, lang)
	for i := range revisions {
		revisions[i].CreatedAt = revisions[i].CreatedAt.UTC()
	}
	return revisions, err
}

// revision reads a translation with one revision of its history.
func (s *Store) revision(ctx context.Context, id, lang, revisionID string) (row, error) {
	rows, err := s.rows(ctx, ` from translations t
		join entities e on e.id = t.entity_id
		join revisions r on r.entity_id = t.entity_id and r.lang = t.lang`, "e.id = ? and t.lang = ? and r.id = ?", id, lang, revisionID)
	if err != nil {
		return row{}, err
	}
	if len(rows) == 0 {
		return row{}, db.ErrNotFound
	}
	return rows[0], nil
}

// allLatest reads all translations of an entity with their latest revisions.
func (s *Store) allLatest(ctx context.Context, id string) ([]row, error) {
	return s.rows(ctx, fromLatest, "e.id = ? order by t.lang", id)
}
