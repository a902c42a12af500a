package cli

import (
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// interrupted takes signals at the given times and returns how long after the
// first one the program was ended, and with which code.
func interrupted(t *testing.T, kill func(), at ...time.Duration) (after time.Duration, code int) {
	t.Helper()
	type end struct {
		after time.Duration
		code  int
	}
	s := newSignals()
	defer s.cancel()
	s.kills(kill)
	began := time.Now()
	ends := make(chan end, 8)
	s.exit = func(c int) { ends <- end{time.Since(began), c} }
	for _, d := range at {
		time.Sleep(d - time.Since(began))
		s.take(os.Interrupt)
		if s.ctx.Err() == nil || s.caught() != 2 {
			t.Errorf("at %v the run is not ended", d)
		}
	}
	e := <-ends
	return e.after, e.code
}

func TestSignalTaken(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name  string
		at    []time.Duration
		after time.Duration
	}{
		{"one: the run ends by itself, in patience", []time.Duration{0}, patience},
		{"the same one again", []time.Duration{0, 0, 299 * ms}, patience},
		{"a second one", []time.Duration{0, 300 * ms}, 300 * ms},
		{"a second one behind an echo", []time.Duration{0, 2 * ms, time.Second}, time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var killed atomic.Int32
				after, code := interrupted(t, func() { killed.Add(1) }, tt.at...)
				if after != tt.after || code != 130 || killed.Load() != 1 {
					t.Errorf("ended after %v with %d, %d kills; want %v, 130, 1", after, code, killed.Load(), tt.after)
				}
				synctest.Wait()
				time.Sleep(patience) // what else is to come
			})
		})
	}
}

// Stopping what runs may take a while, but not for ever.
func TestEndAtOnceDoesNotWait(t *testing.T) {
	for _, tt := range []struct{ takes, after time.Duration }{
		{500 * time.Millisecond, 1500 * time.Millisecond}, {time.Hour, time.Second + killing},
	} {
		synctest.Test(t, func(t *testing.T) {
			after, code := interrupted(t, func() { time.Sleep(tt.takes) }, 0, time.Second)
			if after != tt.after || code != 130 {
				t.Errorf("%v: ended after %v with %d", tt.takes, after, code)
			}
			time.Sleep(2 * time.Hour) // what else is to come
		})
	}
	synctest.Test(t, func(t *testing.T) {
		if after, _ := interrupted(t, nil, 0, time.Second); after != time.Second {
			t.Errorf("without commands: ended after %v", after)
		}
	})
}

func TestInterruptHandled(t *testing.T) {
	s := newSignals()
	defer s.cancel()
	n := 0
	s.interrupts(func() { n++ })
	s.take(os.Interrupt)
	s.take(os.Interrupt)
	if n != 2 || s.caught() != 0 || s.ctx.Err() != nil {
		t.Errorf("handled %d times; caught %d", n, s.caught())
	}
}

// What the program was started to ignore stays ignored.
func TestIgnoredSignals(t *testing.T) {
	for _, sig := range ending() {
		got := wanted(func(s os.Signal) bool { return s == sig })
		if slices.Contains(got, sig) || len(got) != len(always())+len(ending())-1 {
			t.Errorf("%v ignored: %v", sig, got)
		}
	}
	got := wanted(func(os.Signal) bool { return false })
	if !slices.Contains(got, os.Signal(syscall.SIGTERM)) || !slices.Contains(got, os.Interrupt) {
		t.Errorf("nothing ignored: %v", got)
	}
}
