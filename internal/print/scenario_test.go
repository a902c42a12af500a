package print

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/openharness/oh"
)

// scenario is a recorded run: its events and the error that ended it.
type scenario struct {
	name   string
	events []oh.Event
	err    error
}

const (
	idOne = "019a0000-0000-7000-8000-000000000001"
	idTwo = "019a0000-0000-7000-8000-000000000002"
)

func says(s string) oh.Blocks { return oh.Blocks{oh.Text{Text: s}} }

func prompt(s string) oh.UserTurn {
	return oh.UserTurn{Message: oh.Message{ID: "u", Role: oh.User, Content: says(s)}, Source: oh.FromUser}
}

func reply(id string, stop oh.StopReason, content ...oh.Block) oh.MessageDone {
	return oh.MessageDone{Message: oh.Message{
		ID: id, Role: oh.Assistant, Content: content, Model: "opus-9", Stop: stop,
		Usage: oh.Usage{InputTokens: 100, OutputTokens: 10, CacheReadTokens: 5, CacheWriteTokens: 7},
	}}
}

func asks(id, tool, input string) oh.ToolUse {
	return oh.ToolUse{ID: id, Name: tool, Input: json.RawMessage(input)}
}

func started(c oh.ToolUse) oh.ToolStarted {
	return oh.ToolStarted{ID: c.ID, Tool: c.Name, Input: c.Input}
}

func ended(reason oh.Reason, turns int, text string) oh.RunDone {
	return oh.RunDone{
		Reason: reason, Turns: turns, Text: text, Duration: 2500 * time.Millisecond, API: 2 * time.Second,
		Usage: oh.Usage{InputTokens: 100 * turns, OutputTokens: 10 * turns, CacheReadTokens: 5 * turns, CacheWriteTokens: 7 * turns},
	}
}

func box(d oh.Display) oh.DisplayBox { return oh.DisplayBox{Display: d} }

func scenarios() []scenario {
	all := append(plainRuns(), toolRuns()...)
	return append(append(all, badRuns()...), serviceRuns()...)
}

func plainRuns() []scenario {
	return []scenario{
		{name: "answer", events: []oh.Event{
			prompt("hi"), oh.ThinkingDelta{Text: "A greet"}, oh.ThinkingDelta{Text: "ing."},
			oh.TextDelta{Text: "Hello\x1b[2J "}, oh.TextDelta{Text: "<world> & \u2028more\r\n"},
			reply(idOne, oh.StopEnd, oh.Thinking{Text: "A greeting."}, oh.Text{Text: "Hello\x1b[2J <world> & \u2028more\r\n"}),
			ended(oh.ReasonEnd, 1, ""),
		}},
		{name: "undelivered-deltas", events: []oh.Event{
			prompt("hi"), reply("m1", oh.StopEnd, oh.Thinking{Text: "hm"}, oh.Text{Text: "whole"}), ended(oh.ReasonEnd, 1, ""),
		}},
		{name: "retry", events: []oh.Event{
			prompt("hi"), oh.TextDelta{Text: "void sta"},
			oh.Retrying{Attempt: 2, Of: 4, After: 2 * time.Second, Kind: oh.KindOverloaded, Status: 529, Reason: "anthropic: 529 overloaded", Discard: true},
			oh.TextDelta{Text: "good"}, reply(idOne, oh.StopEnd, oh.Text{Text: "good"}), ended(oh.ReasonEnd, 1, ""),
		}},
		{name: "cut-and-continued", events: []oh.Event{
			prompt("count"), oh.TextDelta{Text: "one, "}, reply(idOne, oh.StopMaxTokens, oh.Text{Text: "one, "}),
			oh.UserTurn{Message: oh.Message{ID: "u2", Role: oh.User, Content: says("go on")}, Source: oh.FromHarness},
			oh.TextDelta{Text: "two"}, reply(idTwo, oh.StopEnd, oh.Text{Text: "two"}), ended(oh.ReasonEnd, 2, ""),
		}},
		{name: "command", events: []oh.Event{oh.CommandOutput{Command: "cost", Text: "nothing spent \x1b[1myet"}}},
		{name: "notices", events: []oh.Event{
			prompt("hi"), oh.Notice{Level: oh.Info, Text: "for the curious"}, oh.Notice{Level: oh.Warning, Text: "settings: \"theme\" is odd\nand more"},
			oh.ErrorEvent{Kind: oh.KindUnavailable, Message: "the server docs is away"}, oh.Status{Text: "waiting for servers"},
			oh.StateChanged{Mode: oh.ModeFullAuto, Model: "opus-10"},
			oh.Compaction{Phase: "start", Trigger: "reactive", Text: "summing up"},
			oh.SideUsage{For: "compaction", Model: "small-1", Usage: oh.Usage{InputTokens: 50, OutputTokens: 5}},
			oh.Compaction{Phase: oh.CompactionDone, Trigger: "reactive", History: []oh.Message{{ID: "s", Role: oh.User, Content: says("summary")}}},
			oh.TextDelta{Text: "ok"}, reply(idOne, oh.StopEnd, oh.Text{Text: "ok"}), ended(oh.ReasonEnd, 1, ""),
			oh.UnknownEvent{Type: "novel", Raw: json.RawMessage(`{"type":"novel","x":"` + "\u2029" + `"}`)},
		}},
	}
}

