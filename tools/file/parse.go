package file

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// patchOp is what a section of a patch does to a file.
type patchOp int

const (
	addFile patchOp = iota
	updateFile
	deleteFile
)

// section is what a patch says about one file.
type section struct {
	op   patchOp
	path string
	move string // new path, "" to stay
	line int    // of its header in the patch, from 1

	content string // of a new file
	hunks   []hunk
}

// hunk is one place to change.
type hunk struct {
	line    int      // in the patch, from 1
	first   int      // number of the first old line as @@ says, 0 for unsaid
	anchors []string // lines named by @@, outermost first
	lines   []string // with their first character: blank, + or -
	end     bool     // it lies at the end of the file
	mark    endMark
}

// endMark is what a hunk says about the last line feed of the file.
type endMark int

const (
	endAsIs   endMark = iota
	endOpen           // the new last line has none
	endClosed         // the old last line had none, the new one has
)

const openMark = `\ No newline at end of file`

// old returns the lines that a hunk expects, and the lines it leaves.
func (h hunk) old() (old, repl []string) {
	for _, l := range h.lines {
		if l[0] != '+' {
			old = append(old, l[1:])
		}
		if l[0] != '-' {
			repl = append(repl, l[1:])
		}
	}
	return old, repl
}

// parsePatch reads the envelope: *** Begin Patch, a section for each file,
// *** End Patch. What may stand around it is told by unwrap.
func parsePatch(s string) ([]section, error) {
	w, err := unwrap(strings.Split(strings.TrimRight(unix(s), " \t\r\n"), "\n"))
	if err != nil {
		return nil, err
	}
	p := parser{lines: w.lines, at: 1, skipped: w.skipped}
	for p.at < len(p.lines) {
		if strings.TrimSpace(p.lines[p.at]) == "" {
			p.at++
			continue
		}
		if err := p.section(); err != nil {
			return nil, err
		}
	}
	if len(p.out) == 0 {
		return nil, errors.New("the patch names no file: give *** Update File:, *** Add File: or *** Delete File: between its first and last line")
	}
	for i := range p.out {
		p.out[i].path, p.out[i].move = below(w.dir, p.out[i].path), below(w.dir, p.out[i].move)
	}
	return p.out, nil
}

// parser goes through the lines of a patch.
type parser struct {
	lines   []string
	at      int
	skipped int // lines taken off before the first
	out     []section
}

func (p *parser) number() int { return p.at + 1 + p.skipped }

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("line %d of the patch: "+format, append([]any{p.number()}, args...)...)
}

// header parts the line that begins a section.
func header(line string) (op patchOp, path string, ok bool) {
	line = strings.TrimSpace(line)
	for _, h := range []struct {
		prefix string
		op     patchOp
	}{{"*** Add File:", addFile}, {"*** Update File:", updateFile}, {"*** Delete File:", deleteFile}} {
		if rest, ok := strings.CutPrefix(line, h.prefix); ok {
			return h.op, strings.TrimSpace(rest), true
		}
	}
	return 0, "", false
}

func (p *parser) section() error {
	line := p.lines[p.at]
	op, path, ok := header(line)
	if !ok {
		return p.fail("expected *** Add File:, *** Update File: or *** Delete File:, not %q", text.Cut(line, 80))
	}
	if path == "" {
		return p.fail("no path follows %s", strings.TrimSpace(line))
	}
	s := section{op: op, path: path, line: p.number()}
	p.at++
	var err error
	switch op {
	case addFile:
		err = p.content(&s)
	case updateFile:
		err = p.update(&s)
	}
	p.out = append(p.out, s)
	return err
}

// ends reports whether the section is over at the current line.
func (p *parser) ends() bool {
	if p.at >= len(p.lines) {
		return true
	}
	_, _, ok := header(p.lines[p.at])
	return ok && strings.HasPrefix(p.lines[p.at], "***")
}

// blankUntilEnd reports whether only blank lines are left of the section.
func (p *parser) blankUntilEnd() bool {
	q := *p
	for !q.ends() && strings.TrimSpace(q.lines[q.at]) == "" {
		q.at++
	}
	return q.ends()
}

// content reads the lines of a new file.
func (p *parser) content(s *section) error {
	var b strings.Builder
	for ; !p.ends(); p.at++ {
		line := p.lines[p.at]
		rest, ok := strings.CutPrefix(line, "+")
		switch {
		case ok:
			b.WriteString(rest + "\n")
		case line == openMark:
			if whole := b.String(); whole != "" {
				b.Reset()
				b.WriteString(strings.TrimSuffix(whole, "\n"))
			}
		case p.blankUntilEnd(), strings.TrimSpace(line) == "*** End of File":
		default:
			return p.fail("each line of a new file begins with +, not %q", text.Cut(line, 80))
		}
	}
	s.content = b.String()
	return nil
}

