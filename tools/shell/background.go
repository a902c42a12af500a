package shell

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
)

//go:embed started.md
var startedDoc string

//go:embed ended.md
var endedDoc string

// startedMeta is what the log keeps of the start of a task.
type startedMeta struct {
	ID   string `json:"task_id"`
	PID  int    `json:"pid"`
	Dir  string `json:"dir"`
	Path string `json:"path,omitempty"`
}

// background starts a command as a task.
func (t *tool) background(ctx context.Context, call *oh.Call, in input, at place) (oh.Result, error) {
	if err := ctx.Err(); err != nil {
		return oh.Result{}, err
	}
	task, err := t.store.start(call.Env, in.Command, at.dir)
	if err != nil {
		return oh.Result{}, err
	}
	file := " or the file " + task.path
	if task.path == "" {
		file = " (not saved to a file: " + task.whyLost().Error() + ")"
	}
	pid := task.running.PID()
	raw, err := oh.Marshal(startedMeta{task.id, pid, at.dir, task.path})
	if err != nil {
		return oh.Result{}, fmt.Errorf("note the start of the command: %w", err)
	}
	words := strings.NewReplacer("{id}", task.id, "{pid}", strconv.Itoa(pid), "{file}", file).Replace(strings.TrimSpace(startedDoc))
	return oh.Result{
		Content: oh.Blocks{oh.Text{Text: words}},
		Meta:    raw,
		Display: oh.Output{Command: in.Command, Text: words},
	}, nil
}
