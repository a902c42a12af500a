package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

type event struct {
	Type         string          `json:"type"`
	Index        int             `json:"index"`
	Message      *head           `json:"message"`
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        piece           `json:"delta"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

type head struct {
	Model      string            `json:"model"`
	Content    []json.RawMessage `json:"content"`
	StopReason string            `json:"stop_reason"`
	Usage      *usage            `json:"usage"`
}

type piece struct {
	Type        string     `json:"type"`
	Text        delta.Text `json:"text"`
	Thinking    delta.Text `json:"thinking"`
	Signature   string     `json:"signature"`
	PartialJSON fragment   `json:"partial_json"`
	StopReason  string     `json:"stop_reason"`
}

// fragment is a piece of arguments as text; some gateways send an object.
type fragment string

// UnmarshalJSON implements [json.Unmarshaler].
func (f *fragment) UnmarshalJSON(raw []byte) error {
	if s, ok := delta.Piece(raw); ok {
		*f = fragment(s)
	} else if raw[0] == '{' {
		*f = fragment(raw)
	}
	return nil
}

// kind names what a piece is, also where a gateway left that out.
func (p *piece) kind() string {
	switch {
	case p.Type != "":
		return p.Type
	case p.Text != "":
		return "text_delta"
	case p.Thinking != "":
		return "thinking_delta"
	case p.PartialJSON != "":
		return "input_json_delta"
	case p.Signature != "":
		return "signature_delta"
	}
	return ""
}

type usage struct {
	Input      loose.Count `json:"input_tokens"`
	Output     loose.Count `json:"output_tokens"`
	CacheRead  loose.Count `json:"cache_read_input_tokens"`
	CacheWrite loose.Count `json:"cache_creation_input_tokens"`
	OutputOf   struct {
		Thinking loose.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// take keeps the newest number of each kind. A zero does not replace a number:
// some gateways repeat the usage at the end without what they told at the start.
func (u *usage) take(v *usage) {
	if v == nil {
		return
	}
	for _, f := range [...]struct{ to, from *loose.Count }{
		{&u.Input, &v.Input}, {&u.Output, &v.Output}, {&u.CacheRead, &v.CacheRead}, {&u.CacheWrite, &v.CacheWrite},
		{&u.OutputOf.Thinking, &v.OutputOf.Thinking},
	} {
		if *f.from > 0 {
			*f.to = *f.from
		}
	}
}

func (u *usage) counts() oh.Usage {
	return oh.Usage{
		InputTokens:      int(u.Input),
		OutputTokens:     int(u.Output),
		CacheReadTokens:  int(u.CacheRead),
		CacheWriteTokens: int(u.CacheWrite),
		ReasoningTokens:  int(min(u.OutputOf.Thinking, u.Output)),
	}
}

// decode reads a JSON object. A member of an unexpected type is left out, not
// an error: gateways differ in what they send beside what matters.
func decode(data []byte, ev *event) error {
	err := json.Unmarshal(data, ev)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && bytes.TrimSpace(data)[0] == '{' {
		return nil
	}
	return err
}
