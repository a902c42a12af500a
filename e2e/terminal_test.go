//go:build unix

package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/openharness/oh/ohtest"
)

// terminal is the program on a terminal of its own.
type terminal struct {
	t    *testing.T
	tty  *os.File
	done chan error

	mu   sync.Mutex // guards seen and from
	seen strings.Builder
	from int // what was expected so far ends here
}

// terminal starts the line mode and waits for its prompt.
func (b *box) terminal(args ...string) *terminal {
	b.t.Helper()
	f := b.attach(args...)
	f.expect("› ")
	return f
}

// attach starts the program on a terminal.
func (b *box) attach(args ...string) *terminal {
	b.t.Helper()
	return b.attachSized(200, args...)
}

// attachSized is attach with a width.
func (b *box) attachSized(cols uint16, args ...string) *terminal {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Env, cmd.Dir = append(b.environ(nil), "TERM=xterm"), b.work
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: cols})
	if err != nil {
		cancel()
		b.t.Skipf("no pseudo-terminal here: %v", err)
	}
	f := &terminal{t: b.t, tty: pollable(b.t, tty), done: make(chan error, 1)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		f.read()
	}()
	go func() { f.done <- cmd.Wait() }()
	b.t.Cleanup(func() {
		cancel()
		_ = f.tty.Close()
		<-read
	})
	return f
}

// pollable replaces a file by one whose Close ends a read that waits, so that
// the terminal goes away at once.
func pollable(t *testing.T, f *os.File) *os.File {
	t.Helper()
	fd, err := syscall.Dup(int(f.Fd()))
	must(t, err)
	syscall.CloseOnExec(fd)
	must(t, syscall.SetNonblock(fd, true))
	must(t, f.Close())
	return os.NewFile(uintptr(fd), f.Name())
}

// read collects what is shown, to the end.
func (f *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := f.tty.Read(buf)
		f.mu.Lock()
		f.seen.Write(buf[:n])
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (f *terminal) all() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen.String()
}

// expect waits for a text behind what was expected before.
func (f *terminal) expect(want string) {
	f.t.Helper()
	deadline := time.Now().Add(limit / 3)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		f.mu.Lock()
		rest := f.seen.String()[f.from:]
		i := strings.Index(rest, want)
		if i >= 0 {
			f.from += i + len(want)
		}
		f.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%q did not come; since then: %q", want, rest)
		}
		<-tick.C
	}
}

func (f *terminal) typed(s string) {
	f.t.Helper()
	_, err := f.tty.WriteString(s)
	must(f.t, err)
}

// ends waits for the end of the program.
func (f *terminal) ends(code int) {
	f.t.Helper()
	select {
	case err := <-f.done:
		got := 0
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		if got != code {
			f.t.Errorf("exit %d, want %d: %q", got, code, f.all())
		}
	case <-time.After(limit / 3):
		f.t.Fatalf("it does not end: %q", f.all())
	}
}

// TestLineMode: a conversation in lines.
func TestLineMode(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(ohtest.Text("Hello there.")), ohtest.Reply(ohtest.Text("Second answer.")))
		f := b.terminal()
		f.typed("hi\r")
		f.expect("Hello there.")
		f.expect("› ")
		f.typed("/status\r")
		f.expect("session")
		f.expect("› ")
		f.typed("/halp\r")
		f.expect("/help")
		f.expect("› ")
		f.typed("again\r")
		f.expect("Second answer.")
		f.expect("› ")
		f.typed("/exit\r")
		f.ends(0)
		if s := string(b.done(2)[1].Body); !strings.Contains(s, "Hello there.") || !strings.Contains(s, "again") {
			t.Errorf("history %s", s)
		}
	})
}

