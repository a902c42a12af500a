package ohtest

import (
	"fmt"

	"github.com/openharness/oh"
)

// ollama encodes a reply as lines of JSON. Calls come whole and without ids;
// arguments that are not a JSON object are sent as an empty one.
func (e encoding) ollama(parts []Part) (events [][]byte, open int) {
	line := func(message, end string) {
		events = append(events, fmt.Appendf(nil, `{"model":%s,"created_at":"2026-01-01T00:00:00.5Z","message":{"role":"assistant","content":%s},%s}`+"\n", quote(e.model), message, end))
	}
	for _, p := range parts {
		switch p := p.(type) {
		case Text:
			for _, s := range e.cut.runes(string(p)) {
				line(quote(s), `"done":false`)
			}
		case Thinking:
			for _, s := range e.cut.runes(string(p)) {
				line(fmt.Sprintf(`"","thinking":%s`, quote(s)), `"done":false`)
			}
		case ToolCall:
			args := "{}"
			if isObject([]byte(p.Input)) {
				args = string(oh.Compact([]byte(p.Input)))
			}
			line(fmt.Sprintf(`"","tool_calls":[{"function":{"name":%s,"arguments":%s}}]`, quote(p.Name), args), `"done":false`)
		}
	}
	open = len(events)
	reason := "stop"
	if stop := stopOf(parts); stop == oh.StopMaxTokens || stop == oh.StopTooLong {
		reason = "length"
	}
	u := usageOf(parts)
	line(`""`, fmt.Sprintf(`"done":true,"done_reason":%s,"total_duration":9,"load_duration":1,"prompt_eval_count":%d,"prompt_eval_duration":3,"eval_count":%d,"eval_duration":5`,
		quote(reason), u.Prompt(), u.OutputTokens))
	return events, open
}
