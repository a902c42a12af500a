package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

// chunk is one event of a stream, or the whole of a reply that was not
// streamed.
type chunk struct {
	Candidates []candidate     `json:"candidates"`
	Feedback   feedback        `json:"promptFeedback"`
	Usage      *counts         `json:"usageMetadata"`
	Model      delta.Text      `json:"modelVersion"`
	Error      json.RawMessage `json:"error"`
	Code       json.RawMessage `json:"code"`
	Message    json.RawMessage `json:"message"`
	Detail     json.RawMessage `json:"detail"`
}

type feedback struct {
	Reason delta.Text `json:"blockReason"`
}

// blocks reports whether the prompt was refused. The two services of Google
// write differently that there is no reason.
func (f *feedback) blocks() bool {
	switch f.Reason {
	case "", "BLOCK_REASON_UNSPECIFIED", "BLOCKED_REASON_UNSPECIFIED":
		return false
	}
	return true
}

type candidate struct {
	Index   *int `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	Finish delta.Text `json:"finishReason"`
	Words  delta.Text `json:"finishMessage"`
}

// decode reads a JSON object, or a list of them as the service sends it to
// those who did not ask for events. A member of an unexpected type is left out,
// not an error: gateways differ in what they send beside what matters.
func decode(data []byte) ([]chunk, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, errors.New("nothing was sent")
	}
	list := make([]chunk, 1)
	var err error
	if data[0] == '[' {
		list = nil
		err = json.Unmarshal(data, &list)
	} else {
		err = json.Unmarshal(data, &list[0])
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && (data[0] == '{' || data[0] == '[') {
		err = nil
	}
	return list, err
}

// fault returns the error that the chunk tells, nil when it tells none.
func (c *chunk) fault() []byte {
	switch {
	case loose.Present(c.Error):
		return append(append([]byte(`{"error":`), c.Error...), '}')
	case c.Candidates != nil || c.Usage != nil || c.Feedback.Reason != "":
		return nil
	case loose.Present(c.Message) && loose.Present(c.Code):
		return []byte(`{"error":{"code":` + string(c.Code) + `,"message":` + string(c.Message) + `}}`)
	case loose.Present(c.Detail):
		return []byte(`{"error":{"message":` + string(c.Detail) + `}}`)
	}
	return nil
}

// candidate returns the reply that the chunk is of. One was asked for: among
// several it is the first, and a single one is it whatever its index counts.
func (c *chunk) candidate() *candidate {
	for i := range c.Candidates {
		if x := &c.Candidates[i]; len(c.Candidates) == 1 || x.Index == nil || *x.Index == 0 {
			return x
		}
	}
	return nil
}

// part is one part of a reply. raw is the whole of one of a kind that this
// codec does not know.
type part struct {
	Text      delta.Text    `json:"text"`
	Thought   bool          `json:"thought"`
	Signature delta.Text    `json:"thoughtSignature"`
	Call      *functionCall `json:"functionCall"`
	raw       json.RawMessage
}

type functionCall struct {
	ID      delta.Text      `json:"id"`
	Name    delta.Text      `json:"name"`
	Args    json.RawMessage `json:"args"`
	Partial []partial       `json:"partialArgs"`
	More    bool            `json:"willContinue"`
}

// UnmarshalJSON implements [json.Unmarshaler]. A part of the wrong form does
// not spoil the others.
func (p *part) UnmarshalJSON(raw []byte) error {
	type plain part
	*p = part{}
	err := json.Unmarshal(raw, (*plain)(p))
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !ok {
		return err
	}
	if p.Text == "" && p.Call == nil {
		p.raw = bytes.Clone(raw)
	}
	return nil
}

// unknown keeps a part of another kind, such as an image or code that was run.
// It is not ok for parts that say nothing.
func (p *part) unknown() (u oh.Unknown, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(p.raw, &members) != nil {
		return oh.Unknown{}, false
	}
	kinds := make([]string, 0, len(members))
	for name, raw := range members {
		switch name {
		case "text", "thought", "thoughtSignature", "functionCall", "partMetadata", "videoMetadata", "mediaResolution":
		default:
			if loose.Present(raw) {
				kinds = append(kinds, name)
			}
		}
	}
	if len(kinds) == 0 {
		return oh.Unknown{}, false
	}
	kind := "gemini_" + slices.Min(kinds)
	raw, err := oh.Marshal(struct {
		Type string          `json:"type"`
		Part json.RawMessage `json:"part"`
	}{kind, p.raw})
	return oh.Unknown{Type: kind, Raw: oh.Compact(raw)}, err == nil
}

// args returns the arguments as text; some gateways send a string.
func (f *functionCall) args() string {
	if s, ok := delta.String(f.Args); ok {
		return s
	}
	if len(f.Args) == 0 || string(f.Args) == "null" {
		return ""
	}
	return string(oh.Compact(f.Args))
}

// counts are the numbers of a usage report.
type counts struct {
	Prompt     loose.Count `json:"promptTokenCount"`
	ToolPrompt loose.Count `json:"toolUsePromptTokenCount"`
	Cached     loose.Count `json:"cachedContentTokenCount"`
	Candidates loose.Count `json:"candidatesTokenCount"`
	Thoughts   loose.Count `json:"thoughtsTokenCount"`
	Total      loose.Count `json:"totalTokenCount"`
}

// take keeps the newest number of each kind: each chunk tells running totals,
// and not each tells all of them.
func (u *counts) take(v *counts) {
	if v == nil {
		return
	}
	for _, f := range [...]struct{ to, from *loose.Count }{
		{&u.Prompt, &v.Prompt}, {&u.ToolPrompt, &v.ToolPrompt}, {&u.Cached, &v.Cached},
		{&u.Candidates, &v.Candidates}, {&u.Thoughts, &v.Thoughts}, {&u.Total, &v.Total},
	} {
		if *f.from > 0 {
			*f.to = *f.from
		}
	}
}

// usage is the report in our form: the prompt is told with what was cached, the
// reply without its thoughts.
func (u *counts) usage() oh.Usage {
	prompt := u.Prompt + u.ToolPrompt
	read := min(u.Cached, prompt)
	out := u.Candidates + u.Thoughts
	if u.Thoughts > 0 && u.Candidates >= u.Thoughts && u.Total == prompt+u.Candidates {
		out = u.Candidates // a gateway that counts the thoughts with the reply
	}
	return oh.Usage{
		InputTokens:     int(prompt - read),
		OutputTokens:    int(out),
		CacheReadTokens: int(read),
		ReasoningTokens: int(u.Thoughts),
	}
}
