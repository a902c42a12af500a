package ohtest

import "fmt"

func (e encoding) anthropic(parts []Part) (events [][]byte, open int) {
	u := usageOf(parts)
	add := func(name, format string, args ...any) { events = append(events, event(name, format, args...)) }
	add("message_start", `{"type":"message_start","message":{"id":%s,"type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":1}}}`,
		quote(e.id), quote(e.model), u.InputTokens, u.CacheWriteTokens, u.CacheReadTokens)
	add("ping", `{"type":"ping"}`)
	open = len(events)
	n := 0
	for _, p := range parts {
		if body := e.block(p, n); body != nil {
			events = append(events, body...)
			open = len(events)
			add("content_block_stop", `{"type":"content_block_stop","index":%d}`, n)
			n++
		}
	}
	add("message_delta", `{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":%d}}`,
		quote(string(stopOf(parts))), u.OutputTokens)
	add("message_stop", `{"type":"message_stop"}`)
	return events, open
}

// block returns the start and the deltas of block n, or nil for a part that is
// no block.
func (e encoding) block(p Part, n int) [][]byte {
	var events [][]byte
	start := func(format string, args ...any) {
		events = append(events, event("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, n, fmt.Sprintf(format, args...)))
	}
	delta := func(kind, field, s string) {
		events = append(events, event("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":{"type":%s,%s:%s}}`, n, quote(kind), quote(field), quote(s)))
	}
	switch p := p.(type) {
	case Text:
		start(`{"type":"text","text":""}`)
		for _, s := range e.cut.runes(string(p)) {
			delta("text_delta", "text", s)
		}
	case Thinking:
		start(`{"type":"thinking","thinking":"","signature":""}`)
		for _, s := range e.cut.runes(string(p)) {
			delta("thinking_delta", "thinking", s)
		}
		delta("signature_delta", "signature", seal(string(p)))
	case Redacted:
		start(`{"type":"redacted_thinking","data":%s}`, quote(string(p)))
	case ToolCall:
		start(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, quote(p.ID), quote(p.Name))
		if p.Input != "" {
			delta("input_json_delta", "partial_json", "")
		}
		for _, s := range e.cut.runes(p.Input) {
			delta("input_json_delta", "partial_json", s)
		}
	}
	return events
}
