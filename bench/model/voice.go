package model

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
)

// Voice is another wire on which a text is streamed. Scenarios with calls are
// told on Anthropic's only.
type Voice struct {
	Name string
	Base string // of the path, behind the server's address
	Kind string // content type

	path string // its end
	open string // before the deltas
	each string // a delta; %[1]q is the text, %[2]d counts from 1
	end  string
	wrap func(out []byte, event string) []byte
}

// Voices are the wires beside Anthropic's, in the usual form of each vendor.
func Voices() []Voice {
	const sse, lines = "text/event-stream", "application/x-ndjson"
	return []Voice{
		{Name: "chat", Base: "/v1", Kind: sse, path: "/chat/completions", wrap: wrapEvent,
			each: `{"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"bench","choices":[{"index":0,"delta":{"content":%[1]q},"logprobs":null,"finish_reason":null}]}`,
			end:  `{"id":"chatcmpl-bench","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n" + `[DONE]`},
		{Name: "responses", Base: "/v1", Kind: sse, path: "/responses", wrap: wrapEvent,
			open: `{"type":"response.created","response":{"id":"resp_bench","model":"bench","status":"in_progress","output":[]}}` + "\n" +
				`{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_bench","type":"message","status":"in_progress","role":"assistant","content":[]}}` + "\n" +
				`{"type":"response.content_part.added","item_id":"msg_bench","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`,
			each: `{"type":"response.output_text.delta","sequence_number":%[2]d,"item_id":"msg_bench","output_index":0,"content_index":0,"delta":%[1]q,"logprobs":[],"obfuscation":"aBcD3f"}`,
			end:  `{"type":"response.completed","response":{"id":"resp_bench","model":"bench","status":"completed","output":[],"usage":{"input_tokens":10,"output_tokens":20}}}`},
		{Name: "gemini", Base: "/v1beta", Kind: sse, path: ":streamGenerateContent", wrap: wrapEvent,
			each: `{"candidates":[{"content":{"parts":[{"text":%[1]q}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":%[2]d},"modelVersion":"bench","responseId":"bench"}`,
			end:  `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],"modelVersion":"bench"}`},
		{Name: "bedrock", Kind: "application/vnd.amazon.eventstream", path: "/converse-stream", wrap: wrapFrame,
			open: `messageStart {"role":"assistant"}`,
			each: `contentBlockDelta {"contentBlockIndex":0,"delta":{"text":%[1]q},"p":"abcdefgh"}`,
			end:  `contentBlockStop {"contentBlockIndex":0}` + "\n" + `messageStop {"stopReason":"end_turn"}` + "\n" + `metadata {"usage":{"inputTokens":10,"outputTokens":20,"totalTokens":30}}`},
		{Name: "ollama", Kind: lines, path: "/api/chat", wrap: wrapLine,
			each: `{"model":"bench","created_at":"2026-01-01T00:00:00.%06[2]dZ","message":{"role":"assistant","content":%[1]q},"done":false}`,
			end:  `{"model":"bench","created_at":"2026-01-01T00:00:09Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"prompt_eval_count":10,"eval_count":20}`},
	}
}

// voiceAt returns the voice of a path.
func voiceAt(path string) (Voice, bool) {
	for _, v := range Voices() {
		if strings.HasSuffix(path, v.path) {
			return v, true
		}
	}
	return Voice{}, false
}

// say returns the reply of a scenario without calls.
func (v Voice) say(sc Scenario) ([]byte, error) {
	if sc.Turns > 0 {
		return nil, fmt.Errorf("%s has calls, which are not told on the wire %s", sc.Model, v.Name)
	}
	var out []byte
	several := func(events string) {
		for event := range strings.Lines(events) {
			out = v.wrap(out, strings.TrimSuffix(event, "\n"))
		}
	}
	several(v.open)
	for i := range sc.Deltas {
		out = v.wrap(out, fmt.Sprintf(v.each, piece, i+1))
	}
	several(v.end)
	return out, nil
}

func wrapEvent(out []byte, event string) []byte {
	return append(append(append(out, "data: "...), event...), "\n\n"...)
}

func wrapLine(out []byte, event string) []byte { return append(append(out, event...), '\n') }

// wrapFrame makes a frame of application/vnd.amazon.eventstream of the name of
// an event and its payload.
func wrapFrame(out []byte, event string) []byte {
	name, payload, _ := strings.Cut(event, " ")
	var headers []byte
	for _, h := range [...][2]string{{":event-type", name}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(h[1]))), h[1]...)
	}
	start := len(out)
	out = binary.BigEndian.AppendUint32(out, uint32(12+len(headers)+len(payload)+4))
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
	out = append(append(out, headers...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
}
