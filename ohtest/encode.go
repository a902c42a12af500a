package ohtest

import (
	"fmt"

	"github.com/openharness/oh"
)

// encoding says how the parts of a reply become events of a wire.
type encoding struct {
	wire      Wire
	model     string
	id        string // of the message
	usage     bool   // OpenAI: a chunk with the usage at the end
	reasoning string // OpenAI: the field for reasoning
	cut       Cut
}

// Events returns the events that a reply makes on a wire, one piece of bytes
// each, with the blank line that ends it: for tests of codecs, and to be cut
// up by hand. On the OpenAI wire reasoning is in reasoning_content.
func Events(w Wire, cut Cut, parts ...Part) [][]byte {
	e := encoding{wire: w, model: "scripted", id: newID(idPrefix(w)), usage: true, reasoning: reasoningFields[0], cut: cut}
	events, _ := e.encode(parts)
	return events
}

func idPrefix(w Wire) string {
	if w == OpenAI {
		return "chatcmpl-"
	}
	return "msg_"
}

func newID(prefix string) string { return prefix + oh.NewID() }

// encode returns the events of a complete reply. The first open of them are
// what there is before the reply begins to close.
func (e encoding) encode(parts []Part) (events [][]byte, open int) {
	if e.wire == OpenAI {
		return e.openai(parts)
	}
	return e.anthropic(parts)
}

func event(name, format string, args ...any) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, fmt.Sprintf(format, args...))
}

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

func (e encoding) openai(parts []Part) (events [][]byte, open int) {
	chunk := func(choices, usage string) {
		events = append(events, fmt.Appendf(nil, `data: {"id":%s,"object":"chat.completion.chunk","created":1767225600,"model":%s,"choices":[%s]%s}`+"\n\n",
			quote(e.id), quote(e.model), choices, usage))
	}
	delta := func(format string, args ...any) {
		chunk(fmt.Sprintf(`{"index":0,"delta":{%s},"finish_reason":null}`, fmt.Sprintf(format, args...)), "")
	}
	delta(`"role":"assistant","content":""`)
	calls := 0
	for _, p := range parts {
		switch p := p.(type) {
		case Text:
			for _, s := range e.cut.runes(string(p)) {
				delta(`"content":%s`, quote(s))
			}
		case Thinking:
			for _, s := range e.cut.runes(string(p)) {
				delta(`%s:%s`, quote(e.reasoning), quote(s))
			}
		case ToolCall:
			delta(`"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]`, calls, quote(p.ID), quote(p.Name))
			for _, s := range e.cut.runes(p.Input) {
				delta(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, calls, quote(s))
			}
			calls++
		}
	}
	open = len(events)
	chunk(fmt.Sprintf(`{"index":0,"delta":{},"finish_reason":%s}`, quote(finishReason(stopOf(parts)))), "")
	if e.usage {
		u := usageOf(parts)
		chunk("", fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
			u.Prompt(), u.OutputTokens, u.Prompt()+u.OutputTokens, u.CacheReadTokens, u.ReasoningTokens))
	}
	events = append(events, []byte("data: [DONE]\n\n"))
	return events, open
}

// finishReason returns the OpenAI wire's word for a stop reason.
func finishReason(stop oh.StopReason) string {
	switch stop {
	case oh.StopEnd, oh.StopSequence:
		return "stop"
	case oh.StopToolUse:
		return "tool_calls"
	case oh.StopMaxTokens, oh.StopTooLong:
		return "length"
	case oh.StopRefusal:
		return "content_filter"
	}
	return string(stop)
}
