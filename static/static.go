// Package static embeds the browser files (styles, scripts, fonts, images) and
// serves each under a name that contains a hash of its content, so that browsers
// may keep it for ever and a new build is seen at once.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// Prefix is the path under which Handler expects its requests.
const Prefix = "/static/"

//go:embed css js img vendor
var files embed.FS

// bundles lists the style sheets and scripts that are put together from one file a
// subject: style sheets in the order of the cascade, scripts in that of their
// declarations.
var bundles = map[string][]string{
	"css/docent.css": {
		"css/fonts.css", "css/tokens.css", "css/base.css", "css/layout.css", "css/controls.css",
		"css/prose.css", "css/code.css", "css/public.css", "css/question.css", "css/answer.css", "css/sources.css", "css/recent.css", "css/states.css",
	},
	"css/styleguide.css": {"css/styleguide.css"},
	"css/admin.css":      {"css/admin.css", "css/media.css", "css/structure.css", "css/editing.css", "css/answers-admin.css", "css/blocks-admin.css"},
	"js/docent.js": {
		"js/docent/base.js", "js/docent/asking.js", "js/docent/slots.js", "js/docent/streams.js", "js/docent/growing.js", "js/docent/sources.js",
		"js/docent/citations.js", "js/docent/copying.js", "js/docent/conversations.js", "js/docent/recent.js",
		"js/docent/keys.js", "js/docent/start.js",
	},
}

// types maps the extensions that are served to their media types. Files with any
// other extension, such as licence texts, stay in the binary and are never served.
var types = map[string]string{
	".css":   "text/css; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".svg":   "image/svg+xml",
	".woff2": "font/woff2",
}

// asset is one file as it goes to the browser.
type asset struct {
	url     string
	media   string
	etag    string
	plain   []byte
	gzipped []byte // nil when compression does not pay
}

// catalogue finds assets by the name templates use and by the path browsers ask for.
type catalogue struct {
	byName map[string]*asset
	byPath map[string]*asset
}

// load is evaluated once: the embedded files cannot change while the program runs.
var load = sync.OnceValue(func() *catalogue {
	c, err := build(files, bundles)
	if err != nil {
		panic(err)
	}
	return c
})

// URL returns the address of a file named as in this folder, such as
// "css/docent.css" or "js/docent.js". It panics on an unknown name, which is a
// mistake in a template.
func URL(name string) string {
	a, ok := load().byName[name]
	if !ok {
		panic("static: no file named " + name)
	}
	return a.url
}

// Handler serves the files below Prefix. Only hashed names exist: anything else,
// an old hash included, is 404.
func Handler() http.Handler {
	c := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := c.byPath[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, http.StatusText(http.StatusMethodNotAllowed), http.StatusMethodNotAllowed)
			return
		}
		a.serve(w, r)
	})
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.media)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	body, etag := a.plain, a.etag
	if a.gzipped != nil {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			body, etag = a.gzipped, a.etag+"-gz"
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// acceptsGzip reads Accept-Encoding as far as needed: gzip named and not refused
// with a weight of zero.
func acceptsGzip(headers []string) bool {
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			coding, weight, _ := strings.Cut(part, ";")
			if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
				weight = strings.ReplaceAll(strings.ToLower(weight), " ", "")
				return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
			}
		}
	}
	return false
}

// build reads every file that can be served, but for parts of bundles. Fonts and
// images come first because style sheets name them and must carry their hashed
// addresses.
func build(fsys fs.FS, bundles map[string][]string) (*catalogue, error) {
	c := &catalogue{byName: map[string]*asset{}, byPath: map[string]*asset{}}
	isPart := map[string]bool{}
	for _, parts := range bundles {
		for _, part := range parts {
			isPart[part] = true
		}
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) == ".css" || types[path.Ext(name)] == "" || isPart[name] {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return c.add(name, content)
	})
	if err != nil {
		return nil, fmt.Errorf("static: read files: %w", err)
	}
	for name, parts := range bundles {
		var bundle bytes.Buffer
		for _, part := range parts {
			content, err := fs.ReadFile(fsys, part)
			if err != nil {
				return nil, fmt.Errorf("static: bundle %s: %w", name, err)
			}
			bundle.Write(content)
			bundle.WriteByte('\n')
		}
		content := bundle.Bytes()
		if path.Ext(name) == ".js" {
			content = oneFunction(content)
		} else if content, err = c.rewriteURLs(name, content); err != nil {
			return nil, err
		}
		if err := c.add(name, content); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// oneFunction wraps a script, so that what it declares stays its own.
func oneFunction(script []byte) []byte {
	return slices.Concat([]byte("(() => {\n\"use strict\";\n"), script, []byte("})();\n"))
}

// cssURL matches a quoted reference in a style sheet.
var cssURL = regexp.MustCompile(`url\("([^"]+)"\)`)

// rewriteURLs replaces the relative references of a style sheet by hashed
// addresses; a reference to a file that does not exist is an error.
func (c *catalogue) rewriteURLs(sheet string, content []byte) ([]byte, error) {
	var missing []string
	out := cssURL.ReplaceAllFunc(content, func(match []byte) []byte {
		ref := string(cssURL.FindSubmatch(match)[1])
		a, ok := c.byName[path.Join(path.Dir(sheet), ref)]
		if !ok {
			missing = append(missing, ref)
			return match
		}
		return []byte(`url("` + a.url + `")`)
	})
	if missing != nil {
		slices.Sort(missing)
		return nil, fmt.Errorf("static: %s refers to missing files: %s", sheet, strings.Join(missing, ", "))
	}
	return out, nil
}

func (c *catalogue) add(name string, content []byte) error {
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:6])
	ext := path.Ext(name)
	a := &asset{
		url:   Prefix + strings.TrimSuffix(name, ext) + "." + hash + ext,
		media: types[ext],
		etag:  hash,
		plain: content,
	}
	if ext != ".woff2" { // already compressed
		zipped, err := compress(content)
		if err != nil {
			return fmt.Errorf("static: compress %s: %w", name, err)
		}
		if len(zipped) < len(content) {
			a.gzipped = zipped
		}
	}
	c.byName[name] = a
	c.byPath[a.url] = a
	return nil
}

func compress(content []byte) ([]byte, error) {
	var buf bytes.Buffer
	zw, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := zw.Write(content); err != nil {
		return nil, err
	}
	if err := zw.Close(); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
