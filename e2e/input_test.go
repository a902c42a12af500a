//go:build unix

package e2e

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh/ohtest"
)

// TestBadFlags: what cannot be meant ends with 2, names the flag and asks
// nobody.
func TestBadFlags(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	before := tree(t, b.home, b.work)
	const missing = 1 // what is named correctly, but is not there
	for _, tt := range []struct {
		args string
		says []string
		code int // 0: 2
	}{
		{"-p --permision-mode plan hi", []string{"--permision-mode", "--permission-mode?"}, 0},
		{"-p --modle x hi", []string{"--model?"}, 0},
		{"-p --outputformat json hi", []string{"--output-format?"}, 0},
		{"-p -Z hi", []string{"-Z"}, 0},
		{"-p --output-format yaml hi", []string{"yaml", "stream-json"}, 0},
		{"-p --permission-mode wild hi", []string{"--permission-mode", "wild", "plan"}, 0},
		{"-p --effort huge hi", []string{"--effort", "huge", "xhigh"}, 0},
		{"-p --max-turns 0 hi", []string{"--max-turns"}, 0},
		{"-p --max-turns many hi", []string{"max-turns", "many"}, 0},
		{"-p --max-budget-usd -1 hi", []string{"--max-budget-usd"}, 0},
		{"-p --input-format stream-json hi", []string{"--input-format"}, 0},
		{"-p --input-format xml hi", []string{"--input-format", "xml"}, 0},
		{"-p --include-partial-messages hi", []string{"stream-json"}, 0},
		{"-p -c -r abc hi", []string{"-c", "-r"}, 0},
		{"-p --fork-session hi", []string{"--fork-session", "-r"}, 0},
		{"-p --session-id abc hi", []string{"--session-id", "UUID"}, 0},
		{"-p --setting-sources user,mars hi", []string{"--setting-sources", "mars"}, 0},
		{"-p --api-format gopher hi", []string{"gopher", "anthropic"}, 0},
		{"-p --base-url notaurl hi", []string{"--base-url", "http"}, 0},
		{"-p --profile nonesuch hi", []string{"nonesuch"}, 0},
		{"-p --profile claude-subscription hi", []string{"claude-subscription"}, 0},
		{"-p --settings absent.json hi", []string{"absent.json"}, 0},
		{"-p --add-dir absent hi", []string{"absent"}, 0},
		{"-p --image absent.png hi", []string{"absent.png"}, 0},
		{"-p --cwd absent hi", []string{"--cwd", "absent"}, 0},
		{"-p --api-key env:NO_SUCH hi", []string{"NO_SUCH"}, 0},
		{"-p --dangerously-skip-permissions --permission-mode plan hi", []string{"plan"}, 0},
		{"-p --model", []string{"model"}, 0},
		{"-p", []string{"no prompt"}, 0},
		{"-p -r", []string{"session"}, missing},
		{"-p -r 00000000 hi", []string{"00000000"}, missing},
		{"-p -c hi", []string{"session"}, missing},
		{"config frob", []string{"frob"}, 0},
		{"config get no.such.key", []string{"no.such.key"}, 0},
		{"session show zzz", []string{"zzz"}, missing},
		{"session", []string{"list", "show", "export"}, 0},
	} {
		t.Run(tt.args, func(t *testing.T) {
			r := b.oh(strings.Fields(tt.args)...)
			r.wantCode(t, cmp.Or(tt.code, 2))
			r.wantErr(t, tt.says...)
			if r.out != "" || strings.Count(r.err, "\n") > 4 {
				t.Errorf("not short, or on stdout: %v", r)
			}
		})
	}
	b.done(0)
	if after := tree(t, b.home, b.work); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("files were left: %v", after)
	}
}

