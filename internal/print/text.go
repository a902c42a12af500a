package print

import (
	"io"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// textFace writes the answer. On a terminal messages stream; elsewhere only the
// last one is written, when the run is over.
type textFace struct {
	p      *Printer
	clean  *text.Cleaner // of the message that streams, nil in between
	sink   lineSink
	spoken bool // a message has been shown
}

// lineSink passes text to stdout and knows whether a line is open.
type lineSink struct {
	out  *output
	open bool
}

func (s *lineSink) Write(b []byte) (int, error) {
	if len(b) > 0 {
		s.open = b[len(b)-1] != '\n'
		s.out.buf = append(s.out.buf, b...)
	}
	return len(b), nil
}

func (f *textFace) event(env oh.Envelope, _ *Denial) error {
	switch e := env.Event.(type) {
	case oh.CommandOutput:
		return f.command(e.Text)
	case oh.TextDelta:
		if f.p.o.OutTerminal {
			f.write(e.Text)
			return f.p.out.held(env.Time)
		}
	case oh.MessageDone:
		if f.p.o.OutTerminal {
			return f.message(e.Message)
		}
	case oh.Retrying:
		if e.Discard && f.clean != nil {
			f.close()
			return f.p.out.text("[the reply broke off; what stands above is void, it begins anew]\n")
		}
	}
	return nil
}

// write shows a piece of a message.
func (f *textFace) write(s string) {
	if f.clean == nil {
		f.p.note.erase()
		f.sink.out = f.p.out
		if f.spoken {
			_, _ = f.sink.Write([]byte("\n"))
		}
		f.clean, f.spoken = &text.Cleaner{W: &f.sink}, true
	}
	_, _ = io.WriteString(f.clean, s)
}

// close ends the message that streams, with the end of its line.
func (f *textFace) close() {
	if f.clean == nil {
		return
	}
	_ = f.clean.Close()
	f.clean = nil
	if f.sink.open {
		_, _ = f.sink.Write([]byte("\n"))
	}
}

func (f *textFace) message(m oh.Message) error {
	if f.clean == nil {
		if whole := m.Content.Text(); strings.TrimSpace(whole) != "" {
			f.write(whole)
		}
	}
	f.close()
	return f.p.out.flush()
}

func (f *textFace) command(s string) error {
	if s == "" {
		return nil
	}
	if f.p.o.OutTerminal {
		f.p.note.erase()
		s = text.Clean(s)
	}
	return f.p.out.text(lineEnd(s))
}

func (f *textFace) finish(o Outcome) error {
	if f.p.o.OutTerminal {
		f.close()
		f.spoken = false
		return f.output(o)
	}
	switch {
	case o.Reason == oh.ReasonFailed || o.Reason == oh.ReasonNoOutput:
		return nil
	case len(o.Output) > 0:
		return f.output(o)
	}
	return f.p.out.text(lineEnd(f.p.tally.answer))
}

// output writes an answer that is JSON, if there is one.
func (f *textFace) output(o Outcome) error {
	if len(o.Output) == 0 {
		return nil
	}
	if f.p.o.OutTerminal {
		f.p.note.erase()
		return f.p.out.text(text.Clean(string(o.Output)) + "\n")
	}
	return f.p.out.text(string(o.Output) + "\n")
}
