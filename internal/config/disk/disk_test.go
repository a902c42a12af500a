package disk

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b.json")
	set := func(want string, next []byte, fail error) error {
		return File{Path: path}.Update(t.Context(), func(old []byte) ([]byte, error) {
			if got := string(old); got != want || (old == nil) != (want == "none") && want != "" {
				if !(want == "none" && old == nil) {
					t.Errorf("old is %q, want %q", got, want)
				}
			}
			return next, fail
		})
	}
	boom := errors.New("boom")
	for _, step := range []struct {
		want string
		next []byte
		fail error
		now  string
	}{
		{"none", nil, nil, "none"},
		{"none", nil, boom, "none"},
		{"none", []byte("1"), nil, "1"},
		{"1", []byte("x"), boom, "1"},
		{"1", nil, nil, "1"},
		{"1", []byte(""), nil, ""},
		{"", []byte("2"), nil, "2"},
	} {
		if err := set(step.want, step.next, step.fail); !errors.Is(err, step.fail) {
			t.Error(err)
		}
		data, err := os.ReadFile(path)
		if now := string(data); now != step.now && !(step.now == "none" && errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("after %+v there is %q", step, now)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || filepath.Separator == '/' && len(entries) != 1 {
		t.Errorf("left over: %v %v", entries, err)
	}
}

func TestUpdateWaitsForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	unlock, err := tryLock(path + ".lock")
	if err != nil || unlock == nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		err := File{Path: path}.Update(context.Background(), func([]byte) ([]byte, error) { return []byte("x"), nil })
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another process has held it for too long") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := (File{Path: path}).Update(ctx, func([]byte) ([]byte, error) { return []byte("x"), nil }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file was written without the lock")
	}
	unlock()
	if err := (File{Path: path}).Update(t.Context(), func([]byte) ([]byte, error) { return []byte("x"), nil }); err != nil {
		t.Error(err)
	}
}

func TestTargetFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for link, to := range map[string]string{"a": "b", "b": filepath.Join(dir, "c"), "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	if got, err := target(filepath.Join(dir, "a")); got != filepath.Join(dir, "c") || err != nil {
		t.Error(got, err)
	}
	if _, err := target(filepath.Join(dir, "loop")); err == nil {
		t.Error("a loop has a target")
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(file); string(data) != "x" || err != nil {
		t.Error(data, err)
	}
	for _, path := range []string{filepath.Join(dir, "none"), filepath.Join(file, "below")} {
		if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Read(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestLeftOver: what a killed process was writing does not stay, what others
// keep in the folder does.
func TestLeftOver(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keys.json")
	left, others := filepath.Join(dir, ".keys.json.123.tmp"), []string{filepath.Join(dir, ".keys.json.orig"), filepath.Join(dir, ".other.json.1.tmp")}
	for _, file := range append([]string{left}, others...) {
		if err := os.WriteFile(file, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (File{Path: path}).Update(t.Context(), func([]byte) ([]byte, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it is still there", err)
	}
	for _, file := range others {
		if _, err := os.Lstat(file); err != nil {
			t.Error(err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("mine"), 0o400); err != nil {
		t.Fatal(err)
	}
	change := func([]byte) ([]byte, error) { return []byte("new"), nil }
	if err := (File{Path: path, Keep: true}).Update(t.Context(), change); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if data, err := os.ReadFile(path); string(data) != "mine" || err != nil {
		t.Errorf("%q %v", data, err)
	}
	if filepath.Separator == '\\' {
		return // nothing takes the place of a read-only file there
	}
	if err := (File{Path: path}).Update(t.Context(), change); err != nil {
		t.Error(err)
	}
}
