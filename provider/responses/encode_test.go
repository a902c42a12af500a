package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// items returns what an assistant message becomes, one item a line.
func items(t *testing.T, e *encoder, blocks ...oh.Block) string {
	t.Helper()
	raw := e.message(&oh.Message{Role: oh.Assistant, Content: blocks})
	var list []json.RawMessage
	if err := json.Unmarshal([]byte("["+string(raw)+"]"), &list); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	var out strings.Builder
	for _, x := range list {
		out.Write(append(x, '\n'))
	}
	return out.String()
}

func own(data string) *oh.Opaque { return &oh.Opaque{Origin: "p/m", Data: json.RawMessage(data)} }

const rs = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"x"}`

func saidItem(id, text string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return `{"type":"message","role":"assistant",` + id + `"status":"completed","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}` + "\n"
}

func callItem(id string) string {
	if id != "" {
		id = `"id":"` + id + `",`
	}
	return `{"type":"function_call",` + id + `"call_id":"c1","name":"f","arguments":"{}"}` + "\n"
}

// A reply goes back as it came, or without what would then be refused.
func TestReplay(t *testing.T) {
	thinking := oh.Thinking{Text: "t", Opaque: own(rs)}
	said := oh.Text{Text: "a", Opaque: own(`{"id":"msg_1"}`)}
	call := oh.ToolUse{ID: "c1", Name: "f", Input: json.RawMessage("{}"), Opaque: own(`{"id":"fc_1"}`)}
	for name, tt := range map[string]struct {
		blocks []oh.Block
		want   string
	}{
		"whole":                  {[]oh.Block{thinking, said, call}, rs + "\n" + saidItem("msg_1", "a") + callItem("fc_1")},
		"two thoughts":           {[]oh.Block{thinking, thinking, call}, rs + "\n" + rs + "\n" + callItem("fc_1")},
		"thought at the end":     {[]oh.Block{said, thinking}, saidItem("", "a")},
		"thought before a blank": {[]oh.Block{said, thinking, oh.Text{Text: " "}}, saidItem("", "a")},
		"thought alone":          {[]oh.Block{thinking}, saidItem("", "(empty)")},
		"thought of another":     {[]oh.Block{oh.Thinking{Text: "t", Opaque: &oh.Opaque{Origin: "q/m", Data: json.RawMessage(rs)}}, said, call}, saidItem("", "a") + callItem("")},
		"thought of a store":     {[]oh.Block{oh.Thinking{Text: "t", Opaque: own(`{"id":"rs_1","type":"reasoning","summary":[]}`)}, call}, callItem("")},
		"thought without more":   {[]oh.Block{oh.Thinking{Text: "t"}, call}, callItem("")},
		"thought of another wire": {[]oh.Block{oh.Thinking{Text: "t", Opaque: own(`{"signature":"c2ln"}`)}, oh.Thinking{Opaque: own(`[]`)}, oh.Thinking{Opaque: own(``)}, call},
			callItem("")},
		"before what is not known": {[]oh.Block{thinking, oh.Unknown{Type: "web_search_call", Raw: json.RawMessage(`{}`)}, said}, saidItem("", "a")},
		"ids of a gateway":         {[]oh.Block{oh.Text{Text: "a", Opaque: own(`{"id":"item 1"}`)}, oh.ToolUse{ID: "c1", Name: "f", Opaque: own(`{"id":"kX/+="}`)}}, saidItem("", "a") + callItem("")},
		"an id too long":           {[]oh.Block{oh.ToolUse{ID: "c1", Name: "f", Opaque: own(`{"id":"fc_` + strings.Repeat("x", 62) + `"}`)}}, callItem("")},
		"halves of characters": {[]oh.Block{oh.Thinking{Opaque: own(`{"type":"reasoning","encrypted_content":"\ud83d"}`)}, oh.Text{Text: "b\xff"}},
			`{"type":"reasoning","encrypted_content":"\ufffd"}` + "\n" + saidItem("", `b\ufffd`)},
		"paragraphs": {[]oh.Block{oh.Text{Text: "a"}, oh.Text{Text: "\n"}, oh.Text{Text: "b"}, said}, saidItem("", `a\n\nb`) + saidItem("msg_1", "a")},
		"a phase": {[]oh.Block{oh.Text{Text: "a", Opaque: own(`{"phase":"commentary"}`)}},
			`{"type":"message","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"a","annotations":[]}]}` + "\n"},
	} {
		e := &encoder{origin: "p/m", traits: &provider.Traits{}}
		if d := cmp.Diff(tt.want, items(t, e, tt.blocks...)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
	e := &encoder{origin: "p/m", traits: &provider.Traits{NoReasoning: true}}
	if d := cmp.Diff(saidItem("", "a")+callItem(""), items(t, e, thinking, said, call)); d != "" {
		t.Errorf("no reasoning (-want +got)\n%s", d)
	}
}

// Ids that are made up are the same each time and no two are alike.
func TestMadeIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, message := range []string{"a", "b", "a1", "0198c0de-0000-7000-8000-000000000000"} {
		for block := range 12 {
			id := madeID(message, block)
			if seen[id] || id != madeID(message, block) || !legal(id, "msg_") {
				t.Errorf("%q %d: %q", message, block, id)
			}
			seen[id] = true
		}
	}
}

func TestHead(t *testing.T) {
	effort := provider.Traits{Thinking: provider.ThinkEffort, Efforts: map[string]string{"max": "xhigh", "low": ""}}
	for name, tt := range map[string]struct {
		req    oh.Request
		traits provider.Traits
		want   string
	}{
		"plain":             {oh.Request{Model: "m", Effort: "high", Session: "s"}, provider.Traits{}, `{"model":"m","stream":true,"store":false`},
		"a budget is none":  {oh.Request{Model: "m", Effort: "high"}, provider.Traits{Thinking: provider.ThinkBudget}, `{"model":"m","stream":true,"store":false`},
		"limits":            {oh.Request{Model: "m", MaxTokens: 100}, provider.Traits{MaxOutput: 9}, `{"model":"m","max_output_tokens":100,"stream":true,"store":false`},
		"least limit":       {oh.Request{Model: "m"}, provider.Traits{MaxOutput: 9}, `{"model":"m","max_output_tokens":16,"stream":true,"store":false`},
		"name":              {oh.Request{Model: "m"}, provider.Traits{Name: "n\"", CacheKey: true}, `{"model":"n\"","stream":true,"store":false`},
		"reasons":           {oh.Request{Model: "m"}, effort, `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}`},
		"effort":            {oh.Request{Model: "m", Effort: "max"}, effort, `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"xhigh","summary":"auto"}`},
		"effort left out":   {oh.Request{Model: "m", Effort: "low"}, effort, `{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"summary":"auto"}`},
		"nothing kept":      {oh.Request{Model: "m", Effort: "high"}, provider.Traits{Thinking: provider.ThinkEffort, NoReasoning: true}, `{"model":"m","stream":true,"store":false,"reasoning":{"effort":"high"}`},
		"nothing to ask":    {oh.Request{Model: "m"}, provider.Traits{Thinking: provider.ThinkEffort, NoReasoning: true}, `{"model":"m","stream":true,"store":false`},
		"cache key":         {oh.Request{Model: "m", Session: "s"}, provider.Traits{CacheKey: true}, `{"model":"m","stream":true,"store":false,"prompt_cache_key":"s"`},
		"no session no key": {oh.Request{Model: "m"}, provider.Traits{CacheKey: true}, `{"model":"m","stream":true,"store":false`},
	} {
		e := encoder{traits: &tt.traits}
		if got := string(e.head(&tt.req)); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}
