package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/workspace"
)

type bench struct {
	t     *testing.T
	dir   string
	cwd   string
	tools map[string]oh.Tool
}

func newBench(t *testing.T, files map[string]string) *bench {
	t.Helper()
	home := t.TempDir()
	for _, k := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
		t.Setenv(k, filepath.Join(home, k))
	}
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.New(workspace.Config{Root: dir, Secret: func(p string) bool { return strings.HasSuffix(p, ".pem") }})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, cwd: dir, tools: map[string]oh.Tool{}}
	for _, tool := range Tools(ws) {
		b.tools[tool.Spec().Name] = tool
	}
	for name, content := range files {
		b.put(name, content)
	}
	return b
}

func (b *bench) put(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) prepare(tool string, fields ...any) (oh.Action, error) {
	b.t.Helper()
	in := map[string]any{}
	for i := 0; i < len(fields); i += 2 {
		in[fields[i].(string)] = fields[i+1]
	}
	raw, err := json.Marshal(in)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.tools[tool].Prepare(b.t.Context(), &oh.Call{ID: "1", Name: tool, Input: raw, Env: &oh.Env{Dir: b.cwd}})
}

func (b *bench) call(tool string, fields ...any) (string, error) {
	b.t.Helper()
	act, err := b.prepare(tool, fields...)
	if err != nil {
		return "", err
	}
	res, err := act.Run(b.t.Context(), func(oh.Event) {})
	return res.Content.Text(), err
}

// is checks the whole text of a call that must succeed.
func (b *bench) is(want string, tool string, fields ...any) {
	b.t.Helper()
	got, err := b.call(tool, fields...)
	if err != nil {
		b.t.Errorf("%s %v: %v", tool, fields, err)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.t.Errorf("%s %v (-want +got):\n%s", tool, fields, diff)
	}
}

func (b *bench) fails(part string, tool string, fields ...any) {
	b.t.Helper()
	got, err := b.call(tool, fields...)
	if err == nil || !strings.Contains(err.Error(), part) {
		b.t.Errorf("%s %v: %v, want %q; text %q", tool, fields, err, part, got)
	}
}

func tree() map[string]string {
	return map[string]string{
		".git/HEAD":         "needle",
		".gitignore":        "dist/\n*.log\n",
		"a.go":              "package a\n// needle one\nfunc A() {}\n",
		"sub/b.go":          "package b\n\n// Needle two\n// needle three\n",
		"sub/deep/c.py":     "x = 'needle'\r\ny = 1\r\n",
		".github/w.yml":     "needle: yes\n",
		"dist/out.js":       "needle\n",
		"sub/trace.log":     "needle\n",
		"key.pem":           "needle\n",
		"bin":               "needle\x00\n",
		"wide.txt":          "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00 \x00\xac\x20",
		"old.txt":           "caf\xe9 needle\n",
		"sub/name with .md": "none\n",
	}
}

