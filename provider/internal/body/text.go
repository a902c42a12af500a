// Package body writes the JSON bodies of requests: strings and raw messages
// that are valid UTF-8 without half characters whatever they were made of, and
// a body put together from pieces that are kept between requests, so that a
// long history is not copied or encoded again.
package body

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string. Nothing but what JSON demands is
// escaped; bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// AppendRaw appends a raw JSON message, byte for byte but for what no service
// accepts: invalid UTF-8 and escaped lone surrogates become U+FFFD. An empty
// message is appended as empty ({} or null, as the caller says).
func AppendRaw(dst, raw []byte, empty string) []byte {
	if len(bytes.TrimSpace(raw)) == 0 {
		return append(dst, empty...)
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return append(dst, raw...)
	}
	return appendPaired(dst, raw)
}

// appendPaired copies raw and replaces each \u escape of a surrogate that is
// not half of a pair.
func appendPaired(dst, raw []byte) []byte {
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 >= len(raw) {
			dst = append(dst, raw[i])
			i++
			continue
		}
		n := 2
		if u := unit(raw[i:]); u >= 0xd800 && u < 0xe000 {
			if low := unit(raw[min(i+6, len(raw)):]); u < 0xdc00 && low >= 0xdc00 && low < 0xe000 {
				n = 12
			} else {
				dst = append(dst, `\ufffd`...)
				i += 6
				continue
			}
		}
		dst = append(dst, raw[i:i+n]...)
		i += n
	}
	return dst
}

// unit reads the \uXXXX at the start of b; -1 when there is none.
func unit(b []byte) int {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n := 0
	for _, c := range b[2:6] {
		d := strings.IndexByte(hex, c|0x20)
		if c < 'A' {
			d = strings.IndexByte(hex, c)
		}
		if d < 0 {
			return -1
		}
		n = n<<4 | d
	}
	return n
}

// Blank reports whether s is empty or white space only, which some services
// refuse as text.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }
