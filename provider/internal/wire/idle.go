package wire

import (
	"io"
	"sync"
	"time"
)

// idle limits silence. It runs only while somebody waits for the service, so a
// slow reader of the stream is never taken for a silent service.
type idle struct {
	mu    sync.Mutex
	timer *time.Timer // nil: no limit; guarded by mu, like the rest
	d     time.Duration
	armed bool
	fire  func()
}

func (i *idle) start(d time.Duration, fire func()) {
	i.fire = fire
	i.d = d
	if d > 0 {
		i.timer = time.AfterFunc(d, fire)
	}
}

// arm begins a wait.
func (i *idle) arm() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.armed = true
	i.reset()
}

// rest ends a wait.
func (i *idle) rest() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.armed = false
	if i.timer != nil {
		i.timer.Stop()
	}
}

// touch says that something moved during a wait.
func (i *idle) touch() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.armed {
		i.reset()
	}
}

func (i *idle) reset() {
	if i.timer != nil {
		i.timer.Reset(i.d)
	}
}

// shorten lowers the limit for the waits that follow.
func (i *idle) shorten(d time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.timer == nil {
		i.timer = time.AfterFunc(d, i.fire)
		i.timer.Stop()
		i.d = d
	}
	i.d = min(i.d, d)
}

func (i *idle) limit() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.d
}

// touching is the body of a request: sending it counts as a sign of life.
type touching struct {
	io.Reader
	idle *idle
}

func (t touching) Read(p []byte) (int, error) {
	t.idle.touch()
	return t.Reader.Read(p)
}
