package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

// chunk is one event of a stream, or the whole of a reply that was not
// streamed.
type chunk struct {
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *counts         `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Code    json.RawMessage `json:"code"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Groq    *struct {
		Usage *counts `json:"usage"`
	} `json:"x_groq"`
}

// decode reads a JSON object. A member of an unexpected type is left out, not
// an error: services differ in what they send beside what matters.
func decode(data []byte, c *chunk) error {
	err := json.Unmarshal(data, c)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		return err
	}
	switch data = bytes.TrimSpace(data); {
	case data[0] == '{':
		return nil
	case data[0] == '[' && bytes.Contains(data, []byte(`"error"`)):
		// A list with one error in it, as some gateways send.
		c.Error = data
		return nil
	}
	return err
}

// order tells the choices of the one reply that is asked for from others that
// come all the same. Some services count the chunks in the index of the choice.
type order struct{ first, chunks int }

// choice returns the choice of a chunk that goes on with the reply, or nil.
func (o *order) choice(list []choice) *choice {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		if list[i].place() == 0 {
			o.chunks++
			return &list[i]
		}
	}
	if o.chunks == 0 {
		o.first = list[0].place()
	}
	o.chunks++
	if list[0].place() == o.first+o.chunks-1 {
		return &list[0]
	}
	return nil
}

func (ch *choice) place() int {
	if ch.Index.number == nil {
		return 0
	}
	return *ch.Index.number
}

// fault reports whether the chunk tells an error.
func (c *chunk) fault() bool {
	return loose.Present(c.Error) || c.Object == "error" ||
		c.Choices == nil && c.Usage == nil && (loose.Present(c.Detail) || loose.Present(c.Message) && loose.Present(c.Code))
}

// pure returns the one string that the chunk carries and its field, if
// it carries nothing else.
func (c *chunk) pure() (field, s string, ok bool) {
	if len(c.Choices) != 1 || c.Usage != nil || c.Groq != nil || c.fault() {
		return "", "", false
	}
	ch := &c.Choices[0]
	d := ch.Delta
	if ch.place() != 0 || ch.Finish != "" || loose.Present(ch.Error) || ch.Usage != nil || ch.Message != nil || d == nil ||
		d.Refusal != "" || d.Sealed != "" || len(d.details()) > 0 || d.FunctionCall != nil || len(d.ToolCalls) > 0 {
		return "", "", false
	}
	s, isText := delta.Piece(d.Content)
	field, thought := d.reasoning()
	switch {
	case isText && s != "" && field == "":
		return "content", s, true
	case field != "" && thought != "" && (s == "" && isText || len(d.Content) == 0 || string(d.Content) == "null") && !d.both():
		return field, thought, true
	}
	return "", "", false
}

type choice struct {
	Index   place           `json:"index"`
	Delta   *message        `json:"delta"`
	Message *message        `json:"message"`
	Finish  delta.Text      `json:"finish_reason"`
	Usage   *counts         `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type message struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningText    json.RawMessage `json:"reasoning_text"`
	Details          json.RawMessage `json:"reasoning_details"`
	Sealed           delta.Text      `json:"reasoning_opaque"` // GitHub Copilot
	Refusal          delta.Text      `json:"refusal"`
	ToolCalls        callList        `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"`
}

func (d *message) empty() bool {
	field, _ := d.reasoning()
	return field == "" && len(d.details()) == 0 && d.Sealed == "" && d.Refusal == "" && len(d.ToolCalls) == 0 && d.FunctionCall == nil && len(d.content()) == 0
}

// reasoning returns the reasoning and the field it came in. Gateways that send
// it in several fields send the same in each.
func (d *message) reasoning() (field, s string) {
	for _, f := range [...]struct {
		name string
		raw  json.RawMessage
	}{{fieldContent, d.ReasoningContent}, {fieldReasoning, d.Reasoning}, {fieldText, d.ReasoningText}} {
		if s, ok := delta.Piece(f.raw); ok && s != "" {
			return f.name, s
		}
	}
	return "", ""
}

// details returns the items of reasoning_details.
func (d *message) details() []json.RawMessage {
	var list []json.RawMessage
	if len(d.Details) > 0 && json.Unmarshal(d.Details, &list) != nil {
		return nil
	}
	return list
}

