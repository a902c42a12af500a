package file

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// envelope puts the first and the last line around a patch.
func envelope(body string) string { return "*** Begin Patch\n" + body + "*** End Patch\n" }

func TestPatchText(t *testing.T) {
	for _, c := range []struct{ name, data, body, want string }{
		{"one line", "a\nb\nc\n", "@@\n a\n-b\n+B\n c\n", "a\nB\nc\n"},
		{"no @@", "a\nb\nc\n", " a\n-b\n+B\n", "a\nB\nc\n"},
		{"two hunks", "a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-d\n+D\n", "A\nb\nc\nD\n"},
		{"anchor", "func a\n  x\nfunc b\n  x\n", "@@ func b\n-  x\n+  y\n", "func a\n  x\nfunc b\n  y\n"},
		{"anchor without its indentation", "class A\n  def f\n    x\nclass B\n  def f\n    x\n", "@@ class B\n@@ def f\n-    x\n+    y\n", "class A\n  def f\n    x\nclass B\n  def f\n    y\n"},
		{"anchor repeated as context", "a\nb\nc\n", "@@ a\n a\n-b\n+B\n", "a\nB\nc\n"},
		{"first after a sure anchor", "top\nx\nx\n", "@@ top\n-x\n+y\n", "top\ny\nx\n"},
		{"line numbers of a diff", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\n"},
		{"line numbers and a function", "f\nx\ng\nx\n", "@@ -3,2 +3,2 @@ g\n-x\n+y\n", "f\nx\ng\ny\n"},
		{"in order", "x\na\nx\n", "@@\n-a\n+A\n@@\n-x\n+y\n", "x\nA\ny\n"},
		{"out of order", "a\nb\nc\n", "@@\n-c\n+C\n@@\n-a\n+A\n", "A\nb\nC\n"},
		{"shared context", "a\nb\nc\nd\n", "@@\n-a\n+A\n b\n@@\n b\n-c\n+C\n d\n", "A\nb\nC\nd\n"},
		{"end of file", "x\na\nx\n", "@@\n-x\n+y\n*** End of File\n", "x\na\ny\n"},
		{"only additions, at the end", "a\n", "@@\n+b\n*** End of File\n", "a\nb\n"},
		{"only additions, below an anchor", "a\nb\n", "@@ a\n+x\n", "a\nx\nb\n"},
		{"only additions, no context", "a\n", "+b\n", "a\nb\n"},
		{"into an empty file", "", "+a\n+b\n", "a\nb\n"},
		{"blank context line without its blank", "a\n\nb\n", " a\n\n-b\n+B\n", "a\n\nB\n"},
		{"blank line after the hunk", "a\nb\nc\n", "-a\n+A\n\n@@\n-c\n+C\n\n", "A\nb\nC\n"},
		{"crlf", "a\r\nb\r\nc\r\n", " a\n-b\n+B\n+B2\n c\n", "a\r\nB\r\nB2\r\nc\r\n"},
		{"mixed endings stay", "a\r\nb\nc\r\n", " a\n-b\n+B\n c\n", "a\r\nB\nc\r\n"},
		{"open end stays", "a\nb", "-b\n+B\n", "a\nB"},
		{"open end, added after", "a\nb", " b\n+c\n", "a\nb\nc"},
		{"open end, crlf", "a\r\nb", " b\n+c\n", "a\r\nb\r\nc"},
		{"end opened", "a\nb\n", "-b\n+b\n\\ No newline at end of file\n", "a\nb"},
		{"end closed", "a\nb", "-b\n\\ No newline at end of file\n+b\n", "a\nb\n"},
		{"spaces at line ends", "a  \nb\t\nc\n", " a\n-b\n+B\n c\n", "a  \nB\nc\n"},
		{"quotes and dashes", "say “a” – ‘b’\nx\n", " say \"a\" - 'b'\n-x\n+y\n", "say “a” – ‘b’\ny\n"},
		{"exact before lax", "a \na\n", "-a\n+b\n", "a \nb\n"},
		{"bom", "\xef\xbb\xbfa\nb\n", "-a\n+A\n", "\xef\xbb\xbfA\nb\n"},
		{"bom in the patch", "\xef\xbb\xbfa\nb\n", " \ufeffa\n-b\n+B\n", "\xef\xbb\xbfa\nB\n"},
		{"utf16", "\xff\xfea\x00\n\x00b\x00\n\x00", "-b\n+é\n", "\xff\xfea\x00\n\x00\xe9\x00\n\x00"},
		{"cp1252", "caf\xe9\nx\n", " café\n-x\n+thé\n", "caf\xe9\nth\xe9\n"},
		{"delete lines", "a\nb\nc\n", " a\n-b\n c\n", "a\nc\n"},
		{"delete all", "a\nb", "-a\n-b\n", ""},
		{"blank lines", "\n\na\n", " \n \n-a\n+b\n", "\n\nb\n"},
	} {
		secs, err := parsePatch(envelope("*** Update File: f\n" + c.body))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		out, _, err := applyHunks([]byte(c.data), secs[0].hunks)
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, out, err, c.want)
		}
	}
}

