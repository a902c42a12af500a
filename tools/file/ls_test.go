package file

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestLs(t *testing.T) {
	b := newBench(t)
	b.put("src/main.go", "package main\n")
	b.put("src/deep/er/x", "")
	b.put(".env", "a")
	b.put("build/out.o", "xx")
	b.put(".gitignore", "build/\n*.log\n")
	b.put("a.log", "1")
	b.put("b\nc", "12")
	b.put(".git/HEAD", "x")
	for name, to := range map[string]string{"ln": "src", "lf": "src/main.go", "lx": "none"} {
		if err := os.Symlink(to, b.path(name)); err != nil {
			t.Skip(err)
		}
	}
	want := b.dir + "/\n  .env  1\n  .git/\n  .gitignore  13\n  a.log  1  (ignored)\n  \"b\\nc\"  2\n  build/  (ignored)\n  lf -> src/main.go\n  ln -> src/\n  lx -> none  (leads nowhere)\n  src/"
	res, err := b.call("ls")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, res.Content.Text()); diff != "" {
		t.Error(diff)
	}
	tree := oh.Tree{Paths: []string{".env", ".git", ".gitignore", "a.log", "b\nc", "build", "lf", "ln", "lx", "src"}}
	if diff := cmp.Diff(oh.Display(tree), res.Display); diff != "" {
		t.Error(diff)
	}
	want = b.path("src") + "/\n  deep/\n    er/\n  main.go  13"
	if diff := cmp.Diff(want, b.ok("ls", "path", "src", "depth", 2)); diff != "" {
		t.Error(diff)
	}
	has(t, b.ok("ls", "path", "ln"), "main.go")
	if got := b.ok("ls", "path", "src/main.go"); got != b.path("src/main.go")+"  13" {
		t.Errorf("a file: %q", got)
	}
	has(t, b.fails("ls", "path", "sorc"), "does not exist", "src")
	if _, err := b.prepare("ls", "depth", 6); err == nil || !strings.Contains(err.Error(), "from 1 to 5") {
		t.Errorf("depth 6: %v", err)
	}
	act, err := b.prepare("ls")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: b.dir, Tree: true}}}, act.Access); diff != "" {
		t.Error(diff)
	}
}

func TestLsCaps(t *testing.T) {
	b := newBench(t)
	if err := os.Mkdir(b.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	has(t, b.ok("ls", "path", "empty"), "[The folder is empty.]")
	for i := range 2600 {
		b.put(fmt.Sprintf("a/%04d", i), "")
	}
	b.put("z", "")
	got := b.ok("ls", "depth", 3)
	has(t, got, "\n    0000  0\n", "\n    0496  0\n  empty/\n  z  0\n", "[500 of 2,603 entries shown")
	if strings.Contains(got, "0497") {
		t.Error("more than 500 entries")
	}
}
