package cli

import (
	"errors"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/auth"
	"github.com/openharness/oh/internal/config"
)

// The exit codes of the program; docs/exit-codes.md explains them. Those of
// runs come from the print face.
const (
	exitOK    = 0
	exitOther = 1
	exitUsage = 2
	exitAuth  = 3
	exitAPI   = 4
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitCode maps an error that ends the program before or outside of a run.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if code, ok := errors.AsType[codedError](err); ok {
		return code.code
	}
	var usage interface{ Usage() bool }
	if errors.As(err, &usage) && usage.Usage() {
		return exitUsage
	}
	if _, ok := errors.AsType[*auth.NoKey](err); ok {
		return exitAuth
	}
	if _, ok := errors.AsType[*auth.Locked](err); ok {
		return exitAuth
	}
	switch oh.KindOf(err) {
	case "":
		return exitOther
	case oh.KindAuth:
		return exitAuth
	}
	return exitAPI
}

// codedError ends the program with a code after everything was said.
type codedError struct{ code int }

func (codedError) Error() string { return "" }