// TestBadSettings: a bad file ends with 2 or warns, and never loses a rule.
func TestBadSettings(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		code       int
		says       []string
	}{
		{"syntax", "{\n  \"model\": \"x\",\n  \"effort\" \"low\"\n}", 2, []string{"settings.json", "3"}},
		{"unclosed", "{\n\"model\": \"x\"\n", 2, []string{"settings.json"}},
		{"no object", "[1]", 2, []string{"settings.json"}},
		{"mode", "{\n\"permission\": {\n\"mode\": \"wild\"}}", 2, []string{"settings.json:3", "permission.mode", "wild"}},
		{"rules", "{\"permissions\": {\"deny\": \"Bash\"}}", 2, []string{"settings.json:1", "permissions.deny"}},
		{"rule", "{\"permissions\": {\"deny\": [7]}}", 2, []string{"settings.json:1", "permissions.deny"}},
		{"sandbox", "{\"sandbox\": {\"enabled\": \"perhaps\"}}", 2, []string{"sandbox.enabled"}},
		{"other value", "{\n\"max_turns\": \"many\"}", 0, []string{"settings.json:2", "max_turns"}},
		{"unknown key", "{\"no_such_key\": {\"a\": 1}}", 0, nil},
		{"comments", "// first\n{\n/* second */ \"effort\": \"low\",\n}", 0, nil},
		{"empty", "", 0, nil},
		{"byte order mark", "\ufeff{\"max_turns\": 3}", 0, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic)
			b.settings(tt.text)
			if tt.code == 0 {
				b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
			}
			r := b.oh("-p", "hi")
			r.wantCode(t, tt.code)
			r.wantErr(t, tt.says...)
			if tt.code == 0 && (r.out != "ok\n" || tt.says == nil && r.err != "") {
				t.Errorf("not as usual: %v", r)
			}
		})
	}
}

// TestDenySurvives: a slip elsewhere in the file keeps its deny rules.
func TestDenySurvives(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, `echo ran >> "$M/x"`), "c")), ohtest.Reply(ohtest.Text("ok")))
	b.settings("{\n \"max_turns\": \"many\",\n \"permissions\": {\"deny\": [\"Bash(echo:*)\"]},\n \"frob\": [,],\n}")
	r := b.auto("hi")
	if r.code == 0 && b.marked("x") > 0 {
		t.Errorf("the deny rule was lost: %v", r)
	}
	b.settings("{\n \"max_turns\": \"many\",\n \"permissions\": {\"deny\": [\"Bash(echo:*)\"]},\n}")
	r = b.auto("hi")
	r.wantCode(t, 0)
	if b.marked("x") > 0 {
		t.Errorf("the deny rule was lost: %v", r)
	}
}

// TestUnreadableSettings: a file that cannot be read is not passed over.
func TestUnreadableSettings(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	must(t, os.MkdirAll(filepath.Join(b.home, ".openharness", "settings.json"), 0o755))
	r := b.oh("-p", "hi")
	r.wantCode(t, 2)
	r.wantErr(t, "settings.json")
	b.done(0)
}

// TestNoKey (B59): three lines say what to do.
func TestNoKey(t *testing.T) {
	t.Parallel()
	b := newBox(t, "")
	r := b.oh("-p", "hi")
	r.wantCode(t, 3)
	r.wantErr(t, "ANTHROPIC_API_KEY", "oh: ")
	if strings.Count(r.err, "\n") != 3 || r.out != "" {
		t.Errorf("not three lines: %v", r)
	}
	r = b.oh("-p", "--output-format", "stream-json", "hi")
	r.wantCode(t, 3)
	if f := last(t, r.out); f["is_error"] != true {
		t.Errorf("result %v", f)
	}
	b.oh("-p", "--profile", "claude-api", "hi").wantCode(t, 3)
}

// TestDeadServer: nobody listens.
func TestDeadServer(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, "")
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		addr := l.Addr().String()
		must(t, l.Close())
		b.point(wire, "http://"+addr)
		r := b.oh("-p", "--output-format", "json", "hi")
		r.wantCode(t, 4)
		if f := last(t, r.out); f["is_error"] != true || !strings.Contains(fmt.Sprint(f["result"]), addr) {
			t.Errorf("result %v", f)
		}
	})
}

