package bedrock

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/note"
)

// message encodes one message. Its last bytes close the content and the message.
func (e *encoder) message(m *oh.Message) []byte {
	role := oh.User
	if m.Role == oh.Assistant {
		role = oh.Assistant
	}
	out := append([]byte(nil), `{"role":"`+role+`","content":[`...)
	start := len(out)
	var results []oh.ToolResult
	var rest oh.Blocks
	for _, x := range m.Content {
		if r, ok := x.(oh.ToolResult); ok {
			results = append(results, r)
		} else {
			rest = append(rest, x)
		}
	}
	w := writer{encoder: e, id: m.ID}
	for i, r := range results {
		if e.traits.NoTools {
			out = w.told(out, r)
			continue
		}
		if e.family.apart && i == len(results)-1 {
			r.Content = append(slices.Clone(r.Content), rest...)
			rest = nil
		}
		out = w.result(out, r)
	}
	end := len(out) // of what a message may end with: models refuse one that ends in reasoning
	for _, x := range rest {
		before := len(out)
		if out = w.block(out, x); len(out) > before && !isThinking(x) {
			end = len(out)
		}
	}
	out = out[:end]
	if w.lone != "" && !w.said {
		out = textBlock(out, w.lone)
	}
	if len(out) == start {
		out = textBlock(out, note.EmptyMessage())
	}
	out[len(out)-1] = ']' // in place of the last comma
	return append(out, '}')
}

func isThinking(x oh.Block) bool { _, ok := x.(oh.Thinking); return ok }

// writer writes the blocks of one message.
type writer struct {
	*encoder
	id    string // of the message
	files int    // counts its documents

	// The service takes no document without a text beside it: lone is what is
	// said where there is none.
	lone string
	said bool
}

// block appends a block and a comma, or nothing for what is not sent.
func (w *writer) block(out []byte, x oh.Block) []byte {
	switch x := x.(type) {
	case oh.Text:
		if body.Blank(x.Text) {
			return out
		}
		w.said = true
		return textBlock(out, x.Text)
	case oh.Image:
		return w.image(out, x)
	case oh.Document:
		return w.document(out, x)
	case oh.Thinking:
		return w.thought(out, x)
	case oh.ToolUse:
		if w.traits.NoTools {
			return textBlock(out, note.Called(body.Name(x.Name), callID(x.ID), string(body.AppendRaw(nil, x.Input, "{}"))))
		}
		out = append(out, `{"toolUse":{"toolUseId":`...)
		out = text.AppendJSON(out, callID(x.ID))
		out = append(out, `,"name":`...)
		out = text.AppendJSON(out, body.Name(x.Name))
		out = append(out, `,"input":`...)
		return append(body.AppendRaw(out, x.Input, "{}"), `}},`...)
	}
	return out
}

func textBlock(out []byte, s string) []byte {
	out = append(out, `{"text":`...)
	return append(text.AppendJSON(out, s), `},`...)
}

// callID returns an id that the service takes: letters, digits, _ and -, at
// most 64. An id of a history is such a one.
func callID(id string) string {
	ok := id != "" && len(id) <= 64
	for i := 0; ok && i < len(id); i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	if ok {
		return id
	}
	return "call_" + digest(id)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:6])
}

func (w *writer) result(out []byte, r oh.ToolResult) []byte {
	out = append(out, `{"toolResult":{"toolUseId":`...)
	out = text.AppendJSON(out, callID(r.ToolUseID))
	out = append(out, `,"content":[`...)
	start := len(out)
	lone, said := w.lone, w.said
	for _, x := range r.Content {
		switch x.(type) {
		case oh.Text, oh.Image, oh.Document:
			out = w.block(out, x)
		}
	}
	w.lone, w.said = lone, said
	if len(out) == start {
		out = textBlock(out, note.EmptyResult())
	}
	out[len(out)-1] = ']'
	if r.IsError && w.family.status {
		out = append(out, `,"status":"error"`...)
	}
	return append(out, `}},`...)
}

