package print

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func envelope(seq int, after time.Duration, e oh.Event) oh.Envelope {
	return oh.Envelope{Seq: uint64(seq), Time: epoch.Add(after), Session: "s-1", Event: e}
}

// TestFlush follows how many lines a reader has after each event.
func TestFlush(t *testing.T) {
	for _, f := range []Format{Events, StreamJSON} {
		var out, errs bytes.Buffer
		o := options(f, &out, &errs)
		o.Partial = true
		p := New(o)
		steps := []struct {
			after time.Duration
			event oh.Event
			held  bool
		}{
			{0, prompt("hi"), false},
			{time.Millisecond, oh.ThinkingDelta{Text: "a"}, f == Events},
			{70 * time.Millisecond, oh.TextDelta{Text: "b"}, false},
			{80 * time.Millisecond, oh.TextDelta{Text: "c"}, true},
			{119 * time.Millisecond, oh.TextDelta{Text: "d"}, true},
			{121 * time.Millisecond, oh.TextDelta{Text: "e"}, false},
			{122 * time.Millisecond, oh.TextDelta{Text: strings.Repeat("x", holdBytes)}, false},
			{123 * time.Millisecond, oh.TextDelta{Text: "f"}, true},
			{time.Millisecond, oh.TextDelta{Text: "the clock was set back"}, false},
			{2 * time.Millisecond, oh.TextDelta{Text: "g"}, true},
			{3 * time.Millisecond, reply(idOne, oh.StopEnd, oh.Text{Text: "abc"}), false},
		}
		for i, s := range steps {
			if err := p.Event(envelope(i+1, s.after, s.event)); err != nil {
				t.Fatal(err)
			}
			if held := len(p.out.buf) > 0; held != s.held && f == Events {
				t.Errorf("%s: step %d: held %v, want %v", f, i, held, s.held)
			}
			if err := p.Flush(); err != nil || len(p.out.buf) > 0 && !s.held {
				t.Errorf("%s: step %d: Flush left %d bytes, error %v", f, i, len(p.out.buf), err)
			}
		}
	}
}

// failing accepts n writes.
type failing struct {
	n   int
	err error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, f.err
	}
	return len(b), nil
}

func TestStdoutFails(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		closed bool
	}{
		{"no reader", &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}, true},
		{"closed pipe", io.ErrClosedPipe, true},
		{"disk full", syscall.ENOSPC, false},
	}
	for _, tt := range tests {
		var errs bytes.Buffer
		o := options(Events, nil, &errs)
		o.Out = &failing{n: 1, err: tt.err}
		p := New(o)
		first := p.Event(envelope(1, 0, prompt("hi")))
		second := p.Event(envelope(2, 0, oh.Notice{Level: oh.Info, Text: "x"}))
		third := p.Event(envelope(3, 0, oh.Notice{Level: oh.Warning, Text: "not said"}))
		end, err := p.Finish(context.Canceled)
		if first != nil || second == nil || third == nil || err == nil {
			t.Errorf("%s: errors %v, %v, %v, %v", tt.name, first, second, third, err)
		}
		if errors.Is(err, ErrClosed) != tt.closed || end.Closed != tt.closed || !errors.Is(err, tt.err) {
			t.Errorf("%s: error %v, closed %v", tt.name, err, end.Closed)
		}
		if code := ExitCode(end, false); code != 1 || !end.IsError {
			t.Errorf("%s: exit code %d, is error %v", tt.name, code, end.IsError)
		}
		if errs.Len() > 0 {
			t.Errorf("%s: stderr has %q", tt.name, errs.String())
		}
	}
}

func TestExitCode(t *testing.T) {
	tests := []struct {
		outcome Outcome
		driven  bool
		want    int
	}{
		{Outcome{}, false, 0}, {Outcome{Class: Other}, false, 1}, {Outcome{Class: Usage}, false, 2},
		{Outcome{Class: Auth}, false, 3}, {Outcome{Class: API}, true, 4}, {Outcome{Class: Limit}, true, 5},
		{Outcome{Class: Refused}, false, 6}, {Outcome{Class: Refused}, true, 0},
		{Outcome{Class: Cancelled}, true, 130}, {Outcome{Class: Cancelled, Terminated: true}, false, 143},
		{Outcome{Class: Cancelled, Closed: true}, false, 1},
	}
	for _, tt := range tests {
		if got := ExitCode(tt.outcome, tt.driven); got != tt.want {
			t.Errorf("ExitCode(%+v, %v) = %d, want %d", tt.outcome, tt.driven, got, tt.want)
		}
	}
}

