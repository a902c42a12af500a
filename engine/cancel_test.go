package engine_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/ohtest"
)

func TestCancelKeepsWhatFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		quick := says("quick", "finished", read)
		hang := tool{name: "hang", access: read, run: func(ctx context.Context, _ *oh.Call, _ func(oh.Event)) (oh.Result, error) {
			time.Sleep(time.Second)
			cancel()
			<-ctx.Done()
			return oh.Result{}, ctx.Err()
		}}
		b := setUp(t, []oh.Tool{quick, hang, says("w", "x", write)},
			calls(tc("a", "quick", "{}"), tc("b", "hang", "{}"), tc("c", "w", "{}")), say("after"))
		events, err := b.runCtx(ctx, "go")
		if err != nil || reason(events) != oh.ReasonCancelled {
			t.Fatalf("%v, %v", kinds(events), err)
		}
		got := texts(b.conv.Messages())
		if !strings.Contains(got[2], "result a finished | result! b [interrupted]") || !strings.Contains(got[2], "result! c [interrupted] Not run") {
			t.Errorf("history: %q", got)
		}
		if _, err := b.run("go on"); err != nil {
			t.Errorf("the next run: %v", err)
		}
	})
}

func TestCancelWhileStreamingKeepsTheText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		b := setUp(t, nil, ohtest.Turn{Chunks: []oh.Chunk{oh.TextDelta{Text: "so far"}, oh.ToolInputDelta{Name: "w", JSON: `{"a`}}, Hang: true}, say("after"))
		e, _ := engine.New(b.cfg)
		var events []oh.Event
		for ev, err := range e.Run(ctx, b.conv, oh.Text{Text: "go"}) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, ev)
			if _, ok := ev.(oh.ToolInputDelta); ok {
				cancel()
			}
		}
		if reason(events) != oh.ReasonCancelled {
			t.Errorf("%v", kinds(events))
		}
		want := []string{"user: go", "assistant: so far"}
		if d := cmp.Diff(want, texts(b.conv.Messages())); d != "" {
			t.Errorf("history (-want +got):\n%s", d)
		}
		if _, err := b.run("go on"); err != nil {
			t.Errorf("the next run: %v", err)
		}
	})
}

// After a break no event is yielded, the tools are stopped, what had finished
// is kept, and nothing is left running (synctest fails on a goroutine left).
func TestBreak(t *testing.T) {
	for stopAt := range 12 {
		synctest.Test(t, func(t *testing.T) {
			hang := tool{name: "hang", access: read, run: func(ctx context.Context, _ *oh.Call, emit func(oh.Event)) (oh.Result, error) {
				emit(oh.ToolOutput{Text: "live"})
				<-ctx.Done()
				return oh.TextResult("partial"), nil
			}}
			b := setUp(t, []oh.Tool{says("quick", "ok", read), hang}, calls(tc("a", "quick", "{}"), tc("b", "hang", "{}")), say("never"))
			e, _ := engine.New(b.cfg)
			n := 0
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for range e.Run(ctx, b.conv, oh.Text{Text: "go"}) {
				if n++; n > stopAt {
					break
				}
			}
			b.legal()
			if _, err := b.conv.Begin(); err != nil {
				t.Errorf("the conversation is still claimed: %v", err)
			}
		})
	}
}

func TestToolThatIgnoresCancelIsLeftBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		deaf := tool{name: "deaf", run: func(_ context.Context, _ *oh.Call, emit func(oh.Event)) (oh.Result, error) {
			time.Sleep(time.Minute)
			emit(oh.StateChanged{Dir: "/late"})
			return oh.TextResult("too late"), nil
		}}
		b := setUp(t, []oh.Tool{deaf}, calls(tc("a", "deaf", "{}")))
		start := time.Now()
		events, err := b.runCtx(ctx, "go")
		if err != nil || reason(events) != oh.ReasonCancelled || time.Since(start) != 4*time.Second {
			t.Errorf("%v, %v after %v", kinds(events), err, time.Since(start))
		}
		time.Sleep(2 * time.Minute)
		got := texts(b.conv.Messages())
		if !strings.Contains(got[2], "[interrupted] This call did not finish") || b.conv.State().Dir != "/w" {
			t.Errorf("history: %q, state %+v", got, b.conv.State())
		}
	})
}

// A cancel that comes with the failure of a request is a cancel.
func TestCancelWhileTheRequestFails(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := setUp(t, nil)
	b.cfg.Provider = oh.ProviderFunc(func(context.Context, *oh.Request) iter.Seq2[oh.Chunk, error] {
		return func(yield func(oh.Chunk, error) bool) {
			cancel()
			yield(nil, &oh.Error{Kind: oh.KindLimited, Err: errors.New("slow down")})
		}
	})
	events, err := b.runCtx(ctx, "go")
	if err != nil || reason(events) != oh.ReasonCancelled {
		t.Errorf("%v, %v", kinds(events), err)
	}
}

func TestBusy(t *testing.T) {
	b := setUp(t, nil, say("x"))
	end, err := b.conv.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	e, _ := engine.New(b.cfg)
	for ev, err := range e.Run(t.Context(), b.conv, oh.Text{Text: "go"}) {
		if ev != nil || !errors.Is(err, oh.ErrBusy) {
			t.Errorf("%v, %v", ev, err)
		}
	}
}

// failingLog fails from the nth append on.
type failingLog struct {
	oh.MemoryLog
	left int
}

func (l *failingLog) Append(e oh.Entry) error {
	if l.left--; l.left < 0 {
		return errors.New("no space left on device")
	}
	return l.MemoryLog.Append(e)
}

// A log that cannot be written ends the run at once with the reason, wherever
// it happens, and what is in memory is what the log holds.
func TestFullDisk(t *testing.T) {
	for left := range 8 {
		log := &failingLog{left: left}
		conv, err := oh.Open(log, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = conv.Append(oh.NewEntry(oh.StateChanged{Model: "m", Dir: "/w"}))
		prov := ohtest.NewProvider(t, calls(tc("a", "look", "{}"), tc("b", "w", "{}")), say("done"))
		e, _ := engine.New(engine.Config{Provider: prov, Gate: allowAll, Tools: func() []oh.Tool {
			return []oh.Tool{says("look", "x", read), says("w", "y", write)}
		}})
		var last error
		for _, err := range e.Run(t.Context(), conv, oh.Text{Text: "go"}) {
			last = err
		}
		if last == nil || !strings.Contains(last.Error(), "write session log: no space left on device") {
			t.Errorf("left %d: %v", left, last)
		}
	}
}
