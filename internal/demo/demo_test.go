package demo

import (
	"bytes"
	"html"
	"image"
	_ "image/png"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"go.yaml.in/yaml/v3"
)

type page struct {
	Title     string   `yaml:"title"`
	Summary   string   `yaml:"summary"`
	Type      string   `yaml:"type"`
	Date      string   `yaml:"date"`
	Topics    []string `yaml:"topics"`
	Aliases   []string `yaml:"aliases"`
	Weight    int      `yaml:"weight"`
	Draft     bool     `yaml:"draft"`
	ViewRoles []string `yaml:"view_roles"`
	Answers   *bool    `yaml:"answers"`
	Menu      string   `yaml:"menu"`
	MenuTitle string   `yaml:"menu_title"`

	body []byte
}

func (p page) public() bool { return !p.Draft && len(p.ViewRoles) == 0 }

// text is what a reader of the page sees, roughly: no emphasis marks, entities
// decoded, white space collapsed.
func (p page) text() string {
	s := p.Title + "\n" + p.Summary + "\n" + string(p.body)
	s = html.UnescapeString(strings.NewReplacer("*", "", "`", "").Replace(s))
	return strings.Join(strings.Fields(s), " ")
}

func language(file string) string {
	for _, lang := range []string{"es", "ar"} {
		if strings.HasPrefix(file, lang+"/") {
			return lang
		}
	}
	return "en"
}

// site parses every page, keyed by file path. Unknown front matter fails.
func site(t *testing.T) map[string]page {
	t.Helper()
	pages := map[string]page{}
	err := fs.WalkDir(Files(), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) != ".md" {
			return err
		}
		src, err := fs.ReadFile(Files(), file)
		if err != nil {
			return err
		}
		head, body, ok := bytes.Cut(bytes.TrimPrefix(src, []byte("---\n")), []byte("\n---\n"))
		if !ok || !bytes.HasPrefix(src, []byte("---\n")) {
			t.Errorf("%s: no front matter", file)
			return nil
		}
		p := page{body: body}
		dec := yaml.NewDecoder(bytes.NewReader(head))
		dec.KnownFields(true)
		if err := dec.Decode(&p); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		pages[file] = p
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func TestFrontMatter(t *testing.T) {
	for file, p := range site(t) {
		if p.Title == "" || p.Summary == "" || len(p.Topics) == 0 {
			t.Errorf("%s: title, summary and topics are required", file)
		}
		if !slices.Contains([]string{"page", "article", "event", "faq"}, p.Type) {
			t.Errorf("%s: type %q", file, p.Type)
		}
		if _, err := time.Parse(time.DateOnly, p.Date); err != nil && (p.Date != "" || p.Type == "event") {
			t.Errorf("%s: date: %v", file, err)
		}
		if p.Menu != "" && (p.MenuTitle == "" || p.Menu != "main" && p.Menu != "footer") {
			t.Errorf("%s: menu %q, title %q", file, p.Menu, p.MenuTitle)
		}
	}
}

func TestShape(t *testing.T) {
	pages := site(t)
	public := map[string]int{}
	var drafts, restricted, unanswered int
	for file, p := range pages {
		if p.public() {
			public[language(file)]++
		}
		if p.Draft {
			drafts++
		}
		if len(p.ViewRoles) > 0 {
			restricted++
		}
		if p.Answers != nil && !*p.Answers {
			unanswered++
		}
		if lang := language(file); lang != "en" {
			if _, ok := pages[strings.TrimPrefix(file, lang+"/")]; !ok {
				t.Errorf("%s: no English original", file)
			}
		}
		if dir := path.Dir(file); path.Base(file) != "_index.md" && language(file) == "en" {
			if _, ok := pages[path.Join(dir, "_index.md")]; !ok {
				t.Errorf("%s: its section has no page", file)
			}
		}
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"public English pages", public["en"], 40},
		{"Spanish pages", public["es"], 12},
		{"Arabic pages", public["ar"], 10},
		{"drafts", drafts, 4},
		{"restricted pages", restricted, 4},
		{"pages left out of answers", unanswered, 2},
	} {
		if c.got < c.want {
			t.Errorf("%s: %d, want at least %d", c.what, c.got, c.want)
		}
	}
	if n := len(strings.Fields(string(pages["garden/garden-year.md"].body))); n < 2000 {
		t.Errorf("the long page has %d words", n)
	}
}

// find returns the file behind a site path such as "/visit/prices/".
func find(pages map[string]page, address string) (string, bool) {
	name := strings.Trim(address, "/")
	for _, file := range []string{path.Join(name, "_index.md"), name + ".md"} {
		if _, ok := pages[file]; ok {
			return file, true
		}
	}
	return "", false
}

