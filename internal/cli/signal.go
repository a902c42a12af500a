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

const (
	// patience is how long the program may take to end after a signal.
	patience = 8 * time.Second
	// echo is how soon after the first a signal is taken for the same one:
	// programs around this one pass on the Ctrl-C that the terminal sends to
	// all of them.
	echo = 300 * time.Millisecond
	// killing is how long an end at once may take to stop what commands left
	// running.
	killing = 2 * time.Second
)

// signals turns SIGINT, SIGTERM and their like into the end of a context, and a
// second one into the end of the program. What the program was started to
// ignore (nohup, a job in the background) stays ignored.
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
	when   time.Time    // of the first signal; of the goroutine that takes them
	exit   func(code int)

	mu    sync.Mutex
	onInt func() // takes SIGINT in place of the context; guarded by mu
	kill  func() // stops what commands left running; guarded by mu
}

func newSignals() *signals {
	s := &signals{ch: make(chan os.Signal, 4), done: make(chan struct{}), exit: os.Exit}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

func watchSignals() *signals {
	s := newSignals()
	signal.Notify(s.ch, wanted(signal.Ignored)...)
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

// wanted are the signals to take: those that the program was started to ignore
// are not among them. The Go runtime knows that of SIGINT and SIGHUP alone.
func wanted(ignored func(os.Signal) bool) []os.Signal {
	list := always()
	for _, sig := range ending() {
		if !ignored(sig) {
			list = append(list, sig)
		}
	}
	return list
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
		if time.Since(s.when) >= echo {
			s.endNow(int(num))
		}
		return
	}
	s.when = time.Now()
	s.cancel()
	// Tools end within their grace. What then still waits is a reader of stdout
	// that does not read; it must not hold the program.
	time.AfterFunc(patience, func() { s.endNow(int(num)) })
}

// endNow ends the program; what commands left running ends first, if that does
// not take long.
func (s *signals) endNow(num int) {
	s.mu.Lock()
	kill := s.kill
	s.mu.Unlock()
	if kill != nil {
		killed := make(chan struct{})
		go func() { // ends with the program
			defer close(killed)
			kill()
		}()
		timer := time.NewTimer(killing)
		defer timer.Stop()
		select {
		case <-killed:
		case <-timer.C:
		}
	}
	s.exit(128 + num)
}

// interrupts sets what SIGINT does in place of ending the program; nil sets it
// back.
func (s *signals) interrupts(f func()) {
	s.mu.Lock()
	s.onInt = f
	s.mu.Unlock()
}

// kills sets what stops the running commands when the program ends at once. It
// is called from any goroutine.
func (s *signals) kills(f func()) {
	s.mu.Lock()
	s.kill = f
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
