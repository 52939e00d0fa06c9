package llm_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/spanish"

	"docent/internal/llm"
)

// evalQuestion is a line of questions-dev.jsonl.
type evalQuestion struct {
	ID          string        `json:"id"`
	Question    string        `json:"question"`
	Gold        []string      `json:"gold"`
	AnswerFacts []string      `json:"answer_facts"`
	Kind        string        `json:"kind"`
	Answerable  bool          `json:"answerable"`
	Lang        string        `json:"lang"`
	FollowUp    *evalQuestion `json:"follow_up"`
}

// evalPage is a page of the test site, cut into sources.
type evalPage struct {
	path   string
	title  string
	chunks []llm.Source
}

func testData(t *testing.T) string {
	dir := os.Getenv("DOCENT_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "digitalgov.tar.gz")); err != nil {
		t.Skipf("SKIPPED: no test data, set DOCENT_TEST_DATA: %v", err)
	}
	return dir
}

func readQuestions(t *testing.T, dir string) []evalQuestion {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "questions-dev.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var out []evalQuestion
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var q evalQuestion
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

func readPages(t *testing.T, dir string) []*evalPage {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "digitalgov.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var pages []*evalPage
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return pages
		}
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(h.Name, "content/")
		if !strings.HasSuffix(path, ".md") || strings.HasPrefix(path, "_archived") || strings.HasPrefix(path, "topics") {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, cutPage(path, string(text)))
	}
}

// asMarkdown roughly does what an importer does with HTML in Markdown.
func asMarkdown(body string) string {
	for _, r := range htmlRules {
		body = r.pattern.ReplaceAllString(body, r.with)
	}
	return body
}

var htmlRules = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`), " "},
	{regexp.MustCompile(`(?m)^[ \t]+<`), "<"},
	{regexp.MustCompile(`(?s)<h([1-6])[^>]*>\s*(.*?)\s*</h[1-6]>`), "\n\n## $2\n\n"},
	{regexp.MustCompile(`(?s)<li[^>]*>\s*(?:<p>)?\s*`), "\n- "},
	{regexp.MustCompile(`(?s)</?(?:ul|ol|p|div|table|tbody|thead|blockquote|caption)(?: [^>]*)?>`), "\n\n"},
	{regexp.MustCompile(`(?s)\s*<tr[^>]*>\s*<t[hd][^>]*>\s*`), "\n| "},
	{regexp.MustCompile(`(?s)\s*</t[hd]>\s*<t[hd][^>]*>\s*`), " | "},
	{regexp.MustCompile(`(?s)\s*</t[hd]>\s*</tr>`), " |"},
	{regexp.MustCompile(`<br ?/?>`), "\n"},
	{regexp.MustCompile(`</?(?:strong|b)>`), "**"},
	{regexp.MustCompile(`</?(?:span|a|img|em|i|u|sup|sub|br|hr|code|font|cite|figure|iframe|script|style)(?: [^>]*)?/?>|<!--.*?-->`), ""},
	{regexp.MustCompile(`(?m)^[ \t]+$`), ""},
}

var (
	frontField = regexp.MustCompile(`(?m)^(title|deck|summary|date): *[>|]?-? *\n?((?:.*)(?:\n[ ]+\S.*)*)`)
	headings   = regexp.MustCompile(`^#{1,6} +(.*)`)
)

