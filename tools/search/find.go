package search

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"
)

// freeWork is the work, in instructions times bytes, that is done without
// looking at the context: some tenths of a second.
const freeWork = 16 << 20

// stoppable feeds text to a match and ends it when the context is done. What
// the match found then means nothing.
type stoppable struct {
	ctx  context.Context
	b    []byte
	at   int
	size int   // instructions of the pattern
	work int   // done since the context was looked at
	err  error // why it ended before the text did
}

// ReadRune implements [io.RuneReader].
func (r *stoppable) ReadRune() (rune, int, error) {
	if r.work += r.size; r.work > freeWork/16 && r.err == nil {
		r.work, r.err = 0, r.ctx.Err()
	}
	if r.err != nil || r.at == len(r.b) {
		return 0, 0, io.EOF
	}
	c, size := rune(r.b[r.at]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRune(r.b[r.at:])
	}
	r.at += size
	return c, size, nil
}

// index returns where the first match is in text, nil when there is none. A
// match that would take long is given up when the context is done.
func (m *matcher) index(ctx context.Context, b []byte) ([]int, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.pure {
		if at := m.must[0].index(b); at >= 0 {
			return []int{at, at + len(m.must[0].text)}, nil
		}
		return nil, nil
	}
	if m.size*(len(b)+1) <= freeWork {
		return m.re.FindIndex(b), nil
	}
	r := &stoppable{ctx: ctx, b: b, size: m.size}
	loc := m.re.FindReaderIndex(r)
	if r.err != nil {
		return nil, r.err
	}
	return loc, nil
}

// trim takes the carriage return off the end of a line, unless the pattern asks
// for it.
func (m *matcher) trim(line []byte) []byte {
	if m.raw {
		return line
	}
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// lineFinder goes through a text for the lines that match.
type lineFinder struct {
	ctx  context.Context
	m    *matcher
	work int   // done since the context was looked at
	err  error // why it ended before the text did
	b    []byte
	next []int // per literal, where it is next; -1: not any more
}

// lines returns a finder for b.
func (m *matcher) lines(ctx context.Context, b []byte) *lineFinder {
	f := &lineFinder{ctx: ctx, m: m, b: b, next: make([]int, len(m.must))}
	for i := range f.next {
		f.next[i] = -2
	}
	return f
}

// find returns the first line at or after at, which is the beginning of a
// line, that matches; ok is false when there is none or err is set.
func (f *lineFinder) find(at int) (start, end int, ok bool) {
	for at < len(f.b) {
		hit := at
		if len(f.m.must) > 0 {
			if hit = f.candidate(at); hit < 0 {
				return 0, 0, false
			}
		}
		start = bytes.LastIndexByte(f.b[at:hit], '\n') + 1 + at
		end = len(f.b)
		if i := bytes.IndexByte(f.b[hit:], '\n'); i >= 0 {
			end = hit + i
		}
		if f.m.pure || f.match(f.m.trim(f.b[start:end])) {
			return start, end, true
		}
		if f.err != nil {
			return 0, 0, false
		}
		at = end + 1
	}
	return 0, 0, false
}

// match matches a line, unless time is up.
func (f *lineFinder) match(line []byte) bool {
	cost := f.m.size * (len(line) + 1)
	if f.work += cost; f.work > freeWork/16 {
		f.work = 0
		if f.err = f.ctx.Err(); f.err != nil {
			return false
		}
	}
	if cost <= freeWork {
		return f.m.re.Match(line)
	}
	r := &stoppable{ctx: f.ctx, b: line, size: f.m.size}
	ok := f.m.re.MatchReader(r)
	f.err = r.err
	return ok && f.err == nil
}

// candidate returns where the next literal is.
func (f *lineFinder) candidate(at int) int {
	best := -1
	for i := range f.m.must {
		if f.next[i] != -1 && f.next[i] < at {
			f.next[i] = f.m.must[i].index(f.b[at:])
			if f.next[i] >= 0 {
				f.next[i] += at
			}
		}
		if n := f.next[i]; n >= 0 && (best < 0 || n < best) {
			best = n
		}
	}
	return best
}
