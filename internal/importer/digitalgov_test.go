package importer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"
	"docent/internal/testdata"
)

func mustRun(t testing.TB, opts Options) Summary {
	t.Helper()
	sum, err := Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := sum.Added + sum.Changed + sum.Unchanged + sum.Skipped; got != sum.Files {
		t.Errorf("summary accounts for %d of %d files: %+v", got, sum.Files, sum)
	}
	return sum
}

func TestDigitalgov(t *testing.T) {
	files := testdata.Archive(t, "digitalgov.tar.gz")
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		store := content.New(d, content.Options{})
		indexed := 0
		opts := Options{FS: files, Store: store, IndexBatch: func(_ context.Context, _ *db.DB, items []content.Item) error {
			indexed += len(items)
			return nil
		}}
		sum := mustRun(t, opts)
		t.Logf("%d files in %v: %.0f a second", sum.Files, sum.Took, float64(sum.Files)/sum.Took.Seconds())
		if sum.Files != 2995 || sum.Added != 2995 || sum.Drafts != 12 || indexed != 2995-12 {
			t.Errorf("%d files, %d added, %d drafts, %d indexed", sum.Files, sum.Added, sum.Drafts, indexed)
		}
		sum = mustRun(t, opts)
		t.Logf("again in %v", sum.Took)
		if sum.Unchanged != 2995 {
			t.Errorf("second run: %d of 2995 unchanged", sum.Unchanged)
		}
		published := 0
		err := store.Published(t.Context(), func(it content.Item) error {
			published++
			body := it.Fields.Text(content.FieldBody)
			if strings.Contains(body, "{{<") || strings.Contains(body, "<td") || strings.Contains(body, nowhere) {
				t.Errorf("%s keeps tags", it.Origin)
			}
			return nil
		})
		if err != nil || published != indexed {
			t.Errorf("%d published, %d indexed: %v", published, indexed, err)
		}

		changed := maps.Clone(files)
		changed["services/folio.md"] = &fstest.MapFile{Data: append(slices.Clone(files["services/folio.md"].Data), "\nMore.\n"...)}
		delete(changed, "guides/dap/_index.md")
		opts.FS, indexed = changed, 0
		asked := 0
		opts.Prune = func(gone []string) bool {
			asked = len(gone)
			return true
		}
		sum = mustRun(t, opts)
		if sum.Changed != 1 || sum.Unchanged != 2993 || indexed != 1 || asked != 1 || sum.Removed != 1 || !slices.Equal(sum.Gone, []string{"guides/dap/_index.md"}) {
			t.Errorf("one changed, one gone: %+v, %d indexed, asked about %d", sum, indexed, asked)
		}
		visitor := account.Account{Permissions: map[account.Permission]bool{account.AccessContent: true}}
		if _, err := store.ByPath(t.Context(), visitor, "en", "/guides/dap/"); !errors.Is(err, db.ErrNotFound) {
			t.Errorf("the page is gone, yet: %v", err)
		}
		folio, err := store.ByPath(t.Context(), visitor, "en", "/services/folio/")
		if err != nil || !strings.HasSuffix(folio.Fields.Text(content.FieldBody), "More.") || folio.Origin != "import:services/folio.md" || folio.ParentPath != "/services/" {
			t.Errorf("%+v, %v", folio, err)
		}
	})
}

// BenchmarkImport reports pages a second, into an empty SQLite database and again.
func BenchmarkImport(b *testing.B) {
	files := testdata.Archive(b, "digitalgov.tar.gz")
	pages := 0
	for b.Loop() {
		b.StopTimer()
		opts := Options{FS: files, Store: content.New(dbtest.SQLite(b), content.Options{})}
		b.StartTimer()
		pages += mustRun(b, opts).Added
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkConvert(b *testing.B) {
	files := testdata.Archive(b, "digitalgov.tar.gz")
	size := 0
	for b.Loop() {
		for _, f := range files {
			size += len(f.Data)
			convertString(string(f.Data), format{})
		}
	}
	b.ReportMetric(float64(size)/b.Elapsed().Seconds()/1e6, "MB/s")
}
