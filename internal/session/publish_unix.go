//go:build !windows

package session

import (
	"errors"
	"io/fs"
	"os"
)

// publish gives a complete file its name, which nobody else may have, and
// returns it as it is to be written on: the lock on it holds on.
func publish(w *os.File, from, to string) (*os.File, error) {
	switch err := os.Link(from, to); {
	case err == nil:
		_ = os.Remove(from) // a second name does no harm and is swept later
		return w, nil
	case errors.Is(err, fs.ErrExist):
		return nil, exists(to)
	}
	// A file system without links.
	if err := exists(to); err != nil {
		return nil, err
	}
	if err := os.Rename(from, to); err != nil {
		return nil, err
	}
	return w, nil
}
