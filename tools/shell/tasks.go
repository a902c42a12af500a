package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh/workspace/proc"
)

// Tasks is a store of tasks in the background, as task_output and task_stop
// need it. It is safe for concurrent use. For an id that it does not hold the
// error is [ErrNoTask].
type Tasks interface {
	// Look takes what a task has printed since the last look, cut in the middle
	// to most bytes. With a wait it first waits until there is something, or
	// the task has ended, at most that long.
	Look(ctx context.Context, id string, wait time.Duration, most int) (Progress, error)

	// Stop stops a task with all its children, waits until it is gone, and
	// takes its last output as Look does. A task that has ended stays as it is.
	Stop(ctx context.Context, id string, most int) (Progress, error)

	// Names lists the tasks for a model, oldest first: id and state.
	Names() []string
}

// ErrNoTask says that a store does not hold a task.
var ErrNoTask = errors.New("there is no such task")

// TaskState is the state of a task.
type TaskState string

// The states.
const (
	TaskRunning TaskState = "running"
	TaskEnded   TaskState = "ended"   // by itself
	TaskStopped TaskState = "stopped" // by a call of Stop or the session's end
)

// Progress is what one look at a task shows.
type Progress struct {
	ID, Command string
	Head, Tail  string // new output: text without control bytes; Tail is "" unless bytes were left out
	Cut         int64  // bytes of output left out between Head and Tail
	Path        string // of the file with all output, "" when there is none
	Lost        error  // why the file is not whole, or not there
	State       TaskState
	Before      bool           // Stop had nothing to do
	Exit        int            // -1 after a signal; 0 while it runs
	Signal      string         // that ended it, or ""
	Children    []proc.Process // that live on after its end
	Duration    time.Duration
}

// shelf is several stores as one: each is asked in turn.
type shelf []Tasks

func (s shelf) Look(ctx context.Context, id string, wait time.Duration, most int) (Progress, error) {
	return s.find(id, func(t Tasks) (Progress, error) { return t.Look(ctx, id, wait, most) })
}

func (s shelf) Stop(ctx context.Context, id string, most int) (Progress, error) {
	return s.find(id, func(t Tasks) (Progress, error) { return t.Stop(ctx, id, most) })
}

func (s shelf) Names() []string {
	var all []string
	for _, t := range s {
		all = append(all, t.Names()...)
	}
	return all
}

// mostNamed bounds the tasks that an error lists.
const mostNamed = 20

func (s shelf) find(id string, ask func(Tasks) (Progress, error)) (Progress, error) {
	for _, t := range s {
		if p, err := ask(t); !errors.Is(err, ErrNoTask) {
			return p, err
		}
	}
	names := s.Names()
	if len(names) == 0 {
		return Progress{}, fmt.Errorf("task %q: %w: nothing was started in the background", id, ErrNoTask)
	}
	more := ""
	if n := len(names) - mostNamed; n > 0 {
		names, more = slices.Clone(names[n:]), fmt.Sprintf(" and %d older", n)
	}
	return Progress{}, fmt.Errorf("task %q: %w; there are %s%s", id, ErrNoTask, strings.Join(names, ", "), more)
}
