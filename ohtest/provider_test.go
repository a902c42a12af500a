package ohtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openharness/oh"
)

// recordTB takes down failures in place of a test.
type recordTB struct {
	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (r *recordTB) Helper() {}
func (r *recordTB) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}
func (r *recordTB) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }
func (r *recordTB) finish() []string {
	for _, f := range r.cleanups {
		f()
	}
	return r.failures
}

func ask(ctx context.Context, p oh.Provider, msgs ...oh.Message) (chunks []oh.Chunk, err error) {
	for c, e := range p.Stream(ctx, &oh.Request{Profile: "p", Model: "m", Messages: msgs}) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func TestProviderReply(t *testing.T) {
	p := NewProvider(t, Turn{Cut: Cut{Delta: 2}, Parts: []Part{
		Thinking("Hmm"), Redacted("r"), Text("你好😀"), Call("a", "read", `{ "x": 1 }`), Call("b", "ls", ""), Call("c", "ls", `{"x":`),
		Usage{InputTokens: 7},
	}})
	got, err := ask(t.Context(), p, user(say("hi")))
	if err != nil {
		t.Fatal(err)
	}
	origin := oh.Origin("p", "m")
	want := []oh.Chunk{
		oh.ThinkingDelta{Text: "Hm"}, oh.ThinkingDelta{Text: "m"},
		oh.TextDelta{Text: "你好"}, oh.TextDelta{Text: "😀"},
		oh.ToolInputDelta{Index: 0, ID: "a", Name: "read"},
		oh.ToolInputDelta{Index: 0, JSON: "{ "}, oh.ToolInputDelta{Index: 0, JSON: `"x`}, oh.ToolInputDelta{Index: 0, JSON: `":`},
		oh.ToolInputDelta{Index: 0, JSON: " 1"}, oh.ToolInputDelta{Index: 0, JSON: " }"},
		oh.ToolInputDelta{Index: 1, ID: "b", Name: "ls"},
		oh.ToolInputDelta{Index: 2, ID: "c", Name: "ls"},
		oh.ToolInputDelta{Index: 2, JSON: `{"`}, oh.ToolInputDelta{Index: 2, JSON: `x"`}, oh.ToolInputDelta{Index: 2, JSON: `:`},
		oh.MessageDone{Message: oh.Message{Role: oh.Assistant, Model: "m", Stop: oh.StopToolUse, Usage: oh.Usage{InputTokens: 7}, Content: oh.Blocks{
			oh.Thinking{Text: "Hmm", Opaque: &oh.Opaque{Origin: origin, Data: json.RawMessage(`{"signature":"` + seal("Hmm") + `"}`)}},
			oh.Thinking{Opaque: &oh.Opaque{Origin: origin, Data: json.RawMessage(`{"redacted":"r"}`)}},
			oh.Text{Text: "你好😀"},
			oh.ToolUse{ID: "a", Name: "read", Input: json.RawMessage(`{"x":1}`)},
			oh.ToolUse{ID: "b", Name: "ls", Input: json.RawMessage(`{}`)},
			oh.ToolUse{ID: "c", Name: "ls", Input: json.RawMessage(`{"malformed":"{\"x\":"}`), Malformed: `the arguments are not a JSON object: {"x":`},
		}}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(oh.Message{}, "ID")); diff != "" {
		t.Error(diff)
	}
	if id := got[len(got)-1].(oh.MessageDone).Message.ID; !strings.HasPrefix(id, "msg_") {
		t.Errorf("the id is %q", id)
	}
	if p.Remaining() != 0 {
		t.Error("the turn was not used up")
	}
}

func TestProviderEnds(t *testing.T) {
	broken := errors.New("broken")
	p := NewProvider(t,
		Fail(broken, Text("par")),
		Raw(oh.TextDelta{Text: "x"}),
		Hang(Text("par")),
		Reply(Stop(oh.StopMaxTokens)),
		Reply(Text("never reached")),
	)
	got, err := ask(t.Context(), p, user(say("1")))
	if !errors.Is(err, broken) || !cmp.Equal(got, []oh.Chunk{oh.TextDelta{Text: "par"}}) {
		t.Errorf("fail: %v, %v", got, err)
	}
	if got, err = ask(t.Context(), p, user(say("2"))); err != nil || len(got) != 1 {
		t.Errorf("raw: %v, %v", got, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for c, err := range p.Stream(ctx, &oh.Request{Messages: []oh.Message{user(say("3"))}}) {
		if c != nil {
			cancel(broken)
			continue
		}
		if oh.KindOf(err) != oh.KindCancelled || !errors.Is(err, broken) {
			t.Errorf("hang: %v", err)
		}
	}
	got, err = ask(t.Context(), p, user(say("4")))
	if err != nil || got[0].(oh.MessageDone).Message.Stop != oh.StopMaxTokens {
		t.Errorf("stop: %v, %v", got, err)
	}
	if _, err := ask(ctx, p, user(say("5"))); oh.KindOf(err) != oh.KindCancelled {
		t.Errorf("cancelled before: %v", err)
	}
	if p.Remaining() != 1 || len(p.Requests()) != 4 {
		t.Errorf("%d turns remain after %d requests", p.Remaining(), len(p.Requests()))
	}
}

func TestProviderBreak(t *testing.T) {
	p := NewProvider(t, Reply(Text("a"), Text("b")))
	n := 0
	for range p.Stream(t.Context(), &oh.Request{Messages: []oh.Message{user(say("x"))}}) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d chunks", n)
	}
}

func TestProviderFailsTheTest(t *testing.T) {
	tb := &recordTB{}
	p := NewProvider(tb, Play(Hold()), Reply(Text("legal")))
	for i, tt := range []struct {
		content oh.Block
		want    string
	}{
		{say(" "), "scripted provider: request 1: messages[0].content[0]: the text is empty or blank (rule blank-text)"},
		{say("a"), "scripted provider: request 2: the turn for request 2 has Steps or Edit, which only a Server can play (rule script)"},
		{say("b"), ""},
		{say("c"), `scripted provider: request 4: the script has no turn left for request 4; it asked "c" (rule script)`},
	} {
		tb.failures = nil
		_, err := ask(t.Context(), p, user(tt.content))
		if got := strings.Join(tb.failures, "\n"); got != tt.want {
			t.Errorf("request %d: got %q, want %q", i+1, got, tt.want)
		}
		if (oh.KindOf(err) == oh.KindInvalid) != (tt.want != "") {
			t.Errorf("request %d: %v", i+1, err)
		}
	}
	var rules []string
	for _, v := range p.Violations() {
		rules = append(rules, v.Rule)
	}
	if got := strings.Join(rules, " "); got != "blank-text script script" {
		t.Errorf("violations %q", got)
	}
}

func TestProviderCopiesRequests(t *testing.T) {
	p := NewProvider(t)
	p.Rule = func(req *oh.Request) (Turn, bool) {
		return Reply(Text("you said " + LastUserText(req.Messages))), LastUserText(req.Messages) != "script"
	}
	p.Add(Reply(Text("from the script")))
	input := json.RawMessage(`{"a":1}`)
	msgs := []oh.Message{user(say("one")), assistant(oh.ToolUse{ID: "1", Name: "x", Input: input}), user(result("1"))}
	got, err := ask(t.Context(), p, msgs...)
	if err != nil || got[0] != (oh.TextDelta{Text: "you said one"}) {
		t.Errorf("rule: %v, %v", got, err)
	}
	copy(input, `[[[[[[[`)
	msgs[0].Content[0] = say("changed")
	kept := p.Requests()[0].Messages
	if kept[0].Content.Text() != "one" || string(kept[1].Content.ToolUses()[0].Input) != `{"a":1}` {
		t.Errorf("the request changed: %v", kept)
	}
	if r, ok := FindResult(kept, "1"); !ok || r.Content.Text() != "done" {
		t.Errorf("result %v, %v", r, ok)
	}
	if _, ok := FindResult(kept, "2"); ok {
		t.Error("found a result that is not there")
	}
	if got, err := ask(t.Context(), p, user(say("script"))); err != nil || got[0] != (oh.TextDelta{Text: "from the script"}) {
		t.Errorf("script: %v, %v", got, err)
	}
}

func TestProviderWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		after := make(chan struct{})
		p := NewProvider(t, Turn{After: after, Delay: time.Hour, Parts: []Part{Text("x")}}, Turn{After: after}, Turn{Delay: time.Hour})
		start := time.Now()
		var took time.Duration
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := ask(t.Context(), p, user(say("a"))); err != nil {
				t.Error(err)
			}
			took = time.Since(start)
		})
		if err := p.Wait(t.Context(), 1); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		close(after)
		wg.Wait()
		if took != time.Hour+time.Minute {
			t.Errorf("took %v", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := ask(ctx, p, user(say("b"))); err != nil {
			t.Error(err)
		}
		if _, err := ask(ctx, p, user(say("c"))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		err := p.Wait(ctx, 4)
		if want := "wait for request 4 of the script, 3 so far: context deadline exceeded"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	})
}

func TestCut(t *testing.T) {
	const s = `{"a":"\"你好😀"}`
	for _, c := range []Cut{{}, {Delta: 1, Bytes: 1}, {Delta: 3, Bytes: 7}, {Delta: 3, Bytes: 3, Seed: 9}, {Bytes: -1}, {Delta: 99, Bytes: 99}} {
		pieces := c.runes(s)
		if strings.Join(pieces, "") != s {
			t.Errorf("%+v: %q", c, pieces)
		}
		for _, p := range pieces {
			if c.Delta > 0 && len([]rune(p)) > c.Delta {
				t.Errorf("%+v: %q is too long", c, p)
			}
		}
		all := ""
		for _, p := range c.Writes([]byte(s), []byte(s)) {
			if len(p) == 0 || c.Bytes > 0 && len(p) > c.Bytes {
				t.Errorf("%+v: %q", c, p)
			}
			all += string(p)
		}
		if all != s+s {
			t.Errorf("%+v: %q", c, all)
		}
		if len(c.Writes()) != 0 || len(c.runes("")) != 0 {
			t.Errorf("%+v: nothing was cut into something", c)
		}
	}
	a, b := Cut{Delta: 5, Seed: 1}.runes(strings.Repeat(s, 9)), Cut{Delta: 5, Seed: 2}.runes(strings.Repeat(s, 9))
	if cmp.Equal(a, b) || !cmp.Equal(a, Cut{Delta: 5, Seed: 1}.runes(strings.Repeat(s, 9))) {
		t.Error("the seed does not decide the cut")
	}
}
