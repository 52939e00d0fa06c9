package content

import (
	"context"
)

// FileByPath returns the file at a path below [FilePrefix], or [db.ErrNotFound].
func (s *Store) FileByPath(ctx context.Context, path string) (File, error) {
	var f File
	err := s.d.Get(ctx, &f, "select id, path, hash, mime, size, width, height, origin, created_at from files where path = ?", path)
	f.CreatedAt = f.CreatedAt.UTC()
	return f, err
}

// FileOrigins lists where the files kept came from.
func (s *Store) FileOrigins(ctx context.Context) (origins []string, err error) {
	err = s.d.Select(ctx, &origins, "select origin from files where origin <> '' order by origin")
	return origins, err
}

func (s *Store) putFile(ctx context.Context, f File) error {
	_, err := s.d.Exec(ctx, `insert into files (id, path, hash, mime, size, width, height, origin, created_at)
		values (?, ?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (path) do update set hash = excluded.hash, mime = excluded.mime, size = excluded.size,
			width = excluded.width, height = excluded.height, origin = excluded.origin`,
		f.ID, f.Path, f.Hash, f.MIME, f.Size, f.Width, f.Height, f.Origin, f.CreatedAt)
	return err
}
