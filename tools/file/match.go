package file

import (
	"fmt"
	"sort"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"
)

// unix returns s with CR LF as LF.
func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// body is a text with its line endings taken to LF, and the way back.
type body struct {
	raw  string // as in the file
	text string // CR LF as LF
	crlf []int  // offsets in text of the line feeds that are CR LF in raw
}

func newBody(raw string) *body {
	b := &body{raw: raw, text: raw}
	if !strings.Contains(raw, "\r\n") {
		return b
	}
	var out strings.Builder
	out.Grow(len(raw))
	rest := raw
	for {
		i := strings.Index(rest, "\r\n")
		if i < 0 {
			out.WriteString(rest)
			break
		}
		out.WriteString(rest[:i])
		b.crlf = append(b.crlf, out.Len())
		out.WriteByte('\n')
		rest = rest[i+2:]
	}
	b.text = out.String()
	return b
}

// at returns the offset in raw of an offset in text.
func (b *body) at(off int) int { return off + sort.SearchInts(b.crlf, off) }

// isCRLF reports whether the line feed at an offset of text is CR LF in raw.
func (b *body) isCRLF(off int) bool {
	i := sort.SearchInts(b.crlf, off)
	return i < len(b.crlf) && b.crlf[i] == off
}

// ending returns the line ending that new text between two offsets of text
// takes: that of most lines there, else that of the line before, else after.
func (b *body) ending(from, to int) string {
	lf := strings.Count(b.text[from:to], "\n")
	crlf := sort.SearchInts(b.crlf, to) - sort.SearchInts(b.crlf, from)
	if lf == 0 {
		i := strings.LastIndexByte(b.text[:from], '\n')
		if i < 0 {
			if i = strings.IndexByte(b.text[to:], '\n'); i >= 0 {
				i += to
			}
		}
		if i >= 0 && b.isCRLF(i) {
			return "\r\n"
		}
		return "\n"
	}
	if 2*crlf > lf {
		return "\r\n"
	}
	return "\n"
}

// change replaces text[from:to] by new.
type change struct {
	from, to int
	new      string // with LF
}

// write applies changes, sorted and apart, to the raw text.
func (b *body) write(changes []change) []byte {
	var out []byte
	last := 0
	plain := !strings.Contains(b.text, "\n")
	for _, c := range changes {
		out = append(out, b.raw[last:b.at(c.from)]...)
		repl := c.new
		if !plain && b.ending(c.from, c.to) == "\r\n" {
			repl = strings.ReplaceAll(repl, "\n", "\r\n")
		}
		out = append(out, repl...)
		last = b.at(c.to)
	}
	return append(out, b.raw[last:]...)
}

// replace makes the edit in a text whose encoding is settled.
func (e edit) replace(raw string) (edited, error) {
	b := newBody(raw)
	old, repl := unix(e.old), unix(e.new)
	hits := find(b.text, old, false, listed)
	if len(hits) == 0 {
		return e.loose(b, old, repl)
	}
	n := max(strings.Count(b.text, old), min(len(hits), 2))
	if n > 1 && !e.all {
		return edited{}, fmt.Errorf("old_str occurs %d times (lines %s); add lines around it until it is unique, or set replace_all", n, lineList(b.numbers(hits), n))
	}
	if e.all {
		n = strings.Count(b.text, old)
		hits = find(b.text, old, true, listed)
	}
	out := edited{n: n, lines: b.numbers(hits)}
	if len(b.crlf) == 0 {
		out.data = []byte(strings.ReplaceAll(b.text, old, repl))
		return out, nil
	}
	inner := udiff.Lines(old, repl)
	var changes []change
	for _, h := range find(b.text, old, true, n) {
		for _, x := range inner {
			changes = append(changes, change{h + x.Start, h + x.End, x.New})
		}
	}
	out.data = b.write(changes)
	return out, nil
}

// numbers returns the line numbers of sorted offsets.
func (b *body) numbers(offs []int) []int {
	var out []int
	line, last := 1, 0
	for _, off := range offs {
		line += strings.Count(b.text[last:off], "\n")
		last = off
		out = append(out, line)
	}
	return out
}

// find returns the first places, at most that many, where old begins in text;
// with apart, only ones that do not overlap.
func find(text, old string, apart bool, most int) []int {
	var hits []int
	for at := 0; len(hits) < most; {
		i := strings.Index(text[at:], old)
		if i < 0 {
			break
		}
		hits = append(hits, at+i)
		at += i + 1
		if apart {
			at += len(old) - 1
		}
	}
	return hits
}
