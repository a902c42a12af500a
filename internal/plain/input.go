package plain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/slash"
)

// The marks that a terminal puts around pasted text when it was asked to.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// pasteGap is what lies at most between two lines of one paste: a terminal that
// was not asked to mark it hands it over line by line, faster than anybody
// types.
const pasteGap = 30 * time.Millisecond

func isCommand(line string) bool {
	_, _, ok := slash.Parse(line)
	return ok
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// startReading starts the goroutine that owns the input.
func (f *Face) startReading() { f.read.Do(func() { go f.readLines() }) }

// readLines reads the input to its end and routes each entry.
func (f *Face) readLines() {
	r := bufio.NewReader(f.c.In)
	var e entry
	for {
		raw, err := r.ReadString('\n')
		if raw != "" {
			f.typed(&e, strings.TrimRight(raw, "\r\n"), err == nil)
		}
		if err != nil {
			f.inputEnded(&e, err)
			return
		}
	}
}

// typed takes a line in. more says that another may follow. What belongs to an
// entry that was begun before a question is no answer to it.
func (f *Face) typed(e *entry, line string, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answer := f.question != nil && len(f.held) == 0 && len(e.lines) == 0
	whole, done := e.add(line, answer)
	switch {
	case done:
		f.entered(whole, answer)
	case more && !f.busy:
		f.s.more()
	}
}

// entered takes a complete entry in: on a terminal it is held until it is known
// whether the paste goes on. A command stands alone. The lock is held.
func (f *Face) entered(whole string, answer bool) {
	switch {
	case answer || !f.c.Terminal:
		f.route(whole, answer)
	case len(f.held) > 0:
		f.held = append(f.held, whole)
		f.due = time.Now().Add(pasteGap)
		f.settling.Reset(pasteGap)
	case isBlank(whole) || isCommand(whole):
		f.route(whole, false)
	default:
		if !f.busy {
			f.s.entered()
		}
		f.held = []string{whole}
		f.due = time.Now().Add(pasteGap)
		f.settling = time.AfterFunc(pasteGap, f.settle)
	}
}

// settle routes what is held once nothing has followed for long enough.
func (f *Face) settle() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.held) > 0 && !time.Now().Before(f.due) {
		f.release()
	}
}

// release routes what is held as one entry. The lock is held.
func (f *Face) release() {
	if len(f.held) == 0 {
		return
	}
	f.settling.Stop()
	lines := f.held
	for isBlank(lines[len(lines)-1]) { // the first is not blank
		lines = lines[:len(lines)-1]
	}
	f.held = nil
	f.route(strings.Join(lines, "\n"), false)
}

// route takes an entry to where it belongs: the open question, the run that is
// going, or the prompt. The lock is held.
func (f *Face) route(line string, answer bool) {
	f.armed = false
	switch {
	case answer:
		f.answer(reply{line: line})
		return
	case isBlank(line) && f.busy:
		return
	case isBlank(line):
		f.s.prompt()
	case f.busy && f.model && f.rt != nil && !isCommand(line):
		f.steered = append(f.steered, line)
		f.rt.Enqueue(line)
		f.s.line(f.s.dim("noted: the model reads it after this step"))
	case f.busy:
		f.kept = append(f.kept, line)
		f.s.line(f.s.dim("kept for when this is done"))
	default:
		f.kept = append(f.kept, line)
		f.busy = f.rt != nil
		f.s.entered()
		f.signal()
	}
	if f.question != nil {
		f.s.ask()
	}
}

func (f *Face) inputEnded(e *entry, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if rest, ok := e.rest(); ok {
		f.entered(rest, false)
	}
	f.release()
	f.closed = true
	if !errors.Is(err, io.EOF) {
		f.readErr = fmt.Errorf("read input: %w", err)
	}
	if f.question != nil {
		f.answer(reply{err: oh.ErrNobody})
	}
	f.signal()
}

// entry joins lines into what a person entered: a backslash at the end of a
// line continues it, and a marked paste is one entry.
type entry struct {
	lines []string
	paste bool
}

// add takes a line in. done says that the entry is complete. An answer is a
// single line, and no entry is begun then.
func (e *entry) add(line string, answer bool) (whole string, done bool) {
	if answer {
		return unmark(line), true
	}
	if strings.LastIndex(line, pasteBegin) > strings.LastIndex(line, pasteEnd) {
		e.paste = true
	} else if strings.Contains(line, pasteEnd) {
		e.paste = false
	}
	line = unmark(line)
	head, goesOn := strings.CutSuffix(line, `\`)
	if goesOn && !e.paste {
		line = head
	}
	e.lines = append(e.lines, line)
	if e.paste || goesOn {
		return "", false
	}
	whole, _ = e.rest()
	return whole, true
}

// rest returns what is held, at the end of the input.
func (e *entry) rest() (string, bool) {
	if len(e.lines) == 0 {
		return "", false
	}
	whole := strings.Join(e.lines, "\n")
	*e = entry{}
	return whole, true
}

func unmark(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, pasteBegin, ""), pasteEnd, "")
}
