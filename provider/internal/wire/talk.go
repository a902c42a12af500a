package wire

import (
	"errors"
	"io"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/sse"
)

// tail is how long a service may take to send what follows a reply that is
// complete: usage, and the mark of the end.
const tail = 5 * time.Second

// State says how far a reply has come.
type State int

// The states.
const (
	Open     State = iota // more must come
	Complete              // all that is needed is there; usage may follow
	Over                  // nothing more comes
	Broken                // nothing more comes, and the reply is not complete
)

// Assembler makes a reply of the events of its wire. It does no I/O and has
// one user.
type Assembler interface {
	// Feed takes one event. An error that the service told is a [*Told]; any
	// other is a breach of the protocol, but for [ErrTooMuch].
	Feed(name, data []byte) error

	// Whole takes an answer that did not stream. The reply is over with it.
	Whole(raw []byte) error

	// End gives up what was held back for what did not come. It may be called
	// more than once.
	End()

	// State says how far the reply has come.
	State() State

	// Take returns the deltas made since the last call; they are used before
	// the next Feed.
	Take() []oh.Chunk

	// Message returns the reply, once it is complete. After an error its usage is
	// what was told until then, and the rest means nothing.
	Message() oh.Message
}

// Deltas are those that an assembler has made and not handed over; embedded, it
// is [Assembler.Take].
type Deltas struct{ made []oh.Chunk }

// Add appends one.
func (d *Deltas) Add(c oh.Chunk) { d.made = append(d.made, c) }

// Take implements [Assembler].
func (d *Deltas) Take() []oh.Chunk {
	out := d.made
	d.made = d.made[:0]
	return out
}

// Talk passes on what the service says until the reply is complete, and ends
// the request. err, if any, is what opening the stream gave.
func Talk(s *Stream, err error, a Assembler, yield func(oh.Chunk, error) bool) {
	if err != nil {
		yield(nil, err)
		return
	}
	defer s.Close()
	if limits := s.limits(); len(limits.Limits) > 0 && !yield(limits, nil) {
		return
	}
	done, err := relay(s, a, yield)
	switch {
	case err != nil:
		yield(nil, used(err, a))
	case done:
		s.Finish()
		yield(oh.MessageDone{Message: a.Message()}, nil)
	}
}

// used adds to an error what the request used so far, as the service told: it is
// paid for all the same.
func used(err error, a Assembler) error {
	if e, ok := errors.AsType[*oh.Error](err); ok {
		e.Usage = a.Message().Usage
	}
	return err
}

// relay passes on deltas. It is not done when the consumer has had enough.
func relay(s *Stream, a Assembler, yield func(oh.Chunk, error) bool) (done bool, err error) {
	if s.Whole() {
		raw, err := s.ReadAll()
		if err == nil {
			err = blame(s, a.Whole(raw))
		}
		if err != nil {
			return false, err
		}
		a.End()
		return pass(a, yield), nil
	}
	for {
		err := next(s, a)
		state := a.State()
		if err != nil || state >= Over {
			a.End()
		}
		if !pass(a, yield) {
			return false, nil
		}
		switch {
		case err != nil:
			err = ended(s, state, err)
			return err == nil, err
		case state == Broken:
			return false, s.Cut() // a gateway ends a stream properly whose source died
		case state == Over:
			return true, nil
		case state == Complete:
			s.Hurry(tail)
		}
	}
}

// told is an error that a complete reply does not heal.
type told struct{ error }

func (t told) Unwrap() error { return t.error }

// next feeds the next event. Half an event at the end of a stream that is no
// event of the wire is the end.
func next(s *Stream, a Assembler) error {
	ev, err := s.Next()
	if err != nil {
		return err
	}
	return feed(s, a, ev)
}

func feed(s *Stream, a Assembler, ev sse.Event) error {
	err := a.Feed(ev.Name, ev.Data)
	if err == nil {
		return nil
	}
	_, fault := errors.AsType[*Told](err)
	if ev.Unfinished && !fault && !errors.Is(err, ErrTooMuch) {
		return io.EOF
	}
	return told{blame(s, err)}
}

// ended judges a stream that is over: it is complete, with or without the mark
// of its end, if it was said why the reply ended.
func ended(s *Stream, state State, err error) error {
	if t, ok := errors.AsType[told](err); ok {
		return t.error
	}
	switch {
	case oh.KindOf(err) == oh.KindCancelled:
		return err
	case state == Complete || state == Over:
		return nil
	case errors.Is(err, io.EOF):
		return s.Cut()
	}
	return err
}

// blame makes an error of the service, or of a stream that breaks the
// protocol, one of this wire.
func blame(s *Stream, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*Told](err); ok {
		return s.Fault(e.Raw)
	}
	if _, ok := errors.AsType[*oh.Error](err); ok {
		return err
	}
	return s.Broken(err)
}

func pass(a Assembler, yield func(oh.Chunk, error) bool) bool {
	for _, c := range a.Take() {
		if !yield(c, nil) {
			return false
		}
	}
	return true
}
