//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peak is the most resident memory of a process in bytes.
func peak(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	n := int64(usage.Maxrss)
	if runtime.GOOS != "darwin" && runtime.GOOS != "ios" {
		n *= 1024 // all others count in kilobytes
	}
	return n
}
