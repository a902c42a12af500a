package oh

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sampleBlocks has every block with every field set.
func sampleBlocks() Blocks {
	op := &Opaque{Origin: Origin("p", "m"), Data: json.RawMessage(`{"sig":"a<b>&c"}`)}
	return Blocks{
		Text{Text: "line\u2028<&> \"q\" 世界 🙂", Context: true, Opaque: op},
		Image{MediaType: "image/png", Data: []byte{0, 1, 255}, Path: "/a.png"},
		Document{MediaType: "application/pdf", Name: "a.pdf", Data: []byte("%PDF")},
		Thinking{Text: "hm", Opaque: op},
		ToolUse{ID: "c1", Name: "bash", Input: json.RawMessage(`{"command":"a < b && c"}`), Opaque: op, Malformed: "why"},
		ToolResult{ToolUseID: "c1", Content: Blocks{Text{Text: "out"}, Image{MediaType: "image/gif", Data: []byte("G")}},
			IsError: true, Meta: json.RawMessage(`{"exit":1}`)},
		Unknown{Type: "server_tool_use", Raw: json.RawMessage(`{"type":"server_tool_use","x":[1,"<"]}`)},
	}
}

// sampleEvents has every event.
func sampleEvents() []Event {
	msg := Message{ID: "m1", Role: Assistant, Content: sampleBlocks(), Model: "x", Stop: StopToolUse,
		Usage: Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, ReasoningTokens: 5}}
	return []Event{
		TextDelta{Text: "a<b"}, ThinkingDelta{Text: "t"}, ToolInputDelta{Index: 1, ID: "c", Name: "n", JSON: `{"`},
		MessageDone{Message: msg}, UserTurn{Message: msg, Source: FromQueue},
		RateLimit{Limits: []Limit{{Name: "tokens", Limit: 9, Remaining: 3, Reset: time.Unix(1790000000, 0).UTC()}}},
		Retrying{Attempt: 2, Of: 4, After: time.Second, Kind: KindLimited, Status: 429, Reason: "slow", Discard: true},
		ToolStarted{ID: "c1", Tool: "bash", Input: json.RawMessage(`{"a":1}`), Preview: DisplayBox{Markdown{Text: "x"}}},
		ToolOutput{ID: "c1", Text: "out"},
		ToolDone{ID: "c1", Tool: "bash", Content: Blocks{Text{Text: "x"}}, IsError: true, Meta: json.RawMessage(`{}`),
			Display: DisplayBox{Output{Command: "c", Text: "t", Exit: 1}}, Duration: 5, Cause: CauseDenied},
		Asked{Question: Question{ID: "c1", Kind: AskPermission, Tool: "bash", Input: json.RawMessage(`{}`),
			Access:  Access{Command: "x", Dir: "/", Paths: []PathUse{{Path: "/a", Write: true, Tree: true}}, URLs: []string{"http://a"}},
			Preview: DisplayBox{Diff{Path: "a", Unified: "@@", Added: 1, Removed: 2}}, Items: []Item{{Question: "q", Options: []Option{{Label: "l"}}, Multi: true}}}},
		Decided{ID: "c1", Tool: "bash", Decision: Allow, By: ByPerson, Reason: "r", Rule: "u", Input: json.RawMessage(`{"b":2}`)},
		Status{Text: "s"}, Notice{Level: Warning, Text: "n"},
		SideUsage{For: "title", Profile: "p", Model: "m", Usage: Usage{InputTokens: 1}, Cost: 0.5},
		Compaction{Phase: CompactionDone, Trigger: "auto", Text: "t", History: []Message{{ID: "h", Role: User, Content: Blocks{Text{Text: "s"}}}}},
		ErrorEvent{Kind: KindQuota, Message: "m"}, Sub{Call: "c1", Event: Sub{Call: "c2", Event: TextDelta{Text: "deep"}}},
		RunDone{Reason: ReasonEnd, Text: "t", Usage: Usage{OutputTokens: 1}, Turns: 2, Duration: 3, API: 4},
		SessionStarted{Session: "s", Version: "1", Dir: "/d", Root: "/r", Parent: "p", ParentMessage: "m"},
		StateChanged{Mode: ModePlan, Before: ModeAcceptEdits, Profile: "p", Model: "m", Effort: "high", Dir: "/d", Title: "t", System: "sys",
			Todos: &[]Todo{{Content: "c", Status: TodoInProgress, ActiveForm: "a"}}, Read: map[string]string{"/a": "h"}},
		CommandOutput{Command: "cost", Text: "t"},
		UnknownEvent{Type: "later", Raw: json.RawMessage(`{"type":"later","n":1}`)},
	}
}

