package bench_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/provider/openai"
)

// canned answers each request with the same bytes, after it has read it.
type canned struct {
	reply string
	sent  int64
}

// RoundTrip implements [http.RoundTripper].
func (c *canned) RoundTrip(r *http.Request) (*http.Response, error) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		return nil, err
	}
	c.sent = n
	return &http.Response{StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(c.reply))}, nil
}

const (
	anthropicReply = `event: message_start
data: {"type":"message_start","message":{"model":"bench","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

`
	openaiReply = `data: {"model":"bench","choices":[{"index":0,"delta":{"role":"assistant","content":"ok"}}]}

data: {"model":"bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`
)

// history is a conversation of a number of turns with a call each and about
// size bytes in all.
func history(turns, size int) []oh.Message {
	const line = "func f(a int) string {\n\treturn \"<é>\" + strconv.Itoa(a)\n}\n"
	prose := strings.Repeat(line, max(2, size/turns/len(line)+1))
	out := []oh.Message{{ID: "m", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "go"}}}}
	for range turns {
		id := oh.NewID()
		out = append(out,
			oh.Message{ID: id + "a", Role: oh.Assistant, Content: oh.Blocks{oh.Text{Text: prose[:len(prose)/2]},
				oh.ToolUse{ID: id, Name: "bash", Input: json.RawMessage(`{"command":"true"}`)}}},
			oh.Message{ID: id + "b", Role: oh.User, Content: oh.Blocks{
				oh.ToolResult{ToolUseID: id, Content: oh.Blocks{oh.Text{Text: prose[len(prose)/2:]}}}}})
	}
	return out
}

// BenchmarkRequest is what a request costs in a long conversation: known is
// one whose messages but the last two were sent before, new one that is encoded
// as a whole, as after a resume.
func BenchmarkRequest(b *testing.B) {
	for _, wire := range []struct {
		name, reply string
		make        func(provider.Config) oh.Provider
	}{{"anthropic", anthropicReply, anthropic.New}, {"openai", openaiReply, openai.New}} {
		for _, bb := range []struct {
			name        string
			turns, size int
			known       bool
		}{
			{"1 MB/known", 100, 1_000_000, true},
			{"1 MB/new", 100, 1_000_000, false},
			{"1,000 turns/known", 1000, 100_000, true},
		} {
			b.Run(wire.name+"/"+bb.name, func(b *testing.B) {
				c := &canned{reply: wire.reply}
				p := wire.make(provider.Config{Profile: "bench", BaseURL: "http://127.0.0.1:1", Client: &http.Client{Transport: c}})
				request(b, p, history(bb.turns, bb.size), bb.known)
				if c.sent < int64(bb.size) {
					b.Fatalf("only %d bytes were sent", c.sent)
				}
			})
		}
	}
}

func request(b *testing.B, p oh.Provider, msgs []oh.Message, known bool) {
	var memo oh.Memo
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if known {
			// The last two messages are new each time.
			for _, m := range []*oh.Message{&msgs[len(msgs)-2], &msgs[len(msgs)-1]} {
				m.ID = fmt.Sprint(m.Role, i)
			}
		} else {
			memo.Reset()
		}
		done := false
		for chunk, err := range p.Stream(b.Context(), &oh.Request{Profile: "bench", Model: "bench", System: "Be short.", Messages: msgs, Memo: &memo}) {
			if err != nil {
				b.Fatal(err)
			}
			_, done = chunk.(oh.MessageDone)
		}
		if !done {
			b.Fatal("no reply")
		}
	}
}
