package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"docent/internal/content"
)

// A page is what a file says about itself, before its body is converted.
type page struct {
	file
	title     string
	heading   bool // the title was the body's first heading
	path      string
	index     bool
	lead      []string // deck and the like, where they say more than the summary
	summary   string
	source    string
	bundle    string
	topics    []content.Term
	aliases   []string
	date      time.Time
	updated   time.Time
	draft     bool
	roles     []string
	hasRoles  bool
	out       bool
	weight    int
	menu      string
	menuTitle string
	fileHash  string
	hash      string
	key       string
	parent    string
	children  bool
	picture   string // the image of the page as a whole, by its name among the files
	notes     []note
}

// converted changes when the same file would be converted to something else, so
// that every file is read again.
const converted = "2"

// describe reads what a file says about itself.
func describe(f file, text, hash string, notes []note) *page {
	m, body, _, more := split(text)
	p := &page{file: f, fileHash: hash, notes: append(notes, more...)}
	report := func(line int, format string, args ...any) {
		p.notes = append(p.notes, note{line, fmt.Sprintf(format, args...)})
	}

	folder, base := path.Split(f.bare)
	name := base
	if found := datedName.FindStringSubmatch(base); found != nil {
		if t, ok := parseDate(found[1]); ok {
			name, p.date = found[2], t
		}
	}
	p.setTitle(m, body, folder, name, report)
	p.setTexts(m)
	p.setPath(m, folder, name, report)
	if d := m.date(report, "date", "publishdate", "pubdate"); !d.IsZero() {
		p.date = d
	}
	p.updated = m.date(report, "lastmod", "last_modified_at", "updated")
	for _, name := range m.list("topics", "tags", "categories") {
		if t := content.TermOf(content.FieldTopics, name); t.Slug != "" && utf8.RuneCountInString(t.Label) <= 255 {
			p.topics = append(p.topics, t)
		}
	}
	p.bundle = "page"
	if strings.HasPrefix(f.bare, "_posts/") || strings.Contains(f.bare, "/_posts/") || strings.HasPrefix(f.bare, "_drafts/") {
		p.bundle = "article"
	}
	if t := strings.ReplaceAll(content.Slug(m.text("type")), "-", "_"); t != "" && len(t) < 60 {
		p.bundle = t
	}
	p.draft = m.flag("draft", false, report) || !m.flag("published", true, report) || strings.HasPrefix(f.bare, "_drafts/")
	if m.broken {
		p.draft = true
		report(1, "kept as a draft, since the front matter may have said who may read it")
	}
	p.setAccess(m, report)
	p.weight = m.weight(report, "weight", "sidebar_position", "nav_order", "order")
	p.menu, p.menuTitle = m.menu()
	if p.menu = content.Slug(p.menu); len(p.menu) > 60 {
		p.menu = ""
	}
	p.menuTitle = cut(p.menuTitle)
	return p
}

// setAccess reads who may view the page. What cannot be understood closes it.
func (p *page) setAccess(m matter, report func(int, string, ...any)) {
	p.out = !m.flag("answers", true, report)
	v, given := m.values["view_roles"]
	if !given {
		return
	}
	p.hasRoles = true
	for _, role := range m.list("view_roles") {
		if roleName.MatchString(role) {
			p.roles = append(p.roles, role)
		} else {
			report(v.line, "%q is not the name of a role: view_roles", role)
			p.draft = true
		}
	}
	if v.below != nil {
		report(v.line, "view_roles must be a list of roles")
		p.draft = true
	}
}

var roleName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

var firstHeading = regexp.MustCompile(`^\s*(?:<!--[^>]*-->\s*)*#[ \t]+(.+?)[ \t#]*(?:\{[^}]*\})?[ \t]*(?:\n|$)`)

func (p *page) setTitle(m matter, body, folder, name string, report func(int, string, ...any)) {
	p.title = m.text("title", "linktitle", "name")
	found := firstHeading.FindStringSubmatch(body[:min(len(body), 2000)])
	switch {
	case p.title != "" && found != nil:
		p.heading = plain(markup.ReplaceAllString(found[1], "$1")) == p.title
	case p.title != "":
	case found != nil:
		p.title, p.heading = plain(markup.ReplaceAllString(found[1], "$1")), true
	}
	if p.title == "" {
		if isIndex(name) {
			name = path.Base(path.Clean("/" + folder))
		}
		if p.title = content.Humanize(name); p.title == "/" {
			p.title = "Home"
		}
		report(0, "has no title: %q is taken", p.title)
	}
	if short := cut(p.title); short != p.title {
		report(m.values["title"].line, "the title is longer than 255 characters: cut")
		p.title = short
	}
}

// markup finds the Markdown of headings: links, and marks around words.
var markup = regexp.MustCompile("\\[([^\\]]*)\\]\\([^)]*\\)|[*`]+")

// cut shortens a line to what a title may hold.
func cut(s string) string {
	if utf8.RuneCountInString(s) <= 255 {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:254])) + "…"
}

// setTexts reads what stands in front matter to be read: one summary, and other
// texts that say something else.
func (p *page) setTexts(m matter) {
	for _, key := range []string{"summary", "deck", "description", "excerpt"} {
		text := m.text(key)
		switch {
		case text == "":
		case p.summary == "":
			p.summary = text
		case !strings.Contains(strings.ToLower(p.summary), strings.ToLower(strings.TrimRight(text, "."))):
			p.lead = append(p.lead, text)
		}
	}
	for _, key := range []string{"source_url", "redirectto", "redirect_to", "external_url"} {
		if u, err := url.Parse(m.text(key)); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
			p.source = u.String()
			return
		}
	}
}

// setPath finds the page's address, without language prefix.
func (p *page) setPath(m matter, folder, name string, report func(int, string, ...any)) {
	folder = "/" + strings.TrimPrefix(strings.TrimPrefix(folder, "_posts/"), "_drafts/")
	folder = strings.ReplaceAll(folder, "/_posts/", "/")
	own := folder + name
	if p.index = isIndex(name); p.index {
		own = folder
	}
	if slug := m.text("slug"); slug != "" && strings.ToLower(name) != "_index" {
		switch {
		case strings.HasPrefix(slug, "/"):
			own = slug
		case p.index && folder != "/":
			own = path.Dir(path.Clean(folder)) + "/" + slug
		case !p.index:
			own = folder + slug
		}
	}
	for _, key := range []string{"url", "permalink"} {
		v := m.text(key)
		if u, err := url.Parse(v); v != "" && err == nil && u.Path != "" {
			if strings.ContainsAny(v, ":{") && u.Scheme == "" {
				report(m.values[key].line, "a pattern is not supported, the file's path is taken: %s", key)
				continue
			}
			own = strings.TrimSuffix(strings.TrimSuffix(u.Path, "index.html"), ".html")
			break
		}
	}
	p.path = content.CleanPath(p.withoutPrefix(own))
	for _, alias := range m.list("aliases", "redirect_from") {
		u, err := url.Parse(alias)
		if err != nil || u.Path == "" {
			report(m.values["aliases"].line, "%q is not a path: aliases", alias)
			continue
		}
		at := u.Path
		if !strings.HasPrefix(at, "/") {
			at = folder + at
		}
		if at = content.CleanPath(p.withoutPrefix(at)); at != p.path {
			p.aliases = append(p.aliases, at)
		}
	}
}

// withoutPrefix drops the language from a path that an author wrote in full.
func (p *page) withoutPrefix(at string) string {
	if rest, ok := strings.CutPrefix(at, "/"+p.lang+"/"); ok {
		return "/" + rest
	}
	return at
}

// origin is the name under which the page is stored.
func (p *page) origin() string { return p.prefix + p.name }

// seal computes the hash of everything that the stored page is made from.
func (p *page) seal() {
	h := sha256.New()
	fmt.Fprintln(h, converted, p.key, p.lang, p.path, p.fileHash, p.roles, p.out, p.bundle)
	p.hash = hex.EncodeToString(h.Sum(nil))
}
