package file

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openharness/oh/workspace"
)

// levels are the ways a line of a patch may equal one of the file, from strict
// to lax.
var levels = [...]struct {
	form func(string) string
	how  string // "" when exact
}{
	{func(s string) string { return s }, ""},
	{trimEnd, "when white space at the ends of lines is ignored"},
	{plainLine, "when typographic quotes, dashes and spaces count as plain ones"},
}

// applyHunks makes the changes of hunks in the content of a file. Bytes outside
// of what changes are kept whatever they are. notes are sentences about hunks
// that did not match exactly.
func applyHunks(data []byte, hunks []hunk) (out []byte, notes []string, err error) {
	set := workspace.Sniff(data, true)
	mark := set.Mark()
	raw := ""
	for _, h := range hunks {
		_, repl := h.old()
		if err := noNUL("the hunk at line "+strconv.Itoa(h.line)+" of the patch", strings.Join(repl, "\n")); err != nil && set != workspace.Binary {
			return nil, nil, err
		}
	}
	if len(mark) > 0 {
		hunks = unmark(hunks)
	}
	switch set {
	case workspace.Binary:
		return nil, nil, errors.New("it is a binary file")
	case workspace.UTF16LE, workspace.UTF16BE:
		ok := false
		if raw, ok = workspace.DecodeUTF16(data, set); !ok {
			return nil, nil, fmt.Errorf("it is %s with broken characters, which a change would lose", set)
		}
	case workspace.CP1252:
		if hunks, err = recode(hunks, set); err != nil {
			return nil, nil, err
		}
		raw = string(data)
	default:
		raw = string(data[len(mark):])
	}
	raw, notes, err = patchText(raw, hunks)
	if err != nil {
		return nil, nil, err
	}
	out = []byte(raw)
	if set == workspace.UTF16LE || set == workspace.UTF16BE {
		ok := false
		if out, ok = set.Encode(raw); !ok {
			return nil, nil, errors.New("the new lines are not valid text")
		}
	}
	return concat(mark, out), notes, nil
}

// unmark takes byte order marks off the lines of hunks: the file keeps its own.
func unmark(hunks []hunk) []hunk {
	out := slices.Clone(hunks)
	for i := range out {
		out[i].lines = slices.Clone(out[i].lines)
		for k, l := range out[i].lines {
			out[i].lines[k] = l[:1] + strings.TrimPrefix(l[1:], "\ufeff")
		}
	}
	return out
}

// recode turns the lines of hunks into the bytes of a one-byte charset.
func recode(hunks []hunk, set workspace.Charset) ([]hunk, error) {
	out := slices.Clone(hunks)
	for i := range out {
		h := &out[i]
		h.lines, h.anchors = slices.Clone(h.lines), slices.Clone(h.anchors)
		for _, list := range [][]string{h.lines, h.anchors} {
			for k, l := range list {
				enc, ok := set.Encode(l)
				if !ok {
					return nil, fmt.Errorf("the file is not UTF-8 but %s, which lacks some characters of %q; convert the file first", set, l)
				}
				list[k] = string(enc)
			}
		}
	}
	return out, nil
}

// patchText makes the changes of hunks in a text whose encoding is settled.
func patchText(raw string, hunks []hunk) (string, []string, error) {
	b := newBody(raw)
	m := matcher{lines: newLines(b.text)}
	var changes []change
	for _, h := range hunks {
		old, repl := h.old()
		at, err := m.locate(h, old)
		if err != nil {
			return "", nil, fmt.Errorf("the hunk at line %d of the patch %w", h.line, err)
		}
		changes = append(changes, m.lines.splice(at, whole(old), whole(repl), indent{})...)
		m.cursor = at + h.reach()
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	for i := 1; i < len(changes); i++ {
		if changes[i].from < changes[i-1].to {
			line := 1 + strings.Count(b.text[:changes[i].from], "\n")
			return "", nil, fmt.Errorf("two hunks change line %d of the file; make them one", line)
		}
	}
	out := string(b.write(changes))
	if n := len(hunks); n > 0 {
		out = closeText(out, hunks[n-1].mark)
	}
	return out, m.notes, nil
}

// whole joins lines, each with its line feed.
func whole(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, "\n") + "\n"
}

// closeText gives a text the end that a hunk marked.
func closeText(s string, mark endMark) string {
	switch {
	case mark == endOpen && strings.HasSuffix(s, "\n"):
		return strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
	case mark == endClosed && s != "" && !strings.HasSuffix(s, "\n"):
		if strings.Contains(s, "\r\n") {
			return s + "\r\n"
		}
		return s + "\n"
	}
	return s
}

// reach is how many of the old lines go up to the last change: context after it
// may serve the next hunk too.
func (h hunk) reach() int {
	n, last := 0, 0
	for _, l := range h.lines {
		if l[0] != '+' {
			n++
		}
		if l[0] != ' ' {
			last = n
		}
	}
	return last
}