func TestGlob(t *testing.T) {
	b := newBench(t, tree())
	const left = "\n[Not searched: 2 by ignore files (dist, sub/trace.log); 1 protected.]"
	b.is("a.go\nsub/b.go"+left, "glob", "pattern", "**/*.go")
	b.is("a.go\nsub/b.go\nsub/deep/c.py"+left, "glob", "path", "**/*.{go,py}")
	b.is("a.go\n[Not searched: 1 by ignore files (dist); 1 protected.]", "glob", "pattern", "*.go")
	b.is("sub/b.go\n[Not searched: 1 by ignore files (trace.log).]", "glob", "pattern", "*.go", "path", "sub")
	b.is("sub/b.go\n[Not searched: 1 by ignore files (trace.log).]", "glob", "pattern", "sub/*.go")
	b.is(".github/w.yml"+left, "glob", "pattern", "**/*.yml")
	b.is("dist/out.js", "glob", "pattern", "dist/*")
	b.is("dist/out.js", "glob", "pattern", "dist/out.js")
	b.is("dist/out.js\n[Not searched: 1 by ignore files (sub/trace.log); 1 protected.]", "glob", "pattern", "**/dist/*.js")
	b.is("sub/trace.log\n[Not searched: 1 by ignore files (dist); 1 protected.]", "glob", "pattern", "**/trace.log")
	b.is("No files match.\n[Not searched: 2 by ignore files (dist, sub/trace.log); 1 protected.]", "glob", "pattern", "**/*.rs")
	b.is("No files match: the folder "+filepath.Join(b.dir, "none")+" does not exist.", "glob", "pattern", "none/*.rs")
	b.is("sub/b.go\nsub/deep/c.py\n[The first 2 of 3 files; narrow the pattern or raise limit. Not searched: 1 by ignore files (trace.log).]", "glob", "pattern", "sub/**", "limit", 2)
	b.is("a.go\n[Not searched: 1 by ignore files (dist); 1 protected.]", "glob", "pattern", "./*.go")
	b.cwd = filepath.Join(b.dir, "sub")
	b.is("b.go\n[Not searched: 1 by ignore files (trace.log).]", "glob", "pattern", filepath.ToSlash(b.dir)+"/sub/*.go")
	b.is(filepath.ToSlash(b.dir)+"/a.go\n[Not searched: 1 by ignore files (dist); 1 protected.]", "glob", "pattern", "../*.go")
	b.fails("does not exist", "glob", "pattern", "*", "root", "none")
	b.fails("not a folder", "glob", "pattern", "*", "root", "b.go")
	b.fails("pattern is required", "glob")
	b.fails("too many alternatives", "glob", "pattern", strings.Repeat("{a,b,c}", 10))
	b.fails("too many alternatives", "grep", "pattern", "x", "file_glob", strings.Repeat("{a,{b,c}}", 10))
	b.fails("is not valid", "glob", "pattern", "a[")
	b.fails("from 1 to 5000", "glob", "pattern", "a", "limit", 0)
}

func TestGrep(t *testing.T) {
	b := newBench(t, tree())
	const left = "[Not searched: 2 by ignore files (dist, sub/trace.log); 1 protected. Skipped: 1 binary file.]"
	b.is(".github/w.yml:1:needle: yes\na.go:2:// needle one\nold.txt:1:café needle\nsub/b.go:4:// needle three\nsub/deep/c.py:1:x = 'needle'\nwide.txt:1:needle €\n"+left,
		"grep", "pattern", "needle")
	b.is("a.go:2:// needle one\nsub/b.go:3:// Needle two\nsub/b.go:4:// needle three\n[Not searched: 2 by ignore files (dist, sub/trace.log); 1 protected.]",
		"grep", "pattern", "needle", "type", "go", "case_sensitive", false)
	b.is("sub/b.go:3:// Needle two\nsub/b.go:4:// needle three", "grep", "pattern", "^// [nN]ee.*(two|three)$", "root", "sub/b.go")
	b.is("sub/deep/c.py:1:x = 'needle'", "grep", "pattern", "'$", "path", "sub/deep")
	b.is("a.go\nsub/b.go\n[Not searched: 2 by ignore files (dist, sub/trace.log); 1 protected.]", "grep", "pattern", "needle", "output_mode", "files_with_matches", "file_glob", "*.go")
	b.is("a.go:1\nsub/b.go:2\n[Not searched: 2 by ignore files (dist, sub/trace.log); 1 protected.]", "grep", "pattern", "(?i)needle", "output_mode", "count", "file_glob", "**/*.go")
	b.cwd = filepath.Join(b.dir, "sub")
	b.is("b.go-1-package b\nb.go-2-\nb.go:3:// Needle two\nb.go:4:// needle three\n[Not searched: 1 by ignore files (trace.log).]",
		"grep", "pattern", "(?i)needle", "root", ".", "context", 2, "file_glob", "!{deep/**,*.md}")
	b.cwd = b.dir
	b.is("No matches (1 file searched).", "grep", "pattern", "absent", "root", "a.go")
	b.is("No matches (0 files searched).\n[Skipped: 1 binary file.]", "grep", "pattern", "needle", "root", "bin")
	b.is("sub/b.go:1:package b\nsub/b.go:2:\nsub/b.go:3:// Needle two", "grep", "pattern", `b\n\n// N|\n//`, "root", "sub/b.go", "multiline", true)
}

