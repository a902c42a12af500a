package responses

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/wire"
)

// FuzzAssembler feeds a stream, one event a line. It never panics, is complete
// or not, and what is complete is legal: calls with objects, valid UTF-8, and
// what was shown is what is kept.
func FuzzAssembler(f *testing.F) {
	for _, s := range [][]string{
		{added(`"output_index":0,`, begun), said(`"item_id":"msg_1","output_index":0,`, `"a\ud83d"`), said(`"item_id":"msg_1","output_index":0,`, `"\ude00"`), done(`"output_index":0,`, message("msg_1", "a😀")), completed(message("msg_1", "a😀"))},
		{added(`"output_index":1,`, call("fc_1", "c1", "f", `""`)), args(`"output_index":1,`, `"{\"x\""`), args(`"output_index":1,`, `":1}"`), completed(call("fc_1", "c1", "f", `"{\"x\":1}"`), call("fc_2", "c2", "g", `{}`))},
		{`{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"a"}`, `{"type":"response.reasoning_text.delta","delta":"b"}`, completed(`{"type":"reasoning","encrypted_content":"x","summary":[{"text":"a"}]}`, message("m", "x"))},
		{`{"type":"response.refusal.delta","delta":"no"}`, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","name":"f"}]}}`},
		{`{"type":"error","message":"try again in 3s"}`}, {`{"type":"response.failed","response":{"error":"x"}}`}, {"[DONE]"}, {`{"type":"tool_use"}`},
		{done("", `{"type":"web_search_call","x":1}`), done("", `{"type":"thinking"}`), ended},
	} {
		f.Add(strings.Join(s, "\n"))
	}
	f.Fuzz(func(t *testing.T, stream string) {
		a := newAssembler("p/m", "m")
		var h heard
		h.inputs = map[int]string{}
		for line := range strings.SplitSeq(stream, "\n") {
			err := a.Feed(nil, []byte(line))
			h.take(a.Take())
			if err != nil {
				return
			}
			if a.State() >= wire.Over {
				break
			}
		}
		a.End()
		h.take(a.Take())
		checkMessage(t, a.Message(), h)

		b := newAssembler("p/m", "m")
		if b.Whole([]byte(stream)) == nil {
			b.End()
			h := heard{inputs: map[int]string{}}
			h.take(b.Take())
			checkMessage(t, b.Message(), h)
		}
	})
}

func checkMessage(t *testing.T, m oh.Message, h heard) {
	t.Helper()
	raw, err := json.Marshal(m.Content)
	if err != nil || !utf8.Valid(raw) {
		t.Fatalf("%s: %v", raw, err)
	}
	if got := m.Content.Text(); got != h.said {
		t.Errorf("%q was shown, %q is kept", h.said, got)
	}
	for _, u := range m.Content.ToolUses() {
		var object map[string]json.RawMessage
		if json.Unmarshal(u.Input, &object) != nil || object == nil {
			t.Errorf("input %s", u.Input)
		}
	}
	// What was received can be sent.
	req := &oh.Request{Model: "m", Messages: []oh.Message{{ID: "u", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "x"}}}, m}}
	c := New(provider.Config{Profile: "p"}).(*codec)
	b, err := c.encode(req, &provider.Traits{})
	if err != nil || !json.Valid(b.Bytes()) || !utf8.Valid(b.Bytes()) {
		t.Errorf("%s: %v", b.Bytes(), err)
	}
}

// FuzzRun compares what is read of a delta without decoding it with what
// decoding gives.
func FuzzRun(f *testing.F) {
	const first = `{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"a"}`
	f.Add(first)
	f.Add(`{"type":"response.output_text.delta","sequence_number":12,"item_id":"m","output_index":1,"content_index":0,"delta":"\ud83d","logprobs":[],"obfuscation":"Ab"}`)
	f.Add(`{"delta":"\"\\","content_index":0 , "output_index":1,"item_id":"m","type":"response.output_text.delta"}`)
	f.Fuzz(func(t *testing.T, in string) {
		var ev event
		if err := json.Unmarshal([]byte(first), &ev); err != nil {
			t.Fatal(err)
		}
		r := newRun(&slot{}, source{}, &ev)
		got, ok := r.next([]byte(in))
		if !ok {
			return
		}
		var again event
		if err := json.Unmarshal([]byte(in), &again); err != nil {
			t.Fatalf("%q was read and is no JSON: %v", in, err)
		}
		if s := again.piece(); s != got || again.Type != ev.Type || again.ItemID != ev.ItemID || again.Output != ev.Output || again.Content != ev.Content || again.Summary != ev.Summary {
			t.Errorf("%q: read %q, decoded %q", in, got, s)
		}
	})
}
