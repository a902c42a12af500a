package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// tempDir is a temporary folder with its own links resolved.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func save(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
}

func get(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func open(t *testing.T, root string, extra ...string) *Workspace {
	t.Helper()
	w, err := New(Config{Root: root, Extra: extra, Home: filepath.Join(root, "no-home")})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func locate(t *testing.T, w *Workspace, dir, path string) Place {
	t.Helper()
	p, err := w.Locate(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestLocateNames(t *testing.T) {
	dir := tempDir(t)
	w, err := New(Config{Root: dir, Home: filepath.Join(dir, "home")})
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "cafe\u0301", "Bildschirmfoto 9.41\u202fAM.png"), "x")
	save(t, filepath.Join(dir, "Capture d\u2019écran.png"), "x")
	save(t, filepath.Join(dir, "\u1112\u1161\u11ab.txt"), "x")
	for _, c := range []struct{ in, want string }{
		{"a/../b", "b"},
		{"./x//y", "x/y"},
		{"~/k", "home/k"},
		{"~", "home"},
		{"~k", "~k"},
		{"café/Bildschirmfoto 9.41 AM.png", "cafe\u0301/Bildschirmfoto 9.41\u202fAM.png"},
		{"café/new.txt", "cafe\u0301/new.txt"},
		{"Capture d'e\u0301cran.png", "Capture d\u2019écran.png"},
		{"한.txt", "\u1112\u1161\u11ab.txt"},
		{"nai\u0308ve.txt", "nai\u0308ve.txt"},
	} {
		p := locate(t, w, dir, c.in)
		if want := filepath.Join(dir, filepath.FromSlash(c.want)); p.Path != want {
			t.Errorf("Locate(%q) = %q, want %q", c.in, p.Path, want)
		}
	}
	for _, bad := range []string{"", "  ", "a\x00b"} {
		if _, err := w.Locate(dir, bad); err == nil {
			t.Errorf("Locate(%q) gave no error", bad)
		}
	}
	if _, err := w.Locate("", "rel"); err == nil {
		t.Error("a relative path without a folder gave no error")
	}
}

func TestLocateTwins(t *testing.T) {
	dir := tempDir(t)
	save(t, filepath.Join(dir, "a\u00a0b"), "1")
	save(t, filepath.Join(dir, "a\u202fb"), "2")
	if list := names(dir); len(list) != 2 {
		t.Skip("this file system takes the names for one")
	}
	w := open(t, dir)
	if p := locate(t, w, dir, "a b"); p.Path != filepath.Join(dir, "a b") {
		t.Errorf("two near names, but %q was taken", p.Path)
	}
	if p := locate(t, w, dir, "a\u202fb"); p.Path != filepath.Join(dir, "a\u202fb") {
		t.Errorf("the exact name was not taken but %q", p.Path)
	}
}

func TestResolve(t *testing.T) {
	dir := tempDir(t)
	save(t, filepath.Join(dir, "real", "f"), "x")
	symlink(t, "real", filepath.Join(dir, "ln"))
	symlink(t, filepath.Join(dir, "ln", "f"), filepath.Join(dir, "abs"))
	symlink(t, "nowhere/x", filepath.Join(dir, "dangling"))
	symlink(t, "loop", filepath.Join(dir, "loop"))
	symlink(t, "../"+filepath.Base(dir)+"/real", filepath.Join(dir, "up"))
	for _, c := range []struct{ in, want string }{
		{"ln/f", "real/f"},
		{"abs", "real/f"},
		{"ln/new/deep", "real/new/deep"},
		{"dangling", "nowhere/x"},
		{"dangling/y", "nowhere/x/y"},
		{"up/f", "real/f"},
		{"real/f/below", "real/f/below"},
	} {
		got, err := Resolve(filepath.Join(dir, c.in))
		if want := filepath.Join(dir, c.want); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v, want %q", c.in, got, err, want)
		}
	}
	if _, err := Resolve(filepath.Join(dir, "loop")); err == nil {
		t.Error("links in a circle gave no error")
	}
}

func TestInside(t *testing.T) {
	dir := tempDir(t)
	for _, d := range []string{"ws", "ws-evil", "extra", "art", "outside"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	symlink(t, "ws", filepath.Join(dir, "alias"))
	symlink(t, filepath.Join(dir, "outside"), filepath.Join(dir, "ws", "out"))
	w, err := New(Config{Root: filepath.Join(dir, "alias"), Extra: []string{filepath.Join(dir, "extra")}, Readable: []string{filepath.Join(dir, "art")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path        string
		write, read bool
	}{
		{"alias/a", true, true},
		{"ws/a/b", true, true},
		{"ws", true, true},
		{"ws-evil/x", false, false},
		{"ws/out/new.txt", false, false},
		{"ws/../ws-evil/x", false, false},
		{"extra/x", true, true},
		{"art/x", false, true},
	} {
		p := locate(t, w, dir, c.path)
		if got := w.Inside(p.Real, false); got != c.write {
			t.Errorf("%s inside for writing: %v", c.path, got)
		}
		if got := w.Inside(p.Real, true); got != c.read {
			t.Errorf("%s inside for reading: %v", c.path, got)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	dir := tempDir(t)
	save(t, filepath.Join(dir, "f"), "x")
	for _, root := range []string{"rel", filepath.Join(dir, "f"), filepath.Join(dir, "missing")} {
		if _, err := New(Config{Root: root}); err == nil {
			t.Errorf("New took the root %q", root)
		}
	}
}

func TestOpenMoved(t *testing.T) {
	dir := tempDir(t)
	save(t, filepath.Join(dir, "ws", "a"), "good")
	save(t, filepath.Join(dir, "secret"), "bad")
	w := open(t, filepath.Join(dir, "ws"))
	p := locate(t, w, filepath.Join(dir, "ws"), "a")
	if err := os.Remove(p.Path); err != nil {
		t.Fatal(err)
	}
	symlink(t, filepath.Join(dir, "secret"), p.Path)
	if _, _, err := w.Open(p); !errors.Is(err, ErrMoved) {
		t.Errorf("Open after a link was swapped in: %v", err)
	}
	if _, err := w.WriteFile(p, []byte("x"), WriteOptions{}); !errors.Is(err, ErrMoved) {
		t.Errorf("WriteFile after a link was swapped in: %v", err)
	}
	if got := get(t, filepath.Join(dir, "secret")); got != "bad" {
		t.Errorf("the file outside became %q", got)
	}
	// Even past the check, the handle of the root does not lead out.
	if _, _, err := w.Open(Place{Path: p.Path, Real: p.Path}); err == nil {
		t.Error("a link out of the root was followed")
	}
}

func TestReadFileLimits(t *testing.T) {
	dir := tempDir(t)
	save(t, filepath.Join(dir, "f"), "12345")
	w := open(t, dir)
	var size *SizeError
	if _, _, err := w.ReadFile(locate(t, w, dir, "f"), 4); !errors.As(err, &size) || size.Size != 5 {
		t.Errorf("a file over the limit gave %v", err)
	}
	if _, _, err := w.ReadFile(locate(t, w, dir, "g"), 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file gave %v", err)
	}
	var special *SpecialError
	if _, _, err := w.ReadFile(locate(t, w, dir, "."), 0); !errors.As(err, &special) || special.Kind != "folder" {
		t.Errorf("a folder gave %v", err)
	}
}

func TestNilWorkspace(t *testing.T) {
	dir := tempDir(t)
	save(t, filepath.Join(dir, "f"), "x")
	var w *Workspace
	p := locate(t, w, dir, "f")
	if data, _, err := w.ReadFile(p, 0); err != nil || string(data) != "x" {
		t.Errorf("ReadFile: %q, %v", data, err)
	}
	defer w.Lock(p)()
	if _, err := w.WriteFile(p, []byte("y"), WriteOptions{}); err != nil {
		t.Error(err)
	}
	if got := get(t, p.Path); got != "y" {
		t.Errorf("content %q", got)
	}
	n := 0
	if _, err := w.Walk(t.Context(), locate(t, w, dir, "."), WalkOptions{}, func(int, *Entry) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("walk visited %d, %v", n, err)
	}
}

func TestLock(t *testing.T) {
	dir := tempDir(t)
	w := open(t, dir)
	p := locate(t, w, dir, "n")
	n := 0
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			defer w.Lock(p)()
			n++
		})
	}
	wg.Wait()
	if n != 50 || len(w.locks) != 0 {
		t.Errorf("n = %d, %d locks left", n, len(w.locks))
	}
}

func TestShow(t *testing.T) {
	dir := tempDir(t)
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "a", "b"), "a/b"},
		{dir, "."},
		{dir + "x", filepath.ToSlash(dir + "x")},
	} {
		if got := Show(dir, c.path); got != c.want {
			t.Errorf("Show(%q) = %q, want %q", c.path, got, c.want)
		}
	}
	if strings.Contains(Show("", dir), `\`) {
		t.Error("a backslash is shown")
	}
}
