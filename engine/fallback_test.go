package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"

	"github.com/openharness/oh/ohtest"
)

func busy() error {
	return &oh.Error{Op: "test", Kind: oh.KindOverloaded, Status: 529, Code: "overloaded_error", Err: errors.New("busy")}
}

// asked lists the models that were asked.
func (b *bench) asked() (out []string) {
	for _, req := range b.prov.Requests() {
		out = append(out, req.Model)
	}
	return out
}

func TestFallback(t *testing.T) {
	quota := &oh.Error{Op: "test", Kind: oh.KindQuota, Status: 429}
	limited := &oh.Error{Op: "test", Kind: oh.KindLimited, Status: 429}
	long := &oh.Error{Op: "test", Kind: oh.KindOverloaded, After: time.Hour}
	ok := ohtest.Reply(ohtest.Text("done"))
	tests := []struct {
		name     string
		fallback []string
		turns    []ohtest.Turn
		want     []string // models that are asked
		notices  int
		kind     oh.Kind // of the error that ends the run
	}{
		{"after three in a row", []string{"n"}, []ohtest.Turn{ohtest.Fail(busy()), ohtest.Fail(busy()), ohtest.Fail(busy()), ok}, []string{"m", "m", "m", "n"}, 1, ""},
		{"another error between", []string{"n"}, []ohtest.Turn{ohtest.Fail(busy()), ohtest.Fail(limited), ohtest.Fail(busy()), ohtest.Fail(busy()), ok}, []string{"m", "m", "m", "m", "n"}, 1, ""},
		{"at once when it asks to wait too long", []string{"n"}, []ohtest.Turn{ohtest.Fail(long), ok}, []string{"m", "n"}, 1, ""},
		{"the next of the list", []string{"m", "n", "o"}, []ohtest.Turn{ohtest.Fail(long), ohtest.Fail(long), ok}, []string{"m", "n", "o"}, 2, ""},
		{"all of them", []string{"n"}, []ohtest.Turn{ohtest.Fail(long), ohtest.Fail(long)}, []string{"m", "n"}, 1, oh.KindOverloaded},
		{"not when a quota is used up", []string{"n"}, []ohtest.Turn{ohtest.Fail(quota)}, []string{"m"}, 0, oh.KindQuota},
		{"not at a rate limit", []string{"n"}, []ohtest.Turn{ohtest.Fail(limited), ohtest.Fail(limited), ohtest.Fail(limited), ohtest.Fail(limited)}, []string{"m", "m", "m", "m"}, 0, oh.KindLimited},
		{"none", nil, []ohtest.Turn{ohtest.Fail(busy()), ohtest.Fail(busy()), ohtest.Fail(busy()), ohtest.Fail(busy())}, []string{"m", "m", "m", "m"}, 0, oh.KindOverloaded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setUp(t, nil, tt.turns...)
				b.cfg.Fallback = tt.fallback
				_, err := b.run("go")
				if got := oh.KindOf(err); got != tt.kind {
					t.Errorf("error %v, want of kind %q", err, tt.kind)
				}
				if diff := cmp.Diff(tt.want, b.asked()); diff != "" {
					t.Errorf("models (-want +got):\n%s", diff)
				}
				notices := 0
				for _, e := range b.log.Entries() {
					if n, ok := e.Event.(oh.Notice); ok && strings.Contains(n.Text, "is overloaded") {
						notices++
					}
				}
				if notices != tt.notices {
					t.Errorf("%d notices of record, want %d", notices, tt.notices)
				}
			})
		})
	}
}

// TestFallbackLasts: the other model answers for the rest of the run and is
// named in what it says and costs; the next run begins with the first one.
func TestFallbackLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := &oh.Error{Op: "test", Kind: oh.KindOverloaded, Status: 529, After: time.Hour}
		b := setUp(t, []oh.Tool{says("look", "seen", read)},
			ohtest.Fail(long, ohtest.Text("half")), ohtest.Reply(ohtest.Call("c1", "look", `{}`)), ohtest.Reply(ohtest.Text("one")),
			ohtest.Reply(ohtest.Text("two")))
		b.cfg.Fallback = []string{"n"}
		events, err := b.run("go")
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, ev := range events {
			switch ev := ev.(type) {
			case oh.Notice:
				said = append(said, ev.Text)
			case oh.Retrying:
				if !ev.Discard || ev.Attempt != 2 {
					t.Errorf("%+v", ev)
				}
				said = append(said, "retrying")
			case oh.MessageDone:
				said = append(said, ev.Message.Model)
			}
		}
		want := []string{"retrying", "m is overloaded (529); n answers for the rest of this run.", "n", "n"}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Error(diff)
		}
		if _, err := b.run("again"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"m", "n", "n", "m"}, b.asked()); diff != "" {
			t.Error(diff)
		}
		st := b.conv.State()
		if st.Model != "m" {
			t.Errorf("the session's model is %s", st.Model)
		}
		var spent []string
		for _, s := range st.Spend {
			spent = append(spent, s.Model)
		}
		if diff := cmp.Diff([]string{"n", "m"}, spent); diff != "" {
			t.Error(diff)
		}
	})
}

