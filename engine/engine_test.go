package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/ohtest"
)

// tool is a tool for tests: it takes any object and does what run says.
type tool struct {
	name   string
	access oh.Access
	prep   func(call *oh.Call) error
	run    func(ctx context.Context, call *oh.Call, emit func(oh.Event)) (oh.Result, error)
}

func (t tool) Spec() oh.ToolSpec {
	return oh.ToolSpec{Name: t.name, Description: "A tool for tests.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

func (t tool) Prepare(_ context.Context, call *oh.Call) (oh.Action, error) {
	if t.prep != nil {
		if err := t.prep(call); err != nil {
			return oh.Action{}, err
		}
	}
	return oh.Action{Access: t.access, Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
		return t.run(ctx, call, emit)
	}}, nil
}

func says(name, text string, access oh.Access) tool {
	return tool{name: name, access: access, run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		return oh.TextResult(text), nil
	}}
}

var (
	read     = oh.Access{ReadOnly: true}
	write    = oh.Access{}
	allowAll = oh.GateFunc(func(context.Context, oh.GateRequest) oh.Verdict { return oh.Verdict{Decision: oh.Allow} })
)

// bench is an engine with its conversation and log.
type bench struct {
	t    *testing.T
	prov *ohtest.Provider
	conv *oh.Conversation
	log  *oh.MemoryLog
	cfg  engine.Config
}

func setUp(t *testing.T, tools []oh.Tool, turns ...ohtest.Turn) *bench {
	t.Helper()
	b := &bench{t: t, prov: ohtest.NewProvider(t, turns...), log: &oh.MemoryLog{}}
	b.open()
	b.cfg = engine.Config{Provider: b.prov, Gate: allowAll, Tools: func() []oh.Tool { return tools }}
	return b
}

