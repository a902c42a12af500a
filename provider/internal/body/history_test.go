package body

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

func said(id, text string) oh.Message {
	return oh.Message{ID: id, Role: oh.User, Content: oh.Blocks{oh.Text{Text: text}}}
}

// However a history is cut into runs and kept, the bytes are those of its
// messages, one after another.
func TestHistory(t *testing.T) {
	short := func(n int) (out []oh.Message) {
		for i := range n {
			out = append(out, said(fmt.Sprint("m", i), fmt.Sprint("text ", i)))
		}
		return out
	}
	long := short(3 * joined)
	for i := range joined {
		long[joined+i].Content = oh.Blocks{oh.Text{Text: strings.Repeat("x", maxJoined/joined)}}
		long[joined+i].ID += "long"
	}
	nameless := short(2 * joined)
	nameless[3].ID = ""
	other := short(joined) // the same ends, another middle
	other[5] = said("x5", "other")

	var memo oh.Memo
	for _, m := range []*oh.Memo{&memo, nil} {
		for name, msgs := range map[string][]oh.Message{
			"none": nil, "one": short(1), "one run": short(joined), "and one": short(joined + 1),
			"many": short(3 * joined), "other": other, "long": long, "nameless": nameless,
		} {
			var want []string
			for _, x := range msgs {
				want = append(want, `"`+x.Content.Text()+`"`)
			}
			for range 2 {
				var b Body
				encode := func(m *oh.Message) []byte { return text.AppendJSON(nil, m.Content.Text()) }
				if err := (History{Memo: m, Key: "k", Encode: encode}).Add(&b, msgs); err != nil {
					t.Fatal(err)
				}
				if got := string(b.Bytes()); got != strings.Join(want, ",") {
					t.Errorf("%s: %.200s", name, got)
				}
			}
		}
	}
}

// Messages that were sent before are neither encoded again nor added one by
// one, unless they are long.
func TestHistoryIsKept(t *testing.T) {
	var memo oh.Memo
	var msgs []oh.Message
	encoded := 0
	h := History{Memo: &memo, Key: "k", Encode: func(m *oh.Message) []byte {
		encoded++
		return text.AppendJSON(nil, m.Content.Text())
	}}
	for i := range 10 * joined {
		msgs = append(msgs, said(fmt.Sprint("m", i), "text"))
		var b Body
		if err := h.Add(&b, msgs); err != nil {
			t.Fatal(err)
		}
		if most := 2 * (10 + joined); len(b.pieces) > most {
			t.Fatalf("%d messages are %d pieces", len(msgs), len(b.pieces))
		}
	}
	if encoded != len(msgs) {
		t.Errorf("%d messages were encoded %d times", len(msgs), encoded)
	}
}
