package plain

import (
	"strings"
	"unicode"
)

// wrap breaks the lines of t between words so that they fit into width columns;
// what goes on begins with hang. A word that is too long stays whole, so that
// a path or an address can be copied. A width of 0 breaks nothing. t holds no
// escape codes.
func wrap(t string, width int, hang string) string {
	if width <= 0 {
		return t
	}
	var b strings.Builder
	for line := range strings.Lines(t) {
		wrapLine(&b, line, width, hang)
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, width int, hang string) {
	col, words := 0, 0
	for line != "" {
		begin := len(line) - len(strings.TrimLeft(line, " "))
		end := strings.IndexByte(line[begin:], ' ')
		if end < 0 {
			end = len(line) - begin
		}
		gap, word := line[:begin], line[begin:begin+end]
		line = line[begin+end:]
		need := columns(gap) + columns(word)
		if words > 0 && word != "" && col+need > width {
			b.WriteString("\n" + hang + word)
			col = columns(hang) + columns(word)
		} else {
			b.WriteString(gap + word)
			col += need
		}
		if word != "" {
			words++
		}
	}
}

// columns is the width of s on a terminal, as far as that can be told without
// asking it.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case r < ' ' || r == 0x7f || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		case isWide(r):
			n += 2
		default:
			n++
		}
	}
	return n
}

// isWide knows the scripts of East Asia and most emoji.
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 ||
		r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd)
}
