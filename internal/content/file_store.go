package content

import (
	"context"
	"slices"
	"time"

	"docent/db"
)

const fileColumns = `id, path, name, hash, mime, size, width, height, origin, private, standalone, focus_x, focus_y, created_at`

// fileTarget names a file as what content refers to.
func fileTarget(id string) string { return "file:" + id }

// FileByPath returns the file at a path below [FilePrefix], or [db.ErrNotFound].
func (s *Store) FileByPath(ctx context.Context, path string) (File, error) {
	return s.fileWhere(ctx, "path = ?", path)
}

// File returns the file with an id, or [db.ErrNotFound].
func (s *Store) File(ctx context.Context, id string) (File, error) {
	return s.fileWhere(ctx, "id = ?", id)
}

func (s *Store) fileWhere(ctx context.Context, where string, args ...any) (File, error) {
	var f File
	err := s.d.Get(ctx, &f, "select "+fileColumns+" from files where "+where, args...)
	f.CreatedAt = f.CreatedAt.UTC()
	return f, err
}

// Files returns the files with these ids, by id; unknown ones are left out.
func (s *Store) Files(ctx context.Context, ids []string) (map[string]File, error) {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	out := make(map[string]File, len(ids))
	for chunk := range slices.Chunk(slices.Compact(ids), inChunk) {
		query, args, err := db.In("select "+fileColumns+" from files where id in (?)", chunk)
		if err != nil {
			return nil, err
		}
		var files []File
		if err := s.d.Select(ctx, &files, query, args...); err != nil {
			return nil, err
		}
		for _, f := range files {
			f.CreatedAt = f.CreatedAt.UTC()
			out[f.ID] = f
		}
	}
	return out, nil
}

// FileOrigins lists where the files kept came from.
func (s *Store) FileOrigins(ctx context.Context) (origins []string, err error) {
	err = s.d.Select(ctx, &origins, "select origin from files where origin <> '' order by origin")
	return origins, err
}

func (s *Store) putFile(ctx context.Context, f File) error {
	_, err := s.d.Exec(ctx, `insert into files (id, path, name, hash, mime, size, width, height, origin, private, standalone, focus_x, focus_y, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (path) do update set hash = excluded.hash, mime = excluded.mime, size = excluded.size,
			width = excluded.width, height = excluded.height, origin = excluded.origin`,
		f.ID, f.Path, f.Name, f.Hash, f.MIME, f.Size, f.Width, f.Height, f.Origin, f.Private, f.Standalone, f.FocusX, f.FocusY, f.CreatedAt)
	return err
}

// insertUpload adds a private file, or finds the one that has the same bytes; it
// counts as new, so that nobody clears it away.
func (s *Store) insertUpload(ctx context.Context, f *File) error {
	_, err := s.d.Exec(ctx, `insert into files (id, path, name, hash, mime, size, width, height, origin, private, standalone, focus_x, focus_y, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (hash) where private do update set standalone = files.standalone or excluded.standalone, created_at = excluded.created_at`,
		f.ID, f.Path, f.Name, f.Hash, f.MIME, f.Size, f.Width, f.Height, f.Origin, f.Private, f.Standalone, f.FocusX, f.FocusY, f.CreatedAt)
	if err != nil {
		return err
	}
	*f, err = s.fileWhere(ctx, "hash = ? and private = ?", f.Hash, true)
	return err
}

// updateFile sets what may change of a file.
func updateFile(ctx context.Context, tx *db.DB, f File) error {
	_, err := tx.Exec(ctx, "update files set standalone = ?, focus_x = ?, focus_y = ? where id = ?", f.Standalone, f.FocusX, f.FocusY, f.ID)
	return err
}

// A holder is an entity that refers to something.
type holder struct {
	ID     string `db:"entity_id"`
	Target string `db:"target"`
	Live   bool   `db:"live"` // its published revision does
}

// holders lists the entities that refer to any of some targets.
func (s *Store) holders(ctx context.Context, targets []string) ([]holder, error) {
	var out []holder
	for chunk := range slices.Chunk(targets, inChunk) {
		query, args, err := db.In("select distinct entity_id, target, live from usages where target in (?)", chunk)
		if err != nil {
			return nil, err
		}
		var found []holder
		if err := s.d.Select(ctx, &found, query, args...); err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// mediaWith lists the media entities that hold files with these bytes.
func (s *Store) mediaWith(ctx context.Context, hash string) (ids []string, err error) {
	err = s.d.Select(ctx, &ids, `select distinct u.entity_id from files f
		join usages u on u.target = 'file:' || f.id join entities e on e.id = u.entity_id
		where f.hash = ? and e.type = ? order by u.entity_id`, hash, TypeMedia)
	return ids, err
}

// A fileText is what a document says.
type fileText struct {
	Hash    string `db:"hash"`
	Text    string `db:"text"`
	Cut     bool   `db:"cut"`
	Problem string `db:"problem"`
}

func (s *Store) fileTexts(ctx context.Context, hashes []string) (map[string]fileText, error) {
	out := make(map[string]fileText, len(hashes))
	for chunk := range slices.Chunk(hashes, inChunk) {
		query, args, err := db.In("select hash, text, cut, problem from file_texts where hash in (?)", chunk)
		if err != nil {
			return nil, err
		}
		var found []fileText
		if err := s.d.Select(ctx, &found, query, args...); err != nil {
			return nil, err
		}
		for _, t := range found {
			out[t.Hash] = t
		}
	}
	return out, nil
}

func (s *Store) hasText(ctx context.Context, hash string) (bool, error) {
	var n int
	err := s.d.Get(ctx, &n, "select count(*) from file_texts where hash = ?", hash)
	return n > 0, err
}

func putFileText(ctx context.Context, tx *db.DB, t fileText) error {
	_, err := tx.Exec(ctx, `insert into file_texts (hash, text, cut, problem, created_at) values (?, ?, ?, ?, ?)
		on conflict (hash) do update set text = excluded.text, cut = excluded.cut, problem = excluded.problem, created_at = excluded.created_at`,
		t.Hash, t.Text, t.Cut, t.Problem, db.Now())
	return err
}

// hasBytes reports whether a file with these bytes is known.
func (s *Store) hasBytes(ctx context.Context, hash string, private bool) (bool, error) {
	var n int
	err := s.d.Get(ctx, &n, "select count(*) from files where hash = ? and private = ?", hash, private)
	return n > 0, err
}

// deleteUnusedFiles forgets private files from before a time that nothing refers to.
func (s *Store) deleteUnusedFiles(ctx context.Context, before time.Time) error {
	_, err := s.d.Exec(ctx, `delete from files where private and created_at < ?
		and not exists (select 1 from usages u where u.target = 'file:' || files.id)
		and not exists (select 1 from revisions r where r.fields like '%' || files.id || '%')`, before)
	if err == nil {
		_, err = s.d.Exec(ctx, "delete from file_texts where not exists (select 1 from files f where f.hash = file_texts.hash)")
	}
	return err
}
