//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"
)

func notify(ch chan<- os.Signal) {
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
}

func isPipe(sig os.Signal) bool { return sig == syscall.SIGPIPE }