func toolRuns() []scenario {
	read, run := asks("c1", "read_file", `{"path":"a.go","offset":4}`), asks("c2", "bash", `{"command":"go test ./...","timeout_seconds":7}`)
	edit := asks("c1", "edit_file", `{"path":"a.go","old_str":"x","new_str":"y"}`)
	deferred := asks("c1", "call_tool", `{"name":"read_file","input":{"path":"b"}}`)
	agent := asks("c1", "agent", `{"description":"look","prompt":"find it"}`)
	inner := asks("i1", "grep", `{"pattern":"Retry","root":"."}`)
	return []scenario{
		{name: "parallel-tools", events: []oh.Event{
			prompt("look"), oh.TextDelta{Text: "I look."}, oh.ToolInputDelta{Index: 0, ID: "c1", Name: "read_file", JSON: `{"path":`},
			oh.ToolInputDelta{Index: 0, JSON: `"a.go","offset":4}`},
			reply(idOne, oh.StopToolUse, oh.Text{Text: "I look."}, read, run), started(read), started(run),
			oh.ToolOutput{ID: "c2", Text: "ok"},
			oh.ToolDone{ID: "c2", Tool: "bash", Content: says("exit code 1\nFAIL"), IsError: true, Display: box(oh.Output{Command: "go test ./...", Text: "FAIL", Exit: 1}), Duration: 1200 * time.Millisecond},
			oh.ToolDone{ID: "c1", Tool: "read_file", Content: oh.Blocks{oh.Text{Text: "a picture"}, oh.Image{MediaType: "image/png", Data: []byte("png")}, oh.Document{MediaType: "application/pdf", Name: "d.pdf", Data: []byte("pdf")}}},
			oh.TextDelta{Text: "Done."}, reply(idTwo, oh.StopEnd, oh.Text{Text: "Done."}), ended(oh.ReasonEnd, 2, ""),
		}},
		{name: "edit", events: []oh.Event{
			prompt("edit"), reply(idOne, oh.StopToolUse, edit), started(edit),
			oh.ToolDone{ID: "c1", Tool: "edit_file", Content: says("edited"), Display: box(oh.Diff{Path: "/w/a.go", Unified: "@@ -1 +1 @@\n-x\n+y\n", Added: 1, Removed: 1})},
			reply(idTwo, oh.StopEnd, oh.Text{Text: "Edited.\n"}), ended(oh.ReasonEnd, 2, ""),
		}},
		{name: "deferred-tool-denied-by-rule", events: []oh.Event{
			prompt("read b"), reply(idOne, oh.StopToolUse, deferred),
			oh.Decided{ID: "c1", Tool: "read_file", Decision: oh.Deny, By: oh.ByGate, Reason: "a rule denies it", Rule: "Read(b)"},
			oh.ToolDone{ID: "c1", Tool: "read_file", Content: says("denied"), IsError: true, Cause: oh.CauseDenied},
			reply(idTwo, oh.StopEnd, oh.Text{Text: "I may not."}), ended(oh.ReasonEnd, 2, ""),
		}},
		{name: "denied-since-nobody-is-there", events: []oh.Event{
			prompt("run"), reply(idOne, oh.StopToolUse, run),
			oh.Decided{ID: "c2", Tool: "bash", Decision: oh.Deny, By: oh.ByNobody, Reason: "nobody is there to be asked"},
			oh.ToolDone{ID: "c2", Tool: "bash", Content: says("denied"), IsError: true, Cause: oh.CauseDenied},
			reply(idTwo, oh.StopEnd, oh.Text{Text: "I could not."}), ended(oh.ReasonEnd, 2, ""),
		}},
		{name: "sub-agent", events: []oh.Event{
			prompt("delegate"), reply(idOne, oh.StopToolUse, agent), started(agent),
			oh.Sub{Call: "c1", Event: oh.TextDelta{Text: "inner"}},
			oh.Sub{Call: "c1", Event: reply("s1", oh.StopToolUse, oh.Text{Text: "inner"}, inner)},
			oh.Sub{Call: "c1", Event: started(inner)},
			oh.Sub{Call: "c1", Event: oh.Decided{ID: "i1", Tool: "grep", Decision: oh.Deny, By: oh.ByHook, Reason: "no"}},
			oh.Sub{Call: "c1", Event: oh.ToolDone{ID: "i1", Tool: "grep", Content: says("denied"), IsError: true, Cause: oh.CauseDenied}},
			oh.Sub{Call: "c1", Event: ended(oh.ReasonEnd, 9, "")},
			oh.SideUsage{For: "agent", Model: "opus-9", Usage: oh.Usage{InputTokens: 1000, OutputTokens: 100}, Cost: 0.5},
			oh.ToolDone{ID: "c1", Tool: "agent", Content: says("found")},
			reply(idTwo, oh.StopEnd, oh.Text{Text: "Found."}), ended(oh.ReasonEnd, 2, ""),
		}},
	}
}

