package plain

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/slash"
)

// The marks that a terminal puts around pasted text when it was asked to.
const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

func isCommand(line string) bool {
	_, _, ok := slash.Parse(line)
	return ok
}

// readLines reads the input to its end and routes each entry.
func (f *Face) readLines() {
	r := bufio.NewReader(f.c.In)
	var e entry
	for {
		raw, err := r.ReadString('\n')
		if raw != "" {
			whole, done := e.add(strings.TrimRight(raw, "\r\n"), f.asking())
			if done {
				f.route(whole)
			} else if err == nil {
				f.more()
			}
		}
		if err != nil {
			if rest, ok := e.rest(); ok {
				f.route(rest)
			}
			f.inputEnded(err)
			return
		}
	}
}

func (f *Face) asking() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.question != nil
}

// more shows that the entry goes on, when the prompt is what it was typed at.
func (f *Face) more() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.busy {
		f.s.more()
	}
}

func (f *Face) inputEnded(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
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
// single line.
func (e *entry) add(line string, answer bool) (whole string, done bool) {
	if answer && len(e.lines) == 0 && !e.paste {
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
