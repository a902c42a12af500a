package engine_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

func TestMaxTurnsIsResumable(t *testing.T) {
	tools := []oh.Tool{says("look", "seen", read)}
	b := setUp(t, tools, calls(tc("a", "look", `{"n":1}`)), calls(tc("b", "look", `{"n":2}`)), say("done"))
	b.cfg.MaxTurns = 2
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonMaxTurns {
		t.Fatalf("%v, %v", kinds(events), err)
	}
	if !b.conv.Pending() {
		t.Error("nothing is pending after the limit")
	}
	events, err = b.run("")
	if err != nil || reason(events) != oh.ReasonEnd {
		t.Fatalf("continued: %v, %v", kinds(events), err)
	}
}

func TestCutReplyNeverRunsCalls(t *testing.T) {
	var ran atomic.Int32
	w := tool{name: "w", run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		ran.Add(1)
		return oh.TextResult("x"), nil
	}}
	cut := calls(tc("a", "w", `{"path":"x"}`))
	cut.Parts = append(cut.Parts, ohtest.Stop(oh.StopMaxTokens))
	b := setUp(t, []oh.Tool{w}, cut, cut, cut, cut)
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonMaxTokens {
		t.Fatalf("%v, %v", kinds(events), err)
	}
	if ran.Load() != 0 || len(b.prov.Requests()) != 4 {
		t.Errorf("%d calls ran in %d requests", ran.Load(), len(b.prov.Requests()))
	}
	if d := pick[oh.ToolDone](events)[0]; !strings.Contains(d.Content.Text(), "cut off at the output limit") {
		t.Errorf("the model is told %q", d.Content.Text())
	}
}

func TestCutTextIsContinued(t *testing.T) {
	cut := ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("first half"), ohtest.Stop(oh.StopMaxTokens)}}
	b := setUp(t, nil, cut, say("second half"))
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonEnd {
		t.Fatalf("%v, %v", kinds(events), err)
	}
	got := texts(b.conv.Messages())
	if len(got) != 4 || !strings.Contains(got[2], "Continue exactly where it stopped") {
		t.Errorf("history: %q", got)
	}
}

func TestRefusalPauseAndEmpty(t *testing.T) {
	stop := func(text string, s oh.StopReason) ohtest.Turn {
		return ohtest.Turn{Parts: []ohtest.Part{ohtest.Text(text), ohtest.Stop(s)}}
	}
	for _, c := range []struct {
		name   string
		turns  []ohtest.Turn
		reason oh.Reason
	}{
		{"refusal", []ohtest.Turn{stop("no", oh.StopRefusal)}, oh.ReasonRefusal},
		{"blank refusal", []ohtest.Turn{stop("", oh.StopRefusal)}, oh.ReasonRefusal},
		{"pause", []ohtest.Turn{stop("wait", oh.StopPause), say("done")}, oh.ReasonEnd},
		{"empty once", []ohtest.Turn{say(" \n"), say("done")}, oh.ReasonEnd},
		{"empty twice", []ohtest.Turn{say(""), say("\n")}, oh.ReasonEmptyReply},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setUp(t, nil, c.turns...)
			events, err := b.run("go")
			if err != nil || reason(events) != c.reason {
				t.Errorf("%v, %v", kinds(events), err)
			}
			if b.prov.Remaining() != 0 {
				t.Errorf("%d turns were not asked for", b.prov.Remaining())
			}
			total := 0
			for _, s := range b.conv.State().Spend {
				total += s.Usage.OutputTokens
			}
			if want := len(c.turns) * ohtest.DefaultOutputTokens; total != want {
				t.Errorf("%d tokens are counted, want %d", total, want)
			}
		})
	}
}

func TestBlankTextBesideACallIsDropped(t *testing.T) {
	turn := ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("\n"), tc("a", "quiet", "{}")}}
	b := setUp(t, []oh.Tool{says("quiet", "", read)}, turn, say("done"))
	if _, err := b.run("go"); err != nil {
		t.Fatal(err)
	}
	want := []string{"user: go", "assistant: call a", "user: result a (no output)", "assistant: done"}
	if d := cmp.Diff(want, texts(b.conv.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestPausesEnd(t *testing.T) {
	var turns []ohtest.Turn
	for range 11 {
		turns = append(turns, ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("wait"), ohtest.Stop(oh.StopPause)}})
	}
	b := setUp(t, nil, turns...)
	if events, err := b.run("go"); err != nil || reason(events) != oh.ReasonMaxTokens || len(b.prov.Requests()) != 11 {
		t.Errorf("%v, %v", kinds(events), err)
	}
}

