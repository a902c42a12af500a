package engine_test

import (
	"context"
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/ohtest"
)

// The loop with a scripted model and one tool.
func ExampleEngine_Run() {
	model := ohtest.NewProvider(nil,
		ohtest.Reply(ohtest.Call("c1", "clock", `{}`)),
		ohtest.Reply(ohtest.Text("It is noon.")))
	clock := ohtest.NewTool("clock", oh.Access{ReadOnly: true},
		func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) { return oh.TextResult("12:00"), nil })
	eng, err := engine.New(engine.Config{Provider: model, Tools: func() []oh.Tool { return []oh.Tool{clock} }})
	if err != nil {
		fmt.Println(err)
		return
	}
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := conv.Append(oh.NewEntry(oh.StateChanged{Model: "scripted"})); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range eng.Run(context.Background(), conv, oh.Text{Text: "What time is it?"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch ev := ev.(type) {
		case oh.ToolDone:
			fmt.Println(ev.Tool, "says", ev.Content.Text())
		case oh.TextDelta:
			fmt.Println(ev.Text)
		case oh.RunDone:
			fmt.Println(ev.Reason, "after", ev.Turns, "turns")
		}
	}
	// Output:
	// clock says 12:00
	// It is noon.
	// end after 2 turns
}