func TestEventsRoundTrip(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, ev := range sampleEvents() {
		seen[reflect.TypeOf(ev)] = true
		raw, err := AppendEvent(nil, ev)
		if err != nil {
			t.Errorf("%T: %v", ev, err)
			continue
		}
		back, err := DecodeEvent(raw)
		if err != nil {
			t.Errorf("%T: %v in %s", ev, err, raw)
			continue
		}
		if d := cmp.Diff(ev, back); d != "" {
			t.Errorf("%T changed (-want +got):\n%s", ev, d)
		}
		again, _ := AppendEvent(nil, back)
		if !bytes.Equal(raw, again) {
			t.Errorf("%T: not byte for byte:\n%s\n%s", ev, raw, again)
		}
		if bytes.Contains(raw, []byte(`\u003c`)) {
			t.Errorf("%T: HTML was escaped: %s", ev, raw)
		}
	}
	for _, kind := range []string{"text_delta", "message_done", "tool_done", "run_done", "state_changed", "command_output"} {
		if eventDecoder(kind) == nil {
			t.Errorf("no decoder for %s", kind)
		}
	}
	if len(seen) != 23 {
		t.Errorf("the samples cover %d event types; add the new ones", len(seen))
	}
}

func TestEntryAndEnvelopeRoundTrip(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for _, ev := range sampleEvents() {
		entry := Entry{ID: NewID(), Time: now, Event: ev}
		raw, err := Marshal(entry)
		if err != nil {
			t.Fatal(err)
		}
		var back Entry
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(entry, back); d != "" {
			t.Errorf("entry (-want +got):\n%s", d)
		}
		env := Envelope{Seq: 7, Time: now, Session: "s", Event: ev}
		raw, err = Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		var backEnv Envelope
		if err := json.Unmarshal(raw, &backEnv); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(env, backEnv); d != "" {
			t.Errorf("envelope (-want +got):\n%s", d)
		}
	}
}

func TestDecodeRefusesWhatIsNoEvent(t *testing.T) {
	for _, raw := range []string{``, `null`, `[]`, `{}`, `{"type":""}`, `{"type":"text_delta","text":5}`, `{"type":"sub","call":"x"}`} {
		if ev, err := DecodeEvent([]byte(raw)); err == nil {
			t.Errorf("DecodeEvent(%q) = %#v, want an error", raw, ev)
		}
	}
	var b Blocks
	if err := json.Unmarshal([]byte(`null`), &b); err != nil || len(b) != 0 {
		t.Errorf("null content: %v, %v", b, err)
	}
	if err := json.Unmarshal([]byte(`[{"text":"no type"}]`), &b); err == nil {
		t.Error("a block without a type was taken")
	}
}

func FuzzDecodeEvent(f *testing.F) {
	for _, ev := range sampleEvents() {
		raw, err := AppendEvent(nil, ev)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		ev, err := DecodeEvent(raw)
		if err != nil {
			return
		}
		first, err := AppendEvent(nil, ev)
		if err != nil {
			t.Fatalf("decoded but not encodable: %v", err)
		}
		back, err := DecodeEvent(first)
		if err != nil {
			t.Fatalf("encoded but not decodable: %v: %s", err, first)
		}
		second, err := AppendEvent(nil, back)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("not stable: %s, then %s (%v)", first, second, err)
		}
	})
}
