package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func leftovers(t *testing.T, dir string) {
	t.Helper()
	for _, n := range names(dir) {
		if strings.HasSuffix(n, ".tmp") {
			t.Errorf("%s was left behind", n)
		}
	}
}

func TestWriteFile(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	p := locate(t, w, dir, "a/b/new")
	if _, err := w.WriteFile(p, []byte("1"), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("without parents: %v", err)
	}
	done, err := w.WriteFile(p, []byte("1"), WriteOptions{Parents: true})
	if err != nil || !done.Created {
		t.Fatalf("create: %+v, %v", done, err)
	}
	done, err = w.WriteFile(p, []byte("22"), WriteOptions{Sync: true})
	if err != nil || done.Created || done.InPlace != "" {
		t.Fatalf("replace: %+v, %v", done, err)
	}
	if got := get(t, p.Path); got != "22" {
		t.Errorf("content %q", got)
	}
	if _, err := w.WriteFile(p, nil, WriteOptions{New: true}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("New over a file: %v", err)
	}
	leftovers(t, filepath.Dir(p.Path))
}

func TestWriteLink(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	save(t, filepath.Join(dir, "target"), "old")
	symlink(t, "target", filepath.Join(dir, "ln"))
	symlink(t, "sub/later", filepath.Join(dir, "dangling"))
	if _, err := w.WriteFile(locate(t, w, dir, "ln"), []byte("new"), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(filepath.Join(dir, "ln")); err != nil || to != "target" {
		t.Errorf("the link became %q, %v", to, err)
	}
	if got := get(t, filepath.Join(dir, "target")); got != "new" {
		t.Errorf("target %q", got)
	}
	if _, err := w.WriteFile(locate(t, w, dir, "dangling"), []byte("n"), WriteOptions{Parents: true}); err != nil {
		t.Fatal(err)
	}
	if got := get(t, filepath.Join(dir, "sub", "later")); got != "n" {
		t.Errorf("new target %q", got)
	}
}

func TestWriteFolder(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	var special *SpecialError
	if _, err := w.WriteFile(locate(t, w, dir, "."), []byte("x"), WriteOptions{}); !errors.As(err, &special) {
		t.Errorf("writing over the root: %v", err)
	}
}
