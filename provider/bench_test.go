package provider_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

const deltas = 20_000

// longStream is a reply of many deltas in the usual form of a wire.
func longStream(wire string) string {
	var s strings.Builder
	if wire == "bedrock" {
		return bedrockLong()
	}
	if wire == "ollama" {
		return ollamaLong()
	}
	if wire == "gemini" {
		return geminiLong()
	}
	if wire == "responses" {
		return responsesLong()
	}
	if wire == "anthropic" {
		s.WriteString(anthropicEvents(`{"type":"message_start","message":{"model":"m"}}`, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`))
		for i := range deltas {
			s.WriteString(anthropicEvents(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" word%d\n"}}`, i)))
		}
		s.WriteString(anthropicEvents(`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, `{"type":"message_stop"}`))
		return s.String()
	}
	for i := range deltas {
		s.WriteString(openaiEvents(fmt.Sprintf(`{"id":"chatcmpl-AbCdEf","object":"chat.completion.chunk","created":1700000000,"model":"m","system_fingerprint":"fp","choices":[{"index":0,"delta":{"content":" word%d\n"},"logprobs":null,"finish_reason":null}]}`, i)))
	}
	return s.String() + openaiEvents(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
}

func BenchmarkDeltas(b *testing.B) {
	for _, v := range voices() {
		b.Run(v.wire, func(b *testing.B) {
			stream := longStream(v.wire)
			p := served(v, func(*http.Request) io.Reader { return strings.NewReader(stream) })
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range p.Stream(b.Context(), hello()) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n != deltas+1 {
					b.Fatalf("%d chunks", n)
				}
			}
		})
	}
}

// BenchmarkRequest builds a request with 1 MB of history that was sent before.
func BenchmarkRequest(b *testing.B) {
	for _, v := range voices() {
		b.Run(v.wire, func(b *testing.B) {
			req := hello()
			req.System = strings.Repeat("You are careful. ", 600)
			req.Memo = &oh.Memo{}
			for i := range 30 {
				req.Tools = append(req.Tools, oh.ToolSpec{Name: fmt.Sprint("tool", i), Description: strings.Repeat("Does it. ", 60),
					Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"` + strings.Repeat("where ", 80) + `"}}}`)})
			}
			for i := range 200 {
				id := fmt.Sprint("c", i)
				req.Messages = append(req.Messages,
					oh.Message{ID: fmt.Sprint("a", i), Role: oh.Assistant, Content: oh.Blocks{oh.ToolUse{ID: id, Name: "tool1", Input: json.RawMessage(`{"path":"x"}`)}}},
					oh.Message{ID: fmt.Sprint("u", i), Role: oh.User, Content: oh.Blocks{oh.ToolResult{ToolUseID: id, Content: oh.Blocks{oh.Text{Text: strings.Repeat("line \"of\" output\n", 320)}}}}})
			}
			size := int64(0)
			p := wires[v.wire](provider.Config{Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				size = r.ContentLength
				return nil, io.EOF
			})}})
			b.ReportAllocs()
			for b.Loop() {
				for range p.Stream(b.Context(), req) {
				}
			}
			b.ReportMetric(float64(size), "body-bytes")
		})
	}
}
