// Package sleep is the tool by which a model waits for a short while. It ends
// early when its context does.
package sleep

import (
	"context"
	_ "embed"
	"strconv"
	"time"

	"github.com/openharness/oh"
)

//go:embed sleep.md
var doc string

type input struct {
	Seconds float64 `json:"seconds" oh:"min=0,max=30,default=1"`
}

// New makes the tool sleep.
func New() oh.Tool {
	return oh.NewTool(oh.ToolDef[input]{Name: "sleep", Doc: doc, SelfLimited: true, Prepare: prepare})
}

func prepare(_ context.Context, _ *oh.Call, in input) (oh.Action, error) {
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run: func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) {
			timer := time.NewTimer(time.Duration(in.Seconds * float64(time.Second)))
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return oh.Result{}, ctx.Err()
			}
			return oh.TextResult("Waited " + strconv.FormatFloat(in.Seconds, 'f', -1, 64) + " s."), nil
		},
	}, nil
}
