// Package delta reads the common event of a long stream cheaply: one that
// equals the event before it in everything but one string. The shape is learned
// from events that a codec has decoded in full and is proven by decoding it once
// more with a marker in the place of the string, so a match means exactly what
// the full decoding would have meant.
package delta

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// Template is a learned shape. The zero value matches nothing.
type Template struct {
	prefix, suffix []byte
	loose          bool // white space in the suffix does not matter
	learned        int
}

// maxLearned bounds the work on streams whose events never repeat a shape.
const maxLearned = 64

const marker = "\u2063proof\u2063"

// Match returns the string of an event that has the learned shape.
func (t *Template) Match(data []byte) (string, bool) {
	if len(t.prefix) == 0 || !bytes.HasPrefix(data, t.prefix) {
		return "", false
	}
	s, rest, ok := unquote(data[len(t.prefix):])
	if !ok || !t.ends(rest) {
		return "", false
	}
	return s, true
}

func (t *Template) ends(rest []byte) bool {
	if bytes.Equal(rest, t.suffix) {
		return true
	}
	if !t.loose {
		return false
	}
	i := 0
	for _, c := range rest {
		if c == ' ' {
			continue
		}
		if i == len(t.suffix) || t.suffix[i] != c {
			return false
		}
		i++
	}
	return i == len(t.suffix)
}

// Learn forgets the shape and makes data the new one, if the string member called key stands in it
// alone and pure confirms it: pure decodes an event in full and returns the string
// that it carries, and whether it carries nothing else that a codec would act
// on twice.
func (t *Template) Learn(data []byte, key string, pure func(data []byte) (string, bool)) {
	t.prefix, t.suffix = nil, nil
	if t.learned >= maxLearned {
		return
	}
	t.learned++
	i := bytes.Index(data, []byte(`"`+key+`":"`))
	if i < 0 {
		return
	}
	i += len(key) + 4
	_, rest, ok := unquote(data[i:])
	if !ok {
		return
	}
	proof := append(append(append([]byte(nil), data[:i]...), marker+`"`...), rest...)
	if s, ok := pure(proof); !ok || s != marker {
		return
	}
	t.prefix = bytes.Clone(data[:i])
	t.suffix = bytes.Clone(rest)
	t.loose = len(bytes.Trim(rest, "}] ")) == 0
	if t.loose {
		t.suffix = bytes.ReplaceAll(t.suffix, []byte(" "), nil)
	}
}

// unquote reads a JSON string whose opening quote is gone, and returns what
// follows its closing quote. It is not ok where encoding/json would fail or
// replace something.
func unquote(b []byte) (s string, rest []byte, ok bool) {
	ascii := true
	for i, c := range b {
		switch {
		case c == '"':
			if !ascii && !utf8.Valid(b[:i]) {
				return "", nil, false
			}
			return string(b[:i]), b[i+1:], true
		case c == '\\':
			return unescape(b, i)
		case c < ' ':
			return "", nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return "", nil, false
}

// unescape goes on where unquote met the first backslash, at i.
func unescape(b []byte, i int) (string, []byte, bool) {
	out := append(make([]byte, 0, len(b)), b[:i]...)
	for i < len(b) {
		switch c := b[i]; {
		case c == '"':
			return string(out), b[i+1:], utf8.Valid(out)
		case c < ' ':
			return "", nil, false
		case c != '\\':
			out = append(out, c)
			i++
		default:
			var n int
			if out, n = appendEscaped(out, b[i:]); n == 0 {
				return "", nil, false
			}
			i += n
		}
	}
	return "", nil, false
}

// appendEscaped appends what the escape at the start of b means, and returns
// its length; 0 when it is not legal or half of a pair.
func appendEscaped(out, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return out, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return append(out, b[1]), 2
	case 'n':
		return append(out, '\n'), 2
	case 't':
		return append(out, '\t'), 2
	case 'r':
		return append(out, '\r'), 2
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'u':
		return appendUnit(out, b)
	}
	return out, 0
}

func appendUnit(out, b []byte) ([]byte, int) {
	r, ok := unit(b)
	if !ok {
		return out, 0
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(out, r), 6
	}
	low, ok := unit(b[6:])
	if !ok {
		return out, 0
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return out, 0
	}
	return utf8.AppendRune(out, r), 12
}

func unit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// String decodes a raw JSON string; anything else gives false.
func String(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if s, rest, ok := unquote(raw[1:]); ok && len(rest) == 0 {
		return s, true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}
