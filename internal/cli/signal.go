package cli

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long the program may take to end after a signal.
const patience = 8 * time.Second

// signals turns SIGINT and SIGTERM into the end of a context, and a second one
// into the end of the program.
//
// A write to a closed stdout must fail rather than kill. It is caught and not
// ignored: an ignored SIGPIPE would be inherited by every command that runs.
type signals struct {
	ctx    context.Context
	cancel context.CancelFunc
	ch     chan os.Signal
	done   chan struct{}
	wait   sync.WaitGroup
	first  atomic.Int32 // the number of the first signal

	mu    sync.Mutex
	onInt func() // takes SIGINT in place of the context; guarded by mu
}

func watchSignals() *signals {
	s := &signals{ch: make(chan os.Signal, 4), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	notify(s.ch)
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		for {
			select {
			case sig := <-s.ch:
				s.take(sig)
			case <-s.done:
				return
			}
		}
	}()
	return s
}

func (s *signals) take(sig os.Signal) {
	if isPipe(sig) {
		return
	}
	if sig == os.Interrupt {
		s.mu.Lock()
		handler := s.onInt
		s.mu.Unlock()
		if handler != nil {
			handler()
			return
		}
	}
	num := int32(2)
	if n, ok := sig.(syscall.Signal); ok {
		num = int32(n)
	}
	if !s.first.CompareAndSwap(0, num) {
		os.Exit(128 + int(num))
	}
	s.cancel()
	// Tools end within their grace. What then still waits is a reader of stdout
	// that does not read; it must not hold the program.
	time.AfterFunc(patience, func() { os.Exit(128 + int(num)) })
}

// interrupts sets what SIGINT does in place of ending the program; nil sets it
// back.
func (s *signals) interrupts(f func()) {
	s.mu.Lock()
	s.onInt = f
	s.mu.Unlock()
}

// caught is the number of the signal that ended the context, 0 for none.
func (s *signals) caught() int { return int(s.first.Load()) }

func (s *signals) exitCode() int { return 128 + s.caught() }

func (s *signals) stop() {
	signal.Stop(s.ch)
	close(s.done)
	s.wait.Wait()
	s.cancel()
}