// told appends a result for a model that takes no tools: its text after a note,
// then all else.
func (w *writer) told(out []byte, r oh.ToolResult) []byte {
	text := body.Joined(r.Content)
	if text == "" {
		text = note.EmptyResult()
	}
	out, w.said = textBlock(out, note.Answered(callID(r.ToolUseID), text)), true
	for _, x := range r.Content {
		switch x.(type) {
		case oh.Image, oh.Document:
			out = w.block(out, x)
		}
	}
	return out
}

func (e *encoder) image(out []byte, x oh.Image) []byte {
	media := body.ImageType(x.MediaType)
	if e.traits.NoImages || media == "" || len(x.Data) == 0 {
		return textBlock(out, note.LeftOut(x.MediaType))
	}
	out = append(out, `{"image":{"format":"`+strings.TrimPrefix(media, "image/")+`"`...)
	return append(source(out, x.Data), `}},`...)
}

func source(out, data []byte) []byte {
	out = append(out, `,"source":{"bytes":"`...)
	return append(base64.StdEncoding.AppendEncode(out, data), `"}`...)
}

func (w *writer) document(out []byte, x oh.Document) []byte {
	format := documentFormat(x.MediaType, x.Name)
	if format == "" || len(x.Data) == 0 || format == "txt" && body.Blank(string(x.Data)) {
		return textBlock(out, note.LeftOut(strings.TrimSpace(x.MediaType+" "+x.Name)))
	}
	w.files++
	if w.lone == "" {
		w.lone = lineOf(x.Name)
	}
	out = append(out, `{"document":{"format":"`+format+`","name":`...)
	out = text.AppendJSON(out, documentName(x.Name, w.id+"\x00"+strconv.Itoa(w.files)))
	return append(source(out, x.Data), `}},`...)
}

// lineOf is a name as text, which is never blank.
func lineOf(name string) string {
	if body.Blank(name) {
		return "document"
	}
	return name
}

// documentFormat names the format of a document as the service does, "" for
// one that it does not take.
func documentFormat(media, name string) string {
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	switch media = strings.TrimSpace(media); media {
	case "application/pdf":
		return "pdf"
	case "text/csv":
		return "csv"
	case "text/html":
		return "html"
	case "text/markdown":
		return "md"
	case "application/msword":
		return "doc"
	case "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
		return "docx"
	case "application/vnd.ms-excel":
		return "xls"
	case "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
		return "xlsx"
	}
	if strings.HasPrefix(media, "text/") {
		if ext := strings.ToLower(path.Ext(name)); ext == ".md" || ext == ".csv" || ext == ".html" {
			return ext[1:]
		}
		return "txt"
	}
	return ""
}

// documentName returns a name that the service takes: letters, digits, single
// spaces and hyphens, and no other document of the request has it. The same
// document of a history always gets the same.
func documentName(name, place string) string {
	name = strings.TrimSuffix(path.Base(name), path.Ext(name))
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
	})
	clean := strings.Join(words, " ")
	if clean == "" {
		clean = "document"
	}
	return clean[:min(len(clean), 100)] + "-" + digest(place)
}

// opaque is what this wire keeps with a thinking block.
type opaque struct {
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"` // base64, as it came
}

// thought appends a thinking block to the service that signed it, and nothing
// to any other.
func (e *encoder) thought(out []byte, x oh.Thinking) []byte {
	var o opaque
	if x.Opaque == nil || x.Opaque.Origin != e.origin || e.traits.NoReasoning || !e.family.thoughtful || json.Unmarshal(x.Opaque.Data, &o) != nil {
		return out
	}
	switch {
	case o.Redacted != "":
		out = append(out, `{"reasoningContent":{"redactedContent":`...)
		return append(text.AppendJSON(out, o.Redacted), `}},`...)
	case o.Signature != "":
		out = append(out, `{"reasoningContent":{"reasoningText":{"text":`...)
		out = text.AppendJSON(out, x.Text)
		out = append(out, `,"signature":`...)
		return append(text.AppendJSON(out, o.Signature), `}}},`...)
	}
	return out
}
