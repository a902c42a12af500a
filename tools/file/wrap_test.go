package file

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestUnwrap(t *testing.T) {
	env := envelope("*** Delete File: k\n")
	for name, c := range map[string]struct{ text, want string }{
		"cd":                  {"cd sub && apply_patch <<'EOF'\n" + env + "EOF", "sub/k"},
		"cd in a shell":       {"bash -lc 'cd sub && apply_patch <<EOF\n" + env + "EOF'\n", "sub/k"},
		"cd in a shell, open": {"bash -lc \"cd sub && apply_patch <<'EOF'\n" + env + "EOF\n\"\n", "sub/k"},
		"cd in parentheses":   {"(cd sub && apply_patch <<'EOF'\n" + env + "EOF\n)", "sub/k"},
		"two cds":             {"cd a; cd 'b c' && apply_patch <<'EOF'\n" + env + "EOF", "a/b c/k"},
		"cd on its own line":  {"cd sub\napply_patch <<'EOF'\n" + env + "EOF", "sub/k"},
		"cd out and in":       {"cd ../x && apply_patch <<'EOF'\n" + env + "EOF", "../x/k"},
		"cd, absolute path":   {"cd sub && apply_patch <<'EOF'\n" + envelope("*** Delete File: /r/k\n") + "EOF", "/r/k"},
		"bare command":        {"apply_patch\n" + env, "k"},
		"same line":           {"apply_patch \"" + strings.TrimSuffix(env, "\n") + "\"", "k"},
		"quoted":              {"apply_patch '\n" + env + "'", "k"},
		"same line, shell":    {"bash -c 'cd sub && apply_patch \"" + strings.TrimSuffix(env, "\n") + "\"'", "sub/k"},
		"prose":               {"Here is the patch for apply_patch:\n\n" + env, "k"},
		"prose and a fence":   {"The patch:\n```\n" + env + "```\n", "k"},
		"prose and a command": {"The patch:\napply_patch <<'EOF'\n" + env + "EOF\n", "k"},
	} {
		got, err := parsePatch(c.text)
		if err != nil || len(got) != 1 || got[0].path != c.want {
			t.Errorf("%s: %+v, %v; want %s", name, got, err, c.want)
		}
	}
}

