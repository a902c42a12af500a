// Command embed runs the loop inside another program: one prompt, the file
// tools on one folder, a gate that lets everything through that stays in it.
//
//	ANTHROPIC_API_KEY=… go run ./examples/embed "what is in this folder?"
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/tools/file"
	"github.com/openharness/oh/tools/search"
	"github.com/openharness/oh/workspace"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: embed PROMPT")
		os.Exit(2)
	}
	if os.Getenv("ANTHROPIC_API_KEY") == "" {
		fmt.Fprintln(os.Stderr, "embed: set ANTHROPIC_API_KEY")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, prompt string) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	ws, err := workspace.New(workspace.Config{Root: dir})
	if err != nil {
		return err
	}
	conv, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		return err
	}
	if err := conv.Append(oh.NewEntry(oh.StateChanged{Model: "claude-sonnet-4-6", Dir: dir, System: "You answer questions about a folder."})); err != nil {
		return err
	}
	eng, err := engine.New(engine.Config{
		Provider: anthropic.New(provider.Config{Key: os.Getenv("ANTHROPIC_API_KEY"), BaseURL: os.Getenv("ANTHROPIC_BASE_URL")}),
		Tools:    func() []oh.Tool { return append(file.Tools(ws), search.Tools(ws)...) },
		// Without a gate only calls run that read.
	})
	if err != nil {
		return err
	}
	for ev, err := range eng.Run(ctx, conv, oh.Text{Text: prompt}) {
		if err != nil {
			return err
		}
		if d, ok := ev.(oh.TextDelta); ok {
			fmt.Print(d.Text)
		}
	}
	fmt.Println()
	return nil
}