// both reports whether several fields of reasoning are filled.
func (d *message) both() bool {
	n := 0
	for _, raw := range [...]json.RawMessage{d.ReasoningContent, d.Reasoning, d.ReasoningText} {
		if s, _ := delta.String(raw); s != "" {
			n++
		}
	}
	return n > 1
}

type contentPart struct {
	text     string
	thinking bool
}

// content returns the parts of the content: a string, or a list of parts.
func (d *message) content() []contentPart {
	if len(d.Content) == 0 || string(d.Content) == "null" {
		return nil
	}
	if s, ok := delta.Piece(d.Content); ok {
		if s == "" {
			return nil
		}
		return []contentPart{{text: s}}
	}
	return contentList(d.Content)
}

func contentList(raw json.RawMessage) []contentPart {
	var list []struct {
		Type     string          `json:"type"`
		Text     delta.Text      `json:"text"`
		Thinking json.RawMessage `json:"thinking"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []contentPart
	for _, p := range list {
		if p.Text != "" {
			out = append(out, contentPart{text: string(p.Text), thinking: p.Type == "thinking" || p.Type == "reasoning"})
		}
		if len(p.Thinking) == 0 {
			continue
		}
		if s, ok := delta.Piece(p.Thinking); ok {
			if s != "" {
				out = append(out, contentPart{s, true})
			}
			continue
		}
		for _, q := range contentList(p.Thinking) {
			out = append(out, contentPart{q.text, true})
		}
	}
	return out
}

// callList is a list of pieces of calls; some services send one alone, without
// a list.
type callList []callDelta

// UnmarshalJSON implements [json.Unmarshaler]. What is neither is left out.
func (l *callList) UnmarshalJSON(raw []byte) error {
	var list []callDelta
	if err := json.Unmarshal(raw, &list); err == nil || raw[0] == '[' {
		*l = list
		return nil
	}
	var one callDelta
	if raw[0] == '{' && json.Unmarshal(raw, &one) == nil {
		*l = callList{one}
	}
	return nil
}

type callDelta struct {
	Index    place           `json:"index"`
	ID       delta.Text      `json:"id"`
	Function *function       `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

// place is an index, perhaps written as a string; nil when there is none.
type place struct{ number *int }

// UnmarshalJSON implements [json.Unmarshaler].
func (p *place) UnmarshalJSON(raw []byte) error {
	if n, err := strconv.Atoi(strings.Trim(string(raw), `"`)); err == nil {
		p.number = &n
	}
	return nil
}

type function struct {
	Name      delta.Text      `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// args returns the arguments as text; some services send an object.
func (f *function) args() string {
	if len(f.Arguments) == 0 || string(f.Arguments) == "null" {
		return ""
	}
	if s, ok := delta.Piece(f.Arguments); ok {
		return s
	}
	return string(f.Arguments)
}

// counts are the numbers of a usage report in its dialects.
type counts struct {
	Prompt     loose.Count `json:"prompt_tokens"`
	Completion loose.Count `json:"completion_tokens"`
	Total      loose.Count `json:"total_tokens"`
	CacheHit   loose.Count `json:"prompt_cache_hit_tokens"`
	Cached     loose.Count `json:"cached_tokens"`
	PromptOf   struct {
		Cached loose.Count `json:"cached_tokens"`
		Write  loose.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning loose.Count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

type usage struct{ last counts }

// take keeps the newest report: where there are several they are running
// totals. An empty one replaces nothing.
func (u *usage) take(c *counts) {
	if c != nil && (c.Prompt > 0 || c.Completion > 0 || c.Total > 0) {
		u.last = *c
	}
}

func (u *usage) counts() oh.Usage {
	c := u.last
	read := max(c.PromptOf.Cached, c.CacheHit, c.Cached)
	read = min(read, c.Prompt)
	write := min(c.PromptOf.Write, c.Prompt-read)
	out := c.Completion
	if r := c.CompletionOf.Reasoning; r > 0 && c.Total == c.Prompt+c.Completion+r {
		out += r // a service that counts reasoning apart
	}
	return oh.Usage{
		InputTokens:      int(c.Prompt - read - write),
		OutputTokens:     int(out),
		CacheReadTokens:  int(read),
		CacheWriteTokens: int(write),
		ReasoningTokens:  int(min(c.CompletionOf.Reasoning, out)),
	}
}
