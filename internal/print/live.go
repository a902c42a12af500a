package print

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

const tick = 200 * time.Millisecond

// live is one line at the bottom of a terminal that tells what runs and for how
// long. It is first drawn after a tick, so that nothing flickers.
type live struct {
	w     io.Writer
	width int
	mark  string

	mu    sync.Mutex // guards what follows, and w
	what  string
	since time.Time
	drawn string
	quit  chan struct{} // nil while no goroutine runs
	done  chan struct{}
}

// set changes what is told; "" erases the line. The clock goes on while the
// words stay the same.
func (l *live) set(what string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if what == l.what {
		return
	}
	l.what, l.since = what, now
	if what == "" {
		l.erase()
		return
	}
	if l.quit == nil {
		l.quit, l.done = make(chan struct{}), make(chan struct{})
		go l.run(l.quit, l.done)
	}
}

// print writes whole lines above the live line.
func (l *live) print(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.erase()
	_, _ = io.WriteString(l.w, s)
}

func (l *live) close() {
	l.mu.Lock()
	l.what = ""
	l.erase()
	quit, done := l.quit, l.done
	l.quit = nil
	l.mu.Unlock()
	if quit != nil {
		close(quit)
		<-done
	}
}

func (l *live) run(quit <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-quit:
			return
		case now := <-t.C:
			l.draw(now)
		}
	}
}

func (l *live) draw(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.what == "" {
		return
	}
	after := ""
	if d := now.Sub(l.since); d >= 2*time.Second {
		after = fmt.Sprintf("  %d s", int(d.Seconds()))
	}
	s := l.mark + fit(l.what, l.width-len(after)-4) + after
	if s == l.drawn {
		return
	}
	_, _ = io.WriteString(l.w, "\r\x1b[K"+s)
	l.drawn = s
}

// erase removes the line. The lock is held.
func (l *live) erase() {
	if l.drawn != "" {
		_, _ = io.WriteString(l.w, "\r\x1b[K")
		l.drawn = ""
	}
}

// fit cuts s to n columns, where everything beyond ASCII is taken to be two
// wide: a line that wraps cannot be erased.
func fit(s string, n int) string {
	used := 0
	for i, r := range s {
		used++
		if r >= utf8.RuneSelf {
			used++
		}
		if used > n {
			return s[:i]
		}
	}
	return s
}
