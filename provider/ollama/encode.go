package ollama

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/bridge"
	"github.com/openharness/oh/provider/internal/note"
)

// encode makes the body of a request of pieces that the memo keeps.
func (c *codec) encode(req *oh.Request) (*body.Body, error) {
	traits := c.link.Config().Model(req.Model)
	e := encoder{origin: c.link.Origin(req), traits: &traits, names: names(req.Messages)}
	var b body.Body
	b.Add(e.head(req))
	if tools := c.toolList(req.Tools, &traits); len(tools) > 0 {
		b.AddString(`,"tools":`)
		b.Add(tools)
	}
	b.AddString(`,"messages":[`)
	if !body.Blank(req.System) {
		b.AddItem([]byte(`{"role":"system","content":`))
		b.Add(text.AppendJSON(nil, req.System))
		b.AddString(`}`)
	}
	history := body.History{Memo: req.Memo, Key: e.key(), Encode: e.message}
	if err := history.Add(&b, req.Messages); err != nil {
		return nil, fmt.Errorf("encode messages: %w", err)
	}
	b.AddString(`]}`)
	return &b, nil
}

type encoder struct {
	origin string
	traits *provider.Traits
	names  map[string]string // of the tools that were called, by the call's id
}

// names finds which tool each call was of: results are matched by it.
func names(msgs []oh.Message) map[string]string {
	all := map[string]string{}
	for i := range msgs {
		if msgs[i].Role != oh.Assistant {
			continue
		}
		for _, u := range msgs[i].Content.ToolUses() {
			all[u.ID] = u.Name
		}
	}
	return all
}

// key names all that the bytes of a message depend on.
func (e *encoder) key() string {
	t := e.traits
	return fmt.Sprintf("ollama\x00%s\x00%t%t%t", e.origin, t.NoReasoning, t.NoImages, t.NoTools)
}

// head asks for the window and for an error in place of a prompt that is cut to
// fit, or that is pushed out while the model writes.
func (e *encoder) head(req *oh.Request) []byte {
	out := append([]byte(nil), `{"model":`...)
	out = text.AppendJSON(out, cmp.Or(e.traits.Name, req.Model))
	out = append(out, `,"stream":true,"truncate":false,"shift":false`...)
	limit := e.traits.Limit(req)
	var options []string
	if e.traits.Window > 0 {
		options = append(options, `"num_ctx":`+strconv.Itoa(e.traits.Window))
	}
	if limit > 0 {
		options = append(options, `"num_predict":`+strconv.Itoa(limit))
	}
	if len(options) > 0 {
		out = append(out, `,"options":{`+strings.Join(options, ",")+`}`...)
	}
	if word := e.traits.Effort(req.Effort); word != "" {
		out = append(out, `,"think":`...)
		out = text.AppendJSON(out, word)
	}
	return out
}

func (c *codec) toolList(specs []oh.ToolSpec, traits *provider.Traits) []byte {
	if traits.NoTools {
		return nil
	}
	d := bridge.Dialect(traits.Schema)
	return c.tools.As(traits.Schema, specs, func(specs []oh.ToolSpec) []byte {
		return body.ToolList(specs, d, body.Function)
	})
}

// message encodes one message of ours as one or more of the wire's, separated
// by commas.
func (e *encoder) message(m *oh.Message) []byte {
	if m.Role == oh.Assistant {
		return e.assistant(m)
	}
	return e.user(m)
}

func (e *encoder) assistant(m *oh.Message) []byte {
	calls := m.Content.ToolUses()
	said := body.Joined(m.Content)
	if e.traits.NoTools {
		for _, u := range calls {
			said = paragraph(said, note.Called(body.Name(u.Name), u.ID, string(body.AppendRaw(nil, u.Input, "{}"))))
		}
		calls = nil
	}
	if body.Blank(said) {
		if said = ""; len(calls) == 0 {
			said = note.EmptyMessage()
		}
	}
	out := append([]byte(nil), `{"role":"assistant","content":`...)
	out = text.AppendJSON(out, said)
	if thought := e.thinking(m.Content); thought != "" {
		out = append(out, `,"thinking":`...)
		out = text.AppendJSON(out, thought)
	}
	for i, u := range calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		} else {
			out = append(out, ',')
		}
		out = append(out, `{"id":`...)
		out = text.AppendJSON(out, u.ID)
		out = append(out, `,"function":{"name":`...)
		out = text.AppendJSON(out, body.Name(u.Name))
		out = append(out, `,"arguments":`...)
		out = append(body.AppendRaw(out, u.Input, "{}"), `}}`...)
	}
	if len(calls) > 0 {
		out = append(out, ']')
	}
	return append(out, '}')
}

