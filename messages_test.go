package oh_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// What Messages has returned does not change when the conversation goes on.
func TestMessagesStay(t *testing.T) {
	c, err := oh.Open(&oh.MemoryLog{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	type view struct{ got, copied []oh.Message }
	var seen []view
	look := func() {
		got := c.Messages()
		seen = append(seen, view{got, slices.Clone(got)})
		// A caller that appends must not write into the conversation.
		_ = append(got, oh.Message{ID: "intruder"})
	}
	add := func(ev oh.Event) {
		t.Helper()
		look()
		if err := c.Append(oh.NewEntry(ev)); err != nil {
			t.Fatal(err)
		}
		look()
		look()
	}
	said := func(id string) oh.Event {
		return oh.UserTurn{Message: oh.Message{ID: id, Role: oh.User, Content: oh.Blocks{oh.Text{Text: id}}}}
	}
	for n := range 20 {
		id := fmt.Sprint(n)
		add(said("u" + id))
		add(oh.MessageDone{Message: oh.Message{ID: "a" + id, Role: oh.Assistant, Content: oh.Blocks{
			oh.ToolUse{ID: "x" + id, Name: "t", Input: json.RawMessage(`{}`)}, oh.ToolUse{ID: "y" + id, Name: "t", Input: json.RawMessage(`{}`)}}}})
		add(oh.ToolDone{ID: "y" + id, Tool: "t", Content: oh.Blocks{oh.Text{Text: "1"}}})
		add(oh.ToolDone{ID: "x" + id, Tool: "t", Content: oh.Blocks{oh.Text{Text: "2"}}})
		if n%3 == 0 {
			add(said("steer" + id))
		}
		add(oh.MessageDone{Message: oh.Message{ID: "b" + id, Role: oh.Assistant, Content: oh.Blocks{oh.Text{Text: "ok"}}}})
		if n == 10 {
			add(oh.Compaction{Phase: oh.CompactionDone, History: slices.Clone(c.Messages()[:5])})
		}
	}
	for i, v := range seen {
		if diff := cmp.Diff(v.copied, v.got); diff != "" {
			t.Fatalf("view %d changed (-then +now):\n%s", i, diff)
		}
	}
}
