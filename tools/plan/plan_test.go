package plan

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// run calls one of the tools and returns what became of it.
func run(t *testing.T, ctx context.Context, name, input string, env *oh.Env) (oh.Result, []oh.Event, error) {
	t.Helper()
	for _, tool := range Tools() {
		if tool.Spec().Name != name {
			continue
		}
		act, err := tool.Prepare(ctx, &oh.Call{ID: "c1", Name: name, Input: json.RawMessage(input), Env: env})
		if err != nil {
			return oh.Result{}, nil, err
		}
		if diff := cmp.Diff(oh.Access{ReadOnly: true}, act.Access); diff != "" {
			t.Error(diff)
		}
		var events []oh.Event
		res, err := act.Run(ctx, func(e oh.Event) { events = append(events, e) })
		return res, events, err
	}
	t.Fatalf("no tool %s", name)
	return oh.Result{}, nil, nil
}

func answers(a oh.Answer) oh.Asker {
	return oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) { return a, nil })
}

func TestEnter(t *testing.T) {
	for _, mode := range oh.Modes {
		_, events, err := run(t, t.Context(), enterName, `{}`, &oh.Env{Mode: mode})
		var want []oh.Event
		if mode != oh.ModePlan {
			want = []oh.Event{oh.StateChanged{Mode: oh.ModePlan}}
		}
		if diff := cmp.Diff(want, events); diff != "" || err != nil {
			t.Errorf("from %s: %v\n%s", mode, err, diff)
		}
	}
}

func TestExitApproved(t *testing.T) {
	for before, mode := range map[oh.Mode]oh.Mode{
		oh.ModeDontAsk: oh.ModeDontAsk, oh.ModeDefault: oh.ModeDefault, oh.ModeAcceptEdits: oh.ModeAcceptEdits,
		oh.ModeFullAuto: oh.ModeFullAuto, oh.ModePlan: oh.ModeDefault, "": oh.ModeDefault, "odd": oh.ModeDefault,
	} {
		res, events, err := run(t, t.Context(), exitName, `{"plan":" 1. do\u001b[31m it\n"}`,
			&oh.Env{Mode: oh.ModePlan, Before: before, Asker: answers(oh.Answer{Allow: true, Text: " be quick "})})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]oh.Event{oh.StateChanged{Mode: mode}}, events); diff != "" {
			t.Errorf("before %q: %s", before, diff)
		}
		want := oh.TextResult("The user approved the plan, and plan mode has ended (the mode is " + string(mode) + " now). Carry the plan out. The user added: be quick")
		want.Meta = json.RawMessage(`{"approved":true,"mode":"` + string(mode) + `"}`)
		want.Display = oh.Markdown{Text: "1. do it"}
		if diff := cmp.Diff(want, res); diff != "" {
			t.Errorf("before %q: %s", before, diff)
		}
	}
}

func TestExitAsks(t *testing.T) {
	var got oh.Question
	_, _, err := run(t, t.Context(), exitName, `{"plan":"# Plan"}`, &oh.Env{Mode: oh.ModePlan, Agent: "a1",
		Asker: oh.AskerFunc(func(_ context.Context, q oh.Question) (oh.Answer, error) {
			got = q
			return oh.Answer{}, nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(oh.Question{ID: "c1", Kind: oh.AskPlan, Tool: exitName, Agent: "a1", Text: "# Plan"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestExitStays(t *testing.T) {
	broken := errors.New("the dialog broke")
	nobodyThere := strings.TrimSpace(nobody)
	for _, c := range []struct {
		name  string
		asker oh.Asker
		want  string
		meta  string
		err   error
	}{
		{name: "refused", asker: answers(oh.Answer{}), meta: `{"approved":false,"mode":"plan"}`,
			want: "The user did not approve the plan; plan mode stays on. No reason was given: ask what should be different."},
		{name: "refused with words", asker: answers(oh.Answer{Text: "tests first"}), meta: `{"approved":false,"mode":"plan"}`,
			want: "The user did not approve the plan; plan mode stays on. The user said: tests first"},
		{name: "no asker", want: nobodyThere, meta: `{"approved":false,"mode":"plan","nobody":true}`},
		{name: "nobody", want: nobodyThere, meta: `{"approved":false,"mode":"plan","nobody":true}`,
			asker: oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) { return oh.Answer{}, oh.ErrNobody })},
		{name: "failed", err: broken,
			asker: oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) { return oh.Answer{Allow: true}, broken })},
	} {
		res, events, err := run(t, t.Context(), exitName, `{"plan":"p"}`, &oh.Env{Mode: oh.ModePlan, Before: oh.ModeFullAuto, Asker: c.asker})
		if !errors.Is(err, c.err) || len(events) != 0 {
			t.Errorf("%s: %v, emits %v", c.name, err, events)
		}
		if err == nil && (!res.IsError || res.Content.Text() != c.want || string(res.Meta) != c.meta) {
			t.Errorf("%s: %+v %s", c.name, res, res.Meta)
		}
	}
}

// An answer that comes when the run was cancelled counts for nothing.
func TestExitCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, events, err := run(t, ctx, exitName, `{"plan":"p"}`, &oh.Env{Mode: oh.ModePlan,
		Asker: oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) {
			cancel()
			return oh.Answer{Allow: true}, nil
		})})
	if !errors.Is(err, context.Canceled) || len(events) != 0 {
		t.Errorf("%v, emits %v", err, events)
	}
}

func TestExitRefusesInput(t *testing.T) {
	for _, c := range []struct {
		mode        oh.Mode
		input, want string
	}{
		{oh.ModeDefault, `{"plan":"p"}`, "plan mode is not on"},
		{oh.ModePlan, `{}`, "plan is required"},
		{oh.ModePlan, `{"plan":" \n"}`, "plan is empty"},
		{oh.ModePlan, `{"plan":"` + strings.Repeat("x", mostPlan+1) + `"}`, "plan has 60,001 characters, and at most 60,000 are allowed"},
	} {
		if _, _, err := run(t, t.Context(), exitName, c.input, &oh.Env{Mode: c.mode}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v", c.input, err)
		}
	}
}

func TestSpecs(t *testing.T) {
	for _, tool := range Tools() {
		s := tool.Spec()
		for _, v := range ohtest.CheckSpec(s) {
			t.Errorf("%s: %v", s.Name, v)
		}
		if n := len(s.Description) + len(s.Schema); n > 600 {
			t.Errorf("%s takes %d bytes", s.Name, n)
		}
	}
}
