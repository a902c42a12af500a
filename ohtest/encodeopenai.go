package ohtest

import (
	"fmt"

	"github.com/openharness/oh"
)

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
