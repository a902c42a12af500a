package file

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh"
)

// ipynb is a notebook of nbformat 4, changed by splicing its JSON text: what is
// not named stays byte for byte.
type ipynb struct {
	data  []byte
	root  span
	cells span
	minor int
	unit  string // one step of indentation; "" when the text is on one line
	crlf  bool
}

const emptyNotebook = "{\n \"cells\": [],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n"

const (
	codeCell     = "code"
	markdownCell = "markdown"
)

func parseNotebook(data []byte) (*ipynb, error) {
	root, err := parseSpans(data)
	if err != nil {
		return nil, err
	}
	n := &ipynb{data: data, root: root, crlf: bytes.Contains(data, []byte("\r\n"))}
	if data[root.from] != '{' {
		return nil, errors.New("it is no notebook: its JSON is not an object")
	}
	if v, ok := root.member("nbformat"); !ok || string(v.raw(data)) != "4" {
		have := "none"
		if ok {
			have = string(v.raw(data))
		}
		return nil, fmt.Errorf("it is no notebook of nbformat 4 (nbformat: %.20s); older ones are converted by: jupyter nbconvert --to notebook", have)
	}
	if v, ok := root.member("nbformat_minor"); ok {
		if json.Unmarshal(v.raw(data), &n.minor) != nil {
			n.minor = 0
		}
	}
	cells, ok := root.member("cells")
	if !ok || data[cells.from] != '[' {
		return nil, errors.New("it is no notebook: it has no list of cells")
	}
	for i, c := range cells.kids {
		if data[c.from] != '{' {
			return nil, fmt.Errorf("it is no notebook: cell %d is not an object", i)
		}
	}
	n.cells = cells
	if len(root.keyAt) > 0 {
		gap := data[root.from+1 : root.keyAt[0]]
		if i := bytes.LastIndexByte(gap, '\n'); i >= 0 {
			n.unit = string(gap[i+1:])
			if n.unit == "" {
				n.unit = " "
			}
		}
	}
	return n, nil
}

// count is how many cells there are.
func (n *ipynb) count() int { return len(n.cells.kids) }

// cellType returns the type of a cell.
func (n *ipynb) cellType(i int) string {
	v, _ := n.cells.kids[i].member("cell_type")
	return v.text(n.data)
}

// id returns the id of a cell, "" when it has none.
func (n *ipynb) id(i int) string {
	v, _ := n.cells.kids[i].member("id")
	return v.text(n.data)
}

// source returns the source of a cell, and whether it is kept as one string
// rather than as a list of lines.
func (n *ipynb) source(i int) (src string, whole bool) {
	v, ok := n.cells.kids[i].member("source")
	if !ok {
		return "", false
	}
	var list []string
	if json.Unmarshal(v.raw(n.data), &list) == nil {
		return strings.Join(list, ""), false
	}
	return v.text(n.data), true
}

// encodeSource is a source as JSON, as one string or as a list of lines.
func encodeSource(src string, whole bool) ([]byte, error) {
	if whole {
		return oh.Marshal(src)
	}
	return oh.Marshal(slices.AppendSeq([]string{}, strings.Lines(src)))
}

