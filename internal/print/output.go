package print

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// ErrClosed says that nobody reads stdout any more. The run is to be ended, in
// silence, with exit code 1.
var ErrClosed = errors.New("stdout is closed")

const (
	holdTime  = 50 * time.Millisecond
	holdBytes = 32 << 10
)

// output is stdout with a buffer. After a failed write it keeps the error and
// writes nothing more.
type output struct {
	w       io.Writer
	buf     []byte
	flushed time.Time // of the event that was last flushed
	err     error
}

func (o *output) flush() error {
	if o.err != nil || len(o.buf) == 0 {
		return o.err
	}
	_, err := o.w.Write(o.buf)
	o.buf = o.buf[:0]
	if err != nil {
		if isClosed(err) {
			err = fmt.Errorf("%w: %w", ErrClosed, err)
		}
		o.err = fmt.Errorf("write stdout: %w", err)
	}
	return o.err
}

// held flushes when a delta of that time may not wait any longer.
func (o *output) held(at time.Time) error {
	if len(o.buf) < holdBytes && at.Sub(o.flushed) < holdTime && !at.Before(o.flushed) {
		return o.err
	}
	o.flushed = at
	return o.flush()
}

// line writes one JSON value as a line, at once.
func (o *output) line(value []byte) error {
	o.buf = append(appendSafe(o.buf, value), '\n')
	return o.flush()
}

func (o *output) text(s string) error {
	o.buf = append(o.buf, s...)
	return o.flush()
}

func isClosed(err error) bool {
	if errors.Is(err, ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) {
		return true
	}
	return isPlatformClosed(err)
}
