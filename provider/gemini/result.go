package gemini

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/note"
)

const pdf = "application/pdf"

// parts is the content of a message.
type parts struct{ out []byte }

func (p *parts) empty() bool { return len(p.out) == 0 }

func (p *parts) begin() {
	if !p.empty() {
		p.out = append(p.out, ',')
	}
}

// text adds a text, unless it says nothing and is not signed.
func (p *parts) text(s, signature string) {
	if body.Blank(s) && signature == "" {
		return
	}
	p.begin()
	p.out = append(p.out, `{"text":`...)
	p.out = text.AppendJSON(p.out, s)
	p.sign(signature)
}

func (p *parts) thought(s, signature string) {
	if s == "" && signature == "" {
		return
	}
	p.begin()
	p.out = append(p.out, `{"text":`...)
	p.out = append(text.AppendJSON(p.out, s), `,"thought":true`...)
	p.sign(signature)
}

func (p *parts) call(u oh.ToolUse, id, signature string) {
	p.begin()
	p.out = append(p.out, `{"functionCall":{`...)
	p.id(id)
	p.out = append(p.out, `"name":`...)
	p.out = text.AppendJSON(p.out, body.Name(u.Name))
	p.out = append(p.out, `,"args":`...)
	p.out = append(body.AppendRaw(p.out, u.Input, "{}"), '}')
	p.sign(signature)
}

func (p *parts) id(id string) {
	if id != "" {
		p.out = append(p.out, `"id":`...)
		p.out = append(text.AppendJSON(p.out, id), ',')
	}
}

// sign ends a part, with its signature if it has one.
func (p *parts) sign(signature string) {
	if signature != "" {
		p.out = append(p.out, `,"thoughtSignature":`...)
		p.out = text.AppendJSON(p.out, signature)
	}
	p.out = append(p.out, '}')
}

// inline adds a file as it is.
func (p *parts) inline(media string, data []byte) {
	p.begin()
	p.out = append(p.out, `{"inlineData":{"mimeType":`...)
	p.out = append(text.AppendJSON(p.out, media), `,"data":"`...)
	p.out = append(base64.StdEncoding.AppendEncode(p.out, data), `"}}`...)
}

// user encodes what a user message holds: first the results in the order of
// their calls, which counts where calls have no ids, then the files of the
// results, then what the user said.
func (e *encoder) user(p *parts, m *oh.Message) {
	calls := e.callsBefore(m)
	results := resultsOf(m, calls)
	for _, r := range results {
		e.result(p, r, calls)
	}
	for _, r := range results {
		e.attached(p, r, calls)
	}
	for _, x := range m.Content {
		e.part(p, x)
	}
}

// callsBefore returns the calls that a message may answer. Messages are looked
// for from the end: it is the last ones that have not been encoded before.
func (e *encoder) callsBefore(m *oh.Message) []oh.ToolUse {
	for i := len(e.messages) - 1; i > 0; i-- {
		if &e.messages[i] == m {
			return e.messages[i-1].Content.ToolUses()
		}
	}
	return nil
}

// resultsOf returns the results of a message, in the order of the calls.
func resultsOf(m *oh.Message, calls []oh.ToolUse) []oh.ToolResult {
	var out []oh.ToolResult
	for _, x := range m.Content {
		if r, ok := x.(oh.ToolResult); ok {
			out = append(out, r)
		}
	}
	if len(out) < 2 {
		return out
	}
	place := make(map[string]int, len(calls))
	for i, u := range calls {
		place[u.ID] = i
	}
	slices.SortStableFunc(out, func(a, b oh.ToolResult) int {
		i, ok := place[a.ToolUseID]
		if !ok {
			i = len(calls)
		}
		j, ok := place[b.ToolUseID]
		if !ok {
			j = len(calls)
		}
		return i - j
	})
	return out
}

// name returns the tool that a result is of, and the id that the service gave
// the call.
func (e *encoder) name(r oh.ToolResult, calls []oh.ToolUse) (name, id string) {
	of := func(u oh.ToolUse) bool { return u.ID == r.ToolUseID }
	i := slices.IndexFunc(calls, of)
	for n := len(e.messages) - 1; i < 0 && n >= 0; n-- { // a history that is not legal
		calls = e.messages[n].Content.ToolUses()
		i = slices.IndexFunc(calls, of)
	}
	if i < 0 {
		return body.Name(r.ToolUseID), ""
	}
	return body.Name(calls[i].Name), e.id(calls[i])
}