// open opens the conversation anew from what the log holds.
func (b *bench) open() {
	b.t.Helper()
	past := b.log.Entries()
	conv, err := oh.Open(b.log, func(yield func(oh.Entry, error) bool) {
		for _, e := range past {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.conv = conv
	if len(past) == 0 {
		if err := conv.Append(oh.NewEntry(oh.StateChanged{Model: "m", Profile: "p", Dir: "/w", Mode: oh.ModeDefault})); err != nil {
			b.t.Fatal(err)
		}
	}
}

// run runs to the end and returns the events and the error.
func (b *bench) run(prompt string) (events []oh.Event, err error) {
	b.t.Helper()
	return b.runCtx(b.t.Context(), prompt)
}

func (b *bench) runCtx(ctx context.Context, prompt string) (events []oh.Event, err error) {
	b.t.Helper()
	e, err := engine.New(b.cfg)
	if err != nil {
		b.t.Fatal(err)
	}
	var blocks []oh.Block
	if prompt != "" {
		blocks = append(blocks, oh.Text{Text: prompt})
	}
	for ev, fail := range e.Run(ctx, b.conv, blocks...) {
		if err != nil {
			b.t.Error("something was yielded after an error")
		}
		if fail != nil {
			err = fail
			continue
		}
		events = append(events, ev)
	}
	b.legal()
	if n := len(events); n == 0 {
		b.t.Error("nothing was yielded")
	} else if _, ok := events[n-1].(oh.RunDone); !ok {
		b.t.Errorf("the last event is %T", events[n-1])
	}
	return events, err
}

// legal holds the history now, and the one a restart would make of the log,
// to the rules.
func (b *bench) legal() {
	b.t.Helper()
	check := func(what string, c *oh.Conversation) {
		if !c.Pending() {
			return
		}
		req := &oh.Request{Model: "m", Messages: c.Messages()}
		if v := ohtest.CheckRequest(req); len(v) > 0 {
			b.t.Errorf("%s: illegal history: %v", what, v)
		}
	}
	check("in memory", b.conv)
	past := b.log.Entries()
	again, err := oh.Open(&oh.MemoryLog{}, func(yield func(oh.Entry, error) bool) {
		for _, e := range past {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	check("from the log", again)
	if d := cmp.Diff(texts(b.conv.Messages()), texts(again.Messages())); d != "" {
		b.t.Errorf("the log tells another history (-memory +log):\n%s", d)
	}
}

// texts writes a history down in one line per message.
func texts(msgs []oh.Message) []string {
	var out []string
	for _, m := range msgs {
		var s []string
		for _, b := range m.Content {
			switch b := b.(type) {
			case oh.Text:
				s = append(s, b.Text)
			case oh.ToolUse:
				s = append(s, "call "+b.ID)
			case oh.ToolResult:
				mark := ""
				if b.IsError {
					mark = "!"
				}
				s = append(s, "result"+mark+" "+b.ToolUseID+" "+b.Content.Text())
			}
		}
		out = append(out, string(m.Role)+": "+strings.Join(s, " | "))
	}
	return out
}

// kinds lists the types of events, with the call's id where there is one.
func kinds(events []oh.Event) []string {
	var out []string
	for _, ev := range events {
		s := oh.EventType(ev)
		switch ev := ev.(type) {
		case oh.ToolStarted:
			s += " " + ev.ID
		case oh.ToolDone:
			s += " " + ev.ID
		case oh.RunDone:
			s += " " + string(ev.Reason)
		}
		out = append(out, s)
	}
	return out
}

func pick[T oh.Event](events []oh.Event) []T {
	var out []T
	for _, ev := range events {
		if e, ok := ev.(T); ok {
			out = append(out, e)
		}
	}
	return out
}

func reason(events []oh.Event) oh.Reason {
	if d := pick[oh.RunDone](events); len(d) > 0 {
		return d[0].Reason
	}
	return ""
}

func calls(c ...ohtest.ToolCall) ohtest.Turn {
	var t ohtest.Turn
	for _, x := range c {
		t.Parts = append(t.Parts, x)
	}
	return t
}

func say(s string) ohtest.Turn { return ohtest.Turn{Parts: []ohtest.Part{ohtest.Text(s)}} }

func tc(id, name, input string) ohtest.ToolCall {
	return ohtest.ToolCall{ID: id, Name: name, Input: input}
}

func TestOneCall(t *testing.T) {
	b := setUp(t, []oh.Tool{says("look", "seen", read)}, calls(tc("c1", "look", "{}")), say("done"))
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"user_turn", "tool_input_delta", "tool_input_delta", "message_done", "decided", "tool_started c1",
		"tool_done c1", "text_delta", "message_done", "run_done end"}
	if d := cmp.Diff(want, kinds(events)); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	wantHistory := []string{"user: go", "assistant: call c1", "user: result c1 seen", "assistant: done"}
	if d := cmp.Diff(wantHistory, texts(b.conv.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	d := pick[oh.RunDone](events)[0]
	if d.Turns != 2 || d.Usage.InputTokens != 2*ohtest.DefaultInputTokens || d.Usage.OutputTokens != 2*ohtest.DefaultOutputTokens {
		t.Errorf("run done: %+v", d)
	}
}

func TestRefusedCallsDoNotSinkSiblings(t *testing.T) {
	var ran atomic.Int32
	count := func(name string, f func() (oh.Result, error)) tool {
		return tool{name: name, access: read, run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
			ran.Add(1)
			return f()
		}}
	}
	tools := []oh.Tool{
		count("ok", func() (oh.Result, error) { return oh.TextResult("fine"), nil }),
		count("fails", func() (oh.Result, error) { return oh.TextResult("partial"), errors.New("exit 1") }),
		count("panics", func() (oh.Result, error) { panic("boom") }),
		count("denied", func() (oh.Result, error) { return oh.TextResult("must not run"), nil }),
		tool{name: "invalid", access: read, prep: func(*oh.Call) error { return errors.New("path is required") }},
	}
	b := setUp(t, tools, calls(tc("a", "ok", "{}"), tc("b", "fails", "{}"), tc("c", "panics", "{}"), tc("d", "denied", "{}"),
		tc("e", "invalid", "{}"), tc("f", "nowhere", "{}"), tc("g", "ok", "{oops"), tc("h", "ok", "{}")), say("done"))
	b.cfg.Gate = oh.GateFunc(func(_ context.Context, req oh.GateRequest) oh.Verdict {
		if req.Tool == "denied" {
			return oh.Verdict{Reason: "not today"}
		}
		return oh.Verdict{Decision: oh.Allow}
	})
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	if ran.Load() != 4 {
		t.Errorf("%d tools ran, want 4", ran.Load())
	}
	got := map[string]string{}
	for _, d := range pick[oh.ToolDone](events) {
		got[d.ID] = fmt.Sprintf("%v %s %s", d.IsError, d.Cause, d.Content.Text())
	}
	for id, want := range map[string]string{
		"a": "false  fine",
		"b": "true  partial\nexit 1",
		"c": "true panic The tool panics failed with an internal error: boom",
		"d": "true denied Permission denied: not today",
		"e": "true invalid_input path is required",
		"f": "true unknown_tool There is no tool named nowhere. Available tools: denied, fails, invalid, ok, panics.",
		"h": "false  fine",
	} {
		if got[id] != want {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
	if !strings.HasPrefix(got["g"], "true invalid_input The arguments did not parse") {
		t.Errorf("g: %q", got["g"])
	}
	if len(got) != 8 {
		t.Errorf("%d results for 8 calls", len(got))
	}
}

// Neighbouring reads run together; a write waits for all before it, and what
// follows waits for the write.
func TestScheduling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var order []string
		slow := func(name string, access oh.Access, d time.Duration) tool {
			return tool{name: name, access: access, run: func(ctx context.Context, call *oh.Call, _ func(oh.Event)) (oh.Result, error) {
				began := time.Since(start)
				time.Sleep(d)
				return oh.TextResult(fmt.Sprintf("%v-%v", began, time.Since(start))), nil
			}}
		}
		tools := []oh.Tool{slow("r3", read, 3*time.Second), slow("r1", read, time.Second), slow("w", write, time.Second),
			slow("agent", oh.Access{Parallel: true}, time.Second)}
		b := setUp(t, tools, calls(tc("a", "r3", "{}"), tc("b", "r1", "{}"), tc("c", "w", "{}"), tc("d", "agent", "{}"),
			tc("e", "agent", "{}"), tc("f", "w", "{}")), say("done"))
		events, err := b.run("go")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range pick[oh.ToolDone](events) {
			order = append(order, d.ID+" "+d.Content.Text())
		}
		want := []string{"b 0s-1s", "a 0s-3s", "c 3s-4s", "d 4s-5s", "e 4s-5s", "f 5s-6s"}
		slices.Sort(order[3:5])
		if d := cmp.Diff(want, order); d != "" {
			t.Errorf("order (-want +got):\n%s", d)
		}
		results := texts(b.conv.Messages())[2]
		if !strings.HasPrefix(results, "user: result a") {
			t.Errorf("results are not in the order of the calls: %s", results)
		}
	})
}

// An earlier call may change what a later one means: it is prepared when its
// turn comes.
func TestPrepareWhenItsTurnComes(t *testing.T) {
	cd := tool{name: "cd", run: func(_ context.Context, _ *oh.Call, emit func(oh.Event)) (oh.Result, error) {
		emit(oh.StateChanged{Dir: "/w/sub"})
		return oh.TextResult("moved"), nil
	}}
	var seen []string
	where := tool{name: "where", access: read, prep: func(call *oh.Call) error {
		seen = append(seen, call.Env.Dir)
		return nil
	}, run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) { return oh.TextResult("x"), nil }}
	b := setUp(t, []oh.Tool{cd, where}, calls(tc("a", "where", "{}"), tc("b", "cd", "{}"), tc("c", "where", "{}")), say("done"))
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"/w", "/w/sub"}, seen); d != "" {
		t.Errorf("directories (-want +got):\n%s", d)
	}
	if b.conv.State().Dir != "/w/sub" {
		t.Errorf("state: %+v", b.conv.State())
	}
}

func TestSteering(t *testing.T) {
	var b *bench
	steer := tool{name: "slow", access: read, run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		b.conv.Enqueue(oh.Text{Text: "use tabs"})
		return oh.TextResult("ok"), nil
	}}
	last := say("almost")
	b = setUp(t, []oh.Tool{steer}, calls(tc("a", "slow", "{}")), last, say("really done"))
	queued := false
	b.prov.Rule = func(req *oh.Request) (ohtest.Turn, bool) {
		if len(req.Messages) == 3 && !queued { // while the last reply is being made
			queued = true
			b.conv.Enqueue(oh.Text{Text: "and spaces"})
		}
		return ohtest.Turn{}, false
	}
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"user: go", "assistant: call a", "user: result a ok | use tabs", "assistant: almost",
		"user: and spaces", "assistant: really done"}
	if d := cmp.Diff(want, texts(b.conv.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestAskAndAnswers(t *testing.T) {
	ask := oh.GateFunc(func(_ context.Context, req oh.GateRequest) oh.Verdict {
		if strings.Contains(string(req.Input), "never") {
			return oh.Verdict{Reason: "never that"}
		}
		return oh.Verdict{Decision: oh.Ask, Reason: "it writes", Suggest: "w"}
	})
	for _, c := range []struct {
		name   string
		asker  oh.Asker
		text   string
		by     oh.Decider
		ran    string
		reason oh.Reason
	}{
		{name: "nobody", text: "Permission denied: it writes. Nobody can be asked", by: oh.ByNobody, reason: oh.ReasonEnd},
		{name: "nobody answers", asker: answer(oh.Answer{}, oh.ErrNobody), text: "Nobody can be asked", by: oh.ByNobody, reason: oh.ReasonEnd},
		{name: "yes", asker: answer(oh.Answer{Allow: true}, nil), text: "ran", by: oh.ByPerson, ran: `{"x":1}`, reason: oh.ReasonEnd},
		{name: "no", asker: answer(oh.Answer{Text: "use make"}, nil), text: "Permission denied: the user said no: use make", by: oh.ByPerson, reason: oh.ReasonEnd},
		{name: "rewritten", asker: answer(oh.Answer{Allow: true, Input: json.RawMessage(`{"x": 2}`)}, nil), text: "ran", by: oh.ByPerson, ran: `{"x":2}`, reason: oh.ReasonEnd},
		{name: "rewritten to a denied one", asker: answer(oh.Answer{Allow: true, Input: json.RawMessage(`{"never":1}`)}, nil), text: "never that", by: oh.ByGate, reason: oh.ReasonEnd},
		{name: "stop", asker: answer(oh.Answer{Stop: true}, nil), text: "the user said no", by: oh.ByPerson, reason: oh.ReasonBlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			ran := ""
			w := tool{name: "w", run: func(_ context.Context, call *oh.Call, _ func(oh.Event)) (oh.Result, error) {
				ran = string(call.Input)
				return oh.TextResult("ran"), nil
			}}
			turns := []ohtest.Turn{calls(tc("a", "w", `{"x":1}`)), say("done")}
			if c.reason != oh.ReasonEnd {
				turns = turns[:1]
			}
			b := setUp(t, []oh.Tool{w}, turns...)
			b.cfg.Gate, b.cfg.Asker = ask, c.asker
			events, err := b.run("go")
			if err != nil || reason(events) != c.reason {
				t.Fatalf("%v, %v", kinds(events), err)
			}
			d := pick[oh.ToolDone](events)[0]
			dec := pick[oh.Decided](events)[0]
			if !strings.Contains(d.Content.Text(), c.text) || dec.By != c.by || ran != c.ran {
				t.Errorf("result %q, by %s, ran %q", d.Content.Text(), dec.By, ran)
			}
			if (c.ran == `{"x":2}`) != (string(dec.Input) == `{"x":2}`) {
				t.Errorf("decided with input %s", dec.Input)
			}
			started := len(pick[oh.ToolStarted](events))
			if (started == 1) != (c.ran != "") {
				t.Errorf("%d calls started", started)
			}
		})
	}
}

func answer(a oh.Answer, err error) oh.Asker {
	return oh.AskerFunc(func(context.Context, oh.Question) (oh.Answer, error) { return a, err })
}

func TestNoGateRefusesWrites(t *testing.T) {
	b := setUp(t, []oh.Tool{says("r", "read", read), says("w", "wrote", write)}, calls(tc("a", "r", "{}"), tc("b", "w", "{}")), say("done"))
	b.cfg.Gate = nil
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	d := pick[oh.ToolDone](events)
	if d[0].IsError || !d[1].IsError || d[1].Cause != oh.CauseDenied {
		t.Errorf("%+v", d)
	}
}
