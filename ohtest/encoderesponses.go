package ohtest

import (
	"fmt"
	"strings"

	"github.com/openharness/oh"
)

// responsesStream collects the events of one reply of the Responses API.
type responsesStream struct {
	encoding
	usage  oh.Usage
	stop   oh.StopReason
	events [][]byte
	open   int
	output []string // the finished items
}

func (e encoding) responses(parts []Part) (events [][]byte, open int) {
	s := &responsesStream{encoding: e, usage: usageOf(parts), stop: stopOf(parts)}
	s.add("response.created", `"response":%s`, s.response("in_progress", "null", "null"))
	s.add("response.in_progress", `"response":%s`, s.response("in_progress", "null", "null"))
	s.open = len(s.events)
	last := lastBlock(parts)
	for i, p := range parts {
		status := "completed"
		if i == last && (s.stop == oh.StopMaxTokens || s.stop == oh.StopTooLong) {
			status = "incomplete"
		}
		switch p := p.(type) {
		case Text:
			s.message(string(p), status)
		case Thinking:
			s.reasoning(string(p), encryptedThought(string(p)))
		case Redacted:
			s.reasoning("", string(p))
		case ToolCall:
			s.call(p, status)
		}
	}
	name, status, why := "response.completed", "completed", "null"
	if reason := incompleteReason(s.stop); reason != "" {
		name, status, why = "response.incomplete", "incomplete", fmt.Sprintf(`{"reason":%s}`, quote(reason))
	}
	s.add(name, `"response":%s`, s.response(status, why, s.usageObject()))
	return s.events, s.open
}

// lastBlock returns the index of the last part that is content, or -1.
func lastBlock(parts []Part) int {
	for i := len(parts) - 1; i >= 0; i-- {
		switch parts[i].(type) {
		case Stop, Usage:
		default:
			return i
		}
	}
	return -1
}

// incompleteReason returns why a response is incomplete, "" when it is not.
func incompleteReason(stop oh.StopReason) string {
	switch stop {
	case oh.StopMaxTokens, oh.StopTooLong:
		return "max_output_tokens"
	case oh.StopRefusal:
		return "content_filter"
	}
	return ""
}

func (s *responsesStream) add(name, format string, args ...any) {
	s.events = append(s.events, event(name, `{"type":%s,"sequence_number":%d,%s}`, quote(name), len(s.events), fmt.Sprintf(format, args...)))
}

// response returns the response object as it stands.
func (s *responsesStream) response(status, why, usage string) string {
	return responseObject(s.id, s.model, status, "null", why, strings.Join(s.output, ","), usage)
}

func responseObject(id, model, status, failure, why, output, usage string) string {
	return fmt.Sprintf(`{"id":%s,"object":"response","created_at":1767225600,"status":%s,"background":false,"error":%s,"incomplete_details":%s,`+
		`"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":%s,"output":[%s],"parallel_tool_calls":true,"previous_response_id":null,`+
		`"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null,"service_tier":"default","store":false,"temperature":1.0,`+
		`"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","usage":%s,"user":null,"metadata":{}}`,
		quote(id), quote(status), failure, why, quote(model), output, usage)
}

func (s *responsesStream) usageObject() string {
	u := s.usage
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		u.Prompt(), u.CacheReadTokens, u.OutputTokens, u.ReasoningTokens, u.Prompt()+u.OutputTokens)
}

// begin opens an item and returns the members that tell its events apart.
func (s *responsesStream) begin(prefix, item string) (id, at string) {
	id = newID(prefix)
	s.add("response.output_item.added", `"output_index":%d,"item":{"id":%s,%s}`, len(s.output), quote(id), item)
	s.open = len(s.events)
	return id, fmt.Sprintf(`"item_id":%s,"output_index":%d`, quote(id), len(s.output))
}

func (s *responsesStream) end(id, item string) {
	full := fmt.Sprintf(`{"id":%s,%s}`, quote(id), item)
	s.add("response.output_item.done", `"output_index":%d,"item":%s`, len(s.output), full)
	s.output = append(s.output, full)
}

// deltas sends the pieces of a text; each is padded, as the service does it.
func (s *responsesStream) deltas(name, at, more, text string) {
	for _, piece := range s.cut.runes(text) {
		s.add(name, `%s%s,"delta":%s,"obfuscation":%s`, at, more, quote(piece), quote("0123456789abcdef"[:len(s.events)%16]))
	}
	s.open = len(s.events)
}

// message sends an item of text.
func (s *responsesStream) message(text, status string) {
	const part = `{"type":"output_text","annotations":[],"logprobs":[],"text":%s}`
	id, at := s.begin("msg_", `"type":"message","status":"in_progress","content":[],"role":"assistant"`)
	s.add("response.content_part.added", `%s,"content_index":0,"part":%s`, at, fmt.Sprintf(part, `""`))
	s.deltas("response.output_text.delta", at, `,"content_index":0,"logprobs":[]`, text)
	s.add("response.output_text.done", `%s,"content_index":0,"text":%s,"logprobs":[]`, at, quote(text))
	full := fmt.Sprintf(part, quote(text))
	s.add("response.content_part.done", `%s,"content_index":0,"part":%s`, at, full)
	s.end(id, fmt.Sprintf(`"type":"message","status":%s,"content":[%s],"role":"assistant"`, quote(status), full))
}

// reasoning sends an item of reasoning; an empty summary is none. What the
// first event has as encrypted content is not the final one, as in the service.
func (s *responsesStream) reasoning(summary, encrypted string) {
	sealed := func(data string) string {
		if !s.encrypted {
			return ""
		}
		return fmt.Sprintf(`"encrypted_content":%s,`, quote(data))
	}
	id, at := s.begin("rs_", `"type":"reasoning",`+sealed("gAAAAAearly"+seal(encrypted))+`"summary":[]`)
	list := ""
	if summary != "" {
		const part = `{"type":"summary_text","text":%s}`
		list = fmt.Sprintf(part, quote(summary))
		s.add("response.reasoning_summary_part.added", `%s,"summary_index":0,"part":%s`, at, fmt.Sprintf(part, `""`))
		s.deltas("response.reasoning_summary_text.delta", at, `,"summary_index":0`, summary)
		s.add("response.reasoning_summary_text.done", `%s,"summary_index":0,"text":%s`, at, quote(summary))
		s.add("response.reasoning_summary_part.done", `%s,"summary_index":0,"part":%s`, at, list)
	}
	s.end(id, fmt.Sprintf(`"type":"reasoning",%s"summary":[%s]`, sealed(encrypted), list))
}

func (s *responsesStream) call(c ToolCall, status string) {
	const item = `"type":"function_call","status":%s,"arguments":%s,"call_id":%s,"name":%s`
	id, at := s.begin("fc_", fmt.Sprintf(item, `"in_progress"`, `""`, quote(c.ID), quote(c.Name)))
	s.deltas("response.function_call_arguments.delta", at, "", c.Input)
	s.add("response.function_call_arguments.done", `%s,"arguments":%s`, at, quote(c.Input))
	s.end(id, fmt.Sprintf(item, quote(status), quote(c.Input), quote(c.ID), quote(c.Name)))
}
