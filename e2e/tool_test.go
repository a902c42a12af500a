//go:build unix

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/ohtest"
)

// wantText fails unless an answer holds each of the texts and is of a kind.
func (a answer) want(t *testing.T, isErr bool, parts ...string) {
	t.Helper()
	if a.isErr != isErr {
		t.Errorf("error is %v, want %v: %s", a.isErr, isErr, a.text)
	}
	for _, p := range parts {
		if !strings.Contains(a.text, p) {
			t.Errorf("the result lacks %q: %.600s", p, a.text)
		}
	}
}

// TestBackground (B36): a command returns when its shell ends, whoever holds
// the pipe.
func TestBackground(t *testing.T) {
	for name, command := range map[string]string{
		"child":   `sleep 300 & echo $! > "$M/pid"; echo done`,
		"session": `setsid sleep 300 & echo $! > "$M/pid"; echo done`,
		"endless": `echo done; yes & echo $! > "$M/pid"`, // done is in the head, whatever yes says meanwhile
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic)
			begun := time.Now()
			b.results(bash(t, command))[0].want(t, false, "done")
			if d := time.Since(begun); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
			until(t, "the child ends with the session", func() bool { return !alive(b.pid("pid")) })
		})
	}
}

// TestTimeout (B37): a command is stopped with all its children, and what it
// had said is kept.
func TestTimeout(t *testing.T) {
	for name, command := range map[string]string{
		"pipe":     `echo early; (echo $BASHPID > "$M/pid"; sleep 300; echo x) | cat`,
		"stubborn": `trap '' TERM; echo early; echo $$ > "$M/pid"; while :; do sleep 1; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.OpenAI)
			begun := time.Now()
			a := b.results(ohtest.Call("c", "bash", input(t, map[string]any{"command": command, "timeout_seconds": 1})))[0]
			a.want(t, true, "early", "1")
			if s := strings.ToLower(a.text); !strings.Contains(s, "time") {
				t.Errorf("not told that the time was over: %s", a.text)
			}
			if d := time.Since(begun); d > 12*time.Second {
				t.Errorf("took %v", d)
			}
			if alive(b.pid("pid")) {
				t.Error("a process of the tree is left")
			}
		})
	}
}

// TestNobodyTypes (B38): what waits for a person ends at once.
func TestNobodyTypes(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.file("a", "a")
	b.git("init", "-q")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "one")
	for i := range 60 {
		b.git("commit", "-q", "--allow-empty", "-m", fmt.Sprintf("commit %d", i))
	}
	begun := time.Now()
	got := b.results(bash(t, "read x; echo got=$x"), bash(t, "cat"), bash(t, "git commit --allow-empty"), bash(t, "git log"),
		bash(t, "echo secret < /dev/tty; echo after"))
	got[0].want(t, false, "got=")
	got[1].want(t, false)
	got[2].want(t, true)
	got[3].want(t, false, "commit 59", "one")
	got[4].want(t, false, "after")
	if d := time.Since(begun); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

// TestDirectory (B39): the directory of a conversation.
func TestDirectory(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	sub := filepath.Join(b.work, "sub")
	must(t, os.MkdirAll(filepath.Join(sub, "other"), 0o755))
	got := b.results(bash(t, "cd sub"), bash(t, "pwd"), bash(t, "cd other && false"), bash(t, "pwd"),
		bash(t, "cd /"), bash(t, "pwd"), bash(t, "exit 3"), bash(t, "cat <<'E'\nit's \"$HOME\" `x`\nE"), bash(t, "set -e; false; echo no"),
		bash(t, "pwd"), bash(t, "rmdir ../other"), bash(t, "echo here"), bash(t, "pwd"))
	got[1].want(t, false, sub)
	got[2].want(t, true)
	got[3].want(t, false, filepath.Join(sub, "other"))
	if got[5].text == "/" {
		t.Error("cd out of the workspace lasts")
	}
	got[6].want(t, true, "3")
	got[7].want(t, false, "it's \"$HOME\" `x`")
	got[8].want(t, true)
	got[9].want(t, false, b.work)
	got[12].want(t, false, b.work)
}

// TestEdits (B41, B42, B43, B46): bytes that were not meant stay as they are.
func TestEdits(t *testing.T) {
	edit := func(path, old, repl string, all bool) ohtest.ToolCall {
		return ohtest.Call("c", "edit_file", input(t, map[string]any{"path": path, "old_str": old, "new_str": repl, "replace_all": all}))
	}
	special := "$& $$ $1 $` \\1 \\g<0> %s {{.}}"
	for _, tt := range []struct {
		name, before    string
		old, repl       string
		all             bool
		after           string // "": refused, and unchanged
		says            []string
		either, refused bool
	}{
		{name: "crlf", before: "a\r\nb\r\nc\r\n", old: "a\nb\n", repl: "a\nnew\nb\n", after: "a\r\nnew\r\nb\r\nc\r\n"},
		{name: "mixed", before: "a\nb\nc\r\nd\r\n", old: "c\nd", repl: "c\nx\nd", after: "a\nb\nc\r\nx\r\nd\r\n"},
		{name: "no last newline", before: "a\nb", old: "b", repl: "c", after: "a\nc"},
		{name: "byte order mark", before: "\ufeffa\nb\n", old: "a\n", repl: "x\n", after: "\ufeffx\nb\n"},
		{name: "cp1252", before: "a\x99\nb\n", old: "b", repl: "x", after: "a\x99\nx\n"},
		{name: "utf-16", before: "\xff\xfea\x00\n\x00b\x00\n\x00", old: "b", repl: "x", after: "\xff\xfea\x00\n\x00x\x00\n\x00"},
		{name: "literal", before: "one two", old: "one", repl: special, after: special + " two"},
		{name: "literal all", before: "one one", old: "one", repl: special, all: true, after: special + " " + special},
		{name: "all", before: "x\nx\n", old: "x", repl: "y", all: true, after: "y\ny\n"},
		{name: "twice", before: "x\nx\n", old: "x", repl: "y", refused: true, says: []string{"2"}},
		{name: "absent", before: "begin\nmiddle one\nend\n", old: "begin\nmiddle two\nend\n", repl: "gone", refused: true, says: []string{"middle one"}},
		{name: "empty old", before: "x", old: "", repl: "y", refused: true, says: []string{"old_str"}},
		{name: "same", before: "x", old: "x", repl: "x", refused: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic)
			b.file("f.txt", tt.before)
			got := b.results(ohtest.Call("c", "read_file", `{"path":"f.txt"}`), edit("f.txt", tt.old, tt.repl, tt.all))
			got[1].want(t, tt.refused, tt.says...)
			want := tt.after
			if tt.refused {
				want = tt.before
			}
			if diff := cmp.Diff(want, b.read("f.txt")); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOneHunk (B41): git sees one change in a CRLF file.
func TestOneHunk(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI)
	b.file("f.txt", strings.Repeat("line\r\n", 30)+"target\r\nnext\r\n"+strings.Repeat("line\r\n", 30))
	b.git("init", "-q")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "one")
	b.results(ohtest.Call("c", "edit_file", `{"path":"f.txt","old_str":"target\nnext","new_str":"changed\nnext"}`))[0].want(t, false)
	if s := b.git("diff", "--numstat"); strings.TrimSpace(s) != "1\t1\tf.txt" {
		t.Errorf("git diff: %q", s)
	}
}

// TestIdentity (B44): mode, links and umask.
func TestIdentity(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.file("run.sh", "echo one\n")
	must(t, os.Chmod(filepath.Join(b.work, "run.sh"), 0o755))
	b.file("real.txt", "one\n")
	must(t, os.Symlink("real.txt", filepath.Join(b.work, "link.txt")))
	b.file("hard1", "one\n")
	must(t, os.Link(filepath.Join(b.work, "hard1"), filepath.Join(b.work, "hard2")))
	ed := func(path string) ohtest.ToolCall {
		return ohtest.Call("c", "edit_file", input(t, map[string]any{"path": path, "old_str": "one", "new_str": "two"}))
	}
	got := b.results(ed("run.sh"), ed("link.txt"), ed("hard1"))
	for _, a := range got {
		a.want(t, false)
	}
	if info, err := os.Stat(filepath.Join(b.work, "run.sh")); err != nil || info.Mode() != 0o755 {
		t.Errorf("mode %v, %v", info, err)
	}
	if to, err := os.Readlink(filepath.Join(b.work, "link.txt")); err != nil || to != "real.txt" || b.read("real.txt") != "two\n" {
		t.Errorf("link to %q, %v; target %q", to, err, b.read("real.txt"))
	}
	if b.read("hard2") != "two\n" {
		t.Errorf("hard link %q", b.read("hard2"))
	}
	for mask, want := range map[string]os.FileMode{"022": 0o644, "077": 0o600} {
		b.srv.Add(ohtest.Reply(ohtest.Call("n"+mask, "write_file", input(t, map[string]any{"path": "new" + mask, "content": "x"}))), ohtest.Reply(ohtest.Text("done")))
		b.run(call{shell: "umask " + mask + `; exec "$0" "$@"`, args: []string{"-p", "--permission-mode", "full_auto", "go"}}).wantCode(t, 0)
		if info, err := os.Stat(filepath.Join(b.work, "new"+mask)); err != nil || info.Mode() != want {
			t.Errorf("umask %s: %v, %v", mask, info, err)
		}
	}
}

// TestReadOnlyFolder (B44): a clear error. Modes bind root not, so root drops
// to another user.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic,
		ohtest.Reply(ohtest.Call("c", "edit_file", `{"path":"ro/f","old_str":"one","new_str":"two"}`)), ohtest.Reply(ohtest.Text("done")))
	path := b.file("ro/f", "one\n")
	must(t, os.Chmod(filepath.Dir(path), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o755) })
	args := []string{"-p", "--permission-mode", "full_auto", "go"}
	if os.Geteuid() != 0 {
		b.oh(args...).wantCode(t, 0)
	} else {
		b.asOther(t, args).wantCode(t, 0)
	}
	resultOf(t, b.done(2)[1], "c").want(t, true, "ro")
	if b.read("ro/f") != "one\n" {
		t.Error("the file changed")
	}
}

