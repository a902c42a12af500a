package file

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// one is an edit as a call gives it.
func one(path, old, repl string) map[string]any {
	e := map[string]any{"old_str": old, "new_str": repl}
	if path != "" {
		e["path"] = path
	}
	return e
}

func TestMultiEdit(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\r\ntwo\r\n")
	b.put("b", "x\n")
	res, err := b.call("multi_edit", "path", "a", "edits", []any{
		one("", "one", "1\nI"), one("b", "x", "y"), one("", "I\ntwo", "2"), one("./a", "1", "eins"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, x := b.get("a"), b.get("b"); a != "eins\r\n2\r\n" || x != "y\n" {
		t.Errorf("a %q, b %q", a, x)
	}
	want := fmt.Sprintf("Edited %s: 3 replacements at line 1, 2, 1 (+2 -2 lines).\nEdited %s: 1 replacement at line 1 (+1 -1 lines).", b.path("a"), b.path("b"))
	if diff := cmp.Diff(want, res.Content.Text()); diff != "" {
		t.Error(diff)
	}
	shown := oh.Diff{Path: "2 files", Unified: "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-one\r\n-two\r\n+eins\r\n+2\r\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", Added: 3, Removed: 3}
	if diff := cmp.Diff(oh.Display(shown), res.Display); diff != "" {
		t.Error(diff)
	}
	b.ok("write_file", "path", "b", "content", "known\n") // its own edit counts as seen
	b.put("b", "z\nother\n")
	has(t, b.ok("multi_edit", "path", "b", "edits", []any{one("", "z", "y")}), "had changed since it was read")
	has(t, b.ok("multi_edit", "path", "b", "edits", []any{one("", "y", "z"), one("", "z", "y")}), "as it was")
	has(t, b.ok("multi_edit", "path", "b", "edits", []any{one("", "\tother", "\tmore")}), "edits[0] matched only when indentation")
}

func TestMultiEditAccess(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n")
	b.put("b", "x\n")
	act, err := b.prepare("multi_edit", "path", "a", "edits", []any{one("", "one", "1"), one("b", "x", "y"), one("./a", "1", "2")})
	if err != nil {
		t.Fatal(err)
	}
	want := oh.Access{Paths: []oh.PathUse{{Path: b.path("a"), Write: true}, {Path: b.path("b"), Write: true}}}
	if diff := cmp.Diff(want, act.Access); diff != "" {
		t.Error(diff)
	}
	if d, ok := act.Preview.(oh.Diff); !ok || d.Path != "2 files" || d.Added != 2 {
		t.Errorf("preview %#v", act.Preview)
	}
	if b.get("a") != "one\n" {
		t.Error("Prepare changed a file")
	}
}

func TestMultiEditAllOrNone(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\ntwo\n")
	b.put("b", "x\n")
	for _, c := range []struct {
		name  string
		path  string
		edits []any
		want  []string
	}{
		{"no match", "a", []any{one("", "one", "1"), one("b", "nope", "y")}, []string{"edits[1] in " + b.path("b"), "does not occur", "nothing was changed"}},
		{"gone by the edit before", "a", []any{one("", "one", "1"), one("", "one", "2")}, []string{"edits[1]", "as the edits before leave it"}},
		{"missing file", "a", []any{one("", "one", "1"), one("c", "x", "y")}, []string{"edits[1]", "does not exist", "write_file creates files"}},
		{"no path", "", []any{one("a", "one", "1"), one("", "x", "y")}, []string{"edits[1] has no path"}},
		{"empty", "a", []any{one("", "", "1")}, []string{"edits[0]: old_str is empty"}},
		{"folder", "a", []any{one("", "one", "1"), one(".", "x", "y")}, []string{"is a folder"}},
		{"none", "a", []any{}, []string{"edits"}},
	} {
		fields := []any{"edits", c.edits}
		if c.path != "" {
			fields = append(fields, "path", c.path)
		}
		has(t, b.fails("multi_edit", fields...), c.want...)
		if b.get("a") != "one\ntwo\n" || b.get("b") != "x\n" {
			t.Fatalf("%s: something was changed", c.name)
		}
	}
}

// tree is all files below the workspace with their modes and contents.
func (b *bench) tree() map[string]string {
	b.t.Helper()
	out := map[string]string{}
	err := filepath.Walk(b.dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(b.dir, path)
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			out[rel] = info.Mode().String() + " " + string(data)
		case info.Mode()&os.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			out[rel] = "-> " + to
		case rel != ".":
			out[rel] = "folder"
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// TestTakenBack lets the last step of a patch fail, and looks whether all that
// was done before is as it was.
func TestTakenBack(t *testing.T) {
	b := newBench(t)
	b.put("a", strings.Repeat("a\n", 10))
	b.put("gone", "gone\n")
	b.put("from", "from\n")
	if err := os.Chmod(b.path("gone"), 0o640); err != nil {
		t.Fatal(err)
	}
	before := b.tree()
	var places []*draft
	for _, name := range []string{"a", "gone", "from", "new/sub/file", "to/here"} {
		p, err := b.ws().Locate(b.dir, name)
		if err != nil {
			t.Fatal(err)
		}
		d := &draft{place: p}
		if data, info, err := b.ws().ReadFile(p, 0); err == nil {
			d.old, d.data, d.info = data, data, info
		}
		places = append(places, d)
	}
	edited, gone, from, added, to := places[0], places[1], places[2], places[3], places[4]
	edited.data = []byte("short")
	gone.gone = true
	added.data = []byte("new\n")
	to.from, to.data, from.to, from.gone = from, []byte("moved\n"), to, true
	j := journal{ws: b.ws()}
	for _, d := range []*draft{edited, added, to} {
		if err := j.put(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.remove(gone); err != nil {
		t.Fatal(err)
	}
	if cmp.Equal(before, b.tree()) {
		t.Fatal("nothing was done that could be taken back")
	}
	err := j.back(fmt.Errorf("the disk burns"))
	has(t, err.Error(), "the disk burns", "put back, so that nothing was changed")
	if diff := cmp.Diff(before, b.tree()); diff != "" {
		t.Errorf("not as it was (-want +got):\n%s", diff)
	}
}

// TestSideBySide runs calls on the same two files in either order at once:
// none waits for ever, and no change is lost.
func TestSideBySide(t *testing.T) {
	b := newBench(t)
	var lines strings.Builder
	for i := range 20 {
		fmt.Fprintf(&lines, "<%d>\n", i)
	}
	b.put("a", lines.String())
	b.put("b", lines.String())
	var wg sync.WaitGroup
	for i := range 20 {
		old, repl := fmt.Sprintf("<%d>", i), fmt.Sprintf("[%d]", i)
		fields := []any{"edits", []any{one("a", old, repl), one("b", old, repl)}}
		tool := "multi_edit"
		if i%2 == 1 {
			tool = "apply_patch"
			change := fmt.Sprintf("-%s\n+%s\n", old, repl)
			fields = []any{"patch", envelope("*** Update File: b\n" + change + "*** Update File: a\n" + change)}
		}
		act, err := b.prepare(tool, fields...)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if _, err := act.Run(t.Context(), func(oh.Event) {}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	want := strings.NewReplacer("<", "[", ">", "]").Replace(lines.String())
	if b.get("a") != want || b.get("b") != want {
		t.Errorf("a change was lost:\n%s\n%s", b.get("a"), b.get("b"))
	}
}