// own is what this wire keeps with thinking, to know it as its own.
const own = `{"field":"thinking"}`

// thinking is what came from this model of this service.
func (e *encoder) thinking(blocks oh.Blocks) string {
	said := ""
	for _, x := range blocks {
		t, ok := x.(oh.Thinking)
		if !ok || e.traits.NoReasoning || t.Opaque == nil || t.Opaque.Origin != e.origin {
			continue
		}
		var o struct {
			Field string `json:"field"`
		}
		if json.Unmarshal(t.Opaque.Data, &o) == nil && o.Field == "thinking" {
			said += t.Text
		}
	}
	return said
}

func paragraph(said, more string) string {
	if said == "" || more == "" {
		return said + more
	}
	return said + "\n\n" + more
}

// user encodes a user message: first one tool message for each result, then a
// user message with the results' images and what the user said.
func (e *encoder) user(m *oh.Message) []byte {
	var out []byte
	var said parts
	for _, x := range m.Content {
		r, ok := x.(oh.ToolResult)
		if !ok {
			continue
		}
		result := e.result(r)
		if e.traits.NoTools {
			said.add(note.Answered(r.ToolUseID, result.text))
		} else {
			out = e.tool(out, r.ToolUseID, result.text)
		}
		if len(result.images) > 0 {
			said.add(note.FilesOf(r.ToolUseID))
			said.images = append(said.images, result.images...)
		}
	}
	for _, x := range m.Content {
		e.part(&said, x)
	}
	if said.text == "" && len(said.images) == 0 {
		if len(out) > 0 {
			return out[:len(out)-1] // without the last comma
		}
		said.text = note.EmptyMessage()
	}
	return said.append(out)
}

// tool appends the message of a result and a comma.
func (e *encoder) tool(out []byte, id, said string) []byte {
	out = append(out, `{"role":"tool","tool_name":`...)
	out = text.AppendJSON(out, body.Name(e.names[id]))
	out = append(out, `,"tool_call_id":`...)
	out = text.AppendJSON(out, id)
	out = append(out, `,"content":`...)
	return append(text.AppendJSON(out, said), `},`...)
}

// parts are what one message says.
type parts struct {
	text   string
	images [][]byte
}

func (p *parts) add(s string) {
	if !body.Blank(s) {
		p.text = paragraph(p.text, s)
	}
}

// append appends a user message.
func (p *parts) append(out []byte) []byte {
	out = append(out, `{"role":"user","content":`...)
	out = text.AppendJSON(out, p.text)
	for i, data := range p.images {
		if i == 0 {
			out = append(out, `,"images":["`...)
		} else {
			out = append(out, `,"`...)
		}
		out = append(base64.StdEncoding.AppendEncode(out, data), '"')
	}
	if len(p.images) > 0 {
		out = append(out, ']')
	}
	return append(out, '}')
}

func (e *encoder) result(r oh.ToolResult) parts {
	var p parts
	for _, x := range r.Content {
		e.part(&p, x)
	}
	switch {
	case p.text != "":
	case len(p.images) > 0:
		p.text = note.Attached()
	default:
		p.text = note.EmptyResult()
	}
	if r.IsError && !strings.HasPrefix(strings.ToLower(p.text), "error") {
		p.text = "Error: " + p.text
	}
	return p
}

// part adds what a message holds of a block.
func (e *encoder) part(p *parts, x oh.Block) {
	switch x := x.(type) {
	case oh.Text:
		p.add(x.Text)
	case oh.Image:
		if e.traits.NoImages || len(x.Data) == 0 || body.ImageType(x.MediaType) == "" {
			p.add(note.LeftOut(x.MediaType))
			return
		}
		p.images = append(p.images, x.Data)
	case oh.Document:
		p.add(note.Document(x))
	}
}