func TestGrepPages(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("f%02d", i)] = strings.Repeat("hit\nno\n", 10)
	}
	b := newBench(t, files)
	var all []string
	for offset := 0; offset < 300; offset += 7 {
		got, err := b.call("grep", "pattern", "hit", "limit", 7, "offset", offset)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(got, "\n")
		if last := lines[len(lines)-1]; strings.HasPrefix(last, "[") {
			if want := fmt.Sprintf("go on with offset=%d.]", offset+7); !strings.HasSuffix(last, want) {
				t.Errorf("offset %d: %s", offset, last)
			}
			lines = lines[:len(lines)-1]
		} else if offset+7 < 300 {
			t.Errorf("offset %d: more is not said", offset)
		}
		all = append(all, lines...)
	}
	var want []string
	for i := range 30 {
		for k := range 10 {
			want = append(want, fmt.Sprintf("f%02d:%d:hit", i, 2*k+1))
		}
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
	b.is("No more results at offset 300.", "grep", "pattern", "hit", "offset", 300)
	b.is("f00\nf01\n[Results 1-2 of 30; there are more: narrow the search, or go on with offset=2.]", "grep", "pattern", "hit", "limit", 2, "output_mode", "files_with_matches")
	b.is("f29:10", "grep", "pattern", "hit", "limit", 2, "output_mode", "count", "offset", 29)
}

func TestGrepContext(t *testing.T) {
	var text strings.Builder
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&text, "l%d\n", i)
	}
	b := newBench(t, map[string]string{"f": text.String()})
	b.is("f-1-l1\nf:2:l2\nf-3-l3\n--\nf-11-l11\nf:12:l12\nf-13-l13\n--\nf-19-l19\nf:20:l20", "grep", "pattern", "l2$|l12|l20", "context", 1)
	b.is("f:2:l2\nf-3-l3\nf-4-l4\nf:5:l5\nf-6-l6\nf-7-l7", "grep", "pattern", "^l[25]$", "after", 2)
	b.is("f-11-l11\nf:12:l12\n[Results 2-2 of 3; there are more: narrow the search, or go on with offset=2.]", "grep", "pattern", "l2$|l12|l20", "before", 1, "offset", 1, "limit", 1)
}

// TestGrepLongLines is B48: the match lies at the end of a line of 200 kB.
func TestGrepLongLines(t *testing.T) {
	b := newBench(t, map[string]string{"one": strings.Repeat("ab ", 70_000) + "needle at the end", "two": strings.Repeat("x", 5<<20) + "needle" + strings.Repeat("y", 6<<20) + "\nsecond needle\n"})
	for name, want := range map[string][]string{"one": {"one:1:(209,", "bytes) …", "needle at the end"}, "two": {"two:1:", "needle", "two:2:second needle"}} {
		got, err := b.call("grep", "pattern", "needle", "root", name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q is missing in %q", name, w, got)
			}
		}
		if len(got) > 2*maxShown+200 {
			t.Errorf("%s: %d bytes of output", name, len(got))
		}
	}
	b.is("two:2", "grep", "pattern", "needle", "root", "two", "output_mode", "count")
}

// TestGrepWholeCharacters lets the cut of a line fall at each byte of a
// character.
func TestGrepWholeCharacters(t *testing.T) {
	b := newBench(t, nil)
	for shift := range 5 {
		b.put("f", strings.Repeat("x", shift)+strings.Repeat("\U0001F600", 400)+"needle"+strings.Repeat("\U0001F600", 800)+"\n")
		got, err := b.call("grep", "pattern", "needle")
		if err != nil || !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) || !strings.Contains(got, "needle") {
			t.Errorf("shift %d: %v %q", shift, err, got)
		}
	}
}

