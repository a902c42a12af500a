package delta

import (
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"
)

// half is the length of half a character as [Piece] writes it: as UTF-8 would
// be for a surrogate if it were legal.
const half = 3

// Piece decodes a raw JSON string as [String] does, but keeps what a service
// that cuts between the two escapes of one character leaves: a low half at the
// start and a high half at the end. Only [Seam.Join] may have such a string.
func Piece(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if s, rest, ok := unquote(raw[1:]); ok && len(rest) == 0 {
		return s, true
	}
	if !json.Valid(raw) {
		return "", false
	}
	in := raw[1 : len(raw)-1]
	var head, tail []byte
	if r, ok := unit(in); ok && isLow(r) {
		head, in = appendHalf(nil, r), in[6:]
	}
	if r, ok := lastUnit(in); ok && isHigh(r) {
		tail, in = appendHalf(nil, r), in[:len(in)-6]
	}
	var s string
	err := json.Unmarshal(append(append([]byte{'"'}, in...), '"'), &s)
	return string(head) + s + string(tail), err == nil
}

// lastUnit reads the \uXXXX at the end of b.
func lastUnit(b []byte) (rune, bool) {
	i := len(b) - 6
	if i < 0 {
		return 0, false
	}
	escapes := 0
	for j := i - 1; j >= 0 && b[j] == '\\'; j-- {
		escapes++
	}
	if escapes%2 == 1 {
		return 0, false // the backslash is itself escaped
	}
	return unit(b[i:])
}

func isHigh(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLow(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

func appendHalf(dst []byte, r rune) []byte {
	return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
}

// readHalf reads the half character that b is, 0 when it is none.
func readHalf(b string) rune {
	if len(b) != half || b[0] != 0xed || b[1] < 0xa0 || b[1] > 0xbf || b[2]&0xc0 != 0x80 {
		return 0
	}
	return rune(b[0]&0x0f)<<12 | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f)
}

// Text is a string member of an event, decoded by [Piece]. What is no string
// is empty.
type Text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Text) UnmarshalJSON(raw []byte) error {
	s, _ := Piece(raw)
	*t = Text(s)
	return nil
}

// Seam joins the pieces of one text where a character was cut in two. The zero
// value is ready.
type Seam struct{ high rune }

// Join returns a piece of [Piece] as plain UTF-8, with the half that was held
// before it. A half at its end is held; one that finds no other is U+FFFD.
func (s *Seam) Join(piece string) string {
	if piece == "" {
		return ""
	}
	start := s.high
	low := rune(0)
	if len(piece) >= half {
		if low = readHalf(piece[:half]); !isLow(low) {
			low = 0
		}
	}
	if start == 0 && low == 0 && (len(piece) < half || readHalf(piece[len(piece)-half:]) == 0) {
		return piece
	}
	var out []byte
	s.high = 0
	switch {
	case low != 0 && start != 0:
		out = utf8.AppendRune(out, utf16.DecodeRune(start, low))
	case low != 0 || start != 0:
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	if low != 0 {
		piece = piece[half:]
	}
	if n := len(piece) - half; n >= 0 {
		if r := readHalf(piece[n:]); isHigh(r) {
			s.high, piece = r, piece[:n]
		}
	}
	return string(append(out, piece...))
}

// Flush returns what stands for a half that is still held at the end of the
// text: U+FFFD, or nothing.
func (s *Seam) Flush() string {
	if s.high == 0 {
		return ""
	}
	s.high = 0
	return string(utf8.RuneError)
}
