package ohtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// Request is a request that a [Server] received. It is not to be changed.
type Request struct {
	N          int // from 1, in the order of arrival
	Time       time.Time
	Wire       Wire // "" on a path that is none of a model
	Method     string
	Path       string
	Header     http.Header // as received, keys included
	Body       []byte
	JSON       map[string]any // the body, numbers as [json.Number]; nil when it is no JSON object
	Violations []Violation    // what the checks found

	query url.Values // may hold a key
}

// secretHeaders are not shown.
var secretHeaders = [...]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "X-Amz-Security-Token", "Cookie", "Proxy-Authorization"}

// SafeHeader returns the headers with the values of keys hidden.
func (r *Request) SafeHeader() http.Header {
	h := r.Header.Clone()
	for _, name := range secretHeaders {
		if h.Get(name) != "" {
			h.Set(name, "(hidden)")
		}
	}
	return h
}

// String describes the request in one line, without headers.
func (r *Request) String() string {
	return fmt.Sprintf("request %d: %s %s, %d bytes, model %q, %d messages", r.N, r.Method, r.Path, len(r.Body), r.Model(), len(r.Messages()))
}

// Format implements [fmt.Formatter]: no verb prints keys.
func (r *Request) Format(f fmt.State, _ rune) { fmt.Fprint(f, r.String()) }

// Model returns the model asked for, which some wires tell in the path.
func (r *Request) Model() string {
	switch r.Wire {
	case Gemini:
		name, _, _ := strings.Cut(r.Path[strings.LastIndexByte(r.Path, '/')+1:], ":")
		return name
	case Bedrock:
		_, rest, _ := strings.Cut(r.Path, "/model/")
		return strings.TrimSuffix(rest, bedrockPath)
	}
	s, _ := r.JSON["model"].(string)
	return s
}

// wireBody is a body of the Anthropic, OpenAI or Ollama wire.
type wireBody struct {
	System   wireContent   `json:"system"`
	Messages []wireMessage `json:"messages"`
	Tools    []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"input_schema"`
		Function    *struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"function"`
	} `json:"tools"`
}

type wireMessage struct {
	Role             string      `json:"role"`
	Content          wireContent `json:"content"`
	ToolCallID       string      `json:"tool_call_id"`
	ToolName         string      `json:"tool_name"`
	Thinking         string      `json:"thinking"`
	Images           []string    `json:"images"`
	ReasoningContent string      `json:"reasoning_content"`
	Reasoning        string      `json:"reasoning"`
	ToolCalls        []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// wireContent is a list of blocks; a plain string decodes as one text.
type wireContent []wireBlock

type wireBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   wireContent     `json:"content"`
	IsError   bool            `json:"is_error"`
	Source    struct {
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source"`
	ImageURL struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *wireContent) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*c = nil
		if s != "" {
			*c = wireContent{{Type: "text", Text: s}}
		}
		return nil
	}
	var list []wireBlock
	err := json.Unmarshal(raw, &list)
	*c = list
	return err
}

// body decodes the request as far as it can be understood.
func (r *Request) body() wireBody {
	var b wireBody
	if json.Unmarshal(r.Body, &b) != nil {
		return b // what was decoded before the first wrong field
	}
	return b
}

// System returns the system prompt, its blocks joined by newlines.
func (r *Request) System() string {
	switch r.Wire {
	case Responses:
		return r.responsesSystem()
	case Gemini:
		return r.geminiBody().System.content().Text()
	case Bedrock:
		return r.bedrockBody().system().Text()
	}
	b := r.body()
	var out []string
	for _, x := range b.System {
		out = append(out, x.Text)
	}
	for _, m := range b.Messages {
		if m.Role == "system" || m.Role == "developer" {
			out = append(out, m.Content.blocks().Text())
		}
	}
	return strings.Join(out, "\n")
}

// Tools returns the tools that the model was told of.
func (r *Request) Tools() []oh.ToolSpec {
	switch r.Wire {
	case Responses:
		return r.responsesTools()
	case Gemini:
		return r.geminiTools()
	case Bedrock:
		return r.bedrockTools()
	}
	var out []oh.ToolSpec
	for _, t := range r.body().Tools {
		spec := oh.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema}
		if f := t.Function; f != nil {
			spec = oh.ToolSpec{Name: f.Name, Description: f.Description, Schema: f.Parameters}
		}
		out = append(out, spec)
	}
	return out
}

