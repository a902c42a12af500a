package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/eventstream"
	"github.com/openharness/oh/provider/internal/sse"
)

const (
	maxFault = 64 << 10  // bytes of an error's body that are read
	maxWhole = sse.Limit // bytes of an answer that is no stream
	drain    = 4 << 10   // bytes read after the end to keep a connection
	linger   = 50 * time.Millisecond
)

var (
	errIdle = errors.New("the service fell silent")
	errCut  = errors.New("the stream ended before the reply was complete")
)

// Stream is an answer. It has one reader.
type Stream struct {
	link   *Link
	ctx    context.Context // the caller's
	inner  context.Context // ends with ctx, Close or the idle limit
	cancel context.CancelCauseFunc
	idle   idle
	resp   *http.Response
	rest   io.Reader // the body from its first byte
	whole  bool
	events *sse.Reader
	frames *eventstream.Reader // in place of events
	lines  *lineReader         // likewise
}

// Whole reports that the service answered with one JSON text instead of
// events; ReadAll returns it.
func (s *Stream) Whole() bool { return s.whole }

// Read implements [io.Reader] over the body, under the idle limit.
func (s *Stream) Read(p []byte) (int, error) {
	s.idle.arm()
	n, err := s.resp.Body.Read(p)
	s.idle.rest()
	return n, err
}

// sniff looks at the first bytes: many services answer errors and pages with a
// status of 200 and any content type.
func (s *Stream) sniff() error {
	var head []byte
	var err error
	for err == nil && len(head) < longestField {
		var buf [512]byte
		var n int
		n, err = s.Read(buf[:])
		// White space at the start is a sign of life and means nothing.
		head = bytes.TrimLeft(append(head, buf[:n]...), " \t\r\n")
	}
	s.rest = io.MultiReader(bytes.NewReader(head), s)
	kind, _, _ := strings.Cut(s.resp.Header.Get("Content-Type"), ";")
	start := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return s.transport(errCut.Error(), err)
	case len(start) == 0 && err != nil:
		return s.link.Fail(oh.KindUnavailable, errors.New("the service answered with nothing"))
	case len(start) > 0 && start[0] == '{' && s.link.lines:
		s.lines = newLineReader(s.rest)
		return nil
	case len(start) > 0 && (start[0] == '{' || start[0] == '['):
		s.whole = true
		return nil
	case isFrames(start):
		s.frames = eventstream.NewReader(s.rest)
		return nil
	case strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") && start[0] != '<', isEvents(start):
		s.events = sse.NewReader(s.rest)
		return nil
	}
	raw, _ := io.ReadAll(io.LimitReader(s.rest, maxFault))
	words := "the service answered with neither events nor JSON; check the base URL"
	if start[0] == '<' {
		words = "the service answered with a web page; check the base URL"
	}
	return s.link.failed(s.resp.StatusCode, "", oh.KindInvalid, 0, strings.TrimSuffix(words+": "+s.link.hide(plain(raw)), ": "))
}

// longestField is the length of the longest name that an event stream may
// begin with.
const longestField = len("event:")

// isEvents reports whether start can begin an event stream.
func isEvents(start []byte) bool {
	for _, field := range []string{":", "data:", "event:", "id:", "retry:"} {
		if n := min(len(start), len(field)); n > 0 && string(start[:n]) == field[:n] {
			return true
		}
	}
	return false
}

// ReadAll returns the answer when it is Whole.
func (s *Stream) ReadAll() ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(s.rest, maxWhole+1))
	switch {
	case err != nil:
		return nil, s.transport(errCut.Error(), err)
	case len(raw) > maxWhole:
		return nil, s.link.Fail(oh.KindInvalid, sse.ErrTooLong)
	}
	return raw, nil
}

