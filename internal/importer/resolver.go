package importer

import (
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"docent/internal/content"
	"docent/internal/media"
)

// A resolver knows all pages and images of an import.
type resolver struct {
	store *content.Store
	files map[string][]*page // by place, in lower case: "guides/dap"; and by file: "es/guides/dap"
	bases map[string][]*page // by the last part of either place or address
	paths map[string]*page   // by language and address, former ones too

	root   fs.FS
	images bool // they can be stored
	mu     sync.Mutex
	seen   map[string]string // what is wrong with an image; "" nothing
	alts   map[string]string // alternative texts of images
	fresh  []string          // images that pages show and that were not stored yet
}

func newResolver(root fs.FS, pages []*page, store *content.Store) *resolver {
	r := &resolver{
		store: store, root: root, images: store.HasFiles(),
		files: map[string][]*page{}, bases: map[string][]*page{}, paths: map[string]*page{}, seen: map[string]string{}, alts: map[string]string{},
	}
	for _, p := range pages {
		place := strings.ToLower(p.bare)
		r.files[place] = append(r.files[place], p)
		if full := strings.ToLower(withoutExt(p.name)); full != place {
			r.files[full] = append(r.files[full], p)
		}
		base := path.Base(place)
		r.bases[base] = append(r.bases[base], p)
		if last := path.Base(p.path); last != base {
			r.bases[last] = append(r.bases[last], p)
		}
		for _, alias := range p.aliases {
			r.paths[p.lang+alias] = p
		}
	}
	for _, p := range pages {
		r.paths[p.lang+p.path] = p
	}
	return r
}

func withoutExt(name string) string {
	if ext := path.Ext(name); markdownExt[strings.ToLower(ext)] {
		return strings.TrimSuffix(name, ext)
	}
	return name
}

// pageLinks resolves what one page refers to.
type pageLinks struct {
	*resolver
	from   *page
	report func(text string)
}

// ref returns the address of a page named by its file, its path or its last part.
func (l pageLinks) ref(target string) (string, bool) {
	if strings.HasPrefix(target, "https://") || strings.HasPrefix(target, "http://") {
		return target, true
	}
	p, fragment, ok := l.find(target)
	if !ok {
		return "", false
	}
	if p == nil {
		return fragment, true
	}
	return l.store.PublicPath(p.lang, p.path) + fragment, true
}

// localized returns the address of a page named by a path that begins with a
// language, as "/en/guides/" does where English has no prefix here.
func (l pageLinks) localized(target string) (string, bool) {
	target, fragment, found := strings.Cut(target, "#")
	if found {
		fragment = "#" + fragment
	}
	lang, rest, ok := strings.Cut(strings.TrimPrefix(target, "/"), "/")
	p := l.paths[lang+content.CleanPath(rest)]
	if !ok || p == nil {
		return "", false
	}
	return l.store.PublicPath(p.lang, p.path) + fragment, true
}

// title returns the title of a page named in the ways of ref.
func (l pageLinks) title(target string) (string, bool) {
	p, _, ok := l.find(target)
	if !ok || p == nil {
		return "", false
	}
	return p.title, true
}

