package ohtest

import (
	"encoding/json"

	"github.com/openharness/oh"
)

// bedrockBody is a body of the Bedrock wire.
type bedrockBody struct {
	System   []bedrockBlock `json:"system"`
	Messages []struct {
		Role    string         `json:"role"`
		Content []bedrockBlock `json:"content"`
	} `json:"messages"`
	ToolConfig struct {
		Tools []struct {
			Spec *struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Schema      struct {
					JSON json.RawMessage `json:"json"`
				} `json:"inputSchema"`
			} `json:"toolSpec"`
		} `json:"tools"`
	} `json:"toolConfig"`
}

type bedrockBlock struct {
	Text  *string `json:"text"`
	Image *struct {
		Format string `json:"format"`
		Source struct {
			Bytes string `json:"bytes"`
		} `json:"source"`
	} `json:"image"`
	Document *struct {
		Format string `json:"format"`
		Name   string `json:"name"`
		Source struct {
			Bytes string `json:"bytes"`
		} `json:"source"`
	} `json:"document"`
	Use *struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	} `json:"toolUse"`
	Result *struct {
		ID      string         `json:"toolUseId"`
		Content []bedrockBlock `json:"content"`
		Status  string         `json:"status"`
	} `json:"toolResult"`
	Reasoning *struct {
		Text struct {
			Text      string `json:"text"`
			Signature string `json:"signature"`
		} `json:"reasoningText"`
		Redacted string `json:"redactedContent"`
	} `json:"reasoningContent"`
}

// bedrockBody decodes the request as far as it can be understood.
func (r *Request) bedrockBody() bedrockBody {
	var b bedrockBody
	if json.Unmarshal(r.Body, &b) != nil {
		return b // what was decoded before the first wrong field
	}
	return b
}

func (b bedrockBody) system() oh.Blocks { return bedrockBlocks(b.System) }

func (r *Request) bedrockTools() []oh.ToolSpec {
	var out []oh.ToolSpec
	for _, t := range r.bedrockBody().ToolConfig.Tools {
		if t.Spec != nil {
			out = append(out, oh.ToolSpec{Name: t.Spec.Name, Description: t.Spec.Description, Schema: t.Spec.Schema.JSON})
		}
	}
	return out
}

func (r *Request) bedrockMessages() []oh.Message {
	var out []oh.Message
	for _, m := range r.bedrockBody().Messages {
		out = append(out, oh.Message{Role: oh.Role(m.Role), Content: bedrockBlocks(m.Content)})
	}
	return out
}

// bedrockBlocks leaves out what it does not know, such as cache points.
func bedrockBlocks(list []bedrockBlock) oh.Blocks {
	var out oh.Blocks
	for _, b := range list {
		switch {
		case b.Text != nil:
			out = append(out, oh.Text{Text: *b.Text})
		case b.Image != nil:
			out = append(out, oh.Image{MediaType: "image/" + b.Image.Format, Data: decode64(b.Image.Source.Bytes)})
		case b.Document != nil:
			out = append(out, oh.Document{MediaType: "application/" + b.Document.Format, Name: b.Document.Name, Data: decode64(b.Document.Source.Bytes)})
		case b.Use != nil:
			out = append(out, oh.ToolUse{ID: b.Use.ID, Name: b.Use.Name, Input: b.Use.Input})
		case b.Result != nil:
			out = append(out, oh.ToolResult{ToolUseID: b.Result.ID, Content: bedrockBlocks(b.Result.Content), IsError: b.Result.Status == "error"})
		case b.Reasoning != nil:
			seal := b.Reasoning.Text.Signature + b.Reasoning.Redacted
			out = append(out, oh.Thinking{Text: b.Reasoning.Text.Text, Opaque: &oh.Opaque{Data: json.RawMessage(quote(seal))}})
		}
	}
	return out
}
