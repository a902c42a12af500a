package ohtest

import (
	"encoding/json"
	"strings"

	"github.com/openharness/oh"
)

// responsesBody is a body of the Responses wire.
type responsesBody struct {
	Instructions string         `json:"instructions"`
	Input        responsesInput `json:"input"`
	Tools        []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"tools"`
}

// responsesInput is a list of items; a plain string decodes as one message.
type responsesInput []responsesItem

type responsesItem struct {
	Type      string           `json:"type"`
	Role      string           `json:"role"`
	Content   responsesContent `json:"content"`
	Summary   responsesContent `json:"summary"`
	Encrypted string           `json:"encrypted_content"`
	CallID    string           `json:"call_id"`
	Name      string           `json:"name"`
	Arguments string           `json:"arguments"`
	Output    responsesContent `json:"output"`
}

// responsesContent is a list of parts; a plain string decodes as one text.
type responsesContent []responsesPart

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Refusal  string `json:"refusal"`
	ImageURL string `json:"image_url"`
	FileData string `json:"file_data"`
	Filename string `json:"filename"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (in *responsesInput) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*in = responsesInput{{Role: "user", Content: responsesContent{{Text: s}}}}
		return nil
	}
	var items []responsesItem
	err := json.Unmarshal(raw, &items)
	*in = items
	return err
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *responsesContent) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*c = nil
		if s != "" {
			*c = responsesContent{{Text: s}}
		}
		return nil
	}
	var parts []responsesPart
	err := json.Unmarshal(raw, &parts)
	*c = parts
	return err
}

// responsesBody decodes the request as far as it can be understood.
func (r *Request) responsesBody() responsesBody {
	var b responsesBody
	if json.Unmarshal(r.Body, &b) != nil {
		return b // what was decoded before the first wrong field
	}
	return b
}

func (r *Request) responsesSystem() string {
	b := r.responsesBody()
	var out []string
	if b.Instructions != "" {
		out = append(out, b.Instructions)
	}
	for _, it := range b.Input {
		if it.Role == "system" || it.Role == "developer" {
			out = append(out, it.Content.blocks().Text())
		}
	}
	return strings.Join(out, "\n")
}

func (r *Request) responsesTools() []oh.ToolSpec {
	var out []oh.ToolSpec
	for _, t := range r.responsesBody().Tools {
		out = append(out, oh.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	}
	return out
}

func (r *Request) responsesMessages() []oh.Message {
	var out []oh.Message
	for _, it := range r.responsesBody().Input {
		switch it.Type {
		case "reasoning":
			out = join(out, oh.Assistant, oh.Blocks{oh.Thinking{Text: it.Summary.blocks().Text(), Opaque: &oh.Opaque{Data: json.RawMessage(quote(it.Encrypted))}}})
		case "function_call":
			out = join(out, oh.Assistant, oh.Blocks{oh.ToolUse{ID: it.CallID, Name: it.Name, Input: json.RawMessage(it.Arguments)}})
		case "function_call_output":
			content := it.Output.blocks()
			out = join(out, oh.User, oh.Blocks{oh.ToolResult{ToolUseID: it.CallID, Content: content, IsError: strings.HasPrefix(content.Text(), "Error:")}})
		case "message", "":
			if it.Role != "system" && it.Role != "developer" {
				out = join(out, oh.Role(it.Role), it.Content.blocks())
			}
		default:
			if raw, err := oh.Marshal(map[string]string{"type": it.Type}); err == nil {
				out = join(out, oh.Assistant, oh.Blocks{oh.Unknown{Type: it.Type, Raw: raw}})
			}
		}
	}
	return out
}

func (c responsesContent) blocks() oh.Blocks {
	var out oh.Blocks
	for _, p := range c {
		switch p.Type {
		case "input_image":
			mediaType, data, _ := strings.Cut(strings.TrimPrefix(p.ImageURL, "data:"), ";base64,")
			out = append(out, oh.Image{MediaType: mediaType, Data: decode64(data)})
		case "input_file":
			mediaType, data, _ := strings.Cut(strings.TrimPrefix(p.FileData, "data:"), ";base64,")
			out = append(out, oh.Document{MediaType: mediaType, Name: p.Filename, Data: decode64(data)})
		default:
			out = append(out, oh.Text{Text: p.Text + p.Refusal})
		}
	}
	return out
}