// find looks a target up as a file beside the page or below the root, as an
// address, and by its last part alone. A nil page means the page itself.
func (l pageLinks) find(target string) (p *page, fragment string, ok bool) {
	target, fragment, found := strings.Cut(strings.TrimSpace(target), "#")
	if found {
		fragment = "#" + strings.ReplaceAll(fragment, " ", "-")
	}
	target, _, _ = strings.Cut(target, "?")
	if target == "" {
		return nil, fragment, found
	}
	if strings.Contains(target, "://") || strings.HasPrefix(target, "//") || strings.HasPrefix(target, "mailto:") {
		return nil, "", false
	}
	if unescaped, err := url.PathUnescape(target); err == nil {
		target = unescaped
	}
	named := markdownExt[strings.ToLower(path.Ext(target))]
	place := strings.ToLower(withoutExt(target))
	rooted := strings.Trim(path.Clean("/"+place), "/")
	var candidates []string
	if !strings.HasPrefix(place, "/") {
		candidates = append(candidates, path.Join(strings.ToLower(path.Dir(l.from.bare)), place), path.Join(strings.ToLower(path.Dir(l.from.name)), place))
	}
	for _, c := range append(candidates, rooted) {
		for _, index := range []string{"", "/_index", "/index", "/readme"} {
			if pages := l.files[strings.TrimPrefix(c+index, "/")]; len(pages) > 0 {
				return l.best(pages), fragment, true
			}
		}
	}
	if p := l.paths[l.from.lang+content.CleanPath(place)]; p != nil {
		return p, fragment, true
	}
	base := path.Base(rooted)
	if pages := l.bases[base]; len(pages) > 0 && base != "_index" && (named || len(pages) == 1 || !strings.Contains(target, "/")) {
		return l.best(pages), fragment, true
	}
	return nil, "", false
}

// best prefers the page's own language and section.
func (l pageLinks) best(pages []*page) *page {
	section, _, _ := strings.Cut(l.from.bare, "/")
	fallback := l.store.DefaultLanguage()
	score := func(p *page) (n int) {
		switch p.lang {
		case l.from.lang:
			n += 4
		case fallback:
			n += 2
		}
		if strings.HasPrefix(p.bare, section+"/") {
			n++
		}
		return n
	}
	return slices.MaxFunc(pages, func(a, b *page) int { return score(a) - score(b) })
}

// image resolves an image with its alternative text: another site's stays where
// it is.
func (l pageLinks) image(target, alt string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(target))
	if err != nil || target == "" {
		return "", false
	}
	if u.Scheme == "https" || u.Scheme == "http" {
		return target, true
	}
	name, ok := l.imageFile(target, alt)
	return content.FilePrefix + filePath(name), ok
}

// imageFile finds an image among the files, beside the page or where site
// generators keep what they copy.
func (l pageLinks) imageFile(target, alt string) (name string, ok bool) {
	u, err := url.Parse(strings.TrimSpace(target))
	if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || !l.images {
		return "", false
	}
	at := strings.TrimPrefix(path.Clean("/"+u.Path), "/")
	candidates := []string{at, "static/" + at, "public/" + at, "assets/" + at}
	if !strings.HasPrefix(u.Path, "/") {
		candidates = append([]string{path.Join(path.Dir(l.from.name), u.Path)}, candidates...)
	}
	for _, name := range candidates {
		if !fs.ValidPath(name) || !regular(l.root, name) {
			continue
		}
		if why := l.check(name, plain(alt)); why != "" {
			l.report("image " + name + " " + why)
			return "", false
		}
		return name, true
	}
	l.report("no image " + target)
	return "", false
}

func regular(root fs.FS, name string) bool {
	info, err := fs.Stat(root, name)
	return err == nil && info.Mode().IsRegular()
}

// filePath is an image's public address below [content.FilePrefix].
func filePath(name string) string { return strings.Trim(content.CleanPath(name), "/") }

// check decides once for every image whether it can be shown.
func (r *resolver) check(name, alt string) (why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.alts[name]; alt != "" && (old == "" || alt < old) { // whichever page is converted first
		r.alts[name] = alt
	}
	if why, ok := r.seen[name]; ok {
		return why
	}
	b, err := readLimited(r.root, name, maxImage)
	if err == nil {
		_, err = media.CheckImage(b)
	}
	if err != nil {
		why = err.Error()
	} else {
		r.fresh = append(r.fresh, name)
	}
	r.seen[name] = why
	return why
}

// alt is the alternative text that a page gives an image, "" if none does.
func (r *resolver) alt(name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.alts[name]
}

// takeFresh returns the images to store next.
func (r *resolver) takeFresh() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	fresh := r.fresh
	r.fresh = nil
	return fresh
}