func TestClass(t *testing.T) {
	kinds := map[oh.Kind]Class{
		oh.KindAuth: Auth, oh.KindQuota: API, oh.KindLimited: API, oh.KindOverloaded: API, oh.KindTooLong: API,
		oh.KindInvalid: API, oh.KindUnavailable: API, oh.KindCancelled: Cancelled, "": API,
	}
	for k, want := range kinds {
		if got := classOfError(fmt.Errorf("x: %w", &oh.Error{Kind: k})); got != want {
			t.Errorf("kind %q is class %d, want %d", k, got, want)
		}
	}
	reasons := map[oh.Reason]Class{
		oh.ReasonEnd: OK, oh.ReasonRefusal: Other, oh.ReasonBlocked: Other, oh.ReasonMaxTokens: Limit,
		oh.ReasonFailed: Other, "novel": Other,
	}
	for r, want := range reasons {
		if got := classOf(r, nil); got != want {
			t.Errorf("reason %q is class %d, want %d", r, got, want)
		}
	}
}

// TestErrorAfterEnd: a run that ended well and then failed did fail.
func TestErrorAfterEnd(t *testing.T) {
	var out, errs bytes.Buffer
	s := scenario{events: []oh.Event{prompt("hi"), reply(idOne, oh.StopEnd, oh.Text{Text: "x"}), ended(oh.ReasonEnd, 1, "")}, err: errors.New("sync the log: disk full")}
	end, _ := play(t, s, options(Text, &out, &errs))
	if !end.IsError || ExitCode(end, false) != 1 || out.Len() > 0 || errs.String() != "error: sync the log: disk full.\n" {
		t.Errorf("outcome %+v, stdout %q, stderr %q", end, out.String(), errs.String())
	}
}

