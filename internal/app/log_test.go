package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
)

// Looking at a session that another oh writes leaves no copy; speaking does.
func TestLookingAtAUsedSession(t *testing.T) {
	reply := ohtest.Reply(ohtest.Text("done"))
	o, _ := options(t, reply, reply)
	first := build(t, o)
	handle(t, first, "hello")
	for _, ev := range []oh.Event{ // it is at work
		oh.UserTurn{Source: oh.FromUser, Message: oh.Message{ID: "u", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "look"}}}},
		oh.MessageDone{Message: oh.Message{ID: "a", Role: oh.Assistant, Stop: oh.StopToolUse,
			Content: oh.Blocks{oh.ToolUse{ID: "c", Name: "bash", Input: []byte("{}")}}}},
	} {
		if err := first.Conversation().Append(oh.NewEntry(ev)); err != nil {
			t.Fatal(err)
		}
	}
	count := func() int {
		t.Helper()
		names, err := os.ReadDir(filepath.Dir(first.file.Path()))
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	o.Continue = true
	for _, fork := range []bool{false, true} {
		look := o
		look.DryRun, look.Fork, look.Model = true, fork, "other"
		r := build(t, look)
		if len(r.Conversation().Messages()) != 5 {
			t.Errorf("dry run, fork %v: %d messages", fork, len(r.Conversation().Messages()))
		}
		if err := r.Close(); err != nil || count() != 1 {
			t.Errorf("dry run, fork %v: %v, %d files", fork, err, count())
		}
	}
	o.Model = "other" // a change that waits for the first word
	second := build(t, o)
	if got := shown(handle(t, second, "/status")); !strings.Contains(got, "in use by another oh") {
		t.Errorf("nothing is said: %s", got)
	}
	handle(t, second, "/cost")
	if n := count(); n != 1 || second.Saved() != "" {
		t.Errorf("%d files after looking", n)
	}
	handle(t, second, "and on")
	if n := count(); n != 2 || second.Saved() == "" {
		t.Errorf("%d files after speaking", n)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	o.Continue, o.Resume, o.Model = false, second.Session(), ""
	third := build(t, o)
	if n := len(third.Conversation().Messages()); n != 6 || third.Conversation().State().Model != "other" {
		t.Errorf("%d messages with %s", n, third.Conversation().State().Model)
	}
}