func TestLinksAndImages(t *testing.T) {
	pages := site(t)
	md := goldmark.New(goldmark.WithExtensions(extension.Table))
	used := map[string]bool{}
	for file, p := range pages {
		doc := md.Parser().Parse(text.NewReader(p.body))
		err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Link:
				to, ok := find(pages, string(n.Destination))
				switch {
				case !strings.HasPrefix(string(n.Destination), "/") || !ok:
					t.Errorf("%s: link to %s leads nowhere", file, n.Destination)
				case pages[to].Draft:
					t.Errorf("%s: link to the draft %s", file, to)
				}
			case *ast.Image:
				name := path.Join(path.Dir(file), string(n.Destination))
				used[name] = true
				if _, err := fs.Stat(Files(), name); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				if alt := altText(n, p.body); len(alt) < 20 {
					t.Errorf("%s: alternative text %q of %s", file, alt, name)
				}
			case *ast.RawHTML, *ast.HTMLBlock:
				t.Errorf("%s: raw HTML outside code", file)
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	images(t, used)
}

func altText(n ast.Node, source []byte) string {
	var alt strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if s, ok := c.(*ast.Text); ok {
			alt.Write(s.Value(source))
		}
	}
	return alt.String()
}

// images checks that every picture decodes, is used, and that all are small.
func images(t *testing.T, used map[string]bool) {
	t.Helper()
	total := 0
	err := fs.WalkDir(Files(), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(file) == ".md" || file == "site.yaml" {
			return err
		}
		src, err := fs.ReadFile(Files(), file)
		if err != nil {
			return err
		}
		if _, _, err := image.DecodeConfig(bytes.NewReader(src)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if !used[file] {
			t.Errorf("%s: no page shows it", file)
		}
		total += len(src)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total > 600<<10 {
		t.Errorf("images take %d bytes", total)
	}
}

func TestAliases(t *testing.T) {
	pages := site(t)
	owner := map[string]string{}
	for file, p := range pages {
		for _, alias := range p.Aliases {
			if !strings.HasPrefix(alias, "/") || !strings.HasSuffix(alias, "/") {
				t.Errorf("%s: alias %q", file, alias)
			}
			if to, ok := find(pages, alias); ok {
				t.Errorf("%s: alias %s hides %s", file, alias, to)
			}
			if other, ok := owner[alias]; ok {
				t.Errorf("alias %s: %s and %s", alias, other, file)
			}
			owner[alias] = file
		}
	}
}

// Leak tests elsewhere look for these words, so no public page may hold them.
func TestHiddenFactsStayHidden(t *testing.T) {
	hidden := []string{
		"7316", "960177", "KILN-SORREL", "Moonraker", "Tin Chapel", "120,000", "Joan Pascoe Room",
		"7.20", "3.80", "packet steward", "Doris", "Carvalho", "Coimbra", "Raman", "nightjar", "19 June",
	}
	found := map[string]bool{}
	for file, p := range site(t) {
		for _, fact := range hidden {
			switch has := strings.Contains(p.text(), fact); {
			case has && p.public():
				t.Errorf("%s: gives away %q", file, fact)
			case has:
				found[fact] = true
			}
		}
	}
	for _, fact := range hidden {
		if !found[fact] {
			t.Errorf("%q is on no page", fact)
		}
	}
}

func TestSiteFile(t *testing.T) {
	src, err := fs.ReadFile(Files(), "site.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Name      string              `yaml:"name"`
		Languages []string            `yaml:"languages"`
		TimeZone  string              `yaml:"time_zone"`
		Contact   string              `yaml:"contact"`
		Tagline   map[string]string   `yaml:"tagline"`
		Footer    map[string]string   `yaml:"footer"`
		Questions map[string][]string `yaml:"questions"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	dec.KnownFields(true)
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Name == "" || !slices.Equal(s.Languages, []string{"en", "es", "ar"}) {
		t.Errorf("name %q, languages %v", s.Name, s.Languages)
	}
	if _, err := time.LoadLocation(s.TimeZone); err != nil {
		t.Error(err)
	}
	if _, ok := find(site(t), s.Contact); !ok {
		t.Errorf("contact %q leads nowhere", s.Contact)
	}
	for _, lang := range s.Languages {
		if s.Tagline[lang] == "" || s.Footer[lang] == "" || len(s.Questions[lang]) != 4 {
			t.Errorf("%s: tagline, footer or questions are incomplete", lang)
		}
	}
}
