package bridge

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// parse reads a JSON value. twice reports that an object has two members of
// one name; the last counts.
func parse(raw []byte) (v any, twice bool, err error) {
	var whole json.RawMessage
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, false, err
	}
	p := parser{rest: raw}
	v, err = p.value(0)
	return v, p.twice, err
}

// parser reads what is known to be valid JSON.
type parser struct {
	rest  []byte
	twice bool
}

// next skips white space, commas and colons and returns the byte after them.
func (p *parser) next() byte {
	for i, c := range p.rest {
		switch c {
		case ' ', '\t', '\r', '\n', ',', ':':
		default:
			p.rest = p.rest[i:]
			return c
		}
	}
	p.rest = nil
	return 0
}

func (p *parser) value(depth int) (any, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("it nests deeper than %d", maxNesting)
	}
	switch c := p.next(); c {
	case '{':
		return p.object(depth)
	case '[':
		return p.list(depth)
	case '"':
		return p.text(), nil
	case 't':
		p.rest = p.rest[len("true"):]
		return true, nil
	case 'f':
		p.rest = p.rest[len("false"):]
		return false, nil
	case 'n':
		p.rest = p.rest[len("null"):]
		return nil, nil
	}
	return p.number(), nil
}

func (p *parser) object(depth int) (any, error) {
	o := newObject()
	p.rest = p.rest[1:]
	for p.next() != '}' {
		name := p.text()
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		p.twice = p.twice || o.has(name)
		o.set(name, v)
	}
	p.rest = p.rest[1:]
	return o, nil
}

func (p *parser) list(depth int) (any, error) {
	list := []any{}
	p.rest = p.rest[1:]
	for p.next() != ']' {
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	p.rest = p.rest[1:]
	return list, nil
}

// text reads a string. Half characters and broken bytes become U+FFFD.
func (p *parser) text() string {
	end, plain := 1, true
	for p.rest[end] != '"' {
		if p.rest[end] == '\\' {
			plain = false
			end++
		}
		end++
	}
	raw := p.rest[:end+1]
	p.rest = p.rest[end+1:]
	if plain && utf8.Valid(raw) {
		return string(raw[1:end])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // valid, see parse
	return s
}

func (p *parser) number() json.Number {
	end := 0
	for end < len(p.rest) {
		switch c := p.rest[end]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			end++
			continue
		}
		break
	}
	n := json.Number(p.rest[:end])
	p.rest = p.rest[end:]
	return n
}
