package content

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/config"
)

const (
	benchRevisions = 5
	benchSmall     = 100
	benchLarge     = 10_000
	benchLimit     = 3 // times that reading may be slower on the large site
)

// benchSite fills a database with pages of several revisions each, every tenth of
// which has a draft waiting.
func benchSite(b *testing.B, d *db.DB, n int) *Store {
	b.Helper()
	s := New(d, Options{})
	body := strings.Repeat("The pond is two metres deep, and [frogs](/p/1/) live there.\n\n", 30)
	for revision := range benchRevisions {
		for from := 0; from < n; from += 500 {
			var pages []Imported
			for i := from; i < min(from+500, n); i++ {
				p := Imported{
					Key: fmt.Sprint("bench:", i), Origin: fmt.Sprint("bench:", i), ParentPath: "/p/",
					Input: Input{
						Bundle: []string{"page", "article"}[i%2], Lang: "en", Title: fmt.Sprint("Page ", i), Path: fmt.Sprintf("/p/%d/", i),
						State: Published, Access: &Access{}, Fields: Fields{FieldBody: fmt.Sprint(body, revision), FieldSummary: "About a pond."},
					},
					Topics: []Term{TermOf("topics", fmt.Sprint("Topic ", i%20))},
				}
				if i == 0 {
					p.Path, p.ParentPath, p.SectionIndex = "/p/", "/", true
				}
				pages = append(pages, p)
			}
			if _, err := s.PutImported(b.Context(), pages, nil); err != nil {
				b.Fatal(err)
			}
		}
	}
	// PostgreSQL learns how large tables are in its own time.
	if _, err := d.Exec(b.Context(), "analyze"); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkSiteSize reads the same from a small and from a large site, in turns,
// and reports how many times slower the large one is.
func BenchmarkSiteSize(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchSizes(b, dbtest.SQLite) })
	b.Run("postgres", func(b *testing.B) { benchSizes(b, dbtest.Postgres) })
}

func benchSizes(b *testing.B, open func(testing.TB) *db.DB) {
	small, large := benchSite(b, open(b), benchSmall), benchSite(b, open(b), benchLarge)
	who := editor
	list := func(f Filter) func(*Store) error {
		return func(s *Store) error {
			f.Type, f.Limit = TypeNode, 50
			items, total, err := s.List(b.Context(), who, f)
			if err == nil && (len(items) == 0 || total == 0) {
				err = fmt.Errorf("nothing listed")
			}
			return err
		}
	}
	visitorSees := func(who account.Account) func(*Store) error {
		return func(s *Store) error {
			it, err := s.ByPath(b.Context(), who, "en", "/p/51/")
			if err != nil {
				return err
			}
			if _, err := s.Ancestors(b.Context(), who, it); err != nil {
				return err
			}
			_, err = s.Render(b.Context(), who, it, config.ViewFull)
			return err
		}
	}
	for _, op := range []struct {
		name string
		read func(*Store) error
	}{
		{"list", list(Filter{Order: ByChanged})},
		{"list by type and title", list(Filter{Order: ByTitle, Bundle: "article"})},
		{"list published", list(Filter{Order: ByChanged, State: Published, Lang: "en"})},
		{"edit", func(s *Store) error {
			it, err := s.ByPath(b.Context(), who, "en", "/p/51/")
			if err != nil {
				return err
			}
			if _, err := s.Latest(b.Context(), who, it.Ref, "en"); err != nil {
				return err
			}
			if _, err := s.TranslationsFor(b.Context(), who, it.Ref); err != nil {
				return err
			}
			_, err = s.History(b.Context(), who, it.Ref, "en")
			return err
		}},
		{"page", visitorSees(visitor)},
	} {
		b.Run(op.name, func(b *testing.B) {
			var took [2]time.Duration
			for b.Loop() {
				for i, s := range []*Store{small, large} {
					start := time.Now()
					if err := op.read(s); err != nil {
						b.Fatal(err)
					}
					took[i] += time.Since(start)
				}
			}
			ratio := float64(took[1]) / float64(took[0])
			b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "large-µs")
			b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "small-µs")
			b.ReportMetric(ratio, "times-slower")
			if ratio > benchLimit && b.N > 10 {
				b.Errorf("%.1f times slower with %d pages than with %d (%s, %s); %d is the limit", ratio, benchLarge, benchSmall, took[1]/time.Duration(b.N), took[0]/time.Duration(b.N), benchLimit)
			}
		})
	}
}
