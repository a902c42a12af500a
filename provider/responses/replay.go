package responses

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/note"
)

// mark is what this wire keeps with a text or a call: the item's id, and the
// phase of a message, which some models want back.
type mark struct {
	ID    string `json:"id,omitempty"`
	Phase string `json:"phase,omitempty"`
}

// marked returns the mark of a block that came from this service.
func (e *encoder) marked(o *oh.Opaque) mark {
	var m mark
	if o == nil || o.Origin != e.origin || json.Unmarshal(o.Data, &m) != nil {
		return mark{}
	}
	return m
}

// returns reports whether a reasoning item means something to a service that
// stored nothing: it holds its encrypted form or, of an open model, its text.
// What else refers to a store by its id and would be refused.
func returns(raw json.RawMessage) bool {
	var it item
	return decode(raw, &it) == nil && it.Type == kindReasoning && (it.Encrypted != "" || !body.Blank(string(it.Content.said())))
}

// legal reports whether an item's id is one that OpenAI takes back. Gateways
// have others, some of them different ones for one item.
func legal(id, prefix string) bool {
	if !strings.HasPrefix(id, prefix) || len(id) > 64 {
		return false
	}
	return strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// home reports whether a thinking block goes back as the item it came in.
func (e *encoder) home(x oh.Thinking) bool {
	return x.Opaque != nil && x.Opaque.Origin == e.origin && !e.traits.NoReasoning && returns(x.Opaque.Data)
}

// answered reports whether what comes after a reasoning item goes back too: an
// item without the one that it led to is refused.
func (e *encoder) answered(rest oh.Blocks) bool {
	for _, x := range rest {
		switch x := x.(type) {
		case oh.Text:
			if !body.Blank(x.Text) {
				return true
			}
		case oh.ToolUse:
			return true
		case oh.Unknown:
			return false
		}
	}
	return false
}

// whole reports whether a reply goes back as it came. Only then are the items'
// ids sent: a service that made them refuses one whose reasoning is missing.
func (e *encoder) whole(blocks oh.Blocks) bool {
	for i, x := range blocks {
		switch x := x.(type) {
		case oh.Thinking:
			if !e.home(x) || !e.answered(blocks[i+1:]) {
				return false
			}
		case oh.Unknown:
			return false
		}
	}
	return true
}

// assistant encodes a reply, an item for each block. Each ends with a comma.
func (e *encoder) assistant(m *oh.Message) []byte {
	var out []byte
	whole := e.whole(m.Content) && !e.traits.NoTools
	for i := 0; i < len(m.Content); i++ {
		switch x := m.Content[i].(type) {
		case oh.Thinking:
			if e.home(x) && e.answered(m.Content[i+1:]) {
				out = append(body.AppendRaw(out, x.Opaque.Data, "{}"), ',')
			}
		case oh.Text:
			own := e.marked(x.Opaque)
			said := x.Text
			for own == (mark{}) && i+1 < len(m.Content) {
				next, ok := m.Content[i+1].(oh.Text)
				if !ok || e.marked(next.Opaque) != own {
					break
				}
				said = join(said, next.Text)
				i++
			}
			if !body.Blank(said) {
				out = e.said(out, said, own, madeID(m.ID, i), whole)
			}
		case oh.ToolUse:
			if e.traits.NoTools {
				out = e.said(out, note.Called(body.Name(x.Name), x.ID, string(body.AppendRaw(nil, x.Input, "{}"))), mark{}, madeID(m.ID, i), false)
			} else {
				out = e.call(out, x, whole)
			}
		}
	}
	if len(out) == 0 {
		out = e.said(out, note.EmptyMessage(), mark{}, madeID(m.ID, 0), false)
	}
	return out
}

// join joins texts, which are paragraphs of their own.
func join(a, b string) string {
	switch {
	case body.Blank(a):
		return b
	case body.Blank(b):
		return a
	}
	return a + "\n\n" + b
}

// madeID is an id for a message that has none of this service: strict servers
// demand one. It is the same whenever the message is sent; "" for a message
// that is not told from others.
func madeID(message string, block int) string {
	if message == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(message + "\x00" + strconv.Itoa(block)))
	return "msg_" + hex.EncodeToString(sum[:16])
}

func (e *encoder) said(out []byte, s string, own mark, made string, whole bool) []byte {
	id := made
	if whole && legal(own.ID, "msg") {
		id = own.ID
	}
	out = append(out, `{"type":"message","role":"assistant"`...)
	if id != "" {
		out = append(out, `,"id":`...)
		out = text.AppendJSON(out, id)
	}
	out = append(out, `,"status":"completed"`...)
	if own.Phase != "" {
		out = append(out, `,"phase":`...)
		out = text.AppendJSON(out, own.Phase)
	}
	out = append(out, `,"content":[{"type":"output_text","text":`...)
	return append(text.AppendJSON(out, s), `,"annotations":[]}]},`...)
}

func (e *encoder) call(out []byte, x oh.ToolUse, whole bool) []byte {
	out = append(out, `{"type":"function_call"`...)
	if own := e.marked(x.Opaque); whole && legal(own.ID, "fc") {
		out = append(out, `,"id":`...)
		out = text.AppendJSON(out, own.ID)
	}
	out = append(out, `,"call_id":`...)
	out = text.AppendJSON(out, x.ID)
	out = append(out, `,"name":`...)
	out = text.AppendJSON(out, body.Name(x.Name))
	out = append(out, `,"arguments":`...)
	out = text.AppendJSON(out, string(body.AppendRaw(nil, x.Input, "{}")))
	return append(out, `},`...)
}
