package ohtest

import (
	"encoding/json"
	"strings"

	"github.com/openharness/oh"
)

// geminiBody is a body of the Gemini wire.
type geminiBody struct {
	System   geminiContent   `json:"systemInstruction"`
	Contents []geminiContent `json:"contents"`
	Tools    []struct {
		Declarations []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text      *string `json:"text"`
	Thought   bool    `json:"thought"`
	Signature string  `json:"thoughtSignature"`
	Inline    *blob   `json:"inlineData"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
		Parts    []geminiPart               `json:"parts"`
	} `json:"functionResponse"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

func (b *blob) block() oh.Block {
	if strings.HasPrefix(b.MimeType, "image/") {
		return oh.Image{MediaType: b.MimeType, Data: decode64(b.Data)}
	}
	return oh.Document{MediaType: b.MimeType, Data: decode64(b.Data)}
}

// geminiBody decodes the request as far as it can be understood.
func (r *Request) geminiBody() geminiBody {
	var b geminiBody
	if json.Unmarshal(r.Body, &b) != nil {
		return b // what was decoded before the first wrong field
	}
	return b
}

func (r *Request) geminiTools() []oh.ToolSpec {
	var out []oh.ToolSpec
	for _, t := range r.geminiBody().Tools {
		for _, d := range t.Declarations {
			schema := d.JSONSchema
			if schema == nil {
				schema = d.Parameters
			}
			out = append(out, oh.ToolSpec{Name: d.Name, Description: d.Description, Schema: schema})
		}
	}
	return out
}

func (r *Request) geminiMessages() []oh.Message {
	var out []oh.Message
	ids := &callIDs{}
	for _, c := range r.geminiBody().Contents {
		role := oh.User
		if c.Role == "model" {
			role = oh.Assistant
		}
		blocks := ids.give(c.content())
		for i, b := range blocks {
			if res, ok := b.(oh.ToolResult); ok {
				res.ToolUseID = ids.answer(res.ToolUseID, c.Parts[i].Response.Name)
				blocks[i] = res
			}
		}
		out = join(out, role, blocks)
	}
	return out
}

// content returns the parts as blocks, one for each.
func (c geminiContent) content() oh.Blocks {
	var out oh.Blocks
	for _, p := range c.Parts {
		out = append(out, p.block())
	}
	return out
}

func (p geminiPart) block() oh.Block {
	var opaque *oh.Opaque
	if p.Signature != "" {
		opaque = &oh.Opaque{Data: json.RawMessage(quote(p.Signature))}
	}
	switch {
	case p.Call != nil:
		return oh.ToolUse{ID: p.Call.ID, Name: p.Call.Name, Input: p.Call.Args, Opaque: opaque}
	case p.Response != nil:
		return p.result()
	case p.Inline != nil:
		return p.Inline.block()
	case p.Text != nil && p.Thought:
		return oh.Thinking{Text: *p.Text, Opaque: opaque}
	case p.Text != nil:
		return oh.Text{Text: *p.Text, Opaque: opaque}
	}
	return oh.Unknown{Type: "part", Raw: json.RawMessage("{}")}
}

// result returns a function's response; it is an error when it has a member
// error.
func (p geminiPart) result() oh.ToolResult {
	r := oh.ToolResult{ToolUseID: p.Response.ID}
	for _, key := range sortedKeys(p.Response.Response) {
		raw := p.Response.Response[key]
		var s string
		if json.Unmarshal(raw, &s) != nil {
			s = string(raw)
		}
		r.IsError = r.IsError || key == "error"
		r.Content = append(r.Content, oh.Text{Text: s})
	}
	for _, inner := range p.Response.Parts {
		r.Content = append(r.Content, inner.block())
	}
	return r
}
