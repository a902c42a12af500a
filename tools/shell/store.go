package shell

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace/proc"
)

const (
	// mostRunning bounds the tasks that run at once.
	mostRunning = 32

	// mostEnded bounds the tasks that are remembered after their end; the
	// oldest is forgotten first, its file stays.
	mostEnded = 64

	// commandShown is how much of a command a notice shows, in code points.
	commandShown = 80
)

// store keeps the tasks of one session in memory.
type store struct {
	runner *proc.Runner

	mu      sync.Mutex // guards what follows
	running int
	list    []*task // oldest first
}

// start runs a command in dir as a task.
func (s *store) start(env *oh.Env, command, dir string) (*task, error) {
	if err := s.claim(); err != nil {
		return nil, err
	}
	t := &task{command: text.OneLine(text.Clean(command), commandShown), news: make(chan struct{}), begun: time.Now(), tell: teller(env)}
	t.clean.W = fill{t}
	t.open(env.Artifacts)
	s.mu.Lock()
	defer s.mu.Unlock() // who hears of the end finds the task
	t.id = s.freshID()
	running, err := s.runner.Start(proc.Job{Command: command, Dir: dir, Out: t}, func(exit proc.Exit) {
		s.release()
		t.end(exit)
	})
	if err != nil {
		s.running--
		t.discard()
		return nil, err
	}
	t.running = running
	s.list = append(s.list, t)
	s.prune()
	return t, nil
}

// claim counts one more task, or says that there are too many.
func (s *store) claim() error {
	s.mu.Lock()
	full := s.running >= mostRunning
	if !full {
		s.running++
	}
	s.mu.Unlock()
	if full {
		return fmt.Errorf("%d background tasks are running, which is the most: stop one with task_stop or wait for one to end. There are %s",
			mostRunning, strings.Join(s.Names(), ", "))
	}
	return nil
}

func (s *store) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// freshID makes an id that is not in use; the lock is held.
func (s *store) freshID() string {
	for {
		id := fmt.Sprintf("b%08x", rand.Uint32())
		if s.at(id) == nil {
			return id
		}
	}
}

func (s *store) at(id string) *task {
	for _, t := range s.list {
		if t.id == id {
			return t
		}
	}
	return nil
}

// prune forgets the oldest tasks that have ended; the lock is held.
func (s *store) prune() {
	excess := len(s.list) - s.running - mostEnded
	kept := s.list[:0]
	for _, t := range s.list {
		if excess > 0 && t.ended() {
			excess--
			continue
		}
		kept = append(kept, t)
	}
	clear(s.list[len(kept):])
	s.list = kept
}

func (s *store) get(id string) (*task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.at(id); t != nil {
		return t, nil
	}
	return nil, ErrNoTask
}

// Look implements [Tasks].
func (s *store) Look(ctx context.Context, id string, wait time.Duration, most int) (Progress, error) {
	t, err := s.get(id)
	if err != nil {
		return Progress{}, err
	}
	return t.look(ctx, wait, most)
}

// Stop implements [Tasks].
func (s *store) Stop(ctx context.Context, id string, most int) (Progress, error) {
	t, err := s.get(id)
	if err != nil {
		return Progress{}, err
	}
	return t.halt(ctx, most)
}

// Names implements [Tasks].
func (s *store) Names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, len(s.list))
	for i, t := range s.list {
		names[i] = t.id + " (" + string(t.state()) + ")"
	}
	return names
}

// teller returns what tells the conversation of env that a task has ended.
func teller(env *oh.Env) func(*task, proc.Exit) {
	notify := env.Notify
	if notify == nil {
		return func(*task, proc.Exit) {}
	}
	return func(t *task, exit proc.Exit) {
		notify(oh.Text{Context: true, Text: strings.NewReplacer(
			"{id}", t.id,
			"{end}", ending(exit.Code, exit.Signal, exit.Duration),
			"{command}", t.command,
		).Replace(strings.TrimSpace(endedDoc))})
	}
}
