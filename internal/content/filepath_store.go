package content

import (
	"context"
	"fmt"
	"slices"

	"docent/db"
)

// FilesByPath returns the files at some paths below [FilePrefix], by path; those
// that are not there are left out.
func (s *Store) FilesByPath(ctx context.Context, paths []string) (map[string]File, error) {
	out := make(map[string]File, len(paths))
	for chunk := range slices.Chunk(paths, inChunk) {
		query, args, err := db.In("select "+fileColumns+" from files where path in (?)", chunk)
		if err != nil {
			return nil, err
		}
		var files []File
		if err := s.d.Select(ctx, &files, query, args...); err != nil {
			return nil, fmt.Errorf("read files: %w", err)
		}
		for _, f := range files {
			out[f.Path] = f
		}
	}
	return out, nil
}
