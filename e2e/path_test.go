//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh/ohtest"
)

// TestDirectoryOutside (B55): a directory reached by a link is outside for all
// that follows.
func TestDirectoryOutside(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	outside := filepath.Join(filepath.Dir(b.work), "outside")
	must(t, os.MkdirAll(outside, 0o755))
	b.file(filepath.Join(outside, "old.txt"), "OUTSIDE-TEXT")
	must(t, os.Symlink(outside, filepath.Join(b.work, "out")))
	b.srv.Add(ohtest.Reply(named(bash(t, "cd out"), "a")),
		ohtest.Reply(ohtest.Call("b", "write_file", `{"path":"new.txt","content":"x"}`), ohtest.Call("c", "write_file", `{"path":"out/../new.txt","content":"x"}`),
			ohtest.Call("d", "edit_file", `{"path":"old.txt","old_str":"OUTSIDE","new_str":"x"}`), ohtest.Call("e", "edit_file", `{"path":"out/old.txt","old_str":"OUTSIDE","new_str":"x"}`)),
		ohtest.Reply(ohtest.Text("done")))
	b.oh("-p", "--permission-mode", "acceptEdits", "--allowed-tools", "bash", "go")
	b.done(3)
	if s := b.read(filepath.Join(outside, "old.txt")); s != "OUTSIDE-TEXT" || exists(filepath.Join(outside, "new.txt")) {
		t.Errorf("outside changed: %q", s)
	}
}

// TestPatternsOutside (B55): patterns do not lead out either.
func TestPatternsOutside(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	outside := filepath.Join(filepath.Dir(b.work), "outside")
	b.file(filepath.Join(outside, "secretname.txt"), "OUTSIDE-TEXT")
	must(t, os.Symlink(outside, filepath.Join(b.work, "out")))
	var parts []ohtest.Part
	inputs := []struct{ tool, in string }{
		{"glob", `{"pattern":"../**/*.txt"}`}, {"glob", `{"pattern":"` + outside + `/*"}`}, {"glob", `{"pattern":"out/*"}`}, {"glob", `{"pattern":"**/*.txt"}`},
		{"glob", `{"pattern":"*","path":"../outside"}`}, {"grep", `{"pattern":"OUTSIDE","path":".."}`}, {"grep", `{"pattern":"OUTSIDE","file_glob":"../**"}`},
		{"grep", `{"pattern":"OUTSIDE"}`}, {"grep", `{"pattern":"OUTSIDE","root":"../outside"}`}, {"glob", `{"pattern":"{..,.}/*/*.txt"}`}, {"glob", `{"pattern":"*.txt","root":"out"}`},
	}
	for i, in := range inputs {
		parts = append(parts, ohtest.Call(fmt.Sprintf("c%d", i), in.tool, in.in))
	}
	b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("done")))
	b.oh("-p", "go").wantCode(t, 6)
	req := b.done(2)[1]
	for i, in := range inputs {
		if a := resultOf(t, req, fmt.Sprintf("c%d", i)); strings.Contains(a.text, "secretname") || strings.Contains(a.text, "OUTSIDE-TEXT") {
			t.Errorf("%s %s: %+v", in.tool, in.in, a)
		}
	}
}

// TestOddPaths: paths that name no file get an error and leave nothing.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.file("f", "content")
	b.file("d/g", "x")
	before := len(tree(t, b.work))
	var parts []ohtest.Part
	paths := []string{"", " ", ".", "..", "/", "f/", "f/x", "d", "d/", "a\x00b", strings.Repeat("n", 300), "~"}
	for i, p := range paths {
		parts = append(parts, ohtest.Call(fmt.Sprintf("w%d", i), "write_file", input(t, map[string]any{"path": p, "content": "x"})),
			ohtest.Call(fmt.Sprintf("r%d", i), "read_file", input(t, map[string]any{"path": p})),
			ohtest.Call(fmt.Sprintf("e%d", i), "edit_file", input(t, map[string]any{"path": p, "old_str": "zz", "new_str": "x"})))
	}
	b.srv.Add(ohtest.Reply(parts...), ohtest.Reply(ohtest.Text("done")))
	b.auto("go")
	req := b.done(2)[1]
	for i, p := range paths {
		for _, kind := range []string{"w", "e", "r"} {
			if p == "f/" && kind == "r" {
				continue // may be taken for f
			}
			if a := resultOf(t, req, fmt.Sprintf("%s%d", kind, i)); !a.isErr {
				t.Errorf("%s of %.40q: %.200s", kind, p, a.text)
			}
		}
	}
	if b.read("f") != "content" {
		t.Error("a file was changed")
	}
	if after := tree(t, b.work); len(after) != before {
		t.Errorf("left: %v", after)
	}
}

// TestLargeFiles: files of any size cost little memory and time.
func TestLargeFiles(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(
		ohtest.Call("a", "read_file", `{"path":"sparse"}`), ohtest.Call("b", "read_file", `{"path":"lines","offset":2999999,"limit":2}`),
		ohtest.Call("c", "grep", `{"pattern":"needle"}`), ohtest.Call("d", "read_file", `{"path":"oneline"}`)), ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("ok")}, After: hold})
	must(t, os.Truncate(b.file("sparse", ""), 10<<30))
	b.file("lines", strings.Repeat("0123456789\n", 3_000_000)+"needle\n")
	b.file("oneline", strings.Repeat("x", 20<<20))
	begun := time.Now()
	p := b.start(call{args: []string{"-p", "go"}})
	b.requests(2)
	if kb, took := peak(t, p), time.Since(begun); kb > 150<<10 || took > 20*time.Second {
		t.Errorf("%d kB, %v", kb, took)
	}
	close(hold)
	p.wait().wantCode(t, 0)
	req := b.done(2)[1]
	resultOf(t, req, "a").want(t, true)
	resultOf(t, req, "b").want(t, false, "3000001", "needle")
	resultOf(t, req, "c").want(t, false, "lines:3000001:needle")
	if a := resultOf(t, req, "d"); len(a.text) > 60_000 {
		t.Errorf("%d bytes of one line", len(a.text))
	}
}
