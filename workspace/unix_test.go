//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSpecialFiles(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	symlink(t, "/dev/zero", filepath.Join(dir, "zero"))
	for name, kind := range map[string]string{"pipe": "named pipe", "zero": "device"} {
		p := locate(t, w, dir, name)
		var special *SpecialError
		if _, _, err := w.Open(p); !errors.As(err, &special) || special.Kind != kind {
			t.Errorf("open %s: %v", name, err)
		}
		if _, err := w.WriteFile(p, []byte("x"), WriteOptions{}); !errors.As(err, &special) {
			t.Errorf("write %s: %v", name, err)
		}
	}
	_, err := w.Walk(t.Context(), locate(t, w, dir, "."), WalkOptions{}, func(_ int, e *Entry) error {
		if f, _, err := e.Open(); err == nil {
			f.Close()
			t.Errorf("%s was opened in a walk", e.Path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteMode(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	for _, mode := range []os.FileMode{0o755, 0o600, 0o640, 0o755 | os.ModeSetgid} {
		path := filepath.Join(dir, "f")
		save(t, path, "old")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteFile(locate(t, w, dir, "f"), []byte("new"), WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != mode {
			t.Errorf("mode %v became %v, %v", mode, info.Mode(), err)
		}
		os.Remove(path)
	}
}

func TestWriteHardLink(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	save(t, filepath.Join(dir, "a"), "a longer old content")
	if err := os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Skip(err)
	}
	done, err := w.WriteFile(locate(t, w, dir, "a"), []byte("new"), WriteOptions{})
	if err != nil || !strings.Contains(done.InPlace, "hard-linked (2 names)") {
		t.Fatalf("%+v, %v", done, err)
	}
	if got := get(t, filepath.Join(dir, "b")); got != "new" {
		t.Errorf("the other name has %q", got)
	}
	leftovers(t, dir)
}

// TestUmask must not run beside other tests: the umask belongs to the process.
func TestUmask(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	for umask, want := range map[int]os.FileMode{0o022: 0o644, 0o077: 0o600} {
		old := syscall.Umask(umask)
		p, err := w.Locate(dir, "new")
		if err == nil {
			_, err = w.WriteFile(p, []byte("x"), WriteOptions{})
		}
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(p.Path)
		if err != nil || info.Mode() != want {
			t.Errorf("umask %o gave %v, %v", umask, info.Mode(), err)
		}
		os.Remove(p.Path)
	}
}