// TestPermissionKeys: yes, for the session, no, and a reason.
func TestPermissionKeys(t *testing.T) {
	t.Parallel()
	step := func(id, mark string) ohtest.Turn {
		return ohtest.Reply(named(bash(t, `echo ran >> "$M/`+mark+`"`), id))
	}
	b := newBox(t, ohtest.Anthropic, step("a", "yes"), step("b", "no"), step("c", "reason"),
		ohtest.Reply(ohtest.Call("d", "write_file", `{"path":"s1.txt","content":"x"}`)),
		ohtest.Reply(ohtest.Call("e", "write_file", `{"path":"s1.txt","content":"y"}`)), ohtest.Reply(ohtest.Text("All done.")))
	f := b.terminal()
	f.typed("go\r")
	for _, key := range []string{"y", "n", "use make instead"} {
		f.expect("Run this command?")
		f.expect("? ")
		f.typed(key + "\r")
	}
	f.expect("Make this change?")
	f.expect("[s]ession")
	f.expect("? ")
	f.typed("s\r")
	f.expect("All done.")
	f.expect("› ")
	f.typed("\x04")
	f.ends(0)
	req := b.done(6)[5]
	resultOf(t, req, "a").want(t, false)
	resultOf(t, req, "b").want(t, true)
	resultOf(t, req, "c").want(t, true, "use make instead")
	if b.marked("yes") != 1 || b.marked("no") != 0 || b.marked("reason") != 0 || b.read("s1.txt") != "y" {
		t.Errorf("marks %d %d %d, file %q", b.marked("yes"), b.marked("no"), b.marked("reason"), b.read("s1.txt"))
	}
}

// TestInterruptKey: Ctrl-C stops the run and its processes, and the
// conversation goes on.
func TestInterruptKey(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI, twoCalls(t), ohtest.Reply(ohtest.Text("Going on.")), ohtest.Hang(ohtest.Text("Never ends")), ohtest.Reply(ohtest.Text("Still here.")))
	f := b.terminal("--permission-mode", "full_auto")
	f.typed("go\r")
	until(t, "the command runs", func() bool { return exists(filepath.Join(b.marks, "pid")) })
	f.typed("\x03")
	f.expect("› ")
	until(t, "the child is gone", func() bool { return !alive(b.pid("pid")) })
	f.typed("what now\r")
	f.expect("Going on.")
	f.expect("› ")
	req := b.srv.Requests()[1]
	resultOf(t, req, "a").want(t, false, "first-output")
	resultOf(t, req, "b").want(t, true)
	f.typed("more\r")
	f.expect("Never ends")
	f.typed("\x03")
	f.expect("› ")
	f.typed("and now\r")
	f.expect("Still here.")
	f.expect("› ")
	f.typed("\x03")
	f.expect("again")
	f.typed("\x03")
	f.ends(0)
	b.done(4)
}

// TestSteering: what is typed during a run reaches the model after the step.
func TestSteering(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, `echo ran >> "$M/begun"; while [ ! -e "$M/go" ]; do sleep 0.05; done`), "a")),
		ohtest.Reply(ohtest.Text("As you say.")))
	f := b.terminal("--permission-mode", "full_auto")
	f.typed("begin\r")
	until(t, "the command runs", func() bool { return b.marked("begun") == 1 })
	f.typed("use tabs\r")
	f.expect("noted")
	must(t, os.WriteFile(filepath.Join(b.marks, "go"), nil, 0o644))
	f.expect("As you say.")
	f.expect("› ")
	f.typed("\x04")
	f.ends(0)
	if s := b.done(2)[1].LastUserText(); !strings.Contains(s, "use tabs") {
		t.Errorf("last text %q", s)
	}
}

// TestTerminalUntouched (B38): a command reads nothing of what is typed.
func TestTerminalUntouched(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(named(bash(t, `echo ran >> "$M/begun"; cat; cat /dev/tty; git log; while [ ! -e "$M/go" ]; do sleep 0.05; done`), "a")),
		ohtest.Reply(ohtest.Text("Done.")))
	f := b.terminal("--permission-mode", "full_auto", "begin")
	until(t, "the command runs", func() bool { return b.marked("begun") == 1 })
	f.typed("not for the command\r")
	f.expect("noted")
	must(t, os.WriteFile(filepath.Join(b.marks, "go"), nil, 0o644))
	f.expect("Done.")
	f.expect("› ")
	f.typed("/exit\r")
	f.ends(0)
	req := b.done(2)[1]
	if a := resultOf(t, req, "a"); strings.Contains(a.text, "not for the command") {
		t.Errorf("the command read the terminal: %+v", a)
	}
	if !strings.Contains(req.LastUserText(), "not for the command") {
		t.Errorf("the line is lost: %q", req.LastUserText())
	}
}