// id returns the id that the service knows a call by, "" when it gave none. An id
// that an earlier call had, too, the conversation has changed.
func (e *encoder) id(u oh.ToolUse) string {
	var o opaque
	if !o.open(u.Opaque, e.origin) || o.ID == "" {
		return ""
	}
	if u.ID != oh.LegalID(o.ID) {
		return u.ID
	}
	return o.ID
}

func (e *encoder) result(p *parts, r oh.ToolResult, calls []oh.ToolUse) {
	if e.traits.NoTools {
		p.text(note.Answered(r.ToolUseID, e.said(r)), "")
		return
	}
	name, id := e.name(r, calls)
	p.begin()
	p.out = append(p.out, `{"functionResponse":{`...)
	p.id(id)
	p.out = append(p.out, `"name":`...)
	p.out = append(text.AppendJSON(p.out, name), `,"response":{`...)
	if r.IsError {
		p.out = append(p.out, `"error":`...)
	} else {
		p.out = append(p.out, `"output":`...)
	}
	p.out = append(text.AppendJSON(p.out, e.said(r)), '}')
	if e.traits.ResponseImages {
		if files := e.files(r); files != nil {
			p.out = append(p.out, `,"parts":[`...)
			p.out = append(append(p.out, files...), ']')
		}
	}
	p.out = append(p.out, `}}`...)
}

// said is a result in words: its texts, and what stands for files that are not
// sent.
func (e *encoder) said(r oh.ToolResult) string {
	var words []string
	for _, x := range r.Content {
		if s := e.words(x); !body.Blank(s) {
			words = append(words, s)
		}
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, "\n\n")
	case e.files(r) != nil:
		return note.Attached()
	}
	return note.EmptyResult()
}

// attached adds the files of a result where they cannot stand in it.
func (e *encoder) attached(p *parts, r oh.ToolResult, calls []oh.ToolUse) {
	if e.traits.ResponseImages && !e.traits.NoTools {
		return
	}
	files := e.files(r)
	if files == nil {
		return
	}
	name, _ := e.name(r, calls) // the model does not see our id
	if e.traits.NoTools {
		name = r.ToolUseID
	}
	p.text(note.FilesOf(name), "")
	p.begin()
	p.out = append(p.out, files...)
}

// files returns the parts of a result that are sent as they are, nil when there
// are none.
func (e *encoder) files(r oh.ToolResult) []byte {
	var files parts
	for _, x := range r.Content {
		e.file(&files, x)
	}
	return files.out
}

// part adds what a user message holds of a block, but for results.
func (e *encoder) part(p *parts, x oh.Block) {
	if !e.file(p, x) {
		p.text(e.words(x), "")
	}
}

// file adds an image or a document, if it is sent as it is.
func (e *encoder) file(p *parts, x oh.Block) bool {
	media, data := "", []byte(nil)
	switch x := x.(type) {
	case oh.Image:
		media, data = imageType(x.MediaType), x.Data
	case oh.Document:
		if strings.EqualFold(x.MediaType, pdf) {
			media, data = pdf, x.Data
		}
	}
	if media == "" || len(data) == 0 || e.traits.NoImages {
		return false
	}
	p.inline(media, data)
	return true
}

// words is what a block says in words; nothing for files that are sent.
func (e *encoder) words(x oh.Block) string {
	switch x := x.(type) {
	case oh.Text:
		return x.Text
	case oh.Image:
		if e.traits.NoImages || len(x.Data) == 0 || imageType(x.MediaType) == "" {
			return note.LeftOut(x.MediaType)
		}
	case oh.Document:
		if !strings.EqualFold(x.MediaType, pdf) || len(x.Data) == 0 || e.traits.NoImages {
			return note.Document(x)
		}
	}
	return ""
}

// imageType returns the media type of an image as the service writes it, "" for
// a kind that it does not take; it takes no GIF.
func imageType(media string) string {
	switch media = strings.ToLower(strings.TrimSpace(media)); media {
	case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif":
		return media
	case "image/jpg":
		return "image/jpeg"
	}
	return ""
}