// asOther runs the program as a user without rights.
func (b *box) asOther(t *testing.T, args []string) result {
	t.Helper()
	const nobody = 65534
	top := filepath.Dir(b.home)
	must(t, filepath.WalkDir(top, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, nobody, nobody)
		}
		return err
	}))
	for dir := top; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	exe := filepath.Join(top, "oh")
	data, err := os.ReadFile(binary)
	must(t, err)
	must(t, os.WriteFile(exe, data, 0o755))
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env, cmd.Dir = b.environ(nil), b.work
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Skipf("the program cannot be run as another user here: %v", err)
	}
	return result{out: out.String(), err: errOut.String(), code: cmd.ProcessState.ExitCode()}
}

// TestHalfCharacters (B31): limits that fall into a character, and bytes that
// are none.
func TestHalfCharacters(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire)
		b.env["OPENHARNESS_TOOL_OUTPUT_INLINE_CHARS"], b.env["OPENHARNESS_TOOL_OUTPUT_PREVIEW_CHARS"] = "256", "131"
		var calls []ohtest.ToolCall
		for i := range 5 {
			calls = append(calls, bash(t, fmt.Sprintf(`printf '%%s' '%s'; for i in $(seq 200); do printf '😀é'; done; printf '\xff\xfe\xc3'`, strings.Repeat("a", i))))
		}
		for _, a := range b.results(calls...) {
			a.want(t, false, "😀")
			if n := strings.Count(a.text, "\uFFFD"); n > 3 {
				t.Errorf("%d broken characters in %q", n, a.text)
			}
		}
		b.srv.Add(ohtest.Reply(ohtest.Text("reloaded")))
		r := b.oh("-c", "-p", "more")
		r.wantCode(t, 0)
		if r.out != "reloaded\n" || strings.Contains(r.err, "left out") {
			t.Errorf("reload: %v", r)
		}
	})
}

