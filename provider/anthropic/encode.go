package anthropic

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

// mark asks the service to cache what comes before and with the block that
// holds it. A request may have four: tools, system, and the last two user
// messages, so that what one turn wrote the next one finds.
const mark = `,"cache_control":{"type":"ephemeral"}`

// encode makes the body of a request. Encoded messages are kept in the memo
// without marks; marks are put in between the pieces.
func (c *codec) encode(req *oh.Request) (*body.Body, error) {
	traits := c.link.Config().Model(req.Model)
	e := encoder{origin: c.link.Origin(req), traits: &traits, host: c.link.Config().Host}
	var b body.Body
	b.Add(e.head(c.opening(cmp.Or(traits.Name, req.Model), traits.Betas), req))
	if raw := c.toolList(req.Tools, &traits); len(raw) > 0 {
		b.AddString(`,"tools":`)
		const end = "}]" // of the last tool and the list
		b.Add(raw[:len(raw)-len(end)])
		b.AddString(e.mark() + end)
	}
	if !body.Blank(req.System) {
		b.AddString(`,"system":[{"type":"text","text":`)
		b.Add(text.AppendJSON(nil, req.System))
		b.AddString(e.mark() + `}]`)
	}
	b.AddString(`,"messages":[`)
	if err := e.messages(&b, req); err != nil {
		return nil, err
	}
	b.AddString(`]}`)
	return &b, nil
}

func (c *codec) toolList(specs []oh.ToolSpec, traits *provider.Traits) []byte {
	if traits.NoTools {
		return nil
	}
	d := bridge.Dialect(traits.Schema)
	return c.tools.As(traits.Schema, specs, func(specs []oh.ToolSpec) []byte { return encodeTools(specs, d) })
}

type encoder struct {
	origin string
	traits *provider.Traits
	host   provider.Host
}

func (e *encoder) mark() string {
	if e.traits.NoCache {
		return ""
	}
	return mark
}

func (e *encoder) head(out []byte, req *oh.Request) []byte {
	limit := e.traits.Limit(req)
	if limit <= 0 {
		limit = provider.MaxOutput
	}
	out = append(out, `,"max_tokens":`...)
	out = strconv.AppendInt(out, int64(limit), 10)
	if e.host != provider.Bedrock { // there the address says it
		out = append(out, `,"stream":true`...)
	}
	return append(out, e.thinking(req, limit)...)
}

// thinking asks for reasoning as the effort says.
func (e *encoder) thinking(req *oh.Request, limit int) string {
	switch e.traits.Thinking {
	case provider.ThinkEffort:
		if word := e.traits.Effort(req.Effort); word != "" {
			return `,"thinking":{"type":"adaptive"},"output_config":{"effort":` + string(text.AppendJSON(nil, word)) + `}`
		}
	case provider.ThinkBudget:
		sends := func(x oh.Thinking) bool { return len(e.thought(nil, x)) > 0 }
		if budget := body.ThinkingBudget(e.traits.Budget(req.Effort), limit, req.Messages, sends); budget > 0 {
			return fmt.Sprintf(`,"thinking":{"type":"enabled","budget_tokens":%d}`, budget)
		}
	}
	return ""
}

func isThinking(x oh.Block) bool { _, ok := x.(oh.Thinking); return ok }

func encodeTools(specs []oh.ToolSpec, d bridge.Dialect) []byte {
	return body.ToolList(specs, d, func(out []byte, t oh.ToolSpec, schema []byte) []byte {
		out = append(out, `{"name":`...)
		out = text.AppendJSON(out, body.Name(t.Name))
		if !body.Blank(t.Description) {
			out = append(out, `,"description":`...)
			out = text.AppendJSON(out, t.Description)
		}
		out = append(out, `,"input_schema":`...)
		return append(body.AppendRaw(out, schema, bridge.Empty), '}')
	})
}

func (e *encoder) messages(b *body.Body, req *oh.Request) error {
	key := fmt.Sprintf("anthropic\x00%s\x00%t%t%t", e.origin, e.traits.NoImages, e.traits.NoReasoning, e.traits.NoTools)
	marked := 0
	first := len(req.Messages) // of the messages that get a mark
	for i := len(req.Messages) - 1; i >= 0 && marked < 2 && !e.traits.NoCache; i-- {
		if req.Messages[i].Role == oh.User {
			marked++
			first = i
		}
	}
	history := body.History{Memo: req.Memo, Key: key, Encode: e.message}
	if err := history.Add(b, req.Messages[:first]); err != nil {
		return fmt.Errorf("encode messages: %w", err)
	}
	for i := first; i < len(req.Messages); i++ {
		m := &req.Messages[i]
		raw, err := history.Message(m)
		if err != nil {
			return fmt.Errorf("encode message %d: %w", i+1, err)
		}
		if m.Role != oh.User {
			b.AddItem(raw)
			continue
		}
		const end = "}]}" // of the last block, the content and the message
		b.AddItem(raw[:len(raw)-len(end)])
		b.AddString(mark + end)
	}
	return nil
}

