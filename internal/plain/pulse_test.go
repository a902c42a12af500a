package plain

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// signs plays a run on a terminal and returns what the screen shows of it,
// without the prompts around it.
func signs(t *testing.T, c Config, line string, script func(say func(oh.Event))) string {
	t.Helper()
	var got string
	synctest.Test(t, func(t *testing.T) {
		s := start(t, c, func(_ context.Context, _ string, say func(oh.Event)) error {
			script(say)
			return nil
		})
		s.expect("> ")
		s.typed(line)
		time.Sleep(time.Hour)
		_ = s.in.Close()
		if err := s.ends(); err != nil {
			t.Error(err)
		}
		got = strings.TrimSuffix(strings.TrimPrefix(s.out.all(), "> "), "> \n")
	})
	return got
}

func calls(ids ...string) oh.MessageDone {
	m := oh.Message{Role: oh.Assistant}
	for _, id := range ids {
		m.Content = append(m.Content, oh.ToolUse{ID: id, Name: "bash", Input: []byte(`{"command":"` + id + `"}`)})
	}
	return oh.MessageDone{Message: m}
}

func runs(id string) oh.ToolStarted {
	return oh.ToolStarted{ID: id, Tool: "bash", Input: []byte(`{"command":"` + id + `"}`)}
}

func TestSignsOfLife(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name, line string
		script     func(say func(oh.Event))
		want       string
	}{
		{"a quick model", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			time.Sleep(1900 * time.Millisecond)
			say(oh.TextDelta{Text: "hi"})
			time.Sleep(9 * s)
			answer(say, "")
			finished(say)
			time.Sleep(9 * s)
		}, "\nhi\n"},
		{"a slow model is told of once", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			time.Sleep(30 * s)
			say(oh.ThinkingDelta{Text: "hm"})
			time.Sleep(30 * s)
			answer(say, "hi")
			finished(say)
		}, "waiting for the model\n\nhi\n"},
		{"what is shown restarts the clock", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			time.Sleep(1900 * time.Millisecond)
			say(oh.Notice{Level: oh.Info, Text: "fyi"})
			time.Sleep(1900 * time.Millisecond)
			answer(say, "hi")
			finished(say)
		}, "fyi\n\nhi\n"},
		{"each request", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			time.Sleep(3 * s)
			say(calls("a", "b"))
			say(runs("a"))
			say(oh.ToolDone{ID: "a", Tool: "bash"})
			time.Sleep(5 * s) // the second call waits for something
			say(runs("b"))
			say(oh.ToolDone{ID: "b", Tool: "bash"})
			time.Sleep(1 * s)
			say(oh.ToolDone{ID: "b", Tool: "bash"})
			time.Sleep(1 * s)
			time.Sleep(3 * s)
			answer(say, "hi")
			finished(say)
		}, "waiting for the model\n* bash a\nok bash\n* bash b\nok bash\nok bash\nwaiting for the model\n\nhi\n"},
		{"a retry", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			say(oh.Retrying{Attempt: 2, Of: 4, After: 8 * s, Reason: "anthropic: 529 overloaded"})
			time.Sleep(9 * s)
			say(oh.Notice{Level: oh.Info, Text: "9 s"})
			time.Sleep(3 * s)
			answer(say, "hi")
			finished(say)
		}, "note: anthropic: 529 overloaded: trying again in 8 s (2 of 4)\n9 s\nwaiting for the model\n\nhi\n"},
		{"thinking", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			say(oh.ThinkingDelta{Text: "hm"})
			time.Sleep(3 * s)
			answer(say, "hi")
			finished(say)
		}, "the model is thinking\n\nhi\n"},
		{"a long call", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			say(oh.TextDelta{Text: "I write."})
			say(oh.ToolInputDelta{ID: "a", Name: "write_file", JSON: "{"})
			time.Sleep(1 * s)
			say(oh.ToolInputDelta{JSON: "}"})
			time.Sleep(4 * s)
			say(calls())
			finished(say)
		}, "\nI write.\nthe model prepares write_file\n"},
		{"continue", "/continue 3", func(say func(oh.Event)) {
			time.Sleep(3 * s)
			answer(say, "hi")
			finished(say)
		}, "waiting for the model\n\nhi\n"},
		{"another command", "/status", func(func(oh.Event)) { time.Sleep(3 * s) }, ""},
		{"a long tool", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			say(calls("a"))
			say(runs("a"))
			time.Sleep(185 * s)
			say(oh.ToolDone{ID: "a", Tool: "bash"})
			finished(say)
		}, "* bash a\nstill running, 10 s\nstill running, 30 s\nstill running, 1 min\nstill running, 2 min\nstill running, 3 min\nok bash\n"},
		{"two tools", "go", func(say func(oh.Event)) {
			prompted(say, "go")
			say(calls("a", "b"))
			say(runs("a"))
			time.Sleep(5 * s)
			say(runs("b"))
			time.Sleep(6 * s)
			say(oh.ToolDone{ID: "a", Tool: "bash"})
			time.Sleep(5 * s)
			say(oh.ToolDone{ID: "b", Tool: "bash"})
			finished(say)
		}, "* bash a\n* bash b\nstill running, 10 s: bash a\nok bash\nstill running, 10 s\nok bash\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, signs(t, onTerminal(Config{}), tt.line, tt.script)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestNoSigns: without a terminal there are none.
func TestNoSigns(t *testing.T) {
	c := Config{Getenv: env(map[string]string{"TERM": "dumb"})}
	got := signs(t, c, "go", func(say func(oh.Event)) {
		prompted(say, "go")
		time.Sleep(time.Minute)
		say(calls("a"))
		say(runs("a"))
		time.Sleep(time.Minute)
		say(oh.ToolDone{ID: "a", Tool: "bash"})
		finished(say)
	})
	if want := "* bash a\nok bash\n"; got != want {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

// TestNoSignInAQuestion: nothing comes between a question and its answer.
func TestNoSignInAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := start(t, onTerminal(Config{}), nil)
		s.rt.script = func(ctx context.Context, line string, say func(oh.Event)) error {
			prompted(say, line)
			say(calls("a"))
			say(runs("a"))
			_, err := s.face.Ask(ctx, oh.Question{Kind: oh.AskPlan, Text: "1. a"})
			time.Sleep(10 * time.Second)
			return errors.Join(err, ErrExit)
		}
		s.expect("> ")
		s.typed("go")
		s.expect("? ")
		time.Sleep(25 * time.Second)
		s.typed("y")
		if err := s.ends(); err != nil {
			t.Error(err)
		}
		_, after, _ := strings.Cut(s.out.all(), "? ")
		if want := "still running, 30 s\n"; !strings.HasSuffix(s.out.all(), "? "+want) {
			t.Errorf("after the question: %q, want %q", after, want)
		}
	})
}
