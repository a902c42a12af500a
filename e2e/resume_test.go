//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// steps is a model that has turns of two calls run, each leaving a mark, until
// n turns were answered.
func steps(t *testing.T, n int) ohtest.Config {
	t.Helper()
	return ohtest.Config{Rule: func(r *ohtest.Request) (ohtest.Turn, bool) {
		turns := 0
		for _, m := range r.Messages() {
			if m.Role == oh.Assistant {
				turns++
			}
		}
		if turns >= n {
			return ohtest.Reply(ohtest.Text("finished")), true
		}
		return ohtest.Reply(ohtest.Thinking("next"), ohtest.Text(fmt.Sprintf("turn %d", turns)),
			named(bash(t, fmt.Sprintf(`echo ran >> "$M/%da"; echo out-%da`, turns, turns)), fmt.Sprintf("c%da", turns)),
			named(bash(t, fmt.Sprintf(`echo ran >> "$M/%db"; echo out-%db`, turns, turns)), fmt.Sprintf("c%db", turns))), true
	}}
}

// TestKilledAnywhere (B24): whenever it is killed, a resume is legal, nothing
// that ran runs again, and every result that was logged is kept.
func TestKilledAnywhere(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		for _, mark := range []string{"0a", "0b", "1a", "2b", "3a", "3b"} {
			t.Run(mark, func(t *testing.T) {
				t.Parallel()
				b := newBoxWith(t, wire, steps(t, 5))
				r := b.start(call{args: []string{"-p", "--permission-mode", "full_auto", "--output-format", "events", "go"}})
				until(t, "a mark", func() bool { return b.marked(mark) > 0 })
				r.signal(syscall.SIGKILL)
				shown := r.wait()
				logged := b.read(b.log())
				for _, f := range wholeFrames(t, shown.out) {
					ev, _ := f["event"].(map[string]any)
					if ev["type"] == "tool_done" && !strings.Contains(logged, fmt.Sprintf(`out-%s`, strings.TrimPrefix(ev["id"].(string), "c"))) {
						t.Errorf("the result of %v was shown but is not in the log", ev["id"])
					}
				}
				res := b.oh("-c", "-p", "go on")
				res.wantCode(t, 0)
				if res.out == "" || !strings.HasSuffix(res.out, "finished\n") {
					t.Errorf("resume: %v", res)
				}
				for i := range 5 {
					for _, c := range "ab" {
						name := fmt.Sprintf("%d%c", i, c)
						if n := b.marked(name); n > 1 {
							t.Errorf("call %s ran %d times", name, n)
						}
					}
				}
			})
		}
	})
}

// wholeFrames decodes the lines that came whole.
func wholeFrames(t *testing.T, out string) []map[string]any {
	t.Helper()
	end := strings.LastIndexByte(out, '\n') + 1
	return frames(t, out[:end])
}

// TestManyAtOnce: programs that begin at the same time in one folder do not
// disturb each other.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	b := newBoxWith(t, ohtest.Anthropic, ohtest.Config{Rule: func(r *ohtest.Request) (ohtest.Turn, bool) {
		return ohtest.Reply(ohtest.Text("answer to " + r.LastUserText())), true
	}})
	const n = 8
	results := make([]result, n)
	var wait sync.WaitGroup
	for i := range n {
		p := b.start(call{args: []string{"-p", fmt.Sprintf("question-%d", i)}})
		wait.Go(func() { results[i] = p.wait() })
	}
	wait.Wait()
	for i, r := range results {
		if r.code != 0 || !strings.Contains(r.out, fmt.Sprintf("question-%d", i)) {
			t.Errorf("%d: %v", i, r)
		}
	}
	if got := len(b.logs()); got != n {
		t.Errorf("%d files", got)
	}
	// All go on with the last one: one has it, the others fork.
	for i := range n {
		p := b.start(call{args: []string{"-c", "-p", fmt.Sprintf("second-%d", i)}})
		wait.Go(func() { results[i] = p.wait() })
	}
	wait.Wait()
	for i, r := range results {
		if r.code != 0 || !strings.Contains(r.out, fmt.Sprintf("second-%d", i)) {
			t.Errorf("%d: %v", i, r)
		}
	}
}

// TestCancelledText: what was shown before an interrupt stays in the history,
// what came of a cut stream does not.
func TestCancelledText(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBox(t, wire, ohtest.Hang(ohtest.Text("shown before the end")))
		r := b.start(call{args: []string{"-p", "--output-format", "events", "first"}})
		b.requests(1)
		until(t, "text is shown", func() bool { return len(b.logs()) == 1 })
		r.signal(syscall.SIGINT)
		res := r.wait()
		b.srv.Add(ohtest.Reply(ohtest.Text("ok")))
		b.oh("-c", "-p", "second").wantCode(t, 0)
		body := string(b.done(2)[1].Body)
		if strings.Contains(res.out, "shown before the end") != strings.Contains(body, "shown before the end") {
			t.Errorf("shown and kept differ: %v\n%s", res, body)
		}
	})
}

// TestStablePrefix: the requests of a session, a resumed one too, begin with
// what was sent before, byte for byte.
func TestStablePrefix(t *testing.T) {
	bothWires(t, func(t *testing.T, wire ohtest.Wire) {
		b := newBoxWith(t, wire, steps(t, 3))
		b.auto("go").wantCode(t, 0)
		b.oh("-c", "-p", "<&> more").wantCode(t, 0)
		var before []string
		for _, r := range b.srv.Requests() {
			now := sent(t, r)
			if len(now) < len(before) || !slices.Equal(before, now[:len(before)]) {
				t.Errorf("request %d changed what was sent before (-before +now):\n%s", r.N, cmp.Diff(before, now))
			}
			before = now
		}
	})
}

// sent is each message of a request as it was sent, without the marks of the
// cache, which move.
func sent(t *testing.T, r *ohtest.Request) (out []string) {
	t.Helper()
	list, _ := r.JSON["messages"].([]any)
	for _, m := range list {
		raw, err := json.Marshal(m)
		must(t, err)
		out = append(out, strings.ReplaceAll(string(raw), `"cache_control":{"type":"ephemeral"},`, ""))
	}
	return out
}
