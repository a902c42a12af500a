// Package print is the headless face: it writes the events of a run to stdout
// as text, as one JSON result, as the frames of Claude Code's stream-json, or
// as native events, and says on stderr what a person must know.
//
// It is not for running anything: the caller ranges over a run and hands every
// event to [Printer.Event], then the run's error to [Printer.Finish], and ends
// with [ExitCode].
//
// Guarantees: in the JSON formats every line of stdout is one JSON value, and
// nothing else is written there; a message that became void is never part of an
// answer; is_error and the exit code agree (exit 6 excepted, see [ExitCode]).
//
// Flushing: every event that is no delta is written through at once. Deltas are
// held back for at most 50 ms by the envelopes' own time, that is, until the
// next event after it; [Printer.Flush] writes them at once.
//
// The caller must ignore SIGPIPE, or the program dies before it can report a
// closed stdout.
package print

import (
	"fmt"
	"io"

	"github.com/openharness/oh"
)

// Format is a form of output.
type Format string

// The formats.
const (
	Text       Format = "text"        // the answer
	JSON       Format = "json"        // one result object
	StreamJSON Format = "stream-json" // Claude Code's frames, one a line
	Events     Format = "events"      // native envelopes, one a line
)

// ParseFormat reads a format by name; "" is text.
func ParseFormat(s string) (Format, error) {
	switch f := Format(s); f {
	case "":
		return Text, nil
	case Text, JSON, StreamJSON, Events:
		return f, nil
	}
	return "", fmt.Errorf("output format %q is not one of text, json, stream-json, events", s)
}

// Options configures a [Printer]. Out and Err must be set.
type Options struct {
	Format      Format // "" is text
	Out, Err    io.Writer
	OutTerminal bool // Out is a terminal: text streams, control bytes are removed
	ErrTerminal bool // Err is a terminal that can erase a line: progress is shown
	ASCII       bool // no glyphs on Err
	Width       int  // of Err's terminal in columns; 0 is 80
	Partial     bool // stream-json: stream_event frames too
	Verbose     bool // say more on Err: info notices, and retries in every format

	Info Info

	// Price returns the cost of one request. nil: no price is known.
	Price func(profile, model string, u oh.Usage) (usd float64, known bool)

	// Window returns a model's context window in tokens, 0 when unknown.
	Window func(model string) int

	// NewID makes ids for frames; nil is oh.NewID.
	NewID func() string
}

// Info is what a run begins with, for the init frame and for hints. Tools are
// our names.
type Info struct {
	Session, Dir, Profile, Model string
	Mode                         oh.Mode
	Tools                        []string
	Servers                      []Server
	Commands                     []string // slash commands, without the slash
	Agents, Skills               []string
	Plugins                      []Plugin
	Style                        string // of output; "" is default
	Version                      string // of this program
	KeySource                    string // where the key came from; "" is none
	BaseURL                      string // of the model service, for hints; "" is unknown
	BaseURLSource                string // who set it, such as OLLAMA_HOST; "" is unknown
	NoSave                       bool   // the session is not kept: no hint to go on with it
}

// Server is an MCP server with its status: connected, pending, failed,
// needs-auth or disabled.
type Server struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

// Plugin is a loaded plugin and its folder.
type Plugin struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// Printer writes one run after the other. It is used from one goroutine. With
// ErrTerminal it runs a goroutine of its own from the first event to Finish.
type Printer struct {
	o     Options
	out   *output
	note  *notes
	tally *tally
	face  face
}

// face is what differs between the formats.
type face interface {
	event(env oh.Envelope, denied *Denial) error
	finish(o Outcome) error
}

// New returns a printer.
func New(o Options) *Printer {
	if o.NewID == nil {
		o.NewID = oh.NewID
	}
	if o.Price == nil {
		o.Price = func(string, string, oh.Usage) (float64, bool) { return 0, false }
	}
	if o.Window == nil {
		o.Window = func(string) int { return 0 }
	}
	if o.Width <= 0 {
		o.Width = 80
	}
	if o.Format == "" {
		o.Format = Text
	}
	p := &Printer{o: o, out: &output{w: o.Out}}
	p.tally, p.note = newTally(&p.o), newNotes(&p.o)
	switch o.Format {
	case JSON:
		p.face = &jsonFace{p}
	case StreamJSON:
		p.face = &streamFace{p: p}
	case Events:
		p.face = &eventFace{p: p}
	default:
		p.face = &textFace{p: p}
	}
	return p
}

// Event writes what the event calls for. An error means that stdout cannot be
// written; [ErrClosed] is among its causes when the reader has gone. The caller
// then ends the run and calls [Printer.Finish].
func (p *Printer) Event(env oh.Envelope) error {
	if p.out.err != nil {
		return p.out.err
	}
	denied := p.tally.add(env)
	p.note.event(env.Event)
	return p.face.event(env, denied)
}

// Flush writes what is held back.
func (p *Printer) Flush() error { return p.out.flush() }

// Finish ends a run: runErr is the error that ended its sequence, or nil. It
// writes the answer or the result frame, and on stderr what went wrong and what
// was refused. The next event begins another run. The error is about stdout
// alone; with [ErrClosed] among its causes nothing is said.
func (p *Printer) Finish(runErr error) (Outcome, error) {
	o := p.tally.outcome(runErr)
	p.note.stop()
	if p.out.err == nil {
		if err := p.face.finish(o); err != nil && p.out.err == nil {
			o.IsError, o.Class = true, Other
			p.note.fail("the result could not be written: " + err.Error())
		}
	}
	err := p.out.flush()
	if err == nil {
		p.note.end(o, p.tally)
	} else {
		o.IsError, o.Class = true, Other
		o.Closed = isClosed(err)
	}
	p.tally = p.tally.next()
	return o, err
}
