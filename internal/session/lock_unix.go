//go:build !windows

package session

import (
	"errors"
	"os"
	"syscall"
)

var errLocked = errors.New("locked by another")

// lock takes the file for this process until it is closed, without waiting.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return errors.ErrUnsupported
		}
		return err
	}
}
