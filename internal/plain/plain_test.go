package plain

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// echo answers each line with itself.
func echo(_ context.Context, line string, say func(oh.Event)) error {
	prompted(say, line)
	answer(say, "you said "+line)
	finished(say)
	return nil
}

func TestAnswers(t *testing.T) {
	s := start(t, Config{}, echo)
	s.expect("› ")
	s.typed("hello")
	s.expect("\nyou said hello\n› ")
	s.typed("")
	s.expect("› ")
	s.typed("  ")
	s.expect("› ")
	s.typed(`one \`)
	s.expect("… ")
	s.typed("two")
	s.expect("you said one \ntwo\n› ")
	s.typed("\x1b[200~first\\\r\nsecond\r\n\r\nthird\x1b[201~")
	s.expect("you said first\\\nsecond\n\nthird\n› ")
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	want := []string{"hello", "one \ntwo", "first\\\nsecond\n\nthird"}
	if diff := cmp.Diff(want, s.rt.handled()); diff != "" {
		t.Error(diff)
	}
}

func TestLastLineWithoutNewline(t *testing.T) {
	s := start(t, Config{}, echo)
	s.expect("› ")
	if _, err := io.WriteString(s.in, `hello \`+"\nworld"); err != nil {
		t.Fatal(err)
	}
	_ = s.in.Close()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	s.expect("you said hello \nworld\n")
}

func TestInputFails(t *testing.T) {
	s := start(t, Config{}, echo)
	s.expect("› ")
	broken := errors.New("the line is dead")
	_ = s.in.CloseWithError(broken)
	if err := s.ends(); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "read input: ") {
		t.Errorf("error %v", err)
	}
}

func TestScreenFails(t *testing.T) {
	s := start(t, Config{}, echo)
	s.expect("› ")
	broken := errors.New("gone")
	s.out.mu.Lock()
	s.out.fail = broken
	s.out.mu.Unlock()
	s.typed("hello")
	if err := s.ends(); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}

func TestFailuresEndNothing(t *testing.T) {
	s := start(t, Config{}, func(_ context.Context, line string, say func(oh.Event)) error {
		switch line {
		case "/exit":
			return ErrExit
		case "fail":
			say(oh.TextDelta{Text: "half"})
			say(oh.RunDone{Reason: oh.ReasonFailed})
			return errors.New("529\x1b[2J overloaded")
		case "/version":
			say(oh.CommandOutput{Command: "version", Text: "1.2.3\x07"})
		}
		return nil
	})
	s.expect("› ")
	s.typed("fail")
	s.expect("half\n✗ 529 overloaded\n› ")
	s.typed("/version")
	s.expect("1.2.3\n› ")
	s.typed("/exit")
	if err := s.ends(); err != nil {
		t.Error(err)
	}
}

func TestContextEnds(t *testing.T) {
	out := newTerminal()
	r, w := io.Pipe()
	defer w.Close()
	f := New(Config{In: r, Out: out, Getenv: env(nil)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Run(ctx, &runtime{script: echo}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestSteering types while a run is going: text reaches the run, a command
// waits, and nothing is lost.
func TestSteering(t *testing.T) {
	proceed := make(chan struct{})
	s := start(t, Config{}, func(ctx context.Context, line string, say func(oh.Event)) error {
		return nil
	})
	s.rt.script = func(ctx context.Context, line string, say func(oh.Event)) error {
		if line != "work" {
			return echo(ctx, line, say)
		}
		prompted(say, line)
		say(oh.TextDelta{Text: "begin "})
		<-proceed
		s.rt.take(say)
		answer(say, "done")
		finished(say)
		return nil
	}
	s.expect("› ")
	s.typed("work")
	s.expect("begin ")
	s.typed("use tabs")
	s.expect("\nnoted: the model reads it after this step\n")
	s.typed("")
	s.typed("/help me")
	s.expect("kept for when this is done\n")
	close(proceed)
	s.expect("done\n")
	s.expect("you said /help me\n› ")
	if diff := cmp.Diff([]string{"work", "/help me"}, s.rt.handled()); diff != "" {
		t.Error(diff)
	}
}

// TestSteeringTooLate: what the run did not take is run after it.
func TestSteeringTooLate(t *testing.T) {
	proceed := make(chan struct{})
	s := start(t, Config{}, nil)
	s.rt.script = func(_ context.Context, line string, say func(oh.Event)) error {
		if line == "" {
			s.rt.take(say)
			answer(say, "late one")
			finished(say)
			return nil
		}
		prompted(say, line)
		say(oh.TextDelta{Text: "working"})
		<-proceed
		finished(say)
		return nil
	}
	s.expect("› ")
	s.typed("work")
	s.expect("working")
	s.typed("and tests")
	s.expect("noted")
	close(proceed)
	s.expect("late one\n› ")
	if diff := cmp.Diff([]string{"work", ""}, s.rt.handled()); diff != "" {
		t.Error(diff)
	}
}

func TestInterrupt(t *testing.T) {
	s := start(t, Config{}, func(ctx context.Context, line string, say func(oh.Event)) error {
		prompted(say, line)
		say(oh.TextDelta{Text: "long work"})
		<-ctx.Done()
		say(oh.RunDone{Reason: oh.ReasonCancelled})
		return ctx.Err()
	})
	s.expect("› ")
	s.typed("work")
	s.expect("long work")
	s.typed("too late")
	s.expect("noted")
	s.face.Interrupt()
	s.expect("stopping\n")
	s.expect("stopped; what was done so far is kept. /continue goes on, or type on\n")
	s.expect("goes to the model with your next line\n› ")
	s.face.Interrupt()
	s.expect("press ctrl-c again to leave, or type on\n› ")
	s.typed("")
	s.expect("› ")
	s.face.Interrupt()
	s.expect("press ctrl-c again")
	s.face.Interrupt()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	if strings.Contains(s.out.all(), "✗") {
		t.Errorf("an interrupt is shown as a failure: %q", s.out.all())
	}
}

// TestInterruptHidesNoFailure: an error that is no cancel is shown.
func TestInterruptHidesNoFailure(t *testing.T) {
	s := start(t, Config{}, func(ctx context.Context, line string, say func(oh.Event)) error {
		say(oh.TextDelta{Text: "work"})
		<-ctx.Done()
		return errors.New("the log is full")
	})
	s.expect("› ")
	s.typed("x")
	s.expect("work")
	s.face.Interrupt()
	s.expect("✗ the log is full\n› ")
}

func TestEvents(t *testing.T) {
	diff := "@@ -1,2 +1,2 @@\n-a\x1b[31m\n+b\n c\n d\n e\n"
	done := func(tool string, d oh.Display) oh.ToolDone {
		return oh.ToolDone{ID: "c", Tool: tool, Content: oh.Blocks{oh.Text{Text: "x"}}, Display: oh.DisplayBox{Display: d}}
	}
	failed := done("bash", oh.Output{Command: "go test", Text: "1\n2\n3\n4\n5\n6\n7\n", Exit: 1})
	failed.IsError, failed.Duration = true, 1234567890
	denied := oh.ToolDone{Tool: "ls", Content: oh.Blocks{oh.Text{Text: "no"}, oh.Text{Text: "[for the model]", Context: true}}, IsError: true, Cause: oh.CauseDenied}
	events := []oh.Event{
		oh.MessageDone{Message: oh.Message{Content: oh.Blocks{oh.Text{Text: "whole\x1b]0;t\x07"}}}},
		oh.TextDelta{Text: "void"},
		oh.Retrying{Attempt: 2, Of: 4, After: 2e9, Reason: "anthropic: 529", Discard: true},
		oh.ToolStarted{ID: "c", Tool: "bash", Input: []byte(`{"command":"go\ntest"}`)}, failed, denied,
		done("edit_file", oh.Diff{Path: "/w/a.go", Unified: diff, Added: 1, Removed: 1}),
		done("bash", oh.Output{Text: "1\n2\n\n4\n5  \n"}), done("bash", oh.Output{}),
		done("grep", oh.Count{N: 7, Unit: "match", In: "3 files"}),
		done("todo_write", oh.Todos{Items: []oh.Todo{{Content: "a", Status: oh.TodoCompleted}, {Content: "b", Status: oh.TodoInProgress}, {Content: "c", Status: oh.TodoPending}}}),
		oh.Sub{Call: "c", Event: oh.ToolStarted{Tool: "grep", Input: []byte(`{"pattern":"Retry"}`)}},
		oh.Sub{Call: "c", Event: oh.TextDelta{Text: "hidden"}},
		oh.Notice{Level: oh.Info, Text: "fyi"}, oh.Notice{Level: oh.Warning, Text: "odd"}, oh.Notice{Level: oh.Failure, Text: "bad"},
		oh.ErrorEvent{Message: "server away"}, oh.Status{Text: "waiting"}, oh.Compaction{Phase: oh.CompactionDone},
		oh.StateChanged{Mode: oh.ModePlan}, oh.RunDone{Reason: oh.ReasonMaxTurns, Text: "the turn limit (200) is reached"},
	}
	want := `
whole

void
⚠ anthropic: 529: trying again in 2 s (2 of 4); the reply above is void, it begins anew
● bash go test
✗ bash  exit 1, 1.2 s
  … 2 lines above
  └ 3
  └ 4
  └ 5
  └ 6
  └ 7
✗ ls  denied
  └ no
✓ edit_file  +1 -1
  a.go
  @@ -1,2 +1,2 @@
  -a
  +b
  … 3 lines more
✓ bash
  … 2 lines above
  └ 4
  └ 5
✓ bash
✓ grep  7 matches in 3 files
✓ todo_write  3 items
  [x] a
  [>] b
  [ ] c
  └ agent: grep Retry
fyi
⚠ odd
✗ bad
✗ server away
waiting
the history is shortened
mode: plan
✗ the turn limit (200) is reached. /continue goes on, /continue N for N turns at most
`
	var out strings.Builder
	c := Config{Out: &out, Lines: 3, Dir: "/w", Getenv: env(nil)}
	f := New(c)
	for _, e := range events {
		f.show(e)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLook(t *testing.T) {
	tests := []struct {
		name     string
		terminal bool
		vars     map[string]string
		want     look
		prompt   string
	}{
		{"terminal", true, nil, look{colour: true}, "› "},
		{"pipe", false, nil, look{}, "› "},
		{"no colour", true, map[string]string{"NO_COLOR": "1"}, look{ascii: true}, "> "},
		{"dumb", true, map[string]string{"TERM": "dumb", "LANG": "en_US.UTF-8"}, look{ascii: true}, "> "},
		{"C locale", true, map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, look{colour: true, ascii: true}, "> "},
		{"UTF-8 locale", true, map[string]string{"LANG": "de_DE.utf8"}, look{colour: true}, "› "},
	}
	for _, tt := range tests {
		var out strings.Builder
		f := New(Config{Out: &out, Terminal: tt.terminal, Getenv: env(tt.vars)})
		f.s.prompt()
		if f.s.look != tt.want || out.String() != tt.prompt {
			t.Errorf("%s: look %+v, prompt %q", tt.name, f.s.look, out.String())
		}
		f.s.problem("x")
		if coloured := strings.Contains(out.String(), "\x1b["); coloured != tt.want.colour {
			t.Errorf("%s: coloured %v", tt.name, coloured)
		}
	}
}
