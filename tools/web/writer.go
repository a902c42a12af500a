package web

import (
	"context"
	"io"
	"net/url"
	"strings"
)

// errEnd is io.EOF under a name for a reader's end.
var errEnd = io.EOF

// writer lays text out in lines. White space is collapsed as a browser does;
// gaps between blocks are owed until there is something to set apart.
type writer struct {
	ctx  context.Context
	base *url.URL
	out  strings.Builder

	flat   bool // one line: blocks are set apart by spaces
	limit  int  // bytes of out; 0: maxOutput
	marks  []mark
	owed   int  // newlines
	space  bool // a space is owed
	open   bool // the line has text
	glue   bool // the next word follows without a space, whatever comes
	steps  int
	full   bool
	quotes int
	lists  int
	inside style
}

// style is what the text being written is within already.
type style struct{ bold, italic, strike, link, cell bool }

// mark is what a list or quotation puts before its lines.
type mark struct{ first, rest string }

// gap owes at least n newlines before the next text. Right after the mark of a
// list item nothing is owed.
func (w *writer) gap(n int) {
	if w.flat {
		w.space = true
		return
	}
	w.space = false
	if k := len(w.marks); k > 0 && w.marks[k-1].first != "" && w.owed > 0 {
		return
	}
	w.owed = max(w.owed, n)
}

// done reports whether to stop: the context has ended or there is enough.
func (w *writer) done() bool {
	if w.full {
		return true
	}
	if w.steps++; w.steps%512 == 0 && w.ctx.Err() != nil {
		w.full = true
	}
	limit := w.limit
	if limit == 0 {
		limit = maxOutput
	}
	if w.out.Len() > limit {
		w.full = true
	}
	return w.full
}

// text writes text, its white space collapsed.
func (w *writer) text(s string) {
	for s != "" && !w.full {
		i := strings.IndexFunc(s, notSpace)
		if i < 0 {
			w.space = true
			return
		}
		if i > 0 {
			w.space = true
			s = s[i:]
		}
		end := strings.IndexFunc(s, isSpace)
		if end < 0 {
			end = len(s)
		}
		w.word(s[:end])
		s = s[end:]
	}
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '\f' || r == '\u00a0'
}
func notSpace(r rune) bool { return !isSpace(r) }

// word writes what is owed and then s, which holds no newline.
func (w *writer) word(s string) {
	if w.done() {
		return
	}
	if w.inside.cell {
		s = strings.ReplaceAll(s, "|", `\|`)
	}
	w.lines()
	if w.space && w.open && !w.glue {
		w.out.WriteByte(' ')
	}
	w.space, w.open, w.glue = false, true, false
	w.out.WriteString(s)
}

// lines writes the newlines that are owed, and what stands before a line.
func (w *writer) lines() {
	if w.flat || w.open && w.owed == 0 {
		return
	}
	if w.out.Len() > 0 && w.owed > 0 {
		if w.open {
			w.out.WriteByte('\n')
		}
		if w.owed > 1 {
			w.out.WriteString(strings.TrimRight(w.before(false), " "))
			w.out.WriteByte('\n')
		}
	}
	w.owed, w.open, w.space = 0, false, false
	w.out.WriteString(w.before(true))
	w.open = true
	w.glue = true
}

// before returns what stands before a line; with first, list items get their
// marks.
func (w *writer) before(first bool) string {
	var b strings.Builder
	for i := range w.marks {
		m := &w.marks[i]
		switch {
		case first && m.first != "":
			b.WriteString(m.first)
			m.first = ""
		case m.first != "":
			return b.String() // an item that has not begun
		default:
			b.WriteString(m.rest)
		}
	}
	return b.String()
}

// raw writes preformatted text, line by line.
func (w *writer) raw(s string) {
	for i, line := range strings.Split(s, "\n") {
		if w.done() {
			return
		}
		if i > 0 {
			w.owed = 1
		}
		w.lines()
		w.space, w.glue, w.open = false, false, true
		w.out.WriteString(line)
	}
}

// within writes with a mark before each line.
func (w *writer) within(m mark, do func()) {
	if w.flat {
		do()
		return
	}
	w.marks = append(w.marks, m)
	do()
	w.marks = w.marks[:len(w.marks)-1]
}

// apart returns what do writes as one line.
func (w *writer) apart(s style, limit int, do func(*writer)) string {
	in := &writer{ctx: w.ctx, base: w.base, flat: true, limit: limit, inside: s, steps: w.steps}
	do(in)
	w.steps = in.steps
	return strings.TrimSpace(in.out.String())
}
