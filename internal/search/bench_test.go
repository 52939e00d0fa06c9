package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/content"
	"docent/internal/search"
)

// site makes pages of words that are as unevenly common as those of a language.
func site(pages int) []content.Item {
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.2, 8, 20_000)
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%dx ", zipf.Uint64())
		}
		return b.String()
	}
	items := make([]content.Item, pages)
	for i := range items {
		var body strings.Builder
		for range 5 {
			fmt.Fprintf(&body, "## %s\n\n%s\n\n", words(4), words(150))
		}
		items[i] = page(fmt.Sprint("p", i), words(6), words(20), body.String())
	}
	return items
}

func benchEach(b *testing.B, f func(b *testing.B, d *db.DB)) {
	b.Run("sqlite", func(b *testing.B) { f(b, dbtest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { f(b, dbtest.Postgres(b)) })
}

func BenchmarkPutItems(b *testing.B) {
	items := site(1500)
	benchEach(b, func(b *testing.B, d *db.DB) {
		e := search.New(d)
		n := 0
		for b.Loop() {
			at := n % (len(items) - 150)
			if err := e.PutItems(b.Context(), d, items[at:at+150]); err != nil {
				b.Fatal(err)
			}
			n += 150
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "pages/s")
	})
}

func BenchmarkSearch(b *testing.B) {
	items := site(3000)
	benchEach(b, func(b *testing.B, d *db.DB) {
		e := search.New(d)
		if err := e.PutItems(b.Context(), d, items); err != nil {
			b.Fatal(err)
		}
		if err := e.Warm(b.Context()); err != nil {
			b.Fatal(err)
		}
		i := 0
		for b.Loop() {
			text := items[i%len(items)].Title + " " + items[(i+7)%len(items)].Title
			if _, err := e.Search(b.Context(), search.Query{Text: text, Lang: "en", Who: visitor}); err != nil {
				b.Fatal(err)
			}
			i++
		}
	})
}
