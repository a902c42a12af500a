package search

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

const (
	chunkSize     = 256 << 10 // bytes read at once
	maxLine       = 32 << 20  // bytes of a line searched as a whole
	keepSize      = 4 << 20   // bytes of a buffer kept for the next file
	overlap       = 64 << 10  // bytes that pieces of a longer line share
	maxShown      = 500       // characters shown of a line
	multilineSize = 32 << 20  // bytes of a file searched across lines
)

var (
	errBinary = errors.New("binary file")
	errLarge  = errors.New("file too large for multiline")
)

// scanner searches one file after another, keeping its buffer.
type scanner struct {
	m             *matcher
	before, after int
	mode          string
	multiline     bool
	keep          int // lines of a file that are kept for showing
	longest       int // bytes of a line searched as a whole
	buf           []byte
}

// fileResult is what was found in one file.
type fileResult struct {
	path  string
	lines []hit // in order, matches and context
	count int   // lines that match, or places when multiline
	more  bool  // the file was not searched to its end
	part  bool  // a line was too long to be searched as a whole
	bare  bool  // lines before were too long to be kept as context
}

// hit is a line to show.
type hit struct {
	n     int // line number, from 1
	text  string
	match bool
	first bool // begins a match
}

// scan searches a file. ok is false when nothing matches.
func (s *scanner) scan(ctx context.Context, path string, f io.Reader) (res fileResult, ok bool, err error) {
	res.path = path
	if s.buf == nil {
		s.buf = make([]byte, chunkSize)
	}
	n, err := io.ReadFull(f, s.buf[:chunkSize])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return res, false, err
	}
	ended := err != nil
	var src io.Reader = f
	switch set := workspace.Sniff(s.buf[:min(n, 512)], false); set {
	case workspace.UTF16LE, workspace.UTF16BE:
		src = workspace.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(s.buf[:n])), f), set)
		n, ended = 0, false
	case workspace.UTF8BOM:
		n = copy(s.buf, s.buf[3:n])
	default:
		if bytes.IndexByte(s.buf[:n], 0) >= 0 {
			return res, false, errBinary
		}
	}
	in := &input{ctx: ctx, src: src, ended: ended, have: n}
	if s.multiline {
		err = s.across(in, &res)
	} else {
		err = s.byLine(in, &res)
	}
	if len(s.buf) > keepSize {
		s.buf = nil
	}
	return res, res.count > 0, err
}

// input is the file that is being read into the scanner's buffer.
type input struct {
	ctx   context.Context
	src   io.Reader
	ended bool
	have  int // bytes in the buffer
}

