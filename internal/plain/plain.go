// Package plain is the line-mode face: a prompt, streamed answers, one line per
// tool, and questions that are answered by typing a line. It works on dumb
// terminals, with screen readers and over pipes.
//
// It is not for deciding or running anything: a [Runtime] handles the lines,
// and [Face] answers as its [oh.Asker].
//
// Guarantees: no control byte of a model, tool or file reaches the screen; what
// a person is asked to permit is shown with invisible characters made visible;
// no line that was typed is lost; on a terminal, lines that come as fast as only
// a paste does are one entry, and a run that shows nothing says that it goes on.
// One goroutine reads the input, from the first
// Run or Ask until the input ends: a read cannot be called off, so it outlives
// Run while the input stays silent.
package plain

import (
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/gist"
	"github.com/openharness/oh/internal/slash"
)

// ErrExit is what [Runtime.Handle] yields to end the program in peace.
var ErrExit = errors.New("exit")

// Runtime is the session behind the face.
type Runtime interface {
	// Handle runs one line: a prompt or a slash command. An empty line runs
	// the model on what is queued, and does nothing when nothing is. The error
	// is the last thing yielded; [ErrExit] ends [Face.Run].
	Handle(ctx context.Context, line string) iter.Seq2[oh.Envelope, error]

	// Enqueue hands over what was typed while a run is going, as one text
	// block. It is called from any goroutine.
	Enqueue(text string)
}

// Config configures a [Face]. In and Out must be set.
type Config struct {
	In       io.Reader
	Out      io.Writer
	Terminal bool // Out is a terminal: colours, folded prose, pastes as one entry, signs of life
	Width    int  // columns; 0 is 80
	Lines    int  // a longer diff, plan or output is cut to so many lines; 0 is 40
	Dir      string
	Getenv   func(string) string // NO_COLOR, TERM, LC_ALL, LC_CTYPE, LANG; nil is os.Getenv

	// First is a prompt to begin with, shown as if it had been typed; "" is
	// none. It may have several lines.
	First string

	// Info tells what is known about the session. It is asked when Run begins
	// and when advice is due, from Run's goroutine; nil tells nothing.
	Info func() Info
}

// Info is what advice and the lines on changes depend on.
type Info struct {
	Profile, Model, Effort string
	Mode                   oh.Mode
	KeySource              string // where the key came from, such as ANTHROPIC_API_KEY; "" is none
	BaseURL                string // of the model service; "" is unknown
	BaseURLSource          string // who set it, such as OLLAMA_HOST; "" is unknown
	NoSave                 bool   // the session is not kept
}

// Face is the line-mode face. Its methods may be called from any goroutine; Run
// is called once at a time.
type Face struct {
	c    Config
	s    *screen
	turn chan struct{} // held by the question that is open
	wake chan struct{} // something in what mu guards has changed for Run

	read sync.Once

	// Run's goroutine alone touches these three.
	first string // a prompt that is still to be entered
	said  string // by the slash command of this run
	known state

	mu       sync.Mutex // guards what follows
	rt       Runtime    // nil outside Run
	cancel   context.CancelFunc
	busy     bool     // a line is being handled
	model    bool     // and the model is at work on it, so that lines steer
	steered  []string // enqueued and not yet taken
	kept     []string // lines for later prompts
	question chan reply
	waiting  int  // questions that wait for the open one
	armed    bool // the last thing at the prompt was an interrupt
	leave    bool
	closed   bool // the input has ended
	readErr  error
	approved map[string]oh.Diff // shown in a question and allowed, by call

	held     []string    // entries that came at once and may go on
	due      time.Time   // when they are complete, unless more comes
	settling *time.Timer // runs settle then
}

// reply is an answer's line, or why there is none.
type reply struct {
	line string
	err  error
}

// New returns a face. It writes nothing yet.
func New(c Config) *Face {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Width <= 0 {
		c.Width = 80
	}
	c.Width = max(c.Width, 20)
	if c.Lines <= 0 {
		c.Lines = 40
	}
	f := &Face{
		c: c, s: &screen{w: c.Out, look: lookOf(c)}, first: c.First,
		turn: make(chan struct{}, 1), wake: make(chan struct{}, 1),
	}
	if c.Terminal {
		f.s.cols = c.Width
	}
	return f
}

// Run reads lines and has them handled until the input ends, the runtime yields
// [ErrExit], or a person interrupts twice at the prompt; then it returns nil.
// It returns the context's error when that ends, and an error when the input
// cannot be read or the screen cannot be written. A run that fails is shown and
// ends nothing.
func (f *Face) Run(ctx context.Context, rt Runtime) error {
	f.mu.Lock()
	f.rt = rt
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.rt = nil
		f.mu.Unlock()
	}()
	i := f.info()
	f.known = state{string(i.Mode), i.Model, i.Effort}
	f.begin()
	f.startReading()
	for {
		line, err := f.next(ctx)
		if errors.Is(err, io.EOF) {
			f.s.line("")
			return f.s.failed()
		}
		if err != nil {
			return err
		}
		if err := f.handle(ctx, rt, line); err != nil {
			if errors.Is(err, ErrExit) {
				return nil
			}
			return err
		}
	}
}

// begin enters the prompt that was given beforehand, in the first Run.
func (f *Face) begin() {
	first := strings.TrimRight(f.first, "\r\n")
	f.first = ""
	if isBlank(first) {
		return
	}
	f.s.first(first)
	f.mu.Lock()
	f.kept = append([]string{first}, f.kept...)
	f.mu.Unlock()
}

