//go:build linux || darwin

package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// whenClosed calls f when the other end of out is closed. stop ends the watch
// and returns when it has ended. Where it cannot begin, f is never called.
func whenClosed(out *os.File, f func()) (stop func()) {
	r, w, err := os.Pipe() // its end ends the watch
	if err != nil {
		return func() {}
	}
	ended := make(chan struct{})
	fds := []unix.PollFd{{Fd: int32(out.Fd())}, {Fd: int32(r.Fd())}} // errors and hang-ups are told unasked
	go func() {
		defer close(ended)
		if pollEnd(fds) && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0 {
			f()
		}
	}()
	return func() {
		w.Close()
		<-ended
		r.Close()
	}
}

// pollEnd waits until one of fds has something to tell.
func pollEnd(fds []unix.PollFd) bool {
	for {
		n, err := unix.Poll(fds, -1)
		if errors.Is(err, unix.EINTR) || err == nil && n == 0 {
			continue
		}
		return err == nil
	}
}
