package demo

import (
	"encoding/json"
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// request is what the model looks at in a request of Anthropic's wire.
type request struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []struct {
		Role    oh.Role  `json:"role"`
		Content []member `json:"content"`
	} `json:"messages"`
}

// member is one block of a message.
type member struct {
	Type    string   `json:"type"`
	Text    string   `json:"text"`
	ID      string   `json:"id"`
	Answers string   `json:"tool_use_id"`
	IsError bool     `json:"is_error"`
	Content []member `json:"content"`
}

// result returns the output of a call.
func (r *request) result(id string) (out string, isError bool) {
	for _, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type != "tool_result" || b.Answers != id {
				continue
			}
			isError = b.IsError
			for _, c := range b.Content {
				out += c.Text
			}
		}
	}
	return out, isError
}

// check returns what the service would refuse: a request that asks for no
// stream, or calls without exactly one result each.
func (r *request) check() error {
	if !r.Stream || r.Model == "" || len(r.Messages) == 0 {
		return fmt.Errorf("a request for a model, with messages and stream, is expected")
	}
	open := map[string]bool{}
	for i, m := range r.Messages {
		for _, b := range m.Content {
			if b.Type == "tool_result" && !open[b.Answers] {
				return fmt.Errorf("messages[%d]: the result %q answers no call before it", i, b.Answers)
			}
			delete(open, b.Answers)
		}
		if len(open) > 0 {
			return fmt.Errorf("messages[%d]: %d calls have no result", i, len(open))
		}
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				open[b.ID] = true
			}
		}
	}
	return nil
}

// piece is the length in runes of the deltas of a text.
const piece = 6

// reply writes the events of a reply.
func (s step) reply(model string) []byte {
	var out []byte
	add := func(name, format string, args ...any) {
		out = fmt.Appendf(out, "event: %s\ndata: {\"type\":\"%s\"%s}\n\n", name, name, fmt.Sprintf(format, args...))
	}
	add("message_start", `,"message":{"id":"msg_demo","type":"message","role":"assistant","model":%s,"content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}}`, quote(model))
	add("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for rest := []rune(s.said); len(rest) > 0; {
		n := min(piece, len(rest))
		add("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":%s}`, quote(string(rest[:n])))
		rest = rest[n:]
	}
	add("content_block_stop", `,"index":0`)
	stop := "end_turn"
	for i, c := range s.calls {
		stop = "tool_use"
		add("content_block_start", `,"index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}`, i+1, quote(c.ID), quote(c.Name))
		add("content_block_delta", `,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, i+1, quote(string(c.Input)))
		add("content_block_stop", `,"index":%d`, i+1)
	}
	add("message_delta", `,"delta":{"stop_reason":%s},"usage":{"output_tokens":20}`, quote(stop))
	add("message_stop", "")
	return out
}

func quote(s string) json.RawMessage { return text.AppendJSON(nil, s) }
