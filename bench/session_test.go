package bench_test

import (
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/session"
)

// BenchmarkSession is what it costs to write one entry to a session's file.
func BenchmarkSession(b *testing.B) {
	for _, bb := range []struct {
		name  string
		event oh.Event
	}{
		{"decision", oh.Decided{ID: "call_1", Tool: "bash", Decision: oh.Allow, By: oh.ByGate, Reason: "the mode allows it"}},
		{"result of 1 kB", result(1000)},
		{"result of 16 kB", result(16_000)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			f, err := session.Store{Dir: b.TempDir(), Version: "0"}.Create(oh.SessionStarted{Dir: "/"})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				if err := f.Close(); err != nil {
					b.Error(err)
				}
			})
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Append(oh.NewEntry(bb.event)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func result(size int) oh.ToolDone {
	return oh.ToolDone{ID: "call_1", Tool: "bash", Content: oh.Blocks{oh.Text{Text: strings.Repeat("a line\n", size/7)}}}
}