func TestGrepRefuses(t *testing.T) {
	b := newBench(t, tree())
	b.fails("missing closing )", "grep", "pattern", "(")
	b.fails("no lookahead or lookbehind", "grep", "pattern", `(?<=a)b`)
	b.fails("no backreferences", "grep", "pattern", `(a)\1`)
	b.fails("only multiline finds", "grep", "pattern", "a\nb")
	b.fails("does not exist", "grep", "pattern", "a", "root", "none")
	b.fails("type \"cobol\" is not known", "grep", "pattern", "a", "type", "cobol")
	b.fails("file_glob \"{a\" is not valid", "grep", "pattern", "a", "file_glob", "{a")
	b.fails("pattern is empty", "grep", "pattern", "")
	b.fails("is protected", "grep", "pattern", "a", "root", "key.pem")
	b.is("No matches (1 file searched).", "grep", "pattern", "(", "literal", true, "root", "old.txt")
}

func TestGrepStops(t *testing.T) {
	b := newBench(t, tree())
	act, err := b.prepare("grep", "pattern", "needle")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := act.Run(ctx, func(oh.Event) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	g := &grepping{dir: b.dir, root: workspace.Place{Path: b.dir, Real: b.dir}, in: grepInput{Mode: modeContent, Limit: 5, TimeoutSec: 1}}
	if got := g.result(workspace.Skipped{}, true).Content.Text(); !strings.Contains(got, "Stopped after 1 second; the results are not complete") {
		t.Errorf("late: %q", got)
	}
	expired, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if _, err := g.tree(expired); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a walk past its time: %v", err)
	}
}

func TestAccess(t *testing.T) {
	b := newBench(t, tree())
	for _, c := range []struct {
		fields []any
		path   string
	}{
		{[]any{"glob", "pattern", "sub/*.go"}, "sub"},
		{[]any{"glob", "pattern", "*.go"}, "."},
		{[]any{"grep", "pattern", "x"}, "."},
		{[]any{"grep", "pattern", "x", "path", "a.go"}, "a.go"},
	} {
		act, err := b.prepare(c.fields[0].(string), c.fields[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		want := oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: filepath.Join(b.dir, c.path), Tree: true}}}
		if diff := cmp.Diff(want, act.Access); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.fields, diff)
		}
	}
}

func TestSpecs(t *testing.T) {
	total := 0
	for _, tool := range Tools(nil) {
		s := tool.Spec()
		for _, v := range ohtest.CheckSpec(s) {
			t.Errorf("%s: %v", s.Name, v)
		}
		t.Logf("%s: %d + %d bytes", s.Name, len(s.Description), len(s.Schema))
		total += len(s.Description) + len(s.Schema)
	}
	if total > 2400 {
		t.Errorf("the tools take %d bytes", total)
	}
}

func TestOutByLink(t *testing.T) {
	b := newBench(t, tree())
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("needle outside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.dir, "sub", "out")); err != nil {
		t.Skip(err)
	}
	got, err := b.call("grep", "pattern", "needle outside")
	if err != nil || !strings.Contains(got, "No matches") || !strings.Contains(got, "1 link.") {
		t.Errorf("a link was followed: %q, %v", got, err)
	}
	act, err := b.prepare("grep", "pattern", "needle", "root", "sub/out")
	if err != nil {
		t.Fatal(err)
	}
	if got := act.Access.Paths[0].Path; got != filepath.Join(b.dir, "sub", "out") {
		t.Errorf("declared %q", got)
	}
	b.is("sub/out/f:1:needle outside", "grep", "pattern", "needle", "root", "sub/out")
}

// TestLikeGrep compares with the plainest search there is.
func TestLikeGrep(t *testing.T) {
	var text strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&text, "%d line %x foo%dbar\n", i, i*7919, i%97)
	}
	b := newBench(t, map[string]string{"big": text.String()})
	for _, pat := range []string{"foo13bar", "FOO13BAR", "line f[0-9]+ ", "(foo1bar|foo2bar)$", "[x-z]", "^119.*9", `\b77\b`, "line"} {
		for _, exact := range []bool{true, false} {
			m, err := newMatcher(pat, false, !exact, false)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			n := 0
			for line := range strings.Lines(text.String()) {
				n++
				if line = strings.TrimSuffix(line, "\n"); m.re.MatchString(line) && len(want) < 2000 {
					want = append(want, fmt.Sprintf("big:%d:%s", n, line))
				}
			}
			got, err := b.call("grep", "pattern", pat, "limit", 2000, "case_sensitive", exact)
			if err != nil {
				t.Fatal(err)
			}
			lines := slices.DeleteFunc(strings.Split(got, "\n"), func(s string) bool { return !strings.HasPrefix(s, "big:") })
			if len(want) == 0 {
				want = nil
			}
			if len(lines) == 0 {
				lines = nil
			}
			if len(got) > maxChars-200 {
				want = want[:len(lines)]
			}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("%q, exact %v (-want +got):\n%.2000s", pat, exact, diff)
			}
		}
	}
}

