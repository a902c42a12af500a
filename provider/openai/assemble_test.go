package openai

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
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/wire"
)

// play feeds chunks to an assembler as a stream would.
func play(a *assembler, chunks ...string) (oh.Message, error) {
	for _, c := range chunks {
		if err := a.Feed(nil, []byte(c)); err != nil {
			return oh.Message{}, err
		}
	}
	a.End()
	return a.Message(), nil
}

type gotCall struct{ ID, Name, Input, Malformed string }

func TestCalls(t *testing.T) {
	part := func(calls string) string { return `{"choices":[{"delta":{"tool_calls":[` + calls + `]}}]}` }
	tests := []struct {
		name   string
		chunks []string
		want   []gotCall
	}{
		{"index from 1", []string{part(`{"index":1,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), part(`{"index":1,"function":{"arguments":":1}"}}`)},
			[]gotCall{{"a", "f", `{"x":1}`, ""}}},
		{"interleaved", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}`),
			part(`{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"}"}}`)},
			[]gotCall{{"a", "f", `{}`, ""}, {"b", "g", `{}`, ""}}},
		{"no index", []string{part(`{"id":"a","function":{"name":"f","arguments":"{"}}`), part(`{"id":"b","function":{"name":"f","arguments":"{"}}`),
			part(`{"id":"a","function":{"arguments":"}"}}`), part(`{"id":"b","function":{"arguments":"}"}}`)},
			[]gotCall{{"a", "f", `{}`, ""}, {"b", "f", `{}`, ""}}},
		{"neither index nor id", []string{part(`{"function":{"name":"f","arguments":"{\"x\":1}"}}`), part(`{"function":{"name":"f","arguments":"{\"x\""}}`), part(`{"function":{"arguments":":2}"}}`)},
			[]gotCall{{"", "f", `{"x":1}`, ""}, {"", "f", `{"x":2}`, ""}}},
		{"id and name in every chunk", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}`), part(`{"index":0,"id":"a","function":{"name":"f","arguments":":1"}}`), part(`{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}`), part(`{"index":0,"id":"a","function":{"name":"f","arguments":""}}`)},
			[]gotCall{{"a", "f", `{"x":1}`, ""}}},
		{"one index, two ids", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), part(`{"index":0,"id":"b","function":{"name":"f","arguments":"{\"x\""}}`), part(`{"index":0,"function":{"arguments":":1}"}}`)},
			[]gotCall{{"a", "f", `{}`, ""}, {"b", "f", `{"x":1}`, ""}}},
		{"one index, no ids, whole calls", []string{part(`{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}`), part(`{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}`)},
			[]gotCall{{"", "f", `{"x":1}`, ""}, {"", "f", `{"x":2}`, ""}}},
		{"one id twice", []string{part(`{"index":0,"id":"d","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"d","function":{"name":"g","arguments":"{}"}}`)},
			[]gotCall{{"d", "f", `{}`, ""}, {"d", "g", `{}`, ""}}},
		{"one id twice without index", []string{part(`{"id":"d","function":{"name":"f","arguments":"{\"x\":1}"}}`), part(`{"id":"d","function":{"name":"f","arguments":"{\"x\":2}"}}`)},
			[]gotCall{{"d", "f", `{"x":1}`, ""}, {"d", "f", `{"x":2}`, ""}}},
		{"id comes late", []string{part(`{"index":0,"function":{"name":"f"}}`), part(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)},
			[]gotCall{{"a", "f", `{}`, ""}}},
		{"arguments as an object", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":{"x": [1, 2]}}}`)},
			[]gotCall{{"a", "f", `{"x":[1,2]}`, ""}}},
		{"no arguments", []string{part(`{"index":0,"id":"a","function":{"name":"f"}},{"index":1,"id":"b","function":{"name":"g","arguments":null}},{"index":2,"id":"c","function":{"name":"h","arguments":""}}`)},
			[]gotCall{{"a", "f", `{}`, ""}, {"b", "g", `{}`, ""}, {"c", "h", `{}`, ""}}},
		{"white space after the arguments", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`), part(`{"index":0,"id":"a","function":{"name":"f","arguments":" "}}`)},
			[]gotCall{{"a", "f", `{}`, ""}}},
		{"numeric id", []string{part(`{"index":0,"id":7,"function":{"name":"f","arguments":"{}"}}`)},
			[]gotCall{{"", "f", `{}`, ""}}},
		{"function_call", []string{`{"choices":[{"delta":{"function_call":{"name":"f","arguments":""}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":"{\"x\""}}}]}`, `{"choices":[{"delta":{"function_call":{"arguments":":1}"}},"finish_reason":"function_call"}]}`},
			[]gotCall{{"", "f", `{"x":1}`, ""}}},
		{"phantom", []string{part(`{"index":0}`), part(`{"index":1,"id":"x"}`), part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}`)},
			[]gotCall{{"a", "f", `{}`, ""}}},
		{"broken", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":"}}`)},
			[]gotCall{{"a", "f", `{"malformed":"{\"x\":"}`, `the arguments are no JSON object (unexpected end of JSON input): {"x":`}}},
		{"raw newline", []string{part(`{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":\"a\nb\"}"}}`)},
			[]gotCall{{"a", "f", `{"x":"a\nb"}`, ""}}},
		{"no name", []string{part(`{"index":0,"id":"a","function":{"arguments":"{}"}}`)},
			[]gotCall{{"a", "", `{}`, "the call names no tool: {}"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := play(newAssembler("p/m", "m"), append(tt.chunks, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)...)
			if err != nil {
				t.Fatal(err)
			}
			var got []gotCall
			for _, u := range m.Content.ToolUses() {
				got = append(got, gotCall{u.ID, u.Name, string(u.Input), u.Malformed})
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			if m.Stop != oh.StopToolUse {
				t.Errorf("stop %q", m.Stop)
			}
		})
	}
}

func TestStop(t *testing.T) {
	for reason, want := range map[string]oh.StopReason{
		"stop": oh.StopEnd, "length": oh.StopMaxTokens, "content_filter": oh.StopRefusal, "tool_calls": oh.StopEnd, "strange": "strange",
	} {
		m, err := play(newAssembler("p/m", "m"), `{"choices":[{"delta":{"content":"x"},"finish_reason":"`+reason+`"}]}`)
		if err != nil || m.Stop != want {
			t.Errorf("%s: %q, %v", reason, m.Stop, err)
		}
	}
}

func TestTold(t *testing.T) {
	for _, c := range []string{
		`{"error":{"message":"x"}}`, `{"error":"x"}`, `{"object":"error","message":"x"}`, `{"detail":"x"}`, `{"code":"x","message":"y"}`,
		`[{"error":{"message":"x"}}]`, `{"choices":[{"delta":{},"finish_reason":"error"}]}`,
	} {
		_, err := play(newAssembler("p/m", "m"), c)
		if _, ok := errors.AsType[*wire.Told](err); !ok {
			t.Errorf("%s: %v", c, err)
		}
	}
}

func TestUsage(t *testing.T) {
	for in, want := range map[string]oh.Usage{
		`{"prompt_tokens":10,"completion_tokens":5}`:                                                                      {InputTokens: 10, OutputTokens: 5},
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null}`:                                         {InputTokens: 10, OutputTokens: 5},
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}}`:   {InputTokens: 3, OutputTokens: 5, CacheReadTokens: 4, CacheWriteTokens: 3},
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":6}`:             {InputTokens: 6, OutputTokens: 5, CacheReadTokens: 4},
		`{"prompt_tokens":10,"completion_tokens":5,"cached_tokens":40}`:                                                   {OutputTokens: 5, CacheReadTokens: 10},
		`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"completion_tokens_details":{"reasoning_tokens":2}}`: {InputTokens: 10, OutputTokens: 5, ReasoningTokens: 2},
		`{"prompt_tokens":10.0,"completion_tokens":"5","total_tokens":-1}`:                                                {InputTokens: 10, OutputTokens: 5},
	} {
		a := newAssembler("p/m", "m")
		m, err := play(a, `{"choices":[],"usage":`+in+`}`, `{"choices":[],"usage":{}}`, `{"choices":[],"usage":null}`)
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(want, m.Usage); d != "" {
			t.Errorf("%s (-want +got)\n%s", in, d)
		}
	}
}

