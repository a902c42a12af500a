//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/ohtest"
)

// twoCalls is a turn of two commands: the first leaves a mark and ends, the
// second leaves one and its process id and stays.
func twoCalls(t *testing.T) ohtest.Turn {
	t.Helper()
	return ohtest.Reply(ohtest.Text("Two things."),
		named(bash(t, `echo ran >> "$M/one"; echo first-output`), "a"),
		named(bash(t, `echo ran >> "$M/two"; sleep 300 & echo $! > "$M/pid.new"; mv "$M/pid.new" "$M/pid"; wait`), "b"))
}

// inSecond starts the batch and waits until its second call hangs.
func (b *box) inSecond(args ...string) *running {
	b.t.Helper()
	r := b.start(call{args: append([]string{"-p", "--permission-mode", "full_auto"}, args...)})
	until(b.t, "the second call runs", func() bool { return exists(filepath.Join(b.marks, "pid")) })
	return r
}

// resumed goes on after an end in the second call and checks what the model is
// told.
func (b *box) resumed(requests int) {
	b.t.Helper()
	b.srv.Add(ohtest.Reply(ohtest.Text("back again")))
	r := b.oh("-c", "-p", "go on")
	r.wantCode(b.t, 0)
	if r.out != "back again\n" {
		b.t.Errorf("the answer after a resume: %v", r)
	}
	reqs := b.done(requests)
	req := reqs[len(reqs)-1]
	if a := resultOf(b.t, req, "a"); a.isErr || !strings.Contains(a.text, "first-output") {
		b.t.Errorf("the finished result: %+v", a)
	}
	if a := resultOf(b.t, req, "b"); !a.isErr || !strings.Contains(a.text, "interrupted") && !strings.Contains(a.text, "cancelled") {
		b.t.Errorf("the open call: %+v", a)
	}
	if req.LastUserText() == "" || !strings.Contains(req.LastUserText(), "go on") {
		b.t.Errorf("last text %q", req.LastUserText())
	}
	if diff := cmp.Diff([]int{1, 1}, []int{b.marked("one"), b.marked("two")}); diff != "" {
		b.t.Errorf("calls that ran (-want +got):\n%s", diff)
	}
}

// TestKilled (B24): kill -9 in the middle of a batch loses nothing that ended.
func TestKilled(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, twoCalls(t))
		r := b.inSecond("two things")
		t.Cleanup(func() { _ = syscall.Kill(b.pid("pid"), syscall.SIGKILL) })
		r.signal(syscall.SIGKILL)
		if res := r.wait(); res.code != 137 {
			t.Errorf("killed: %v", res)
		}
		b.resumed(2)
	})
}

// TestSignals (B23): the first SIGINT or SIGTERM ends the run with a result,
// and no process is left.
func TestSignals(t *testing.T) {
	for _, tt := range []struct {
		sig    syscall.Signal
		code   int
		format string
	}{
		{syscall.SIGINT, 130, "stream-json"}, {syscall.SIGINT, 130, "json"}, {syscall.SIGINT, 130, "text"},
		{syscall.SIGTERM, 143, "stream-json"}, {syscall.SIGHUP, 129, "events"},
	} {
		t.Run(fmt.Sprintf("%v %s", tt.sig, tt.format), func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				b := newBox(t, wire, twoCalls(t))
				r := b.inSecond("--output-format", tt.format, "two things")
				r.signal(tt.sig)
				res := r.wait()
				res.wantCode(t, tt.code)
				if res.took > 20*time.Second {
					t.Errorf("took %v", res.took)
				}
				until(t, "the child is gone", func() bool { return !alive(b.pid("pid")) })
				if strings.HasSuffix(tt.format, "json") {
					if f := last(t, res.out); f["is_error"] != true || f["subtype"] != "error_during_execution" {
						t.Errorf("result %v", f)
					}
				}
				b.resumed(2)
			})
		})
	}
}

