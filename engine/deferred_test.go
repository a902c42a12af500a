package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestDeferredTools(t *testing.T) {
	var gated []string
	rare := tool{name: "rare", access: read, run: func(_ context.Context, call *oh.Call, _ func(oh.Event)) (oh.Result, error) {
		return oh.TextResult(call.Name + " got " + string(call.Input)), nil
	}}
	through := says("call_tool", "must not run itself", read)
	b := setUp(t, []oh.Tool{through},
		calls(tc("a", "call_tool", `{"name": "rare", "input": {"x": 1}}`), tc("b", "call_tool", `{"name":"rare","input":"{\"x\":2}"}`),
			tc("c", "call_tool", `{"name":"rare"}`), tc("d", "rare", `{"x":4}`)),
		calls(tc("e", "call_tool", `{"name":"nothing","input":{}}`), tc("f", "call_tool", `{"input":{}}`), tc("g", "call_tool", `{"name":"rare","input":[1]}`)),
		say("done"))
	b.cfg.Deferred = func() []oh.Tool { return []oh.Tool{rare} }
	b.cfg.Gate = oh.GateFunc(func(_ context.Context, req oh.GateRequest) oh.Verdict {
		gated = append(gated, req.Tool+" "+string(req.Input))
		return oh.Verdict{Decision: oh.Allow}
	})
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{`rare {"x":1}`, `rare {"x":2}`, "rare {}", `rare {"x":4}`}, gated); d != "" {
		t.Errorf("the gate saw (-want +got):\n%s", d)
	}
	got := map[string]string{}
	for _, d := range pick[oh.ToolDone](events) {
		got[d.ID] = d.Tool + ": " + d.Content.Text()
	}
	for id, want := range map[string]string{
		"a": `rare: rare got {"x":1}`, "b": `rare: rare got {"x":2}`, "c": "rare: rare got {}", "d": `rare: rare got {"x":4}`,
		"e": "nothing: There is no tool named nothing", "f": "call_tool: call_tool takes", "g": "call_tool: the input for rare is not a JSON object",
	} {
		if !strings.HasPrefix(got[id], want) {
			t.Errorf("%s: %q, want %q", id, got[id], want)
		}
	}
	for _, req := range b.prov.Requests() {
		if len(req.Tools) != 1 || req.Tools[0].Name != "call_tool" {
			t.Errorf("declared: %v", req.Tools)
		}
	}
}