// matcher finds the places of hunks in a file, from top to bottom.
type matcher struct {
	lines  lines
	cursor int                   // line after the last change of the hunk before
	forms  [len(levels)][]string // the file's lines as a level sees them
	notes  []string
}

func (m *matcher) form(level int) []string {
	if level == 0 {
		return m.lines.text
	}
	if m.forms[level] == nil {
		m.forms[level] = make([]string, len(m.lines.text))
		for i, s := range m.lines.text {
			m.forms[level][i] = levels[level].form(s)
		}
	}
	return m.forms[level]
}

// locate returns the line, from 0, where a hunk belongs.
func (m *matcher) locate(h hunk, old []string) (int, error) {
	from, after, vague, err := m.anchor(h)
	if err != nil {
		return 0, err
	}
	if len(old) == 0 {
		return m.insertion(h, after, vague)
	}
	for level := range levels {
		all := m.places(level, old)
		if len(all) == 0 {
			continue
		}
		at, err := choose(h, all, from, len(m.lines.text)-len(old), vague)
		if err != nil {
			return 0, err
		}
		if how := levels[level].how; how != "" {
			m.notes = append(m.notes, fmt.Sprintf("The hunk at line %d of the patch matched only %s.", h.line, how))
		}
		return at, nil
	}
	msg := "does not match: its lines with a blank or - do not occur in the file."
	if near := nearest(m.lines, newLines(whole(old)), "the hunk's old lines"); near != "" {
		msg += " The nearest lines are:\n" + near
	}
	return 0, errors.New(msg)
}

// choose picks the one place that is meant.
func choose(h hunk, all []int, from, end int, vague bool) (int, error) {
	if (h.end || h.mark != endAsIs) && all[len(all)-1] == end {
		return end, nil
	}
	i, _ := slices.BinarySearch(all, from)
	later := all[i:]
	anchored := len(h.anchors) > 0
	switch {
	case len(later) == 1, len(later) > 1 && anchored && !vague:
		return later[0], nil
	case len(later) > 1 && slices.Contains(later, h.first-1):
		return h.first - 1, nil
	case len(later) > 1:
		return 0, fmt.Errorf("fits %d places (lines %s); give more lines of context, or @@ and a line above it that occurs once", len(later), lineList(numbersOf(later), len(later)))
	case len(all) == 1 && !anchored:
		return all[0], nil
	case anchored:
		return 0, fmt.Errorf("fits only above its @@ line (at line %s); leave out the @@ line or correct it", lineList(numbersOf(all), len(all)))
	}
	return 0, fmt.Errorf("fits only above the hunk before it (lines %s); put the hunks into the order of the file", lineList(numbersOf(all), len(all)))
}

func numbersOf(at []int) []int {
	out := make([]int, len(at))
	for i, n := range at {
		out[i] = n + 1
	}
	return out
}

// insertion is the place of a hunk that only adds lines.
func (m *matcher) insertion(h hunk, after int, vague bool) (int, error) {
	if len(h.anchors) == 0 || h.end {
		if len(m.lines.text) > 0 && !h.end {
			m.notes = append(m.notes, fmt.Sprintf("The hunk at line %d of the patch had no context: its lines were added at the end.", h.line))
		}
		return len(m.lines.text), nil
	}
	if vague {
		return 0, errors.New("only adds lines, and its @@ line occurs more than once; give lines of context")
	}
	return after, nil
}

// places returns the lines where old begins, sorted.
func (m *matcher) places(level int, old []string) []int {
	have := m.form(level)
	want := make([]string, len(old))
	for i, s := range old {
		want[i] = levels[level].form(s)
	}
	var out []int
	for i := 0; i+len(want) <= len(have); i++ {
		if have[i] == want[0] && slices.Equal(have[i:i+len(want)], want) {
			out = append(out, i)
		}
	}
	return out
}

// anchor follows the @@ lines of a hunk. It returns from where the hunk may
// begin, the line after the last @@ line, and whether that occurs again.
func (m *matcher) anchor(h hunk) (from, after int, vague bool, err error) {
	from, after = m.cursor, m.cursor
	for _, a := range h.anchors {
		at, more := m.findLine(a, after)
		if at < 0 && after > 0 {
			at, more = m.findLine(a, 0)
		}
		if at < 0 {
			msg := fmt.Sprintf("is to be below %q (@@), which is not a line of the file.", a)
			if near := nearest(m.lines, newLines(a+"\n"), "the @@ line"); near != "" {
				msg += " The nearest lines are:\n" + near
			}
			return 0, 0, false, errors.New(msg)
		}
		from, after, vague = at, at+1, more
	}
	return from, after, vague, nil
}

// findLine returns the first line from a place on that equals a, white space
// around it aside, and whether there are more; -1 when there is none.
func (m *matcher) findLine(a string, from int) (at int, more bool) {
	have := m.form(len(levels) - 1)
	want := strings.TrimSpace(plainLine(a))
	at = -1
	for i := from; i < len(have); i++ {
		if strings.TrimSpace(have[i]) != want {
			continue
		}
		if at >= 0 {
			return at, true
		}
		at = i
	}
	return at, false
}
