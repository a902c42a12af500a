package file

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"
)

// looseLimit bounds the texts, in bytes, that are taken apart into lines to
// find what is like old_str.
const looseLimit = 8 << 20

// loose makes the edit where old_str differs from whole lines of the file only
// in white space at the ends of lines, in the form of quotes, dashes and
// spaces, or by the same indentation on all. It must be the only such place.
// Anything else is refused, with what comes nearest.
func (e edit) loose(b *body, old, repl string) (edited, error) {
	if e.all || strings.TrimSpace(old) == "" || len(b.text) > looseLimit {
		return edited{}, e.noMatch(b, old)
	}
	t := newLines(b.text)
	want := newLines(old)
	for _, kind := range []struct {
		same func(have, want []string) (indent, bool)
		how  string
	}{
		{sameEnds, "when white space at the ends of lines is ignored"},
		{sameLook, "when typographic quotes, dashes and spaces count as plain ones"},
		{sameIndent, "when indentation is ignored; new_str was indented like the file"},
	} {
		var at []int
		var ind indent
		for i := 0; i+len(want.text) <= len(t.text); i++ {
			if x, ok := kind.same(t.text[i:i+len(want.text)], want.text); ok {
				at = append(at, i+1)
				ind = x
			}
		}
		switch len(at) {
		case 0:
			continue
		case 1:
			return edited{b.write(t.changes(at[0]-1, old, repl, ind)), 1, at, kind.how}, nil
		}
		return edited{}, fmt.Errorf("old_str does not occur exactly, and %s it occurs %d times (lines %s); give it exactly and with lines around it",
			strings.TrimPrefix(kind.how[:strings.IndexAny(kind.how+";", ";")], "when "), len(at), lineList(at, len(at)))
	}
	return edited{}, e.noMatch(b, old)
}

// lines is a text by its lines, without their ends.
type lines struct {
	text  []string
	start []int // offsets; one more than lines, the last is the text's length
}

func newLines(s string) lines {
	var l lines
	for at := 0; at < len(s); {
		end := strings.IndexByte(s[at:], '\n')
		l.start = append(l.start, at)
		if end < 0 {
			l.text = append(l.text, s[at:])
			at = len(s)
		} else {
			l.text = append(l.text, s[at:at+end])
			at += end + 1
		}
	}
	l.start = append(l.start, len(s))
	return l
}

// indent turns the indentation of old_str into that of the file.
type indent struct{ have, want string }

func (x indent) line(s string) string {
	if rest, ok := strings.CutPrefix(s, x.want); ok && strings.TrimSpace(s) != "" {
		return x.have + rest
	}
	return s
}

// changes turns an edit of lines of old into one of the file's lines from at
// on. Lines that old and new share keep the file's bytes.
func (l lines) changes(at int, old, repl string, ind indent) []change {
	if !strings.HasSuffix(old, "\n") {
		old, repl = old+"\n", repl+"\n"
	}
	return l.splice(at, old, repl, ind)
}

// splice is changes for texts of whole lines; old may be empty.
func (l lines) splice(at int, old, repl string, ind indent) []change {
	end := l.start[len(l.start)-1]
	var out []change
	for _, x := range udiff.Lines(old, repl) {
		from := l.start[at+strings.Count(old[:x.Start], "\n")]
		to := l.start[at+strings.Count(old[:x.End], "\n")]
		var b strings.Builder
		for line := range strings.Lines(x.New) {
			b.WriteString(ind.line(line))
		}
		c := change{from, to, b.String()}
		if to == end && !l.closed() {
			c.new = strings.TrimSuffix(c.new, "\n")
			if from == to {
				c.new = "\n" + c.new // the last line is no longer the last
			}
		}
		out = append(out, c)
	}
	return out
}

// closed reports whether the last line has its line feed.
func (l lines) closed() bool {
	n := len(l.text)
	return n == 0 || l.start[n-1]+len(l.text[n-1]) < l.start[n]
}

func trimEnd(s string) string { return strings.TrimRight(s, " \t\r") }

func sameEnds(have, want []string) (indent, bool) {
	for i := range want {
		if trimEnd(have[i]) != trimEnd(want[i]) {
			return indent{}, false
		}
	}
	return indent{}, true
}

func sameLook(have, want []string) (indent, bool) {
	for i := range want {
		if plainLine(have[i]) != plainLine(want[i]) {
			return indent{}, false
		}
	}
	return indent{}, true
}

// plainLine is a line with typographic quotes, dashes and spaces as their
// plain forms, without white space at its end. Models write one for the other.
func plainLine(s string) string {
	ascii := true
	for i := range len(s) {
		ascii = ascii && s[i] < utf8.RuneSelf
	}
	if ascii {
		return trimEnd(s)
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == 0x2018 || r == 0x2019 || r == 0x201A || r == 0x201B:
			b.WriteByte('\'')
		case r >= 0x201C && r <= 0x201F:
			b.WriteByte('"')
		case r >= 0x2010 && r <= 0x2015 || r == 0x2212:
			b.WriteByte('-')
		case r == 0xA0 || r >= 0x2000 && r <= 0x200A || r == 0x202F || r == 0x205F || r == 0x3000:
			b.WriteByte(' ')
		case r == 0x2026:
			b.WriteString("...")
		case r == utf8.RuneError:
			b.WriteByte(s[i]) // bytes that are no UTF-8 stay apart
		default:
			b.WriteRune(r)
		}
	}
	return trimEnd(b.String())
}

func sameIndent(have, want []string) (indent, bool) {
	x := indent{common(have), common(want)}
	for i := range want {
		h, w := trimEnd(have[i]), trimEnd(want[i])
		if h == "" || w == "" {
			if h != w {
				return x, false
			}
			continue
		}
		if h[len(x.have):] != w[len(x.want):] {
			return x, false
		}
	}
	return x, true
}

// common is the white space that all lines begin with, blank ones aside.
func common(list []string) string {
	out, first := "", true
	for _, s := range list {
		if trimEnd(s) == "" {
			continue
		}
		ws := s[:len(s)-len(strings.TrimLeft(s, " \t"))]
		if first {
			out, first = ws, false
			continue
		}
		for !strings.HasPrefix(ws, out) {
			out = out[:len(out)-1]
		}
	}
	return out
}

// noMatch is the error for an old_str that is not in the file, with hints and
// what comes nearest.
func (e edit) noMatch(b *body, old string) error {
	var msg strings.Builder
	msg.WriteString("old_str does not occur in it.")
	if numbered(old) {
		msg.WriteString(" It begins its lines with the numbers that read_file adds: leave out the number and the tab.")
	} else if strings.Contains(b.text, strings.TrimSpace(old)) && strings.TrimSpace(old) != "" {
		msg.WriteString(" Without the white space at its beginning and end it does occur.")
	} else if strings.Contains(old, `\n`) && strings.Contains(b.text, strings.ReplaceAll(old, `\n`, "\n")) {
		msg.WriteString(` It holds a backslash and n where the file has a line break.`)
	}
	if len(b.text) <= looseLimit {
		if near := nearest(newLines(b.text), newLines(old), "old_str"); near != "" {
			msg.WriteString(" The nearest lines are:\n" + near)
		}
	}
	return errors.New(msg.String())
}

// numbered reports whether each line begins as read_file shows it.
func numbered(s string) bool {
	any := false
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		num, _, ok := strings.Cut(strings.TrimLeft(line, " "), "\t")
		if !ok || num == "" || strings.Trim(num, "0123456789") != "" {
			return false
		}
		any = true
	}
	return any
}