// fill reads until the buffer is full or the file ends.
func (s *scanner) fill(in *input) error {
	if err := in.ctx.Err(); err != nil {
		return err
	}
	for in.have < len(s.buf) && !in.ended {
		n, err := in.src.Read(s.buf[in.have:])
		if bytes.IndexByte(s.buf[in.have:in.have+n], 0) >= 0 {
			return errBinary
		}
		in.have += n
		if err == io.EOF {
			in.ended = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// byLine searches chunk by chunk of whole lines.
func (s *scanner) byLine(in *input, res *fileResult) error {
	st := lineState{ctx: in.ctx, s: s, res: res, line: 1}
	from := 0 // where in the buffer searching begins; before it lies context
	for {
		if err := s.fill(in); err != nil {
			return err
		}
		end := in.have
		split := false
		if !in.ended {
			if i := bytes.LastIndexByte(s.buf[from:end], '\n'); i >= 0 {
				end = from + i + 1
			} else if len(s.buf) < s.longest {
				s.grow(in.have)
				continue
			} else {
				split, res.part = true, true
			}
		}
		if done, err := st.chunk(s.buf[:end], from, split); done || err != nil {
			return err
		}
		if in.ended {
			return nil
		}
		stay := end
		if split {
			stay = end - min(overlap, end/2)
		} else {
			stay = backLines(s.buf[:end], end, s.before)
			for end-stay > len(s.buf)/2 && len(s.buf) < s.longest {
				s.grow(in.have)
			}
			for end-stay > len(s.buf)/2 {
				stay += bytes.IndexByte(s.buf[stay:end], '\n') + 1
				res.bare = true
			}
		}
		from = end - stay
		if split {
			from = 0
		}
		in.have = copy(s.buf, s.buf[stay:in.have])
	}
}

func (s *scanner) grow(have int) {
	bigger := make([]byte, min(s.longest, 2*len(s.buf)))
	copy(bigger, s.buf[:have])
	s.buf = bigger
}

// backLines returns the offset of the n-th line before at, which is the
// beginning of a line.
func backLines(b []byte, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at = bytes.LastIndexByte(b[:at-1], '\n') + 1
	}
	return at
}

// lineState is where a search by lines stands.
type lineState struct {
	ctx   context.Context
	s     *scanner
	res   *fileResult
	line  int  // number of the line at which searching goes on
	shown int  // number of the last line kept
	after int  // lines of context still to be shown
	piece bool // the line at the beginning was begun before, and
	found bool // a piece of it matched
	rough bool // offsets within the line at hand are not known
}

// chunk searches b from an offset on. split says that b ends within a line.
func (st *lineState) chunk(b []byte, from int, split bool) (done bool, err error) {
	st.rough = split || st.piece
	f := st.s.m.lines(st.ctx, b)
	at := from
	if st.rough && st.s.m.edge {
		at = st.pass(b, from, split) // a piece has edges that its line has not
	}
	for at < len(b) {
		start, end, ok := f.find(at)
		if f.err != nil {
			return false, f.err
		}
		if !ok {
			st.context(b, at, len(b))
			st.line += bytes.Count(b[at:], []byte{'\n'})
			break
		}
		st.context(b, at, start)
		st.line += bytes.Count(b[at:start], []byte{'\n'})
		if !(st.piece && st.found && start == from) {
			if done := st.match(b, from, start, end); done {
				return true, nil
			}
		}
		if split && end == len(b) {
			st.piece, st.found = true, true
			return false, nil
		}
		if end < len(b) {
			st.line++
		}
		at = end + 1
	}
	if split {
		st.found = st.found && st.piece
		st.piece = true
	} else {
		st.piece, st.found = false, false
	}
	return false, nil
}

// pass goes by a piece of a line without searching it and returns where the
// next line begins.
func (st *lineState) pass(b []byte, from int, split bool) int {
	end := len(b)
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 && !split {
		end = from + i + 1
	}
	st.context(b, from, end)
	st.line += bytes.Count(b[from:end], []byte{'\n'})
	return end
}

// match takes a line that matches, with the lines before it; done when no more
// is needed of this file.
func (st *lineState) match(b []byte, from, start, end int) (done bool) {
	st.res.count++
	switch st.s.mode {
	case modeFiles:
		st.res.more = true
		return true
	case modeCount:
		return false
	}
	if st.res.count > st.s.keep {
		st.res.count--
		st.res.more = true
		return true
	}
	first := backLines(b, start, min(st.s.before, st.line-1-st.shown))
	n := st.line - bytes.Count(b[first:start], []byte{'\n'})
	for first < start {
		stop := first + bytes.IndexByte(b[first:], '\n')
		st.put(n, b[first:stop], false, false)
		first = stop + 1
		n++
	}
	st.put(st.line, b[start:end], true, true)
	st.after = st.s.after
	return false
}

// context takes lines that follow a match.
func (st *lineState) context(b []byte, at, end int) {
	for n := st.line; st.after > 0 && at < end; n++ {
		stop := end
		if i := bytes.IndexByte(b[at:end], '\n'); i >= 0 {
			stop = at + i
		}
		if n > st.shown { // not another piece of the same line
			st.put(n, b[at:stop], false, false)
			st.after--
		}
		at = stop + 1
	}
}

func (st *lineState) put(n int, line []byte, match, first bool) {
	if n <= st.shown {
		if k := len(st.res.lines) - 1; first && k >= 0 && st.res.lines[k].n == n {
			st.res.lines[k].match, st.res.lines[k].first = true, true
		}
		return
	}
	st.shown = n
	st.res.lines = append(st.res.lines, hit{n, st.show(line, match), match, first})
}

// show cuts a line to a length for showing; a match is in what remains.
func (st *lineState) show(line []byte, match bool) string {
	asked := st.s.m.trim(line)
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) <= maxShown {
		return plain(line)
	}
	at := 0
	if match {
		if loc, err := st.s.m.index(st.ctx, asked); err == nil && loc != nil {
			at = min(loc[0], len(line))
		}
	}
	return around(line, at, !st.rough)
}

// around shows the part of a line near an offset and, when that is known, how
// much is left out.
func around(line []byte, at int, known bool) string {
	from := max(0, at-maxShown/4)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	head := text.Head(plain(line[from:min(len(line), from+maxShown*utf8.UTFMax)]), maxShown)
	var b strings.Builder
	if from > 0 {
		if known {
			b.WriteString("(" + text.Number(from) + " bytes) ")
		}
		b.WriteString("…")
	}
	b.WriteString(head)
	if rest := len(line) - from - len(head); rest > 0 {
		b.WriteString("…")
		if known {
			b.WriteString(" (" + text.Number(rest) + " bytes)")
		}
	}
	return b.String()
}

// across searches a whole file at once, so that a match may span lines.
func (s *scanner) across(in *input, res *fileResult) error {
	for {
		if err := s.fill(in); err != nil {
			return err
		}
		if in.ended {
			break
		}
		if len(s.buf) >= multilineSize {
			return errLarge
		}
		bigger := make([]byte, 2*len(s.buf))
		copy(bigger, s.buf[:in.have])
		s.buf = bigger
	}
	data := s.buf[:in.have]
	if !s.m.raw && bytes.Contains(data, []byte("\r\n")) {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	if len(s.m.must) > 0 && s.m.lines(in.ctx, data).candidate(0) < 0 {
		return nil
	}
	return s.spans(in.ctx, data, res)
}

// spans collects the matches of a whole file, by lines. Searching goes on at
// the line after a match, so several matches in one line count once.
func (s *scanner) spans(ctx context.Context, data []byte, res *fileResult) error {
	st := lineState{ctx: ctx, s: s, res: res, line: 1}
	for at := 0; at < len(data); {
		loc, err := s.m.index(ctx, data[at:])
		if err != nil {
			return err
		}
		if loc == nil || at+loc[0] == len(data) {
			st.context(data, at, len(data))
			return nil
		}
		from, to := at+loc[0], at+loc[1]
		start := bytes.LastIndexByte(data[at:from], '\n') + 1 + at
		st.context(data, at, start)
		st.line += bytes.Count(data[at:start], []byte{'\n'})
		at = start
		for first := true; first || at < to; first = false {
			end := len(data)
			if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
				end = at + i
			}
			if first {
				if st.match(data, 0, at, end) {
					return nil
				}
			} else if s.mode == modeContent {
				st.put(st.line, data[at:end], true, false)
			}
			at = end + 1
			st.line++
		}
	}
	return nil
}