func TestPatchTextRefuses(t *testing.T) {
	for _, c := range []struct {
		name, data, body string
		want             []string
	}{
		{"twice", "x\na\nx\n", "-x\n+y\n", []string{"hunk at line 3", "fits 2 places (lines 1, 3)", "@@"}},
		{"unsure anchor", "f\nx\nf\nx\n", "@@ f\n-x\n+y\n", []string{"fits 2 places (lines 2, 4)"}},
		{"no such lines", "alpha\nbeta\ngamma\n", " alpha\n-betta\n+b\n", []string{"do not occur", "     1\talpha", `Line 2 of the hunk's old lines is the first that differs: "betta"`}},
		{"no such anchor", "func main() {\nx\n", "@@ func man() {\n-x\n+y\n", []string{"func man()", "not a line", "func main() {"}},
		{"above its anchor", "x\nf\n", "@@ f\n-x\n+y\n", []string{"only above its @@ line", "line 1"}},
		{"vague addition", "f\nf\n", "@@ f\n+x\n", []string{"occurs more than once"}},
		{"twice the same line", "a\nb\n", "@@\n-a\n+A\n b\n@@\n-a\n+B\n b\n", []string{"two hunks change line 1"}},
		{"binary", "a\x00\n", "-a\n+b\n", []string{"binary"}},
		{"cp1252 lacks", "caf\xe9\nx\n", "-x\n+漢\n", []string{"Windows-1252", "漢"}},
	} {
		secs, err := parsePatch(envelope("*** Update File: f\n" + c.body))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		out, _, err := applyHunks([]byte(c.data), secs[0].hunks)
		if err == nil {
			t.Errorf("%s: gave %q", c.name, out)
			continue
		}
		has(t, err.Error(), c.want...)
	}
}

func TestParsePatch(t *testing.T) {
	want := []section{
		{op: addFile, path: "a b", line: 2, content: "x\n\ny\n"},
		{op: updateFile, path: "c", move: "d/e", line: 6, hunks: []hunk{{line: 8, anchors: []string{"f()"}, lines: []string{" x", "-y", "+z"}, end: true}}},
		{op: deleteFile, path: "g", line: 13},
		{op: updateFile, path: "h", move: "i", line: 14},
	}
	body := "*** Add File: a b\n+x\n+\n+y\n*** Update File: c\n*** Move to: d/e\n@@ f()\n x\n-y\n+z\n*** End of File\n*** Delete File: g\n*** Update File: h\n*** Move to: i\n"
	for name, c := range map[string]struct {
		text    string
		skipped int
	}{
		"plain":          {envelope(body), 0},
		"no last break":  {strings.TrimSuffix(envelope(body), "\n"), 0},
		"crlf":           {strings.ReplaceAll(envelope(body), "\n", "\r\n"), 0},
		"heredoc":        {"apply_patch <<'EOF'\n" + envelope(body) + "EOF\n", 1},
		"heredoc dash":   {"\napply_patch <<-\"PATCH\"\n" + envelope(body) + "PATCH", 2},
		"heredoc quoted": {"bash -lc \"apply_patch <<EOF\n" + envelope(body) + "EOF\"\n", 1},
		"fence":          {"```diff\n" + envelope(body) + "```\n", 1},
	} {
		got, err := parsePatch(c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range got {
			got[i].line -= c.skipped
			for k := range got[i].hunks {
				got[i].hunks[k].line -= c.skipped
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(section{}, hunk{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestParsePatchRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", []string{"*** Begin Patch"}},
		{"a diff", "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n", []string{"*** Begin Patch", "--- a"}},
		{"cut off", "*** Begin Patch\n*** Add File: a\n+x\n", []string{"*** End Patch", "cut off"}},
		{"only a beginning", "*** Begin Patch\n", []string{"*** End Patch"}},
		{"no file", envelope(""), []string{"names no file"}},
		{"stray line", envelope("hello\n"), []string{"line 2", "hello"}},
		{"no path", envelope("*** Add File:\n+x\n"), []string{"line 2", "no path"}},
		{"no new path", envelope("*** Update File: a\n*** Move to:\n-a\n+b\n"), []string{"line 3", "no path"}},
		{"no plus", envelope("*** Add File: a\nx\n"), []string{"line 3", "begins with +"}},
		{"no hunk", envelope("*** Update File: a\n"), []string{"line 2", "nothing is to be changed in a"}},
		{"no change", envelope("*** Update File: a\n x\n"), []string{"line 3", "changes nothing"}},
		{"bad line", envelope("*** Update File: a\n-x\nyy\n"), []string{"line 4", "yy"}},
		{"lone @@", envelope("*** Update File: a\n@@ f\n"), []string{"line 3", "no lines follow"}},
	} {
		got, err := parsePatch(c.text)
		if err == nil {
			t.Errorf("%s: gave %v", c.name, got)
			continue
		}
		has(t, err.Error(), c.want...)
	}
}

func FuzzParsePatch(f *testing.F) {
	f.Add(envelope("*** Update File: a\n@@ x\n a\n-b\n+c\n*** End of File\n"), "a\nb\n")
	f.Add(envelope("*** Add File: a\n+x\n"), "")
	f.Add("apply_patch <<'EOF'\n"+envelope("*** Update File: a\n*** Move to: b\n-é\n+ü\n")+"EOF", "\xe9\r\n")
	f.Add(envelope("*** Update File: a\n-b\n\\ No newline at end of file\n+b\n"), "b")
	f.Fuzz(func(t *testing.T, patch, data string) {
		secs, err := parsePatch(patch)
		if err != nil {
			return
		}
		for _, s := range secs {
			if s.path == "" || s.line < 2 {
				t.Fatalf("section without a path or line: %+v", s)
			}
			for _, h := range s.hunks {
				if len(h.lines) == 0 {
					t.Fatal("a hunk without lines")
				}
			}
			_, _, _ = applyHunks([]byte(data), s.hunks)
		}
	})
}

func TestApplyPatch(t *testing.T) {
	b := newBench(t)
	b.put("a.txt", "one\ntwo\nthree\n")
	b.put("gone.txt", "x\n")
	script := b.put("run.sh", "#!/bin/sh\necho old\n")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	text := envelope("*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: new/b.txt\n+hello\n*** Delete File: gone.txt\n*** Update File: run.sh\n*** Move to: bin/run\n-echo old\n+echo new\n")
	act, err := b.prepare("apply_patch", "patch", text)
	if err != nil {
		t.Fatal(err)
	}
	var paths []oh.PathUse
	for _, name := range []string{"a.txt", "new/b.txt", "gone.txt", "run.sh", "bin/run"} {
		paths = append(paths, oh.PathUse{Path: b.path(name), Write: true})
	}
	if diff := cmp.Diff(oh.Access{Paths: paths}, act.Access); diff != "" {
		t.Error(diff)
	}
	res, err := b.run(act)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("Updated %s (+1 -1 lines).\nAdded %s (1 line).\nDeleted %s (1 line).\nMoved %s to %s (+1 -1 lines).",
		b.path("a.txt"), b.path("new/b.txt"), b.path("gone.txt"), b.path("run.sh"), b.path("bin/run"))
	if diff := cmp.Diff(want, res.Content.Text()); diff != "" {
		t.Error(diff)
	}
	shown := oh.Diff{Path: "4 files", Added: 3, Removed: 3, Unified: "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n" +
		"--- /dev/null\n+++ new/b.txt\n@@ -0,0 +1 @@\n+hello\n--- gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"--- run.sh\n+++ bin/run\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo old\n+echo new\n"}
	if diff := cmp.Diff(oh.Display(shown), res.Display); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(oh.Display(shown), act.Preview); diff != "" {
		t.Errorf("preview: %s", diff)
	}
	tree := map[string]string{
		"a.txt": "-rw-r--r-- one\n2\nthree\n", "new": "folder", "new/b.txt": "-rw-r--r-- hello\n",
		"bin": "folder", "bin/run": "-rwxr-xr-x #!/bin/sh\necho new\n",
	}
	if diff := cmp.Diff(tree, b.tree()); diff != "" {
		t.Error(diff)
	}
	b.ok("write_file", "path", "bin/run", "content", "known\n") // what the patch wrote is known
}

func TestApplyPatchAllOrNone(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\n")
	b.put("b", "two\n")
	if err := os.Symlink("b", b.path("ln")); err != nil {
		t.Skip(err)
	}
	before := b.tree()
	good := "*** Update File: a\n-one\n+1\n"
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"no match", good + "*** Update File: b\n-nope\n+x\n", []string{b.path("b"), "do not occur", "nothing was changed"}},
		{"missing", good + "*** Update File: c\n-x\n+y\n", []string{"line 5", "does not exist"}},
		{"delete missing", good + "*** Delete File: c\n", []string{"does not exist"}},
		{"add unread", good + "*** Add File: b\n+x\n", []string{"has not been read", "*** Update File:"}},
		{"add twice", good + "*** Add File: c\n+x\n*** Add File: c\n+y\n", []string{"further up"}},
		{"move onto", good + "*** Update File: b\n*** Move to: a\n-two\n+2\n", []string{"exists already"}},
		{"move a link", good + "*** Update File: ln\n*** Move to: c\n-two\n+2\n", []string{"is a link to " + b.path("b")}},
		{"after a move", "*** Update File: a\n*** Move to: c\n-one\n+1\n*** Update File: a\n-1\n+2\n", []string{"moved away"}},
		{"after a delete", "*** Delete File: a\n*** Update File: a\n-1\n+2\n", []string{"was deleted further up"}},
		{"folder", good + "*** Delete File: .\n", []string{"is a folder"}},
		{"malformed", good + "nonsense\n", []string{"line 5"}},
	} {
		has(t, b.fails("apply_patch", "patch", envelope(c.body)), c.want...)
		if diff := cmp.Diff(before, b.tree()); diff != "" {
			t.Fatalf("%s changed something:\n%s", c.name, diff)
		}
	}
	b.ok("apply_patch", "patch", envelope("*** Delete File: ln\n"))
	if _, err := os.Lstat(b.path("ln")); err == nil || b.get("b") != "two\n" {
		t.Error("deleting a link did not delete the link alone")
	}
	has(t, b.ok("apply_patch", "patch", envelope("*** Update File: a\n-one\n+1\n*** Update File: a\n-1\n+uno\n")), "Updated")
	b.ok("apply_patch", "patch", envelope("*** Delete File: b\n*** Add File: b\n+new\n"))
	b.ok("apply_patch", "patch", envelope("*** Update File: b\n*** Move to: sub/b\n"))
	if got := b.get("a") + b.get("sub/b"); got != "uno\nnew\n" {
		t.Errorf("content %q", got)
	}
}
