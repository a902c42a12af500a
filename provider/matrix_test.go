package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// A voice says the same thing in the events of one wire, for what archives (see
// [TestBehaviour]) cannot ask: bytes cut anywhere, silence, many at a time.
type voice struct {
	wire string
	full string // thinking, text and two calls, see fullMessage
	said string // "hello", ends well
	open string // text that goes on
}

const (
	fullText     = "你好, \"friend\" 👍\nline <b> é"
	fullThinking = "why… 🤔"
	fullInput    = `{"path":"a\\b","text":"\"quoted\" \n 你好 👍"}`
)

func fullMessage(wire string) oh.Message {
	if wire == "gemini" {
		return geminiMessage(oh.Message{Role: oh.Assistant, Model: "m", Stop: oh.StopToolUse})
	}
	if wire == "responses" {
		return responsesMessage(oh.Message{Role: oh.Assistant, Model: "m", Stop: oh.StopToolUse})
	}
	data := `{"signature":"c2ln"}`
	switch wire {
	case "openai":
		data = `{"field":"reasoning_content"}`
	case "ollama":
		data = `{"field":"thinking"}`
	}
	return oh.Message{Role: oh.Assistant, Model: "m", Stop: oh.StopToolUse, Content: oh.Blocks{
		oh.Thinking{Text: fullThinking, Opaque: &oh.Opaque{Origin: "p/m", Data: json.RawMessage(data)}},
		oh.Text{Text: fullText},
		oh.ToolUse{ID: "c1", Name: "write", Input: json.RawMessage(fullInput)},
		oh.ToolUse{ID: "c2", Name: "now", Input: json.RawMessage("{}")},
	}}
}