func (f *Face) info() Info {
	if f.c.Info == nil {
		return Info{}
	}
	return f.c.Info()
}

// place is what advice depends on.
func (f *Face) place() gist.Place {
	i := f.info()
	return gist.Place{
		Line: true, Profile: i.Profile, Model: i.Model, KeySource: i.KeySource,
		BaseURL: i.BaseURL, BaseURLSource: i.BaseURLSource, NoSave: i.NoSave,
	}
}

// next shows the prompt and waits for a line. io.EOF says that there will be
// none.
func (f *Face) next(ctx context.Context) (string, error) {
	prompted := false
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		line, state := f.take()
		switch state {
		case haveLine:
			return line, nil
		case atEnd:
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.readErr != nil {
				return "", f.readErr
			}
			return "", io.EOF
		case noLine:
		}
		if !prompted {
			f.s.prompt()
			prompted = true
		}
		if err := f.s.failed(); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-f.wake:
		}
	}
}

type inputState int

const (
	noLine inputState = iota
	haveLine
	atEnd
)

func (f *Face) take() (string, inputState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.leave:
		f.leave = false
		return "", atEnd
	case len(f.kept) > 0:
		line := f.kept[0]
		f.kept = f.kept[1:]
		f.busy, f.armed = true, false
		return line, haveLine
	case f.closed:
		return "", atEnd
	}
	f.busy = false
	return "", noLine
}

// handle has one line handled, and then what was typed too late for the run.
func (f *Face) handle(ctx context.Context, rt Runtime, line string) error {
	for {
		again, err := f.once(ctx, rt, line)
		if err != nil || !again {
			return err
		}
		line = ""
	}
}

// once ranges over one run. again says that steering waits for a further one.
func (f *Face) once(ctx context.Context, rt Runtime, line string) (again bool, err error) {
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	f.mu.Lock()
	f.cancel, f.busy = cancel, true
	f.mu.Unlock()
	f.said = ""
	p := f.watch(line)
	ran, ended := f.follow(rt.Handle(run, line), p)
	p.end()
	f.s.streamed()
	stopped := run.Err() != nil
	left := f.idle()
	switch {
	case errors.Is(ended, ErrExit):
		return false, ErrExit
	case f.s.failed() != nil:
		return false, f.s.failed()
	case ctx.Err() != nil:
		return false, ctx.Err()
	case ended != nil && !(stopped && isCancel(ended)):
		f.s.problem(withAdvice(ended.Error(), gist.Advice(ended, f.place())))
	}
	if len(left) > 0 && stopped {
		f.s.dimmed("what you typed meanwhile goes to the model with your next line")
	}
	return len(left) > 0 && !stopped && (line != "" || ran), nil
}

// watch starts the signs of life of a run; nil without a terminal. /continue
// asks the model without a word.
func (f *Face) watch(line string) *pulse {
	if !f.c.Terminal {
		return nil
	}
	p := newPulse(f.sign, f.s.shown)
	if name, _, _ := slash.Parse(strings.TrimSpace(line)); name == "continue" {
		p.ask()
	}
	return p
}

// sign shows a sign of life, unless a question is open: nothing may come
// between it and its answer.
func (f *Face) sign(t string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.question == nil {
		f.s.dimmed(t)
	}
}

// follow shows the events of a run. ran says that the model was asked.
func (f *Face) follow(run iter.Seq2[oh.Envelope, error], p *pulse) (ran bool, ended error) {
	for env, err := range run {
		if err != nil {
			return ran, err
		}
		f.note(env.Event)
		p.event(env.Event)
		f.show(env.Event)
		if _, ok := env.Event.(oh.RunDone); ok {
			ran = true
		}
		if err := f.s.failed(); err != nil {
			return ran, err
		}
	}
	return ran, nil
}

// idle notes that the run is over and returns what was enqueued too late for it.
func (f *Face) idle() (left []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancel, f.model = nil, false
	left, f.steered = f.steered, nil
	clear(f.approved)
	return left
}

func isCancel(err error) bool {
	return errors.Is(err, context.Canceled) || oh.KindOf(err) == oh.KindCancelled
}

// note follows a run as far as lines that come meanwhile depend on it.
func (f *Face) note(e oh.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e := e.(type) {
	case oh.UserTurn:
		f.model = true
		for _, b := range e.Message.Content {
			if t, ok := b.(oh.Text); ok {
				f.taken(t.Text)
			}
		}
	case oh.TextDelta, oh.ThinkingDelta, oh.ToolStarted:
		f.model = true
	case oh.RunDone:
		f.model = false
	}
}

func (f *Face) taken(text string) {
	for i, s := range f.steered {
		if s == text {
			f.steered = append(f.steered[:i:i], f.steered[i+1:]...)
			return
		}
	}
}

// Interrupt is what Ctrl-C means. It stops the run that is going, or withdraws
// the open question; at the prompt the second one in a row ends Run.
func (f *Face) Interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.cancel != nil:
		f.cancel()
		f.s.line(f.s.dim("stopping"))
	case f.question != nil:
		f.answer(reply{err: context.Canceled})
	case f.armed:
		f.leave = true
		f.signal()
	default:
		f.armed = true
		f.s.line("press ctrl-c again to leave, or type on")
		f.s.prompt()
	}
}

// answer gives the open question its reply. The lock is held.
func (f *Face) answer(r reply) {
	f.question <- r
	f.question = nil
}

func (f *Face) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
