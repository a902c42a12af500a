package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// hooks answers events by name and notes the order they came in.
type hooks struct {
	mu     sync.Mutex
	fired  []string
	answer map[oh.HookEvent]oh.HookResult
	err    map[oh.HookEvent]error
}

func (h *hooks) Fire(_ context.Context, in oh.HookInput) (oh.HookResult, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fired = append(h.fired, string(in.Event))
	return h.answer[in.Event], h.err[in.Event]
}

func TestHookOrder(t *testing.T) {
	h := &hooks{}
	fails := tool{name: "fails", run: func(_ context.Context, _ *oh.Call, emit func(oh.Event)) (oh.Result, error) {
		emit(oh.StateChanged{Dir: "/elsewhere"})
		return oh.Result{}, errors.New("no")
	}}
	b := setUp(t, []oh.Tool{says("ok", "x", read), fails}, calls(tc("a", "ok", "{}"), tc("b", "fails", "{}")), say("done"))
	b.cfg.Hook = h
	b.cfg.Gate = oh.GateFunc(func(_ context.Context, req oh.GateRequest) oh.Verdict {
		if req.Tool == "fails" {
			return oh.Verdict{Decision: oh.Ask}
		}
		return oh.Verdict{Decision: oh.Allow}
	})
	b.cfg.Asker = answer(oh.Answer{Allow: true}, nil)
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"user_prompt_submit", "pre_tool_use", "pre_tool_use", "post_tool_use", "permission_request", "notification",
		"post_tool_use_failure", "cwd_changed", "post_tool_batch", "stop"}
	if d := cmp.Diff(want, h.fired); d != "" {
		// The failing call's post hook runs beside the run's own goroutine.
		want[6], want[7] = want[7], want[6]
		if cmp.Diff(want, h.fired) != "" {
			t.Errorf("hooks (-want +got):\n%s", d)
		}
	}
}

func TestHookAnswers(t *testing.T) {
	deny := oh.Deny
	for _, c := range []struct {
		name    string
		on      oh.HookEvent
		res     oh.HookResult
		err     error
		turns   int
		reason  oh.Reason
		history string // of it a piece
		ran     string
	}{
		{name: "prompt dropped", on: oh.HookUserPrompt, res: oh.HookResult{Block: true, Reason: "secret"}, reason: oh.ReasonBlocked},
		{name: "prompt with context", on: oh.HookUserPrompt, res: oh.HookResult{Context: "branch x"}, turns: 2, reason: oh.ReasonEnd,
			history: "user: go | branch x", ran: `{"n":1}`},
		{name: "call blocked", on: oh.HookPreTool, res: oh.HookResult{Block: true, Reason: "no rm"}, turns: 2, reason: oh.ReasonEnd,
			history: "Permission denied: no rm"},
		{name: "run halted", on: oh.HookPreTool, res: oh.HookResult{Halt: true, Reason: "stop it"}, turns: 1, reason: oh.ReasonBlocked,
			history: "Permission denied: stop it"},
		{name: "input rewritten", on: oh.HookPreTool, res: oh.HookResult{Input: json.RawMessage(`{"n": 2}`)}, turns: 2, reason: oh.ReasonEnd,
			history: "result a saw", ran: `{"n":2}`},
		{name: "output replaced", on: oh.HookPostTool, res: oh.HookResult{Output: oh.Blocks{oh.Text{Text: "redacted"}}}, turns: 2,
			reason: oh.ReasonEnd, history: "result a redacted", ran: `{"n":1}`},
		{name: "context added", on: oh.HookPostTool, res: oh.HookResult{Context: "lint: ok"}, turns: 2, reason: oh.ReasonEnd,
			history: "result a sawlint: ok", ran: `{"n":1}`},
		{name: "permission denied", on: oh.HookPermission, res: oh.HookResult{Decision: &deny, Reason: "policy"}, turns: 2, reason: oh.ReasonEnd,
			history: "Permission denied: policy"},
		{name: "batch context", on: oh.HookPostToolBatch, res: oh.HookResult{Context: "all run"}, turns: 2, reason: oh.ReasonEnd,
			history: "result a saw | all run", ran: `{"n":1}`},
		{name: "failure is a warning", on: oh.HookPreTool, err: errors.New("hook crashed"), turns: 2, reason: oh.ReasonEnd,
			history: "result a saw", ran: `{"n":1}`},
		{name: "fatal failure", on: oh.HookPreTool, err: oh.Fatal(errors.New("audit is down")), turns: 1, reason: oh.ReasonFailed,
			history: "interrupted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := ""
			w := tool{name: "w", run: func(_ context.Context, call *oh.Call, _ func(oh.Event)) (oh.Result, error) {
				ran = string(call.Input)
				return oh.TextResult("saw"), nil
			}}
			turns := []ohtest.Turn{calls(tc("a", "w", `{"n":1}`)), say("done")}
			b := setUp(t, []oh.Tool{w}, turns[:c.turns]...)
			b.cfg.Hook = &hooks{answer: map[oh.HookEvent]oh.HookResult{c.on: c.res}, err: map[oh.HookEvent]error{c.on: c.err}}
			if c.on == oh.HookPermission {
				b.cfg.Gate = oh.GateFunc(func(context.Context, oh.GateRequest) oh.Verdict { return oh.Verdict{Decision: oh.Ask} })
			}
			events, err := b.run("go")
			if (err != nil) != (c.reason == oh.ReasonFailed) || reason(events) != c.reason {
				t.Fatalf("%v, %v", kinds(events), err)
			}
			history := strings.Join(texts(b.conv.Messages()), "\n")
			if !strings.Contains(history, c.history) || ran != c.ran {
				t.Errorf("ran %q, history:\n%s", ran, history)
			}
		})
	}
}

