package prompt

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/openharness/oh"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden renders each archive under testdata. Its comment sets the config,
// its files are the tree, "want" and "warnings" the outcome, "nested" what
// comes with the file that the comment names. A file that is called LINK holds
// lines "name target" for symbolic links; $T stands for the tree.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { golden(t, path) })
	}
}

func golden(t *testing.T, path string) {
	ar, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := resolve(t.TempDir())
	want := map[string]string{}
	for _, f := range ar.Files {
		switch f.Name {
		case "want", "warnings", "nested":
			want[f.Name] = string(f.Data)
		case "LINK":
			link(t, dir, string(f.Data))
		default:
			put(t, filepath.Join(dir, f.Name), strings.ReplaceAll(string(f.Data), "$T", dir))
		}
	}
	cfg, touch := config(t, dir, string(ar.Comment))
	out, err := Render(cfg)
	if err != nil {
		t.Fatal(err)
	}
	hide := func(s string) string { return strings.ReplaceAll(s, dir, "$T") }
	got := map[string]string{"want": hide(out.Text) + "\n"}
	if len(out.Warnings) > 0 {
		got["warnings"] = hide(strings.Join(out.Warnings, "\n")) + "\n"
	}
	if touch != "" {
		n := Nested(cfg, out, filepath.Join(dir, touch))
		got["nested"] = hide(strings.Join(append([]string{n.Text}, n.Warnings...), "\n")) + "\n"
		again := Nested(cfg, Rendered{Files: append(out.Files, n.Files...), Rules: append(out.Rules, n.Rules...)}, filepath.Join(dir, touch))
		if again.Text != "" {
			t.Errorf("nested a second time: %s", again.Text)
		}
	}
	if *update {
		rewrite(t, path, ar, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkSections(t, out)
}

func rewrite(t *testing.T, path string, ar *txtar.Archive, got map[string]string) {
	t.Helper()
	files := ar.Files[:0]
	for _, f := range ar.Files {
		if f.Name != "want" && f.Name != "warnings" && f.Name != "nested" {
			files = append(files, f)
		}
	}
	for _, name := range []string{"want", "warnings", "nested"} {
		if got[name] != "" {
			files = append(files, txtar.File{Name: name, Data: []byte(got[name])})
		}
	}
	ar.Files = files
	if err := os.WriteFile(path, txtar.Format(ar), 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkSections holds that the breakdown accounts for the whole text.
func checkSections(t *testing.T, out Rendered) {
	t.Helper()
	sum := 2 * (len(out.Sections) - 1)
	for _, s := range out.Sections {
		sum += s.Bytes
	}
	if sum != len(out.Text) {
		t.Errorf("sections have %d bytes, the text %d", sum, len(out.Text))
	}
}

func config(t *testing.T, dir, comment string) (cfg Config, touch string) {
	t.Helper()
	cfg = Config{Base: "BASE", Dir: filepath.Join(dir, "repo"), Root: filepath.Join(dir, "repo"), Home: filepath.Join(dir, "home"),
		Config: filepath.Join(dir, "home", ".openharness"), Managed: filepath.Join(dir, "etc", "CLAUDE.md"),
		Date: time.Date(2026, 5, 6, 23, 0, 0, 0, time.UTC), OS: "linux", Arch: "amd64", Shell: "bash"}
	for line := range strings.Lines(comment) {
		key, val, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		switch key {
		case "dir":
			cfg.Dir = filepath.Join(dir, val)
		case "root":
			if cfg.Root = filepath.Join(dir, val); val == "auto" {
				cfg.Root = ""
			}
		case "trusted":
			cfg.Trusted = val == "yes"
		case "bare":
			cfg.Bare = val == "yes"
		case "model":
			cfg.Model = val
		case "effort":
			cfg.Effort = val
		case "slot":
			cfg.Slots = append(cfg.Slots, Slot{Name: "skill", Text: val})
		case "memory":
			cfg.Memory = val
		case "append":
			cfg.Append = val
		case "touch":
			touch = val
		case "about":
		default:
			t.Fatalf("unknown setting %q", key)
		}
	}
	return cfg, touch
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, dir, lines string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		name, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(strings.ReplaceAll(target, "$T", dir), name); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
}

// repo makes a folder for a prompt and a config for it.
func repo(t testing.TB) (string, Config) {
	dir := resolve(t.TempDir())
	return dir, Config{Base: "BASE", Dir: dir, Root: dir, Date: time.Unix(0, 0).UTC(), Shell: "sh"}
}

func render(t *testing.T, cfg Config) Rendered {
	t.Helper()
	out, err := Render(cfg)
	if err != nil {
		t.Fatal(err)
	}
	checkSections(t, out)
	return out
}

func TestRenderErrors(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{Dir: "rel"}, `render prompt: the working directory "rel" is not absolute`},
		{Config{Dir: t.TempDir(), Root: "rel"}, `render prompt: the project root "rel" is not absolute`},
		{Config{Dir: t.TempDir(), Slots: []Slot{{Text: "x"}}}, "render prompt: a slot has no name"},
	} {
		if _, err := Render(tt.cfg); fmt.Sprint(err) != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

func TestOwnWords(t *testing.T) {
	dir, cfg := repo(t)
	cfg.Base = ""
	out := render(t, cfg)
	if first := out.Sections[0]; first.Name != "base" || first.Bytes < 1000 || first.Bytes > 2500 {
		t.Errorf("%+v", first)
	}
	if out2 := render(t, cfg); out.Text != out2.Text {
		t.Error("not the same bytes twice")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("something was written: %v", entries)
	}
}

func TestLimits(t *testing.T) {
	dir, cfg := repo(t)
	long := strings.Repeat("äöü line\n", 3000)
	for n := range 8 {
		cfg.Dir = filepath.Join(cfg.Dir, strconv.Itoa(n))
		put(t, filepath.Join(cfg.Dir, "CLAUDE.md"), fmt.Sprint("file ", n, "\n", long))
	}
	put(t, filepath.Join(dir, ".openharness", "issue.md"), long)
	cfg.Memory = strings.Repeat("m", SlotMax+1)
	out := render(t, cfg)
	if !utf8.ValidString(out.Text) {
		t.Error("not UTF-8")
	}
	if n := utf8.RuneCountInString(out.Text); n > TotalMax+FileMax+SlotMax+3000 {
		t.Errorf("%d characters", n)
	}
	wantHave := map[string]bool{"file 7\n": true, "file 3\n": true, "file 2\n": false, "file 0\n": false,
		"[left out for its length, 27,006 characters; read the file when it matters]": true,
		"[cut here: the first 11,": true, "[cut here: longer than 64,000 characters]": true}
	for s, want := range wantHave {
		if strings.Contains(out.Text, s) != want {
			t.Errorf("%q in the text: %v", s, !want)
		}
	}
	if len(out.Warnings) != 8+1+1 {
		t.Errorf("%d warnings: %s", len(out.Warnings), strings.Join(out.Warnings, "\n"))
	}
}

func TestTooManyFiles(t *testing.T) {
	dir, cfg := repo(t)
	for n := range FilesMax + 20 {
		put(t, filepath.Join(dir, ".claude", "rules", fmt.Sprintf("r%03d.md", n)), fmt.Sprint("rule ", n))
	}
	out := render(t, cfg)
	if len(out.Files) != FilesMax || len(out.Warnings) != 1 {
		t.Errorf("%d files, %v", len(out.Files), out.Warnings)
	}
}

func TestBrokenFiles(t *testing.T) {
	dir, cfg := repo(t)
	cfg.Dir = filepath.Join(dir, "a", "b")
	mk := func(p string) {
		if err := os.MkdirAll(filepath.Join(dir, p), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mk("CLAUDE.md") // a folder of that name
	mk(".openharness/issue.md")
	mk("a/.claude/rules/dir.md")
	put(t, filepath.Join(dir, "AGENTS.md"), "latin \xe4\n\x1b[31mred\x1b[0m")
	put(t, filepath.Join(dir, "a", "CLAUDE.md"), "\xff\xfeU\x00T\x00F\x00")
	put(t, filepath.Join(dir, "a", "AGENTS.md"), "  \n")
	put(t, filepath.Join(dir, "a/b", ".claude"), "a file")
	put(t, filepath.Join(dir, "a/b", "CLAUDE.md"), "\xEF\xBB\xBFfine")
	put(t, filepath.Join(dir, "a/b", "CLAUDE.local.md"), strings.Repeat("x", ReadMax+1))
	out := render(t, cfg)
	got := strings.ReplaceAll(strings.Join(out.Warnings, "\n"), dir, "$T")
	want := `$T/CLAUDE.md: not loaded: not a regular file
$T/AGENTS.md: not valid UTF-8: the bytes that are wrong are shown as U+FFFD
$T/a/CLAUDE.md: not loaded: not UTF-8 text
$T/a/.claude/rules/dir.md: not loaded: not a regular file
$T/a/b/CLAUDE.local.md: not loaded: larger than 8 MB
$T/.openharness/issue.md: not loaded: not a regular file`
	if diff := cmp.Diff(want, filepath.ToSlash(got)); diff != "" {
		t.Error(diff)
	}
	for _, s := range []string{"latin \uFFFD\nred\n</file>", "\nfine\n</file>"} {
		if !strings.Contains(out.Text, s) {
			t.Errorf("%q is missing in %s", s, out.Text)
		}
	}
}

func TestLineEndings(t *testing.T) {
	dir, cfg := repo(t)
	put(t, filepath.Join(dir, "CLAUDE.md"), "one\r\n```\r\n@no.md\r\n```\r\n@a.md\r\n")
	put(t, filepath.Join(dir, "a.md"), "two\rthree")
	put(t, filepath.Join(dir, ".claude/rules/r.md"), "---\r\npaths: x.go\r\n---\r\nrule")
	out := render(t, cfg)
	if strings.Contains(out.Text, "\r") || !strings.Contains(out.Text, "two\nthree") || len(out.Warnings) > 0 {
		t.Errorf("%q, %v", out.Text, out.Warnings)
	}
	want := []Rule{{Path: filepath.Join(dir, ".claude/rules/r.md"), Dir: dir, Globs: []string{"x.go"}}}
	if diff := cmp.Diff(want, out.Rules); diff != "" {
		t.Error(diff)
	}
}

func TestContext(t *testing.T) {
	day := time.Date(2026, 1, 1, 23, 59, 0, 0, time.UTC)
	start := Turn{Date: day, Branch: "main", Dir: "/w"}
	for _, tt := range []struct {
		name        string
		before, now Turn
		want        string
	}{
		{"nothing", start, start, ""},
		{"first turn", start, Turn{Date: day, Branch: "main", Dir: "/w", Mode: oh.ModePlan},
			"Permission mode: plan: read and search only; change nothing, and end with a plan for approval"},
		{"all", start, Turn{Date: day.Add(time.Minute), Branch: "x\ny", Dir: "/w/sub", Mode: "odd"},
			"Date: 2026-01-02\nDirectory: /w/sub\nGit branch: x y\nPermission mode: odd"},
		{"unknown now", start, Turn{}, ""},
	} {
		if got := Context(tt.before, tt.now); got != tt.want {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
	for _, m := range oh.Modes {
		if !strings.HasPrefix(modeLine(m), string(m)+": ") {
			t.Errorf("mode %s has no words", m)
		}
	}
}

func TestBranch(t *testing.T) {
	dir := resolve(t.TempDir())
	put(t, filepath.Join(dir, "main/.git/HEAD"), "ref: refs/heads/feature/x\n")
	put(t, filepath.Join(dir, "main/sub/f"), "")
	put(t, filepath.Join(dir, "main/.git/worktrees/wt/HEAD"), "ref: refs/heads/wt-branch\r\n")
	put(t, filepath.Join(dir, "wt/.git"), "gitdir: "+filepath.Join(dir, "main/.git/worktrees/wt")+"\n")
	put(t, filepath.Join(dir, "rel/.git"), "gitdir: ../main/.git/worktrees/wt")
	put(t, filepath.Join(dir, "detached/.git/HEAD"), "0123456789abcdef0123456789abcdef01234567\n")
	put(t, filepath.Join(dir, "tables/.git/HEAD"), "ref: refs/heads/.invalid\n")
	put(t, filepath.Join(dir, "odd/.git"), "no git file")
	put(t, filepath.Join(dir, "empty/.git/config"), "")
	for sub, want := range map[string]string{
		"main": "feature/x true", "main/sub": "feature/x true", "wt": "wt-branch true", "rel": "wt-branch true",
		"detached": "0123456789ab true", "tables": " true", "odd": " false", "empty": " false", ".": " false",
	} {
		branch, repo := Branch(filepath.Join(dir, sub))
		if got := fmt.Sprint(branch, " ", repo); got != want {
			t.Errorf("%s: %q, want %q", sub, got, want)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	dir, cfg := repo(b)
	cfg.Base = ""
	for _, p := range []string{"CLAUDE.md", "AGENTS.md", "docs/a.md", ".claude/rules/x.md", ".git/HEAD"} {
		path := filepath.Join(dir, p)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(p+"\n@docs/a.md\n"+strings.Repeat("Words of advice.\n", 300)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := Render(cfg); err != nil {
			b.Fatal(err)
		}
	}
}
