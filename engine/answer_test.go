package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/ohtest"
)

// answering is a tool that takes {"n":1} and refuses all else.
func answering() tool {
	return tool{name: "answer", access: read,
		prep: func(call *oh.Call) error {
			if string(call.Input) != `{"n":1}` {
				return errors.New("n must be 1")
			}
			return nil
		},
		run: func(_ context.Context, call *oh.Call, _ func(oh.Event)) (oh.Result, error) {
			res := oh.TextResult("delivered")
			res.Meta = json.RawMessage(`{"structured_output":` + string(call.Input) + `}`)
			return res, nil
		}}
}

func TestAnswer(t *testing.T) {
	good := ohtest.Reply(ohtest.Text("here"), ohtest.Call("g", "answer", `{"n":1}`))
	bad := func(id string) ohtest.Turn { return ohtest.Reply(ohtest.Call(id, "answer", `{"n":2}`)) }
	prose := ohtest.Reply(ohtest.Text("It is 1."))
	tests := []struct {
		name   string
		turns  []ohtest.Turn
		reason oh.Reason
		output string
		text   string
	}{
		{"at once", []ohtest.Turn{good}, oh.ReasonEnd, `{"n":1}`, ""},
		{"after work", []ohtest.Turn{ohtest.Reply(ohtest.Call("l", "look", `{}`)), good}, oh.ReasonEnd, `{"n":1}`, ""},
		{"beside other calls", []ohtest.Turn{ohtest.Reply(ohtest.Call("g", "answer", `{"n":1}`), ohtest.Call("l", "look", `{}`))}, oh.ReasonEnd, `{"n":1}`, ""},
		{"corrected three times", []ohtest.Turn{bad("1"), bad("2"), bad("3"), good}, oh.ReasonEnd, `{"n":1}`, ""},
		{"never right", []ohtest.Turn{bad("1"), bad("2"), bad("3"), bad("4")}, oh.ReasonNoOutput, "", "4 times. The last time: n must be 1"},
		{"broken arguments", []ohtest.Turn{ohtest.Reply(ohtest.Call("1", "answer", `{"n":`)), good}, oh.ReasonEnd, `{"n":1}`, ""},
		{"reminded twice", []ohtest.Turn{prose, prose, good}, oh.ReasonEnd, `{"n":1}`, ""},
		{"never called", []ohtest.Turn{prose, prose, prose}, oh.ReasonNoOutput, "", "asked 2 times"},
		{"two answers in one reply", []ohtest.Turn{ohtest.Reply(ohtest.Call("1", "answer", `{"n":3}`), ohtest.Call("2", "answer", `{"n":1}`))}, oh.ReasonEnd, `{"n":1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := setUp(t, []oh.Tool{answering(), says("look", "seen", read)}, tt.turns...)
			b.cfg.Answer = &engine.Answer{Tool: "answer", Remind: "call answer"}
			events, err := b.run("go")
			if err != nil {
				t.Fatal(err)
			}
			done := events[len(events)-1].(oh.RunDone)
			if done.Reason != tt.reason || string(done.Output) != tt.output || !strings.Contains(done.Text, tt.text) {
				t.Errorf("%s %s %q", done.Reason, done.Output, done.Text)
			}
			if left := b.prov.Remaining(); left != 0 {
				t.Errorf("%d turns are left", left)
			}
		})
	}
}

// TestAnswerAndStopHook: a stop hook may ask for more; the answer then has to be
// given anew.
func TestAnswerAndStopHook(t *testing.T) {
	call := func(id string) ohtest.Turn { return ohtest.Reply(ohtest.Call(id, "answer", `{"n":1}`)) }
	b := setUp(t, []oh.Tool{answering()}, call("1"), ohtest.Reply(ohtest.Text("more")), call("2"))
	b.cfg.Answer = &engine.Answer{Tool: "answer", Remind: "call answer"}
	stops := 0
	b.cfg.Hook = hookFunc(func(in oh.HookInput) (oh.HookResult, error) {
		if in.Event != oh.HookStop {
			return oh.HookResult{}, nil
		}
		stops++
		return oh.HookResult{Block: stops == 1, Reason: "check it"}, nil
	})
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	if done := events[len(events)-1].(oh.RunDone); string(done.Output) != `{"n":1}` || stops != 2 {
		t.Errorf("%+v after %d stops", done, stops)
	}
	want := []string{"user: go", "assistant: call 1", "user: result 1 delivered | check it", "assistant: more", "user: call answer", "assistant: call 2", "user: result 2 delivered"}
	if diff := cmp.Diff(want, texts(b.conv.Messages())); diff != "" {
		t.Error(diff)
	}
}

// hookFunc is a function as a hook.
type hookFunc func(oh.HookInput) (oh.HookResult, error)

func (f hookFunc) Fire(_ context.Context, in oh.HookInput) (oh.HookResult, error) { return f(in) }