// indentAt returns the white space that the line of an offset begins with.
func (n *ipynb) indentAt(off int) string {
	line := n.data[bytes.LastIndexByte(n.data[:off], '\n')+1 : off]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// lay writes compact JSON the way the notebook is written, for a place whose
// line begins with prefix.
func (n *ipynb) lay(compact []byte, prefix string) []byte {
	if n.unit == "" {
		return compact
	}
	var b bytes.Buffer
	if json.Indent(&b, compact, prefix, n.unit) != nil {
		return compact
	}
	return b.Bytes()
}

// splice replaces a part of the text.
func (n *ipynb) splice(from, to int, repl string) []byte {
	if n.crlf {
		repl = strings.ReplaceAll(unix(repl), "\n", "\r\n")
	}
	out := make([]byte, 0, len(n.data)+len(repl))
	out = append(out, n.data[:from]...)
	out = append(out, repl...)
	return append(out, n.data[to:]...)
}

// member is a key of an object with its value as JSON text.
type member struct {
	key string
	raw []byte
	own bool // taken from the notebook as it is
}

// setCell returns the text with another type and source for a cell; what is
// kept of the last run of a code cell is cleared.
func (n *ipynb) setCell(i int, kind, src string) ([]byte, error) {
	c := n.cells.kids[i]
	_, whole := n.source(i)
	enc, err := encodeSource(src, whole)
	if err != nil {
		return nil, err
	}
	var list []member
	for k, key := range c.keys {
		list = append(list, member{key, c.kids[k].raw(n.data), true})
	}
	list = put(list, "cell_type", []byte(`"`+kind+`"`))
	list = put(list, "source", enc)
	if kind == codeCell {
		list = drops(list, "attachments")
		list = put(list, "execution_count", []byte("null"))
		list = put(list, "outputs", []byte("[]"))
	} else {
		list = drops(list, "execution_count", "outputs")
	}
	outer := n.indentAt(c.from)
	return n.splice(c.from, c.to, n.object(list, outer)), nil
}

// put sets a member, a new one where the order of keys wants it.
func put(list []member, key string, raw []byte) []member {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].key == key {
			if !bytes.Equal(list[i].raw, raw) {
				list[i] = member{key, raw, false}
			}
			return list
		}
	}
	at := len(list)
	for i := range list {
		if list[i].key > key {
			at = i
			break
		}
	}
	return slices.Insert(list, at, member{key, raw, false})
}

func drops(list []member, keys ...string) []member {
	return slices.DeleteFunc(list, func(m member) bool { return slices.Contains(keys, m.key) })
}

// object writes members; outer is the indentation of the line it begins on.
func (n *ipynb) object(list []member, outer string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
			if n.unit == "" {
				b.WriteByte(' ')
			}
		}
		if n.unit != "" {
			b.WriteString("\n" + outer + n.unit)
		}
		key, err := oh.Marshal(m.key)
		if err != nil {
			key = []byte(`""`)
		}
		b.Write(key)
		b.WriteString(": ")
		if m.own {
			b.Write(m.raw)
		} else {
			b.Write(n.lay(m.raw, outer+n.unit))
		}
	}
	if n.unit != "" {
		b.WriteString("\n" + outer)
	}
	b.WriteByte('}')
	return b.String()
}

// newCell is the members of a fresh cell.
func (n *ipynb) newCell(kind, src string) ([]member, error) {
	whole := false
	if n.count() > 0 {
		_, whole = n.source(0)
	}
	enc, err := encodeSource(src, whole)
	if err != nil {
		return nil, err
	}
	list := []member{{key: "cell_type", raw: []byte(`"` + kind + `"`)}, {key: "metadata", raw: []byte("{}")}, {key: "source", raw: enc}}
	if kind == codeCell {
		list = put(list, "execution_count", []byte("null"))
		list = put(list, "outputs", []byte("[]"))
	}
	if n.minor >= 5 {
		id := make([]byte, 4)
		if _, err := rand.Read(id); err != nil {
			return nil, err
		}
		list = put(list, "id", []byte(`"`+hex.EncodeToString(id)+`"`))
	}
	return list, nil
}

// insertCell returns the text with a new cell at an index up to the count.
func (n *ipynb) insertCell(i int, kind, src string) ([]byte, error) {
	list, err := n.newCell(kind, src)
	if err != nil {
		return nil, err
	}
	outer := n.indentAt(n.cells.from)
	if n.count() == 0 {
		inner := n.object(list, outer+n.unit)
		if n.unit == "" {
			return n.splice(n.cells.from, n.cells.to, "["+inner+"]"), nil
		}
		return n.splice(n.cells.from, n.cells.to, "[\n"+outer+n.unit+inner+"\n"+outer+"]"), nil
	}
	gap := ", "
	prefix := n.indentAt(n.cells.kids[0].from)
	if n.unit != "" {
		gap = ",\n" + prefix
	}
	text := n.object(list, prefix)
	if i == n.count() {
		end := n.cells.kids[i-1].to
		return n.splice(end, end, gap+text), nil
	}
	at := n.cells.kids[i].from
	return n.splice(at, at, text+gap), nil
}

// deleteCell returns the text without a cell.
func (n *ipynb) deleteCell(i int) []byte {
	kids := n.cells.kids
	switch {
	case len(kids) == 1:
		return n.splice(n.cells.from, n.cells.to, "[]")
	case i == 0:
		return n.splice(kids[0].from, kids[1].from, "")
	}
	return n.splice(kids[i-1].to, kids[i].to, "")
}