// TestLikeRipgrep compares counts with rg where it is installed.
func TestLikeRipgrep(t *testing.T) {
	if _, err := exec.LookPath("rg"); err != nil {
		t.Skip("rg is not installed")
	}
	b := newBench(t, tree())
	for _, pat := range []string{"needle", "(?i)NEEDLE", "^//", "e+d"} {
		cmd := exec.Command("rg", "--no-config", "--hidden", "--sort", "path", "--no-heading", "-n", "--color", "never", "-g", "!.git", "-g", "!*.pem", "-g", "!old.txt", "-g", "!bin", "-e", pat, ".")
		cmd.Dir = b.dir
		out, _ := cmd.Output()
		want := strings.ReplaceAll("\n"+strings.ReplaceAll(string(out), "\r", ""), "\n./", "\n")
		got, err := b.call("grep", "pattern", pat, "file_glob", "!{old.txt,bin}")
		if err != nil {
			t.Fatal(err)
		}
		if i := strings.LastIndex(got, "\n["); i >= 0 {
			got = got[:i+1]
		}
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
			t.Errorf("%q (-rg +grep):\n%s", pat, diff)
		}
	}
}

func FuzzGlob(f *testing.F) {
	f.Add("src/**/*.{go,js}", "src/a/b.go")
	f.Add("[!a]/\\*", "b/*")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		base, rest, err := splitGlob(pattern)
		if err != nil || strings.ContainsAny(base, `*?`) && !strings.Contains(pattern, `\`) {
			if err == nil {
				t.Errorf("%q: wildcards in the folder %q", pattern, base)
			}
			return
		}
		if rest == "" {
			t.Errorf("%q: nothing left", pattern)
		}
		fl, err := newFilter("", pattern)
		if err == nil {
			fl.wants(path)
		}
	})
}

func FuzzMatcher(f *testing.F) {
	f.Add("fo+(bar|baz)?", "x\nfoo\r\nFOOBAR\n", true)
	f.Add(`(?i)kelvin|ß`, "KELVIN\n", false)
	f.Add(`a\r$`, "a\r\nb\r\n", false)
	f.Add(`a{2,}b|c\w+d`, "aab\ncxd", false)
	f.Fuzz(func(t *testing.T, pattern, data string, fold bool) {
		if len(pattern) > 200 {
			return
		}
		m, err := newMatcher(pattern, false, fold, false)
		if err != nil {
			return
		}
		var want, got []string
		for _, line := range strings.Split(data, "\n") {
			if m.re.Match(m.trim([]byte(line))) {
				want = append(want, line)
			}
		}
		if strings.HasSuffix(data, "\n") || data == "" {
			if n := len(want); n > 0 && want[n-1] == "" {
				want = want[:n-1] // what follows the last line feed is no line
			}
		}
		loc, err := m.index(t.Context(), []byte(data))
		if diff := cmp.Diff(m.re.FindStringIndex(data), loc); diff != "" || err != nil {
			t.Errorf("first %q in %q: %v (-want +got):\n%s", pattern, data, err, diff)
		}
		fd := m.lines(t.Context(), []byte(data))
		for at := 0; ; {
			start, end, ok := fd.find(at)
			if !ok {
				break
			}
			got = append(got, data[start:end])
			at = end + 1
		}
		if len(want)+len(got) == 0 {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q in %q (-want +got):\n%s", pattern, data, diff)
		}
	})
}
