package bench_test

import (
	"io"
	"testing"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/internal/print"
)

// BenchmarkDeltas is what 20,000 deltas cost from the engine to stdout.
func BenchmarkDeltas(b *testing.B) {
	for _, bb := range []struct {
		name string
		o    print.Options
	}{
		{"text", print.Options{Format: print.Text}},
		{"text on a terminal", print.Options{Format: print.Text, OutTerminal: true}},
		{"json", print.Options{Format: print.JSON}},
		{"stream-json", print.Options{Format: print.StreamJSON}},
		{"stream-json with pieces", print.Options{Format: print.StreamJSON, Partial: true}},
		{"events", print.Options{Format: print.Events}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			const deltas = 20_000
			b.ReportAllocs()
			for b.Loop() {
				bb.o.Out, bb.o.Err = io.Discard, io.Discard
				eng, err := engine.New(engine.Config{Provider: &script{deltas: deltas}})
				if err != nil {
					b.Fatal(err)
				}
				show(b, print.New(bb.o), eng)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deltas), "ns/delta")
		})
	}
}

// show runs a conversation and prints it, as the runtime does.
func show(b *testing.B, p *print.Printer, eng *engine.Engine) {
	conv := newConversation(b, &oh.MemoryLog{})
	var seq uint64
	for ev, err := range eng.Run(b.Context(), conv, oh.Text{Text: "go"}) {
		if err != nil {
			b.Fatal(err)
		}
		seq++
		env := oh.Envelope{Seq: seq, Time: time.Now().UTC(), Session: conv.State().Session, Event: ev}
		if err := p.Event(env); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := p.Finish(nil); err != nil {
		b.Fatal(err)
	}
}
