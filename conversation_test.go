package oh

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func entries(evs ...Event) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, ev := range evs {
			if !yield(NewEntry(ev), nil) {
				return
			}
		}
	}
}

func user(id, text string) UserTurn {
	return UserTurn{Message: Message{ID: id, Role: User, Content: Blocks{Text{Text: text}}}, Source: FromUser}
}

func reply(id string, blocks ...Block) MessageDone {
	return MessageDone{Message: Message{ID: id, Role: Assistant, Content: blocks, Model: "m"}}
}

func call(id string) ToolUse { return ToolUse{ID: id, Name: "t", Input: json.RawMessage(`{}`)} }

func done(id, text string) ToolDone {
	return ToolDone{ID: id, Tool: "t", Content: Blocks{Text{Text: text}}}
}

// shape writes a history down: roles with their blocks.
func shape(msgs []Message) []string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role) + ":"
		for _, b := range m.Content {
			switch b := b.(type) {
			case Text:
				s += " " + b.Text
			case ToolUse:
				s += " call " + b.ID
			case ToolResult:
				s += " result " + b.ToolUseID
				if b.IsError {
					s += "!"
				}
			}
		}
		out = append(out, s)
	}
	return out
}

func TestOpenAnswersOpenCalls(t *testing.T) {
	log := &MemoryLog{}
	c, err := Open(log, entries(user("u1", "go"), reply("a1", call("x"), call("y")), done("y", "fine")))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"user: go", "assistant: call x call y", "user: result x! result y"}
	if d := cmp.Diff(want, shape(c.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
	if n := len(log.Entries()); n != 1 {
		t.Errorf("%d entries were appended, want the one interrupted result", n)
	}
}

func TestUserTurnsMergeAfterResults(t *testing.T) {
	c, _ := Open(&MemoryLog{}, entries(user("u1", "a"), user("u2", "b"), reply("a1", call("x")), done("x", "1"), user("u3", "steer")))
	want := []string{"user: a b", "assistant: call x", "user: result x steer"}
	if d := cmp.Diff(want, shape(c.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestSecondResultWins(t *testing.T) {
	c, _ := Open(&MemoryLog{}, entries(user("u", "a"), reply("a", call("x")), done("x", "first"), done("x", "second"), done("zz", "stray")))
	msgs := c.Messages()
	got := msgs[2].Content[0].(ToolResult).Content.Text()
	if got != "second" || len(msgs) != 3 || len(msgs[2].Content) != 1 {
		t.Errorf("got %q in %v", got, shape(msgs))
	}
}

// A message that was sent and then grew has another id, so that no codec takes
// its old bytes for it.
func TestTailChangesIDWhenItGrows(t *testing.T) {
	c, _ := Open(&MemoryLog{}, entries(user("u1", "a")))
	first := c.Messages()[0].ID
	if again := c.Messages()[0].ID; again != first {
		t.Errorf("id changed without a change: %s, %s", first, again)
	}
	_ = c.Append(NewEntry(user("u2", "b")))
	if grown := c.Messages()[0].ID; grown == first {
		t.Error("the id stayed although the message grew")
	}
}

func TestClaimMakesIDsUnique(t *testing.T) {
	c, _ := Open(&MemoryLog{}, entries(user("u", "a")))
	var got []string
	for turn := range 3 {
		m := c.Claim(Message{ID: fmt.Sprint(turn), Role: Assistant, Content: Blocks{
			ToolUse{ID: "dup", Name: "bad name!", Input: json.RawMessage(`{}`)}, call("dup"), call("")}})
		for _, u := range m.Content.ToolUses() {
			got = append(got, u.ID+" "+u.Name)
		}
		_ = c.Append(NewEntry(MessageDone{Message: m}))
	}
	want := []string{"dup bad_name__12ad77e9", "dup_2 t", "call t", "dup_3 bad_name__12ad77e9", "dup_4 t", "call_2 t", "dup_5 bad_name__12ad77e9", "dup_6 t", "call_3 t"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ids (-want +got):\n%s", d)
	}
}

type failLog struct{ MemoryLog }

func (*failLog) Append(Entry) error { return errors.New("disk full") }

func TestLogFirstThenMemory(t *testing.T) {
	c, err := Open(&failLog{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Append(NewEntry(user("u", "lost"))); err == nil {
		t.Error("the failure was hidden")
	}
	if c.Pending() || len(c.Messages()) != 0 {
		t.Error("what the log refused is in memory")
	}
}

func TestStateSurvivesReplay(t *testing.T) {
	log := &MemoryLog{}
	c, _ := Open(log, nil)
	todos := []Todo{{Content: "x", Status: TodoPending}}
	for _, ev := range []Event{
		SessionStarted{Session: "s1", Dir: "/start"},
		StateChanged{Mode: ModePlan, Profile: "p", Model: "m1", Effort: "high", System: "sys"},
		StateChanged{Model: "m2", Dir: "/sub", Todos: &todos, Read: map[string]string{"/f": "h1"}},
		StateChanged{Read: map[string]string{"/f": "h2"}},
		user("u", "hi"),
		MessageDone{Message: Message{ID: "a", Role: Assistant, Model: "m2", Content: Blocks{Text{Text: "x"}}, Usage: Usage{InputTokens: 3, OutputTokens: 2}}},
		SideUsage{Profile: "p", Model: "m2", Usage: Usage{InputTokens: 10}, Cost: 1},
	} {
		if err := c.Append(NewEntry(ev)); err != nil {
			t.Fatal(err)
		}
	}
	back, err := Open(&MemoryLog{}, func(yield func(Entry, error) bool) {
		for _, e := range log.Entries() {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := State{Session: "s1", Mode: ModePlan, Profile: "p", Model: "m2", Effort: "high", Dir: "/sub", System: "sys",
		Todos: todos, Prompt: 5, Spend: []Spend{{Profile: "p", Model: "m2", Usage: Usage{InputTokens: 13, OutputTokens: 2}}}}
	if d := cmp.Diff(want, back.State()); d != "" {
		t.Errorf("state (-want +got):\n%s", d)
	}
	if h, ok := back.ReadHash("/f"); !ok || h != "h2" {
		t.Errorf("read hash = %q, %v", h, ok)
	}
}

func TestModeBeforePlan(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes []StateChanged
		mode    Mode
		before  Mode
	}{
		{"entered", []StateChanged{{Mode: ModeFullAuto}, {Mode: ModePlan}}, ModePlan, ModeFullAuto},
		{"entered twice", []StateChanged{{Mode: ModeDontAsk}, {Mode: ModePlan}, {Mode: ModePlan}}, ModePlan, ModeDontAsk},
		{"another change in between", []StateChanged{{Mode: ModeAcceptEdits}, {Mode: ModePlan}, {Model: "m"}}, ModePlan, ModeAcceptEdits},
		{"from the start", []StateChanged{{Mode: ModePlan}}, ModePlan, ""},
		{"left", []StateChanged{{Mode: ModeFullAuto}, {Mode: ModePlan}, {Mode: ModeDefault}}, ModeDefault, ""},
		{"handed on", []StateChanged{{Mode: ModePlan, Before: ModeDontAsk}}, ModePlan, ModeDontAsk},
		{"nothing to hand on", []StateChanged{{Mode: ModeDefault, Before: ModeFullAuto}}, ModeDefault, ""},
	} {
		log := &MemoryLog{}
		conv, _ := Open(log, nil)
		for _, ch := range c.changes {
			if err := conv.Append(NewEntry(ch)); err != nil {
				t.Fatal(err)
			}
		}
		if st := conv.State(); st.Mode != c.mode || st.Before != c.before {
			t.Errorf("%s: mode %q, before %q", c.name, st.Mode, st.Before)
		}
	}
	if !(StateChanged{}).IsZero() || (StateChanged{Before: ModePlan}).IsZero() {
		t.Error("IsZero does not know Before")
	}
}

func TestCompactionReplacesHistory(t *testing.T) {
	c, _ := Open(&MemoryLog{}, entries(user("u1", "a"), reply("a1", Text{Text: "b"}), user("u2", "c")))
	_ = c.Append(NewEntry(Compaction{Phase: CompactionDone, History: []Message{
		{ID: "s", Role: User, Content: Blocks{Text{Text: "summary"}}}}}))
	_ = c.Append(NewEntry(user("u3", "more")))
	if d := cmp.Diff([]string{"user: summary more"}, shape(c.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestBegin(t *testing.T) {
	c, _ := Open(&MemoryLog{}, nil)
	end, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Begin(); !errors.Is(err, ErrBusy) {
		t.Errorf("second Begin: %v", err)
	}
	end()
	if _, err := c.Begin(); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// legal reports what is wrong with a history, "" for nothing.
func legal(msgs []Message) string {
	for i, m := range msgs {
		want := User
		if i%2 == 1 {
			want = Assistant
		}
		if m.Role != want {
			return fmt.Sprintf("message %d is of %s", i, m.Role)
		}
		calls := m.Content.ToolUses()
		if len(calls) == 0 {
			continue
		}
		if i+1 == len(msgs) {
			return "calls without a message after them"
		}
		for j, u := range calls {
			if j >= len(msgs[i+1].Content) {
				return "a call without a result"
			}
			if r, ok := msgs[i+1].Content[j].(ToolResult); !ok || r.ToolUseID != u.ID {
				return "results out of order"
			}
		}
	}
	return ""
}

// Whatever order events come in, and wherever the log is cut, the history is
// legal.
func TestHistoryIsAlwaysLegal(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		var evs []Event
		evs = append(evs, user("u0", "start"))
		for i := range 30 {
			switch r.IntN(4) {
			case 0:
				evs = append(evs, user(fmt.Sprint("u", i), "say"))
			case 1:
				evs = append(evs, reply(fmt.Sprint("a", i), call(fmt.Sprint("c", i)), call(fmt.Sprint("d", i))))
			case 2:
				evs = append(evs, done(fmt.Sprint([]string{"c", "d"}[r.IntN(2)], r.IntN(i+1)), "r"))
			case 3:
				if i > 0 {
					evs = append(evs, done(fmt.Sprint("c", i-1), "r"))
				}
			}
		}
		// Replies need something to reply to: the engine never records two in a row.
		var ok []Event
		last := Role("")
		for _, ev := range evs {
			switch ev.(type) {
			case UserTurn:
				last = User
			case MessageDone:
				if last == Assistant {
					ok = append(ok, user("fill", "x"))
				}
				last = Assistant
			}
			ok = append(ok, ev)
		}
		for cut := range len(ok) + 1 {
			c, err := Open(&MemoryLog{}, entries(ok[:cut]...))
			if err != nil {
				t.Fatal(err)
			}
			if bad := legal(c.Messages()); bad != "" {
				t.Fatalf("round %d cut %d: %s: %v", round, cut, bad, shape(c.Messages()))
			}
		}
	}
}

// The line of a prompt may be lost or doubled in the log; the history is legal
// all the same.
func TestLostAndDoubledLines(t *testing.T) {
	first := NewEntry(reply("a1", call("x")))
	c, err := Open(&MemoryLog{}, func(yield func(Entry, error) bool) {
		for _, e := range []Entry{first, first, NewEntry(done("x", "1")), NewEntry(reply("a2", Text{Text: "b"})), NewEntry(reply("a3", Text{Text: "c"}))} {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"user: " + LostText, "assistant: call x", "user: result x", "assistant: b", "user: " + LostText, "assistant: c"}
	if d := cmp.Diff(want, shape(c.Messages())); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}
