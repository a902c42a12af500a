//go:build unix

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// logs lists the session files.
func (b *box) logs() []string {
	b.t.Helper()
	found, err := filepath.Glob(filepath.Join(b.home, ".openharness", "data", "sessions", "*", "*.jsonl"))
	must(b.t, err)
	return found
}

// log is the only session file.
func (b *box) log() string {
	b.t.Helper()
	found := b.logs()
	if len(found) != 1 {
		b.t.Fatalf("%d session files: %v", len(found), found)
	}
	return found[0]
}

// until waits for a condition that comes from outside.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit / 3)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// alive reports whether a process is there and no zombie.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || !exists("/proc/self/stat")
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// pid reads a mark that holds the id of a process.
func (b *box) pid(name string) int {
	b.t.Helper()
	var n int
	if _, err := fmt.Sscan(b.read(filepath.Join(b.marks, name)), &n); err != nil || n <= 1 {
		b.t.Fatalf("mark %s holds no process id: %v", name, err)
	}
	return n
}

// frames decodes output of one JSON object a line.
func frames(t *testing.T, out string) []map[string]any {
	t.Helper()
	var list []map[string]any
	for line := range strings.Lines(out) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("line %q is no JSON object: %v", line, err)
		}
		list = append(list, m)
	}
	return list
}

// last is the result frame, which has to be the last one.
func last(t *testing.T, out string) map[string]any {
	t.Helper()
	list := frames(t, out)
	if len(list) == 0 || list[len(list)-1]["type"] != "result" {
		t.Fatalf("no result frame at the end of %q", out)
	}
	return list[len(list)-1]
}

// tree lists all files below folders with their sizes and times.
func tree(t *testing.T, dirs ...string) []string {
	t.Helper()
	var out []string
	for _, dir := range dirs {
		must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := os.Lstat(path)
			if err == nil {
				out = append(out, fmt.Sprintf("%s %v %d %v", path, info.Mode(), info.Size(), info.ModTime().UnixNano()))
			}
			return err
		}))
	}
	return out
}