func voices() []voice {
	return []voice{{
		wire: "anthropic",
		full: anthropicFull(),
		said: anthropicSaid(`{"type":"text_delta","text":"hello"}`, "end_turn"),
		open: anthropicOpen(),
	}, {
		wire: "openai",
		full: openaiFull(),
		said: openaiEvents(`{"choices":[{"delta":{"content":"hello"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"),
		open: openaiEvents(`{"choices":[{"delta":{"content":"hel"}}]}`),
	}, bedrockVoice(), geminiVoice(), responsesVoice(), ollamaVoice()}
}

func anthropicEvents(datas ...string) string {
	var s strings.Builder
	for _, d := range datas {
		var head struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal([]byte(d), &head)
		fmt.Fprintf(&s, "event: %s\ndata: %s\n\n", head.Type, d)
	}
	return s.String()
}

func anthropicBlock(i int, start string, deltas ...string) []string {
	out := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, start)}
	for _, d := range deltas {
		out = append(out, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
	}
	return append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i))
}

// grow makes one delta of every six bytes of s or so, never inside a character.
func grow(s, form string) []string {
	var out []string
	for s != "" {
		n := min(6, len(s))
		for n < len(s) && s[n]&0xc0 == 0x80 {
			n++
		}
		quoted, _ := oh.Marshal(s[:n])
		out = append(out, strings.Replace(form, "%", string(quoted), 1))
		s = s[n:]
	}
	return out
}

func anthropicFull() string {
	all := []string{`{"type":"message_start","message":{"model":"m"}}`}
	think := append(grow(fullThinking, `{"type":"thinking_delta","thinking":%}`), `{"type":"signature_delta","signature":"c2ln"}`)
	all = append(all, anthropicBlock(0, `{"type":"thinking","thinking":"","signature":""}`, think...)...)
	all = append(all, anthropicBlock(1, `{"type":"text","text":""}`, grow(fullText, `{"type":"text_delta","text":%}`)...)...)
	all = append(all, anthropicBlock(2, `{"type":"tool_use","id":"c1","name":"write","input":{}}`, grow(fullInput, `{"type":"input_json_delta","partial_json":%}`)...)...)
	all = append(all, anthropicBlock(3, `{"type":"tool_use","id":"c2","name":"now","input":{}}`)...)
	return anthropicEvents(append(all, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`)...)
}

func anthropicSaid(delta, stop string) string {
	all := anthropicBlock(0, `{"type":"text","text":""}`, delta)
	return anthropicEvents(append(all, `{"type":"message_delta","delta":{"stop_reason":"`+stop+`"}}`, `{"type":"message_stop"}`)...)
}

func anthropicOpen() string {
	return anthropicEvents(anthropicBlock(0, `{"type":"text","text":""}`, `{"type":"text_delta","text":"hel"}`)[:2]...)
}

func openaiEvents(datas ...string) string {
	var s strings.Builder
	for _, d := range datas {
		s.WriteString("data: " + d + "\n\n")
	}
	return s.String()
}

func openaiFull() string {
	all := grow(fullThinking, `{"model":"m","choices":[{"index":0,"delta":{"reasoning_content":%},"finish_reason":null}]}`)
	all = append(all, grow(fullText, `{"model":"m","choices":[{"index":0,"delta":{"content":%},"finish_reason":null}]}`)...)
	all = append(all, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"write","arguments":""}}]}}]}`)
	all = append(all, grow(fullInput, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%}}]}}]}`)...)
	all = append(all, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","function":{"name":"now","arguments":""}}]}}]}`)
	return openaiEvents(append(all, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")...)
}

// each runs a behaviour over all wires.
func each(t *testing.T, f func(t *testing.T, v voice)) {
	for _, v := range voices() {
		t.Run(v.wire, func(t *testing.T) { f(t, v) })
	}
}

// said collects a stream: the deltas by kind, the message, the error.
type said struct {
	text, thinking string
	inputs         map[int]string
	chunks         int
	message        *oh.Message
	err            error
}

func listen(t *testing.T, seq func(yield func(oh.Chunk, error) bool)) said {
	t.Helper()
	out := said{inputs: map[int]string{}}
	for c, err := range seq {
		if out.err != nil || out.message != nil {
			t.Errorf("something after the end: %v %v", c, err)
		}
		switch c := c.(type) {
		case oh.TextDelta:
			out.text += c.Text
		case oh.ThinkingDelta:
			out.thinking += c.Text
		case oh.ToolInputDelta:
			out.inputs[c.Index] += c.JSON
		case oh.MessageDone:
			out.message = &c.Message
		}
		out.chunks++
		if err != nil {
			out.err = err
		}
	}
	if (out.err == nil) == (out.message == nil) {
		t.Errorf("the stream ended with message %v and error %v", out.message, out.err)
	}
	if e, ok := errors.AsType[*oh.Error](out.err); out.err != nil && (!ok || e.Kind == "" || strings.Contains(out.err.Error(), "sk-secret")) {
		t.Errorf("error %#v", out.err)
	}
	return out
}

// served makes a provider on a service without a network.
func served(v voice, body func(req *http.Request) io.Reader) oh.Provider {
	return wires[v.wire](provider.Config{Profile: "p", Key: "sk-secret", Client: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, req.Body)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body(req)), Request: req}, nil
	})}})
}

type roundTrip func(req *http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return r(req) }

func hello() *oh.Request {
	return &oh.Request{Profile: "p", Model: "m", Messages: []oh.Message{{ID: "u1", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "hi"}}}}}
}

func checkFull(t *testing.T, v voice, got said) {
	t.Helper()
	want := fullMessage(v.wire)
	if got.err != nil {
		t.Error(got.err)
		return
	}
	if d := cmp.Diff(&want, got.message); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got.text != fullText || got.thinking != fullThinking || got.inputs[0] != fullInput {
		t.Errorf("deltas %q, %q, %q", got.text, got.thinking, got.inputs[0])
	}
}

