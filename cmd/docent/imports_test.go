package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Which packages of ours a package may import, by its folder; a package that is
// not listed may import any. Subfolders follow the longest prefix.
var mayImport = map[string][]string{
	"components":              {"internal/i18n", "static"},
	"views":                   {"components", "internal/i18n", "static"},
	"static":                  {},
	"db":                      {},
	"db/dbtest":               {"db"},
	"internal/testdata":       {},
	"internal/benchtest":      {},
	"internal/demo":           {},
	"internal/i18n":           {},
	"internal/llm":            {},
	"internal/llm/llmtest":    {"internal/llm"},
	"internal/markdown":       {},
	"internal/live":           {"db"},
	"internal/job":            {"db"},
	"internal/account":        {"db"},
	"internal/config":         {"db", "internal/account"},
	"internal/media":          {},
	"internal/content":        {"db", "internal/account", "internal/config", "internal/fromhtml", "internal/markdown", "internal/media"},
	"internal/search":         {"db", "internal/account", "internal/config", "internal/content", "internal/markdown"},
	"internal/importer":       {"db", "internal/account", "internal/config", "internal/content", "internal/markdown", "internal/media"},
	"internal/importer/crawl": {"db", "internal/content", "internal/importer", "internal/fromhtml"},
	"internal/fromhtml":       {},
	"internal/importer/wxr":   {"db", "internal/content", "internal/importer", "internal/fromhtml"},
	"internal/tool":           {"db", "internal/account", "internal/config", "internal/content", "internal/search", "internal/llm"},
	"internal/answer":         {"db", "internal/account", "internal/config", "internal/content", "internal/search", "internal/tool", "internal/llm", "internal/markdown", "internal/live"},
	"internal/editing":        {"db"},
	"internal/eval":           {},
}

// Who may import a library; others may not.
var onlyIn = map[string][]string{
	"github.com/labstack/echo": {"handlers", "cmd"},
	"github.com/gorilla/":      {"handlers", "cmd"},
	"github.com/jmoiron/sqlx":  {"db"},
	"github.com/lib/pq":        {"db"},
	"modernc.org/sqlite":       {"db"},
	"github.com/pressly/goose": {"db"},
	"github.com/riverqueue/":   {"db", "internal/job"},
	"github.com/a-h/templ":     {"components", "views", "handlers"},
	"github.com/yuin/goldmark": {"internal/markdown"},
	"github.com/alecthomas/":   {"internal/markdown"},
	"golang.org/x/image":       {"internal/media"},
	"github.com/klippa-app/":   {"internal/media"},
	"github.com/tetratelabs/":  {"internal/media"},
}

type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
}

func goPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "docent/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range goPackages(t) {
		folder := strings.TrimPrefix(p.ImportPath, "docent/")
		allowed, limited := mayImport[folder]
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, "docent/"); ok {
				if limited && !slices.Contains(allowed, ours) {
					t.Errorf("%s imports %s", folder, ours)
				}
				continue
			}
			for lib, where := range onlyIn {
				inside := slices.ContainsFunc(where, func(w string) bool { return folder == w || strings.HasPrefix(folder, w+"/") })
				if strings.HasPrefix(imp, lib) && !inside {
					t.Errorf("%s imports %s, which belongs in %s", folder, imp, strings.Join(where, ", "))
				}
			}
		}
	}
}

var statement = regexp.MustCompile(`(?is)^\s*(select\s.*\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|with\s+\w+\s+as\s*\()`)

func TestSQLStandsInStores(t *testing.T) {
	for _, p := range goPackages(t) {
		if strings.HasPrefix(p.ImportPath, "docent/db") {
			continue
		}
		for _, file := range p.GoFiles {
			if strings.HasSuffix(file, "store.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return true
				}
				if s, err := strconv.Unquote(lit.Value); err == nil && statement.MatchString(s) {
					t.Errorf("%s: a statement outside of store.go", fset.Position(lit.Pos()))
				}
				return true
			})
		}
	}
}

func TestRawHTMLHasOnePlace(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return err
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".templ" {
			return nil
		}
		src, err := os.ReadFile(path)
		if bytes.Contains(src, []byte("templ.Raw(")) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Errorf("templ.Raw is used in %q; one file alone may", found)
	}
}