// TestFullDisk: an end with 1 and the reason; what was written can be read.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("first")))
	b.oh("-p", "hi").wantCode(t, 0)
	size := len(b.read(b.log()))
	b.srv.Add(ohtest.Reply(ohtest.Text(strings.Repeat("long ", 4000))), ohtest.Reply(ohtest.Text("not reached")))
	blocks := size/512 + 8
	r := b.run(call{shell: fmt.Sprintf(`ulimit -f %d; exec "$0" "$@"`, blocks), args: []string{"-p", "-c", "more"}})
	r.wantCode(t, 1)
	r.wantErr(t, "write", filepath.Base(b.log()))
	r = b.oh("-p", "-c", "again")
	r.wantCode(t, 0)
	if r.out != "not reached\n" {
		t.Errorf("going on: %v", r)
	}
	for _, want := range []string{"hi", "first"} {
		if !bytes.Contains(b.srv.Requests()[len(b.srv.Requests())-1].Body, []byte(want)) {
			t.Errorf("%q is lost", want)
		}
	}
}

// TestStdoutFull: an output that cannot be written is an error.
func TestStdoutFull(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no /dev/full: %v", err)
	}
	defer full.Close()
	for _, format := range []string{"text", "json", "stream-json", "events"} {
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("answer")))
		r := b.run(call{args: []string{"-p", "--output-format", format, "hi"}, out: full})
		r.wantCode(t, 1)
		r.wantErr(t, "space")
	}
}

// TestClosedStdout (B59): a reader that goes away ends the run silently.
func TestClosedStdout(t *testing.T) {
	for _, format := range []string{"text", "stream-json", "events"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.OpenAI)
			proceed := make(chan struct{})
			b.srv.Add(ohtest.Reply(ohtest.Text("one"), named(bash(t, "true"), "a")), ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("two")}, After: proceed},
				ohtest.Reply(ohtest.Text("three")))
			pr, pw, err := os.Pipe()
			must(t, err)
			r := b.start(call{args: []string{"-p", "--permission-mode", "full_auto", "--output-format", format, "hi"}, out: pw})
			must(t, pw.Close())
			b.requests(2)
			must(t, pr.Close())
			close(proceed)
			res := r.wait()
			res.wantCode(t, 1)
			if strings.Contains(res.err, "pipe") || strings.Contains(res.err, "error") {
				t.Errorf("not silent: %v", res)
			}
		})
	}
}

// TestStdin (B59): a silent pipe does not hang; what comes is the prompt or
// goes with it.
func TestStdin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		args     []string
		want     []string
	}{
		{"prompt", "from stdin\n", []string{"-p"}, []string{"from stdin"}},
		{"without -p", "from stdin\n", nil, []string{"from stdin"}},
		{"attached", "attached text", []string{"-p", "the", "question"}, []string{"the question", "attached text"}},
		{"invalid bytes", "a\xffb", []string{"-p", "q"}, []string{"a\uFFFDb"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
			b.run(call{args: tt.args, stdin: strings.NewReader(tt.in)}).wantCode(t, 0)
			for _, w := range tt.want {
				if !strings.Contains(b.done(1)[0].LastUserText(), w) {
					t.Errorf("%q is not in %q", w, b.srv.Requests()[0].LastUserText())
				}
			}
		})
	}
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
		pr, pw, err := os.Pipe()
		must(t, err)
		defer pr.Close()
		defer pw.Close()
		r := b.run(call{args: []string{"-p", "hi"}, stdin: pr})
		r.wantCode(t, 0)
		r.wantErr(t, "stdin")
		if r.took > 15*time.Second {
			t.Errorf("took %v", r.took)
		}
		r = b.run(call{args: []string{"-p"}, stdin: pr})
		r.wantCode(t, 2)
	})
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
		f, err := os.Open(b.file("in.txt", "in a file"))
		must(t, err)
		defer f.Close()
		b.run(call{args: []string{"-p", "sum it up"}, stdin: f}).wantCode(t, 0)
		if s := b.done(1)[0].LastUserText(); !strings.Contains(s, "in a file") || !strings.Contains(s, "sum it up") {
			t.Errorf("prompt %q", s)
		}
	})
	t.Run("too much", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic)
		r := b.run(call{args: []string{"-p", "q"}, stdin: bytes.NewReader(make([]byte, 11<<20))})
		r.wantCode(t, 2)
		r.wantErr(t, "10 MB")
	})
}

