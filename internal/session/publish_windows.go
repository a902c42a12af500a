package session

import (
	"errors"
	"os"
)

// publish gives a complete file its name, which nobody else may have, and
// returns it as it is to be written on. An open file cannot be renamed here, so
// the lock on it is given up and taken again.
func publish(w *os.File, from, to string) (*os.File, error) {
	if err := errors.Join(exists(to), w.Close()); err != nil {
		return nil, err
	}
	if err := os.Rename(from, to); err != nil {
		return nil, err
	}
	w, err := os.OpenFile(to, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(w); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		w.Close()
		return nil, err
	}
	return w, nil
}
