package importer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"docent/db/dbtest"
	"docent/internal/content"
)

// TestHabits imports one file of each habit and compares all that is stored.
func TestHabits(t *testing.T) {
	for _, tt := range []struct {
		name     string
		file     string
		text     string
		want     string // path | title | state | bundle | summary | body
		problems []string
		check    func(content.Item) string // "" when it is right
	}{
		{name: "plain", file: "guides/dap/x.md", text: "---\ntitle: A & B\nsummary: Short.\n---\nBody\n", want: "/guides/dap/x/|A & B|published|page|Short.|Body"},
		{name: "section", file: "guides/_index.md", text: "---\ntitle: Guides\nweight: 3\ntype: landing page\n---\n", want: "/guides/|Guides|published|page||",
			check: func(it content.Item) string {
				if !it.IsSectionIndex || it.Weight != 3 || it.ParentPath != "/" {
					return fmt.Sprint(it.IsSectionIndex, it.Weight, it.ParentPath)
				}
				return ""
			}},
		{name: "readme", file: "docs/README.md", text: "# Read *me* {#top}\n\nText", want: "/docs/|Read me|published|page||Text"},
		{name: "front page", file: "index.md", text: "---\ntitle: Home\nslug: x\n---\n", want: "/|Home|published|page||"},
		{name: "slug", file: "news/2013/11/2013-11-21-long-name.md", text: "---\ntitle: T\nslug: short\n---\n", want: "/news/2013/11/short/|T|published|page||",
			check: func(it content.Item) string { return differs(it.Date.Format("2006-01-02"), "2013-11-21") }},
		{name: "dated", file: "_posts/2024-02-03-hello-world.markdown", text: "---\ntitle: T\ndate: 2024-02-04 9:05:06 -0500\n---\n", want: "/hello-world/|T|published|article||",
			check: func(it content.Item) string {
				return differs(it.Date.Format("2006-01-02T15:04:05Z"), "2024-02-04T14:05:06Z")
			}},
		{name: "url", file: "a/b.md", text: "---\ntitle: T\nurl: /c/D.html\n---\n", want: "/c/d/|T|published|page||"},
		{name: "permalink pattern", file: "a/b.md", text: "---\ntitle: T\npermalink: /:year/:title/\n---\n", want: "/a/b/|T|published|page||",
			problems: []string{"a/b.md:3: a pattern is not supported, the file's path is taken: permalink"}},
		{name: "Docusaurus", file: "docs/intro.mdx", text: "---\nsidebar_position: 4.0\ndescription: D.\nslug: /start\n---\n\n# Intro\n\n<Tip title=\"Hey\">x</Tip>\n", want: "/start/|Intro|published|page|D.|**Hey**\n\nx",
			check: func(it content.Item) string { return differs(it.Weight, 4) }},
		{name: "odd name", file: "A Guide/Über uns & Co (1).md", text: "x", want: "/a-guide/über-uns-co-1/|Über uns & Co (1)|published|page||x",
			problems: []string{`A Guide/Über uns & Co (1).md: has no title: "Über uns & Co (1)" is taken`}},
		{name: "pointer", file: "p.md", text: "---\ntitle: T\ndeck: The deck says &#8220;more&#8221;.\nsummary: The <b>summary</b>.\nsource_url: https://x.org/y\n---\n", want: "/p/|T|published|page|The summary.|The deck says “more”.",
			check: func(it content.Item) string {
				return differs(it.Fields.Text(content.FieldSource), "https://x.org/y")
			}},
		{name: "hostile source", file: "p.md", text: "---\ntitle: T\nsource_url: javascript:alert(1)\n---\n", want: "/p/|T|published|page||",
			check: func(it content.Item) string { return differs(it.Fields.Text(content.FieldSource), "") }},
		{name: "deck again", file: "p.md", text: "---\ntitle: T\ndeck: Same thing\nsummary: The same thing.\nexcerpt: In the body\n---\nit stands in\nthe body", want: "/p/|T|published|page|The same thing.|it stands in\nthe body"},
		{name: "draft", file: "p.md", text: "---\ntitle: T\ndraft: yes\n---\n", want: "/p/|T|draft|page||"},
		{name: "unpublished", file: "p.md", text: "---\ntitle: T\npublished: false\n---\n", want: "/p/|T|draft|page||"},
		{name: "access", file: "p.md", text: "---\ntitle: T\nview_roles: [member, staff]\nanswers: false\n---\n", want: "/p/|T|published|page||",
			check: func(it content.Item) string {
				return differs(fmt.Sprint(it.ViewRoles, it.OutOfAnswers), "[member staff] true")
			}},
		{name: "access that cannot be read", file: "p.md", text: "---\ntitle: T\nview_roles: [\"No Role\"]\n---\n", want: "/p/|T|draft|page||",
			problems: []string{`p.md:3: "No Role" is not the name of a role: view_roles`}},
		{name: "menu", file: "p.md", text: "---\ntitle: T\nmenu:\n  main:\n    weight: 1\nmenu_title: M\n---\n", want: "/p/|T|published|page||",
			check: func(it content.Item) string { return differs(it.Menu+it.MenuTitle, "mainM") }},
		{name: "TOML", file: "p.md", text: "+++\ntitle = \"T\"\ndate = 2024-01-02T03:04:05Z\ndraft = false\ntags = [\"a b\", \"c\"]\n+++\nBody", want: "/p/|T|published|page||Body",
			check: func(it content.Item) string {
				return differs(fmt.Sprint(it.Date.Unix(), len(it.Fields.Strings(content.FieldTopics))), "1704164645 2")
			}},
		{name: "bad TOML", file: "p.md", text: "+++\ntitle = T\n+++\nBody", want: "/p/|P|draft|page||Body", problems: []string{
			"p.md: has no title: \"P\" is taken", "p.md:1: kept as a draft, since the front matter may have said who may read it", "p.md:2: the front matter is not valid TOML: toml: unexpected character U+0054 'T' at start of value"}},
		{name: "BOM and CRLF", file: "p.md", text: "\xEF\xBB\xBF\r\n\r\n---\r\ntitle: T\r\n---\r\na\r\nb\r\n", want: "/p/|T|published|page||a\nb"},
		{name: "blank lines first", file: "p.md", text: "\n\n---\ntitle: T\n---\na", want: "/p/|T|published|page||a"},
		{name: "only a rule", file: "p.md", text: "---\n\nSome text.\n\n---\n\n# Later", want: "/p/|P|published|page||---\n\nSome text.\n\n---\n\n# Later", problems: []string{"p.md: has no title: \"P\" is taken"}},
		{name: "empty", file: "p.md", text: "", want: "/p/|P|published|page||", problems: []string{"p.md: has no title: \"P\" is taken"}},
		{name: "empty front matter", file: "p.md", text: "---\n# nothing\n---\n# T\n", want: "/p/|T|published|page||"},
		{name: "front matter without end", file: "p.md", text: "---\ntitle: T\nBody", want: "/p/|P|draft|page||---\ntitle: T\nBody", problems: []string{
			"p.md: has no title: \"P\" is taken", "p.md:1: kept as a draft, since the front matter may have said who may read it", "p.md:1: the front matter has no end"}},
		{name: "bad YAML", file: "p.md", text: "---\ntitle: A: B\n---\nBody", want: "/p/|A: B|draft|page||Body", problems: []string{
			"p.md:1: kept as a draft, since the front matter may have said who may read it", "p.md:2: the front matter is not valid YAML: mapping values are not allowed in this context"}},
		{name: "key twice", file: "p.md", text: "---\ntitle: A\nTitle: B\n---\n", want: "/p/|B|published|page||", problems: []string{"p.md:3: \"title\" is given twice: the last one counts"}},
		{name: "bad values", file: "p.md", text: "---\ntitle: T\ndate: soon\nweight: heavy\ndraft: perhaps\n---\n", want: "/p/|T|published|page||", problems: []string{
			"p.md:3: \"soon\" is not a date: date", "p.md:4: \"heavy\" is not a number: weight", "p.md:5: \"perhaps\" is neither true nor false: draft"}},
		{name: "YAML of other shapes", file: "p.md", text: "---\ntitle: T\nsummary: [a, b]\ndate: {x: 1}\ntopics: {a: b}\naliases: 7\nx: &x [*x]\n---\n", want: "/p/|T|published|page||"},
		{name: "not UTF-8", file: "p.md", text: "---\ntitle: T\n---\nna\xefve\x1b[31m", want: "/p/|T|published|page||na\uFFFDve[31m", problems: []string{"p.md:4: 1 bytes are not UTF-8: replaced by \uFFFD"}},
		{name: "long title", file: "p.md", text: "---\ntitle: " + strings.Repeat("é", 300) + "\n---\n", want: "/p/|" + strings.Repeat("é", 254) + "…|published|page||", problems: []string{"p.md:2: the title is longer than 255 characters: cut"}},
		{name: "title again", file: "p.md", text: "---\ntitle: T x\n---\n\n# T x\n\n# U", want: "/p/|T x|published|page||# U"},
		{name: "ref to nothing", file: "p.md", text: "---\ntitle: T\n---\n\na\n[b]({{< ref \"gone.md\" >}})", want: "/p/|T|published|page||a\nb", problems: []string{"p.md:6: no page for ref \"gone.md\""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := store(dbtest.SQLite(t), "")
			sum := mustRun(t, Options{FS: site(tt.file, tt.text), Store: s})
			if sum.Added != 1 {
				t.Fatalf("%+v", sum)
			}
			got := problems(sum)
			slices.Sort(got)
			if !slices.Equal(got, tt.problems) {
				t.Errorf("problems %q\nwant %q", got, tt.problems)
			}
			items, total, err := s.List(t.Context(), admin, content.Filter{Type: content.TypeNode})
			if err != nil || total != 1 {
				t.Fatal(total, err)
			}
			it := items[0]
			summary := strings.Join([]string{it.Path, it.Title, string(it.State), it.Bundle, it.Fields.Text(content.FieldSummary), it.Fields.Text(content.FieldBody)}, "|")
			if summary != tt.want {
				t.Errorf("\n got %q\nwant %q", summary, tt.want)
			}
			if it.Origin != "import:"+tt.file {
				t.Errorf("origin %q", it.Origin)
			}
			if tt.check != nil {
				if wrong := tt.check(it); wrong != "" {
					t.Error(wrong)
				}
			}
		})
	}
}

func differs[T comparable](got, want T) string {
	if got == want {
		return ""
	}
	return fmt.Sprintf("got %v, want %v", got, want)
}
