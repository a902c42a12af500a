//go:build unix

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestReaderGone: commands that only look end in silence too when nobody reads.
func TestReaderGone(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text(strings.Repeat("long answer ", 20_000))))
	sid := id(t, b.json("hi"))
	for _, args := range [][]string{{"session", "list"}, {"session", "show", sid}, {"session", "export", "--format", "json", sid}, {"config", "list"}, {"--help"}, {"man"},
		{"completion", "bash"}, {"--dry-run", "hi"}, {"-p", "/help"}} {
		pr, pw, err := os.Pipe()
		must(t, err)
		must(t, pr.Close())
		r := b.run(call{args: args, out: pw})
		must(t, pw.Close())
		if r.code != 1 && r.code != 0 || r.err != "" {
			t.Errorf("%v: %v", args, r)
		}
	}
}

// TestSlashBesideInput: a command is a command whatever comes on stdin.
func TestSlashBesideInput(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	r := b.run(call{args: []string{"-p", "/status"}, stdin: strings.NewReader("some input")})
	r.wantCode(t, 0)
	if !strings.Contains(r.out, "session") {
		t.Errorf("%v", r)
	}
	b.run(call{args: []string{"-p", "/nonesuch"}, stdin: strings.NewReader("some input")}).wantCode(t, 2)
	r = b.run(call{args: []string{"-p"}, stdin: strings.NewReader("/status\n")})
	r.wantCode(t, 0)
	b.done(0)
}

// TestBypassDisabled: a mode that is switched off cannot be had by a flag.
func TestBypassDisabled(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--permission-mode", "full_auto"}, {"--dangerously-skip-permissions"}, {"--permission-mode", "bypassPermissions"}} {
		b := newBox(t, ohtest.Anthropic)
		b.settings(`{"permissions":{"disableBypassPermissionsMode":"disable"}}`)
		b.srv.Add(ohtest.Reply(named(bash(t, `echo ran >> "$M/x"`), "a")), ohtest.Reply(ohtest.Text("ok")))
		r := b.oh(append([]string{"-p", "hi"}, args...)...)
		if r.code == 0 || b.marked("x") > 0 {
			t.Errorf("%v: %v", args, r)
		}
	}
}

// TestAllowedShell: with the whole shell allowed a command reaches what needs a
// person no more than before.
func TestAllowedShell(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(
		named(bash(t, `echo ran >> "$M/x"`), "a"), named(bash(t, "echo x > ~/.bashrc"), "b"), named(bash(t, "cat ~/.ssh/id_rsa"), "c"), named(bash(t, "rm -rf ~"), "d"),
		ohtest.Call("e", "write_file", `{"path":"f","content":"x"}`)), ohtest.Reply(ohtest.Text("ok")))
	b.oh("-p", "--allowed-tools", "bash", "hi").wantCode(t, 6)
	req := b.done(2)[1]
	resultOf(t, req, "a").want(t, false)
	for _, id := range strings.Split("bcde", "") {
		resultOf(t, req, id).want(t, true, "ermission")
	}
}

// TestNames: a title given by a flag is the session's, a prompt is the title of
// others, without what would spoil a line.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")), ohtest.Reply(ohtest.Text("ok")))
	b.oh("-p", "--name", "The title", "prompt one").wantCode(t, 0)
	b.oh("-p", "line one\nline \x1b[31mtwo\x1b[0m").wantCode(t, 0)
	r := b.oh("session", "list")
	if !strings.Contains(r.out, "The title") || !strings.Contains(r.out, "line one") || strings.Count(r.out, "\n") != 2 || strings.Contains(r.out, "\x1b") {
		t.Errorf("%v", r)
	}
}
