package lsp

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/openharness/oh/workspace/proc"
)

// killRounds bounds how often is looked again for processes that were started
// while others were killed.
const killRounds = 10

// killMarked kills the processes that were started under a marker, wherever
// they went.
func killMarked(marker string) {
	for range killRounds {
		found := false
		for _, pid := range pids() {
			if pid != os.Getpid() && carries(pid, marker) {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL) // gone meanwhile: nothing to do
			}
		}
		if !found {
			return
		}
	}
}

func pids() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read counts
	var out []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 1 {
			out = append(out, pid)
		}
	}
	return out
}

// carries reports whether the environment of a process holds the marker. A
// process that has ended has no environment.
func carries(pid int, marker string) bool {
	block, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	for kv := range bytes.SplitSeq(block, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(proc.Marker+"=")); ok {
			for id := range bytes.SplitSeq(value, []byte{':'}) {
				if string(id) == marker {
					return true
				}
			}
		}
	}
	return false
}
