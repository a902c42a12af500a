package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/openharness/oh/internal/text"
)

// errNobody says that a person left a question without an answer: the command
// ends and has changed nothing.
var errNobody = errors.New("stopped; nothing is changed")

// answer is a line, or what a terminal said instead.
type answer struct {
	line []byte
	err  error
}

// wait waits for an answer or the end of the command.
func wait(ctx context.Context, read func() ([]byte, error)) (string, error) {
	done := make(chan answer, 1)
	go func() { // ends with the line, or with the program
		line, err := read()
		done <- answer{line, err}
	}()
	select {
	case a := <-done:
		if errors.Is(a.err, io.EOF) {
			return "", errNobody
		}
		return strings.TrimSpace(string(a.line)), a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// ask asks a question and returns the line that a person types.
func (p *program) ask(ctx context.Context, question string) (line string, err error) {
	if _, err := fmt.Fprint(p.out, question); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			fmt.Fprintln(p.out) // the cursor stands behind the question
		}
	}()
	return wait(ctx, func() ([]byte, error) {
		// Byte by byte, so that nothing behind the line is taken.
		var line []byte
		b := make([]byte, 1)
		for {
			n, err := p.in.Read(b)
			switch {
			case n == 1 && b[0] == '\n':
				return line, nil
			case n == 1:
				line = append(line, b[0])
			case err != nil && !(errors.Is(err, io.EOF) && len(line) > 0):
				return nil, err
			case err != nil:
				return line, nil
			}
		}
	})
}

// yes asks a question that is answered with y or n.
func (p *program) yes(ctx context.Context, question string, usual bool) (bool, error) {
	hint := " [y/N] "
	if usual {
		hint = " [Y/n] "
	}
	for {
		line, err := p.ask(ctx, question+hint)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(line) {
		case "":
			return usual, nil
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

// choose asks for one of the names, by number or by name; an empty line is
// usual. free allows what is not in the list.
func (p *program) choose(ctx context.Context, question string, names []string, usual string, free bool) (string, error) {
	if usual != "" {
		question += fmt.Sprintf(" [%s]", usual)
	}
	for {
		line, err := p.ask(ctx, question+": ")
		if err != nil {
			return "", err
		}
		n, notNumber := strconv.Atoi(line)
		switch {
		case line == "" && usual != "":
			return usual, nil
		case line == "":
			continue
		case notNumber == nil && n >= 1 && n <= len(names):
			return names[n-1], nil
		case notNumber != nil && free:
			return line, nil
		}
		for _, name := range names {
			if strings.EqualFold(name, line) {
				return name, nil
			}
		}
		msg := fmt.Sprintf("%q is none of them", text.Clean(line))
		if near := text.Nearest(line, names); near != "" {
			msg += "; did you mean " + near + "?"
		}
		fmt.Fprintln(p.out, msg)
	}
}

// readKey reads a key that is never shown, from a person or from a pipe.
func (p *program) readKey(ctx context.Context, question string) (string, error) {
	var key string
	var err error
	if isTerminal(p.in) {
		if key, err = p.readHidden(ctx, question); err == nil {
			// Marks that a terminal puts around what is pasted.
			key = strings.TrimSpace(strings.NewReplacer("\x1b[200~", "", "\x1b[201~", "").Replace(key))
		}
	} else {
		var raw []byte
		raw, err = io.ReadAll(io.LimitReader(p.in, maxHidden+1))
		key = strings.TrimSpace(string(raw))
	}
	switch {
	case errors.Is(err, errNobody), errors.Is(err, context.Canceled):
		return "", err
	case err != nil:
		return "", fmt.Errorf("read the key: %w", err)
	case len(key) > maxHidden:
		return "", usageError{errors.New("that is no key: it is longer than any key is; nothing is stored")}
	case strings.ContainsAny(key, " \t\r\n"):
		return "", usageError{errors.New("that is no key: it holds white space; nothing is stored")}
	}
	return key, nil
}

// readHidden asks a question and reads a line that is not shown. The question
// comes when nothing is shown any more, so that what is typed at once is hidden
// too; an interrupt leaves the terminal as it was.
func (p *program) readHidden(ctx context.Context, question string) (string, error) {
	fd := int(p.in.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprint(p.errOut, question)
	line, err := wait(ctx, func() ([]byte, error) { return hiddenLine(p.in, p.interrupt) })
	if restoreErr := term.Restore(fd, before); err == nil {
		err = restoreErr
	}
	fmt.Fprintln(p.errOut)
	return line, err
}

// interrupt does what the terminal does at Ctrl-C when it is not held back.
func (p *program) interrupt() {
	select {
	case p.signals.ch <- os.Interrupt:
	default: // enough of them are waiting
	}
}

// maxHidden bounds a key, in bytes. One more is read, so that a longer one is
// refused and not cut.
const maxHidden = 64 << 10

// hiddenLine reads a line from a terminal that does nothing by itself. Ctrl-C
// calls interrupt, after which the reader waits to be left alone.
func hiddenLine(in io.Reader, interrupt func()) ([]byte, error) {
	var line []byte
	b := make([]byte, 1)
	for {
		if n, err := in.Read(b); n == 0 {
			if err == nil {
				err = io.EOF
			}
			return nil, err
		}
		switch c := b[0]; c {
		case '\r', '\n':
			return line, nil
		case 0x03: // Ctrl-C
			interrupt()
		case 0x04: // Ctrl-D
			if len(line) == 0 {
				return nil, io.EOF
			}
		case 0x08, 0x7f: // backspace
			line = line[:max(0, len(line)-1)]
		case 0x15: // Ctrl-U
			line = line[:0]
		default:
			if len(line) <= maxHidden {
				line = append(line, c)
			}
		}
	}
}
