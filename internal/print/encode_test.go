package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/openharness/oh"
)

// FuzzDelta compares the encoder without reflection with the ordinary one.
func FuzzDelta(f *testing.F) {
	for _, s := range []string{"", "plain", "q\"b\\s/", "<b>&'", "\x00\x1f\x7f\b\f\n\r\t", "\u2028\u2029\u2027\u202a", "\xff\xe2\x80", "é漢🙂", "\ufffd"} {
		f.Add(s, "s-1", uint64(7), int64(1767323045123456789), true)
	}
	f.Fuzz(func(t *testing.T, text, session string, seq uint64, nanos int64, think bool) {
		env := oh.Envelope{Seq: seq, Time: time.Unix(0, nanos).UTC(), Session: session, Event: oh.TextDelta{Text: text}}
		if think {
			env.Event = oh.ThinkingDelta{Text: text}
		}
		want, err := oh.Marshal(env)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := appendDelta([]byte("before"), env)
		if !ok || string(got) != "before"+string(want)+"\n" {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		comparePartial(t, text, session)
	})
}

func comparePartial(t *testing.T, text, session string) {
	t.Helper()
	for _, kind := range []string{textKind, thinkingKind} {
		f := &streamFace{p: New(Options{NewID: func() string { return session }}), session: session}
		f.partial.index = 3
		var delta any = struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"text_delta", text}
		if kind == thinkingKind {
			delta = struct {
				Type     string `json:"type"`
				Thinking string `json:"thinking"`
			}{"thinking_delta", text}
		}
		want, err := oh.Marshal(streamEvent{"stream_event", blockDelta{"content_block_delta", 3, delta}, f.origin("")})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(f.appendPartial(nil, kind, text)); got != string(want)+"\n" {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range []string{"", "a\u2028b\u2029", "\u2028", "\xe2\x80", "\u2027\u202a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		value, err := json.Marshal(map[string]string{"x": s})
		if err != nil {
			t.Fatal(err)
		}
		// encoding/json escapes the separators; a raw message may hold them.
		value = bytes.ReplaceAll(value, []byte(`\u2028`), []byte("\u2028"))
		if !json.Valid(value) {
			t.Skip("a backslash stood before the escape")
		}
		got := appendSafe([]byte("x"), value)
		if bytes.Contains(got, []byte("\u2028")) || bytes.Contains(got, []byte("\u2029")) {
			t.Errorf("%q holds a separator", got)
		}
		var a, b any
		if json.Unmarshal(value, &a) != nil || json.Unmarshal(got[1:], &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q became %q", value, got[1:])
		}
	})
}

func TestDeltaOfOddTime(t *testing.T) {
	env := oh.Envelope{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), Event: oh.TextDelta{Text: "x"}}
	if got, ok := appendDelta([]byte("keep"), env); ok || string(got) != "keep" {
		t.Errorf("got %q, %v", got, ok)
	}
}

func BenchmarkDeltas(b *testing.B) {
	const deltas = 20_000
	for _, v := range variants() {
		b.Run(v.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o := Options{Out: io.Discard, Err: io.Discard}
				v.set(&o)
				p := New(o)
				var text bytes.Buffer
				for i := range deltas {
					text.WriteString("a few words ")
					env := oh.Envelope{Seq: uint64(i), Time: epoch.Add(time.Duration(i) * 5 * time.Millisecond), Session: "s", Event: oh.TextDelta{Text: "a few words "}}
					if err := p.Event(env); err != nil {
						b.Fatal(err)
					}
				}
				_ = p.Event(envelope(deltas, 0, reply(idOne, oh.StopEnd, oh.Text{Text: text.String()})))
				if _, err := p.Finish(nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
