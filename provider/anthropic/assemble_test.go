package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/wire"
)

func play(a *assembler, events ...string) (oh.Message, error) {
	for _, e := range events {
		if err := a.Feed(nil, []byte(e)); err != nil {
			return oh.Message{}, err
		}
	}
	return a.Message(), nil
}

func TestUsage(t *testing.T) {
	tests := []struct {
		name       string
		start, end string
		want       oh.Usage
	}{
		{"told in both", `{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}`, `{"output_tokens":9}`, oh.Usage{InputTokens: 5, CacheReadTokens: 7, OutputTokens: 9}},
		{"told at the end", `{"input_tokens":0,"output_tokens":0}`, `{"input_tokens":5,"cache_creation_input_tokens":3,"output_tokens":9}`, oh.Usage{InputTokens: 5, CacheWriteTokens: 3, OutputTokens: 9}},
		{"zeros at the end", `{"input_tokens":5,"output_tokens":1}`, `{"input_tokens":0,"output_tokens":9}`, oh.Usage{InputTokens: 5, OutputTokens: 9}},
		{"null", `null`, `{"output_tokens":9}`, oh.Usage{OutputTokens: 9}},
	}
	for _, tt := range tests {
		m, err := play(newAssembler("p/m", "m"),
			`{"type":"message_start","message":{"usage":`+tt.start+`}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":`+tt.end+`}`, `{"type":"message_stop"}`)
		if err != nil || m.Usage != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, m.Usage, err)
		}
	}
}

func TestStop(t *testing.T) {
	const call = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`
	for _, tt := range []struct {
		reason string
		call   bool
		want   oh.StopReason
	}{
		{"end_turn", false, oh.StopEnd},
		{"end_turn", true, oh.StopToolUse},
		{"tool_use", false, oh.StopEnd},
		{"max_tokens", true, oh.StopMaxTokens},
		{"refusal", false, oh.StopRefusal},
		{"pause_turn", false, oh.StopPause},
		{"model_context_window_exceeded", false, oh.StopTooLong},
		{"strange", false, "strange"},
	} {
		events := []string{`{"type":"message_delta","delta":{"stop_reason":"` + tt.reason + `"}}`}
		if tt.call {
			events = append([]string{call}, events...)
		}
		m, err := play(newAssembler("p/m", "m"), events...)
		if err != nil || m.Stop != tt.want {
			t.Errorf("%+v: %q, %v", tt, m.Stop, err)
		}
	}
}

func TestThinkingBudget(t *testing.T) {
	for _, tt := range []struct {
		effort string
		limit  int
		traits provider.Traits
		want   string
	}{
		{"", 8000, provider.Traits{Thinking: provider.ThinkBudget}, ""},
		{"odd", 8000, provider.Traits{Thinking: provider.ThinkBudget}, ""},
		{"high", 64000, provider.Traits{Thinking: provider.ThinkBudget}, `,"thinking":{"type":"enabled","budget_tokens":24000}`},
		{"high", 8000, provider.Traits{Thinking: provider.ThinkBudget}, `,"thinking":{"type":"enabled","budget_tokens":6976}`},
		{"high", 1100, provider.Traits{Thinking: provider.ThinkBudget}, `,"thinking":{"type":"enabled","budget_tokens":1099}`},
		{"high", 1024, provider.Traits{Thinking: provider.ThinkBudget}, ""},
		{"low", 64000, provider.Traits{Thinking: provider.ThinkBudget, Budgets: map[string]int{"low": 2000}}, `,"thinking":{"type":"enabled","budget_tokens":2000}`},
		{"high", 64000, provider.Traits{}, ""},
		{"high", 64000, provider.Traits{Thinking: provider.ThinkEffort}, `,"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}`},
		{"low", 64000, provider.Traits{Thinking: provider.ThinkEffort, Efforts: map[string]string{"low": ""}}, ""},
	} {
		e := encoder{traits: &tt.traits}
		if got := e.thinking(&oh.Request{Effort: tt.effort}, tt.limit); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// FuzzAssembler feeds lines as events. The fast way must give what decoding in
// full gives; a message must be fit for a history.
func FuzzAssembler(f *testing.F) {
	f.Add("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"\\ud83d\\ude00\"}   }\n{\"type\":\"message_stop\"}")
	f.Add("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"input\":{\"a\":1}}}\n{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}}\n{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}")
	f.Add("{\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"x\"}}\n{\"type\":\"content_block_delta\",\"index\":3,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"x\"}}\n{\"type\":\"error\",\"error\":1}")
	f.Fuzz(func(t *testing.T, stream string) {
		lines := strings.Split(stream, "\n")
		fast, full := newAssembler("p/m", "m"), newAssembler("p/m", "m")
		for range 100 {
			full.shape.Learn(nil, "", func([]byte) (string, bool) { return "", false })
		}
		m, err := play(fast, lines...)
		n, err2 := play(full, lines...)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("fast %v, full %v", err, err2)
		}
		if err != nil {
			return
		}
		if d := cmp.Diff(n, m); d != "" {
			t.Fatalf("(-full +fast)\n%s", d)
		}
		if d := cmp.Diff(full.Take(), fast.Take()); d != "" {
			t.Fatalf("deltas (-full +fast)\n%s", d)
		}
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
	})
}

