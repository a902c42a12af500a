package artifact

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func clock(now *time.Time) func() time.Time { return func() time.Time { return *now } }

func TestCreate(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)
	dir := filepath.Join(t.TempDir(), "data", "tool_artifacts")
	s := &Store{Dir: dir, Now: clock(&now)}
	for tool, want := range map[string]string{
		"bash":                   "bash",
		"mcp__a.b/c d":           "mcp__a_b_c_d",
		"../../etc":              "______etc",
		"":                       "tool",
		"werkzeug-ü":             "werkzeug-_",
		strings.Repeat("x", 200): strings.Repeat("x", 80),
	} {
		a, err := s.Create(tool)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Write([]byte("content")); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if re := regexp.MustCompile(`^20260304-050607-` + want + `-[0-9a-f]{12}\.txt$`); !re.MatchString(filepath.Base(a.Path())) || filepath.Dir(a.Path()) != dir {
			t.Errorf("%q is at %s", tool, a.Path())
		}
		if got, err := os.ReadFile(a.Path()); string(got) != "content" {
			t.Errorf("%q, %v", got, err)
		}
		if st, _ := os.Stat(a.Path()); runtime.GOOS != "windows" && st.Mode().Perm() != 0o600 {
			t.Errorf("mode %v", st.Mode())
		}
	}
	if st, _ := os.Stat(dir); runtime.GOOS != "windows" && st.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v", st.Mode())
	}
}

func TestCreateFails(t *testing.T) {
	if _, err := (&Store{}).Create("bash"); err == nil {
		t.Error("no folder, no error")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Store{Dir: path}).Create("bash"); err == nil {
		t.Error("a file in place of the folder, no error")
	}
}

func TestPrune(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.Local)
	s := &Store{Dir: t.TempDir(), Now: clock(&now)}
	old := "20260401-000000-bash-0123456789ab.txt"
	keep := []string{
		"20260520-000000-bash-0123456789ab.txt", // young
		"20260401-000000-bash-0123456789ab.log", // not ours
		"20260401-000000-bash-0123456789xy.txt",
		"20260401-000000-0123456789ab.txt",
		"99999999-000000-bash-0123456789ab.txt",
		"notes.txt",
	}
	put := func(names ...string) {
		t.Helper()
		for _, n := range names {
			if err := os.WriteFile(filepath.Join(s.Dir, n), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	create := func() {
		t.Helper()
		a, err := s.Create("bash")
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		os.Remove(a.Path())
	}
	exists := func(n string) bool { _, err := os.Lstat(filepath.Join(s.Dir, n)); return err == nil }

	put(append(keep, old)...)
	create()
	if exists(old) {
		t.Error("an old artifact was kept")
	}
	if lost := slices.DeleteFunc(slices.Clone(keep), exists); len(lost) > 0 {
		t.Errorf("removed %v", lost)
	}
	put(old)
	now = now.Add(23 * time.Hour)
	create()
	if !exists(old) {
		t.Error("pruned twice within a day")
	}
	now = now.Add(2 * time.Hour)
	create()
	if exists(old) {
		t.Error("not pruned after a day")
	}
}

func TestConcurrentCreate(t *testing.T) {
	s := &Store{Dir: filepath.Join(t.TempDir(), "a")}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				a, err := s.Create("bash")
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(func() error { _, err := a.Write([]byte("x")); return err }(), a.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	entries, err := os.ReadDir(s.Dir)
	if err != nil || len(entries) != 161 { // and the mark
		t.Errorf("%d files, %v", len(entries), err)
	}
}