// update reads the new path and the hunks of a file.
func (p *parser) update(s *section) error {
	if !p.ends() {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(p.lines[p.at]), "*** Move to:"); ok {
			if s.move = strings.TrimSpace(rest); s.move == "" {
				return p.fail("no path follows *** Move to:")
			}
			p.at++
		}
	}
	p.passNames()
	for !p.ends() {
		if p.blankUntilEnd() {
			p.at++
			continue
		}
		h, err := p.hunk()
		if err != nil {
			return err
		}
		if h.lines != nil {
			s.hunks = append(s.hunks, h)
		}
	}
	if len(s.hunks) == 0 && s.move == "" {
		return fmt.Errorf("line %d of the patch: nothing is to be changed in %s: give lines that begin with - or +", s.line, s.path)
	}
	return nil
}

// passNames passes over the two lines that name the file in a unified diff.
// Without @@ below them they are lines of a hunk.
func (p *parser) passNames() {
	if at := p.at; at+2 < len(p.lines) && strings.HasPrefix(p.lines[at], "--- ") &&
		strings.HasPrefix(p.lines[at+1], "+++ ") && strings.HasPrefix(p.lines[at+2], "@@") {
		p.at += 2
	}
}

// hunk reads one hunk: its @@ lines, its lines, and its end.
func (p *parser) hunk() (hunk, error) {
	h := hunk{line: p.number()}
	for !p.ends() && strings.HasPrefix(p.lines[p.at], "@@") {
		a, first := anchor(p.lines[p.at])
		if a != "" {
			h.anchors = append(h.anchors, a)
		}
		h.first = max(h.first, first)
		p.at++
	}
	blank := 0 // lines without even a first blank, at the end so far
	for ; !p.ends() && !strings.HasPrefix(p.lines[p.at], "@@"); p.at++ {
		line := p.lines[p.at]
		switch {
		case strings.TrimSpace(line) == "*** End of File":
			h.end = true
			p.at++
			return p.close(h, blank)
		case line == "":
			h.lines = append(h.lines, " ")
			blank++
			continue
		case line == openMark:
			h.mark = marked(h)
			continue
		case line[0] != ' ' && line[0] != '+' && line[0] != '-':
			return h, p.fail("a line of a hunk begins with a blank, + or -, not %q", text.Cut(line, 80))
		}
		h.lines = append(h.lines, line)
		blank = 0
	}
	return p.close(h, blank)
}

// close finishes a hunk without the empty lines that only part it from what
// follows.
func (p *parser) close(h hunk, blank int) (hunk, error) {
	if h.lines = h.lines[:len(h.lines)-blank]; len(h.lines) == 0 {
		if len(h.anchors) > 0 {
			return h, fmt.Errorf("line %d of the patch: no lines follow @@", h.line)
		}
		h.lines = nil
		return h, nil
	}
	for _, l := range h.lines {
		if l[0] != ' ' || h.mark != endAsIs {
			return h, nil
		}
	}
	return h, fmt.Errorf("line %d of the patch: the hunk has no line that begins with - or +, so it changes nothing", h.line)
}

// marked tells which side of a hunk a mark of the open end belongs to.
func marked(h hunk) endMark {
	if n := len(h.lines); n > 0 && h.lines[n-1][0] == '-' {
		return endClosed
	}
	return endOpen
}

// anchor returns the line of the file that an @@ line names, and the number of
// the first old line where it is one of a unified diff, 0 otherwise.
func anchor(line string) (name string, first int) {
	a := strings.TrimPrefix(line, "@@")
	if rest, ok := strings.CutPrefix(a, " -"); ok && strings.Contains(rest, " @@") {
		nums, after, _ := strings.Cut(rest, " @@")
		if strings.Trim(nums, "0123456789,+- ") == "" {
			digits := nums[:len(nums)-len(strings.TrimLeft(nums, "0123456789"))]
			if n, err := strconv.Atoi(digits); err == nil {
				first = n
			}
			return strings.TrimSpace(after), first
		}
	}
	a = strings.TrimPrefix(a, " ")
	if strings.TrimSpace(a) == "" || strings.TrimSpace(a) == "@@" {
		return "", 0
	}
	return strings.TrimSuffix(a, " @@"), 0
}