func badRuns() []scenario {
	service := func(k oh.Kind, status int, words string) error {
		return fmt.Errorf("ask the model: %w", &oh.Error{Op: "anthropic: messages", Kind: k, Status: status, Err: errors.New(words)})
	}
	partway := []oh.Event{prompt("hi"), oh.TextDelta{Text: "I look"}, reply(idOne, oh.StopToolUse, oh.Text{Text: "I look"}, asks("c1", "ls", "{}")),
		oh.ToolDone{ID: "c1", Tool: "ls", Content: says("a")}}
	after := func(e ...oh.Event) []oh.Event { return append(append([]oh.Event{}, partway...), e...) }
	return []scenario{
		{name: "overloaded", events: after(oh.TextDelta{Text: "half a"}, ended(oh.ReasonFailed, 1, "")), err: service(oh.KindOverloaded, 529, "busy")},
		{name: "unauthorised", events: []oh.Event{prompt("hi"), ended(oh.ReasonFailed, 0, "")}, err: service(oh.KindAuth, 401, "invalid x-api-key")},
		{name: "no-key", err: &oh.Error{Op: "anthropic", Kind: oh.KindAuth, Err: errors.New("no key: set ANTHROPIC_API_KEY")}},
		{name: "max-turns", events: after(ended(oh.ReasonMaxTurns, 1, "stopped after 1 turn: the limit is reached"))},
		{name: "budget", events: after(ended(oh.ReasonBudget, 1, ""))},
		{name: "loop", events: after(ended(oh.ReasonLoop, 1, ""))},
		{name: "empty-reply", events: []oh.Event{prompt("hi"), ended(oh.ReasonEmptyReply, 2, "")}},
		{name: "interrupted", events: after(ended(oh.ReasonCancelled, 1, "")), err: context.Canceled},
		{name: "disk-full", events: []oh.Event{prompt("hi"), ended(oh.ReasonFailed, 0, "")}, err: errors.New("write /s/x.jsonl: no space left on device")},
		{name: "unknown-command", err: mistake("/hlep is no command: did you mean /help?")},
	}
}

// serviceRuns are about forms of answers, limits and models that stand in.
func serviceRuns() []scenario {
	call := asks("c1", "structured_output", `{"n":1,"s":"<é>"}`)
	given := ended(oh.ReasonEnd, 1, "")
	given.Output = json.RawMessage(`{"n":1,"s":"<é>"}`)
	limit := func(left int64) oh.RateLimit {
		return oh.RateLimit{Limits: []oh.Limit{{Name: "tokens", Limit: 1000, Remaining: 900}, {Name: "requests", Limit: 50, Remaining: left, Reset: epoch.Add(time.Minute)}, {Name: "odd", Remaining: 1}}}
	}
	other := reply(idOne, oh.StopEnd, oh.Text{Text: "from another"})
	other.Message.Model = "opus-8"
	return []scenario{
		{name: "structured", events: []oh.Event{
			prompt("how many?"), oh.TextDelta{Text: "Here."}, reply(idOne, oh.StopToolUse, oh.Text{Text: "Here."}, call), started(call),
			oh.ToolDone{ID: "c1", Tool: "structured_output", Content: says("The answer was delivered."), Meta: json.RawMessage(`{"structured_output":{"n":1}}`)}, given,
		}},
		{name: "never-structured", events: []oh.Event{
			prompt("how many?"), oh.TextDelta{Text: "One."}, reply(idOne, oh.StopEnd, oh.Text{Text: "One."}),
			ended(oh.ReasonNoOutput, 1, "The model ended without an answer in the form that was asked for, and was asked 2 times to give one."),
		}},
		{name: "fallback", events: []oh.Event{
			prompt("hi"), oh.ThinkingDelta{Text: "hm"}, oh.Retrying{Attempt: 4, Of: 4, Kind: oh.KindOverloaded, Status: 529, Reason: "anthropic: 529 overloaded"},
			oh.Notice{Level: oh.Warning, Text: "opus-9 is overloaded (529); opus-8 answers for the rest of this run."},
			oh.SideUsage{For: "failed_attempt", Profile: "anthropic", Model: "opus-9", Usage: oh.Usage{InputTokens: 100}},
			oh.TextDelta{Text: "from another"}, other, ended(oh.ReasonEnd, 1, ""),
		}},
		{name: "rate-limits", events: []oh.Event{
			prompt("hi"), limit(40), limit(30), limit(4), limit(3), limit(0), oh.RateLimit{Limits: []oh.Limit{{Name: "odd", Remaining: 1}}},
			reply(idOne, oh.StopEnd, oh.Text{Text: "done"}), ended(oh.ReasonEnd, 1, ""),
		}},
	}
}

// mistake is an error of the person who typed.
type mistake string

func (m mistake) Error() string { return string(m) }
func (m mistake) Usage() bool   { return true }
