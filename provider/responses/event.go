package responses

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

// The kinds of items that become blocks of ours.
const (
	kindMessage   = "message"
	kindReasoning = "reasoning"
	kindCall      = "function_call"
)

// event is one event of a stream in any of its forms.
type event struct {
	Type      string          `json:"type"`
	ItemID    string          `json:"item_id"`
	Output    place           `json:"output_index"`
	Content   place           `json:"content_index"`
	Summary   place           `json:"summary_index"`
	Delta     json.RawMessage `json:"delta"`
	Text      delta.Text      `json:"text"`
	Refusal   delta.Text      `json:"refusal"`
	Arguments json.RawMessage `json:"arguments"`
	Name      string          `json:"name"`
	Part      json.RawMessage `json:"part"`
	Item      json.RawMessage `json:"item"`
	Response  *response       `json:"response"`
	Usage     *counts         `json:"usage"`
	Error     json.RawMessage `json:"error"`
}

// piece returns what a delta adds; some services wrap it in an object.
func (ev *event) piece() string {
	if s, ok := delta.Piece(ev.Delta); ok {
		return s
	}
	var wrapped struct {
		Text delta.Text `json:"text"`
	}
	if json.Unmarshal(ev.Delta, &wrapped) != nil {
		return ""
	}
	return string(wrapped.Text)
}

// place is an index, however it is written.
type place struct {
	n  int
	ok bool
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *place) UnmarshalJSON(raw []byte) error {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	*p = place{n, err == nil}
	return nil
}

// response is the whole of a reply.
type response struct {
	ID         string            `json:"id"`
	Object     string            `json:"object"`
	Model      string            `json:"model"`
	Status     string            `json:"status"`
	Output     []json.RawMessage `json:"output"`
	Usage      *counts           `json:"usage"`
	Error      json.RawMessage   `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// item is one item of the output.
type item struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Role      string          `json:"role"`
	Status    string          `json:"status"`
	Phase     string          `json:"phase"`
	Arguments json.RawMessage `json:"arguments"`
	Content   content         `json:"content"`
	Summary   content         `json:"summary"`
	Encrypted delta.Text      `json:"encrypted_content"`
}

// readItem reads an item; one without a type is known by what it has.
func readItem(raw json.RawMessage) (item, error) {
	var it item
	if err := decode(raw, &it); err != nil {
		return it, err
	}
	switch {
	case it.Type != "":
	case it.Name != "" && len(it.Arguments) > 0:
		it.Type = kindCall
	case len(it.Content) > 0 || it.Role != "":
		it.Type = kindMessage
	}
	return it, nil
}

// content is the text of an item: a list of parts, or one string.
type content []contentPart

type contentPart struct {
	Type    string     `json:"type"`
	Text    delta.Text `json:"text"`
	Refusal delta.Text `json:"refusal"`
}

// UnmarshalJSON implements [json.Unmarshaler]. What is neither is empty.
func (c *content) UnmarshalJSON(raw []byte) error {
	*c = nil
	if s, ok := delta.Piece(raw); ok {
		*c = content{{Text: delta.Text(s)}}
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, x := range list {
		if s, ok := delta.Piece(x); ok {
			*c = append(*c, contentPart{Text: delta.Text(s)})
			continue
		}
		var p contentPart
		if decode(x, &p) == nil {
			*c = append(*c, p)
		}
	}
	return nil
}

// said is the text of the parts, without a mark between them.
func (c content) said() delta.Text {
	var s strings.Builder
	for _, p := range c {
		s.WriteString(string(p.Text))
	}
	return delta.Text(s.String())
}

// decode reads a JSON object. A member of an unexpected type is left out, not
// an error: services differ in what they send beside what matters.
func decode(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil
	}
	return err
}

// arguments returns arguments as text; some services send an object.
func arguments(raw json.RawMessage) string {
	if !loose.Present(raw) && string(raw) != "{}" {
		return ""
	}
	if s, ok := delta.Piece(raw); ok {
		return s
	}
	return string(raw)
}

// counts are the numbers of a usage report.
type counts struct {
	Input   loose.Count `json:"input_tokens"`
	Output  loose.Count `json:"output_tokens"`
	Prompt  loose.Count `json:"prompt_tokens"`     // of services that kept the
	Written loose.Count `json:"completion_tokens"` // names of the Chat wire
	Total   loose.Count `json:"total_tokens"`
	InputOf struct {
		Cached loose.Count `json:"cached_tokens"`
		Write  loose.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	OutputOf struct {
		Reasoning loose.Count `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// usage keeps the newest report. An empty one replaces nothing.
type usage struct{ last counts }

func (u *usage) take(c *counts) {
	if c != nil && max(c.Input, c.Output, c.Prompt, c.Written, c.Total) > 0 {
		u.last = *c
	}
}

func (u *usage) counts() oh.Usage {
	c := u.last
	in, out := max(c.Input, c.Prompt), max(c.Output, c.Written)
	read := min(c.InputOf.Cached, in)
	write := min(c.InputOf.Write, in-read)
	if r := c.OutputOf.Reasoning; r > 0 && c.Total == in+out+r {
		out += r // a service that counts reasoning apart
	}
	return oh.Usage{
		InputTokens:      int(in - read - write),
		OutputTokens:     int(out),
		CacheReadTokens:  int(read),
		CacheWriteTokens: int(write),
		ReasoningTokens:  int(min(c.OutputOf.Reasoning, out)),
	}
}
