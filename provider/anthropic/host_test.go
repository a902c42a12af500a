package anthropic

import (
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFeatures(t *testing.T) {
	own := []string{"a"}
	got := features(http.Header{"anthropic-beta": {"b, a", ",c,"}, "Other": {"d"}}, own)
	if d := cmp.Diff([]string{"a", "b", "c"}, got); d != "" || len(own) != 1 {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := features(nil, nil); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// FuzzEnclosed wraps an event as Amazon does: it must do what the event alone
// does, and nothing that is no wrapping may be taken for one.
func FuzzEnclosed(f *testing.F) {
	f.Add(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, "chunk")
	f.Add(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\"bytes\""}}`, "")
	f.Add(`{"bytes":"e30="}`, "chunk")
	f.Add(`{"bytes":"#"}`, "chunk")
	f.Fuzz(func(t *testing.T, event, name string) {
		plain, wrapped := newAssembler("p/m", "m"), &enclosed{assembler: newAssembler("p/m", "m")}
		err := plain.Feed(nil, []byte(event))
		err2 := wrapped.Feed([]byte(name), []byte(`{"p":"ab","bytes":"`+base64.StdEncoding.EncodeToString([]byte(event))+`"}`))
		if (err == nil) != (err2 == nil) || plain.State() != wrapped.State() {
			t.Fatalf("plain %v, wrapped %v", err, err2)
		}
		if d := cmp.Diff(plain.Take(), wrapped.Take()); d != "" {
			t.Errorf("(-plain +wrapped)\n%s", d)
		}
		_ = (&enclosed{assembler: newAssembler("p/m", "m")}).Feed([]byte(name), []byte(event))
	})
}