// Next returns the next event. At the end of the stream the error is [io.EOF],
// otherwise an [*oh.Error].
func (s *Stream) Next() (sse.Event, error) {
	if s.frames != nil {
		return s.nextFrame()
	}
	ev, err := s.nextEvent()
	switch {
	case err == nil, errors.Is(err, io.EOF) && s.ctx.Err() == nil:
		return ev, err
	case errors.Is(err, sse.ErrTooLong):
		return ev, s.link.Fail(oh.KindInvalid, err)
	}
	return ev, s.transport(errCut.Error(), err)
}

func (s *Stream) nextEvent() (sse.Event, error) {
	if s.lines != nil {
		return s.lines.next()
	}
	return s.events.Next()
}

// Cut is the error of a stream that ended too early.
func (s *Stream) Cut() *oh.Error { return s.link.Fail(oh.KindUnavailable, errCut) }

// Hurry shortens the limit on silence, for the rest of a reply that is
// complete already.
func (s *Stream) Hurry(limit time.Duration) { s.idle.shorten(limit) }

// Finish ends a stream whose reply is complete. What little follows is read, so
// that the connection can be used again; a service that keeps it open is not
// waited for.
func (s *Stream) Finish() {
	s.idle.shorten(linger)
	_, _ = io.CopyN(io.Discard, s, drain)
	s.Close()
}

// Close ends the request. It may be called more than once.
func (s *Stream) Close() {
	s.idle.rest()
	s.cancel(nil)
	if s.resp != nil {
		_ = s.resp.Body.Close()
	}
}

// transport makes an error of a connection that failed while it was read or
// made. what says what was not had because of it.
func (s *Stream) transport(what string, err error) error {
	if ctxErr := s.ctx.Err(); ctxErr != nil {
		return s.link.Fail(oh.KindCancelled, ctxErr)
	}
	if errors.Is(context.Cause(s.inner), errIdle) {
		return s.link.Fail(oh.KindUnavailable, fmt.Errorf("%w: nothing came for %v", errIdle, s.idle.limit()))
	}
	if e, ok := errors.AsType[*provider.ProxyError](err); ok {
		return s.link.proxy(e)
	}
	if e, ok := errors.AsType[*oh.Error](err); ok {
		return e // what stands in for the network knows better
	}
	kind, err := connection(err)
	if what == "" {
		return s.link.Fail(kind, s.link.veiled(err))
	}
	if isEnd(err) {
		return s.link.Fail(kind, errors.New(what))
	}
	return s.link.Fail(kind, fmt.Errorf("%s: %w", what, s.link.veiled(err)))
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// veiled returns err, its text free of keys.
func (l *Link) veiled(err error) error {
	if s := err.Error(); l.hide(s) != s {
		return errors.New(l.hide(s))
	}
	return err
}

// plain makes one short line of an answer meant for people or browsers; "" when
// it says nothing.
func plain(raw []byte) string {
	s := text.Clean(string(raw))
	lower := strings.ToLower(s)
	if i := strings.Index(lower, "<title>"); i >= 0 && len(lower) == len(s) {
		if j := strings.Index(lower[i:], "</title>"); j > 0 {
			s = s[i+len("<title>") : i+j]
		}
	}
	return text.OneLine(s, 300)
}

// Told is what an assembler returns for an error that the service told inside
// its answer. Raw is the JSON as it came.
type Told struct{ Raw []byte }

// Error implements error.
func (t *Told) Error() string { return "the service told an error" }

// Fault classifies an error that was told inside the answer.
func (s *Stream) Fault(raw []byte) *oh.Error { return s.link.Fault(0, nil, raw) }

// Broken is the error of an answer that does not follow the protocol. Another
// attempt may: most such answers come from a gateway in trouble. Not so a reply
// that is too long.
func (s *Stream) Broken(err error) *oh.Error {
	if errors.Is(err, ErrTooMuch) {
		return s.link.Fail(oh.KindInvalid, err)
	}
	return s.link.Fail(oh.KindUnavailable, fmt.Errorf("the answer cannot be read: %w", s.link.veiled(err)))
}
