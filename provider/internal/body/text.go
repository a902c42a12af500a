// Package body writes the JSON bodies of requests: strings and raw messages
// that are valid UTF-8 without half characters whatever they were made of, and
// a body put together from pieces that are kept between requests, so that a
// long history is not copied or encoded again.
package body

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
)

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
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

// Blank reports whether s is empty or white space only, which some services
// refuse as text.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Joined is the text among blocks, each a paragraph of its own.
func Joined(blocks oh.Blocks) string {
	var parts []string
	for _, x := range blocks {
		if t, ok := x.(oh.Text); ok && !Blank(t.Text) {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n\n")
}
