package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

func TestApply(t *testing.T) {
	for _, c := range []struct {
		name, data string
		e          edit
		want       string
	}{
		{"plain", "a b c\n", edit{"b", "x", false}, "a x c\n"},
		{"delete", "a\nb\nc\n", edit{"b\n", "", false}, "a\nc\n"},
		{"no final newline", "a\nb", edit{"b", "c", false}, "a\nc"},
		{"all", "a a a\na", edit{"a", "aa", true}, "aa aa aa\naa"},
		{"all apart", "aaaa", edit{"aa", "b", true}, "bb"},
		{"dollars", "x\n", edit{"x", "$& $$ $1 $` \\1 \\g<0> %s ${x}", false}, "$& $$ $1 $` \\1 \\g<0> %s ${x}\n"},
		{"dollars all", "x x\n", edit{"x", "$&$1\\1%s", true}, "$&$1\\1%s $&$1\\1%s\n"},
		{"crlf, several lines", "a\r\nb\r\nc\r\n", edit{"a\nb\n", "a\nx\ny\n", false}, "a\r\nx\r\ny\r\nc\r\n"},
		{"crlf in the call, lf in the file", "a\nb\n", edit{"a\r\nb", "a\r\nc", false}, "a\nc\n"},
		{"mixed, context kept", "a\r\nb\nc\r\nd\n", edit{"a\nb\nc\nd\n", "a\nB\nc\nd\n", false}, "a\r\nB\nc\r\nd\n"},
		{"mixed, insert takes the line before", "a\r\nb\n", edit{"a\nb\n", "a\nn\nb\n", false}, "a\r\nn\r\nb\n"},
		{"crlf, split one line", "one two\r\n", edit{"one two", "one\ntwo", false}, "one\r\ntwo\r\n"},
		{"crlf, join lines", "a\r\nb\r\n", edit{"a\nb", "ab", false}, "ab\r\n"},
		{"crlf, match begins with the break", "a\r\nb\r\n", edit{"\nb", "", false}, "a\r\n"},
		{"first line of a crlf file", "a\r\nb\r\n", edit{"a", "n\na", false}, "n\r\na\r\nb\r\n"},
		{"lone cr", "a\rb\r\n", edit{"a\rb", "c", false}, "c\r\n"},
		{"bom", "\xef\xbb\xbfa\n", edit{"a", "b", false}, "\xef\xbb\xbfb\n"},
		{"bom in the call", "\xef\xbb\xbfa\n", edit{"\ufeffa", "\ufeffb", false}, "\xef\xbb\xbfb\n"},
		{"stray byte elsewhere", "caf\xe9 é\nx\n", edit{"x", "é", false}, "caf\xe9 é\né\n"},
		{"cp1252", "caf\xe9 \x99\nx\n", edit{"x", "é€", false}, "caf\xe9 \x99\n\xe9\x80\n"},
		{"cp1252 match", "caf\xe9 \x99\n", edit{"café ™", "thé", false}, "th\xe9\n"},
		{"utf16", "\xff\xfea\x00\r\x00\n\x00b\x00", edit{"a\nb", "é\nb", false}, "\xff\xfe\xe9\x00\r\x00\n\x00b\x00"},
		{"utf16be", "\xfe\xff\x00a", edit{"a", "\U0001F600", false}, "\xfe\xff\xd8\x3d\xde\x00"},
		{"spaces at line ends", "if x {  \n\ty()\t\n}\n", edit{"if x {\n\ty()\n}", "if x {\n\tz()\n}", false}, "if x {  \n\tz()\n}\n"},
		{"indentation", "\t\tif x {\n\t\t\ty()\n\t\t}\n", edit{"if x {\n\ty()\n}\n", "if x {\n\ty()\n\tz()\n}\n", false}, "\t\tif x {\n\t\t\ty()\n\t\t\tz()\n\t\t}\n"},
		{"typographic quotes", "say “a” – x\nb\n", edit{"say \"a\" - x\nb", "say \"a\" - x\nc", false}, "say “a” – x\nc\n"},
		{"loose, added after an open end", "a \nb", edit{"a\nb", "a\nb\nc", false}, "a \nb\nc"},
		{"less indentation, last line open", "a\nb", edit{"  a\n  b", "  a\n  c\n  d", false}, "a\nc\nd"},
	} {
		out, err := c.e.apply([]byte(c.data))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := string(out.data); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestApplyRefuses(t *testing.T) {
	block := "func a() {\n\tone()\n\ttwo()\n}\n"
	for _, c := range []struct {
		name, data string
		e          edit
		want       []string
	}{
		{"empty", "a", edit{"", "x", false}, []string{"old_str is empty"}},
		{"same", "a", edit{"a", "a", false}, []string{"are the same"}},
		{"only endings", "a\r\n", edit{"a\n", "a\r\n", false}, []string{"only in line endings"}},
		{"twice", "x\na\nb\na\n", edit{"a", "c", false}, []string{"occurs 2 times (lines 2, 4)", "replace_all"}},
		{"overlapping", "aaa", edit{"aa", "c", false}, []string{"occurs 2 times"}},
		{"crlf twins", "a\r\nb\n\na\nb\n", edit{"a\nb\n", "c\n", false}, []string{"occurs 2 times (lines 1, 4)"}},
		{"wrong middle", block, edit{"func a() {\n\tone()\n\tthree()\n}\n", "x", false},
			[]string{"does not occur", "     3\t\ttwo()", `Line 3 of old_str is the first that differs: "\tthree()"`}},
		{"loose twice", "  a()\n\ta()\n", edit{"    a()", "b()", false}, []string{"indentation is ignored", "occurs 2 times (lines 1, 2)"}},
		{"not uniform", "  a\n   b\n", edit{"a\nb\n", "c\n", false}, []string{"does not occur"}},
		{"numbers", "a\nb\n", edit{"     1\ta\n     2\tb", "c", false}, []string{"numbers that read_file adds"}},
		{"white space around", "foo(bar)\n", edit{" foo(bar) \n\n", "c", false}, []string{"Without the white space"}},
		{"escaped break", "a\nb\n", edit{`a\nb`, "c", false}, []string{"backslash and n"}},
		{"similar", "alpha\nreturn result, nil\n", edit{"return results, nil", "c", false}, []string{"     2\treturn result, nil"}},
		{"all loose", " a \n", edit{"a  ", "b", true}, []string{"does not occur"}},
		{"binary", "a\x00b", edit{"a", "b", false}, []string{"binary"}},
		{"cp1252 lacks", "caf\xe9\nx\n", edit{"x", "漢", false}, []string{"Windows-1252", "new_str"}},
		{"utf16 broken", "\xff\xfea\x00\x00\xd8", edit{"a", "b", false}, []string{"broken characters"}},
		{"empty file", "", edit{"a", "b", false}, []string{"does not occur"}},
	} {
		out, err := c.e.apply([]byte(c.data))
		if err == nil {
			t.Errorf("%s: gave %q", c.name, out.data)
			continue
		}
		has(t, err.Error(), c.want...)
	}
}

// TestApplyKeepsBytes edits random files of random bytes and endings: what is
// before and after the match stays, byte for byte.
func TestApplyKeepsBytes(t *testing.T) {
	words := []string{"foo", "bar", "é", "漢字", "\xe9", "\x99", "  x", "\tif", "", "a$1"}
	ends := []string{"\n", "\r\n", "\r"}
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		file := func(n int) string {
			var b strings.Builder
			for range n {
				b.WriteString(words[r.IntN(len(words))] + ends[r.IntN(len(ends)-r.IntN(2))])
			}
			return b.String()
		}
		before, after := file(r.IntN(6)), file(r.IntN(6))
		lines := []string{"MARK" + fmt.Sprint(round), "second", "third"}[:1+r.IntN(3)]
		var old strings.Builder
		for i, l := range lines {
			if i > 0 {
				old.WriteString(ends[r.IntN(2)])
			}
			old.WriteString(l)
		}
		repl := lines[0] + "!\nnew\n" + strings.Join(lines[1:], "\n")
		data := before + old.String() + after
		out, err := edit{strings.Join(lines, "\n"), repl, false}.apply([]byte(data))
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		got := out.data
		if !bytes.HasPrefix(got, []byte(before)) || !bytes.HasSuffix(got, []byte(after)) {
			t.Fatalf("bytes around the match changed:\n%q\n%q", data, got)
		}
		mid := string(got[len(before) : len(got)-len(after)])
		if unix(mid) != repl {
			t.Fatalf("the match became %q, want %q", mid, repl)
		}
		back, err := edit{repl, strings.Join(lines, "\n"), false}.apply(got)
		if err != nil || unix(string(back.data)) != unix(data) {
			t.Fatalf("the way back gave %q, %v", back.data, err)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), "b", "x\ny", false)
	f.Add([]byte("\xff\xfea\x00"), "a", "b", true)
	f.Add([]byte("  if\n\t x\n"), "if\n x\n", "y", false)
	f.Fuzz(func(t *testing.T, data []byte, old, repl string, all bool) {
		in := bytes.Clone(data)
		out, err := edit{old, repl, all}.apply(data)
		if !bytes.Equal(in, data) {
			t.Fatal("the input was changed")
		}
		if err != nil {
			return
		}
		if out.n == 0 || len(out.lines) == 0 {
			t.Fatal("an edit without a place")
		}
		set := workspace.Sniff(data, true)
		if set == workspace.UTF8 && !all && out.loose == "" && !bytes.Contains(data, []byte("\r\n")) {
			want := strings.Replace(string(data), unix(strings.TrimPrefix(old, "\ufeff")), unix(strings.TrimPrefix(repl, "\ufeff")), 1)
			if bytes.ContainsRune(data, '\n') && string(out.data) != want {
				t.Fatalf("%q, want %q", out.data, want)
			}
		}
	})
}

func TestEditTool(t *testing.T) {
	b := newBench(t)
	b.put("f.go", "one\ntwo\nthree\n")
	has(t, b.ok("edit_file", "path", "f.go", "old_str", "two", "new_str", "2"), "1 replacement at line 2 (+1 -1 lines)")
	has(t, b.ok("edit_file", "path", "f.go", "old_str", "three", "new_str", "3"), "line 3") // its own edit is no foreign change
	b.put("f.go", "zero\none\n2\n3\n")
	res, err := b.call("edit_file", "path", "f.go", "old_str", "2", "new_str", "two")
	if err != nil {
		t.Fatal(err)
	}
	has(t, res.Content.Text(), "had changed since it was read")
	want := oh.Diff{Path: b.path("f.go"), Unified: "@@ -1,4 +1,4 @@\n zero\n one\n-2\n+two\n 3\n", Added: 1, Removed: 1}
	if diff := cmp.Diff(oh.Display(want), res.Display); diff != "" {
		t.Error(diff)
	}
	has(t, b.fails("edit_file", "path", "f.go", "old_str", "nope", "new_str", "x"), b.path("f.go")+" was not changed", "does not occur")
	has(t, b.fails("edit_file", "path", "g.go", "old_str", "a", "new_str", "x"), "does not exist", "f.go", "write_file creates files")
	has(t, b.ok("edit_file", "path", "f.go", "old_str", "\tone", "new_str", "\tuno"), "matched only when indentation is ignored")
	if got := b.get("f.go"); got != "zero\nuno\ntwo\n3\n" {
		t.Errorf("content %q", got)
	}
	has(t, b.fails("edit_file", "path", ".", "old_str", "a", "new_str", "x"), "is a folder")
}

// TestReplaceMany is a large file in which every byte is replaced.
func TestReplaceMany(t *testing.T) {
	data := bytes.Repeat([]byte("a"), 4<<20)
	out, err := edit{"a", "bb", true}.apply(data)
	if err != nil || out.n != len(data) || len(out.data) != 2*len(data) || len(out.lines) != listed {
		t.Errorf("%d replacements, %d bytes, lines %v, %v", out.n, len(out.data), out.lines, err)
	}
	_, err = edit{"a", "bb", false}.apply(data)
	if err == nil {
		t.Fatal("a million matches were unique")
	}
	has(t, err.Error(), "occurs 4194304 times (lines 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 and 4194294 more)")
}

func TestEditTwiceInOneTurn(t *testing.T) {
	b := newBench(t)
	b.put("f", "a\nb\n")
	first, err := b.prepare("edit_file", "path", "f", "old_str", "a", "new_str", "A\nA")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.prepare("edit_file", "path", "f", "old_str", "b", "new_str", "B")
	if err != nil {
		t.Fatal(err)
	}
	for _, act := range []oh.Action{first, second} {
		if _, err := b.run(act); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.get("f"); got != "A\nA\nB\n" {
		t.Errorf("content %q", got)
	}
}

func TestEditSideBySide(t *testing.T) {
	b := newBench(t)
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "<%d>\n", i)
	}
	b.put("f", lines.String())
	var wg sync.WaitGroup
	for i := range 40 {
		act, err := b.prepare("edit_file", "path", "f", "old_str", fmt.Sprintf("<%d>", i), "new_str", fmt.Sprintf("[%d]", i))
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
	if got, want := b.get("f"), strings.NewReplacer("<", "[", ">", "]").Replace(lines.String()); got != want {
		t.Errorf("an edit was lost:\n%s", got)
	}
}

// TestEditOneHunk is what git makes of an edit in a CRLF file.
func TestEditOneHunk(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newBench(t)
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "core.autocrlf=false", "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		cmd.Dir = b.dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	b.put("f", strings.Repeat("line\r\n", 20)+"old one\r\nold two\r\n"+strings.Repeat("line\n", 20))
	git("init", "-q")
	git("add", "f")
	b.ok("edit_file", "path", "f", "old_str", "old one\nold two\n", "new_str", "new one\nnew two\nnew three\n")
	out := git("diff", "--no-ext-diff", "-U0")
	if n := strings.Count(out, "\n@@ "); n != 1 {
		t.Errorf("%d hunks:\n%s", n, out)
	}
	if n := strings.Count(out, "\n+new "); n != 3 || strings.Count(out, "\r\n") != 5 {
		t.Errorf("not three CRLF lines added:\n%q", out)
	}
}

// TestOutByLink is writing through a link that leads out of the workspace: the
// call declares the path by which it goes, and a link swapped in after that is
// not followed.
func TestOutByLink(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(filepath.Dir(b.dir), "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(b.path("sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	act, err := b.prepare("write_file", "path", "sub/new.txt", "content", "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(b.path("sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, b.path("sub")); err != nil {
		t.Skip(err)
	}
	if _, err := b.run(act); err == nil || !strings.Contains(err.Error(), "leads elsewhere") {
		t.Errorf("the swapped link was followed: %v", err)
	}
	if list, _ := os.ReadDir(outside); len(list) > 0 {
		t.Errorf("outside holds %v", list)
	}
	act, err = b.prepare("write_file", "path", "sub/new.txt", "content", "x")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]oh.PathUse{{Path: b.path("sub/new.txt"), Write: true}}, act.Access.Paths); diff != "" {
		t.Error(diff)
	}
	if real, err := workspace.Resolve(act.Access.Paths[0].Path); err != nil || real != filepath.Join(outside, "new.txt") {
		t.Errorf("it resolves to %q, %v", real, err)
	}
}
