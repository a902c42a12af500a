//go:build unix

package cli

import (
	"os"
	"syscall"
)

// always are the signals that are taken in any case.
func always() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// ending are the signals that end a run.
func ending() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
}

func isPipe(sig os.Signal) bool { return sig == syscall.SIGPIPE }