// Wherever one read ends and the next begins: each place is tried once, several
// of them in one stream, and all of them in the last.
func TestCutAnywhere(t *testing.T) {
	const apart = 61 // bytes; no length that repeats in a stream
	each(t, func(t *testing.T, v voice) {
		for first := 1; first <= apart+1; first++ {
			step := apart
			if first > apart {
				step = 1
			}
			p := served(v, func(*http.Request) io.Reader { return &lumps{v.full, first % apart, step} })
			checkFull(t, v, listen(t, p.Stream(t.Context(), hello())))
			if t.Failed() {
				t.Fatalf("cut at byte %d and every %d after", first%apart, step)
			}
		}
	})
}

// lumps gives out s in reads of n bytes, the first of another length.
type lumps struct {
	s        string
	first, n int
}

func (l *lumps) Read(p []byte) (int, error) {
	if l.s == "" {
		return 0, io.EOF
	}
	want := l.n
	if l.first > 0 {
		want = l.first
	}
	n := copy(p, l.s[:min(want, len(l.s))])
	l.s, l.first = l.s[n:], max(0, l.first-n)
	return n, nil
}

func TestForms(t *testing.T) {
	forms := map[string]func(string) string{
		"crlf":      func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"cr":        func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"comments":  func(s string) string { return ": hi\n" + strings.ReplaceAll(s, "\n\n", "\n: ping\n\n: ping\n\n") },
		"two lines": func(s string) string { return strings.ReplaceAll(s, `:{"`, ":\ndata: {\"") },
		"mark":      func(s string) string { return "\xef\xbb\xbf" + s },
		"no end":    func(s string) string { return strings.TrimRight(s, "\n") },
	}
	each(t, func(t *testing.T, v voice) {
		if v.wire == "bedrock" || v.wire == "ollama" {
			t.Skip("frames have one form, lines have tests of their own")
		}
		for name, form := range forms {
			t.Run(name, func(t *testing.T) {
				p := served(v, func(*http.Request) io.Reader { return strings.NewReader(form(v.full)) })
				checkFull(t, v, listen(t, p.Stream(t.Context(), hello())))
			})
		}
	})
}

// However a stream breaks off, it is an error or the whole message.
func TestCutStream(t *testing.T) {
	each(t, func(t *testing.T, v voice) {
		want := fullMessage(v.wire)
		for n, end := range []error{io.EOF, io.ErrUnexpectedEOF, errors.New("connection reset")} {
			whole := 0
			for i := 0; i < len(v.full); i += 1 + 12*n {
				p := served(v, func(*http.Request) io.Reader {
					return io.MultiReader(strings.NewReader(v.full[:i]), failing{end})
				})
				got := listen(t, p.Stream(t.Context(), hello()))
				if got.err == nil {
					whole++
					if d := cmp.Diff(&want, got.message); d != "" {
						t.Fatalf("cut at byte %d of %d: (-want +got)\n%s", i, len(v.full), d)
					}
				} else if oh.KindOf(got.err) != oh.KindUnavailable {
					t.Fatalf("cut at byte %d: %v", i, got.err)
				}
			}
			if whole > 150 {
				t.Errorf("%d cut streams passed for whole", whole)
			}
		}
	})
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestSilence(t *testing.T) {
	each(t, func(t *testing.T, v voice) {
		for _, tt := range []struct {
			name, begin string
			kind        oh.Kind
		}{{"before the end", v.open, oh.KindUnavailable}, {"after the end", v.said, ""}} {
			t.Run(tt.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := served(v, func(req *http.Request) io.Reader {
						return io.MultiReader(strings.NewReader(strings.TrimSuffix(tt.begin, "data: [DONE]\n\n")), silent{req.Context()})
					})
					start := time.Now()
					got := listen(t, p.Stream(t.Context(), hello()))
					if oh.KindOf(got.err) != tt.kind {
						t.Errorf("error %v", got.err)
					}
					if d := time.Since(start); tt.kind == "" && d > 10*time.Second || tt.kind != "" && d != provider.DefaultIdle {
						t.Errorf("it took %v", d)
					}
				})
			})
		}
	})
}

type silent struct{ ctx context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}