func TestThinkTag(t *testing.T) {
	for _, tt := range []struct{ in, thought, said string }{
		{"<think>a</think>b", "a", "b"},
		{" \n<think>a<b></think>\n\nb <think>c</think>", "a<b>", "b <think>c</think>"},
		{"plain <", "", "plain <"},
		{"<", "", "<"},
		{"<thinker>", "", "<thinker>"},
		{"<think>a</thi", "a</thi", ""},
		{"<think></think>", "", ""},
		{"  plain", "", "  plain"},
		{" \n", "", " \n"},
	} {
		for i := range tt.in {
			for j := i; j < len(tt.in); j++ {
				var tag thinkTag
				thought, said := "", ""
				for _, s := range []string{tt.in[:i], tt.in[i:j], tt.in[j:]} {
					a, b := tag.feed(s)
					thought, said = thought+a, said+b
				}
				a, b := tag.flush()
				if thought, said = thought+a, said+b; thought != tt.thought || said != tt.said {
					t.Errorf("%q cut at %d and %d: thought %q, said %q", tt.in, i, j, thought, said)
				}
			}
		}
	}
}

// slow is an assembler that decodes every chunk in full.
func slow() *assembler {
	a := newAssembler("p/m", "m")
	for range 100 {
		a.shape.Learn(nil, "", func([]byte) (string, bool) { return "", false })
	}
	return a
}