// TestFailureInLineMode: an API failure is shown, and the conversation goes on.
func TestFailureInLineMode(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Play(ohtest.Status(400, nil, `{"type":"error","error":{"type":"invalid_request_error","message":"no such thing"}}`)),
		ohtest.Reply(ohtest.Text("Fine now.")))
	f := b.terminal()
	f.typed("hi\r")
	f.expect("no such thing")
	f.expect("› ")
	f.typed("again\r")
	f.expect("Fine now.")
	f.expect("› ")
	f.typed("\x04")
	f.ends(0)
	b.done(2)
}

// TestPicker: -r on a terminal lets a person choose.
func TestPicker(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("one")), ohtest.Reply(ohtest.Text("two")))
	b.oh("-p", "first question").wantCode(t, 0)
	f := b.attach("-r")
	f.expect("first question")
	f.expect("? ")
	f.typed("1\r")
	f.expect("› ")
	f.typed("second\r")
	f.expect("two")
	f.expect("› ")
	f.typed("/exit\r")
	f.ends(0)
	if !strings.Contains(string(b.done(2)[1].Body), "first question") {
		t.Error("the session was not resumed")
	}
}

// TestHangUp: a terminal that goes away ends the program and its commands.
func TestHangUp(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, twoCalls(t))
	f := b.terminal("--permission-mode", "full_auto")
	f.typed("go\r")
	until(t, "the command runs", func() bool { return exists(filepath.Join(b.marks, "pid")) })
	must(t, f.tty.Close())
	select {
	case <-f.done:
	case <-time.After(limit / 3):
		t.Fatal("it does not end")
	}
	until(t, "the child is gone", func() bool { return !alive(b.pid("pid")) })
	b.resumed(2)
}

// TestEscapes: neither the model nor a command controls the terminal.
func TestEscapes(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;TITLE\x07\x1b[2J\u202eevil"
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("text "+evil), named(bash(t, `printf '\033]0;TITLE\007\033[2Jout'`), "a")), ohtest.Reply(ohtest.Text("The end.")))
	f := b.terminal("--permission-mode", "full_auto")
	f.typed("go\r")
	f.expect("The end.")
	f.expect("› ")
	f.typed("/exit\r")
	f.ends(0)
	if s := f.all(); strings.Contains(s, "\x1b]0;") || strings.Contains(s, "\x1b[2J") {
		t.Errorf("escape codes got through: %q", s)
	}
}

// TestTypedAhead: what was typed before a question is no answer to it.
func TestTypedAhead(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBox(t, ohtest.Anthropic, ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("Wait."), named(bash(t, `echo ran >> "$M/x"`), "a")}, After: hold}, ohtest.Reply(ohtest.Text("The end.")))
	f := b.terminal()
	f.typed("go\r")
	b.requests(1)
	f.typed("y\r")
	f.expect("noted")
	close(hold)
	f.expect("Run this command?")
	f.expect("? ")
	f.typed("n\r")
	f.expect("The end.")
	f.expect("› ")
	if b.marked("x") > 0 {
		t.Error("a line typed before the question allowed the command")
	}
	f.typed("/exit\r")
	f.ends(0)
}

