package shell

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace/proc"
)

// mostSaved is how many bytes of a task's output go to its file: a command
// that prints without end must not fill the disk.
const mostSaved = 1 << 30

// task is one command in the background. It is the writer of its output: the
// end of a command's pipe calls Write, one call after another, and then end.
type task struct {
	id      string
	command string
	begun   time.Time
	running *proc.Running
	clean   text.Cleaner // used by the writer alone
	file    oh.Artifact  // nil: output is not saved; used by the writer alone
	path    string       // of file, or ""
	tell    func(*task, proc.Exit)

	mu      sync.Mutex // guards what follows
	unread  window
	saved   int64         // bytes that went to the file
	lost    error         // why no more goes there
	news    chan struct{} // closed, and made anew, when there is more to read
	waiting int           // looks that wait for news
	quiet   bool          // who stops it is told by that call
	over    bool
	untold  bool // it has ended, and nobody has heard of that
	exit    proc.Exit
}

// open makes the file for the output. Without one the task runs all the same.
func (t *task) open(artifacts oh.Artifacts) {
	if artifacts == nil {
		t.lost = errors.New("there is no place to save it")
		return
	}
	file, err := artifacts.Create(name)
	if err != nil {
		t.lost = err
		return
	}
	t.file, t.path = file, file.Path()
}

// discard closes the file of a task that could not be started.
func (t *task) discard() {
	if t.file != nil {
		_ = t.file.Close() // it is empty
	}
}

// whyLost is why there is no file, or not a whole one; nil when there is.
func (t *task) whyLost() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

func (t *task) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.over
}

func (t *task) state() TaskState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stateNow()
}

// stateNow is the state; the lock is held.
func (t *task) stateNow() TaskState {
	switch {
	case !t.over:
		return TaskRunning
	case t.exit.Cancelled:
		return TaskStopped
	}
	return TaskEnded
}

// fill is where cleaned output goes.
type fill struct{ t *task }

func (f fill) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.t.save(p)
	f.t.mu.Lock()
	defer f.t.mu.Unlock()
	f.t.unread.add(p)
	f.t.wake()
	return len(p), nil
}

// Write implements [io.Writer]. It never fails.
func (t *task) Write(p []byte) (int, error) { return t.clean.Write(p) }

// save writes to the file, without the lock: a slow disk holds up the command
// but no look.
func (t *task) save(p []byte) {
	if t.file == nil {
		return
	}
	t.mu.Lock()
	room, lost := mostSaved-t.saved, t.lost
	t.mu.Unlock()
	if lost != nil {
		return
	}
	var err error
	if int64(len(p)) > room {
		p, err = firstBytes(p, int(room)), errFull
	}
	n, failed := t.file.Write(p)
	if failed != nil {
		err = failed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.saved += int64(n)
	t.lost = err
}

var errFull = fmt.Errorf("the limit of %s bytes is reached", text.Number(mostSaved))

// wake tells those who wait; the lock is held.
func (t *task) wake() {
	if t.waiting == 0 {
		return
	}
	close(t.news)
	t.news = make(chan struct{})
}

// end notes the end of the command.
func (t *task) end(exit proc.Exit) {
	_ = t.clean.Close()
	var err error
	if t.file != nil {
		err = t.file.Close()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost == nil {
		t.lost = err
	}
	t.over, t.exit = true, exit
	t.untold = !t.quiet && !exit.Cancelled
	t.wake()
	t.notify()
}

// notify tells the conversation of the end, unless somebody is about to see
// it; the lock is held.
func (t *task) notify() {
	if t.over && t.untold && t.waiting == 0 {
		t.untold = false
		t.tell(t, t.exit)
	}
}

// look waits for something to tell, at most for wait, and takes it.
func (t *task) look(ctx context.Context, wait time.Duration, most int) (Progress, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.await(ctx, wait); err != nil {
		t.notify()
		return Progress{}, fmt.Errorf("wait for task %s: %w", t.id, err)
	}
	t.untold = false
	return t.progress(most), nil
}

// await waits until there is something unread or the end has come, at most for
// wait. The lock is held, but for the time of the wait.
func (t *task) await(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	t.waiting++
	defer func() { t.waiting-- }()
	for !t.over && t.unread.total == 0 {
		news := t.news
		t.mu.Unlock()
		late, err := false, error(nil)
		select {
		case <-news: // another look may be faster and take it
		case <-timer.C:
			late = true
		case <-ctx.Done():
			err = ctx.Err()
		}
		t.mu.Lock()
		if late || err != nil {
			return err
		}
	}
	return nil
}

// halt stops the command and takes what it has printed last.
func (t *task) halt(ctx context.Context, most int) (Progress, error) {
	t.mu.Lock()
	was := t.over
	t.quiet = true
	t.mu.Unlock()
	t.running.Stop()
	select {
	case <-t.running.Done():
	case <-ctx.Done():
		return Progress{}, fmt.Errorf("stop task %s: %w; it is being stopped all the same", t.id, ctx.Err())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.untold = false
	p := t.progress(most)
	p.Before = was
	return p, nil
}

// progress takes what is unread; the lock is held.
func (t *task) progress(most int) Progress {
	p := Progress{ID: t.id, Command: t.command, State: t.stateNow(), Path: t.path, Lost: t.lost, Duration: time.Since(t.begun)}
	p.Head, p.Tail, p.Cut = t.unread.take(most)
	if t.over {
		p.Duration = t.exit.Duration
		p.Exit, p.Signal, p.Children = t.exit.Code, t.exit.Signal, t.exit.Left
	}
	return p
}
