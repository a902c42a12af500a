package file

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	outputChars   = 2000 // characters shown of one output of a cell
	notebookViews = 8    // images shown of one page of a notebook
)

// multiline is text that a notebook keeps as a string or as a list of strings.
type multiline string

// UnmarshalJSON implements [json.Unmarshaler]. What is neither form is kept as
// its JSON text.
func (m *multiline) UnmarshalJSON(data []byte) error {
	var list []string
	var one string
	switch {
	case json.Unmarshal(data, &one) == nil:
		*m = multiline(one)
	case json.Unmarshal(data, &list) == nil:
		*m = multiline(strings.Join(list, ""))
	default:
		*m = multiline(data)
	}
	return nil
}

// cellOutput is what running a cell gave.
type cellOutput struct {
	Kind      string                     `json:"output_type"`
	Name      string                     `json:"name"`
	Text      multiline                  `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Error     string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// view is a document as lines for a model, some of which stand for an image.
type view struct {
	lines  []string
	of     string           // what is said of the whole when only a part is made
	images map[int]oh.Image // by line
	cut    int              // outputs that were shortened
}

// renderNotebook shows the cells of a notebook with their outputs.
func renderNotebook(data []byte) (*view, error) {
	n, err := parseNotebook(data)
	if err != nil {
		return nil, err
	}
	v := &view{images: map[int]oh.Image{}}
	v.lines = append(v.lines, fmt.Sprintf("[Notebook of %s, nbformat 4.%d%s. Change cells with notebook_edit.]", text.Plural(n.count(), "cell"), n.minor, language(n)))
	for i := range n.count() {
		kind := n.cellType(i)
		head := fmt.Sprintf("--- cell %d, %s", i, text.OneLine(kind, 20))
		if id := n.id(i); id != "" {
			head += ", id " + text.OneLine(id, 64)
		}
		v.lines = append(v.lines, head)
		src, _ := n.source(i)
		v.add(src)
		if kind == codeCell {
			v.outputs(n, i)
		}
	}
	return v, nil
}

// language names the language of a notebook, "" when it is not told.
func language(n *ipynb) string {
	md, _ := n.root.member("metadata")
	for _, path := range [][2]string{{"language_info", "name"}, {"kernelspec", "language"}} {
		info, _ := md.member(path[0])
		if v, ok := info.member(path[1]); ok {
			if s := v.text(n.data); s != "" {
				return ", " + text.OneLine(s, 40)
			}
		}
	}
	return ""
}

func (v *view) add(s string) {
	for line := range strings.Lines(strings.ToValidUTF8(s, "\ufffd")) {
		line = strings.TrimRight(line, "\r\n")
		if n := utf8.RuneCountInString(line); n > maxLine {
			line = text.Head(line, maxLine) + fmt.Sprintf("… (+%s characters)", text.Number(n-maxLine))
		}
		v.lines = append(v.lines, line)
	}
}

func (v *view) outputs(n *ipynb, i int) {
	list, ok := n.cells.kids[i].member("outputs")
	if !ok {
		return
	}
	for _, s := range list.kids {
		var out cellOutput
		if err := json.Unmarshal(s.raw(n.data), &out); err != nil {
			v.lines = append(v.lines, fmt.Sprintf("--- output of cell %d: cannot be read: %v", i, err))
			continue
		}
		switch {
		case out.Kind == "stream":
			v.lines = append(v.lines, fmt.Sprintf("--- output of cell %d, %s", i, text.OneLine(out.Name, 20)))
			v.short(string(out.Text))
		case out.Kind == "error":
			v.lines = append(v.lines, fmt.Sprintf("--- output of cell %d, error", i))
			v.short(out.Error + ": " + out.Value + "\n" + strings.Join(out.Traceback, "\n"))
		default:
			v.lines = append(v.lines, fmt.Sprintf("--- output of cell %d", i))
			v.data(out)
		}
	}
}

// data shows the richest form of a result that a model can take: an image, else
// plain text, else any text; the other forms are only named.
func (v *view) data(out cellOutput) {
	best := ""
	for _, kind := range []string{"image/png", "image/jpeg", "image/gif", "image/webp", "text/plain", "text/markdown", "text/html", "application/json"} {
		if _, ok := out.Data[kind]; ok {
			best = kind
			break
		}
	}
	var others []string
	for kind, raw := range out.Data {
		if kind != best {
			others = append(others, fmt.Sprintf("%s (%s bytes)", text.OneLine(kind, 60), text.Number(len(raw))))
		}
	}
	slices.Sort(others)
	switch {
	case strings.HasPrefix(best, "image/"):
		v.image(best, out.Data[best])
	case best != "":
		var s multiline
		if s.UnmarshalJSON(out.Data[best]) == nil {
			v.short(string(s))
		}
	}
	if len(others) > 0 {
		v.lines = append(v.lines, "[also: "+strings.Join(others[:min(len(others), 5)], ", ")+"]")
	}
}

func (v *view) image(kind string, raw json.RawMessage) {
	var s multiline
	if err := s.UnmarshalJSON(raw); err != nil {
		return
	}
	data, err := decodeBase64(string(s))
	if err != nil {
		v.lines = append(v.lines, fmt.Sprintf("[%s, broken: %v]", kind, err))
		return
	}
	v.images[len(v.lines)] = oh.Image{MediaType: kind, Data: data}
	v.lines = append(v.lines, fmt.Sprintf("[%s, %s bytes]", kind, text.Number(len(data))))
}

// short adds an output, its middle left out when it is long.
func (v *view) short(s string) {
	s = text.Clean(s)
	if n := utf8.RuneCountInString(s); n > outputChars {
		v.cut++
		s = text.Head(s, outputChars/2) + fmt.Sprintf("\n… (%s characters left out)\n", text.Number(n-outputChars)) + text.Tail(s, outputChars/2)
	}
	v.add(s)
}

// page returns a part of the view as blocks: lines from offset on, with the
// images among them, and what it left out.
func (v *view) page(offset, limit int) oh.Blocks {
	var out oh.Blocks
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, oh.Text{Text: strings.TrimSuffix(b.String(), "\n")})
			b.Reset()
		}
	}
	at, chars, images := min(offset, len(v.lines)), 0, 0
	for ; at < len(v.lines) && at < offset+limit && chars <= maxChars; at++ {
		b.WriteString(v.lines[at] + "\n")
		chars += utf8.RuneCountInString(v.lines[at]) + 1
		img, ok := v.images[at]
		if !ok {
			continue
		}
		if images == notebookViews {
			b.WriteString("(not shown: there are too many images on this page)\n")
			continue
		}
		images++
		fit, err := fitImage(img)
		if err != nil {
			b.WriteString("(not shown: " + err.Error() + ")\n")
			continue
		}
		flush()
		out = append(out, fit.image)
	}
	switch {
	case at < len(v.lines):
		of := v.of
		if of == "" {
			of = fmt.Sprintf(" of %d of this view", len(v.lines))
		}
		fmt.Fprintf(&b, "[Lines %d-%d%s. Go on with offset=%d.]", offset+1, at, of, at)
	case offset >= len(v.lines):
		fmt.Fprintf(&b, "[The view has %s; offset %d is past its end.]", text.Plural(len(v.lines), "line"), offset)
	}
	flush()
	return out
}
