package responses

import (
	"bytes"
	"cmp"
	"encoding/base64"
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

const (
	pdf = "application/pdf"

	// minOutput is the least max_output_tokens that OpenAI takes.
	minOutput = 16
)

// encode makes the body of a request of pieces that the memo keeps. Nothing is
// stored at the service: each request says all there is to know.
func (c *codec) encode(req *oh.Request, traits *provider.Traits) (*body.Body, error) {
	e := encoder{origin: c.link.Origin(req), traits: traits}
	var b body.Body
	b.Add(e.head(req))
	dialect := bridge.Dialect(traits.Schema)
	tools := c.tools.As(traits.Schema, req.Tools, func(specs []oh.ToolSpec) []byte { return encodeTools(specs, dialect) })
	if len(tools) > 0 && !traits.NoTools {
		b.AddString(`,"tools":`)
		b.Add(tools)
	}
	if !body.Blank(req.System) {
		b.AddString(`,"instructions":`)
		b.Add(text.AppendJSON(nil, req.System))
	}
	b.AddString(`,"input":[`)
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
}

// key names all that the bytes of a message depend on.
func (e *encoder) key() string {
	t := e.traits
	return fmt.Sprintf("responses\x00%s\x00%t%t%t%t", e.origin, t.NoReasoning, t.NoImages, t.Documents, t.NoTools)
}

// outputLimit returns the max_output_tokens to send; 0 for none.
func outputLimit(req *oh.Request, traits *provider.Traits) int {
	limit := traits.Limit(req)
	if limit == 0 {
		return 0
	}
	return max(limit, minOutput)
}

func (e *encoder) head(req *oh.Request) []byte {
	out := append([]byte(nil), `{"model":`...)
	out = text.AppendJSON(out, cmp.Or(e.traits.Name, req.Model))
	if limit := outputLimit(req, e.traits); limit > 0 {
		out = append(out, `,"max_output_tokens":`...)
		out = strconv.AppendInt(out, int64(limit), 10)
	}
	out = append(out, `,"stream":true,"store":false`...)
	out = e.reasoning(out, req.Effort)
	if e.traits.CacheKey && req.Session != "" {
		out = append(out, `,"prompt_cache_key":`...)
		out = text.AppendJSON(out, req.Session)
	}
	return out
}

// reasoning asks a model that reasons for a summary to show and for the
// encrypted form to send back.
func (e *encoder) reasoning(out []byte, effort string) []byte {
	if e.traits.Thinking != provider.ThinkEffort {
		return out
	}
	word := e.traits.Effort(effort)
	if e.traits.NoReasoning {
		if word == "" {
			return out
		}
		out = append(out, `,"reasoning":{"effort":`...)
		return append(text.AppendJSON(out, word), '}')
	}
	out = append(out, `,"include":["reasoning.encrypted_content"],"reasoning":{`...)
	if word != "" {
		out = append(out, `"effort":`...)
		out = append(text.AppendJSON(out, word), ',')
	}
	return append(out, `"summary":"auto"}`...)
}

func encodeTools(specs []oh.ToolSpec, d bridge.Dialect) []byte {
	return body.ToolList(specs, d, func(out []byte, t oh.ToolSpec, schema []byte) []byte {
		out = append(out, `{"type":"function","name":`...)
		out = text.AppendJSON(out, body.Name(t.Name))
		if !body.Blank(t.Description) {
			out = append(out, `,"description":`...)
			out = text.AppendJSON(out, t.Description)
		}
		out = append(out, `,"parameters":`...)
		out = body.AppendRaw(out, schema, bridge.Empty)
		return append(out, `,"strict":false}`...)
	})
}

// message encodes one message of ours as one or more items of the wire,
// separated by commas.
func (e *encoder) message(m *oh.Message) []byte {
	var out []byte
	if m.Role == oh.Assistant {
		out = e.assistant(m)
	} else {
		out = e.user(m)
	}
	return out[:len(out)-1] // without the last comma
}

// user encodes a user message: first the outputs of calls, then what the user
// said. Each item ends with a comma.
func (e *encoder) user(m *oh.Message) []byte {
	var out []byte
	var p parts
	for _, x := range m.Content {
		if r, ok := x.(oh.ToolResult); ok && e.traits.NoTools {
			e.retold(&p, r)
		} else if ok {
			out = e.result(out, r)
		}
	}
	for _, x := range m.Content {
		e.part(&p, x)
	}
	if len(p.list) == 0 {
		if len(out) > 0 {
			return out
		}
		p.text(note.EmptyMessage())
	}
	out = append(out, `{"type":"message","role":"user","content":`...)
	return append(p.append(out), `},`...)
}

func (e *encoder) result(out []byte, r oh.ToolResult) []byte {
	out = append(out, `{"type":"function_call_output","call_id":`...)
	out = text.AppendJSON(out, r.ToolUseID)
	out = append(out, `,"output":`...)
	p := e.output(r)
	if len(p.said) == len(p.list) {
		out = text.AppendJSON(out, strings.Join(p.said, "\n\n"))
	} else {
		out = p.append(out)
	}
	return append(out, `},`...)
}

// output is what a result says.
func (e *encoder) output(r oh.ToolResult) parts {
	var p parts
	for _, x := range r.Content {
		e.part(&p, x)
	}
	if len(p.list) == 0 {
		p.text(note.EmptyResult())
	}
	if r.IsError {
		p.failed()
	}
	return p
}

// part adds what an input holds of a block.
func (e *encoder) part(p *parts, x oh.Block) {
	switch x := x.(type) {
	case oh.Text:
		p.text(x.Text)
	case oh.Image:
		media := body.ImageType(x.MediaType)
		if e.traits.NoImages || len(x.Data) == 0 || media == "" {
			p.text(note.LeftOut(x.MediaType))
			return
		}
		out := append([]byte(nil), `{"type":"input_image","detail":"auto","image_url":`...)
		p.add(append(dataURL(out, media, x.Data), '}'))
	case oh.Document:
		if !e.traits.Documents || !strings.EqualFold(x.MediaType, pdf) || len(x.Data) == 0 {
			p.text(note.Document(x))
			return
		}
		name := x.Name
		if body.Blank(name) {
			name = "document.pdf"
		}
		out := append([]byte(nil), `{"type":"input_file","filename":`...)
		out = append(text.AppendJSON(out, name), `,"file_data":`...)
		p.add(append(dataURL(out, pdf, x.Data), '}'))
	}
}

func dataURL(out []byte, media string, data []byte) []byte {
	out = append(out, `"data:`...)
	out = append(append(out, media...), ";base64,"...)
	return append(base64.StdEncoding.AppendEncode(out, data), '"')
}

// parts is the content of an input.
type parts struct {
	list  [][]byte
	said  []string // the texts among list
	first bool     // list begins with text
}

func (p *parts) text(s string) {
	if body.Blank(s) {
		return
	}
	p.first = p.first || len(p.list) == 0
	p.list = append(p.list, inputText(s))
	p.said = append(p.said, s)
}

const textHead = `{"type":"input_text","text":`

func inputText(s string) []byte {
	return append(text.AppendJSON([]byte(textHead), s), '}')
}

// retold adds a result for a model that takes no tools: its texts as one.
func (e *encoder) retold(p *parts, r oh.ToolResult) {
	out := e.output(r)
	p.text(note.Answered(r.ToolUseID, strings.Join(out.said, "\n\n")))
	for _, raw := range out.list {
		if !bytes.HasPrefix(raw, []byte(textHead)) {
			p.add(raw)
		}
	}
}

func (p *parts) add(raw []byte) { p.list = append(p.list, raw) }

// failed says at the beginning that a result is an error, for which the wire
// has no field, unless it says so itself.
func (p *parts) failed() {
	const mark = "Error: "
	switch {
	case !p.first:
		p.list = append([][]byte{inputText(strings.TrimSpace(mark))}, p.list...)
		p.said = append([]string{strings.TrimSpace(mark)}, p.said...)
	case !strings.HasPrefix(strings.ToLower(strings.TrimSpace(p.said[0])), "error"):
		p.said[0] = mark + p.said[0]
		p.list[0] = inputText(p.said[0])
	}
}

func (p *parts) append(out []byte) []byte {
	out = append(out, '[')
	for i, raw := range p.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, raw...)
	}
	return append(out, ']')
}
