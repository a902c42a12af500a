package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
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
	e := encoder{origin: c.link.Origin(req), traits: &traits, signs: traits.SignedCalls || signs(req.Model)}
	tools := c.toolList(req.Tools, &traits)
	var b body.Body
	b.Add(e.head(req, len(tools) > 0))
	if len(tools) > 0 {
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

func (c *codec) toolList(specs []oh.ToolSpec, traits *provider.Traits) []byte {
	if traits.NoTools {
		return nil
	}
	d := bridge.Dialect(traits.Schema)
	return c.tools.As(traits.Schema, specs, func(specs []oh.ToolSpec) []byte { return body.ToolList(specs, d, body.Function) })
}

const pdf = "application/pdf"

type encoder struct {
	origin string
	traits *provider.Traits
	signs  bool // calls need a thought signature
}

// key names all that the bytes of a message depend on.
func (e *encoder) key() string {
	t := e.traits
	return fmt.Sprintf("openai\x00%s\x00%s\x00%s\x00%t%t%t%t%t%t%t", e.origin, t.ReasoningField, t.CallIDs,
		t.NoReasoning, t.EmptyReasoning, t.NoImages, t.ImageInToolResult, t.Documents, t.NoTools, e.signs)
}

func (e *encoder) head(req *oh.Request, tools bool) []byte {
	out := append([]byte(nil), `{"model":`...)
	out = text.AppendJSON(out, cmp.Or(e.traits.Name, req.Model))
	limit := e.traits.Limit(req)
	if limit > 0 {
		field := e.traits.TokenField
		if field == "" {
			field = "max_tokens"
		}
		out = append(out, ',')
		out = append(text.AppendJSON(out, field), ':')
		out = strconv.AppendInt(out, int64(limit), 10)
	}
	out = append(out, `,"stream":true`...)
	if !e.traits.NoUsageOption {
		out = append(out, `,"stream_options":{"include_usage":true}`...)
	}
	if word := e.traits.ChatEffort(req.Effort, tools); word != "" {
		out = append(out, `,"reasoning_effort":`...)
		out = text.AppendJSON(out, word)
	}
	if e.traits.CacheKey && req.Session != "" {
		out = append(out, `,"prompt_cache_key":`...)
		out = text.AppendJSON(out, req.Session)
	}
	return out
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
		said, calls = asText(said, calls), nil
	}
	out := append([]byte(nil), `{"role":"assistant","content":`...)
	switch {
	case !body.Blank(said):
		out = text.AppendJSON(out, said)
	case len(calls) > 0:
		out = append(out, `null`...)
	default:
		out = text.AppendJSON(out, note.EmptyMessage())
	}
	out = e.reasoning(out, m.Content, len(calls) > 0)
	extras := e.extras(calls)
	for i, u := range calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		} else {
			out = append(out, ',')
		}
		out = append(out, `{"id":`...)
		out = text.AppendJSON(out, e.callID(u.ID))
		out = append(out, `,"type":"function","function":{"name":`...)
		out = text.AppendJSON(out, body.Name(u.Name))
		out = append(out, `,"arguments":`...)
		out = text.AppendJSON(out, string(body.AppendRaw(nil, u.Input, "{}")))
		out = append(out, '}')
		if len(extras[i]) > 0 {
			out = append(out, `,"extra_content":`...)
			out = append(out, extras[i]...)
		}
		out = append(out, '}')
	}
	if len(calls) > 0 {
		out = append(out, ']')
	}
	return append(out, '}')
}

// asText adds calls to what was said, for a model that takes none.
func asText(said string, calls []oh.ToolUse) string {
	for _, u := range calls {
		if said != "" {
			said += "\n\n"
		}
		said += note.Called(body.Name(u.Name), u.ID, string(body.AppendRaw(nil, u.Input, "{}")))
	}
	return said
}

// opaque is what this wire keeps with reasoning: the field it came in, for
// reasoning_details the list itself, and its form for the service alone.
type opaque struct {
	Field   string            `json:"field"`
	Details []json.RawMessage `json:"details,omitempty"`
	Sealed  string            `json:"sealed,omitempty"`
}

const (
	fieldContent   = "reasoning_content"
	fieldReasoning = "reasoning"
	fieldDetails   = "reasoning_details"
	fieldText      = "reasoning_text"
	fieldSealed    = "reasoning_opaque"
)

