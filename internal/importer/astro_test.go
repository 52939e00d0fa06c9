package importer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"docent/db/dbtest"
	"docent/internal/content"
)

func TestAstro(t *testing.T) {
	files := testData(t, "astro-docs.tar.gz")
	languages := []string{"en", "ar", "de", "es", "fr", "ja", "ko", "ru", "zh-cn"}
	store := content.New(dbtest.SQLite(t), content.Options{Languages: func() []string { return languages }})
	sum := mustRun(t, Options{FS: files, Store: store})
	for _, p := range sum.Problems {
		t.Error(p)
	}
	entities := map[string]int{}
	err := store.Published(t.Context(), func(it content.Item) error {
		entities[it.ID]++
		if dir := os.Getenv("SHOW"); dir != "" {
			name := filepath.Join(dir, strings.TrimPrefix(it.Origin, originPrefix))
			os.MkdirAll(filepath.Dir(name), 0o755)
			os.WriteFile(name, []byte(it.Path+"\n"+it.Title+"\n"+it.Fields.Text("summary")+"\n"+it.Fields.Text("source_url")+"\n---\n"+it.Fields.Text("body")), 0o644)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(entities) != 40 {
		t.Errorf("%d pages, want the 40 that English has", len(entities))
	}
}
