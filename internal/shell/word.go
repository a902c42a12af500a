package shell

import (
	"strings"
	"unicode/utf8"
)

// word is one word of a command after expansion. In val, characters below are
// marks for what is not plain text; src is the word as it is written.
type word struct {
	val, src string
	loose    bool // an unquoted file name: may fall into several words, each perhaps an option
}

// The marks. A line that holds one of these characters itself is not analysed.
const (
	one   = '\x00' // unknown text within one word
	many  = '\x01' // unknown text that may be no word or several
	star  = '\x02' // * of a pattern
	quest = '\x03' // ? of a pattern
	brack = '\x04' // [ of a pattern
	fresh = '\x05' // the path of a new temporary file
	tilde = '\x06' // ~ of somebody's home
	digit = '\x07' // a number
	marks = "\x00\x01\x02\x03\x04\x05\x06\x07"
)

// known reports whether val is plain text.
func known(val string) bool { return !strings.ContainsAny(val, marks) }

// sure reports whether val is known but for patterns of file names and numbers.
func sure(val string) bool { return !strings.ContainsAny(val, "\x00\x01\x05\x06") }

// pattern reports whether val holds a pattern of file names.
func pattern(val string) bool { return strings.ContainsAny(val, "\x02\x03\x04") }

// show turns the marks into what a shell would write; unknown text is a dollar.
func show(val string) string {
	if known(val) {
		return val
	}
	var b strings.Builder
	for i := 0; i < len(val); i++ {
		switch val[i] {
		case one, many:
			b.WriteByte('$')
		case star:
			b.WriteByte('*')
		case quest:
			b.WriteByte('?')
		case brack:
			b.WriteByte('[')
		case tilde:
			b.WriteByte('~')
		case digit:
			b.WriteByte('0')
		case fresh:
			b.WriteString("$TMPFILE")
		default:
			b.WriteByte(val[i])
		}
	}
	return b.String()
}

// empty is val with unknown text taken away: what it is when a variable is not
// set.
func empty(val string) string {
	return strings.NewReplacer("\x00", "", "\x01", "").Replace(val)
}

// text is the word for Argv.
func (w word) text() string {
	if sure(w.val) {
		return show(w.val)
	}
	return w.src
}

// quoted is the word for Text.
func (w word) quoted() string {
	switch {
	case !sure(w.val) || pattern(w.val):
		return w.src
	case w.val == "":
		return "''"
	case strings.Trim(w.val, plainBytes) == "":
		return w.val
	}
	s := show(w.val)
	if strings.Trim(s, plainBytes) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+^~{}"

func joinQuoted(words []word) string {
	return join(words, word.quoted)
}

func joinText(words []word) string {
	return join(words, word.text)
}

func join(words []word, f func(word) string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f(w))
	}
	return b.String()
}

// ansi decodes what stands in $'...'. What cannot be told is a mark.
func ansi(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'n', 't', 'r', 'f', 'v', 'a', 'b', 'e', 'E':
			plainRune(&b, rune("\n\t\r\f\v\a\b\x1b\x1b"[strings.IndexByte("ntrfvabeE", c)]))
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		case 'x':
			n, w := number(s[i:], 16, 2)
			i += w
			if w > 0 {
				b.WriteString(oneByte(n))
			} else {
				b.WriteByte(one)
			}
		case 'u', 'U':
			size := 4
			if c == 'U' {
				size = 8
			}
			n, w := number(s[i:], 16, size)
			i += w
			if w == 0 || n > utf8.MaxRune {
				b.WriteByte(one)
			} else {
				plainRune(&b, rune(n))
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n, w := number(s[i-1:], 8, 3)
			i += w - 1
			b.WriteString(oneByte(n & 0xff))
		default:
			b.WriteByte(one) // a control character, or no escape at all
		}
	}
	return b.String()
}

func oneByte(n int) string {
	if n < 8 {
		return string(rune(one))
	}
	return string([]byte{byte(n)})
}

func plainRune(b *strings.Builder, c rune) {
	if c < 8 {
		c = one
	}
	b.WriteRune(c)
}

// number reads at most max digits.
func number(s string, base, max int) (n, width int) {
	for width < max && width < len(s) {
		d := strings.IndexByte("0123456789abcdefABCDEF", s[width])
		if d > 15 {
			d -= 6
		}
		if d < 0 || d >= base {
			break
		}
		n = n*base + d
		width++
	}
	return n, width
}
