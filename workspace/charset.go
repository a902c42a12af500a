package workspace

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Charset is how the text of a file is encoded.
type Charset int

// The charsets.
const (
	UTF8    Charset = iota // also what is only mostly UTF-8
	UTF8BOM                // with a byte order mark
	UTF16LE                // with a byte order mark
	UTF16BE
	CP1252 // also Latin-1: not UTF-8, one byte a character
	Binary // no text
)

// String names the charset.
func (c Charset) String() string {
	return [...]string{"UTF-8", "UTF-8 with BOM", "UTF-16LE", "UTF-16BE", "Windows-1252", "binary"}[c]
}

const (
	bom8    = "\xef\xbb\xbf"
	bom16le = "\xff\xfe"
	bom16be = "\xfe\xff"
)

// Sniff tells the charset by the head of a file. whole says that head is all
// of it; else a character cut off at the end is no error.
func Sniff(head []byte, whole bool) Charset {
	switch {
	case bytes.HasPrefix(head, []byte(bom8)) && bytes.IndexByte(head, 0) < 0:
		return UTF8BOM
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return Binary
	case bytes.HasPrefix(head, []byte(bom16le)):
		return UTF16LE
	case bytes.HasPrefix(head, []byte(bom16be)):
		return UTF16BE
	case bytes.IndexByte(head, 0) >= 0:
		return Binary
	}
	valid, bad, control := 0, 0, 0
	for i := 0; i < len(head); {
		if c := head[i]; c < utf8.RuneSelf {
			if c < 7 || c > 13 && c < 27 || c == 127 {
				control++
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(head[i:])
		if r != utf8.RuneError || n > 1 {
			valid++
		} else if !whole && !utf8.FullRune(head[i:]) {
			break
		} else {
			bad++
		}
		i += n
	}
	switch {
	case control > len(head)/20, bad > 0 && control > len(head)/100:
		return Binary
	case bad > 0 && valid == 0:
		return CP1252
	}
	return UTF8
}

// Mark returns the byte order mark of a charset, nil when it has none.
func (c Charset) Mark() []byte {
	switch c {
	case UTF8BOM:
		return []byte(bom8)
	case UTF16LE:
		return []byte(bom16le)
	case UTF16BE:
		return []byte(bom16be)
	}
	return nil
}

// high holds what Windows-1252 has in 0x80 to 0x9F; the five unused bytes
// stand for themselves, so that every byte sequence survives a round trip.
const high = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

// DecodeLine returns a line of a UTF-8 or one-byte file as UTF-8. Lines that
// are not UTF-8 are taken for Windows-1252, which guessed tells.
func DecodeLine(line []byte) (text string, guessed bool) {
	if utf8.Valid(line) {
		return string(line), false
	}
	return decodeHigh(line), true
}

func decodeHigh(data []byte) string {
	table := []rune(high)
	var b strings.Builder
	b.Grow(len(data) + len(data)/8)
	for _, c := range data {
		if c >= 0x80 && c <= 0x9f {
			b.WriteRune(table[c-0x80])
		} else {
			b.WriteRune(rune(c))
		}
	}
	return b.String()
}

// Encode returns text in the charset, without a byte order mark; false when
// the charset lacks one of its characters.
func (c Charset) Encode(text string) ([]byte, bool) {
	switch c {
	case UTF16LE, UTF16BE:
		units := utf16.Encode([]rune(text))
		out := make([]byte, 0, 2*len(units))
		for _, u := range units {
			if c == UTF16LE {
				out = append(out, byte(u), byte(u>>8))
			} else {
				out = append(out, byte(u>>8), byte(u))
			}
		}
		return out, utf8.ValidString(text)
	case CP1252:
		return encodeHigh(text)
	}
	return []byte(text), c != Binary
}

func encodeHigh(text string) ([]byte, bool) {
	table := []rune(high)
	out := make([]byte, 0, len(text))
next:
	for _, r := range text {
		if r < 0x80 || r > 0x9f && r <= 0xff {
			out = append(out, byte(r))
			continue
		}
		for i, h := range table {
			if r == h {
				out = append(out, byte(0x80+i))
				continue next
			}
		}
		return nil, false
	}
	return out, true
}

// DecodeUTF16 returns the text of a UTF-16 file with its byte order mark; false
// when it would not survive the way back (an odd byte, a lone surrogate).
func DecodeUTF16(data []byte, c Charset) (string, bool) {
	var b bytes.Buffer
	if _, err := b.ReadFrom(NewReader(bytes.NewReader(data), c)); err != nil {
		return "", false
	}
	back, ok := c.Encode(b.String())
	return b.String(), ok && bytes.Equal(back, data[len(c.Mark()):])
}

// NewReader returns a reader of the UTF-8 form of a UTF-16 file, without its
// byte order mark. What cannot be decoded becomes U+FFFD. Any other charset is
// passed on as it is, but for the mark of UTF-8.
func NewReader(r io.Reader, c Charset) io.Reader {
	switch c {
	case UTF16LE, UTF16BE:
		return &utf16Reader{r: r, big: c == UTF16BE, mark: true}
	case UTF8BOM:
		return &skipReader{r: r, n: len(bom8)}
	}
	return r
}

// skipReader leaves out the first n bytes.
type skipReader struct {
	r io.Reader
	n int
}

func (s *skipReader) Read(p []byte) (int, error) {
	if s.n > 0 {
		if _, err := io.CopyN(io.Discard, s.r, int64(s.n)); err != nil {
			return 0, err
		}
		s.n = 0
	}
	return s.r.Read(p)
}

type utf16Reader struct {
	r    io.Reader
	big  bool
	mark bool // the byte order mark is still to come
	buf  [32 << 10]byte
	have int    // bytes of buf not decoded yet
	out  []byte // decoded, not yet read
	err  error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		n, err := u.r.Read(u.buf[u.have:])
		u.have += n
		u.err = err
		u.decode()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode turns the complete characters of buf into out.
func (u *utf16Reader) decode() {
	u.out = u.out[:0:0]
	i := 0
	for i+1 < u.have {
		r := rune(u.unit(i))
		if utf16.IsSurrogate(r) {
			if i+3 >= u.have && u.err == nil {
				break
			}
			low := rune(0)
			if i+3 < u.have {
				low = rune(u.unit(i + 2))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		i += 2
		if !(u.mark && r == 0xFEFF) {
			u.out = utf8.AppendRune(u.out, r)
		}
		u.mark = false
	}
	if u.err != nil && i < u.have {
		u.out = utf8.AppendRune(u.out, utf8.RuneError)
		i = u.have
	}
	u.have = copy(u.buf[:], u.buf[i:u.have])
}

func (u *utf16Reader) unit(i int) uint16 {
	if u.big {
		return uint16(u.buf[i])<<8 | uint16(u.buf[i+1])
	}
	return uint16(u.buf[i+1])<<8 | uint16(u.buf[i])
}
