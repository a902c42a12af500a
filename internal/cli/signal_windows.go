package cli

import (
	"os"
	"syscall"
)

// always are the signals that are taken in any case.
func always() []os.Signal { return nil }

// ending are the signals that end a run.
func ending() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func isPipe(os.Signal) bool { return false }
