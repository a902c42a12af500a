package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// asNobody runs f on a thread whose file accesses are judged as those of
// another user, and ends the thread after it.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.Setfsuid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

func TestWriteReadOnlyFolder(t *testing.T) {
	dir := tempDir(t)
	for at := dir; at != os.TempDir() && len(at) > 1; at = filepath.Dir(at) {
		if err := os.Chmod(at, 0o755); err != nil {
			t.Skip(err)
		}
	}
	w := open(t, dir)
	sub := filepath.Join(dir, "ro")
	save(t, filepath.Join(sub, "f"), "old")
	os.Chmod(filepath.Join(sub, "f"), 0o666)
	save(t, filepath.Join(dir, "mode"), "old")
	os.Chmod(filepath.Join(dir, "mode"), 0o444)
	if err := os.Chmod(sub, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(sub, 0o755) })
	for _, name := range []string{"ro/f", "ro/new", "mode"} {
		p := locate(t, w, dir, name)
		asNobody(t, func() {
			if _, err := w.WriteFile(p, []byte("new"), WriteOptions{}); err == nil || !strings.Contains(err.Error(), "read-only for this user; nothing was changed") {
				t.Errorf("write %s: %v", name, err)
			}
		})
	}
	if got := get(t, filepath.Join(sub, "f")); got != "old" {
		t.Errorf("content %q", got)
	}
}

func TestWriteForeignOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to make a file of another user")
	}
	dir := tempDir(t)
	w := open(t, dir)
	save(t, filepath.Join(dir, "f"), "old")
	if err := os.Chown(filepath.Join(dir, "f"), 12345, 23456); err != nil {
		t.Skip(err)
	}
	if _, err := w.WriteFile(locate(t, w, dir, "f"), []byte("new"), WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(dir, "f"), &st); err != nil || st.Uid != 12345 || st.Gid != 23456 {
		t.Errorf("owner became %d:%d, %v", st.Uid, st.Gid, err)
	}
}

func TestWriteForeignOwnerInPlace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to become another user")
	}
	dir := tempDir(t)
	for at := dir; at != os.TempDir() && len(at) > 1; at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	os.Chmod(dir, 0o777)
	w := open(t, dir)
	save(t, filepath.Join(dir, "f"), "old")
	os.Chmod(filepath.Join(dir, "f"), 0o666)
	p := locate(t, w, dir, "f")
	asNobody(t, func() {
		done, err := w.WriteFile(p, []byte("new"), WriteOptions{})
		if err != nil || done.InPlace == "" {
			t.Errorf("%+v, %v", done, err)
		}
	})
	var st unix.Stat_t
	if err := unix.Stat(p.Path, &st); err != nil || st.Uid != 0 || get(t, p.Path) != "new" {
		t.Errorf("owner %d, content %q, %v", st.Uid, get(t, p.Path), err)
	}
	leftovers(t, dir)
}

func TestDiskFull(t *testing.T) {
	dir := tempDir(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	w := open(t, dir)
	save(t, filepath.Join(dir, "f"), "old")
	save(t, filepath.Join(dir, "h"), "hard")
	if err := os.Link(filepath.Join(dir, "h"), filepath.Join(dir, "h2")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"f": "old", "h": "hard"} {
		_, err := w.WriteFile(locate(t, w, dir, name), make([]byte, 200<<10), WriteOptions{})
		if err == nil || !strings.Contains(err.Error(), "unchanged") {
			t.Errorf("%s: %v", name, err)
		}
		if got := get(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s became %d bytes", name, len(got))
		}
	}
	leftovers(t, dir)
}

// TestOpenBehindPassableFolder reads a file outside the workspace whose folder
// may be entered but not listed.
func TestOpenBehindPassableFolder(t *testing.T) {
	dir := tempDir(t)
	for at := dir; at != os.TempDir() && len(at) > 1; at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	save(t, filepath.Join(dir, "x", "f"), "content")
	if err := os.Chmod(filepath.Join(dir, "x"), 0o711); err != nil {
		t.Fatal(err)
	}
	var w *Workspace
	p := locate(t, w, dir, "x/f")
	asNobody(t, func() {
		if data, _, err := w.ReadFile(p, 0); err != nil || string(data) != "content" {
			t.Errorf("%q, %v", data, err)
		}
	})
}
