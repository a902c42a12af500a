package search

import (
	"bytes"
	"strings"
)

// literal is text that a match holds.
type literal struct {
	text []byte // in lower case when fold
	fold bool   // ASCII letters match in either case
	rare int    // which byte of the text is looked for first
}

// common are the bytes of source text, the most frequent first. Bytes that are
// not named are rare.
const common = " etanirsoldcupmf\n\t.,()_=gh\"by;v0wk1:/-'x2[]{}*>j<qz"

func newLiteral(text string, fold bool) literal {
	l := literal{text: []byte(text), fold: fold}
	rarest := -1
	for i, c := range l.text {
		rank := strings.IndexByte(common, c)
		if rank < 0 {
			rank = len(common)
		}
		if rank > rarest {
			l.rare, rarest = i, rank
		}
	}
	return l
}

// tries is how many finds of the rare byte may lead to nothing before it counts
// as frequent, if they were close to each other.
const tries = 64

// index returns where the literal is first, -1 when it is not there.
func (l *literal) index(hay []byte) int {
	c := l.text[l.rare]
	if l.fold && c-'a' < 26 {
		return l.either(hay, c, c-'a'+'A')
	}
	for from, n := l.rare, 1; ; n++ {
		at := next(hay, from, c)
		if at < 0 {
			return -1
		}
		if l.here(hay, at-l.rare) {
			return at - l.rare
		}
		if from = at + 1; !l.fold && n > tries && from < n*16 {
			start := from - l.rare
			if i := bytes.Index(hay[start:], l.text); i >= 0 {
				return start + i
			}
			return -1
		}
	}
}

// either is index for a rare byte that may stand in either case.
func (l *literal) either(hay []byte, low, high byte) int {
	a, b := next(hay, l.rare, low), next(hay, l.rare, high)
	for {
		at := a
		if a < 0 || b >= 0 && b < a {
			at = b
		}
		if at < 0 {
			return -1
		}
		if l.here(hay, at-l.rare) {
			return at - l.rare
		}
		if at == a {
			a = next(hay, at+1, low)
		} else {
			b = next(hay, at+1, high)
		}
	}
}

// here reports whether the literal is at an offset, which is not negative.
func (l *literal) here(hay []byte, at int) bool {
	if len(hay)-at < len(l.text) {
		return false
	}
	hay = hay[at : at+len(l.text)]
	if !l.fold {
		return bytes.Equal(hay, l.text)
	}
	for i, c := range hay {
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		if c != l.text[i] {
			return false
		}
	}
	return true
}

// next returns where c is from an offset on, -1 when it is not there.
func next(hay []byte, from int, c byte) int {
	if from >= len(hay) {
		return -1
	}
	if i := bytes.IndexByte(hay[from:], c); i >= 0 {
		return from + i
	}
	return -1
}
