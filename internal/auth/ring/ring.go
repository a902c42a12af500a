// Package ring keeps secrets in the keyring of the system: the Keychain of
// macOS, the Credential Manager of Windows, a Secret Service on the D-Bus of
// the session elsewhere.
//
// It is not for deciding whether a keyring is to be used, and it keeps no list
// of what is in it. Nothing is looked for before the first call; no call starts
// a service or waits longer than [Limit]; no secret is put into an argument
// list.
package ring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zalando/go-keyring"
)

// Service is the name under which all entries are kept.
const Service = "openharness"

// Limit is how long a keyring may take to answer.
const Limit = 2 * time.Second

var (
	// ErrNone says that there is no keyring in this session.
	ErrNone = errors.New("there is no keyring in this session")
	// ErrNoEntry says that the keyring holds no such entry.
	ErrNoEntry = errors.New("the keyring holds no such entry")
	// ErrSilent says that the keyring did not answer in time.
	ErrSilent = fmt.Errorf("the keyring did not answer within %v; is it locked?", Limit)
)

// System is the keyring of the system. Its calls are safe for concurrent use.
type System struct{}

// Get returns the secret of an entry, or [ErrNoEntry].
func (System) Get(ctx context.Context, entry string) (string, error) {
	return within(ctx, func() (string, error) { return keyring.Get(Service, entry) })
}

// Set stores a secret under an entry, over what was there.
func (System) Set(ctx context.Context, entry, secret string) error {
	got, err := within(ctx, func() (string, error) {
		if err := keyring.Set(Service, entry, secret); err != nil {
			return "", err
		}
		// Not every keyring says that it refused.
		return keyring.Get(Service, entry)
	})
	if err == nil && got != secret {
		return errors.New("the keyring did not keep what it was given")
	}
	return err
}

// Delete removes an entry, or returns [ErrNoEntry].
func (System) Delete(ctx context.Context, entry string) error {
	_, err := within(ctx, func() (string, error) { return "", keyring.Delete(Service, entry) })
	return err
}

// within makes a call to the keyring, if there is one.
func within(ctx context.Context, call func() (string, error)) (string, error) {
	if !present() {
		return "", ErrNone
	}
	return timed(ctx, call)
}

// timed gives a call until the limit. One that hangs is left behind: it ends
// with its answer, or with the program.
func timed(ctx context.Context, call func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Limit, ErrSilent)
	defer cancel()
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := call()
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, plain(a.err)
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func plain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return ErrNoEntry
	case errors.Is(err, keyring.ErrUnsupportedPlatform):
		return ErrNone
	}
	return fmt.Errorf("the keyring: %w", err)
}
