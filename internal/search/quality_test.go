package search_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/content"
	"docent/internal/eval"
	"docent/internal/importer"
	"docent/internal/search"
	"docent/internal/testdata"
)

// unhurried skips what measures quality under the race detector.
func unhurried(t testing.TB) {
	t.Helper()
	if raceEnabled {
		t.Skip("quality is measured without the race detector")
	}
}

// imported imports files with their index.
func imported(t testing.TB, d *db.DB, files fstest.MapFS, langs ...string) *search.Engine {
	t.Helper()
	e := search.New(d)
	store := content.New(d, content.Options{Languages: func() []string { return langs }})
	sum, err := importer.Run(t.Context(), importer.Options{FS: files, Store: store, IndexBatch: e.PutItems})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files imported and indexed in %v: %.0f a second", sum.Files, sum.Took.Round(time.Millisecond), float64(sum.Files)/sum.Took.Seconds())
	return e
}

// The floors stand below what was measured, for figures move a little whenever the
// importer does.
func TestQuestions(t *testing.T) {
	unhurried(t)
	questions, err := eval.Load(testdata.Path(t, "questions-dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	files := testdata.Archive(t, "digitalgov.tar.gz")
	tops := map[string]map[string][]string{}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := imported(t, d, files, "en")
		top := map[string][]string{}
		tops[string(d.Dialect())] = top
		find := func(ctx context.Context, q, lang string, prev *eval.Turn) (pages []eval.RankedPage, err error) {
			before := ""
			if prev != nil {
				before = prev.Question
			}
			hits, err := e.Search(ctx, search.Query{Text: q, Before: before, Lang: lang, Who: visitor, ForAnswers: true, Limit: 50})
			for i, h := range hits {
				pages = append(pages, eval.RankedPage{Origin: h.Origin})
				if i < 10 {
					top[q] = append(top[q], h.Origin+"#"+strconv.Itoa(h.Start))
				}
			}
			return pages, err
		}
		report, err := eval.Run(t.Context(), questions, find, nil)
		if err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		if err := report.Print(&table, os.Getenv("SHOW") != ""); err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + table.String())
		if report.RecallAt5 < 0.85 || report.MRR < 0.75 {
			t.Errorf("recall@5 %.3f, MRR %.3f", report.RecallAt5, report.MRR)
		}
	})
	if len(tops) < 2 {
		return // one of the databases was not there
	}
	for q, want := range tops[string(db.SQLite)] {
		if got := tops[string(db.Postgres)][q]; !slices.Equal(got, want) {
			t.Errorf("%q: the databases rank differently:\n%q\n%q", q, want, got)
		}
	}
}

// TestCranfield measures ranking alone against plain BM25 on a collection that
// nothing here was made for. Codes 1 to 4 and -1 count as relevant, with gains of
// 4 to 1, and 4 for -1.
func TestCranfield(t *testing.T) {
	unhurried(t)
	files := testdata.Archive(t, "cranfield.tar.gz")
	text := func(name string) string {
		if files[name] == nil {
			t.Fatalf("no %s", name)
		}
		return string(files[name].Data)
	}
	var items []content.Item
	for _, part := range strings.Split("\n"+text("cran.all.1400"), "\n.I ")[1:] {
		id, rest, _ := strings.Cut(part, "\n")
		_, rest, _ = strings.Cut(rest, ".T\n")
		title, rest, _ := strings.Cut(rest, ".A\n")
		_, body, _ := strings.Cut(rest, ".W\n")
		items = append(items, page(strings.TrimSpace(id), strings.TrimSpace(title), "", body))
	}
	queries := strings.Split("\n"+text("cran.qry"), "\n.I ")[1:]
	gains := make([]map[string]float64, len(queries))
	for line := range strings.Lines(text("cranqrel")) {
		f := strings.Fields(line)
		n, err := strconv.Atoi(f[0])
		if err != nil || len(f) != 3 {
			t.Fatalf("judgement %q", line)
		}
		if gains[n-1] == nil {
			gains[n-1] = map[string]float64{}
		}
		gains[n-1][f[1]] = map[string]float64{"-1": 4, "1": 4, "2": 3, "3": 2, "4": 1}[f[2]]
	}
	plain := newBM25(items)
	d := dbtest.SQLite(t)
	e := search.New(d)
	put(t, e, d, items...)
	ours, theirs := 0.0, 0.0
	for i, q := range queries {
		_, q, _ = strings.Cut(q, ".W\n")
		hits := find(t, e, search.Query{Text: q, Lang: "en", Limit: 50})
		ours += ndcg(ids(hits), gains[i])
		theirs += ndcg(plain.rank(q), gains[i])
	}
	n := float64(len(queries))
	t.Logf("nDCG@10 %.4f, plain BM25 over the same terms %.4f", ours/n, theirs/n)
	if ours < theirs {
		t.Errorf("nDCG@10 %.4f is below plain BM25's %.4f", ours/n, theirs/n)
	}
}

