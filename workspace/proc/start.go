package proc

import "context"

// Running is a command that runs while its caller does other things.
type Running struct {
	pid  int
	stop context.CancelFunc
	done chan struct{}
}

// Start starts a command and returns at once. ended is called once, when the
// shell has exited and nobody holds its output any more: a server that a
// command line starts with & belongs to it. In [Exit] Cancelled then says that
// Stop or [Runner.CloseAll] ended it. CloseAll waits for ended, so ended must
// not call it. The error says that the command could not be started; ended is
// not called then.
func (r *Runner) Start(job Job, ended func(Exit)) (*Running, error) {
	ctx, stop := context.WithCancel(context.Background())
	p := &Running{stop: stop, done: make(chan struct{})}
	if !r.admit(p) {
		stop()
		return nil, ErrClosed
	}
	x, err := r.start(job)
	if err != nil {
		stop()
		r.dismiss(p)
		return nil, err
	}
	p.pid = x.cmd.Process.Pid
	x.whole = true
	go func() {
		defer r.dismiss(p)
		defer close(p.done)
		defer stop()
		exit := x.wait(ctx, job.Timeout)
		if r.isClosed() {
			exit.Cancelled, exit.Left = true, nil
		}
		ended(exit)
	}()
	return p, nil
}

// PID is the number of the shell's process.
func (p *Running) PID() int { return p.pid }

// Stop begins to stop the command's tree: SIGTERM, the grace, SIGKILL. A
// command that has ended stays as it is.
func (p *Running) Stop() { p.stop() }

// Done is closed after the call of ended.
func (p *Running) Done() <-chan struct{} { return p.done }

// admit counts a command for CloseAll. It reports false when the end has come
// already.
func (r *Runner) admit(p *Running) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.jobs[p] = true
	r.jobsEnd.Add(1)
	return true
}

func (r *Runner) dismiss(p *Running) {
	r.mu.Lock()
	delete(r.jobs, p)
	r.mu.Unlock()
	r.jobsEnd.Done()
}

func (r *Runner) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}
