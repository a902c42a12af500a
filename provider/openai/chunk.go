package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
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

// fault reports whether the chunk tells an error.
func (c *chunk) fault() bool {
	return present(c.Error) || c.Object == "error" ||
		c.Choices == nil && c.Usage == nil && (present(c.Detail) || present(c.Message) && present(c.Code))
}

func present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}":
		return false
	}
	return true
}

// pure returns the one string that the chunk carries and its field, if
// it carries nothing else.
func (c *chunk) pure() (field, s string, ok bool) {
	if len(c.Choices) != 1 || c.Usage != nil || c.Groq != nil || c.fault() {
		return "", "", false
	}
	ch := &c.Choices[0]
	d := ch.Delta
	if ch.Index != nil && *ch.Index != 0 || ch.Finish != "" || ch.Usage != nil || ch.Message != nil || d == nil ||
		d.Refusal != "" || len(d.details()) > 0 || d.FunctionCall != nil || len(d.ToolCalls) > 0 {
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
	Index   *int            `json:"index"`
	Delta   *message        `json:"delta"`
	Message *message        `json:"message"`
	Finish  string          `json:"finish_reason"`
	Usage   *counts         `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type message struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	Details          json.RawMessage `json:"reasoning_details"`
	Refusal          delta.Text      `json:"refusal"`
	ToolCalls        []callDelta     `json:"tool_calls"`
	FunctionCall     *function       `json:"function_call"`
}

func (d *message) empty() bool {
	field, _ := d.reasoning()
	return field == "" && len(d.details()) == 0 && d.Refusal == "" && len(d.ToolCalls) == 0 && d.FunctionCall == nil && len(d.content()) == 0
}

// reasoning returns the reasoning and the field it came in. Gateways that send
// it in two fields send the same twice.
func (d *message) reasoning() (field, s string) {
	if s, ok := delta.Piece(d.ReasoningContent); ok && s != "" {
		return fieldContent, s
	}
	if s, ok := delta.Piece(d.Reasoning); ok && s != "" {
		return fieldReasoning, s
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

// both reports whether two fields of reasoning are filled.
func (d *message) both() bool {
	a, _ := delta.String(d.ReasoningContent)
	b, _ := delta.String(d.Reasoning)
	return a != "" && b != ""
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

type callDelta struct {
	Index    *int            `json:"index"`
	ID       string          `json:"id"`
	Function *function       `json:"function"`
	Extra    json.RawMessage `json:"extra_content"`
}

type function struct {
	Name      string          `json:"name"`
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
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Total      count `json:"total_tokens"`
	CacheHit   count `json:"prompt_cache_hit_tokens"`
	Cached     count `json:"cached_tokens"`
	PromptOf   struct {
		Cached count `json:"cached_tokens"`
		Write  count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionOf struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// count is a number of tokens however it is written; what is no number is 0.
type count int

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(bytes.TrimSpace(raw)), `"`), 64)
	if err == nil && f > 0 && f < 1e15 {
		*c = count(f)
	}
	return nil
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
