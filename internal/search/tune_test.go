package search

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"docent/db"
	"docent/internal/content"
)

type prepared struct {
	q        Query
	concepts []concept
	cands    []candidate
	gold     map[string]float64
	id       string
}

func prep(t *testing.T, e *Engine, id, text, lang string, gold map[string]float64) prepared {
	ctx := context.Background()
	lex, err := e.currentLexicon(ctx)
	if err != nil {
		t.Fatal(err)
	}
	q := Query{Text: text, Lang: lang, Who: visitor}
	p := prepared{q: q, gold: gold, id: id}
	p.concepts = e.understand(q, lex)
	p.cands, err = e.candidates(ctx, q, lex, p.concepts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pagesOf(p prepared, lex *lexicon, tn tuning) []string {
	byID := map[int64]string{}
	for _, c := range p.cands {
		byID[c.ID] = c.EntityID
	}
	seen := map[string]bool{}
	var out []string
	for _, s := range rank(p.q, lex, p.concepts, p.cands, tn) {
		if id := byID[s.id]; !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

func loadCran(t *testing.T) (items []content.Item, qs []struct {
	text string
	rel  map[string]float64
}) {
	read := func(n string) string {
		b, err := os.ReadFile("/tmp/cran/" + n)
		if err != nil {
			t.Skip(err)
		}
		return string(b)
	}
	for _, part := range strings.Split("\n"+read("cran.all.1400"), "\n.I ")[1:] {
		id, rest, _ := strings.Cut(part, "\n")
		_, rest, _ = strings.Cut(rest, ".T\n")
		title, rest, _ := strings.Cut(rest, ".A\n")
		_, body, _ := strings.Cut(rest, ".W\n")
		items = append(items, content.Item{Ref: content.Ref{Type: "node", ID: strings.TrimSpace(id)}, Lang: "en", Title: strings.TrimSpace(title),
			Published: true, State: content.Published, Fields: content.Fields{"body": body}})
	}
	for _, part := range strings.Split("\n"+read("cran.qry"), "\n.I ")[1:] {
		_, text, _ := strings.Cut(part, ".W\n")
		qs = append(qs, struct {
			text string
			rel  map[string]float64
		}{text, map[string]float64{}})
	}
	for _, l := range strings.Split(read("cranqrel"), "\n") {
		f := strings.Fields(l)
		if len(f) < 3 {
			continue
		}
		n, _ := strconv.Atoi(f[0])
		code, _ := strconv.Atoi(f[2])
		g := map[int]float64{-1: 4, 1: 4, 2: 3, 3: 2, 4: 1}[code]
		qs[n-1].rel[f[1]] = g
	}
	return
}

func ndcg(pages []string, rel map[string]float64) float64 {
	dcg := 0.0
	for i, p := range pages[:min(10, len(pages))] {
		dcg += rel[p] / math.Log2(float64(i+2))
	}
	var gs []float64
	for _, g := range rel {
		gs = append(gs, g)
	}
	ideal := 0.0
	for i := 0; i < 10 && len(gs) > 0; i++ {
		b := 0
		for j := range gs {
			if gs[j] > gs[b] {
				b = j
			}
		}
		ideal += gs[b] / math.Log2(float64(i+2))
		gs = append(gs[:b], gs[b+1:]...)
	}
	if ideal == 0 {
		return 0
	}
	return dcg / ideal
}

func TestTune(t *testing.T) {
	if os.Getenv("TUNE") == "" {
		t.Skip()
	}
	ctx := context.Background()
	open := func(dir string, items func() []content.Item) *Engine {
		_, statErr := os.Stat(filepath.Join(dir, "docent.db"))
		d, err := db.Open(ctx, "", dir)
		if err != nil {
			t.Fatal(err)
		}
		e := New(d)
		if statErr != nil {
			if err := db.Migrate(ctx, d); err != nil {
				t.Fatal(err)
			}
			if err := e.PutItems(ctx, d, items()); err != nil {
				t.Fatal(err)
			}
		}
		return e
	}
	dg := open("/tmp/exp1", func() []content.Item { return loadItems(t, "/tmp/dg/content") })
	cranItems, cranQs := loadCran(t)
	cr := open("/tmp/exp2", func() []content.Item { return cranItems })
	var A, B []prepared
	for _, q := range loadQuestions(t, "/work/shared/data/questions-dev.jsonl") {
		if q.Answerable {
			g := map[string]float64{}
			for _, p := range q.Gold {
				g[p] = 1
			}
			A = append(A, prep(t, dg, q.ID, q.Question, q.Lang, g))
		}
	}
	for i, q := range cranQs {
		B = append(B, prep(t, cr, fmt.Sprint(i), q.text, "en", q.rel))
	}
	lexA, _ := dg.currentLexicon(ctx)
	lexB, _ := cr.currentLexicon(ctx)
	rounds := 1
	full := 0
	for _, p := range A {
		for _, c := range p.cands {
			if p.gold[c.EntityID] > 0 {
				full++
				break
			}
		}
	}
	fmt.Println("gold among candidates:", full, "of", len(A))
	if f := os.Getenv("DUMP"); f != "" {
		type row struct {
			ID    string   `json:"id"`
			Gold  []string `json:"gold"`
			Terms [][2]any `json:"terms"`
			Pages [][2]any `json:"pages"`
		}
		var out []row
		for _, p := range A {
			r := row{ID: p.id}
			for g := range p.gold {
				r.Gold = append(r.Gold, g)
			}
			for _, c := range p.concepts {
				for _, v := range c.variants {
					if v.weight >= 0.7 && !c.cue {
						r.Terms = append(r.Terms, [2]any{v.term, v.weight})
					}
				}
			}
			byID := map[int64]string{}
			for _, c := range p.cands {
				byID[c.ID] = c.EntityID
			}
			seen := map[string]bool{}
			for _, s := range rank(p.q, lexA, p.concepts, p.cands, defaultTuning) {
				if e := byID[s.id]; !seen[e] {
					seen[e] = true
					r.Pages = append(r.Pages, [2]any{e, s.score})
				}
			}
			out = append(out, r)
		}
		b, _ := json.Marshal(out)
		os.WriteFile(f, b, 0o644)
		return
	}
	eval := func(tn tuning) (obj float64, line string) {
		var mrr, r5, r1, soft, nd float64
		for _, p := range A {
			for i, page := range pagesOf(p, lexA, tn) {
				if p.gold[page] > 0 {
					if i < 10 {
						mrr += 1 / float64(i+1)
					}
					if i < 5 {
						r5++
					}
					if i < 1 {
						r1++
					}
					soft += 1 / (1 + math.Log2(float64(i+1)))
					break
				}
			}
		}
		for _, p := range B[:120] {
			nd += ndcg(pagesOf(p, lexB, tn), p.gold)
		}
		n := float64(len(A))
		nd /= 120
		return mrr/n + soft/n + 0.5*r5/n + nd, fmt.Sprintf("R1 %.3f R5 %.3f MRR %.3f soft %.3f cran %.4f", r1/n, r5/n, mrr/n, soft/n, nd)
	}
	best := defaultTuning
	obj, line := eval(best)
	fmt.Printf("%.4f %s\n", obj, line)
	if os.Getenv("TUNE") == "1" {
		return
	}
	grid := map[string][]float64{
		"saturation": {0.5, 0.8, 1.2, 1.6, 2.2}, "lengthShare": {0.2, 0.4, 0.6, 0.75}, "title": {0.5, 1, 1.5, 2, 3, 4}, "heading": {0.5, 1, 1.5, 2, 3},
		"near": {0, 0.1, 0.2, 0.35, 0.5}, "nearTitle": {0, 0.1, 0.2, 0.4}, "document": {0, 0.1, 0.2, 0.3, 0.4, 0.5}, "second": {0, 0.1, 0.2, 0.3},
		"coverage": {0, 0.25, 0.5, 1}, "extra": {0.5, 0.75, 1, 1.3}, "cue": {0.2, 0.4, 0.6, 1}, "recency": {0, 0.05, 0.1, 0.2}, "expand": {0, 0.25, 0.5, 0.75, 1}, "whole": {0, 0.1, 0.2, 0.3, 0.4, 0.5}, "wholeLength": {0.1, 0.2, 0.3, 0.5, 0.75}, "wholeSat": {1, 2, 4, 8}, "fbDocs": {5, 10, 15, 25}, "fbTerms": {6, 12, 20, 30}, "fbWeight": {0, 0.1, 0.2, 0.3, 0.5},
	}
	for round := 0; round < rounds; round++ {
		if f := os.Getenv("F"); f != "" {
			for k := range grid {
				if !strings.Contains(f, k) {
					delete(grid, k)
				}
			}
		}
		v := reflect.ValueOf(&best).Elem()
		for i := 0; i < v.NumField(); i++ {
			name := v.Type().Field(i).Name
			for _, x := range grid[name] {
				try := best
				p := reflect.ValueOf(&try).Elem().Field(i)
				setUnexported(p, x)
				if try == best {
					continue
				}
				o, l := eval(try)
				mark := ""
				if o > obj+0.0005 {
					mark = " *"
					obj = o
					defer func() {}()
					bestCopy := try
					best = bestCopy
				}
				fmt.Printf("%s=%g %.4f %s%s\n", name, x, o, l, mark)
			}
		}
		fmt.Printf("%+v\n", best)
	}
}
