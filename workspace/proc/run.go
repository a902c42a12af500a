package proc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"time"
)

// run is a command that has been started.
type run struct {
	r      *Runner
	n      int
	cmd    *exec.Cmd
	tree   *tree
	tap    *tap
	stay   bool     // the shell ends where it began
	end    *os.File // where the shell tells the directory it ends in, or nil
	begun  time.Time
	exited chan struct{} // closed once the shell is reaped
	kept   bool          // children are left
	whole  bool          // it ends with its output, not with its shell
}

func (r *Runner) start(job Job) (*run, error) {
	shell, err := r.shell()
	if err != nil {
		return nil, err
	}
	if err := checkLine(job.Command); err != nil {
		return nil, err
	}
	n, marker, err := r.enter()
	if err != nil {
		return nil, err
	}
	out, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run a command: %w", err)
	}
	defer closeFile(in) // the child has its own
	env := r.environ(job, marker)
	track := job.Track && shell.Tracks()
	stay := track && shell.Kind == Bash && job.Dir != "" && stays(job.Command, env)
	track = track && !stay
	cmd := &exec.Cmd{
		Path: shell.Path, Args: shell.args(job.Command, track),
		Dir: job.Dir, Env: env,
		Stdout: in, Stderr: in,
	}
	x := &run{r: r, n: n, cmd: cmd, stay: stay, tree: newTree(marker), begun: time.Now(), exited: make(chan struct{})}
	if track {
		var told *os.File
		if x.end, told, err = os.Pipe(); err != nil {
			closeFile(out)
			return nil, fmt.Errorf("run a command: %w", err)
		}
		defer closeFile(told)
		cmd.ExtraFiles = shell.extra(told)
	}
	by := r.cfg.Start
	if job.Free {
		by = nil
	}
	if err := x.tree.start(cmd, by); err != nil {
		closeFile(out)
		closeFile(x.end)
		return nil, startError(job.Dir, shell, err)
	}
	if !r.keep(n, x.tree) {
		x.tree.stop(r.cfg.Grace)
	}
	x.tap = newTap(out, job.Out, &r.bufs)
	go func() {
		defer close(x.exited)
		_ = cmd.Wait() // its state says all
	}()
	return x, nil
}

// closeFile closes a pipe; a nil file has nothing to close.
func closeFile(f *os.File) {
	if f != nil {
		_ = f.Close()
	}
}

// startError says whether the directory or the shell is to blame: the system
// names the shell in both cases.
func startError(dir string, shell Shell, err error) error {
	if dir != "" {
		if info, statErr := os.Stat(dir); statErr != nil {
			return fmt.Errorf("run a command in %s: %w", dir, errors.Unwrap(statErr))
		} else if !info.IsDir() {
			return fmt.Errorf("run a command in %s: %w", dir, &notDir{})
		}
	}
	return fmt.Errorf("start the shell %s: %w", shell.Path, err)
}

// notDir is fs.ErrInvalid with a better text.
type notDir struct{}

func (*notDir) Error() string { return "it is not a directory" }
func (*notDir) Unwrap() error { return fs.ErrInvalid }

// wait waits for the shell, stops the tree when it must, and then takes what
// is left of the output.
func (x *run) wait(ctx context.Context, timeout time.Duration) Exit {
	var exit Exit
	limit := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		limit, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if !x.await(limit) {
		exit.Cancelled = ctx.Err() != nil
		exit.TimedOut = !exit.Cancelled
	}
	stopped := exit.TimedOut || exit.Cancelled
	if stopped {
		x.tree.stop(x.r.cfg.Grace)
		x.awaitShell()
	}
	exit.Duration = time.Since(x.begun)
	open := x.finishOutput()
	if !stopped {
		exit.Left = x.leave(open)
	}
	x.settle(&exit)
	return exit
}

// await waits for the end of the command. It reports false when limit ended
// first.
func (x *run) await(limit context.Context) bool {
	select {
	case <-x.exited:
	case <-limit.Done():
		if !x.over() {
			return false
		}
	}
	if !x.whole || x.silent() {
		return true
	}
	// The number of the shell's process is free for others from here on, so
	// its tree is told by what is known of it now.
	x.tree.left()
	select {
	case <-x.tap.ended:
		return true
	case <-limit.Done():
		return false
	}
}

// silent reports whether the output ends within a short while.
func (x *run) silent() bool {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	select {
	case <-x.tap.ended:
		return true
	case <-timer.C:
		return false
	}
}

// over reports whether the shell has been reaped.
func (x *run) over() bool {
	select {
	case <-x.exited:
		return true
	default:
		return false
	}
}

// awaitShell waits for a shell that was killed. One that hangs in the kernel
// is given up.
func (x *run) awaitShell() {
	timer := time.NewTimer(giveUp)
	defer timer.Stop()
	select {
	case <-x.exited:
	case <-timer.C:
	}
}

// finishOutput takes output until its end, or for a short while. It reports
// whether somebody still holds the pipe.
func (x *run) finishOutput() (open bool) {
	select {
	case <-x.tap.ended:
	default:
		open = !x.silent() && !x.tap.cut()
	}
	if open {
		x.r.drain(x.tap)
	} else {
		x.tap.close()
	}
	return open
}

// leave lists the children that live on and keeps their tree for the end.
func (x *run) leave(open bool) []Process {
	if !open && !x.tree.alive() {
		return nil
	}
	left := x.tree.left()
	x.kept = open || len(left) > 0
	return left
}

// settle reads what the ended process and its shell have told.
func (x *run) settle(exit *Exit) {
	exit.Code = -1
	if x.over() {
		exit.Code = x.cmd.ProcessState.ExitCode()
		exit.Signal = signalName(x.cmd.ProcessState)
	} else {
		x.kept = true
	}
	if x.stay {
		exit.Dir, exit.DirGone = still(x.cmd.Dir)
	}
	if x.end != nil {
		exit.Dir, exit.DirGone = readDir(x.end)
		closeFile(x.end)
	}
	if !x.kept {
		x.r.forget(x.n)
		x.tree.release()
	}
}
