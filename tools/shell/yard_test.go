//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/openharness/oh"
)

// yard is a bench with all three tools and a queue.
type yard struct {
	*bench
	output, stop oh.Tool
	store        *store
	notices      chan string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	b := newBench(t)
	own := &store{runner: b.runner}
	all := toolsOn(Config{Runner: b.runner, Roots: func() []string { return []string{b.root} }}, own)
	y := &yard{bench: b, output: all[1], stop: all[2], store: own, notices: make(chan string, 100)}
	b.tool = all[0]
	b.env.Artifacts = numbered(t.TempDir())
	b.env.Notify = func(blocks ...oh.Block) {
		for _, block := range blocks {
			if text, ok := block.(oh.Text); !ok || !text.Context {
				t.Errorf("notice %+v", block)
			}
		}
		y.notices <- oh.Blocks(blocks).Text()
	}
	return y
}

// numbered makes artifacts with names of their own.
type numbered string

func (n numbered) Create(tool string) (oh.Artifact, error) {
	f, err := os.CreateTemp(string(n), tool+"-*.txt")
	return artifact{f}, err
}

// call runs a tool on an input.
func (y *yard) call(ctx context.Context, tool oh.Tool, in any) (oh.Result, error) {
	y.t.Helper()
	raw, err := oh.Marshal(in)
	if err != nil {
		y.t.Fatal(err)
	}
	act, err := tool.Prepare(ctx, &oh.Call{ID: "c1", Name: tool.Spec().Name, Input: raw, Env: y.env})
	if err != nil {
		return oh.Result{}, err
	}
	return act.Run(ctx, y.emit)
}

type fields map[string]any

// start starts a command in the background.
func (y *yard) start(command string) startedMeta {
	y.t.Helper()
	res, err := y.call(y.t.Context(), y.tool, fields{"command": command, "run_in_background": true})
	if err != nil || res.IsError {
		y.t.Fatalf("%s: %v %s", command, err, res.Content.Text())
	}
	var m startedMeta
	if err := json.Unmarshal(res.Meta, &m); err != nil {
		y.t.Fatal(err)
	}
	return m
}

// look is a call of task_output, or of task_stop when in is nil.
func (y *yard) look(id string, in fields) string {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(y.t.Context(), patience)
	defer cancel()
	tool := y.stop
	if in != nil {
		tool = y.output
	}
	all := fields{"task_id": id}
	for k, v := range in {
		all[k] = v
	}
	res, err := y.call(ctx, tool, all)
	if err != nil || res.IsError {
		y.t.Fatalf("%s: %v %s", id, err, res.Content.Text())
	}
	return timeless(res.Content.Text())
}

// block is a look that waits for news.
func (y *yard) block(id string) string {
	return y.look(id, fields{"block": true, "timeout_seconds": 600})
}

// timeless blots out durations and the like.
func timeless(s string) string {
	s = regexp.MustCompile(`b[0-9a-f]{8}`).ReplaceAllString(s, "ID")
	return regexp.MustCompile(`(after|for) (\d+m)?[0-9.]+m?s`).ReplaceAllString(s, "$1 T")
}

// notice waits for a message in the queue.
func (y *yard) notice() string {
	y.t.Helper()
	select {
	case s := <-y.notices:
		return timeless(s)
	case <-time.After(patience):
		y.t.Fatal("no notice came")
		return ""
	}
}

// gate is a file that commands wait for.
func (y *yard) gate(name string) (wait string, open func()) {
	path := filepath.Join(y.root, name)
	return "while [ ! -e " + path + " ]; do sleep 0.01; done", func() {
		y.t.Helper()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			y.t.Fatal(err)
		}
	}
}

// until waits for a condition without events of its own.
func (y *yard) until(ok func() bool) {
	y.t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			y.t.Fatal("the condition did not come true")
		}
	}
}
