package search

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"docent/db"
	"docent/db/dbtest"
	"docent/internal/account"
	"docent/internal/content"

	"go.yaml.in/yaml/v3"
)

type question struct {
	ID         string   `json:"id"`
	Question   string   `json:"question"`
	Gold       []string `json:"gold"`
	Answerable bool     `json:"answerable"`
	Lang       string   `json:"lang"`
}

func loadQuestions(t *testing.T, path string) []question {
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	var out []question
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		var q question
		if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

var shortcode = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)

func loadItems(t testing.TB, dir string) []content.Item {
	var items []content.Item
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		b, _ := os.ReadFile(p)
		rel, _ := filepath.Rel(dir, p)
		text := strings.TrimLeft(string(b), "\r\n \t\ufeff")
		parts := strings.SplitN(text, "---\n", 3)
		if len(parts) < 3 {
			return nil
		}
		var fm map[string]any
		if err := yaml.Unmarshal([]byte(parts[1]), &fm); err != nil {
			return nil
		}
		s := func(k string) string { v, _ := fm[k].(string); return v }
		if fm["draft"] == true || strings.HasPrefix(rel, "_archived") {
			return nil
		}
		date, _ := fm["date"].(time.Time)
		if date.IsZero() {
			if v := s("date"); len(v) >= 10 {
				date, _ = time.Parse("2006-01-02", v[:10])
			}
		}
		sum := s("summary")
		if d := s("deck"); d != "" && d != sum {
			sum = strings.TrimSpace(d + "\n\n" + sum)
		}
		items = append(items, content.Item{Ref: content.Ref{Type: "node", ID: rel}, Bundle: strings.SplitN(rel, "/", 2)[0], Lang: "en",
			Title: s("title"), Path: "/" + rel, Published: true, State: content.Published, Date: date, Languages: []string{"en"},
			Fields: content.Fields{"summary": sum, "body": shortcode.ReplaceAllString(parts[2], "")}})
		return nil
	})
	return items
}

var visitor = account.Account{Roles: []string{"anonymous"}, Permissions: map[account.Permission]bool{account.AccessContent: true}}

func TestExperiment(t *testing.T) {
	dir := os.Getenv("EXP")
	if dir == "" {
		t.Skip()
	}
	ctx := context.Background()
	qs := loadQuestions(t, "/work/shared/data/questions-dev.jsonl")
	run := func(t *testing.T, d *db.DB, fill bool) {
		e := New(d)
		if fill {
			items := loadItems(t, "/tmp/dg/content")
			start := time.Now()
			for i := 0; i < len(items); i += 150 {
				if err := d.InTx(ctx, func(tx *db.DB) error { return e.PutItems(ctx, tx, items[i:min(i+150, len(items))]) }); err != nil {
					t.Fatal(err)
				}
			}
			fmt.Printf("index %d items in %v = %.0f/s\n", len(items), time.Since(start), float64(len(items))/time.Since(start).Seconds())
		}
		st, _ := e.Stats(ctx)
		start := time.Now()
		e.currentLexicon(ctx)
		fmt.Printf("%+v lexicon %v\n", st, time.Since(start))
		var r1, r5, r10, mrr, n float64
		var times []time.Duration
		for _, q := range qs {
			start := time.Now()
			hits, err := e.Search(ctx, Query{Text: q.Question, Lang: q.Lang, Who: visitor, ForAnswers: true, Limit: 40})
			if err != nil {
				t.Fatal(q.ID, err)
			}
			times = append(times, time.Since(start))
			var pages []string
			for _, h := range hits {
				if len(pages) == 0 || !contains(pages, h.ID) {
					pages = append(pages, h.ID)
				}
			}
			rank := 0
			for i, p := range pages {
				if contains(q.Gold, p) {
					rank = i + 1
					break
				}
			}
			top := 0.0
			if len(hits) > 0 {
				top = hits[0].Score
			}
			if !q.Answerable {
				fmt.Printf("  NO  %-8s %.3f %s\n", q.ID, top, q.Question)
				continue
			}
			n++
			if rank == 1 {
				r1++
			}
			if rank > 0 && rank <= 5 {
				r5++
			}
			if rank > 0 && rank <= 10 {
				r10++
			}
			if rank > 0 && rank <= 10 {
				mrr += 1 / float64(rank)
			}
			fmt.Printf("  %3d %-8s %.3f %s\n", rank, q.ID, top, q.Question)
			if rank != 1 && os.Getenv("V") != "" {
				for i, h := range hits[:min(4, len(hits))] {
					fmt.Printf("         %d %.3f %s # %s\n", i+1, h.Score, h.ID, h.Heading)
				}
				fmt.Println("         gold", q.Gold)
				explain(e, q)
			}
		}
		sortDur(times)
		fmt.Printf("== R@1 %.3f R@5 %.3f R@10 %.3f MRR %.3f  p50 %v p95 %v\n", r1/n, r5/n, r10/n, mrr/n, times[len(times)/2], times[len(times)*95/100])
	}
	if os.Getenv("PG") != "" {
		run(t, dbtest.Postgres(t), true)
		return
	}
	_, err := os.Stat(filepath.Join(dir, "docent.db"))
	d, err2 := db.Open(ctx, "", dir)
	if err2 != nil {
		t.Fatal(err2)
	}
	defer d.Close()
	if err != nil {
		if err := db.Migrate(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	run(t, d, err != nil)
}

func contains(l []string, s string) bool {
	for _, x := range l {
		if x == s {
			return true
		}
	}
	return false
}

func sortDur(d []time.Duration) {
	for i := range d {
		for j := i; j > 0 && d[j] < d[j-1]; j-- {
			d[j], d[j-1] = d[j-1], d[j]
		}
	}
}

func explain(e *Engine, q question) {
	ctx := context.Background()
	lex, _ := e.currentLexicon(ctx)
	qq := Query{Text: q.Question, Lang: q.Lang, Who: visitor}
	cs := e.understand(qq, lex)
	for _, c := range cs {
		fmt.Printf("           %s idf %.2f cue %v:", c.word, c.idf, c.cue)
		for _, v := range c.variants {
			fmt.Printf(" %s*%.2f(%d)", v.term, v.weight, lex.frequency[v.term])
		}
		fmt.Println()
	}
	cands, _ := e.candidates(ctx, qq, lex, cs)
	rk := rank(qq, lex, cs, cands, defaultTuning)
	r := newRanking(lex, cs, defaultTuning)
	byID := map[int64]candidate{}
	for _, c := range cands {
		byID[c.ID] = c
	}
	n := 0
	for i, s := range rk {
		c := byID[s.id]
		if contains(q.Gold, c.EntityID) || i < 2 {
			p, has, _ := r.passage(c)
			fmt.Printf("           @%d %.3f p %.3f %s |", i+1, s.score, p, c.EntityID)
			for g, h := range has {
				if h > 0 {
					fmt.Printf(" %s=%.1f", cs[g].word, h)
				}
			}
			fmt.Println()
			n++
			if n > 4 {
				break
			}
		}
	}
}
