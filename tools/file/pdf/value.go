package pdf

import (
	"strconv"
)

// A value is nil, bool, float64, str, name, array, dict, ref, op or *stream.
type (
	value any
	str   []byte
	name  string
	op    string // a word that is no value: an operator
	array []value
	dict  map[name]value
	ref   int // number of an object; generations are not told apart
)

// stream is a dictionary with data, still encoded.
type stream struct {
	dict dict
	data []byte
}

// maxDepth bounds how deep values and references may nest.
const maxDepth = 60

// scanner reads values from bytes. It never fails: what makes no sense is
// passed over.
type scanner struct {
	data []byte
	at   int
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelim(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

func (s *scanner) skip() {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; {
		case isSpace(c):
			s.at++
		case c == '%':
			for s.at < len(s.data) && s.data[s.at] != '\n' && s.data[s.at] != '\r' {
				s.at++
			}
		default:
			return
		}
	}
}

func (s *scanner) peek(i int) byte {
	if s.at+i < len(s.data) {
		return s.data[s.at+i]
	}
	return 0
}

// next returns the next value; false at the end. With refs, "7 0 R" is one.
func (s *scanner) next(depth int, refs bool) (value, bool) {
	s.skip()
	if s.at >= len(s.data) {
		return nil, false
	}
	switch c := s.data[s.at]; {
	case depth > maxDepth && (c == '[' || c == '<'):
		s.at++
		return nil, true
	case c == '/':
		return s.name(), true
	case c == '(':
		return s.literal(), true
	case c == '<' && s.peek(1) == '<':
		s.at += 2
		return s.dict(depth, refs), true
	case c == '<':
		return s.hex(), true
	case c == '[':
		s.at++
		return s.array(depth, refs), true
	case c == '>' && s.peek(1) == '>':
		s.at += 2
		return op(">>"), true
	case isDelim(c):
		s.at++
		return op(c), true
	}
	word := s.word()
	n, ok := number(word)
	if !ok {
		switch word {
		case "true":
			return true, true
		case "false":
			return false, true
		case "null":
			return nil, true
		}
		return word, true
	}
	if refs {
		if r, ok := s.ref(n); ok {
			return r, true
		}
	}
	return n, true
}

// number reads a number, also such as --5 or 1.-2 that some programs write.
func number(w op) (float64, bool) {
	if w == "" || w[0] != '-' && w[0] != '+' && w[0] != '.' && !isDigit(w[0]) {
		return 0, false
	}
	end := 1
	for end < len(w) && (isDigit(w[end]) || w[end] == '.') {
		end++
	}
	for ; end > 0; end-- {
		if n, err := strconv.ParseFloat(string(w[:end]), 64); err == nil {
			return n, true
		}
	}
	return 0, true
}

// ref completes a reference that begins with the number n.
func (s *scanner) ref(n float64) (ref, bool) {
	if n < 1 || n > 1e8 || n != float64(int(n)) {
		return 0, false
	}
	back := s.at
	s.skip()
	gen := s.word()
	s.skip()
	if len(gen) == 0 || gen[0] < '0' || gen[0] > '9' || s.peek(0) != 'R' || s.at+1 < len(s.data) && !isSpace(s.data[s.at+1]) && !isDelim(s.data[s.at+1]) {
		s.at = back
		return 0, false
	}
	s.at++
	return ref(n), true
}

func (s *scanner) word() op {
	from := s.at
	for s.at < len(s.data) && !isSpace(s.data[s.at]) && !isDelim(s.data[s.at]) {
		s.at++
	}
	return op(s.data[from:s.at])
}

func (s *scanner) name() name {
	s.at++
	raw := []byte(s.word())
	out := raw[:0]
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) {
			if n, err := strconv.ParseUint(string(raw[i+1:i+3]), 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, raw[i])
	}
	return name(out)
}

func (s *scanner) literal() str {
	s.at++
	out := str{}
	for deep := 1; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case '(':
			deep++
		case ')':
			if deep--; deep == 0 {
				s.at++
				return out
			}
		case '\\':
			s.at++
			out = s.escape(out)
			continue
		}
		out = append(out, s.data[s.at])
	}
	s.at = len(s.data)
	return out
}

// escape reads what follows a backslash and stays on its last byte.
func (s *scanner) escape(out str) str {
	c := s.peek(0)
	switch c {
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case '\r':
		if s.peek(1) == '\n' {
			s.at++
		}
		return out
	case '\n':
		return out
	}
	if c < '0' || c > '7' {
		return append(out, c)
	}
	n := int(c - '0')
	for range 2 {
		d := s.peek(1)
		if d < '0' || d > '7' {
			break
		}
		n = n*8 + int(d-'0')
		s.at++
	}
	return append(out, byte(n))
}

func (s *scanner) hex() str {
	s.at++
	out := str{}
	half, have := byte(0), false
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		if c == '>' {
			s.at++
			break
		}
		n := byte(0)
		switch {
		case c >= '0' && c <= '9':
			n = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			n = c | 0x20 - 'a' + 10
		default:
			continue
		}
		if have {
			out = append(out, half<<4|n)
		}
		half, have = n, !have
	}
	if have {
		out = append(out, half<<4)
	}
	return out
}

func isOp(v value, word op) bool {
	w, ok := v.(op)
	return ok && w == word
}

func (s *scanner) array(depth int, refs bool) array {
	out := array{}
	for {
		v, ok := s.next(depth+1, refs)
		if !ok || isOp(v, "]") || depth > maxDepth {
			return out
		}
		if w, bad := v.(op); bad && (w == "endobj" || w == ">>") {
			return out
		}
		out = append(out, v)
	}
}

func (s *scanner) dict(depth int, refs bool) dict {
	out := dict{}
	for {
		k, ok := s.next(depth+1, refs)
		if !ok || isOp(k, ">>") || isOp(k, "endobj") || depth > maxDepth {
			return out
		}
		key, ok := k.(name)
		if !ok {
			continue
		}
		v, ok := s.next(depth+1, refs)
		if !ok || isOp(v, ">>") {
			return out
		}
		out[key] = v
	}
}
