package claude

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/openharness/oh"
)

// object is a JSON object whose members keep their order and bytes.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// parse reads a JSON object. Of members with the same name the last counts, as
// it does for every reader of such input.
func parse(raw json.RawMessage) (object, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	o := object{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, false
		}
		m := member{key: t.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, false
		}
		o = append(o.without(m.key), m)
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return o, true
}

func (o object) index(key string) int {
	for i, m := range o {
		if m.key == key {
			return i
		}
	}
	return -1
}

func (o object) without(key string) object {
	if i := o.index(key); i >= 0 {
		return append(o[:i:i], o[i+1:]...)
	}
	return o
}

func (o object) bytes() json.RawMessage {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(m.key)...), ':'), m.value...)
	}
	return append(out, '}')
}

func quote(s string) json.RawMessage {
	b, err := oh.Marshal(s)
	if err != nil { // a string always encodes
		return json.RawMessage(`""`)
	}
	return b
}

// translate renames and converts members, outward to Claude's fields or inward
// to ours. Where two members get one name, the field's own beats an alias, and
// both beat a member that is in no row.
func translate(o object, fields []field, outward bool) object {
	out := make(object, 0, len(o))
	ranks := make([]int, 0, len(o))
	for _, m := range o {
		m, rank := translateMember(m, fields, outward)
		if i := out.index(m.key); i >= 0 {
			if rank > ranks[i] {
				out[i], ranks[i] = m, rank
			}
			continue
		}
		out, ranks = append(out, m), append(ranks, rank)
	}
	return out
}

func translateMember(m member, fields []field, outward bool) (member, int) {
	for _, f := range fields {
		from, to, aliases, conv := f.ours, f.claude, f.oursToo, f.to
		if !outward {
			from, to, aliases, conv = f.claude, f.ours, f.olderToo, f.from
		}
		rank := 0
		if m.key == from {
			rank = 2
		} else if contains(aliases, m.key) {
			rank = 1
		} else {
			continue
		}
		value := m.value
		if conv != nil {
			value = conv(value)
		}
		if f.each != nil {
			value = translateEach(value, f.each, outward)
		}
		return member{to, value}, rank
	}
	return m, 0
}

func translateEach(raw json.RawMessage, fields []field, outward bool) json.RawMessage {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || items == nil {
		return raw
	}
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		if o, ok := parse(item); ok {
			item = translate(o, fields, outward).bytes()
		}
		out = append(out, item...)
	}
	return append(out, ']')
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}
