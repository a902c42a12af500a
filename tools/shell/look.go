package shell

import (
	"context"
	_ "embed"
	"time"

	"github.com/openharness/oh"
)

//go:embed task_output.md
var outputDoc string

//go:embed task_stop.md
var stopDoc string

// lastShown is how many bytes of its last output a stopped task gives.
const lastShown = 12_000

type lookInput struct {
	ID      string `json:"task_id"`
	Most    int    `json:"max_bytes,omitempty" oh:"min=1,max=100000,default=12000"`
	Block   bool   `json:"block,omitempty"`
	Timeout int    `json:"timeout_seconds,omitempty" oh:"min=0,max=600,default=30"`
}

// newOutput makes the tool task_output.
func newOutput(tasks Tasks) oh.Tool {
	return oh.NewTool(oh.ToolDef[lookInput]{
		Name:        "task_output",
		Doc:         outputDoc,
		SelfLimited: true,
		Prepare: func(_ context.Context, _ *oh.Call, in lookInput) (oh.Action, error) {
			var wait time.Duration
			if in.Block {
				wait = time.Duration(in.Timeout) * time.Second
			}
			return onTask(func(ctx context.Context) (Progress, error) { return tasks.Look(ctx, in.ID, wait, in.Most) })
		},
	})
}

type stopInput struct {
	ID string `json:"task_id"`
}

// newStop makes the tool task_stop.
func newStop(tasks Tasks) oh.Tool {
	return oh.NewTool(oh.ToolDef[stopInput]{
		Name:        "task_stop",
		Doc:         stopDoc,
		SelfLimited: true,
		Prepare: func(_ context.Context, _ *oh.Call, in stopInput) (oh.Action, error) {
			return onTask(func(ctx context.Context) (Progress, error) { return tasks.Stop(ctx, in.ID, lastShown) })
		},
	})
}

// onTask is an action on a task. A task was allowed when it was started, so to
// see or to end it is allowed too.
func onTask(do func(context.Context) (Progress, error)) (oh.Action, error) {
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run: func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) {
			p, err := do(ctx)
			if err != nil {
				return oh.Result{}, err
			}
			return p.result()
		},
	}, nil
}