// All that is kept of a reply counts.
func TestBound(t *testing.T) {
	grown := strings.Repeat("x", 1000)
	for _, tt := range []struct{ kind, delta string }{
		{"text", `{"type":"text_delta","text":"` + grown + `"}`},
		{"thinking", `{"type":"thinking_delta","thinking":"` + grown + `"}`},
		{"thinking", `{"type":"signature_delta","signature":"` + grown + `"}`},
		{"tool_use", `{"type":"input_json_delta","partial_json":"` + grown + `"}`},
		{"server_tool_use", `{"type":"input_json_delta","partial_json":"` + grown + `"}`},
	} {
		for room, want := range map[int]error{1000: nil, 999: wire.ErrTooMuch} {
			a := newAssembler("p/m", "m")
			if err := a.Feed(nil, []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"`+tt.kind+`"}}`)); err != nil {
				t.Fatal(err)
			}
			a.size = wire.Size{}
			a.size.Add(wire.MaxReply - room)
			if err := a.Feed(nil, []byte(`{"type":"content_block_delta","index":0,"delta":`+tt.delta+`}`)); !errors.Is(err, want) {
				t.Errorf("%s, room for %d: %v", tt.delta[:30], room, err)
			}
		}
	}
	a := newAssembler("p/m", "m")
	a.size.Add(wire.MaxReply - 100)
	if err := a.Feed(nil, []byte(`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}`)); !errors.Is(err, wire.ErrTooMuch) {
		t.Errorf("one block more: %v", err)
	}
}

// Nothing is kept of a reply that is too long, whatever came before.
func TestBoundIsAnError(t *testing.T) {
	events := "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
		"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" + strings.Repeat("x", 500) + "\"}}"
	for _, end := range []string{"", "\n\n"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, events+end)
		}))
		c := New(provider.Config{BaseURL: srv.URL}).(*codec)
		s, err := c.open(t.Context(), &oh.Request{Model: "m"})
		a := newAssembler("p/m", "m")
		a.size.Add(wire.MaxReply - 500)
		var last oh.Chunk
		wire.Talk(s, err, a, func(c oh.Chunk, e error) bool {
			last, err = c, e
			return true
		})
		if last != nil || oh.KindOf(err) != oh.KindInvalid || !strings.Contains(err.Error(), "64 MB") {
			t.Errorf("end %q: %v, %v", end, last, err)
		}
		srv.Close()
	}
}

// TestSameIndex: a gateway that numbers every block 0 is understood; blocks
// that begin twice are a broken stream.
func TestSameIndex(t *testing.T) {
	const (
		begin = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		end   = `{"type":"content_block_stop","index":0}`
		call  = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`
	)
	text := func(s string) string {
		return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` + s + `"}}`
	}
	m, err := play(newAssembler("p/m", "m"), begin, text("one"), end, begin, text("two"), end, call, end)
	if err != nil || len(m.Content) != 3 || m.Content[1].(oh.Text).Text != "two" {
		t.Errorf("%+v, %v", m.Content, err)
	}
	for name, events := range map[string][]string{
		"open":  {begin, text("one"), begin},
		"again": {call, end, call},
	} {
		if _, err := play(newAssembler("p/m", "m"), events...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