func TestUnwrapRefuses(t *testing.T) {
	env := envelope("*** Delete File: k\n")
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"another command":    {"rm -rf x && apply_patch <<'EOF'\n" + env + "EOF", []string{"rm -rf x", "does not run"}},
		"another line":       {"mkdir -p sub\n\napply_patch <<'EOF'\n" + env + "EOF", []string{"mkdir -p sub", "does not run"}},
		"prose on the line":  {"This: " + env, []string{"This:", "does not run"}},
		"another after cd":   {"cd sub && make && apply_patch <<'EOF'\n" + env + "EOF", []string{"make", "does not run"}},
		"cat":                {"cat <<'EOF' > f\n" + env + "EOF", []string{"cat", "does not run"}},
		"on the same line":   {"apply_patch <<'EOF' && make\n" + env + "EOF", []string{"make", "does not run"}},
		"cd to a variable":   {"cd $HOME && apply_patch <<'EOF'\n" + env + "EOF", []string{"$HOME", "not understood"}},
		"cd back":            {"cd - && apply_patch <<'EOF'\n" + env + "EOF", []string{"cd -", "not understood"}},
		"command after":      {"apply_patch <<'EOF'\n" + env + "EOF\ngo test ./...\n", []string{"line 6", "go test ./...", "follows"}},
		"command at the end": {"apply_patch <<'EOF'\n" + env + "EOF && go test\n", []string{"EOF && go test", "follows"}},
		"a second patch":     {env + env, []string{"line 4", "follows"}},
		"escapes":            {"apply_patch \"*** Begin Patch\n*** Add File: a\n+x \\\"y\\\"\n*** End Patch\"", []string{"line 2", "another meaning"}},
		"cut off":            {"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\nEOF", []string{"cut off"}},
	} {
		got, err := parsePatch(c.text)
		if err == nil {
			t.Errorf("%s: gave %+v", name, got)
			continue
		}
		has(t, err.Error(), c.want...)
		if strings.Contains(err.Error(), "cut off") != (name == "cut off") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestApplyPatchBelow(t *testing.T) {
	b := newBench(t)
	b.put("k", "keep\n")
	b.put("sub/k", "go\n")
	b.ok("apply_patch", "patch", "cd sub && apply_patch <<'EOF'\n"+envelope("*** Delete File: k\n*** Add File: n\n+x\n*** End of File\n")+"EOF")
	if _, err := os.Lstat(b.path("sub/k")); err == nil || b.get("k") != "keep\n" || b.get("sub/n") != "x\n" {
		t.Errorf("tree: %v", b.tree())
	}
	has(t, b.fails("apply_patch", "patch", envelope("*** Add File: new/\n+x\n")), "line 2", "names a folder")
	has(t, b.fails("write_file", "path", "new/", "content", "x"), "names a folder")
}

func TestDiffForms(t *testing.T) {
	for _, c := range []struct{ name, data, body, want string }{
		{"names", "a\nb\n", "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\nB\n"},
		{"no names", "-- a\nb\n", "--- a\n+++ a\n b\n", "++ a\nb\n"},
		{"the number decides", "a\nx\nb\na\nx\nb\n", "@@ -4,3 +4,3 @@\n a\n-x\n+y\n b\n", "a\nx\nb\na\ny\nb\n"},
		{"numbers are of the old file", "x\na\nx\na\nx\n", "@@ -1 +1,3 @@\n-x\n+1\n+2\n+3\n@@ -5 +7 @@\n-x\n+z\n", "1\n2\n3\na\nx\na\nz\n"},
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

func TestNoNUL(t *testing.T) {
	b := newBench(t)
	b.put("f", "one\n")
	b.ok("read_file", "path", "f")
	edits := []map[string]any{{"old_str": "one", "new_str": "a\x00b"}}
	for tool, fields := range map[string][]any{
		"edit_file":   {"path", "f", "old_str", "one", "new_str", "a\x00b"},
		"write_file":  {"path", "f", "content", "a\x00b"},
		"multi_edit":  {"path", "f", "edits", edits},
		"apply_patch": {"patch", envelope("*** Update File: f\n-one\n+a\x00b\n")},
	} {
		has(t, b.fails(tool, fields...), "NUL")
	}
	if got := b.get("f"); got != "one\n" {
		t.Errorf("content %q", got)
	}
}

func TestHalfChar(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\ud83d"}`:               `\ud83d`,
		`{"a":"\ude00x"}`:              `\ude00`,
		`{"a":"\ud83d\ud83d\ude00"}`:   `\ud83d`,
		`{"a":"\ud83d\n"}`:             `\ud83d`,
		`{"a":"\ud83d\ude00"}`:         "",
		`{"a":"\\ud83d \u00e9 \n"}`:    "",
		`{"a":"` + "\U0001F600" + `"}`: "",
		`\u`:                           "",
	} {
		got := ""
		if err := halfChar([]byte(in)); err != nil {
			_, got, _ = strings.Cut(err.Error(), "holds ")
			got, _, _ = strings.Cut(got, ",")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	b := newBench(t)
	b.put("f", "one\n")
	call := &oh.Call{ID: "1", Name: "edit_file", Input: []byte(`{"path":"f","old_str":"one","new_str":"\ud83d"}`), Env: b.env}
	if _, err := b.tools["edit_file"].Prepare(t.Context(), call); err == nil || !strings.Contains(err.Error(), "half of a character") {
		t.Errorf("error %v", err)
	}
}

func FuzzUnwrap(f *testing.F) {
	f.Add("cd sub && apply_patch <<'EOF'\n" + envelope("*** Delete File: k\n") + "EOF")
	f.Add("bash -lc \"apply_patch '*** Begin Patch\n*** End Patch'\"")
	f.Fuzz(func(t *testing.T, s string) {
		lines := strings.Split(s, "\n")
		w, err := unwrap(lines)
		if err != nil {
			return
		}
		if len(w.lines) == 0 {
			t.Fatal("no lines")
		}
		if diff := cmp.Diff(lines[w.skipped:w.skipped+len(w.lines)], w.lines); diff != "" {
			t.Fatal(diff)
		}
	})
}
