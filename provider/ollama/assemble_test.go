package ollama

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/wire"
)

func FuzzAssemble(f *testing.F) {
	for _, s := range []string{
		`{"message":{"thinking":"a","content":"b"},"done":false}` + "\n" + `{"message":{"tool_calls":[{"id":"x","function":{"name":"f","arguments":{"a":1}}}]}}` + "\n" + `{"done":true,"done_reason":"stop","eval_count":1}`,
		`{"message":{"tool_calls":[{"function":{"arguments":"[1]"}},{"id":"call_1"},{"id":"call_1","function":{"name":"f"}}]},"done":true}`,
		`{"error":"x"}`, `{"message":{"content":"\ud83d"}}` + "\n" + `{"message":{"content":"\ude00"},"done":true,"done_reason":"length"}`, `[]`, `null`, `{"done":true,"prompt_eval_count":1e999}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, stream string) {
		a := newAssembler("p/m", "m")
		text := ""
		for line := range strings.Lines(stream) {
			if a.Feed(nil, []byte(line)) != nil || a.State() >= wire.Over {
				break
			}
		}
		a.End()
		for _, c := range a.Take() {
			if d, ok := c.(oh.TextDelta); ok {
				text += d.Text
			}
		}
		if a.State() != wire.Over {
			return
		}
		m := a.Message()
		said := ""
		seen := map[string]bool{}
		for _, b := range m.Content {
			switch b := b.(type) {
			case oh.Text:
				if b.Text == "" {
					t.Error("an empty text")
				}
				said += b.Text
			case oh.ToolUse:
				var object map[string]any
				if seen[b.ID] || b.ID == "" || json.Unmarshal(b.Input, &object) != nil || object == nil {
					t.Errorf("%+v", b)
				}
				seen[b.ID] = true
			}
		}
		if said != text {
			t.Errorf("the deltas say %q, the message %q", text, said)
		}
		if m.Usage.InputTokens < 0 || m.Usage.OutputTokens < 0 {
			t.Errorf("%+v", m.Usage)
		}
	})
}
