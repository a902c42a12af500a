package text

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Clean returns s as plain text: terminal escape sequences and control bytes
// are gone (but for tab and newline), CR LF and lone CR are newlines, and
// invalid UTF-8 is U+FFFD.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var out strings.Builder
	c := Cleaner{W: &out}
	_, _ = io.WriteString(&c, s)
	_ = c.Close()
	return out.String()
}

func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < ' ' && b != '\n' && b != '\t' || b == 0x7f || b >= 0x80 {
			return cleanRunes(s[i:])
		}
	}
	return true
}

func cleanRunes(s string) bool {
	for i, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return false
		}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return false
			}
		}
	}
	return true
}

// Cleaner is a writer that passes on what [Clean] would make of the whole,
// however the input is cut. Close passes on what was held back for a cut
// character. Memory is bounded by the size of one write.
type Cleaner struct {
	W io.Writer

	held  []byte // an unfinished character
	state escState
	cr    bool // a CR was seen and may be followed by LF
	out   []byte
}

type escState int

const (
	plain  escState = iota
	esc             // after ESC
	escInt          // after ESC and an intermediate byte
	csi             // in a control sequence
	osc             // in a string that BEL or ST ends
	oscEsc          // in such a string, after ESC
)

// Write implements [io.Writer].
func (c *Cleaner) Write(p []byte) (int, error) {
	n := len(p)
	if len(c.held) > 0 {
		p = append(c.held, p...)
		c.held = nil
	}
	c.out = c.out[:0]
	for len(p) > 0 {
		if n := c.passes(p); n > 0 {
			c.out = append(c.out, p[:n]...)
			p = p[n:]
			continue
		}
		if p[0] < utf8.RuneSelf {
			c.step(rune(p[0]))
			p = p[1:]
			continue
		}
		if !utf8.FullRune(p) {
			c.held = append([]byte(nil), p...)
			break
		}
		r, size := utf8.DecodeRune(p)
		c.step(r)
		p = p[size:]
	}
	_, err := c.W.Write(c.out)
	return n, err
}

// passes is how many bytes at the start of p are whole characters that come out
// as they are. It exists because commands print by the hundred megabytes.
func (c *Cleaner) passes(p []byte) int {
	if c.cr || c.state != plain {
		return 0
	}
	for i := 0; i < len(p); {
		switch b := p[i]; {
		case b >= ' ' && b < 0x7f || b == '\n' || b == '\t':
			i++
		case b < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRune(p[i:])
			if r < 0xa0 || size == 1 {
				return i
			}
			i += size
		}
	}
	return len(p)
}

// Close passes on what is still held back. It does not close W.
func (c *Cleaner) Close() error {
	c.out = c.out[:0]
	for range c.held {
		c.step(utf8.RuneError)
	}
	c.held = nil
	if c.cr {
		c.cr = false
		c.out = append(c.out, '\n')
	}
	_, err := c.W.Write(c.out)
	return err
}

func (c *Cleaner) step(r rune) {
	if c.cr {
		c.cr = false
		c.out = append(c.out, '\n')
		if r == '\n' {
			return
		}
	}
	switch c.state {
	case plain:
		c.plainStep(r)
	case esc:
		switch {
		case r == '[':
			c.state = csi
		case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
			c.state = osc
		case r >= 0x20 && r <= 0x2f:
			c.state = escInt
		default:
			c.state = plain
		}
	case escInt:
		if r < 0x20 || r > 0x2f {
			c.state = plain
		}
	case csi:
		switch {
		case r >= 0x40 && r <= 0x7e:
			c.state = plain
		case r == '\n' || r >= 0x80: // not a sequence after all
			c.state = plain
			c.plainStep(r)
		}
	case osc:
		switch r {
		case 0x07, 0x9c:
			c.state = plain
		case 0x1b:
			c.state = oscEsc
		case '\n':
			c.state = plain
			c.out = append(c.out, '\n')
		}
	case oscEsc:
		c.state = plain
		if r != '\\' {
			c.state = esc
			c.step(r)
		}
	}
}

func (c *Cleaner) plainStep(r rune) {
	switch {
	case r == 0x1b:
		c.state = esc
	case r == 0x9b:
		c.state = csi
	case r == '\r':
		c.cr = true
	case r == '\n' || r == '\t' || r >= 0x20 && r < 0x7f || r >= 0xa0:
		c.out = utf8.AppendRune(c.out, r)
	}
}