// TestGrep (B48): long lines, bad patterns, missing paths.
func TestGrep(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	b.file("long.txt", strings.Repeat("x", 200<<10)+"needle\n")
	grep := func(fields map[string]any) ohtest.ToolCall { return ohtest.Call("c", "grep", input(t, fields)) }
	got := b.results(grep(map[string]any{"pattern": "needle"}), grep(map[string]any{"pattern": "("}),
		grep(map[string]any{"pattern": "x", "path": "absent"}), grep(map[string]any{"pattern": "zzz"}),
		grep(map[string]any{"pattern": "(", "literal": true}))
	got[0].want(t, false, "long.txt:1:", "needle")
	if len(got[0].text) > 4000 {
		t.Errorf("a snippet of %d bytes", len(got[0].text))
	}
	got[1].want(t, true, "(")
	got[2].want(t, true, "absent")
	got[3].want(t, false)
	got[4].want(t, false)
	if !strings.Contains(strings.ToLower(got[3].text), "no match") {
		t.Errorf("nothing found: %q", got[3].text)
	}
}

// TestLongOutput: what is too long goes whole to a file that the model can
// read.
func TestLongOutput(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, "seq 1 20000"), "s")))
	b.srv.Add(ohtest.Reply(ohtest.Text("done")))
	b.auto("go").wantCode(t, 0)
	a := resultOf(t, b.done(2)[1], "s")
	a.want(t, false, "1\n2\n", "20000")
	if len(a.text) > 6000 {
		t.Errorf("%d bytes for the model", len(a.text))
	}
	var path string
	for _, word := range strings.Fields(strings.ReplaceAll(a.text, "[", " ")) {
		if word = strings.Trim(word, ".,;:()]"); filepath.IsAbs(word) && exists(word) {
			path = word
		}
	}
	if path == "" || !strings.Contains(b.read(path), "\n12345\n") {
		t.Fatalf("no artifact in %q", a.text)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("artifact %v, %v", info, err)
	}
	b.srv.Add(ohtest.Reply(ohtest.Call("r", "read_file", input(t, map[string]any{"path": path, "offset": 12344, "limit": 1}))), ohtest.Reply(ohtest.Text("read")))
	b.oh("-c", "-p", "--permission-mode", "default", "look").wantCode(t, 0)
	resultOf(t, b.done(4)[3], "r").want(t, false, "12345")
}