func cutPage(path, text string) *evalPage {
	page := &evalPage{path: path}
	_, text, _ = strings.Cut("\n"+text, "\n---\n")
	front, body, _ := strings.Cut(text, "\n---")
	fields := map[string]string{}
	for _, m := range frontField.FindAllStringSubmatch(front, -1) {
		fields[m[1]] = strings.Trim(strings.Join(strings.Fields(m[2]), " "), `"'`)
	}
	page.title = fields["title"]
	where := "" // the heading reached
	var chunk strings.Builder
	flush := func() {
		if strings.TrimSpace(chunk.String()) != "" {
			date, _, _ := strings.Cut(fields["date"], " ")
			page.chunks = append(page.chunks, llm.Source{Title: page.title, Where: page.title, Lang: "en", Date: date,
				Text: strings.TrimSpace(chunk.String())})
		}
		chunk.Reset()
	}
	if intro := strings.TrimSpace(fields["deck"] + "\n\n" + fields["summary"]); intro != "" {
		chunk.WriteString(intro + "\n\n")
	}
	for _, part := range strings.Split(asMarkdown(body), "\n\n") {
		part = strings.Trim(part, "\n")
		m := headings.FindStringSubmatch(part)
		if m != nil || chunk.Len()+len(part) > 1200 {
			flush()
		}
		if m != nil {
			where = m[1]
		} else if chunk.Len() == 0 && where != "" {
			chunk.WriteString("## " + where + "\n\n")
		}
		chunk.WriteString(part + "\n\n")
	}
	flush()
	return page
}

// snowball is an analyzer like the one of the search package.
func snowball(lang, text string) []string {
	stem := english.Stem
	if lang == "es" {
		stem = spanish.Stem
	}
	var out []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if _, stop := plainStops[w]; stop {
			continue
		}
		env := snowballstem.NewEnv(w)
		stem(env)
		out = append(out, env.Current())
	}
	return out
}

var plainStops = func() map[string]struct{} {
	set := map[string]struct{}{}
	for _, w := range strings.Fields("a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with s t de la el en y que los las un una") {
		set[w] = struct{}{}
	}
	return set
}()

// bm25 ranks the chunks of all pages.
type bm25 struct {
	chunks   []indexed
	postings map[string][]posting
	average  float64
}

type indexed struct {
	page   *evalPage
	source llm.Source
	length float64
}

type posting struct {
	chunk int
	count float64
}

func newBM25(pages []*evalPage) *bm25 {
	ix := &bm25{postings: map[string][]posting{}}
	for _, p := range pages {
		for _, c := range p.chunks {
			counts := map[string]float64{}
			tokens := snowball("en", c.Title+" "+c.Where+" "+c.Text)
			for _, t := range tokens {
				counts[t]++
			}
			for t, n := range counts {
				ix.postings[t] = append(ix.postings[t], posting{len(ix.chunks), n})
			}
			ix.chunks = append(ix.chunks, indexed{p, c, float64(len(tokens))})
			ix.average += float64(len(tokens))
		}
	}
	ix.average /= float64(len(ix.chunks))
	return ix
}

// top searches as the product does: the best chunks of at most maxPages pages,
// those of one page joined in its order.
func (ix *bm25) top(query string, without []string) []llm.Source {
	const maxChunks, maxPages = 20, 5
	scores := map[int]float64{}
	for _, t := range snowball("en", query) {
		list := ix.postings[t]
		idf := math.Log(1 + (float64(len(ix.chunks)-len(list))+0.5)/(float64(len(list))+0.5))
		for _, p := range list {
			scores[p.chunk] += idf * p.count * 2.2 / (p.count + 1.2*(0.25+0.75*ix.chunks[p.chunk].length/ix.average))
		}
	}
	order := make([]int, 0, len(scores))
	for c := range scores {
		if !slices.Contains(without, ix.chunks[c].page.path) {
			order = append(order, c)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), a-b) })
	var pages []*evalPage
	chosen := map[*evalPage][]int{}
	for _, c := range order[:min(len(order), maxChunks)] {
		page := ix.chunks[c].page
		if !slices.Contains(pages, page) {
			if len(pages) == maxPages {
				continue
			}
			pages = append(pages, page)
		}
		chosen[page] = append(chosen[page], c)
	}
	var out []llm.Source
	for _, page := range pages {
		slices.Sort(chosen[page])
		var chunks []llm.Source
		for _, c := range chosen[page] {
			chunks = append(chunks, ix.chunks[c].source)
		}
		out = append(out, join(chunks))
	}
	return out
}

// join makes one source of the chunks of a page.
func join(chunks []llm.Source) llm.Source {
	s := chunks[0]
	for _, c := range chunks[1:] {
		s.Text += "\n\n" + c.Text
	}
	return s
}
