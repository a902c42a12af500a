package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// span is a value of a JSON text, by where it stands: so that one value can be
// replaced and every other byte be kept.
type span struct {
	from, to int
	keys     []string // of an object
	keyAt    []int    // where each key begins
	kids     []span   // members of an object, items of an array
}

// parseSpans takes a JSON text apart. The error names line and column.
func parseSpans(data []byte) (span, error) {
	if !json.Valid(data) {
		var x json.RawMessage
		err := json.Unmarshal(data, &x)
		var syn *json.SyntaxError
		if !errors.As(err, &syn) {
			return span{}, fmt.Errorf("it is not valid JSON: %w", err)
		}
		at := min(max(int(syn.Offset)-1, 0), len(data))
		line := 1 + bytes.Count(data[:at], []byte("\n"))
		col := at - bytes.LastIndexByte(data[:at], '\n')
		return span{}, fmt.Errorf("it is not valid JSON: line %d, column %d: %w", line, col, err)
	}
	p := spanner{data: data}
	return p.value(), nil
}

// spanner goes through a text that is known to be valid.
type spanner struct {
	data []byte
	at   int
}

func (p *spanner) space() {
	for p.at < len(p.data) && (p.data[p.at] == ' ' || p.data[p.at] == '\t' || p.data[p.at] == '\n' || p.data[p.at] == '\r') {
		p.at++
	}
}

func (p *spanner) value() span {
	p.space()
	s := span{from: p.at}
	switch p.data[p.at] {
	case '{', '[':
		p.inside(&s)
	case '"':
		p.str()
	default:
		for p.at < len(p.data) && !bytes.ContainsRune([]byte(",]} \t\r\n"), rune(p.data[p.at])) {
			p.at++
		}
	}
	s.to = p.at
	return s
}

// inside reads what an object or array holds.
func (p *spanner) inside(s *span) {
	object := p.data[p.at] == '{'
	p.at++
	for {
		p.space()
		switch p.data[p.at] {
		case '}', ']':
			p.at++
			return
		case ',':
			p.at++
			continue
		}
		if object {
			s.keyAt = append(s.keyAt, p.at)
			s.keys = append(s.keys, p.str())
			p.space()
			p.at++ // the colon
		}
		s.kids = append(s.kids, p.value())
	}
}

// str passes a string and returns what it says.
func (p *spanner) str() string {
	from := p.at
	for p.at++; p.data[p.at] != '"'; p.at++ {
		if p.data[p.at] == '\\' {
			p.at++
		}
	}
	p.at++
	var out string
	if json.Unmarshal(p.data[from:p.at], &out) != nil {
		return ""
	}
	return out
}

// member returns the last member of a name, as JSON readers do.
func (s span) member(name string) (span, bool) {
	for i := len(s.keys) - 1; i >= 0; i-- {
		if s.keys[i] == name {
			return s.kids[i], true
		}
	}
	return span{}, false
}

func (s span) raw(data []byte) []byte { return data[s.from:s.to] }

// text returns the string that a value is; "" for any other.
func (s span) text(data []byte) string {
	var out string
	if json.Unmarshal(s.raw(data), &out) != nil {
		return ""
	}
	return out
}
