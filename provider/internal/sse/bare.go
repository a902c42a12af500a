package sse

import (
	"bytes"
	"encoding/json"
)

// maxBare is the length in bytes of the longest bare text: it is an error.
const maxBare = 64 << 10

// bare is a JSON object that stands between events without being data of one:
// Google's services, and gateways like them, tell so that a stream failed.
type bare struct {
	text            []byte
	depth           int
	quoted, escaped bool
}

// take takes a line and reports whether it belongs to the object. A line that
// is a field of an event, or one too many, ends an object that is not whole.
func (b *bare) take(line []byte) bool {
	if len(b.text) == 0 && !bytes.HasPrefix(line, []byte{'{'}) {
		return false
	}
	if isField(line) || len(b.text)+len(line) >= maxBare {
		*b = bare{}
		return false
	}
	b.text = append(append(b.text, line...), '\n')
	for _, c := range line {
		switch {
		case b.escaped:
			b.escaped = false
		case c == '\\':
			b.escaped = b.quoted
		case c == '"':
			b.quoted = !b.quoted
		case b.quoted:
		case c == '{', c == '[':
			b.depth++
		case c == '}', c == ']':
			b.depth--
		}
	}
	if b.depth <= 0 && !json.Valid(b.text) {
		*b = bare{}
	}
	return true
}

// whole reports whether the object is closed.
func (b *bare) whole() bool { return len(b.text) > 0 && b.depth <= 0 }

func isField(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte{':'})
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return ok
	}
	return false
}
