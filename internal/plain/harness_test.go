package plain

import (
	"bytes"
	"context"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openharness/oh"
)

// terminal is what a person sees, and can wait for.
type terminal struct {
	mu   sync.Mutex
	cond *sync.Cond
	text bytes.Buffer
	seen int // what expect has passed
	fail error
}

func newTerminal() *terminal {
	s := &terminal{}
	s.cond = sync.NewCond(&s.mu)
	return s
}

func (s *terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return 0, s.fail
	}
	s.text.Write(b)
	s.cond.Broadcast()
	return len(b), nil
}

func (s *terminal) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// session is a face in a conversation with a test.
type session struct {
	t    *testing.T
	face *Face
	out  *terminal
	in   *io.PipeWriter
	rt   *runtime
	done chan error
}

// runtime runs a script per line.
type runtime struct {
	mu     sync.Mutex
	lines  []string
	queued []string
	script func(ctx context.Context, line string, say func(oh.Event)) error
}

func (r *runtime) Handle(ctx context.Context, line string) iter.Seq2[oh.Envelope, error] {
	return func(yield func(oh.Envelope, error) bool) {
		r.mu.Lock()
		r.lines = append(r.lines, line)
		r.mu.Unlock()
		on := true
		say := func(e oh.Event) {
			if on {
				on = yield(oh.Envelope{Event: e}, nil)
			}
		}
		if err := r.script(ctx, line, say); err != nil && on {
			yield(oh.Envelope{}, err)
		}
	}
}

func (r *runtime) Enqueue(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queued = append(r.queued, text)
}

func (r *runtime) handled() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.lines...)
}

// take empties the queue as a run does in between turns.
func (r *runtime) take(say func(oh.Event)) {
	r.mu.Lock()
	q := r.queued
	r.queued = nil
	r.mu.Unlock()
	var content oh.Blocks
	for _, s := range q {
		content = append(content, oh.Text{Text: s})
	}
	if content != nil {
		say(oh.UserTurn{Message: oh.Message{Role: oh.User, Content: content}, Source: oh.FromQueue})
	}
}

func env(vars map[string]string) func(string) string {
	return func(k string) string { return vars[k] }
}

func start(t *testing.T, c Config, script func(ctx context.Context, line string, say func(oh.Event)) error) *session {
	t.Helper()
	r, w := io.Pipe()
	s := &session{t: t, out: newTerminal(), in: w, rt: &runtime{script: script}, done: make(chan error, 1)}
	c.In, c.Out = r, s.out
	if c.Getenv == nil {
		c.Getenv = env(nil)
	}
	s.face = New(c)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); _ = w.Close() })
	go func() { s.done <- s.face.Run(ctx, s.rt) }()
	return s
}

// expect waits until the screen shows part after what was expected before.
func (s *session) expect(part string) {
	s.t.Helper()
	expired := time.AfterFunc(20*time.Second, s.out.cond.Broadcast)
	defer expired.Stop()
	deadline := time.Now().Add(20 * time.Second)
	s.out.mu.Lock()
	defer s.out.mu.Unlock()
	for {
		if i := strings.Index(s.out.text.String()[s.out.seen:], part); i >= 0 {
			s.out.seen += i + len(part)
			return
		}
		if !time.Now().Before(deadline) {
			s.t.Fatalf("the screen does not show %q after %q", part, s.out.text.String()[s.out.seen:])
		}
		s.out.cond.Wait()
	}
}

func (s *session) typed(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// ends waits for Run to return.
func (s *session) ends() error {
	s.t.Helper()
	select {
	case err := <-s.done:
		return err
	case <-time.After(20 * time.Second):
		s.t.Fatalf("Run does not end; the screen shows %q", s.out.all())
		return nil
	}
}

func prompted(say func(oh.Event), line string) {
	say(oh.UserTurn{Message: oh.Message{Role: oh.User, Content: oh.Blocks{oh.Text{Text: line}}}, Source: oh.FromUser})
}

func answer(say func(oh.Event), text string) {
	say(oh.TextDelta{Text: text})
	say(oh.MessageDone{Message: oh.Message{Role: oh.Assistant, Content: oh.Blocks{oh.Text{Text: text}}}})
}

func finished(say func(oh.Event)) { say(oh.RunDone{Reason: oh.ReasonEnd}) }
