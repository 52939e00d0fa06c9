// Package testdata opens the real content and questions that tests measure
// against, which lie beside the project and not in it.
package testdata

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// Path is where a file of the test data is: in the folder that DOCENT_TEST_DATA
// names, or in ../shared/data beside the project, as seen from a package two
// folders down. Without the file the test is skipped.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("DOCENT_TEST_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("NOT TESTED: no test data: set DOCENT_TEST_DATA to the folder that holds %s", name)
	}
	return path
}

// Archive reads a tar.gz of the test data, without its top folder.
func Archive(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	f, err := os.Open(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{}
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		_, below, _ := strings.Cut(strings.TrimPrefix(h.Name, "./"), "/")
		files[below] = &fstest.MapFile{Data: b}
	}
}
