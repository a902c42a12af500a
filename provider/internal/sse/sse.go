// Package sse reads server-sent events from a stream of bytes, however it is
// cut: line ends LF, CR LF and CR, comments, several data lines, a byte order
// mark, a last event without its blank line, an object that is no event's. It knows nothing of HTTP or of
// what the events mean.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limit is the size in bytes of the longest line and of the longest event.
const Limit = 64 << 20

// ErrTooLong says that a line or an event is longer than [Limit].
var ErrTooLong = errors.New("an event of the stream is longer than 64 MB")

// Event is one event. Its bytes are valid until the next call of Next.
type Event struct {
	Name []byte // of the event, empty when it had none
	Data []byte // data lines joined by newlines

	// Unfinished says that the stream ended before the event's blank line, so
	// the data may be cut.
	Unfinished bool
}

// Reader reads events.
type Reader struct {
	r          io.Reader
	buf        []byte // what was read
	start, end int    // the part of buf not yet used
	seen       int    // bytes after start that hold no line end
	skipLF     bool   // the last line ended with CR
	begun      bool   // the first line was read
	limit      int
	err        error

	name, data []byte
	hasData    bool
	bare       bare
}

// NewReader returns a reader of the events in r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r, limit: Limit} }

// Next returns the next event that has data. At the end the error is [io.EOF];
// an error of the underlying reader is returned as it is, after the events
// that were whole before it.
func (r *Reader) Next() (Event, error) {
	r.name, r.data, r.hasData, r.bare = r.name[:0], r.data[:0], false, bare{}
	for {
		line, err := r.line()
		if err != nil {
			if errors.Is(err, io.EOF) && r.last() {
				return r.left(), nil
			}
			return Event{}, err
		}
		if len(line) > 0 {
			if err := r.field(line); err != nil {
				return Event{}, err
			}
			if r.bare.whole() {
				return Event{Data: r.bare.text}, nil
			}
			continue
		}
		if r.hasData {
			return Event{Name: r.name, Data: r.data}, nil
		}
		r.name = r.name[:0]
	}
}

// last takes the unfinished last line and reports whether an event is left.
func (r *Reader) last() bool {
	if rest := r.buf[r.start:r.end]; len(rest) > 0 {
		r.start, r.seen = r.end, 0
		if r.field(r.first(rest)) != nil {
			return false
		}
	}
	return r.hasData || r.bare.whole()
}

// left is the event whose end did not come.
func (r *Reader) left() Event {
	if r.hasData {
		return Event{Name: r.name, Data: r.data, Unfinished: true}
	}
	return Event{Data: r.bare.text, Unfinished: true}
}

func (r *Reader) field(line []byte) error {
	if !r.hasData && r.bare.take(line) {
		return nil
	}
	name, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		if len(r.data)+len(value) > r.limit {
			return r.fail(ErrTooLong)
		}
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	case "event":
		r.name = append(r.name[:0], value...)
	}
	return nil
}

// line returns the next line that has its end, without it.
func (r *Reader) line() ([]byte, error) {
	for {
		if r.skipLF && r.start < r.end {
			if r.buf[r.start] == '\n' {
				r.start++
			}
			r.skipLF = false
		}
		rest := r.buf[r.start:r.end]
		if i := lineEnd(rest[r.seen:]); i >= 0 {
			i += r.seen
			r.skipLF = rest[i] == '\r'
			r.start += i + 1
			r.seen = 0
			return r.first(rest[:i]), nil
		}
		r.seen = len(rest)
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// lineEnd returns the index of the first CR or LF, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// first drops the byte order mark from the first line.
func (r *Reader) first(line []byte) []byte {
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	return line
}

// fill reads more, making room first.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.end-r.start > r.limit {
		return r.fail(ErrTooLong)
	}
	if r.start > 0 && (r.start == r.end || r.end == len(r.buf)) {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, max(16<<10, 2*len(r.buf)))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	for range 100 {
		n, err := r.r.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			return r.fail(fmt.Errorf("read events: bad count %d", n))
		}
		r.end += n
		if err != nil {
			r.err = err
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return r.fail(io.ErrNoProgress)
}

func (r *Reader) fail(err error) error {
	r.err = err
	r.start, r.seen = r.end, 0
	return err
}
