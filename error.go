package oh

import (
	"errors"
	"fmt"
	"time"
)

// Kind classifies an [Error]. A provider decides it once, from status and code.
type Kind string

// The kinds. The empty kind is an error nobody classified.
const (
	KindAuth        Kind = "auth"        // 401, 403, no key: does not heal by itself
	KindQuota       Kind = "quota"       // used up: does not heal by waiting a little
	KindLimited     Kind = "limited"     // rate limit: try again later
	KindOverloaded  Kind = "overloaded"  // the service is busy: try again later
	KindTooLong     Kind = "too_long"    // the request does not fit the context window
	KindInvalid     Kind = "invalid"     // the service refused the request as such
	KindUnavailable Kind = "unavailable" // 5xx, connection, cut or silent stream: try again
	KindCancelled   Kind = "cancelled"   // the context ended
)

// Error is a classified failure of a provider.
type Error struct {
	Op     string        // what was tried, such as "anthropic: messages"
	Kind   Kind          // what it means
	Status int           // HTTP status, 0 when there was none
	Code   string        // the service's own code, if any
	After  time.Duration // how long the service asks to wait; 0 when it did not say
	Usage  Usage         // what the request used all the same, as far as the service told
	Err    error         // the service's words or the underlying error
}

// Error implements error. It never holds a key.
func (e *Error) Error() string {
	s := e.Op
	if e.Status != 0 {
		s += fmt.Sprintf(": %d", e.Status)
	}
	if e.Code != "" {
		s += " " + e.Code
	} else if e.Kind != "" {
		s += " " + string(e.Kind)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later.
func (e *Error) Retryable() bool {
	return e.Kind == KindLimited || e.Kind == KindOverloaded || e.Kind == KindUnavailable
}

// KindOf returns the kind of the first [Error] in err's tree, or "".
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// Fatal marks an error of a tool, gate or hook that must end the run. A plain
// error goes to the model instead. Fatal(nil) is nil.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return fatalError{err}
}

type fatalError struct{ error }

func (f fatalError) Unwrap() error { return f.error }

// IsFatal reports whether err was marked by [Fatal].
func IsFatal(err error) bool {
	_, ok := errors.AsType[fatalError](err)
	return ok
}

// ErrBusy says that a conversation already has a run.
var ErrBusy = errors.New("the conversation is busy with another run")

// ErrNobody is the answer of an [Asker] that has nobody to ask.
var ErrNobody = errors.New("nobody is there to be asked")
