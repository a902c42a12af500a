package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// git runs git without the user's configuration; skips without git.
func git(t *testing.T, dir string, stdin string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.Getenv("GIT_CONFIG_GLOBAL"), "HOME="+os.Getenv("HOME"))
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && args[0] == "check-ignore" && exit.ExitCode() == 1) {
		t.Fatalf("git %v: %v\n%s", args, err, &stderr)
	}
	return out
}

// isolate keeps the user's git configuration out of the test.
func isolate(t *testing.T) {
	t.Helper()
	home := tempDir(t)
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "xdg"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gitconfig"))
}

func walk(t *testing.T, w *Workspace, p Place, opt WalkOptions) ([]string, Skipped) {
	t.Helper()
	var mu sync.Mutex
	var got []string
	skipped, err := w.Walk(t.Context(), p, opt, func(_ int, e *Entry) error {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e.Path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got, skipped
}

func splitZero(out []byte) []string {
	list := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if list[0] == "" {
		return nil
	}
	slices.Sort(list)
	return list
}

// patternLine makes up a line of an ignore file out of names of the tree.
func patternLine(r *rand.Rand) string {
	atoms := []string{"a", "b", "c", "foo", "foo.o", "*.o", "f*", "?", "**", "*", "[ab]", "[!a]", "[a-c]", "[^f]*", `\*`, `\!x`, "x y", "B", "*.[oh]", "[[:alpha:]]", "f?o", "*o*", `[\]a]`, "[]a]", "d.*", ".h"}
	var b strings.Builder
	if r.IntN(4) == 0 {
		b.WriteByte('!')
	}
	if r.IntN(4) == 0 {
		b.WriteByte('/')
	}
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(atoms[r.IntN(len(atoms))])
	}
	b.WriteString([]string{"", "", "/", " ", "\t", `\ `, "/**"}[r.IntN(7)])
	if r.IntN(12) == 0 {
		return "# " + b.String()
	}
	return b.String()
}

func TestWalkLikeGit(t *testing.T) {
	isolate(t)
	dirs := []string{"", "a", "b", "a/b", "a/b/c", "foo", "foo/a", "c/foo/b", ".h", "x y", "d.d/f"}
	files := []string{"a", "foo.o", "foo", "bar.h", "B", "*", "!x", "x y ", "é.o", ".h", "]", "foo.c", "z"}
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 7))
		dir := tempDir(t)
		git(t, dir, "", "init", "-q")
		for _, d := range dirs {
			for _, f := range files {
				if path := filepath.Join(dir, d, f); r.IntN(2) == 0 {
					if _, err := os.Lstat(path); err == nil {
						continue
					}
					if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
						os.WriteFile(path, nil, 0o644)
					}
				}
			}
			if info, err := os.Stat(filepath.Join(dir, d)); err != nil || !info.IsDir() {
				continue
			}
			if d == "" || r.IntN(3) == 0 {
				var lines []string
				for range 1 + r.IntN(5) {
					lines = append(lines, patternLine(r))
				}
				save(t, filepath.Join(dir, d, ".gitignore"), strings.Join(lines, []string{"\n", "\r\n"}[r.IntN(2)])+"\n")
			}
		}
		save(t, filepath.Join(dir, ".git", "info", "exclude"), patternLine(r)+"\n")
		save(t, filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git", "ignore"), patternLine(r)+"\n")
		if r.IntN(4) == 0 {
			git(t, dir, "", "config", "core.ignorecase", "true")
		}
		want := splitZero(git(t, dir, "", "ls-files", "-z", "-co", "--exclude-standard"))
		w := open(t, dir)
		got, _ := walk(t, w, locate(t, w, dir, "."), WalkOptions{})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d (-git +walk):\n%s\n%s", seed, diff, ignoreFiles(dir))
		}
		for _, sub := range []string{"a", "a/b", "foo"} {
			if info, err := os.Stat(filepath.Join(dir, sub)); err != nil || !info.IsDir() || len(git(t, dir, "", "check-ignore", sub)) > 0 {
				continue
			}
			var below []string
			for _, p := range want {
				if rest, ok := strings.CutPrefix(p, sub+"/"); ok {
					below = append(below, rest)
				}
			}
			got, _ := walk(t, w, locate(t, w, dir, sub), WalkOptions{})
			if diff := cmp.Diff(below, got); diff != "" {
				t.Errorf("seed %d, below %s (-git +walk):\n%s\n%s", seed, sub, diff, ignoreFiles(dir))
			}
		}
	}
}

