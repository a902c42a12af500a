package sight

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

// world is a vision model that answers in turn, and a record.
type world struct {
	answers  []any // string, error
	asked    []oh.Image
	seen     map[string]string
	recorded []oh.Event
	full     bool // the record cannot be written
}

func (w *world) Stream(_ context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		w.asked = append(w.asked, req.Messages[0].Content[0].(oh.Image))
		next := w.answers[0]
		w.answers = w.answers[1:]
		if err, ok := next.(error); ok {
			yield(nil, err)
			return
		}
		yield(oh.MessageDone{Message: oh.Message{Content: oh.Blocks{oh.Text{Text: next.(string)}}, Stop: oh.StopEnd, Usage: oh.Usage{InputTokens: 9}}}, nil)
	}
}

func (w *world) record(ev oh.Event) error {
	if w.full {
		return errors.New("disk full")
	}
	w.recorded = append(w.recorded, ev)
	if st, ok := ev.(oh.StateChanged); ok {
		for k, v := range st.Images {
			w.seen[k] = v
		}
	}
	return nil
}

func (w *world) describer() *Describer {
	if w.seen == nil {
		w.seen = map[string]string{}
	}
	return New(Config{Provider: w, Profile: "vision", Model: "eye", Seen: func(hash string) (string, bool) {
		s, ok := w.seen[hash]
		return s, ok
	}})
}

func pic(data string) oh.Image { return oh.Image{MediaType: "image/png", Data: []byte(data)} }

func history() []oh.Message {
	return []oh.Message{
		{ID: "1", Role: oh.User, Content: oh.Blocks{pic("a"), oh.Text{Text: "what?"}}},
		{ID: "2", Role: oh.Assistant, Content: oh.Blocks{oh.ToolUse{ID: "c", Name: "read"}}},
		{ID: "2-r", Role: oh.User, Content: oh.Blocks{oh.ToolResult{ToolUseID: "c", Content: oh.Blocks{pic("b"), pic("a")}}}},
	}
}

const aWords = "[An image, which you cannot see, as eye describes it:]\nA cat.\n[End of the description.]"

func TestFit(t *testing.T) {
	w := &world{answers: []any{" A cat.\n", "A dog."}}
	d := w.describer()
	given := history()
	got, err := d.Fit(t.Context(), given, w.record)
	if err != nil {
		t.Fatal(err)
	}
	cat := oh.Text{Text: aWords, Context: true}
	dog := oh.Text{Text: strings.Replace(aWords, "A cat", "A dog", 1), Context: true}
	want := []oh.Message{
		{ID: "1.words", Role: oh.User, Content: oh.Blocks{cat, oh.Text{Text: "what?"}}},
		given[1],
		{ID: "2-r.words", Role: oh.User, Content: oh.Blocks{oh.ToolResult{ToolUseID: "c", Content: oh.Blocks{dog, cat}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(history(), given); diff != "" {
		t.Errorf("the history was changed:\n%s", diff)
	}
	var kinds []string
	for _, ev := range w.recorded {
		kinds = append(kinds, oh.EventType(ev))
	}
	if diff := cmp.Diff([]string{"status", "side_usage", "state_changed", "status", "side_usage", "state_changed"}, kinds); diff != "" {
		t.Error(diff)
	}
	// A new process, which knows the record only, says the same and asks nobody.
	again, err := w.describer().Fit(t.Context(), history(), w.record)
	if err != nil || len(w.asked) != 2 {
		t.Fatalf("asked %d times: %v", len(w.asked), err)
	}
	if diff := cmp.Diff(got, again); diff != "" {
		t.Errorf("(-first +again):\n%s", diff)
	}
}

// TestFitFails: an image that cannot be described stays, is told of once, and is
// not tried again; the others are described.
func TestFitFails(t *testing.T) {
	for _, bad := range []any{errors.New("quota"), "  "} {
		w := &world{answers: []any{bad, "A dog."}}
		d := w.describer()
		got, err := d.Fit(t.Context(), history(), w.record)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(pic("a"), got[0].Content[0]); diff != "" {
			t.Error(diff)
		}
		again, err := d.Fit(t.Context(), append(history(), oh.Message{ID: "3", Role: oh.User, Content: oh.Blocks{pic("a")}}), w.record)
		if err != nil || len(w.asked) != 2 {
			t.Fatalf("asked %d times: %v", len(w.asked), err)
		}
		if diff := cmp.Diff(got, again[:3]); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
		notices := 0
		for _, ev := range w.recorded {
			if _, ok := ev.(oh.Notice); ok {
				notices++
			}
		}
		if notices != 1 {
			t.Errorf("%d notices", notices)
		}
	}
}

func TestFitStops(t *testing.T) {
	w := &world{answers: []any{"A cat.", "A cat."}, full: true}
	if _, err := w.describer().Fit(t.Context(), history(), w.record); err == nil || err.Error() != "disk full" {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w = &world{answers: []any{context.Canceled}}
	if _, err := w.describer().Fit(ctx, history(), w.record); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	text := []oh.Message{{ID: "1", Role: oh.User, Content: oh.Blocks{oh.Text{Text: "hi"}}}}
	if got, err := w.describer().Fit(ctx, text, w.record); err != nil || &got[0] != &text[0] {
		t.Errorf("a history without images was copied: %v", err)
	}
}
