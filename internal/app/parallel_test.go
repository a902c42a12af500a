//go:build unix

package app

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// TestCommandsThatRead: read-only command lines run side by side and unasked,
// in plan mode too; what is said to the first comes only when the second runs.
func TestCommandsThatRead(t *testing.T) {
	for _, mode := range []oh.Mode{oh.ModeDefault, oh.ModePlan} {
		t.Run(string(mode), func(t *testing.T) {
			o, server := options(t, ohtest.Reply(
				ohtest.Call("a", "bash", `{"command":"cat first | head -c 100","timeout_seconds":20}`),
				ohtest.Call("b", "bash", `{"command":"cat second","timeout_seconds":20}`)), ohtest.Reply(ohtest.Text("done")))
			o.Mode = string(mode)
			first, second := pipe(t, o.Dir, "first"), pipe(t, o.Dir, "second")
			r := build(t, o)
			said := make(chan error, 1)
			go func() { said <- errors.Join(say(second, "two"), say(first, "one")) }()
			got := map[string]string{}
			for _, ev := range handle(t, r, "go") {
				if done, ok := ev.(oh.ToolDone); ok {
					got[done.ID] = done.Content.Text()
				}
			}
			if !strings.Contains(got["a"], "one") || !strings.Contains(got["b"], "two") {
				t.Errorf("results %q", got)
			}
			for _, p := range []string{first, second} { // lets go of what still waits for a reader
				if f, err := os.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
					defer func() { _ = f.Close() }()
				}
			}
			if err := <-said; err != nil && !t.Failed() {
				t.Error(err)
			}
			if n := len(server.Requests()); n != 2 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

func pipe(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	return path
}

// say writes to a pipe once it is read.
func say(pipe, what string) error {
	f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(what + "\n")
	return errors.Join(err, f.Close())
}
