//go:build unix

package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// heard collects output and tells when the first of it comes.
type heard struct {
	mu   sync.Mutex
	text strings.Builder
	once sync.Once
	any  chan struct{}
}

func newHeard() *heard { return &heard{any: make(chan struct{})} }

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.once.Do(func() { close(h.any) })
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// begin starts a command and returns what tells its end.
func begin(t *testing.T, r *Runner, job Job) (*Running, <-chan Exit) {
	t.Helper()
	exits := make(chan Exit, 2)
	p, err := r.Start(job, func(e Exit) { exits <- e })
	if err != nil {
		t.Fatal(err)
	}
	return p, exits
}

// soon takes what must come at once.
func soon[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-within(t).Done():
		t.Fatalf("nothing came within %v", patience)
		panic("unreachable")
	}
}

func TestStart(t *testing.T) {
	r := newRunner(t, Config{})
	out := newHeard()
	p, exits := begin(t, r, Job{Command: "echo $$; exit 3", Out: out})
	exit := soon(t, exits)
	soon(t, p.Done())
	if exit.Code != 3 || exit.Cancelled || exit.Left != nil || strings.TrimSpace(out.String()) != strconv.Itoa(p.PID()) {
		t.Errorf("%+v, %q, pid %d", exit, out.String(), p.PID())
	}
	p.Stop() // of what has ended: nothing
	if len(exits) != 0 {
		t.Error("it ended twice")
	}
}

func TestStartedCommandEndsWithItsOutput(t *testing.T) {
	r := newRunner(t, Config{})
	gate := filepath.Join(t.TempDir(), "gate")
	out := newHeard()
	_, exits := begin(t, r, Job{Out: out,
		Command: "(echo first; while [ ! -e " + gate + " ]; do sleep 0.01; done; echo last) & exit 0"})
	soon(t, out.any)
	select {
	case exit := <-exits:
		t.Fatalf("it ended with its shell: %+v", exit)
	case <-time.After(2 * linger): // the wrong thing would come in this time
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if exit := soon(t, exits); exit.Code != 0 || out.String() != "first\nlast\n" {
		t.Errorf("%+v, %q", exit, out.String())
	}
}

func TestStopStarted(t *testing.T) {
	for name, command := range map[string]string{
		"plain":            "echo pid $$; sleep 300",
		"ignores TERM":     "trap '' TERM; echo pid $$; while :; do sleep 300; done",
		"child of a shell": "(echo pid $BASHPID; sleep 300; :) & exit 0",
		"stubborn child":   "(trap '' TERM; echo pid $BASHPID; while :; do sleep 300; done) & exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, Config{Grace: 100 * time.Millisecond})
			out := newHeard()
			p, exits := begin(t, r, Job{Command: command, Out: out})
			soon(t, out.any)
			p.Stop()
			if exit := soon(t, exits); !exit.Cancelled || exit.TimedOut || exit.Left != nil {
				t.Errorf("%+v", exit)
			}
			for _, pid := range pids(t, out.String()) {
				awaitEnd(t, pid)
			}
		})
	}
}

func TestStartTimeout(t *testing.T) {
	r := newRunner(t, Config{Grace: 100 * time.Millisecond})
	for _, command := range []string{"sleep 300", "sleep 300 & exit 0"} {
		_, exits := begin(t, r, Job{Command: command, Timeout: 300 * time.Millisecond})
		if exit := soon(t, exits); !exit.TimedOut || exit.Cancelled {
			t.Errorf("%s: %+v", command, exit)
		}
	}
}

func TestCloseAllStopsWhatWasStarted(t *testing.T) {
	r := New(Config{Grace: 100 * time.Millisecond})
	var outs []*heard
	var all []<-chan Exit
	for _, command := range []string{
		"echo pid $$; sleep 300",
		"trap 'exit 0' TERM; echo pid $$; while :; do sleep 0.05; done",
		"(echo pid $BASHPID; sleep 300; :) & exit 0",
	} {
		out := newHeard()
		_, exits := begin(t, r, Job{Command: command, Out: out})
		outs, all = append(outs, out), append(all, exits)
	}
	for _, out := range outs {
		soon(t, out.any)
	}
	r.CloseAll()
	for i, exits := range all {
		if len(exits) != 1 {
			t.Fatalf("command %d: CloseAll did not wait for it", i)
		}
		if exit := <-exits; !exit.Cancelled {
			t.Errorf("command %d: %+v", i, exit)
		}
		for _, pid := range pids(t, outs[i].String()) {
			awaitEnd(t, pid)
		}
	}
	if _, err := r.Start(Job{Command: "true"}, func(Exit) { t.Error("it ran") }); !errors.Is(err, ErrClosed) {
		t.Errorf("after CloseAll: %v", err)
	}
}

func TestCloseAllWhileStarting(t *testing.T) {
	for range 20 {
		r := New(Config{Grace: 100 * time.Millisecond})
		var wg sync.WaitGroup
		var mu sync.Mutex
		begun, ended := 0, 0
		for range 4 {
			wg.Go(func() {
				_, err := r.Start(Job{Command: "sleep 300"}, func(Exit) {
					mu.Lock()
					defer mu.Unlock()
					ended++
				})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					begun++
				case !errors.Is(err, ErrClosed):
					t.Error(err)
				}
			})
		}
		r.CloseAll()
		wg.Wait()
		if begun != ended {
			t.Errorf("%d began, %d ended", begun, ended)
		}
	}
}

func TestStartErrors(t *testing.T) {
	r := newRunner(t, Config{})
	_, err := r.Start(Job{Command: "true", Dir: "/no/such/dir"}, func(Exit) { t.Error("it ran") })
	if want := "run a command in /no/such/dir: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

func TestCloseAllWaitsForTheEndToBeNoted(t *testing.T) {
	r := New(Config{})
	noting, noted, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	_, err := r.Start(Job{Command: "sleep 300"}, func(Exit) {
		close(noting)
		<-noted
	})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(closed)
		r.CloseAll()
	}()
	soon(t, noting)
	select {
	case <-closed:
		t.Error("CloseAll did not wait")
	case <-time.After(linger): // the wrong thing would come in this time
	}
	close(noted)
	soon(t, closed)
}
