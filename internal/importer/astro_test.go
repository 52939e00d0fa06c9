package importer

import (
	"docent/internal/testdata"
	"testing"

	"docent/db/dbtest"
	"docent/internal/content"
)

func TestAstro(t *testing.T) {
	files := testdata.Archive(t, "astro-docs.tar.gz")
	languages := []string{"en", "ar", "de", "es", "fr", "ja", "ko", "ru", "zh-cn"}
	store := content.New(dbtest.SQLite(t), content.Options{Languages: func() []string { return languages }})
	sum := mustRun(t, Options{FS: files, Store: store})
	for _, p := range sum.Problems {
		t.Error(p)
	}
	entities := map[string]int{}
	err := store.Published(t.Context(), func(it content.Item) error {
		entities[it.ID]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(entities) != 40 {
		t.Errorf("%d pages, want the 40 that English has", len(entities))
	}
}