// FuzzAssembler feeds lines as chunks. The fast way must give what decoding in
// full gives; a message must be fit for a history.
func FuzzAssembler(f *testing.F) {
	f.Add("{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"\\ud83d\\ude00\"}}]}\n{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n[DONE]")
	f.Add("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"}\"}}]},\"finish_reason\":\"length\"}]}")
	f.Add("{\"choices\":[{\"delta\":{\"reasoning\":\"x\",\"reasoning_details\":[{\"index\":0,\"text\":\"x\"}]}}]}\n{\"choices\":[{\"delta\":{\"reasoning\":\"y\"}}]}\n{\"error\":1}")
	f.Add("{\"choices\":[{\"delta\":{\"content\":\"<think>a\"}}]}\n{\"choices\":[{\"delta\":{\"content\":\"</think>b\"}}]}")
	f.Add("{\"choices\":[{\"message\":{\"content\":[{\"text\":\"a\"}],\"function_call\":{\"name\":\"f\"}}}]}")
	f.Fuzz(func(t *testing.T, stream string) {
		lines := strings.Split(stream, "\n")
		fast, full := newAssembler("p/m", "m"), slow()
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
		checkMessage(t, m)
	})
}

func checkMessage(t *testing.T, m oh.Message) {
	t.Helper()
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

func TestFastWayIsTaken(t *testing.T) {
	const chunk = `{"id":"x","choices":[{"index":0,"delta":{"content":"one"},"finish_reason":null}]}`
	a := newAssembler("p/m", "m")
	if _, err := play(a, chunk); err != nil {
		t.Fatal(err)
	}
	if _, ok := a.shape.Match([]byte(strings.Replace(chunk, "one", "two", 1))); !ok {
		t.Error("the shape was not learned")
	}
	var none delta.Template
	if _, ok := none.Match([]byte(chunk)); ok {
		t.Error("the zero template matches")
	}
}

// All that is kept of a reply counts, also after it said why it ended.
func TestBound(t *testing.T) {
	const begun = `{"choices":[{"delta":{"content":"x","tool_calls":[{"index":0,"id":"a","function":{"name":"f"}}]},"finish_reason":"stop"}]}`
	grown := strings.Repeat("x", 1000)
	for _, c := range []string{
		`{"choices":[{"delta":{"content":"` + grown + `"}}]}`,
		`{"choices":[{"delta":{"reasoning":"` + grown + `"}}]}`,
		`{"choices":[{"delta":{"refusal":"` + grown + `"}}]}`,
		`{"choices":[{"delta":{"reasoning_details":[{"type":"x","data":"` + grown + `"}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"` + grown + `"}}]}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"extra_content":{"x":"` + grown + `"}}]}}]}`,
	} {
		for _, tt := range []struct {
			room int
			want error
		}{{2000, nil}, {1000, wire.ErrTooMuch}} {
			a := newAssembler("p/m", "m")
			if err := a.Feed(nil, []byte(begun)); err != nil {
				t.Fatal(err)
			}
			a.size = wire.Size{}
			a.size.Add(wire.MaxReply - tt.room)
			if tt.want != nil {
				a.size.AddBlock()
			}
			if err := a.Feed(nil, []byte(c)); !errors.Is(err, tt.want) {
				t.Errorf("%.60s with room for %d: %v", c, tt.room, err)
			}
		}
	}
}

// Nothing is kept of a reply that is too long, whatever came before.
func TestBoundAfterTheEnd(t *testing.T) {
	events := "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n" +
		"data: {\"choices\":[{\"delta\":{\"content\":\"y\"}}]}"
	for _, end := range []string{"", "\n\n"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, events+end)
		}))
		c := New(provider.Config{BaseURL: srv.URL}).(*codec)
		s, err := c.open(t.Context(), &oh.Request{Model: "m"})
		a := newAssembler("p/m", "m")
		a.size.Add(wire.MaxReply - 257)
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