// TestPromptWords: with -p a word is never a subcommand, and a path is no
// command.
func TestPromptWords(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"config", "list"}, {"help"}, {"session"}, {"completion", "bash"}, {"demo"}, {"/etc/hosts is what?"}, {"--", "--not-a-flag"}} {
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("ok")))
		r := b.oh(append([]string{"-p"}, words...)...)
		r.wantCode(t, 0)
		want := strings.TrimPrefix(strings.Join(words, " "), "-- ")
		if s := b.done(1)[0].LastUserText(); !strings.Contains(s, want) {
			t.Errorf("prompt %q lacks %q", s, want)
		}
	}
}

// TestSlash: commands work in print mode, ask no model and leave no session.
func TestSlash(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic)
	for line, want := range map[string]string{"/help": "/model", "/cost": "othing", "/status": "session", "/context": "window",
		"/permissions": "default", "/model": "claude", "/effort": "", "/exit": "", "/clear": "", "/continue": "othing"} {
		r := b.oh("-p", line)
		r.wantCode(t, 0)
		if !strings.Contains(r.out, want) {
			t.Errorf("%s: %v", line, r)
		}
	}
	keyless := newBox(t, "")
	for line, want := range map[string]string{"/help": "/model", "/status": "none is set up"} {
		if r := keyless.oh("-p", line); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s without a key: %v", line, r)
		}
	}
	keyless.oh("-p", "/continue").wantCode(t, 3)
	r := b.oh("-p", "/halp")
	r.wantCode(t, 2)
	r.wantErr(t, "/halp", "/help")
	r = b.oh("-p", "--output-format", "json", "/nonesuch x")
	r.wantCode(t, 2)
	if f := last(t, r.out); f["is_error"] != true {
		t.Errorf("result %v", f)
	}
	r = b.oh("-p", "--output-format", "stream-json", "/cost")
	r.wantCode(t, 0)
	if f := last(t, r.out); f["is_error"] != false || !strings.Contains(fmt.Sprint(f["result"]), "othing") {
		t.Errorf("result %v", f)
	}
	for _, bad := range []string{"/model two words", "/effort huge", "/permissions wild", "/continue x", "/context x"} {
		if r := b.oh("-p", bad); r.code != 2 {
			t.Errorf("%s: %v", bad, r)
		}
	}
	b.done(0)
	if n := len(b.logs()); n > 0 {
		t.Errorf("%d session files", n)
	}
}