// TestAlways: "always in this project" holds in later runs, with nobody there
// too, and only here.
func TestAlways(t *testing.T) {
	t.Parallel()
	write := func(id, path string) ohtest.ToolCall {
		return ohtest.Call(id, "write_file", input(t, map[string]any{"path": path, "content": "x"}))
	}
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(write("a", "one.txt")), ohtest.Reply(ohtest.Text("The end.")))
	f := b.terminal()
	f.typed("go\r")
	f.expect("[p]roject")
	f.expect("? ")
	f.typed("p\r")
	f.expect("The end.")
	f.expect("› ")
	f.typed("/permissions\r")
	f.expect("allow")
	f.expect("› ")
	f.typed("/exit\r")
	f.ends(0)
	must(t, os.Remove(filepath.Join(b.work, "one.txt")))
	b.srv.Add(ohtest.Reply(write("b", "one.txt")), ohtest.Reply(ohtest.Text("again")))
	r := b.oh("-p", "go")
	r.wantCode(t, 0)
	if !exists(filepath.Join(b.work, "one.txt")) {
		t.Errorf("the rule does not hold in the next run: %v\n%v", r, f.all())
	}
	other := newBox(t, ohtest.Anthropic, ohtest.Reply(write("c", "one.txt")), ohtest.Reply(ohtest.Text("again")))
	other.run(call{args: []string{"-p", "go"}, env: map[string]string{"HOME": b.home}}).wantCode(t, 6)
}

// TestQuestionInterrupted: Ctrl-C at a question stops the run; nothing ran.
func TestQuestionInterrupted(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI, ohtest.Reply(named(bash(t, `echo ran >> "$M/x"`), "a"), named(bash(t, `echo ran >> "$M/x"`), "b")), ohtest.Reply(ohtest.Text("Fine.")))
	f := b.terminal()
	f.typed("go\r")
	f.expect("Run this command?")
	f.expect("? ")
	f.typed("\x03")
	f.expect("› ")
	f.typed("next\r")
	f.expect("Fine.")
	f.expect("› ")
	f.typed("\x04")
	f.ends(0)
	req := b.done(2)[1]
	resultOf(t, req, "a").want(t, true)
	resultOf(t, req, "b").want(t, true)
	if b.marked("x") > 0 {
		t.Error("it ran")
	}
}

// TestUserQuestion: the model asks, a person answers.
func TestUserQuestion(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Call("q", "ask_user_question",
		`{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"red","description":"warm"},{"label":"blue","description":"cold"}]}]}`)), ohtest.Reply(ohtest.Text("Noted.")))
	f := b.terminal()
	f.typed("go\r")
	f.expect("Which colour?")
	f.expect("? ")
	f.typed("2\r")
	f.expect("Noted.")
	f.expect("› ")
	f.typed("\x04")
	f.ends(0)
	resultOf(t, b.done(2)[1], "q").want(t, false, "blue")
}

// TestModeInSession: a mode that a person sets holds at once and after a
// resume; /clear begins anew with it.
func TestModeInSession(t *testing.T) {
	t.Parallel()
	step := func(id, mark string) ohtest.Turn {
		return ohtest.Reply(named(bash(t, `echo ran >> "$M/`+mark+`"`), id))
	}
	b := newBox(t, ohtest.Anthropic, step("a", "one"), ohtest.Reply(ohtest.Text("First end.")), step("b", "two"), ohtest.Reply(ohtest.Text("Second end.")))
	f := b.terminal()
	f.typed("/permissions full_auto\r")
	f.expect("full_auto")
	f.expect("› ")
	f.typed("go\r")
	f.expect("First end.")
	f.expect("› ")
	f.typed("/clear\r")
	f.expect("new conversation")
	f.expect("› ")
	f.typed("/model other-model\r")
	f.expect("other-model")
	f.expect("› ")
	f.typed("go\r")
	f.expect("Second end.")
	f.expect("› ")
	f.typed("/exit\r")
	f.ends(0)
	reqs := b.done(4)
	if reqs[2].Model() != "other-model" || strings.Contains(string(reqs[2].Body), "First end.") {
		t.Errorf("after /clear and /model: %s", reqs[2].Body)
	}
	if b.marked("one") != 1 || b.marked("two") != 1 || len(b.logs()) != 2 {
		t.Errorf("marks %d, %d; files %v", b.marked("one"), b.marked("two"), b.logs())
	}
	b.srv.Add(step("c", "three"), ohtest.Reply(ohtest.Text("ok")))
	b.oh("-c", "-p", "go").wantCode(t, 0)
	if req := b.done(6)[5]; b.marked("three") != 1 || req.Model() != "other-model" {
		t.Errorf("after a resume: model %s, mark %d", req.Model(), b.marked("three"))
	}
}