// TestTwoRuns: each run has its own init and result.
func TestTwoRuns(t *testing.T) {
	var out, errs bytes.Buffer
	p := New(options(StreamJSON, &out, &errs))
	for range 2 {
		for i, e := range scenarios()[0].events {
			if err := p.Event(envelope(i, 0, e)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := p.Finish(nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{`"subtype":"init"`, `"type":"result"`, `"total_cost_usd":0.122,`} {
		if n := strings.Count(out.String(), part); n != 2 {
			t.Errorf("%s stands %d times, want 2:\n%s", part, n, out.String())
		}
	}
}

// TestLive plays a slow tool on a terminal.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, errs bytes.Buffer
		o := options(Text, &out, &errs)
		o.ErrTerminal, o.ASCII, o.Width = true, false, 30
		p := New(o)
		send := func(e oh.Event) {
			t.Helper()
			if err := p.Event(envelope(1, 0, e)); err != nil {
				t.Fatal(err)
			}
		}
		quick, slow := asks("c1", "ls", "{}"), asks("c2", "bash", `{"command":"sleep 100 && echo a very long line"}`)
		send(started(quick))
		time.Sleep(100 * time.Millisecond)
		send(started(slow))
		send(oh.ToolDone{ID: "c1", Tool: "ls"})
		time.Sleep(3 * time.Second)
		send(oh.Notice{Level: oh.Warning, Text: "odd\x1b[2J"})
		time.Sleep(tick)
		if _, err := p.Finish(nil); err != nil {
			t.Fatal(err)
		}
		erase := "\r\x1b[K"
		want := erase + "● bash sleep 100 && echo a v" + erase + "● bash sleep 100 && ech  2 s" +
			erase + "⚠ odd\n" + erase + "● bash sleep 100 && ech  3 s" + erase
		if diff := cmp.Diff(want, errs.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

// TestLiveYields: the live line is gone before text streams to the same screen.
func TestLiveYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var both bytes.Buffer
		o := options(Text, &both, &both)
		o.ErrTerminal, o.OutTerminal = true, true
		p := New(o)
		send := func(e oh.Event) {
			t.Helper()
			if err := p.Event(envelope(1, 0, e)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		send(prompt("hi"))
		send(oh.TextDelta{Text: "Hel"})
		send(oh.ThinkingDelta{Text: "hm"})
		send(reply(idOne, oh.StopEnd, oh.Text{Text: "Hel"}))
		if _, err := p.Finish(nil); err != nil {
			t.Fatal(err)
		}
		want := "\r\x1b[K* waiting for the model\r\x1b[KHel\n"
		if diff := cmp.Diff(want, both.String()); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	})
}

func TestParseFormat(t *testing.T) {
	for in, want := range map[string]Format{"": Text, "text": Text, "json": JSON, "stream-json": StreamJSON, "events": Events} {
		if got, err := ParseFormat(in); got != want || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v", in, got, err)
		}
	}
	if _, err := ParseFormat("yaml"); err == nil || !strings.Contains(err.Error(), `"yaml" is not one of text, json`) {
		t.Errorf("error %v", err)
	}
}

// TestOddPrice: a price that JSON cannot hold counts as unknown.
func TestOddPrice(t *testing.T) {
	var out, errs bytes.Buffer
	o := options(JSON, &out, &errs)
	o.Price = func(string, string, oh.Usage) (float64, bool) { return math.NaN(), true }
	end, _ := play(t, scenarios()[0], o)
	if end.IsError || !strings.Contains(out.String(), `"total_cost_usd":0,"cost_known":false`) {
		t.Errorf("outcome %+v, stdout %s", end, out.String())
	}
}

// TestReaderLeaves: a real pipe whose reader has gone.
func TestReaderLeaves(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var errs bytes.Buffer
	for _, f := range []Format{Text, JSON, StreamJSON, Events} {
		o := options(f, nil, &errs)
		o.Out = w
		p := New(o)
		_ = r.Close()
		for i, e := range scenarios()[0].events {
			if err := p.Event(envelope(i, 0, e)); err != nil && !errors.Is(err, ErrClosed) {
				t.Fatal(err)
			}
		}
		end, err := p.Finish(nil)
		if !errors.Is(err, ErrClosed) || ExitCode(end, false) != 1 || errs.Len() > 0 {
			t.Errorf("%s: error %v, outcome %+v, stderr %q", f, err, end, errs.String())
		}
	}
}

// TestHints: advice depends on what is known of the session, and the words of a
// run's end are cut after a word.
func TestHints(t *testing.T) {
	refused := &oh.Error{Op: "ollama: chat", Kind: oh.KindUnavailable, Err: fmt.Errorf("dial: %w", syscall.ECONNREFUSED)}
	missing := &oh.Error{Op: "anthropic: messages", Kind: oh.KindInvalid, Status: 404, Err: errors.New("model: opus-10")}
	tests := []struct {
		name string
		s    scenario
		set  func(*Info)
		want string
	}{
		{"address", scenario{err: refused}, func(i *Info) { i.BaseURL, i.BaseURLSource = "http://127.0.0.1:11434", "OLLAMA_HOST" },
			"error: " + refused.Error() + ". Is it running at http://127.0.0.1:11434? The address comes from OLLAMA_HOST\n"},
		{"the model of now", scenario{events: []oh.Event{oh.StateChanged{Model: "opus-10"}}, err: missing}, func(*Info) {},
			"error: anthropic: messages: 404 invalid: model: opus-10. Check --model (opus-10 was asked for)\n"},
		{"not saved", scenario{events: []oh.Event{ended(oh.ReasonCancelled, 1, "")}, err: context.Canceled}, func(i *Info) { i.NoSave = true },
			"error: the run was interrupted.\n"},
		{"failed without an error", scenario{events: []oh.Event{ended(oh.ReasonFailed, 1, "")}}, func(*Info) {},
			"error: the run failed. Go on with: oh -c -p \"continue\"\n"},
		{"long", scenario{events: []oh.Event{ended(oh.ReasonBlocked, 1, strings.Repeat("sixish ", 200))}}, func(*Info) {},
			"error: " + strings.TrimSpace(strings.Repeat("sixish ", 85)) + "…\n"},
	}
	for _, tt := range tests {
		var out, errs bytes.Buffer
		o := options(Text, &out, &errs)
		tt.set(&o.Info)
		play(t, tt.s, o)
		if diff := cmp.Diff(tt.want, errs.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
