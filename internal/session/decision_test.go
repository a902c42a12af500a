package session

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openharness/oh"
)

func TestDecisions(t *testing.T) {
	s := store(t)
	f, err := s.Create(start("01900000-0000-7000-8000-00000000000d"))
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, tool, input string) oh.ToolUse {
		return oh.ToolUse{ID: id, Name: tool, Input: json.RawMessage(input)}
	}
	decided := func(id, tool string, d oh.Decision, by oh.Decider, reason, rule, input string) oh.Decided {
		return oh.Decided{ID: id, Tool: tool, Decision: d, By: by, Reason: reason, Rule: rule, Input: json.RawMessage(input)}
	}
	for _, e := range []oh.Entry{
		user("u", "go"),
		reply("r", call("a", "bash", `{"command":"ls\u001b[1m"}`), call("b", "call_tool", `{"name":"ls","input":{"path":"src"}}`),
			call("c", "call_tool", `{"name":"web_fetch","input":"{\"url\":\"http://x\"}"}`), call("d", "write_file", `{"path":"p","content":"c"}`),
			call("e", "todo_write", `{"todos":[]}`)),
		entry("1", decided("a", "bash", oh.Allow, oh.ByGate, "it only reads", "", "")),
		entry("2", decided("b", "ls", oh.Deny, oh.ByGate, "denied", "ls (f:3)", "")),
		entry("3", decided("c", "web_fetch", oh.Allow, oh.ByPerson, "it connects", "", "")),
		entry("4", decided("d", "write_file", oh.Allow, oh.ByHook, "moved", "", `{"path":"q"}`)),
		entry("5", decided("e", "todo_write", oh.Allow, oh.ByGate, "state", "", "")),
	} {
		if err := f.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	got, skipped, err := s.Decisions(f.ID())
	if err != nil || skipped.Count != 0 {
		t.Fatal(err, skipped)
	}
	want := []Decision{
		{Time: at(1), Call: "a", Tool: "bash", What: "ls", Decision: oh.Allow, By: oh.ByGate, Reason: "it only reads"},
		{Time: at(1), Call: "b", Tool: "ls", What: "src", Decision: oh.Deny, By: oh.ByGate, Reason: "denied", Rule: "ls (f:3)"},
		{Time: at(1), Call: "c", Tool: "web_fetch", What: "http://x", Decision: oh.Allow, By: oh.ByPerson, Reason: "it connects"},
		{Time: at(1), Call: "d", Tool: "write_file", What: "q", Decision: oh.Allow, By: oh.ByHook, Reason: "moved"},
		{Time: at(1), Call: "e", Tool: "todo_write", What: `{"todos":[]}`, Decision: oh.Allow, By: oh.ByGate, Reason: "state"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, _, err := s.Decisions("nothing"); err == nil {
		t.Error("a session that is not there has decisions")
	}
}
