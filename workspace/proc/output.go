package proc

import (
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	livePause = 50 * time.Millisecond
	mostLive  = 8 << 10 // bytes of one piece
)

// Output collects what a command prints, as text for a model and for a person
// who watches: cleaned of escape sequences and bad UTF-8, in bounded memory.
// It is a writer for [Job.Out].
type Output struct {
	Limits oh.Limits
	Create func() (text.File, error) // where long output goes; nil: it is cut and lost, which is said

	// Live, when set, gets the text while it comes, in pieces of at most 8 kB,
	// 20 a second. When more comes, the older part of a piece is left out.
	Live func(string)

	once  sync.Once
	clean text.Cleaner
	spill text.Spill
	live  live
}

func (o *Output) init() {
	limits := o.Limits.WithDefaults()
	o.spill = text.Spill{Inline: limits.Inline, Preview: limits.Preview, Create: o.Create}
	o.live.show = o.Live
	o.clean.W = split{o}
}

// split passes cleaned text on to the spill and to who watches.
type split struct{ o *Output }

func (s split) Write(p []byte) (int, error) {
	_, _ = s.o.spill.Write(p)
	if s.o.Live != nil {
		s.o.live.add(p)
	}
	return len(p), nil
}

// Write implements [io.Writer]. It never fails.
func (o *Output) Write(p []byte) (int, error) {
	o.once.Do(o.init)
	return o.clean.Write(p)
}

// Finish ends the output and returns it as the model should see it. tool and
// call name its origin. The error says that the file for long output could not
// be written; the text says so too.
func (o *Output) Finish(tool, call string) (text.Summary, error) {
	o.once.Do(o.init)
	_ = o.clean.Close()
	o.live.end()
	return o.spill.Finish(tool, call)
}

// live hands text on in pieces.
type live struct {
	show func(string)

	mu    sync.Mutex // guards what follows
	buf   []byte
	cut   bool
	timer *time.Timer // runs while buf waits
	last  time.Time
	over  bool
}

func (l *live) add(p []byte) {
	if len(p) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(p) > mostLive {
		p, l.cut = p[len(p)-mostLive:], true
	}
	l.buf = append(l.buf, p...)
	if over := len(l.buf) - mostLive; over > 0 {
		l.buf, l.cut = append(l.buf[:0], l.buf[over:]...), true
	}
	switch wait := livePause - time.Since(l.last); {
	case l.timer != nil:
	case wait <= 0:
		l.flush()
	default:
		l.timer = time.AfterFunc(wait, l.tick)
	}
}

func (l *live) tick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	if !l.over {
		l.flush()
	}
}

// flush shows what waits; the lock is held, which keeps the order.
func (l *live) flush() {
	piece := strings.ToValidUTF8(string(l.buf), "")
	if l.cut {
		if _, rest, ok := strings.Cut(piece, "\n"); ok {
			piece = rest
		}
		piece = "[...]\n" + piece
	}
	l.buf, l.cut = l.buf[:0], false
	l.last = time.Now()
	l.show(piece)
}

func (l *live) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over = true
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if len(l.buf) > 0 {
		l.flush()
	}
}
