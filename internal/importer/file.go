package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxFile  = 5 << 20
	maxImage = 20 << 20
)

// A file is a Markdown file of the import, named by its place.
type file struct {
	prefix string // of its page's origin
	name   string // path below the root: "es/guides/dap.md"
	lang   string
	bare   string // without language folder, language suffix and extension: "guides/dap"
	kind   format
	skip   string // why it is not even read
}

var markdownExt = set(".md .markdown .mdx")

// skippedDirs hold what belongs to tools, not to the site.
var skippedDirs = set("node_modules vendor _site")

// find lists the Markdown files, in the order of their names.
func find(root fs.FS, languages []string, report func(Problem)) ([]file, error) {
	var files []file
	jekyll := exists(root, "_config.yml") || exists(root, "_config.yaml") || exists(root, "_posts")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == "." {
				return err
			}
			report(Problem{File: name, Message: "cannot be read: " + cause(err)})
			return nil
		}
		base := path.Base(name)
		if d.IsDir() {
			if name != "." && (base[0] == '.' || skippedDirs[base]) {
				return fs.SkipDir
			}
			return nil
		}
		ext := strings.ToLower(path.Ext(name))
		if !markdownExt[ext] || base[0] == '.' {
			return nil
		}
		f := place(name, languages)
		f.kind = format{mdx: ext == ".mdx", liquid: jekyll}
		if !d.Type().IsRegular() {
			f.skip = "is a link or a device, not a file"
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

func exists(root fs.FS, name string) bool {
	_, err := fs.Stat(root, name)
	return err == nil
}

func cause(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// place reads language and name from a path. A language's folder stands at the
// root or below i18n, or its code before the extension.
func place(name string, languages []string) file {
	f := file{name: name, lang: languages[0]}
	bare := strings.TrimSuffix(name, path.Ext(name))
	if ext := strings.ToLower(strings.TrimPrefix(path.Ext(bare), ".")); ext != "" && slices.Contains(languages, ext) {
		f.lang, bare = ext, strings.TrimSuffix(bare, path.Ext(bare))
	}
	first, rest, ok := strings.Cut(bare, "/")
	if first == "i18n" && ok {
		if lang, below, ok := strings.Cut(rest, "/"); ok && slices.Contains(languages, strings.ToLower(lang)) {
			f.lang, bare = strings.ToLower(lang), docusaurus(below)
		}
	} else if ok && slices.Contains(languages, strings.ToLower(first)) {
		f.lang, bare = strings.ToLower(first), rest
	}
	f.bare = bare
	return f
}

// docusaurus undoes the folders of its plugins.
func docusaurus(below string) string {
	for plugin, folder := range map[string]string{
		"docusaurus-plugin-content-docs/current/": "docs/",
		"docusaurus-plugin-content-blog/":         "blog/",
		"docusaurus-plugin-content-pages/":        "src/pages/",
	} {
		if rest, ok := strings.CutPrefix(below, plugin); ok {
			return folder + rest
		}
	}
	return below
}

// errSkip is why a file cannot be imported at all.
type errSkip struct{ why string }

func (e errSkip) Error() string { return e.why }

// read returns a file's text with plain line ends, valid as UTF-8, and its hash.
func read(root fs.FS, name string) (text, hash string, notes []note, err error) {
	b, err := readLimited(root, name, maxFile)
	if err != nil {
		return "", "", nil, err
	}
	sum := sha256.Sum256(b)
	hash = hex.EncodeToString(sum[:])
	b = bytes.TrimPrefix(b, []byte("\xEF\xBB\xBF"))
	switch {
	case bytes.HasPrefix(b, []byte("\xFF\xFE")) || bytes.HasPrefix(b, []byte("\xFE\xFF")):
		return "", "", nil, errSkip{"is UTF-16: save it as UTF-8"}
	case bytes.IndexByte(b, 0) >= 0:
		return "", "", nil, errSkip{"is not text"}
	}
	if !utf8.Valid(b) {
		line, n := 1, 0
		for at := b; len(at) > 0; {
			r, size := utf8.DecodeRune(at)
			if r == utf8.RuneError && size == 1 {
				if n == 0 {
					line = 1 + bytes.Count(b[:len(b)-len(at)], []byte("\n"))
				}
				n++
			}
			at = at[size:]
		}
		if n > 20 && n*10 > len(b) {
			return "", "", nil, errSkip{"is not text"}
		}
		notes = append(notes, note{line, fmt.Sprintf("%d bytes are not UTF-8: replaced by \uFFFD", n)})
		b = bytes.ToValidUTF8(b, []byte("\uFFFD"))
	}
	text = strings.ReplaceAll(string(b), "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), hash, notes, nil
}

// readLimited reads a regular file that is not larger than limit.
func readLimited(root fs.FS, name string, limit int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, errSkip{"cannot be read: " + cause(err)}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, errSkip{"cannot be read: " + cause(err)}
	}
	if int64(len(b)) > limit {
		return nil, errSkip{fmt.Sprintf("is larger than %d MB", limit>>20)}
	}
	return b, nil
}

var datedName = regexp.MustCompile(`^(\d{4}-\d{1,2}-\d{1,2})-(.+)$`)

// isIndex reports whether a base name stands for its folder.
func isIndex(base string) bool {
	b := strings.ToLower(base)
	return b == "_index" || b == "index" || b == "readme"
}