// reasoning gives back the reasoning that came from this service.
func (e *encoder) reasoning(out []byte, blocks oh.Blocks, calls bool) []byte {
	field, said, sealed := "", "", ""
	var details []json.RawMessage
	for _, x := range blocks {
		t, ok := x.(oh.Thinking)
		if !ok || e.traits.NoReasoning || t.Opaque == nil || t.Opaque.Origin != e.origin {
			continue
		}
		var o opaque
		if json.Unmarshal(t.Opaque.Data, &o) != nil || o.Field == "" {
			continue
		}
		field = o.Field
		details = append(details, o.Details...)
		said += t.Text
		sealed += o.Sealed
	}
	if sealed != "" {
		out = append(out, `,"`+fieldSealed+`":`...)
		out = text.AppendJSON(out, sealed)
	}
	if len(details) > 0 && e.traits.ReasoningField == "" {
		raw, err := oh.Marshal(details)
		if err == nil {
			out = append(out, `,"`+fieldDetails+`":`...)
			return body.AppendRaw(out, raw, "[]")
		}
	}
	if e.traits.ReasoningField != "" {
		field = e.traits.ReasoningField
	}
	if field == "" || field == fieldDetails {
		field = fieldContent
	}
	if said == "" && (!calls || !e.traits.EmptyReasoning) {
		return out
	}
	out = append(out, ',')
	out = append(text.AppendJSON(out, field), ':')
	return text.AppendJSON(out, said)
}

// user encodes a user message: first one tool message for each result, then a
// user message with the results' images and what the user said.
func (e *encoder) user(m *oh.Message) []byte {
	var out []byte
	var p parts
	for _, x := range m.Content {
		r, ok := x.(oh.ToolResult)
		switch {
		case !ok:
		case e.traits.NoTools:
			p.text(note.Answered(r.ToolUseID, e.output(r).words()))
			e.attached(&p, r)
		default:
			out = e.result(out, r)
			e.attached(&p, r)
		}
	}
	for _, x := range m.Content {
		e.part(&p, x)
	}
	if len(p.list) == 0 && len(out) > 0 {
		return out[:len(out)-1] // without the last comma
	}
	if len(p.list) == 0 {
		p.text(note.EmptyMessage())
	}
	out = append(out, `{"role":"user","content":`...)
	return append(p.append(out), '}')
}

// result appends a tool message and a comma.
func (e *encoder) result(out []byte, r oh.ToolResult) []byte {
	out = append(out, `{"role":"tool","tool_call_id":`...)
	out = text.AppendJSON(out, e.callID(r.ToolUseID))
	out = append(out, `,"content":`...)
	return append(e.output(r).append(out), `},`...)
}

// output is what a tool message holds of a result.
func (e *encoder) output(r oh.ToolResult) *parts {
	var p parts
	for _, x := range r.Content {
		switch x.(type) {
		case oh.Text, oh.Image, oh.Document:
			if !e.follows(x) {
				e.part(&p, x)
			}
		}
	}
	switch {
	case len(p.list) > 0:
	case slices.ContainsFunc(r.Content, e.follows):
		p.text(note.Attached())
	default:
		p.text(note.EmptyResult())
	}
	if r.IsError && !p.beginsWith("error") {
		p.prefix("Error: ")
	}
	return &p
}

// follows reports whether a block of a result cannot stand in a tool message
// and goes into the user message after it.
func (e *encoder) follows(x oh.Block) bool {
	switch x := x.(type) {
	case oh.Image:
		return (!e.traits.ImageInToolResult || e.traits.NoTools) && !e.traits.NoImages && body.ImageType(x.MediaType) != ""
	case oh.Document:
		return e.traits.Documents && strings.EqualFold(x.MediaType, pdf)
	}
	return false
}

// attached puts what cannot stand in a tool message among the parts of the
// user message.
func (e *encoder) attached(p *parts, r oh.ToolResult) {
	first := true
	for _, x := range r.Content {
		if !e.follows(x) {
			continue
		}
		if first {
			p.text(note.FilesOf(e.callID(r.ToolUseID)))
			first = false
		}
		e.part(p, x)
	}
}

// part adds what a user message holds of a block.
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
		out := append([]byte(nil), `{"type":"image_url","image_url":{"url":`...)
		p.add(append(dataURL(out, media, x.Data), `}}`...))
	case oh.Document:
		if !e.traits.Documents || !strings.EqualFold(x.MediaType, pdf) || len(x.Data) == 0 {
			p.text(note.Document(x))
			return
		}
		name := x.Name
		if body.Blank(name) {
			name = "document.pdf"
		}
		out := append([]byte(nil), `{"type":"file","file":{"filename":`...)
		out = append(text.AppendJSON(out, name), `,"file_data":`...)
		p.add(append(dataURL(out, pdf, x.Data), `}}`...))
	}
}

func dataURL(out []byte, media string, data []byte) []byte {
	quoted := text.AppendJSON(out, "data:"+media+";base64,")
	return append(base64.StdEncoding.AppendEncode(quoted[:len(quoted)-1], data), '"')
}
