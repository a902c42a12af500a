package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// named is a tool that tells under which name it was called.
func named(name, reply string) tool {
	return tool{name: name, access: read, run: func(_ context.Context, call *oh.Call, _ func(oh.Event)) (oh.Result, error) {
		return oh.TextResult(reply + " as " + call.Name), nil
	}}
}

// A tool with a name that no wire takes is declared under a legal one and
// called under its own, however the model writes it.
func TestToolsWithOddNames(t *testing.T) {
	const odd = "mcp__srv__a.b/c"
	long := "mcp__srv__" + strings.Repeat("x", 80)
	wire := oh.LegalName(odd)
	b := setUp(t, []oh.Tool{named(odd, "first"), named("mcp__srv__a_b.c", "second"), named(long, "long")},
		calls(tc("a", wire, `{}`), tc("b", oh.LegalName("mcp__srv__a_b.c"), `{}`), tc("c", oh.LegalName(long), `{}`), tc("d", odd, `{}`)),
		say("done"))
	var gated []string
	b.cfg.Gate = oh.GateFunc(func(_ context.Context, req oh.GateRequest) oh.Verdict {
		gated = append(gated, req.Tool)
		return oh.Verdict{Decision: oh.Allow}
	})
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	var done, started []string
	for _, d := range pick[oh.ToolDone](events) {
		done = append(done, d.Tool+": "+d.Content.Text())
	}
	for _, d := range pick[oh.ToolStarted](events) {
		started = append(started, d.Tool)
	}
	slices.Sort(done) // they run side by side
	if d := cmp.Diff([]string{odd + ": first as " + odd, odd + ": first as " + odd, "mcp__srv__a_b.c: second as mcp__srv__a_b.c", long + ": long as " + long}, done); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
	own := []string{odd, "mcp__srv__a_b.c", long, odd}
	if d := cmp.Diff([][]string{own, own}, [][]string{gated, started}); d != "" {
		t.Errorf("the gate and the events (-want +got):\n%s", d)
	}
	for _, req := range b.prov.Requests() {
		var names []string
		for _, s := range req.Tools {
			names = append(names, s.Name)
		}
		if d := cmp.Diff([]string{wire, oh.LegalName("mcp__srv__a_b.c"), oh.LegalName(long)}, names); d != "" {
			t.Errorf("declared (-want +got):\n%s", d)
		}
	}
	for _, m := range b.conv.Messages() {
		for _, u := range m.Content.ToolUses() {
			if oh.LegalName(u.Name) != u.Name {
				t.Errorf("the history calls %q", u.Name)
			}
		}
	}
}

// Of tools that have one name for the model the first is offered, which is said
// once in a run.
func TestToolsOfOneName(t *testing.T) {
	b := setUp(t, []oh.Tool{named("a.b", "first"), named(oh.LegalName("a.b"), "second"), named("c", "third"), named("c", "fourth")},
		calls(tc("x", oh.LegalName("a.b"), `{}`), tc("y", "c", `{}`)), say("done"))
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	var done, said []string
	for _, d := range pick[oh.ToolDone](events) {
		done = append(done, d.Content.Text())
	}
	for _, n := range pick[oh.Notice](events) {
		said = append(said, n.Text)
	}
	slices.Sort(done)
	if d := cmp.Diff([]string{"first as a.b", "third as c"}, done); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
	if len(said) != 2 || !strings.Contains(said[0], oh.LegalName("a.b")) || !strings.Contains(said[1], `"c"`) {
		t.Errorf("notices %q", said)
	}
	if n := len(b.prov.Requests()[0].Tools); n != 2 {
		t.Errorf("%d tools are declared", n)
	}
}