// message encodes one message. Its last bytes close a block, the content and
// the message.
func (e *encoder) message(m *oh.Message) []byte {
	role := oh.User
	if m.Role == oh.Assistant {
		role = oh.Assistant
	}
	out := append([]byte(nil), `{"role":"`+role+`","content":[`...)
	start := len(out)
	for _, x := range m.Content {
		if body.IsResult(x) {
			out = e.block(out, x)
		}
	}
	end := len(out) // of what a message may end with: the service refuses one that ends in reasoning
	for _, x := range m.Content {
		if body.IsResult(x) {
			continue
		}
		before := len(out)
		if out = e.block(out, x); len(out) > before && !isThinking(x) {
			end = len(out)
		}
	}
	if out = out[:end]; len(out) == start {
		out = textBlock(out, note.EmptyMessage())
	}
	out[len(out)-1] = ']' // in place of the last comma
	return append(out, '}')
}

// block appends a block and a comma, or nothing for what is not sent.
func (e *encoder) block(out []byte, x oh.Block) []byte {
	switch x := x.(type) {
	case oh.Text:
		if body.Blank(x.Text) {
			return out
		}
		return textBlock(out, x.Text)
	case oh.Image:
		return e.image(out, x)
	case oh.Document:
		return document(out, x)
	case oh.Thinking:
		return e.thought(out, x)
	case oh.ToolUse:
		if e.traits.NoTools {
			return textBlock(out, note.Called(body.Name(x.Name), x.ID, string(body.AppendRaw(nil, x.Input, "{}"))))
		}
		out = append(out, `{"type":"tool_use","id":`...)
		out = text.AppendJSON(out, x.ID)
		out = append(out, `,"name":`...)
		out = text.AppendJSON(out, body.Name(x.Name))
		out = append(out, `,"input":`...)
		return append(body.AppendRaw(out, x.Input, "{}"), `},`...)
	case oh.ToolResult:
		return e.result(out, x)
	}
	return out
}

func textBlock(out []byte, s string) []byte {
	out = append(out, `{"type":"text","text":`...)
	return append(text.AppendJSON(out, s), `},`...)
}

func (e *encoder) result(out []byte, r oh.ToolResult) []byte {
	if e.traits.NoTools {
		return e.told(out, r)
	}
	out = append(out, `{"type":"tool_result","tool_use_id":`...)
	out = text.AppendJSON(out, r.ToolUseID)
	out = append(out, `,"content":[`...)
	start := len(out)
	for _, x := range r.Content {
		switch x.(type) {
		case oh.Text, oh.Image, oh.Document:
			out = e.block(out, x)
		}
	}
	if len(out) == start {
		out = textBlock(out, note.EmptyResult())
	}
	out[len(out)-1] = ']'
	if r.IsError {
		out = append(out, `,"is_error":true`...)
	}
	return append(out, `},`...)
}

// told appends a result for a model that takes no tools: its text after a note,
// then all else.
func (e *encoder) told(out []byte, r oh.ToolResult) []byte {
	said := body.Joined(r.Content)
	if said == "" {
		said = note.EmptyResult()
	}
	out = textBlock(out, note.Answered(r.ToolUseID, said))
	for _, x := range r.Content {
		switch x.(type) {
		case oh.Image, oh.Document:
			out = e.block(out, x)
		}
	}
	return out
}

func (e *encoder) image(out []byte, x oh.Image) []byte {
	media := body.ImageType(x.MediaType)
	if e.traits.NoImages || media == "" || len(x.Data) == 0 {
		return textBlock(out, note.LeftOut(x.MediaType))
	}
	return append(source(append(out, `{"type":"image"`...), media, x.Data), `},`...)
}

func source(out []byte, media string, data []byte) []byte {
	out = append(out, `,"source":{"type":"base64","media_type":"`...)
	out = append(out, media...)
	out = append(out, `","data":"`...)
	out = base64.StdEncoding.AppendEncode(out, data)
	return append(out, `"}`...)
}

func document(out []byte, x oh.Document) []byte {
	media := strings.ToLower(x.MediaType)
	isText := strings.HasPrefix(media, "text/") && !body.Blank(string(x.Data))
	if !isText && (media != "application/pdf" || len(x.Data) == 0) {
		return textBlock(out, note.LeftOut(strings.TrimSpace(x.MediaType+" "+x.Name)))
	}
	out = append(out, `{"type":"document"`...)
	if !body.Blank(x.Name) {
		out = append(out, `,"title":`...)
		out = text.AppendJSON(out, x.Name)
	}
	if !isText {
		return append(source(out, media, x.Data), `},`...)
	}
	out = append(out, `,"source":{"type":"text","media_type":"text/plain","data":`...)
	return append(text.AppendJSON(out, string(x.Data)), `}},`...)
}

// opaque is what this wire keeps with a thinking block.
type opaque struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// thought appends a thinking block to the service that signed it, and nothing
// to any other.
func (e *encoder) thought(out []byte, x oh.Thinking) []byte {
	var o opaque
	if x.Opaque == nil || x.Opaque.Origin != e.origin || e.traits.NoReasoning || json.Unmarshal(x.Opaque.Data, &o) != nil {
		return out
	}
	switch {
	case o.Redacted != "":
		out = append(out, `{"type":"redacted_thinking","data":`...)
		return append(text.AppendJSON(out, o.Redacted), `},`...)
	case o.Signature != "":
		out = append(out, `{"type":"thinking","thinking":`...)
		out = text.AppendJSON(out, x.Text)
		out = append(out, `,"signature":`...)
		return append(text.AppendJSON(out, o.Signature), `},`...)
	}
	return out
}
