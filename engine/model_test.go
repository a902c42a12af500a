package engine_test

import (
	"context"
	"iter"
	"testing"

	"github.com/openharness/oh"
)

// renamed is a service that answers under a name of its own.
type renamed string

func (r renamed) Stream(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		yield(oh.MessageDone{Message: oh.Message{Model: string(r), Content: oh.Blocks{oh.Text{Text: "x"}}}}, nil)
	}
}

// TestModelName: what a service calls a model is shown and counted, so it does
// nothing to a terminal.
func TestModelName(t *testing.T) {
	for told, want := range map[string]string{"gpt-5": "gpt-5", "": "m", " \x1b[2J\n": "m", "a\x1b]0;x\a\r\n\tb": "a b"} {
		b := setUp(t, nil)
		b.cfg.Provider = renamed(told)
		evs, err := b.run("go")
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range evs {
			if done, ok := ev.(oh.MessageDone); ok && done.Message.Model != want {
				t.Errorf("%q: %q, want %q", told, done.Message.Model, want)
			}
		}
	}
}
