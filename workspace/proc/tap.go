package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"
)

const (
	chunkSize = 32 << 10

	// mostRest bounds what is still taken once a tap is cut: more than a pipe
	// holds, so that all the shell wrote is in it.
	mostRest = 1 << 20

	// idlePause slows the draining of a child that prints without end.
	idlePause = 20 * time.Millisecond
)

// tap reads a pipe in a goroutine of its own: into out until it is cut, and
// to nowhere after that, so that the writer never blocks.
type tap struct {
	pipe  *os.File
	ended chan struct{} // closed at the end of the pipe
	taken chan struct{} // closed when out gets no more
	stop  chan struct{} // closed by close
	once  sync.Once
	bufs  *sync.Pool // of *[chunkSize]byte

	mu  sync.Mutex // guards out
	out io.Writer  // nil once it gets no more
}

func newTap(pipe *os.File, out io.Writer, bufs *sync.Pool) *tap {
	t := &tap{pipe: pipe, out: out, bufs: bufs, ended: make(chan struct{}), taken: make(chan struct{}), stop: make(chan struct{})}
	if out == nil {
		t.out = io.Discard
	}
	go t.read()
	return t
}

func (t *tap) read() {
	defer close(t.ended)
	chunk, ok := t.bufs.Get().(*[chunkSize]byte)
	if !ok {
		chunk = new([chunkSize]byte)
	}
	defer t.bufs.Put(chunk)
	buf := chunk[:]
	if err := t.readInto(buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		close(t.taken)
		return
	}
	takeRest(t.pipe, t.write, buf)
	close(t.taken)
	t.discard(buf)
}

func (t *tap) readInto(buf []byte) error {
	for {
		n, err := t.pipe.Read(buf)
		if n > 0 {
			t.write(buf[:n])
		}
		if err != nil {
			return err
		}
	}
}

// discard reads to the end of the pipe. A writer in a hurry is slowed down.
func (t *tap) discard(buf []byte) {
	for {
		n, err := t.pipe.Read(buf)
		if err != nil {
			return
		}
		if n < len(buf)/2 {
			continue
		}
		select {
		case <-t.stop:
			return
		case <-time.After(idlePause):
		}
	}
}

func (t *tap) write(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.out == nil {
		return
	}
	if _, err := t.out.Write(p); err != nil {
		t.out = nil // nobody listens any more; the writer must not block for that
	}
}

// cut makes an end of what goes to out, after all that is in the pipe now. It
// reports whether the pipe itself has ended.
func (t *tap) cut() (ended bool) {
	if interrupt(t.pipe) {
		<-t.taken
	}
	t.mu.Lock()
	t.out = nil
	t.mu.Unlock()
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// close ends the tap; safe to call more than once.
func (t *tap) close() {
	t.once.Do(func() {
		close(t.stop)
		_ = t.pipe.Close()
	})
}
