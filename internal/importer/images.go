package importer

import (
	"context"
	"strings"

	"docent/internal/content"
)

// storeImages stores images that were found to be good.
func (r *run) storeImages(ctx context.Context, names []string) error {
	stored := make(map[string]content.File, len(names))
	for _, name := range names {
		b, err := readLimited(r.FS, name, maxImage)
		if err == nil {
			stored[name], err = r.Store.PutImage(ctx, filePath(name), r.Origin+name, b)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			delete(stored, name)
			r.report(Problem{File: name, Message: err.Error()})
		}
	}
	return r.putMedia(ctx, stored)
}

// refreshImages stores images again that changed while the pages that show them
// did not.
func (r *run) refreshImages(ctx context.Context) error {
	origins, err := r.Store.FileOrigins(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, origin := range origins {
		if name, ok := strings.CutPrefix(origin, r.Origin); ok && regular(r.FS, name) {
			if _, stored := r.resolver.seen[name]; !stored {
				names = append(names, name)
			}
		}
	}
	return r.storeImages(ctx, names)
}