// TestUsageOfAll: what a run used is the sum of all requests: those of tools,
// beside the conversation, and those that came to nothing.
func TestUsageOfAll(t *testing.T) {
	use := oh.Usage{InputTokens: 100, OutputTokens: 10}
	lost := &oh.Error{Op: "test", Kind: oh.KindUnavailable, Usage: oh.Usage{InputTokens: 7}}
	side := tool{name: "side", access: read, run: func(_ context.Context, _ *oh.Call, emit func(oh.Event)) (oh.Result, error) {
		emit(oh.SideUsage{For: "side", Profile: "p", Model: "s", Usage: oh.Usage{InputTokens: 1000}})
		return oh.TextResult("ok"), nil
	}}
	synctest.Test(t, func(t *testing.T) {
		b := setUp(t, []oh.Tool{side},
			ohtest.Fail(lost, ohtest.Text("half")),
			ohtest.Reply(ohtest.Call("c1", "side", `{}`), ohtest.Usage(use)),
			ohtest.Reply(ohtest.Usage(use)), // empty
			ohtest.Reply(ohtest.Text("done"), ohtest.Usage(use)))
		b.cfg.Fit = func(_ context.Context, req *oh.Request, record func(oh.Event) error) error {
			if len(b.prov.Requests()) > 0 {
				return nil
			}
			return errors.Join(record(oh.SideUsage{For: "fit", Profile: "p", Model: "f", Usage: oh.Usage{OutputTokens: 5}}),
				record(oh.StateChanged{Images: map[string]string{"h": "a cat"}}))
		}
		events, err := b.run("go")
		if err != nil {
			t.Fatal(err)
		}
		done := events[len(events)-1].(oh.RunDone)
		want := oh.Usage{InputTokens: 300 + 7 + 1000, OutputTokens: 30 + 5}
		if diff := cmp.Diff(want, done.Usage); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var spent oh.Usage
		for _, s := range b.conv.State().Spend {
			spent = spent.Add(s.Usage)
		}
		if diff := cmp.Diff(want, spent); diff != "" {
			t.Errorf("of the session (-want +got):\n%s", diff)
		}
		if said, _ := b.conv.Seen("h"); said != "a cat" {
			t.Errorf("the description is %q", said)
		}
	})
}

// TestFit: a request may be changed, and a failure of the log ends the run.
func TestFit(t *testing.T) {
	b := setUp(t, nil, ohtest.Reply(ohtest.Text("done")))
	b.cfg.Fit = func(_ context.Context, req *oh.Request, _ func(oh.Event) error) error {
		req.Messages = []oh.Message{{ID: "x", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "changed"}}}}
		return nil
	}
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	if got := texts(b.prov.Requests()[0].Messages); cmp.Diff([]string{"user: changed"}, got) != "" {
		t.Error(got)
	}
	b.cfg.Fit = func(context.Context, *oh.Request, func(oh.Event) error) error { return errors.New("the disk is full") }
	if _, err := b.run("go"); err == nil || err.Error() != "the disk is full" {
		t.Errorf("%v", err)
	}
}

// TestFallbackAfterThinking: watchers that saw reasoning only are told that the
// reply begins anew.
func TestFallbackAfterThinking(t *testing.T) {
	long := &oh.Error{Op: "test", Kind: oh.KindOverloaded, After: time.Hour}
	b := setUp(t, nil, ohtest.Fail(long, ohtest.Thinking("hm")), ohtest.Reply(ohtest.Text("done")))
	b.cfg.Fallback = []string{"n"}
	events, err := b.run("go")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"user_turn", "thinking_delta", "retrying", "notice", "text_delta", "message_done", "run_done end"}
	if diff := cmp.Diff(want, kinds(events)); diff != "" {
		t.Error(diff)
	}
}

// TestBudgetOfAttempts: attempts that failed count, so the budget ends a run
// before it is spent many times over.
func TestBudgetOfAttempts(t *testing.T) {
	spent := func(kind oh.Kind) ohtest.Turn {
		return ohtest.Fail(&oh.Error{Op: "test", Kind: kind, Usage: oh.Usage{InputTokens: 60}})
	}
	for _, tt := range []struct {
		name     string
		fallback []string
		turns    []ohtest.Turn
		reason   oh.Reason
	}{
		{"repeated", nil, []ohtest.Turn{spent(oh.KindUnavailable), spent(oh.KindUnavailable)}, oh.ReasonBudget},
		{"another model", []string{"n"}, []ohtest.Turn{ohtest.Fail(busy()), spent(oh.KindOverloaded), spent(oh.KindOverloaded)}, oh.ReasonBudget},
		{"nothing to repeat", nil, []ohtest.Turn{spent(oh.KindUnavailable), spent(oh.KindInvalid)}, oh.ReasonFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setUp(t, nil, tt.turns...)
				b.cfg.Fallback = tt.fallback
				b.cfg.Budget = func(st oh.State) error {
					used := 0
					for _, s := range st.Spend {
						used += s.Usage.InputTokens
					}
					if used > 100 {
						return errors.New("too dear")
					}
					return nil
				}
				evs, err := b.run("go")
				done := evs[len(evs)-1].(oh.RunDone)
				if done.Reason != tt.reason || (err != nil) != (tt.reason == oh.ReasonFailed) || len(b.asked()) != len(tt.turns) {
					t.Errorf("%+v, %v, asked %q", done, err, b.asked())
				}
			})
		})
	}
}

// TestBudgetOfFit: what a request costs before it is made counts too.
func TestBudgetOfFit(t *testing.T) {
	b := setUp(t, nil)
	b.cfg.Fit = func(_ context.Context, _ *oh.Request, record func(oh.Event) error) error {
		return record(oh.SideUsage{For: "fit", Model: "f", Usage: oh.Usage{OutputTokens: 5}})
	}
	b.cfg.Budget = func(st oh.State) error {
		if len(st.Spend) > 0 {
			return errors.New("too dear")
		}
		return nil
	}
	evs, err := b.run("go")
	if done := evs[len(evs)-1].(oh.RunDone); err != nil || done.Reason != oh.ReasonBudget || len(b.asked()) != 0 {
		t.Errorf("%+v, %v, asked %q", done, err, b.asked())
	}
}
