// Command gate decides by rules of its own what may run: here, tools may write
// below one folder only, and a person is asked for nothing. The model is
// scripted, so that the example runs anywhere: go run ./examples/gate
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/tools/file"
	"github.com/openharness/oh/workspace"
)

// below lets calls through that write only below dir.
func below(dir string) oh.Gate {
	return oh.GateFunc(func(_ context.Context, req oh.GateRequest) oh.Verdict {
		if req.Access.ReadOnly {
			return oh.Verdict{Decision: oh.Allow, Reason: "it only reads"}
		}
		if len(req.Access.Paths) == 0 {
			return oh.Verdict{Reason: req.Tool + " does not say what it writes"}
		}
		for _, use := range req.Access.Paths {
			real, err := workspace.Resolve(use.Path)
			if err != nil || !workspace.Below(dir, real) {
				return oh.Verdict{Reason: use.Path + " is not below " + dir}
			}
		}
		return oh.Verdict{Decision: oh.Allow}
	})
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "gate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = workspace.Resolve(dir); err != nil {
		return err
	}
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		return err
	}
	ws, err := workspace.New(workspace.Config{Root: dir})
	if err != nil {
		return err
	}
	model := ohtest.NewProvider(nil,
		ohtest.Reply(ohtest.Call("c1", "write_file", `{"path": "out/a.txt", "content": "allowed\n"}`),
			ohtest.Call("c2", "write_file", `{"path": "b.txt", "content": "refused\n"}`)),
		ohtest.Reply(ohtest.Text("One of two was written.")))
	eng, err := engine.New(engine.Config{Provider: model, Gate: below(out), Tools: func() []oh.Tool { return file.Tools(ws) }})
	if err != nil {
		return err
	}
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		return err
	}
	if err := conv.Append(oh.NewEntry(oh.StateChanged{Dir: dir})); err != nil {
		return err
	}
	for ev, err := range eng.Run(ctx, conv, oh.Text{Text: "Write two files."}) {
		if err != nil {
			return err
		}
		if d, ok := ev.(oh.ToolDone); ok {
			fmt.Printf("%s: %s\n", d.ID, d.Content.Text())
		}
	}
	return nil
}