// bm25 is the textbook ranking over whole documents.
type bm25 struct {
	ids    []string
	tf     []map[string]int
	length []float64
	df     map[string]int
	mean   float64
}

func newBM25(items []content.Item) *bm25 {
	b := &bm25{df: map[string]int{}}
	for _, it := range items {
		terms := search.Analyze("en", it.Title+" "+it.Fields.Text(content.FieldBody))
		tf := map[string]int{}
		for _, term := range terms {
			if tf[term]++; tf[term] == 1 {
				b.df[term]++
			}
		}
		b.ids, b.tf, b.length = append(b.ids, it.ID), append(b.tf, tf), append(b.length, float64(len(terms)))
		b.mean += float64(len(terms)) / float64(len(items))
	}
	return b
}

func (b *bm25) rank(query string) []string {
	const k1, share = 1.2, 0.75
	scores := make(map[string]float64, len(b.ids))
	for _, term := range search.Analyze("en", query) {
		idf := math.Log(1 + (float64(len(b.ids))-float64(b.df[term])+0.5)/(float64(b.df[term])+0.5))
		for i, tf := range b.tf {
			f := float64(tf[term])
			scores[b.ids[i]] += idf * f * (k1 + 1) / (f + k1*(1-share+share*b.length[i]/b.mean))
		}
	}
	out := slices.Clone(b.ids)
	slices.SortStableFunc(out, func(x, y string) int {
		switch {
		case scores[x] > scores[y]:
			return -1
		case scores[x] < scores[y]:
			return 1
		}
		return 0
	})
	return out
}

func ndcg(ranked []string, gains map[string]float64) float64 {
	sum := func(gain func(int) float64) (s float64) {
		for i := range 10 {
			s += gain(i) / math.Log2(float64(i+2))
		}
		return s
	}
	var best []float64
	for _, g := range gains {
		best = append(best, g)
	}
	slices.SortFunc(best, func(a, b float64) int { return int(b - a) })
	at := func(list []float64, i int) float64 {
		if i < len(list) {
			return list[i]
		}
		return 0
	}
	ideal := sum(func(i int) float64 { return at(best, i) })
	if ideal == 0 {
		return 0
	}
	return sum(func(i int) float64 {
		if i < len(ranked) {
			return gains[ranked[i]]
		}
		return 0
	}) / ideal
}

// TestTranslations looks for every translated page of a documentation by its own
// title, in its own language.
func TestTranslations(t *testing.T) {
	unhurried(t)
	files := testdata.Archive(t, "astro-docs.tar.gz")
	langs := []string{"en", "ar", "de", "es", "fr", "ja", "ko", "ru", "zh-cn"}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		e := search.New(d)
		var pages []content.Item
		store := content.New(d, content.Options{Languages: func() []string { return langs }})
		if _, err := importer.Run(t.Context(), importer.Options{FS: files, Store: store, IndexBatch: func(ctx context.Context, tx *db.DB, items []content.Item) error {
			pages = append(pages, items...)
			return e.PutItems(ctx, tx, items)
		}}); err != nil {
			t.Fatal(err)
		}
		total, first := map[string]int{}, map[string]int{}
		for _, p := range pages {
			if p.Type != content.TypeNode {
				continue
			}
			total[p.Lang]++
			hits := find(t, e, search.Query{Text: p.Title, Lang: p.Lang})
			if len(hits) > 0 && hits[0].ID == p.ID && hits[0].Lang == p.Lang {
				first[p.Lang]++
			} else if os.Getenv("SHOW") != "" {
				t.Logf("%s %q: %s", p.Lang, p.Title, fmt.Sprint(ids(hits)))
			}
		}
		t.Logf("first by title: %v of %v", first, total)
		for lang, n := range total {
			if share := float64(first[lang]) / float64(n); share < 0.8 {
				t.Errorf("%s: %d of %d pages come first when asked for by title", lang, first[lang], n)
			}
		}
		if len(total) != len(langs) {
			t.Errorf("languages %v", total)
		}
	})
}
