package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

func TestLoopGuard(t *testing.T) {
	bad := tool{name: "bad", access: read, run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		return oh.Result{}, errors.New("no such file")
	}}
	var turns []ohtest.Turn
	for i := range 5 {
		input := `{"a":1,"b":2}`
		if i%2 == 1 {
			input = `{"b":2, "a":1}`
		}
		turns = append(turns, calls(tc(fmt.Sprint("c", i), "bad", input)))
	}
	b := setUp(t, []oh.Tool{bad}, turns...)
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonLoop {
		t.Fatalf("%v, %v", kinds(events), err)
	}
	for i, d := range pick[oh.ToolDone](events) {
		if told := strings.Contains(d.Content.Text(), "failed"); told != (i >= 2) {
			t.Errorf("call %d: %q", i, d.Content.Text())
		}
	}
}

// What fails many times in one reply counts once: the model has seen no error
// yet.
func TestLoopGuardCountsReplies(t *testing.T) {
	bad := tool{name: "bad", access: read, run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		return oh.Result{}, errors.New("no such file")
	}}
	reply := func(n int) ohtest.Turn {
		var list []ohtest.ToolCall
		for i := range 6 {
			list = append(list, tc(fmt.Sprint("c", n, "_", i), "bad", `{"a":1}`))
		}
		return calls(list...)
	}
	b := setUp(t, []oh.Tool{bad}, reply(1), say("I see"))
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonEnd {
		t.Fatalf("one reply: %v, %v", kinds(events), err)
	}
	for i, d := range pick[oh.ToolDone](events) {
		if strings.Contains(d.Content.Text(), "failed") {
			t.Errorf("call %d: %q", i, d.Content.Text())
		}
	}
	b = setUp(t, []oh.Tool{bad}, reply(1), reply(2), reply(3), reply(4), reply(5))
	events, err = b.run("go")
	if err != nil || reason(events) != oh.ReasonLoop || b.prov.Remaining() != 0 {
		t.Fatalf("five replies: %v, %v", kinds(events), err)
	}
}

func TestHonestRepetitionIsNoLoop(t *testing.T) {
	n := 0
	test := tool{name: "test", run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		return oh.ErrorResult("FAIL"), nil
	}}
	edit := tool{name: "edit", run: func(context.Context, *oh.Call, func(oh.Event)) (oh.Result, error) {
		n++
		return oh.TextResult("edited"), nil
	}}
	poll := says("poll", "still running", read)
	var turns []ohtest.Turn
	for i := range 8 {
		turns = append(turns, calls(tc(fmt.Sprint("t", i), "test", `{}`), tc(fmt.Sprint("e", i), "edit", fmt.Sprintf(`{"n":%d}`, i)),
			tc(fmt.Sprint("p", i), "poll", `{}`)))
	}
	b := setUp(t, []oh.Tool{test, edit, poll}, append(turns, say("done"))...)
	events, err := b.run("go")
	if err != nil || reason(events) != oh.ReasonEnd {
		t.Fatalf("%v, %v", kinds(events)[len(events)-3:], err)
	}
}
