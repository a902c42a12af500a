package ohtest

import (
	"context"
	"fmt"
	"sync"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// script is a queue of turns, and the bell that rings when a request came. The
// zero value is ready for use.
type script struct {
	mu    sync.Mutex
	turns []Turn        // guarded by mu
	bell  chan struct{} // guarded by mu; closed at the next arrival
}

func (s *script) add(turns []Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, turns...)
}

func (s *script) next() (Turn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 {
		return Turn{}, false
	}
	t := s.turns[0]
	s.turns = s.turns[1:]
	return t, true
}

func (s *script) remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.turns)
}

// arrived rings the bell.
func (s *script) arrived() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bell != nil {
		close(s.bell)
		s.bell = nil
	}
}

// wait waits until count, asked again after each arrival, is at least n.
func (s *script) wait(ctx context.Context, n int, count func() int) error {
	for {
		s.mu.Lock()
		if s.bell == nil {
			s.bell = make(chan struct{})
		}
		bell := s.bell
		s.mu.Unlock()
		got := count()
		if got >= n {
			return nil
		}
		select {
		case <-bell:
		case <-ctx.Done():
			return fmt.Errorf("wait for request %d of the script, %d so far: %w", n, got, context.Cause(ctx))
		}
	}
}

// outOfScript says that no turn is left for request n, which ends with last.
func outOfScript(n int, last oh.Blocks) Violation {
	return Violation{"script", "", fmt.Sprintf(
		"the script has no turn left for request %d; it asked %q", n, text.OneLine(last.Text(), 120))}
}

// LastUserText returns the text of the last user message that has any, its
// blocks joined by newlines.
func LastUserText(msgs []oh.Message) string {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role != oh.User {
			continue
		}
		out := ""
		for _, b := range msgs[i].Content {
			if t, ok := b.(oh.Text); ok {
				if out != "" {
					out += "\n"
				}
				out += t.Text
			}
		}
		if out != "" {
			return out
		}
	}
	return ""
}

// FindResult returns the result of the call id, the last if there are several.
func FindResult(msgs []oh.Message, id string) (oh.ToolResult, bool) {
	for i := len(msgs) - 1; i >= 0; i-- {
		for _, b := range msgs[i].Content {
			if r, ok := b.(oh.ToolResult); ok && r.ToolUseID == id {
				return r, true
			}
		}
	}
	return oh.ToolResult{}, false
}
