//go:build unix

package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace/proc"
)

type asker func(oh.Question) (oh.Answer, error)

func (a asker) Ask(_ context.Context, q oh.Question) (oh.Answer, error) { return a(q) }

// TestEscalate: a command whose confinement fails it runs again only when a
// person says so, and then without.
func TestEscalate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		held  string
		final string
		ask   asker
		runs  int // without confinement
		say   string
	}{
		{"yes", "x: no", "", func(oh.Question) (oh.Answer, error) { return oh.Answer{Allow: true}, nil }, 1, "this is a second one"},
		{"no", "x: no", "", func(oh.Question) (oh.Answer, error) { return oh.Answer{}, nil }, 0, "the user said no]"},
		{"no with a reason", "x: no", "", func(oh.Question) (oh.Answer, error) { return oh.Answer{Text: "later"}, nil }, 0, "the user said no: later]"},
		{"nobody", "x: no", "", func(oh.Question) (oh.Answer, error) { return oh.Answer{}, oh.ErrNobody }, 0, "--sandbox=off"},
		{"no asker", "x: no", "", nil, 0, "--sandbox=off"},
		{"broken asker", "x: no", "", func(oh.Question) (oh.Answer, error) { return oh.Answer{}, errors.New("gone") }, 0, "asking failed: gone"},
		{"final", "x: no", "never this", func(oh.Question) (oh.Answer, error) { return oh.Answer{Allow: true}, nil }, 0, "never this"},
		{"not held", "", "", func(oh.Question) (oh.Answer, error) { return oh.Answer{Allow: true}, nil }, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t)
			b.runner = proc.New(proc.Config{Start: func(c *exec.Cmd) error {
				c.Env = append(c.Env, "HELD=1")
				return c.Start()
			}})
			t.Cleanup(b.runner.CloseAll)
			b.tool = New(Config{Runner: b.runner, Roots: func() []string { return []string{b.root} },
				Blocked: func(string, int) string { return tt.held },
				Final:   func(string, string) string { return tt.final }})
			asked := 0
			if tt.ask != nil {
				b.env.Asker = asker(func(q oh.Question) (oh.Answer, error) {
					asked++
					if !q.Guarded || !strings.Contains(q.Reason, tt.held) || q.Access.Command == "" {
						t.Errorf("question %+v", q)
					}
					return tt.ask(q)
				})
			}
			res := call(t, b, `test -z "$HELD" && echo ran >> out || exit 3`)
			data, _ := os.ReadFile(filepath.Join(b.root, "out"))
			if got := strings.Count(string(data), "ran"); got != tt.runs || res.IsError != (tt.runs == 0) {
				t.Errorf("ran %d times, want %d: %+v", got, tt.runs, res)
			}
			if text := res.Content.Text(); !strings.Contains(text, tt.say) || tt.say == "" && strings.Contains(text, "sandbox") {
				t.Errorf("%q", text)
			}
			if (tt.held == "" || tt.final != "") && asked > 0 {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func call(t *testing.T, b *bench, command string) oh.Result {
	t.Helper()
	raw, err := oh.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	act, err := b.tool.Prepare(context.Background(), &oh.Call{ID: "c", Name: name, Input: raw, Env: b.env})
	if err != nil {
		t.Fatal(err)
	}
	res, err := act.Run(context.Background(), func(oh.Event) {})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