// TestSecondInterrupt: the second SIGINT ends the program at once, whatever it
// waits for, and the history stays good.
func TestSecondInterrupt(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("x"), named(bash(t,
		`trap '' TERM INT; echo ran >> "$M/two"; echo $$ > "$M/pid.new"; mv "$M/pid.new" "$M/pid"; while :; do sleep 0.1; done`), "b")))
	r := b.inSecond("go")
	r.signal(syscall.SIGINT)
	r.signal(syscall.SIGINT)
	res := r.wait()
	res.wantCode(t, 130)
	b.srv.Add(ohtest.Reply(ohtest.Text("back")))
	b.oh("-c", "-p", "go on").wantCode(t, 0)
	b.done(2)
	_ = syscall.Kill(b.pid("pid"), syscall.SIGKILL)
}

// TestInterruptedStream: an end while arguments or text arrive leaves a history
// that goes on; the cut call never runs.
func TestInterruptedStream(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			bothWires(t, func(t *testing.T, wire ohtest.Wire) {
				sent := make(chan struct{})
				b := newBox(t, wire, ohtest.Turn{
					Parts: []ohtest.Part{ohtest.Text("Let me write."), ohtest.Call("w", "write_file", `{"path":"cut.txt","content":"half of the content"}`)},
					Cut:   ohtest.Cut{Delta: 4},
					Edit: func(_ ohtest.Wire, events [][]byte) []ohtest.Step {
						close(sent)
						return append(ohtest.SendAll(events[:len(events)-4]...), ohtest.Hold())
					},
				})
				r := b.start(call{args: []string{"-p", "--permission-mode", "full_auto", "--output-format", "stream-json", "--include-partial-messages", "write it"}})
				<-sent
				until(t, "a session file", func() bool { return len(b.logs()) == 1 })
				r.signal(sig)
				res := r.wait()
				res.wantCode(t, 128+int(sig))
				if sig == syscall.SIGINT && last(t, res.out)["is_error"] != true {
					t.Errorf("result of an interrupted run: %v", res)
				}
				b.srv.Add(ohtest.Reply(ohtest.Text("fine")))
				b.oh("-c", "-p", "go on").wantCode(t, 0)
				reqs := b.done(2)
				if exists(filepath.Join(b.work, "cut.txt")) {
					t.Error("the cut call ran")
				}
				for _, m := range reqs[1].Messages() {
					for _, c := range m.Content {
						if strings.Contains(fmt.Sprintf("%+v", c), "half of") {
							t.Errorf("a cut call is in the history: %+v", c)
						}
					}
				}
			})
		})
	}
}

// TestTornLog (B25): broken lines are skipped and told, the rest is kept, and
// the file is never shortened.
func TestTornLog(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Reply(ohtest.Text("one\u2028line")), ohtest.Reply(ohtest.Text("two")))
		b.oh("-p", "first\u2028prompt").wantCode(t, 0)
		b.oh("-c", "-p", "second prompt").wantCode(t, 0)
		path := b.log()
		lines := strings.SplitAfter(b.read(path), "\n")
		whole := lines[:len(lines)-1]
		torn := strings.Join(whole[:len(whole)-1], "") + strings.Repeat("\x00", 64) + "\n\n{\"not\":\"ours\"}\n" + whole[len(whole)-1] + whole[0][:len(whole[0])/2]
		must(t, os.WriteFile(path, []byte(torn), 0o600))
		b.srv.Add(ohtest.Reply(ohtest.Text("three")), ohtest.Reply(ohtest.Text("four")))
		r := b.oh("-c", "-p", "third prompt")
		r.wantCode(t, 0)
		r.wantErr(t, "4 lines", "left out")
		b.oh("-c", "-p", "fourth prompt").wantCode(t, 0)
		if after := b.read(path); !strings.HasPrefix(after, torn) {
			t.Error("the file was changed before its end")
		}
		last := string(b.done(4)[3].Body)
		for _, want := range []string{"first\u2028prompt", "second prompt", "third prompt", "fourth prompt", "one\u2028line", "two", "three"} {
			if !strings.Contains(strings.ReplaceAll(last, `\u2028`, "\u2028"), want) {
				t.Errorf("%q is lost", want)
			}
		}
	})
}
