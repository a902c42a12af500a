package bridge

import (
	"encoding/json"
	"slices"

	"github.com/openharness/oh/internal/text"
)

// object is a JSON object that knows the order of its members, so that what is
// written is the same at any time and near to what was read. A value is nil, a
// bool, a json.Number, a string, a []any or an *object; values are shared
// between trees and not changed, but for an object by who made it.
type object struct {
	names  []string
	values []any
	at     map[string]int // where a name is; only in objects of many members
}

// few is how many members are looked through one by one.
const few = 16

func newObject() *object { return &object{} }

func (o *object) index(name string) int {
	if o.at != nil {
		if i, ok := o.at[name]; ok {
			return i
		}
		return -1
	}
	return slices.Index(o.names, name)
}

func (o *object) get(name string) any {
	if i := o.index(name); i >= 0 {
		return o.values[i]
	}
	return nil
}

func (o *object) has(name string) bool { return o.index(name) >= 0 }

// set replaces a member in its place or appends it.
func (o *object) set(name string, v any) {
	if i := o.index(name); i >= 0 {
		o.values[i] = v
		return
	}
	o.names, o.values = append(o.names, name), append(o.values, v)
	switch {
	case o.at != nil:
		o.at[name] = len(o.names) - 1
	case len(o.names) > few:
		o.number()
	}
}

// setFirst puts a member in its place or before all others.
func (o *object) setFirst(name string, v any) {
	if i := o.index(name); i >= 0 {
		o.values[i] = v
		return
	}
	o.names, o.values = slices.Insert(o.names, 0, name), slices.Insert(o.values, 0, v)
	o.number()
}

// rename gives a member that is there another name, unless that is taken.
func (o *object) rename(from, to string) {
	if i := o.index(from); i >= 0 && !o.has(to) {
		o.names[i] = to
		o.number()
	}
}

func (o *object) drop(names ...string) {
	for _, name := range names {
		if i := o.index(name); i >= 0 {
			o.names, o.values = slices.Delete(o.names, i, i+1), slices.Delete(o.values, i, i+1)
			o.number()
		}
	}
}

// number notes where the members are after they moved.
func (o *object) number() {
	o.at = nil
	if len(o.names) > few {
		o.at = make(map[string]int, len(o.names))
		for i, name := range o.names {
			o.at[name] = i
		}
	}
}

// clone copies an object, not its members.
func (o *object) clone() *object {
	out := &object{names: slices.Clone(o.names), values: slices.Clone(o.values)}
	out.number()
	return out
}

// object returns a member that is an object, or nil.
func (o *object) object(name string) *object { m, _ := o.get(name).(*object); return m }

// list returns a member that is a list, or nil.
func (o *object) list(name string) []any { l, _ := o.get(name).([]any); return l }

// text returns a member that is a string, or "".
func (o *object) text(name string) string { s, _ := o.get(name).(string); return s }

// strings returns the strings of a member that is a list, each once.
func (o *object) strings(name string) []string {
	var out []string
	for _, x := range unique(o.list(name)) {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// unique returns the values of a list, each once, in their order; the list
// itself when it has none twice.
func unique(list []any) []any {
	seen := make(map[string]bool, len(list))
	var out []any
	for i, x := range list {
		key := string(write(nil, x))
		switch {
		case !seen[key] && out != nil:
			out = append(out, x)
		case seen[key] && out == nil:
			out = append([]any{}, list[:i]...)
		}
		seen[key] = true
	}
	if out == nil {
		return list
	}
	return out
}

func anyOf(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// write appends a value as compact JSON.
func write(out []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...)
	case bool:
		if v {
			return append(out, "true"...)
		}
		return append(out, "false"...)
	case json.Number:
		return append(out, v...)
	case string:
		return text.AppendJSON(out, v)
	case []any:
		out = append(out, '[')
		for i, x := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = write(out, x)
		}
		return append(out, ']')
	case *object:
		out = append(out, '{')
		for i, name := range v.names {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(text.AppendJSON(out, name), ':')
			out = write(out, v.values[i])
		}
		return append(out, '}')
	}
	return out
}

// equal reports whether two values are the same, with the order of members.
func equal(a, b any) bool {
	switch a := a.(type) {
	case *object:
		o, ok := b.(*object)
		return ok && slices.Equal(a.names, o.names) && slices.EqualFunc(a.values, o.values, equal)
	case []any:
		list, ok := b.([]any)
		return ok && slices.EqualFunc(a, list, equal)
	}
	_, isObject := b.(*object)
	_, isList := b.([]any)
	return !isObject && !isList && a == b
}
