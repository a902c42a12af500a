// Command tool adds a tool of its own to the loop. The model is scripted, so
// that the example runs anywhere: go run ./examples/tool
package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/ohtest"
)

// doc holds the words for the model.
//
//go:embed count.md
var doc string

// countInput is what the model sends. Its schema is made by reflection.
type countInput struct {
	Text string `json:"text"`
	Unit string `json:"unit,omitempty" oh:"enum=words|lines,default=words"`
}

func countTool() oh.Tool {
	return oh.NewTool(oh.ToolDef[countInput]{Name: "count", Doc: doc,
		Prepare: func(_ context.Context, _ *oh.Call, in countInput) (oh.Action, error) {
			return oh.Action{
				Access: oh.Access{ReadOnly: true}, // it touches nothing
				Run: func(context.Context, func(oh.Event)) (oh.Result, error) {
					n := len(strings.Fields(in.Text))
					if in.Unit == "lines" {
						n = strings.Count(in.Text, "\n") + 1
					}
					return oh.TextResult(fmt.Sprintf("%d %s", n, in.Unit)), nil
				},
			}, nil
		}})
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	model := ohtest.NewProvider(nil,
		ohtest.Reply(ohtest.Call("c1", "count", `{"text": "one two three"}`)),
		ohtest.Reply(ohtest.Text("There are three words.")))
	eng, err := engine.New(engine.Config{Provider: model, Tools: func() []oh.Tool { return []oh.Tool{countTool()} }})
	if err != nil {
		return err
	}
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		return err
	}
	for ev, err := range eng.Run(ctx, conv, oh.Text{Text: "How many words are in 'one two three'?"}) {
		if err != nil {
			return err
		}
		switch ev := ev.(type) {
		case oh.ToolDone:
			fmt.Printf("%s said: %s\n", ev.Tool, ev.Content.Text())
		case oh.MessageDone:
			if said := ev.Message.Content.Text(); said != "" {
				fmt.Println("the model said:", said)
			}
		}
	}
	return nil
}
