package oh

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Block is one part of a message. The set is closed: [Text], [Image],
// [Document], [Thinking], [ToolUse], [ToolResult] and [Unknown]. Blocks are
// plain values and are not changed once they are in a message.
type Block interface {
	blockType() string
}

// Opaque is a provider's own payload that must come back to it unchanged, such
// as a signature or an encrypted reasoning item. A codec sends it only when
// Origin equals its own origin for the request's model.
type Opaque struct {
	Origin string          `json:"origin"` // see [Origin]
	Data   json.RawMessage `json:"data"`   // compact JSON, kept byte for byte
}

// Origin names who may get an [Opaque] payload back: one profile with one model.
func Origin(profile, model string) string { return profile + "/" + model }

// Text is plain text. Context marks text that the harness added (date, branch,
// notices) rather than a person or the model, so that faces and titles can
// leave it out; the model sees it all the same.
type Text struct {
	Text    string  `json:"text"`
	Context bool    `json:"context,omitempty"`
	Opaque  *Opaque `json:"opaque,omitempty"`
}

// Image is a picture: Data holds the encoded file (base64 in JSON), MediaType
// its type, such as image/png. Path is where it came from, if anywhere; it is
// stored and shown, never sent.
type Image struct {
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
	Path      string `json:"path,omitempty"`
}

// Document is a file for the model to read as it is, such as a PDF.
type Document struct {
	MediaType string `json:"media_type"`
	Name      string `json:"name,omitempty"`
	Data      []byte `json:"data"`
}

// Thinking is the model's reasoning. Text may be empty when only an encrypted
// or redacted form exists, which is then in Opaque.
type Thinking struct {
	Text   string  `json:"text"`
	Opaque *Opaque `json:"opaque,omitempty"`
}

// ToolUse is a call that the model asks for. In a stored message ID is unique
// within the conversation, and Input is always a compact JSON object.
type ToolUse struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Opaque *Opaque         `json:"opaque,omitempty"`

	// Malformed says why the arguments as they arrived are no JSON object (a
	// description with the raw text, cut). Such a call is never run: the stored
	// Input is then an object that holds the raw text under "malformed".
	Malformed string `json:"malformed,omitempty"`
}

// ToolResult answers one [ToolUse]. Content holds text, images and documents.
// Meta is stored and shown to people, never sent.
type ToolResult struct {
	ToolUseID string          `json:"tool_use_id"`
	Content   Blocks          `json:"content"`
	IsError   bool            `json:"is_error,omitempty"`
	Meta      json.RawMessage `json:"meta,omitempty"`
}

// Unknown is a block of a type this version does not know. It survives a round
// trip byte for byte and is not sent to a model.
type Unknown struct {
	Type string
	Raw  json.RawMessage // the whole block, compact
}

func (Text) blockType() string       { return "text" }
func (Image) blockType() string      { return "image" }
func (Document) blockType() string   { return "document" }
func (Thinking) blockType() string   { return "thinking" }
func (ToolUse) blockType() string    { return "tool_use" }
func (ToolResult) blockType() string { return "tool_result" }
func (u Unknown) blockType() string  { return u.Type }

// Blocks is a list of blocks with the JSON form of the codec: an array of
// objects told apart by "type". null decodes as an empty list.
type Blocks []Block

// Text returns the concatenated [Text] blocks, without a separator.
func (b Blocks) Text() string {
	var s strings.Builder
	for _, x := range b {
		if t, ok := x.(Text); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

// ToolUses returns the calls among the blocks, in order.
func (b Blocks) ToolUses() []ToolUse {
	var out []ToolUse
	for _, x := range b {
		if u, ok := x.(ToolUse); ok {
			out = append(out, u)
		}
	}
	return out
}

// Empty reports whether the blocks say nothing: no call, result, image or
// document, and no text but white space. Thinking and unknown blocks alone count as empty.
func (b Blocks) Empty() bool {
	for _, x := range b {
		switch x := x.(type) {
		case Text:
			if strings.TrimSpace(x.Text) != "" {
				return false
			}
		case Thinking, Unknown:
		default:
			return false
		}
	}
	return true
}

// MarshalJSON implements [json.Marshaler].
func (b Blocks) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i, x := range b {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendBlock(out, x); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendBlock(out []byte, x Block) ([]byte, error) {
	if u, ok := x.(Unknown); ok {
		if len(u.Raw) == 0 {
			return nil, fmt.Errorf("encode block of type %q: no content", u.Type)
		}
		return append(out, u.Raw...), nil
	}
	if x == nil {
		return nil, fmt.Errorf("encode block: nil")
	}
	return appendTagged(out, x.blockType(), x)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (b *Blocks) UnmarshalJSON(data []byte) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return fmt.Errorf("decode blocks: %w", err)
	}
	out := make(Blocks, 0, len(raws))
	for _, raw := range raws {
		x, err := decodeBlock(raw)
		if err != nil {
			return err
		}
		out = append(out, x)
	}
	*b = out
	return nil
}

func decodeBlock(raw json.RawMessage) (Block, error) {
	kind, err := typeOf(raw)
	if err != nil {
		return nil, fmt.Errorf("decode block: %w", err)
	}
	switch kind {
	case "text":
		return decodeAs[Text](raw)
	case "image":
		return decodeAs[Image](raw)
	case "document":
		return decodeAs[Document](raw)
	case "thinking":
		return decodeAs[Thinking](raw)
	case "tool_use":
		return decodeAs[ToolUse](raw)
	case "tool_result":
		return decodeAs[ToolResult](raw)
	}
	return Unknown{Type: kind, Raw: Compact(raw)}, nil
}

func decodeAs[T Block](raw []byte) (Block, error) {
	var x T
	if err := json.Unmarshal(raw, &x); err != nil {
		return nil, fmt.Errorf("decode %s block: %w", x.blockType(), err)
	}
	return x, nil
}
