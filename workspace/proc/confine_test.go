//go:build unix

package proc

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestStartIsTheConfigurations(t *testing.T) {
	var calls atomic.Int32
	r := newRunner(t, Config{Start: func(cmd *exec.Cmd) error {
		calls.Add(1)
		cmd.Env = append(cmd.Env, "CONFINED=1")
		return cmd.Start()
	}})
	dir := t.TempDir()
	for _, c := range []struct {
		free bool
		want string
	}{{false, "1\n"}, {true, "\n"}} {
		out, exit := sh(t, r, Job{Command: "echo $CONFINED; cd /", Dir: dir, Track: true, Free: c.free})
		if out != c.want || exit.Code != 0 || exit.Dir != "/" {
			t.Errorf("free %v: %q, %+v", c.free, out, exit)
		}
	}
	if _, exit := sh(t, r, Job{Command: "sleep 300", Timeout: time.Millisecond}); !exit.TimedOut {
		t.Errorf("%+v", exit)
	}
	ended := make(chan Exit, 1)
	var out bytes.Buffer
	p, err := r.Start(Job{Command: "echo $CONFINED", Dir: dir, Out: &out}, func(e Exit) { ended <- e })
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if e := <-ended; e.Code != 0 || out.String() != "1\n" {
		t.Errorf("in the background: %+v, %q", e, out.String())
	}
	if n := calls.Load(); n != 3 {
		t.Errorf("called %d times, want 3: all but the free command", n)
	}
}

func TestStartThatFails(t *testing.T) {
	no := errors.New("the sandbox cannot be had")
	cfg := Config{Start: func(*exec.Cmd) error { return no }}
	r := newRunner(t, cfg)
	if _, err := r.Run(within(t), Job{Command: "true", Dir: t.TempDir()}); !errors.Is(err, no) || !strings.Contains(err.Error(), "start the shell") {
		t.Errorf("got %v", err)
	}
	if _, err := cfg.StartTree(exec.Command("true"), "m"); !errors.Is(err, no) {
		t.Errorf("a tree: %v", err)
	}
	cmd := exec.Command("true")
	tree, err := StartTree(cmd, "m")
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	tree.Stop(time.Second)
	tree.Release()
}