func TestFullWindowIsNotAskedAgain(t *testing.T) {
	b := setUp(t, nil, ohtest.Turn{Parts: []ohtest.Part{ohtest.Text("so far"), ohtest.Stop(oh.StopTooLong)}})
	if events, err := b.run("go"); oh.KindOf(err) != oh.KindTooLong || reason(events) != oh.ReasonFailed {
		t.Errorf("%v, %v", kinds(events), err)
	}
}

func TestRetries(t *testing.T) {
	kind := func(k oh.Kind, after time.Duration) ohtest.Turn {
		return ohtest.Turn{Err: &oh.Error{Op: "x", Kind: k, After: after, Err: errors.New("nope")}}
	}
	for _, c := range []struct {
		name     string
		turns    []ohtest.Turn
		min, max time.Duration
		requests int
		ok       bool
	}{
		{"overloaded then fine", []ohtest.Turn{kind(oh.KindOverloaded, 0), say("done")}, time.Second, 1300 * time.Millisecond, 2, true},
		{"asked to wait", []ohtest.Turn{kind(oh.KindLimited, 7*time.Second), say("done")}, 7 * time.Second, 7 * time.Second, 2, true},
		{"to the end", []ohtest.Turn{kind(oh.KindUnavailable, 0), kind(oh.KindUnavailable, 0), kind(oh.KindUnavailable, 0), kind(oh.KindUnavailable, 0)},
			7 * time.Second, 9 * time.Second, 4, false},
		{"quota", []ohtest.Turn{kind(oh.KindQuota, 0)}, 0, 0, 1, false},
		{"auth", []ohtest.Turn{kind(oh.KindAuth, 0)}, 0, 0, 1, false},
		{"too long a wait", []ohtest.Turn{kind(oh.KindLimited, time.Hour)}, 0, 0, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setUp(t, nil, c.turns...)
				start := time.Now()
				events, err := b.run("go")
				took := time.Since(start)
				if (err == nil) != c.ok || took < c.min || took > c.max || len(b.prov.Requests()) != c.requests {
					t.Errorf("%v after %v and %d requests: %v", err, took, len(b.prov.Requests()), kinds(events))
				}
				if n := len(pick[oh.Retrying](events)); n != c.requests-1 {
					t.Errorf("%d retries are told", n)
				}
				if !c.ok && reason(events) != oh.ReasonFailed {
					t.Errorf("reason %s", reason(events))
				}
			})
		})
	}
}

func TestShownTextOfAFailedAttemptIsVoid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		half := ohtest.Turn{Chunks: []oh.Chunk{oh.TextDelta{Text: "half"}}, Err: &oh.Error{Kind: oh.KindUnavailable, Err: errors.New("cut")}}
		b := setUp(t, nil, half, say("whole"))
		events, err := b.run("go")
		if err != nil {
			t.Fatal(err)
		}
		if r := pick[oh.Retrying](events); len(r) != 1 || !r[0].Discard || r[0].Attempt != 2 || r[0].Of != 4 {
			t.Errorf("retries: %+v", r)
		}
		if got := texts(b.conv.Messages()); got[1] != "assistant: whole" {
			t.Errorf("history: %q", got)
		}
	})
}

// Arguments may be nested so deep that the log could not hold them: such a call
// does not run, and everything can be written and read.
func TestDeepArguments(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	ran := 0
	ok := tool{name: "ok", run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		ran++
		return oh.TextResult("fine"), nil
	}}
	b := setUp(t, []oh.Tool{ok}, calls(tc("a", "ok", deep(500)), tc("b", "ok", deep(501)), tc("c", "ok", deep(9_998)),
		tc("d", "ok", `{"text":"`+strings.Repeat("[", 600)+`\"{"}`)), say("done"))
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonEnd || ran != 2 {
		t.Fatalf("%v, %v, ran %d", kinds(events), err, ran)
	}
	for i, d := range pick[oh.ToolDone](events) {
		bad := i == 1 || i == 2
		if d.IsError != bad || strings.Contains(d.Content.Text(), "500") != bad {
			t.Errorf("call %d: %v %q", i, d.IsError, d.Content.Text())
		}
	}
	for _, e := range b.log.Entries() {
		line, err := e.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back oh.Entry
		if err := back.UnmarshalJSON(line); err != nil {
			t.Errorf("the log cannot be read: %v", err)
		}
	}
}
