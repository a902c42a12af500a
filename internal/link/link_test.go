package link

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(p string) string { return filepath.Join(dir, filepath.FromSlash(p)) }
	if err := os.MkdirAll(at("real/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"abs": at("real"), "rel": "real/../real/sub", "up": "..", "dangling": "nowhere/x", "loop": "loop2", "loop2": "loop",
		"real/sub/back": "../..", "chain": "abs",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"real/sub", "real/sub"},
		{"abs/sub", "real/sub"},
		{"abs/new/file", "real/new/file"},
		{"rel", "real/sub"},
		{"chain/sub/back/abs", "real"},
		{"dangling", "nowhere/x"},
		{"dangling/deeper", "nowhere/x/deeper"},
		{"real/sub/back/real", "real"},
		{"file/below", "file/below"},
		{"nothing/../real", "real"},
	} {
		for name, resolve := range map[string]func(string) (string, error){"Resolve": Resolve, "Memo": Memo{}.Resolve} {
			got, err := resolve(at(c.path))
			if err != nil || got != at(c.want) {
				t.Errorf("%s(%s) = %s, %v, want %s", name, c.path, got, err, c.want)
			}
		}
	}
	if got, err := Resolve(at("up")); err != nil || got != filepath.Dir(dir) {
		t.Errorf("up leads to %s, %v", got, err)
	}
	if _, err := Resolve(at("loop/x")); !errors.Is(err, ErrLoop) {
		t.Errorf("a loop gives %v", err)
	}
}
