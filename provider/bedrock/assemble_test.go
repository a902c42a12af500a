package bedrock

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/wire"
)

// play feeds lines of a type and a payload.
func play(a *assembler, lines ...string) (oh.Message, error) {
	for _, line := range lines {
		name, data, _ := strings.Cut(line, " ")
		if err := a.Feed([]byte(name), []byte(data)); err != nil {
			a.End()
			return oh.Message{}, err
		}
	}
	a.End()
	if s := a.State(); s != wire.Complete && s != wire.Over {
		return oh.Message{}, errors.New("incomplete")
	}
	return a.Message(), nil
}

func TestBroken(t *testing.T) {
	const call = `contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}`
	for name, lines := range map[string][]string{
		"no JSON":           {`messageStart {`},
		"begins again":      {`contentBlockDelta {"delta":{"text":"x"}}`, `messageStart {"role":"assistant"}`},
		"call begins anew":  {call, call},
		"call from nowhere": {`contentBlockDelta {"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}`},
		"nobody said why":   {`messageStart {}`, `messageStop {}`, `metadata {}`},
		"unreadable":        {`contentBlockDelta {"delta":{"text":"x"}}`, `messageStop {"stopReason":"malformed_model_output"}`},
		"told":              {`throttlingException {"message":"no"}`},
		"told oddly":        {`newException nothing`},
		"error":             {`error {"message":"x"}`},
		"unwrapped error":   {` {"error":{"message":"x"}}`},
		"unwrapped text":    {` {`},
	} {
		if m, err := play(newAssembler("p/m", "m"), lines...); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

// Two calls at one index with different ids are two calls; a whole call that is
// told once more is a broken stream.
func TestSameIndex(t *testing.T) {
	start := func(id string) string {
		return `contentBlockStart {"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"` + id + `","name":"f"}}}`
	}
	piece := func(s string) string {
		return `contentBlockDelta {"contentBlockIndex":0,"delta":{"toolUse":{"input":` + s + `}}}`
	}
	m, err := play(newAssembler("p/m", "m"), start("a"), piece(`"{\"n\":1}"`), start("b"), piece(`"{\"n\":2}"`), `messageStop {"stopReason":"tool_use"}`)
	if calls := m.Content.ToolUses(); err != nil || len(calls) != 2 || string(calls[0].Input) != `{"n":1}` || string(calls[1].Input) != `{"n":2}` {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = play(newAssembler("p/m", "m"), start(""), `contentBlockStop {}`, start(""), `messageStop {"stopReason":"end_turn"}`)
	if err != nil || len(m.Content.ToolUses()) != 2 || m.Stop != oh.StopToolUse {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestReasons(t *testing.T) {
	for reason, want := range map[string]oh.StopReason{
		"end_turn": oh.StopEnd, "tool_use": oh.StopEnd, "max_tokens": oh.StopMaxTokens, "stop_sequence": oh.StopSequence,
		"guardrail_intervened": oh.StopRefusal, "content_filtered": oh.StopRefusal, "model_context_window_exceeded": oh.StopTooLong,
		"new_one": "new_one",
	} {
		if m, err := play(newAssembler("p/m", "m"), `contentBlockDelta {"delta":{"text":"x"}}`, `messageStop {"stopReason":"`+reason+`"}`); err != nil || m.Stop != want {
			t.Errorf("%s: %s, %v", reason, m.Stop, err)
		}
	}
	m, err := play(newAssembler("p/m", "m"), `contentBlockStart {"start":{"toolUse":{"toolUseId":"a","name":"f"}}}`, `contentBlockDelta {"delta":{"toolUse":{"input":"{x"}}}`, `messageStop {"stopReason":"malformed_tool_use"}`)
	if err != nil || m.Stop != oh.StopToolUse || m.Content.ToolUses()[0].Malformed == "" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestUsage(t *testing.T) {
	for raw, want := range map[string]oh.Usage{
		`{"inputTokens":10,"outputTokens":2,"totalTokens":112,"cacheReadInputTokens":90,"cacheWriteInputTokens":10}`:  {InputTokens: 10, OutputTokens: 2, CacheReadTokens: 90, CacheWriteTokens: 10},
		`{"inputTokens":110,"outputTokens":2,"totalTokens":112,"cacheReadInputTokens":90,"cacheWriteInputTokens":10}`: {InputTokens: 10, OutputTokens: 2, CacheReadTokens: 90, CacheWriteTokens: 10},
		`{"inputTokens":10,"outputTokens":2}`:                                                    {InputTokens: 10, OutputTokens: 2},
		`{"inputTokens":"ten","outputTokens":2,"cacheReadInputTokens":null,"cacheDetails":[{}]}`: {OutputTokens: 2},
		`{"inputTokens":-1,"outputTokens":-2,"cacheReadInputTokens":-3}`:                         {},
		`null`: {},
	} {
		m, err := play(newAssembler("p/m", "m"), `messageStop {"stopReason":"end_turn"}`, `metadata {"usage":`+raw+`}`)
		if err != nil || m.Usage != want {
			t.Errorf("%s: %+v, %v", raw, m.Usage, err)
		}
	}
}

// All that is kept of a reply counts.
func TestBound(t *testing.T) {
	grown := strings.Repeat("x", 1000)
	for _, line := range []string{
		`contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"` + grown + `"}}`,
		`contentBlockDelta {"contentBlockIndex":1,"delta":{"reasoningContent":{"text":"` + grown + `"}}}`,
		`contentBlockDelta {"contentBlockIndex":1,"delta":{"reasoningContent":{"signature":"` + grown + `"}}}`,
		`contentBlockDelta {"contentBlockIndex":1,"delta":{"reasoningContent":{"redactedContent":"` + grown + `"}}}`,
		`contentBlockDelta {"contentBlockIndex":2,"delta":{"toolUse":{"input":"` + grown + `"}}}`,
	} {
		for room, want := range map[int]error{1000: nil, 999: wire.ErrTooMuch} {
			a := newAssembler("p/m", "m")
			if _, err := play(a, `contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"a"}}`, `contentBlockDelta {"contentBlockIndex":1,"delta":{"reasoningContent":{"text":"a"}}}`,
				`contentBlockStart {"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}`); err.Error() != "incomplete" {
				t.Fatal(err)
			}
			a.size = wire.Size{}
			a.size.Add(wire.MaxReply - room)
			name, data, _ := strings.Cut(line, " ")
			if err := a.Feed([]byte(name), []byte(data)); !errors.Is(err, want) {
				t.Errorf("%.80s, room for %d: %v", line, room, err)
			}
		}
	}
}

// FuzzAssembler feeds lines as events. The fast way must give what decoding in
// full gives; a message must be fit for a history.
func FuzzAssembler(f *testing.F) {
	f.Add("messageStart {\"role\":\"assistant\"}\ncontentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\\ud83d\"}}\ncontentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"\\ude00\"}}\nmessageStop {\"stopReason\":\"end_turn\"}")
	f.Add("contentBlockStart {\"start\":{\"toolUse\":{\"toolUseId\":\"a\",\"name\":\"f\",\"input\":{\"a\":1}}}}\ncontentBlockDelta {\"delta\":{\"toolUse\":{\"input\":\"{\"}}}\nmessageStop {\"stopReason\":\"max_tokens\"}\nmetadata {\"usage\":{}}")
	f.Add("contentBlockDelta {\"delta\":{\"reasoningContent\":{\"text\":\"x\",\"signature\":\"s\",\"redactedContent\":\"eA==\"}}}\ncontentBlockStart {\"start\":{\"new\":1}}\nmessageStop {\"stopReason\":\"x\"}")
	f.Add("contentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"a\"},\"p\":\"abc\"}\ncontentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"b\"},\"p\":\"a\"}\ncontentBlockStop {\"contentBlockIndex\":0}\ncontentBlockDelta {\"contentBlockIndex\":0,\"delta\":{\"text\":\"c\"},\"p\":\"\"}\nmessageStop {\"stopReason\":\"end_turn\"}")
	f.Add(" {\"messageStop\":{\"stopReason\":\"x\"}}\nthrottlingException {}")
	f.Add("{\"output\":{\"message\":{\"content\":[{\"text\":\"a\"},{\"toolUse\":{\"input\":[]}}]}},\"stopReason\":\"tool_use\"}")
	f.Fuzz(func(t *testing.T, stream string) {
		check := func(m oh.Message) {
			raw, err := oh.Marshal(m)
			if err != nil || !utf8.Valid(raw) {
				t.Fatalf("message %q, %v", raw, err)
			}
			for _, u := range m.Content.ToolUses() {
				var input map[string]any
				if json.Unmarshal(u.Input, &input) != nil || input == nil {
					t.Errorf("input %q", u.Input)
				}
			}
		}
		lines := strings.Split(stream, "\n")
		fast, full := newAssembler("p/m", "m"), newAssembler("p/m", "m")
		for range 100 {
			full.shape.Learn(nil, "", func([]byte) (string, bool) { return "", false })
		}
		m, err := play(fast, lines...)
		n, err2 := play(full, lines...)
		deltas := cmp.Diff(full.Take(), fast.Take())
		if (err == nil) != (err2 == nil) || cmp.Diff(n, m) != "" || deltas != "" {
			t.Fatalf("fast %v, full %v\n%s%s", err, err2, cmp.Diff(n, m), deltas)
		}
		if err == nil {
			check(m)
		}
		a := newAssembler("p/m", "m")
		if err := a.Whole([]byte(stream)); err == nil {
			a.End()
			check(a.Message())
		}
	})
}
