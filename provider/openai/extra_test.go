package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// What a service hangs on a call is kept with the call, whenever it comes.
func TestExtraContentIsKept(t *testing.T) {
	const first = `{"google":{"thought_signature":"c2ln+/=="}}`
	part := func(calls string) string { return `{"choices":[{"delta":{"tool_calls":[` + calls + `]}}]}` }
	for name, chunks := range map[string][]string{
		"at once":             {part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"},"extra_content": {"google": {"thought_signature": "c2ln+/=="}}},{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}`)},
		"after":               {part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), part(`{"index":0,"extra_content":` + first + `}`), part(`{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}`)},
		"before the end":      {part(`{"index":0,"id":"a","function":{"name":"f"},"extra_content":` + first + `}`), part(`{"index":0,"function":{"arguments":"{}"},"extra_content":null}`), part(`{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}`)},
		"with the whole call": {part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}`), part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"},"extra_content":` + first + `}`), part(`{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}`)},
	} {
		m, err := play(newAssembler("p/m", "m"), append(chunks, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []*oh.Opaque
		for _, u := range m.Content.ToolUses() {
			got = append(got, u.Opaque)
		}
		want := []*oh.Opaque{{Origin: "p/m", Data: json.RawMessage(`{"extra_content":` + first + `}`)}, nil}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

func TestExtraContentGoesHome(t *testing.T) {
	const dummy = `,"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`
	const own = `,"extra_content":{"vertex":{"a":"\u00e9\ufffd"}}`
	with := func(origin string) *oh.Opaque {
		return &oh.Opaque{Origin: origin, Data: json.RawMessage(`{"extra_content":{"vertex":{"a":"\u00e9\ud83d"}}}`)}
	}
	for _, tt := range []struct {
		name, model   string
		first, second *oh.Opaque
		want          [2]string
	}{
		{"same origin", "gemini-3-pro", with("p/gemini-3-pro"), nil, [2]string{own, ""}},
		{"same origin, on both", "gemini-2.5-pro", with("p/gemini-2.5-pro"), with("p/gemini-2.5-pro"), [2]string{own, own}},
		{"same origin, on the second", "gemini-3-pro", nil, with("p/gemini-3-pro"), [2]string{"", own}},
		{"other profile", "gemini-3-pro", with("q/gemini-3-pro"), nil, [2]string{dummy, ""}},
		{"of another model", "google/Gemini-3-flash", with("p/gpt-5"), with("p/gpt-5"), [2]string{dummy, ""}},
		{"none", "models/gemini-3.1-pro", nil, nil, [2]string{dummy, ""}},
		{"none, older model", "gemini-2.5-pro", nil, nil, [2]string{"", ""}},
		{"none, model that is like it", "my-gemini-3", with("p/x"), nil, [2]string{"", ""}},
		{"broken", "m", &oh.Opaque{Origin: "p/m", Data: json.RawMessage(`{"signature":"s"}`)}, nil, [2]string{"", ""}},
	} {
		c := New(provider.Config{Profile: "p"}).(*codec)
		b, err := c.encode(&oh.Request{Model: tt.model, Messages: []oh.Message{{Role: oh.Assistant, Content: oh.Blocks{
			oh.ToolUse{ID: "a", Name: "f", Input: json.RawMessage(`{}`), Opaque: tt.first},
			oh.ToolUse{ID: "b", Name: "f", Input: json.RawMessage(`{}`), Opaque: tt.second},
		}}}})
		if err != nil {
			t.Fatal(err)
		}
		got := string(b.Bytes())
		item := func(id, extra string) string {
			return `{"id":"` + id + `","type":"function","function":{"name":"f","arguments":"{}"}` + extra + `}`
		}
		want := `"tool_calls":[` + item("a", tt.want[0]) + `,` + item("b", tt.want[1]) + `]`
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s\nwant %s", tt.name, got, want)
		}
	}
}
