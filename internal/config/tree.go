package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// tree is a settings file that is being edited. Comments and layout stay.
type tree struct {
	file string
	data []byte
	root hujson.Value
}

const indentStep = "  "

func newTree(file string, data []byte) (*tree, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if _, fault := parse(data); fault != nil {
		fault.File = file
		return nil, fault
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, &Error{File: file, Problem: err.Error()}
	}
	return &tree{file: file, data: data, root: root}, nil
}

func (t *tree) pack() []byte { return t.root.Pack() }

func (t *tree) empty() bool {
	o, ok := t.root.Value.(*hujson.Object)
	return ok && len(o.Members) == 0
}

// member returns the last member of that name.
func member(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() == name {
			return &o.Members[i]
		}
	}
	return nil
}

// open walks to the object that holds the last name of path. Without create it
// returns nil when something on the way is not there.
func (t *tree) open(path []string, create bool) (*hujson.Object, string, error) {
	at, indent := &t.root, ""
	for i, name := range path {
		o, ok := at.Value.(*hujson.Object)
		if !ok {
			line := 1 + bytes.Count(t.data[:min(at.StartOffset, len(t.data))], []byte("\n"))
			return nil, "", &Error{File: t.file, Line: line, Key: strings.Join(path[:i], "."), Problem: "is no object, so nothing can be set in it; correct it by hand"}
		}
		if i == len(path)-1 {
			return o, indent, nil
		}
		m := member(o, name)
		if m == nil {
			if !create {
				return nil, "", nil
			}
			m = addMember(o, name, indent)
			m.Value.Value = &hujson.Object{}
		}
		indent = indentOf(m.Name.BeforeExtra, indent+indentStep)
		at = &m.Value
	}
	return nil, "", fmt.Errorf("edit %s: no key is given", t.file)
}

// indentOf returns the white space of a line's begin, as it stands before a
// member.
func indentOf(before hujson.Extra, fallback string) string {
	i := bytes.LastIndexByte(before, '\n')
	if i < 0 {
		return fallback
	}
	return string(before[i+1:])
}

func (t *tree) set(path []string, value json.RawMessage) error {
	o, indent, err := t.open(path, true)
	if err != nil {
		return err
	}
	name := path[len(path)-1]
	m := member(o, name)
	if m == nil {
		m = addMember(o, name, indent)
	}
	v, err := laidOut(value, indentOf(m.Name.BeforeExtra, indent+indentStep))
	if err != nil {
		return fmt.Errorf("edit %s: %w", t.file, err)
	}
	m.Value.Value = v
	return nil
}

func laidOut(value json.RawMessage, indent string) (hujson.ValueTrimmed, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, indentStep); err != nil {
		return nil, err
	}
	v, err := hujson.Parse(b.Bytes())
	if err != nil {
		return nil, err
	}
	return v.Value, nil
}

// addMember appends a member without a value. indent is that of the object.
func addMember(o *hujson.Object, name, indent string) *hujson.ObjectMember {
	var last *hujson.Extra
	trailing := false
	if n := len(o.Members); n > 0 {
		last = &o.Members[n-1].Name.BeforeExtra
		trailing = o.Members[n-1].Value.AfterExtra != nil
	}
	before := appendPlace(last, &o.AfterExtra, indent)
	m := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: before, Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" ")},
	}
	if trailing {
		o.Members[len(o.Members)-1].Value.AfterExtra = nil
		m.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, m)
	return &o.Members[len(o.Members)-1]
}

// appendPlace makes room at the end of an object or list: it returns what goes
// before the new member, with the comments that stood before the closing
// bracket, and sets what stands there from now on. last is what goes before the
// member so far last, nil for none.
func appendPlace(last, after *hujson.Extra, indent string) hujson.Extra {
	kept := bytes.TrimRight(*after, " \t\r\n")
	if last != nil && !bytes.ContainsRune(*last, '\n') && !bytes.ContainsRune(*after, '\n') {
		return append(kept, ' ')
	}
	inner := indent + indentStep
	if last != nil {
		inner = indentOf(*last, inner)
	}
	closing := indent
	if i := bytes.LastIndexByte(*after, '\n'); i >= 0 && last != nil {
		closing = string((*after)[i+1:])
		if strings.Trim(closing, " \t") != "" {
			closing = indent
		}
	}
	*after = hujson.Extra("\n" + closing)
	return append(kept, "\n"+inner...)
}

func (t *tree) unset(path []string) error {
	o, _, err := t.open(path, false)
	if err != nil || o == nil {
		return err
	}
	name := path[len(path)-1]
	for i := len(o.Members) - 1; i >= 0; i-- {
		if o.Members[i].Name.Value.(hujson.Literal).String() != name {
			continue
		}
		wasLast := i == len(o.Members)-1
		trailing := o.Members[i].Value.AfterExtra
		o.Members = append(o.Members[:i], o.Members[i+1:]...)
		if wasLast && i > 0 {
			o.Members[i-1].Value.AfterExtra = trailing
		}
	}
	return nil
}

func (t *tree) list(path []string, create bool) (*hujson.Array, string, error) {
	o, indent, err := t.open(path, create)
	if err != nil || o == nil {
		return nil, "", err
	}
	name := path[len(path)-1]
	m := member(o, name)
	if m == nil {
		if !create {
			return nil, "", nil
		}
		m = addMember(o, name, indent)
		m.Value.Value = &hujson.Array{}
	}
	if l, ok := m.Value.Value.(hujson.Literal); ok && l.Kind() == 'n' && create {
		m.Value.Value = &hujson.Array{}
	}
	a, ok := m.Value.Value.(*hujson.Array)
	if !ok {
		return nil, "", &Error{File: t.file, Key: strings.Join(path, "."), Problem: "is no list; correct it by hand"}
	}
	return a, indentOf(m.Name.BeforeExtra, indent+indentStep), nil
}

func (t *tree) add(path []string, value json.RawMessage) error {
	a, indent, err := t.list(path, true)
	if err != nil {
		return err
	}
	want := textOf(value)
	for i := range a.Elements {
		if l, ok := a.Elements[i].Value.(hujson.Literal); ok && l.Kind() == '"' && l.String() == want {
			return nil
		}
	}
	var last *hujson.Extra
	trailing := false
	if n := len(a.Elements); n > 0 {
		last = &a.Elements[n-1].BeforeExtra
		trailing = a.Elements[n-1].AfterExtra != nil
	}
	e := hujson.Value{BeforeExtra: appendPlace(last, &a.AfterExtra, indent), Value: hujson.Literal(value)}
	if trailing {
		a.Elements[len(a.Elements)-1].AfterExtra = nil
		e.AfterExtra = hujson.Extra{}
	}
	a.Elements = append(a.Elements, e)
	return nil
}

func textOf(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

func (t *tree) drop(path []string, text string) error {
	a, _, err := t.list(path, false)
	if err != nil || a == nil {
		return err
	}
	for i := len(a.Elements) - 1; i >= 0; i-- {
		l, ok := a.Elements[i].Value.(hujson.Literal)
		if !ok || l.Kind() != '"' || l.String() != text {
			continue
		}
		wasLast := i == len(a.Elements)-1
		trailing := a.Elements[i].AfterExtra
		a.Elements = append(a.Elements[:i], a.Elements[i+1:]...)
		if wasLast && i > 0 {
			a.Elements[i-1].AfterExtra = trailing
		}
	}
	return nil
}
