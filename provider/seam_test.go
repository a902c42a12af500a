package provider_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// pieces returns the events of a reply: thinking, text and the arguments of
// two calls at a time, each piece a raw JSON string.
func pieces(wire string, thinking, said, first, second []string) string {
	if wire == "bedrock" {
		return bedrockPieces(thinking, said, first, second)
	}
	if wire == "ollama" {
		return ollamaPieces(thinking, said, first, second)
	}
	if wire == "gemini" {
		return geminiPieces(thinking, said, first, second)
	}
	if wire == "responses" {
		return responsesPieces(thinking, said, first, second)
	}
	if wire == "openai" {
		var all []string
		for _, s := range thinking {
			all = append(all, `{"choices":[{"index":0,"delta":{"reasoning_content":`+s+`}}]}`)
		}
		for _, s := range said {
			all = append(all, `{"choices":[{"index":0,"delta":{"content":`+s+`}}]}`)
		}
		for i := range max(len(first), len(second)) {
			if i < len(first) {
				all = append(all, `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":`+first[i]+`}}]}}]}`)
			}
			if i < len(second) {
				all = append(all, `{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":`+second[i]+`}}]}}]}`)
			}
		}
		return openaiEvents(append(all, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "[DONE]")...)
	}
	forms := func(kind, field string, raws []string) []string {
		var out []string
		for _, s := range raws {
			out = append(out, `{"type":"`+kind+`","`+field+`":`+s+`}`)
		}
		return out
	}
	all := []string{`{"type":"message_start","message":{"model":"m"}}`}
	for i, b := range []struct {
		start  string
		deltas []string
	}{
		{`{"type":"thinking","thinking":""}`, forms("thinking_delta", "thinking", thinking)},
		{`{"type":"text","text":""}`, forms("text_delta", "text", said)},
		{`{"type":"tool_use","id":"a","name":"f","input":{}}`, forms("input_json_delta", "partial_json", first)},
		{`{"type":"tool_use","id":"b","name":"f","input":{}}`, forms("input_json_delta", "partial_json", second)},
	} {
		if len(b.deltas) > 0 {
			all = append(all, anthropicBlock(i, b.start, b.deltas...)...)
		}
	}
	all = append(all, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`)
	return anthropicEvents(all...)
}

// A character whose two escapes come in two events is that character.
func TestCharacterCutInTwo(t *testing.T) {
	each(t, func(t *testing.T, v voice) {
		events := pieces(v.wire,
			[]string{`"t\ud83d"`, `"\ude00"`, `"u"`, `"v\ud83d"`},
			[]string{`"plain"`, `"a\ud83d"`, `"\ude00b"`, `"c"`, `"d\ud83d"`, `"e"`, `"\ude00"`, `"f\ud83d"`},
			[]string{`"{\"x\":\"\ud83d"`, `"\ude00\"}"`},
			[]string{`"{\"x\":\"\ud83d"`, `"\ude01\"}"`})
		got := listen(t, served(v, func(*http.Request) io.Reader { return strings.NewReader(events) }).Stream(t.Context(), hello()))
		if got.err != nil {
			t.Fatal(got.err)
		}
		const thinking, text = "t😀uv\ufffd", "plaina😀bcd\ufffde\ufffdf\ufffd"
		want := []string{thinking, text, `{"x":"😀"}`, `{"x":"😁"}`, thinking, text, `{"x":"😀"}`, `{"x":"😁"}`}
		have := []string{got.thinking, got.text, got.inputs[0], got.inputs[1]}
		for _, b := range got.message.Content {
			switch b := b.(type) {
			case oh.Thinking:
				have = append(have, b.Text)
			case oh.Text:
				have = append(have, b.Text)
			case oh.ToolUse:
				have = append(have, string(b.Input))
			}
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	})
}

// A stream that comes one byte at a time says the same.
func TestOneByteAtATime(t *testing.T) {
	each(t, func(t *testing.T, v voice) {
		for _, form := range []string{v.full, strings.ReplaceAll(v.full, "\n", "\r\n")} {
			if v.wire == "bedrock" && form != v.full {
				continue // no lines
			}
			p := served(v, func(*http.Request) io.Reader { return iotest.OneByteReader(strings.NewReader(form)) })
			checkFull(t, v, listen(t, p.Stream(t.Context(), hello())))
		}
	})
}
