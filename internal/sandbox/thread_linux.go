package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// thread is a thread of the system that has confined itself; the commands that
// it starts inherit that. It is kept, not made for each command: commands of
// one thread are of one domain, so that a later one can stop what an earlier
// one left in the background.
type thread struct {
	calls chan call
	ended chan struct{}
}

type call struct {
	cmd *exec.Cmd
	err chan<- error
}

// newThread makes a thread and lets confine run on it. When that fails there is
// no thread.
func newThread(confine func() error) (*thread, error) {
	// The runtime finds out once how it may follow processes; it must not find
	// out on a confined thread.
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Release()
	}
	t := &thread{calls: make(chan call), ended: make(chan struct{})}
	ready := make(chan error)
	go t.serve(confine, ready)
	if err := <-ready; err != nil {
		<-t.ended
		return nil, err
	}
	return t, nil
}

// serve never gives its thread back to the runtime: the thread ends with it.
func (t *thread) serve(confine func() error, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The first thread stands for the whole program and cannot end. While
		// it is held here, another goroutine gets another one.
		placed := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(placed)
			t.work(confine, ready)
		}()
		<-placed
		runtime.UnlockOSThread()
		return
	}
	t.work(confine, ready)
}

func (t *thread) work(confine func() error, ready chan<- error) {
	defer close(t.ended)
	err := confine()
	ready <- err
	if err != nil {
		return
	}
	for c := range t.calls {
		c.err <- c.cmd.Start()
	}
}

func (t *thread) start(cmd *exec.Cmd) error {
	result := make(chan error)
	t.calls <- call{cmd, result}
	return <-result
}

// close ends the thread. Nothing is being started.
func (t *thread) close() {
	close(t.calls)
	<-t.ended
}

// confine puts everything on the calling thread.
func confine(rules *ruleset, code []unix.SockFilter) error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := rules.restrict(); err != nil {
		return err
	}
	if len(code) == 0 {
		return nil
	}
	return seccomp(code)
}