// Messages returns the conversation in the words of package oh. On wires that
// have messages or items of their own for results, neighbours that belong to the
// user are one message, and so are those of the assistant. Where a wire has no
// mark for it, a result counts as an error when its text begins with "Error:".
// A call without an id gets one, such as "call-1" for the first.
func (r *Request) Messages() []oh.Message {
	switch r.Wire {
	case Responses:
		return r.responsesMessages()
	case Gemini:
		return r.geminiMessages()
	case Bedrock:
		return r.bedrockMessages()
	}
	var out []oh.Message
	ids := &callIDs{}
	for _, m := range r.body().Messages {
		msg := oh.Message{Role: oh.Role(m.Role)}
		switch m.Role {
		case "system", "developer":
			continue
		case "tool":
			msg.Role = oh.User
			content := m.Content.blocks()
			msg.Content = oh.Blocks{oh.ToolResult{ToolUseID: ids.answer(m.ToolCallID, m.ToolName), Content: content,
				IsError: strings.HasPrefix(content.Text(), "Error:")}}
		default:
			msg.Content = ids.give(m.blocks())
		}
		if last := len(out) - 1; last >= 0 && r.Wire != Anthropic && msg.Role == oh.User && out[last].Role == oh.User {
			out[last].Content = append(out[last].Content, msg.Content...)
			continue
		}
		out = append(out, msg)
	}
	return out
}

func (m wireMessage) blocks() oh.Blocks {
	var out oh.Blocks
	if s := m.ReasoningContent + m.Reasoning + m.Thinking; s != "" {
		out = append(out, oh.Thinking{Text: s})
	}
	out = append(out, m.Content.blocks()...)
	for _, c := range m.ToolCalls {
		input := c.Function.Arguments // text on the OpenAI wire
		var s string
		if json.Unmarshal(input, &s) == nil {
			input = json.RawMessage(s)
		}
		out = append(out, oh.ToolUse{ID: c.ID, Name: c.Function.Name, Input: input})
	}
	for _, data := range m.Images {
		out = append(out, oh.Image{Data: decode64(data)})
	}
	return out
}

func (c wireContent) blocks() oh.Blocks {
	var out oh.Blocks
	for _, b := range c {
		switch b.Type {
		case "text":
			out = append(out, oh.Text{Text: b.Text})
		case "thinking":
			out = append(out, oh.Thinking{Text: b.Thinking, Opaque: &oh.Opaque{Data: json.RawMessage(quote(b.Signature))}})
		case "redacted_thinking":
			out = append(out, oh.Thinking{Opaque: &oh.Opaque{Data: json.RawMessage(quote(b.Data))}})
		case "tool_use":
			out = append(out, oh.ToolUse{ID: b.ID, Name: b.Name, Input: b.Input})
		case "tool_result":
			out = append(out, oh.ToolResult{ToolUseID: b.ToolUseID, Content: b.Content.blocks(), IsError: b.IsError})
		case "image":
			out = append(out, oh.Image{MediaType: b.Source.MediaType, Data: decode64(b.Source.Data)})
		case "document":
			out = append(out, oh.Document{MediaType: b.Source.MediaType, Name: b.Title, Data: decode64(b.Source.Data)})
		case "image_url":
			mediaType, data, _ := strings.Cut(strings.TrimPrefix(b.ImageURL.URL, "data:"), ";base64,")
			out = append(out, oh.Image{MediaType: mediaType, Data: decode64(data)})
		default:
			raw, err := oh.Marshal(map[string]string{"type": b.Type})
			if err == nil {
				out = append(out, oh.Unknown{Type: b.Type, Raw: raw})
			}
		}
	}
	return out
}

// decode64 decodes what is valid of s.
func decode64(s string) []byte {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil
	}
	return b
}

// LastUserText returns the text of the last user message that has any.
func (r *Request) LastUserText() string { return LastUserText(r.Messages()) }

// ToolResult returns the text of the result of a call and whether it is an
// error; ok is false when the request has no result for it.
func (r *Request) ToolResult(call string) (text string, isError, ok bool) {
	res, ok := FindResult(r.Messages(), call)
	return res.Content.Text(), res.IsError, ok
}