// TestLimits: the turn limit, the budget and the loop guard end with 5, and
// -c goes on.
func TestLimits(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(named(bash(t, "true"), "a")), ohtest.Reply(named(bash(t, "true"), "b")))
		r := b.oh("-p", "--permission-mode", "full_auto", "--max-turns", "2", "--output-format", "json", "go")
		r.wantCode(t, 5)
		if f := last(t, r.out); f["subtype"] != "error_max_turns" || f["is_error"] != true {
			t.Errorf("result %v", f)
		}
		b.done(2)
		b.srv.Add(ohtest.Reply(ohtest.Text("finished")))
		r = b.oh("-c", "-p", "/continue")
		r.wantCode(t, 0)
		if r.out != "finished\n" {
			t.Errorf("going on: %v", r)
		}
	})
	t.Run("budget", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, "true"), "a"), ohtest.Usage{InputTokens: 1_000_000, OutputTokens: 10}))
		r := b.oh("-p", "--permission-mode", "full_auto", "--max-budget-usd", "0.5", "--output-format", "json", "go")
		r.wantCode(t, 5)
		if f := last(t, r.out); f["subtype"] != "error_max_budget_usd" {
			t.Errorf("result %v", f)
		}
	})
	t.Run("loop", func(t *testing.T) {
		t.Parallel()
		b := newBoxWith(t, ohtest.Anthropic, ohtest.Config{Rule: func(r *ohtest.Request) (ohtest.Turn, bool) {
			return ohtest.Reply(ohtest.Call(fmt.Sprintf("c%d", r.N), "read_file", `{"path":"absent"}`)), true
		}})
		b.oh("-p", "go").wantCode(t, 5)
		if n := len(b.srv.Requests()); n != 5 {
			t.Errorf("%d requests", n)
		}
	})
}

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestAttachments: images and mentioned files; keys are not attached.
func TestAttachments(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(ohtest.Text("ok")))
		raw, err := base64.StdEncoding.DecodeString(pixel)
		must(t, err)
		b.file("a.png", string(raw))
		b.file("notes.txt", "the notes say 42")
		b.file("my notes.txt", "quoted 43")
		b.file(filepath.Join(b.home, ".ssh", "id_rsa"), "PRIVATE-PART")
		b.file(filepath.Join(b.home, ".openharness", "credentials.json"), `{"x":"CRED-PART"}`)
		r := b.oh("-p", "--image", "a.png", "look at", "@notes.txt", `@"my notes.txt"`, "@~/.ssh/id_rsa", "and @~/.openharness/credentials.json me@example.com")
		r.wantCode(t, 0)
		r.wantErr(t, "id_rsa", "not attached")
		body := string(b.done(1)[0].Body)
		for _, want := range []string{"the notes say 42", "quoted 43", pixel, "me@example.com"} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is not sent", want)
			}
		}
		if strings.Contains(body, "PRIVATE-PART") || strings.Contains(body, "CRED-PART") {
			t.Error("a key was attached")
		}
	})
	t.Run("no image", func(t *testing.T) {
		t.Parallel()
		b := newBox(t, ohtest.Anthropic)
		b.file("a.png", "text")
		r := b.oh("-p", "--image", "a.png", "look")
		r.wantCode(t, 2)
		r.wantErr(t, "a.png")
	})
}

// TestNoGit (B59): without git everything works.
func TestNoGit(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Call("g", "grep", `{"pattern":"x"}`)), ohtest.Reply(ohtest.Text("ok")))
	b.env["PATH"] = "/nonexistent"
	b.oh("-p", "hi").wantCode(t, 0)
	b.done(2)
}

// TestSDK: unknown flags are passed over when an SDK drives, and a refusal is
// no failure.
func TestSDK(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, `env; echo ran >> "$M/x"`), "c")), ohtest.Reply(ohtest.Text("ok")))
	b.env["CLAUDE_CODE_ENTRYPOINT"] = "sdk-py"
	r := b.oh("-p", "--output-format", "stream-json", "--verbose", "--no-such-flag", "--", "hi")
	r.wantCode(t, 0)
	if f := last(t, r.out); f["is_error"] != false || b.marked("x") > 0 {
		t.Errorf("result %v", f)
	}
	b.srv.Add(ohtest.Reply(named(bash(t, "env"), "e")), ohtest.Reply(ohtest.Text("ok")))
	b.oh("-p", "--allowedTools", "Bash,Edit", "hi").wantCode(t, 0)
	if a := resultOf(t, b.done(4)[3], "e"); strings.Contains(a.text, "CLAUDE_CODE_ENTRYPOINT") {
		t.Errorf("a child sees the entry point")
	}
}
