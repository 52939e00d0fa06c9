package media

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, f := range NewStorage(dir).Folders() {
		if f.Err != nil || filepath.Dir(f.Path) != dir {
			t.Errorf("%+v", f)
		}
		if left, err := os.ReadDir(f.Path); err != nil || len(left) != 0 {
			t.Errorf("%s holds %v, %v", f.Path, left, err)
		}
	}
	inTheWay := filepath.Join(dir, "file")
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range NewStorage(inTheWay).Folders() {
		if f.Err == nil {
			t.Errorf("%s is said to be writable", f.Path)
		}
	}
}
