package lsp

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace/proc"
)

const (
	stopGrace = 500 * time.Millisecond // between asking a process to end and killing it
	tailSize  = 8 << 10                // bytes of standard error that are kept
	tailShown = 400                    // code points of it in an error
)

// process is a running server with its pipes.
type process struct {
	cmd    *exec.Cmd
	in     *os.File // its standard input
	out    *os.File // its standard output
	errs   *os.File
	tree   *proc.Tree
	said   tail
	loops  sync.WaitGroup
	exited chan struct{} // closed once it is reaped
	heard  chan struct{} // closed when standard error has ended
}

// spawn starts a program apart from this one.
func spawn(by proc.Config, path string, args, env []string, dir, marker string) (*process, error) {
	p := &process{exited: make(chan struct{}), heard: make(chan struct{})}
	var theirs [3]*os.File
	var errList [3]error
	theirs[0], p.in, errList[0] = os.Pipe()
	p.out, theirs[1], errList[1] = os.Pipe()
	p.errs, theirs[2], errList[2] = os.Pipe()
	defer closeAll(theirs[:]...)
	if err := errors.Join(errList[:]...); err != nil {
		closeAll(p.in, p.out, p.errs)
		return nil, err
	}
	p.cmd = &exec.Cmd{
		Path: path, Args: append([]string{path}, args...), Dir: dir, Env: env,
		Stdin: theirs[0], Stdout: theirs[1], Stderr: theirs[2],
	}
	var err error
	if p.tree, err = by.StartTree(p.cmd, marker); err != nil {
		closeAll(p.in, p.out, p.errs)
		return nil, err
	}
	p.loops.Go(func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // its state says all
		p.tree.Stop(0)   // what it left behind holds the pipes
	})
	p.loops.Go(func() {
		defer close(p.heard)
		buf := make([]byte, 4<<10)
		for {
			n, err := p.errs.Read(buf)
			p.said.add(buf[:n])
			if err != nil {
				return
			}
		}
	})
	return p, nil
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// await waits for the end of the process, at most for d.
func (p *process) await(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// stop ends the process and all it started, and waits until nothing reads its
// pipes any more. It may be called after the process has ended, but once.
func (p *process) stop() {
	p.tree.Stop(stopGrace)
	closeAll(p.in, p.out, p.errs)
	p.loops.Wait()
	p.tree.Release()
}

// ending says how a process ended and what it had to say, after giving it a
// moment to do so.
func (p *process) ending() string {
	if !p.await(stopGrace) {
		return "it closed its output but goes on running"
	}
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-p.heard:
	case <-timer.C:
	}
	out := p.cmd.ProcessState.String()
	if s := p.said.text(); s != "" {
		out = fmt.Sprintf("%s; its last words: %s", out, s)
	}
	return out
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex // guards data
	data []byte
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if n := len(t.data) - tailSize; n > 0 {
		t.data = append(t.data[:0], t.data[n:]...)
	}
}

// text returns the end of it as one clean line.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return text.Tail(strings.Join(strings.Fields(text.Clean(string(t.data))), " "), tailShown)
}
