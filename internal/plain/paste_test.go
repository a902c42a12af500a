package plain

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func onTerminal(c Config) Config {
	c.Terminal, c.Getenv = true, env(map[string]string{"TERM": "dumb"})
	return c
}

// TestPaste: lines that come at once are one entry, on a terminal.
func TestPaste(t *testing.T) {
	const soon, later = 29 * time.Millisecond, 31 * time.Millisecond
	type step struct {
		line  string
		after time.Duration // before the line
	}
	tests := []struct {
		name  string
		steps []step
		want  []string
	}{
		{"one line", []step{{"a", 0}}, []string{"a"}},
		{"a paste", []step{{"a", 0}, {"b", 0}, {"", soon}, {"c", soon}, {"", soon}}, []string{"a\nb\n\nc"}},
		{"typed", []step{{"a", 0}, {"b", later}}, []string{"a", "b"}},
		{"a command stands alone", []step{{"/help", 0}, {"a", 0}, {"/exit", soon}}, []string{"/help", "a\n/exit"}},
		{"a path is no command", []step{{"/etc/x", 0}, {"b", 0}}, []string{"/etc/x\nb"}},
		{"continued", []step{{`a\`, 0}, {"b", time.Second}, {"c", soon}}, []string{"a\nb\nc"}},
		{"marked", []step{{"\x1b[200~a", 0}, {"b\x1b[201~", time.Second}, {"c", later}}, []string{"a\nb", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, onTerminal(Config{}), echo)
				s.expect("> ")
				for _, x := range tt.steps {
					time.Sleep(x.after)
					s.typed(x.line)
				}
				time.Sleep(time.Second)
				if diff := cmp.Diff(tt.want, s.rt.handled()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestPasteAtEnd: what is held when the input ends is not lost.
func TestPasteAtEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, onTerminal(Config{}), echo)
		s.expect("> ")
		if _, err := io.WriteString(s.in, "a\nb\nc"); err != nil {
			t.Fatal(err)
		}
		_ = s.in.Close()
		if err := s.ends(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]string{"a\nb\nc"}, s.rt.handled()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPasteByPipe: over a pipe each line is an entry, at once.
func TestPasteByPipe(t *testing.T) {
	s := start(t, Config{}, echo)
	if _, err := io.WriteString(s.in, "a\nb\n"); err != nil {
		t.Fatal(err)
	}
	_ = s.in.Close()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, s.rt.handled()); diff != "" {
		t.Error(diff)
	}
}

// TestPasteSteers: a paste during a run reaches it as one text.
func TestPasteSteers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, onTerminal(Config{}), nil)
		s.rt.script = func(_ context.Context, line string, say func(oh.Event)) error {
			prompted(say, line)
			say(oh.TextDelta{Text: "working"})
			time.Sleep(time.Second)
			s.rt.take(say)
			answer(say, "done")
			finished(say)
			return nil
		}
		s.expect("> ")
		s.typed("go")
		s.expect("working")
		s.typed("one")
		s.typed("two")
		s.expect("\nnoted: the model reads it after this step\n")
		s.expect("done\n> ")
		if n := strings.Count(s.out.all(), "noted"); n != 1 {
			t.Errorf("noted %d times:\n%s", n, s.out.all())
		}
		if diff := cmp.Diff([]string{"go"}, s.rt.handled()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPasteIsNoAnswer: a paste that a question cuts in two does not answer it,
// and the question stays open.
func TestPasteIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan oh.Answer, 1)
		s := start(t, onTerminal(Config{}), nil)
		s.rt.script = func(ctx context.Context, line string, say func(oh.Event)) error {
			if line == "" {
				s.rt.take(say)
				finished(say)
				return nil
			}
			prompted(say, line)
			time.Sleep(time.Second)
			a, err := s.face.Ask(ctx, commandQuestion())
			answers <- a
			finished(say)
			return err
		}
		s.expect("> ")
		s.typed("go")
		time.Sleep(time.Second + 20*time.Millisecond) // the prompt itself is held for 30 ms
		s.typed("pasted")
		time.Sleep(20 * time.Millisecond)
		s.expect("? ")
		s.typed("y")
		s.expect("noted: the model reads it after this step\n? ")
		if diff := cmp.Diff([]string{"pasted\ny"}, s.rt.queued); diff != "" {
			t.Error(diff)
		}
		select {
		case a := <-answers:
			t.Errorf("the paste answered: %+v", a)
		default:
		}
		s.typed("n")
		if a := <-answers; a.Allow || a.Text != "" {
			t.Errorf("answer %+v", a)
		}
		s.expect("> ")
	})
}

// TestFirst: a prompt of the command line is shown and handled before what is
// typed, also when it has several lines; the question before the session does
// not take it.
func TestFirst(t *testing.T) {
	r, w := io.Pipe()
	out := newTerminal()
	rt := &runtime{script: echo}
	f := New(Config{In: r, Out: out, Getenv: env(nil), First: "one \\\n\ntwo\x1b[2J\n"})
	s := &session{t: t, out: out, in: w, rt: rt, face: f, done: make(chan error, 1)}
	trusted := make(chan oh.Answer, 1)
	go func() {
		a, _ := f.Ask(t.Context(), oh.Question{Kind: oh.AskTrust, Text: "2 hooks"})
		trusted <- a
	}()
	s.expect("? ")
	s.typed("y")
	if a := <-trusted; !a.Allow {
		t.Errorf("answer %+v", a)
	}
	go func() { s.done <- f.Run(t.Context(), rt) }()
	s.expect("› one \\\n… \n… two\n")
	s.expect("you said one \\\n\ntwo\n› ")
	s.typed("more")
	s.expect("you said more\n› ")
	_ = w.Close()
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"one \\\n\ntwo\x1b[2J", "more"}, rt.handled()); diff != "" {
		t.Error(diff)
	}
}

// TestFirstAlone: it is handled although there is no input.
func TestFirstAlone(t *testing.T) {
	rt := &runtime{script: echo}
	out := newTerminal()
	f := New(Config{In: strings.NewReader(""), Out: out, Getenv: env(nil), First: "hello"})
	if err := f.Run(t.Context(), rt); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"hello"}, rt.handled()); diff != "" {
		t.Error(diff)
	}
}
