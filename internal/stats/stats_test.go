package stats

import (
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

var noon = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

func entry(id string, at time.Time, ev oh.Event) Entry {
	raw, err := oh.AppendEvent(nil, ev)
	if err != nil {
		panic(err)
	}
	return Entry{ID: id, Time: at, Type: oh.EventType(ev), Raw: raw}
}

func made(id, parent string, entries ...Entry) Log {
	return Log{ID: id, Parent: parent, Entries: func() iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			for _, e := range entries {
				if !yield(e, nil) {
					return
				}
			}
		}
	}}
}

func reply(model string, in, out int) oh.Event {
	return oh.MessageDone{Message: oh.Message{Model: model, Content: oh.Blocks{oh.Text{Text: "x"}}, Usage: oh.Usage{InputTokens: in, OutputTokens: out}}}
}

func said() oh.Event { return oh.UserTurn{Source: oh.FromUser} }

func price(_, model string, u oh.Usage) (float64, bool) {
	return float64(u.InputTokens), model != "free"
}

func TestCount(t *testing.T) {
	next := noon.Add(24 * time.Hour)
	first := []Entry{
		entry("1", noon, oh.StateChanged{Profile: "p"}),
		entry("2", noon, said()),
		entry("3", noon, reply("a", 10, 1)),
		entry("4", noon, oh.ToolDone{Tool: "bash"}),
		entry("5", noon, oh.ToolDone{Tool: "bash", IsError: true}),
		entry("6", noon, oh.UserTurn{Source: oh.FromHarness}),
	}
	logs := []Log{
		made("one", "", append(first,
			entry("7", next, oh.StateChanged{Profile: "q"}),
			entry("8", next, reply("a", 5, 1)),
			entry("9", next, oh.SideUsage{For: "title", Model: "free", Usage: oh.Usage{InputTokens: 2}}))...),
		made("fork", "one", append(first[:len(first):len(first)], entry("10", next, reply("a", 1, 1)))...),
		made("forkfork", "fork", append(first[:len(first):len(first)], entry("10", next, reply("a", 1, 1)), entry("11", next, said()))...),
		made("silent", ""),
	}
	sum := func(replies, side, in, out int, usd float64, known bool) Sum {
		return Sum{replies, side, oh.Usage{InputTokens: in, OutputTokens: out}, usd, known}
	}
	want := Report{Sessions: 3, Prompts: 2, Calls: 2, Failed: 1, Total: sum(3, 1, 18, 3, 18, false),
		Models: []Model{{"p", "a", sum(2, 0, 11, 2, 11, true)}, {"q", "a", sum(1, 0, 5, 1, 5, true)}, {"q", "free", sum(0, 1, 2, 0, 2, false)}},
		Tools:  []Tool{{"bash", 2, 1}},
		Days:   []Day{{"2026-10-01", 1, 1, sum(1, 0, 10, 1, 10, true)}, {"2026-10-02", 3, 1, sum(2, 1, 8, 2, 8, false)}}}
	turned := slices.Clone(logs)
	slices.Reverse(turned)
	for _, workers := range []int{0, 1, 4} {
		for name, logs := range map[string][]Log{"parents first": logs, "forks first": turned} {
			if d := cmp.Diff(want, Count(logs, Config{Zone: time.UTC, Price: price, Workers: workers})); d != "" {
				t.Errorf("%d workers, %s (-want +got)\n%s", workers, name, d)
			}
		}
	}
	late := Count(logs, Config{Zone: time.UTC, Price: price, Since: next})
	if d := cmp.Diff(want.Days[1:], late.Days); d != "" || late.Calls != 0 {
		t.Errorf("since (-want +got)\n%s", d)
	}
}

func TestBrokenLog(t *testing.T) {
	broken := errors.New("disk")
	logs := []Log{{ID: "x", Entries: func() iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			_ = yield(entry("1", noon, said()), nil) && yield(Entry{ID: "2", Time: noon, Type: "tool_done", Raw: []byte("{")}, nil) && yield(Entry{}, broken)
		}
	}}}
	var failed error
	r := Count(logs, Config{Zone: time.UTC, Failed: func(id string, err error) { failed = err }})
	if r.Prompts != 1 || r.Calls != 0 || !errors.Is(failed, broken) || !r.Total.Known {
		t.Errorf("%+v, %v", r, failed)
	}
}