func ignoreFiles(dir string) string {
	var b strings.Builder
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (d.Name() == ".gitignore" || d.Name() == "exclude") {
			data, _ := os.ReadFile(path)
			fmt.Fprintf(&b, "%s: %q\n", path, data)
		}
		return nil
	})
	data, _ := os.ReadFile(filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "git", "ignore"))
	fmt.Fprintf(&b, "global: %q\n", data)
	return b.String()
}

func TestWalkRules(t *testing.T) {
	isolate(t)
	dir := tempDir(t)
	for path, content := range map[string]string{
		".gitignore":              "*.log\nbuild/\n",
		".ignore":                 "!keep.log\nsecret-notes\n",
		"keep.log":                "",
		"drop.log":                "",
		"secret-notes":            "",
		"build/out":               "",
		"build/.gitignore":        "x\n",
		"build/x":                 "",
		"src/a.go":                "",
		"nested/.git/HEAD":        "",
		"nested/.gitignore":       "inner\n",
		"nested/inner":            "",
		"nested/free.log":         "",
		"linked/.git":             "gitdir: nowhere\n",
		"linked/b.log":            "",
		".hidden/c":               "",
		"vendor/.ignore":          "*\n!good\n",
		"vendor/good":             "",
		"vendor/bad":              "",
		"src/.GIT/should-not-see": "",
	} {
		save(t, filepath.Join(dir, path), content)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	symlink(t, "src", filepath.Join(dir, "ln"))
	w := open(t, dir)
	here := locate(t, w, dir, ".")
	got, skipped := walk(t, w, here, WalkOptions{})
	want := []string{".gitignore", ".hidden/c", ".ignore", "keep.log", "linked/b.log", "ln", "nested/.gitignore", "nested/free.log", "src/a.go", "vendor/good"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Skipped{Ignored: 6, Examples: []string{"build", "drop.log", "secret-notes"}}, skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}

	got, _ = walk(t, w, locate(t, w, dir, "build"), WalkOptions{})
	if diff := cmp.Diff([]string{".gitignore", "out"}, got); diff != "" {
		t.Errorf("an ignored folder by name (-want +got):\n%s", diff)
	}
	got, _ = walk(t, w, here, WalkOptions{Depth: 1, Keep: func(e *Entry) bool { return e.Name == "drop.log" || e.Name == "build" }, Dirs: true})
	want = []string{".gitignore", ".hidden", ".ignore", "build", "drop.log", "keep.log", "linked", "ln", "nested", "src", "vendor"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("depth 1 (-want +got):\n%s", diff)
	}
}

func TestWalkNoRepo(t *testing.T) {
	isolate(t)
	dir := tempDir(t)
	save(t, filepath.Join(dir, ".gitignore"), "a\n")
	save(t, filepath.Join(dir, ".ignore"), "b\n")
	save(t, filepath.Join(dir, "a"), "")
	save(t, filepath.Join(dir, "b"), "")
	w, err := New(Config{Root: dir, Secret: func(p string) bool { return filepath.Base(p) == "hidden-key" }})
	if err != nil {
		t.Fatal(err)
	}
	save(t, filepath.Join(dir, "hidden-key"), "")
	got, skipped := walk(t, w, locate(t, w, dir, "."), WalkOptions{})
	if diff := cmp.Diff([]string{".gitignore", ".ignore", "a"}, got); diff != "" {
		t.Error(diff)
	}
	if skipped.Secret != 1 || skipped.Ignored != 1 {
		t.Errorf("skipped %+v", skipped)
	}
}

func TestWalkStops(t *testing.T) {
	isolate(t)
	dir := tempDir(t)
	for i := range 300 {
		save(t, filepath.Join(dir, fmt.Sprint(i%7), fmt.Sprint(i)), "")
	}
	w := open(t, dir)
	p := locate(t, w, dir, ".")
	boom := errors.New("boom")
	if _, err := w.Walk(t.Context(), p, WalkOptions{}, func(int, *Entry) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("error of visit: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	if _, err := w.Walk(ctx, p, WalkOptions{}, func(int, *Entry) error { once.Do(cancel); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := w.Walk(t.Context(), locate(t, w, dir, "0/7"), WalkOptions{}, nil); err == nil {
		t.Error("walking a file gave no error")
	}
	if _, err := w.Walk(t.Context(), locate(t, w, dir, "none"), WalkOptions{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("walking nothing: %v", err)
	}
}

func TestWild(t *testing.T) {
	for _, c := range []struct {
		pat, s string
		want   bool
	}{
		{"", "", true}, {"*", "", true}, {"*", "abc", true}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "axxbyy", false},
		{"[", "[", false}, {"[a", "a", false}, {`\`, `\`, false}, {`\[`, "[", true}, {"[]]", "]", true}, {"[!]]", "]", false},
		{"[a-]", "-", true}, {"[[:digit:]x]", "7", true}, {"[[:digit:]x]", "x", true}, {"[[:nope:]]", "n", false},
		{"?", "é", false}, {"??", "é", true}, {strings.Repeat("*a", 30) + "b", strings.Repeat("a", 60), false},
	} {
		if got := wild(c.pat, c.s); got != c.want {
			t.Errorf("wild(%q, %q) = %v", c.pat, c.s, got)
		}
	}
}

func TestGitConfig(t *testing.T) {
	var c gitConfig
	c.parse("[user]\nexcludesfile = no\n[Core] ; x\n  excludesFile = \"~/my ignores\" # y\n\tignorecase\n[core \"sub\"]\nexcludesfile=z\n", "/home/u", "/repo")
	if want := (gitConfig{filepath.Join("/home/u", "my ignores"), true}); c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("*.o\n!/a/**/b\n[a-z]*/\\!\n", "a/b/c.o", true)
	f.Add("\xef\xbb\xbf**/[[:alpha:]]\n\\", "x", false)
	f.Add("[\\", "[", false)
	f.Fuzz(func(t *testing.T, rules, path string, dir bool) {
		if path == "" || len(rules) > 1000 || len(path) > 300 {
			return
		}
		r := parseRules(nil, "", []byte(rules), false)
		first, known := r.decide(path, dir, false)
		again, known2 := r.decide(path, dir, false)
		if first != again || known != known2 || first && !known {
			t.Errorf("decide is not a function: %v %v", first, again)
		}
	})
}

func BenchmarkWalk(b *testing.B) {
	dir := b.TempDir()
	os.Mkdir(filepath.Join(dir, ".git"), 0o755)
	os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.o\n*.tmp\n/build/\nnode_modules/\n**/cache/*.bin\n!keep.o\n"), 0o644)
	for d := range 400 {
		sub := filepath.Join(dir, fmt.Sprint("d", d%20), fmt.Sprint("e", d))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 50 {
			os.WriteFile(filepath.Join(sub, fmt.Sprint("file", f, ".go")), nil, 0o644)
		}
	}
	w, err := New(Config{Root: dir})
	if err != nil {
		b.Fatal(err)
	}
	p, err := w.Locate(dir, ".")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var mu sync.Mutex
		n := 0
		if _, err := w.Walk(b.Context(), p, WalkOptions{}, func(int, *Entry) error { mu.Lock(); n++; mu.Unlock(); return nil }); err != nil || n != 20001 {
			b.Fatal(n, err)
		}
	}
}