func TestStopHookMakesTheRunGoOnOnce(t *testing.T) {
	b := setUp(t, nil, say("first"), say("second"))
	b.cfg.Hook = oh.HookFunc(func(_ context.Context, in oh.HookInput) (oh.HookResult, error) {
		return oh.HookResult{Block: in.Event == oh.HookStop && !in.StopActive, Reason: "tests are red"}, nil
	})
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"user: go", "assistant: first", "user: tests are red", "assistant: second"}
	if d := cmp.Diff(want, texts(b.conv.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

// artifacts keeps long output in memory.
type artifacts struct{ files []*artifact }

type artifact struct{ strings.Builder }

func (a *artifacts) Create(string) (oh.Artifact, error) {
	a.files = append(a.files, &artifact{})
	return a.files[len(a.files)-1], nil
}
func (*artifact) Close() error { return nil }
func (*artifact) Path() string { return "/art/1.txt" }

func TestLongOutputGoesToAnArtifact(t *testing.T) {
	long := strings.Repeat("世界🙂\n", 10_000)
	art := &artifacts{}
	b := setUp(t, []oh.Tool{says("big", long, read)}, calls(tc("a", "big", "{}")), say("done"))
	b.cfg.Artifacts = art
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	got := pick[oh.ToolDone](events)[0].Content.Text()
	if len(art.files) != 1 || art.files[0].String() != long {
		t.Fatalf("%d artifacts", len(art.files))
	}
	for _, want := range []string{"40000 characters", "/art/1.txt", "37000 characters left out", "世界🙂\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if n := len([]rune(got)); n > 3500 {
		t.Errorf("the model gets %d characters", n)
	}
}

func TestInvalidUTF8NeverReachesTheHistory(t *testing.T) {
	b := setUp(t, []oh.Tool{says("bad", "a\xff\xfeb", read)}, calls(tc("a", "bad", "{}")), say("done"))
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	if got := texts(b.conv.Messages())[2]; got != "user: result a a\uFFFDb" {
		t.Errorf("history: %q", got)
	}
}