// A character cut in two is joined wherever a reply holds text, also in what
// goes back to the service.
func TestHalves(t *testing.T) {
	in := func(a, b string) []string {
		return []string{`{"choices":[{"delta":{` + a + `}}]}`, `{"choices":[{"delta":{` + b + `}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`}
	}
	details := oh.Thinking{Text: "a😀b", Opaque: &oh.Opaque{Origin: "p/m", Data: json.RawMessage(`{"field":"reasoning_details","details":[{"index":0,"text":"a\ud83d\ude00b"}]}`)}}
	for name, tt := range map[string]struct {
		chunks []string
		want   oh.Blocks
	}{
		"think tag":          {in(`"content":"<think>a\ud83d"`, `"content":"\ude00b</think>c\ud83d"`), oh.Blocks{oh.Thinking{Text: "a😀b"}, oh.Text{Text: "c\ufffd"}}},
		"refusal":            {in(`"refusal":"a\ud83d"`, `"refusal":"\ude00b"`), oh.Blocks{oh.Text{Text: "a😀b"}}},
		"parts":              {in(`"content":[{"type":"text","text":"a\ud83d"}]`, `"content":[{"type":"text","text":"\ude00b"}]`), oh.Blocks{oh.Text{Text: "a😀b"}}},
		"details":            {in(`"reasoning_details":[{"index":0,"text":"a\ud83d"}]`, `"reasoning_details":[{"index":0,"text":"\ude00b"}]`), oh.Blocks{details}},
		"other text between": {in(`"content":"a\ud83d"`, `"refusal":"\ude00b"`), oh.Blocks{oh.Text{Text: "a\ufffd\ufffdb"}}},
		"reasoning between": {in(`"content":"a\ud83d"`, `"reasoning_content":"\ude00b"`), oh.Blocks{oh.Text{Text: "a\ufffd"},
			oh.Thinking{Text: "\ufffdb", Opaque: &oh.Opaque{Origin: "p/m", Data: json.RawMessage(`{"field":"reasoning_content"}`)}}}},
	} {
		m, err := play(newAssembler("p/m", "m"), tt.chunks...)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, m.Content); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
