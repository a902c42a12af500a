package bench_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
)

// script is a provider without a wire: calls replies with one call each, then
// one of deltas.
type script struct {
	calls, deltas int
	asked         int
}

const piece = "Some words of it. "

// Stream implements [oh.Provider].
func (s *script) Stream(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		s.asked++
		m := oh.Message{Role: oh.Assistant, Model: "bench", Usage: oh.Usage{InputTokens: 10, OutputTokens: 10}}
		if s.asked <= s.calls {
			m.Stop = oh.StopToolUse
			m.Content = oh.Blocks{oh.ToolUse{ID: fmt.Sprintf("call_%d", s.asked), Name: "nothing", Input: json.RawMessage(`{"word":"x"}`)}}
			yield(oh.MessageDone{Message: m}, nil)
			return
		}
		for range s.deltas {
			if !yield(oh.TextDelta{Text: piece}, nil) {
				return
			}
		}
		m.Stop = oh.StopEnd
		m.Content = oh.Blocks{oh.Text{Text: strings.Repeat(piece, max(1, s.deltas))}}
		yield(oh.MessageDone{Message: m}, nil)
	}
}

type word struct {
	Word string `json:"word"`
}

// nothing is a tool that does nothing.
func nothing() oh.Tool {
	return oh.NewTool(oh.ToolDef[word]{Name: "nothing", Doc: "Does nothing.",
		Prepare: func(context.Context, *oh.Call, word) (oh.Action, error) {
			return oh.Action{Access: oh.Access{ReadOnly: true},
				Run: func(context.Context, func(oh.Event)) (oh.Result, error) { return oh.TextResult("done"), nil }}, nil
		}})
}

func newConversation(tb testing.TB, log oh.Log) *oh.Conversation {
	tb.Helper()
	conv, err := oh.Open(log, nil)
	if err != nil {
		tb.Fatal(err)
	}
	if err := conv.Append(oh.NewEntry(oh.StateChanged{Mode: oh.ModeFullAuto, Profile: "bench", Model: "bench", System: "Be short."})); err != nil {
		tb.Fatal(err)
	}
	return conv
}

// BenchmarkEngineTurn is what the loop costs in a turn with one call, in a
// conversation of 100 and of 1,000 turns.
func BenchmarkEngineTurn(b *testing.B) {
	for _, turns := range []int{100, 1000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			tools := []oh.Tool{nothing()}
			b.ReportAllocs()
			for b.Loop() {
				s := &script{calls: turns}
				eng, err := engine.New(engine.Config{Provider: s, MaxTurns: turns + 1, Tools: func() []oh.Tool { return tools }})
				if err != nil {
					b.Fatal(err)
				}
				for ev, err := range eng.Run(b.Context(), newConversation(b, &oh.MemoryLog{}), oh.Text{Text: "go"}) {
					if err != nil {
						b.Fatal(err)
					}
					if done, ok := ev.(oh.RunDone); ok && done.Turns != turns+1 {
						b.Fatalf("%d turns: %s", done.Turns, done.Text)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*(turns+1)), "ns/turn")
		})
	}
}
