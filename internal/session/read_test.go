package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openharness/oh"
)

// FuzzRead holds that nothing in a file stops the reader, and that an entry
// which is written after it is found.
func FuzzRead(f *testing.F) {
	f.Add([]byte(line1(user("u", "x"))))
	f.Add([]byte(line1(reply("a", use("c")))[:40]))
	f.Add([]byte("\x00\x00\n\n{}\n[]\n\"\u2028\""))
	f.Add([]byte(`{"id":"a","time":"2026-01-02T03:04:05Z","event":{"type":"sub","call":"c","event":null}}`))
	f.Add([]byte(strings.Repeat(`{"id":"`, 40)))
	last := user("last", "end")
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(in string) (list []oh.Entry) {
			for e, err := range Read(strings.NewReader(in), func(int, error) {}) {
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, e)
			}
			return list
		}
		before := read(string(data))
		all := read(string(data) + "\n" + line1(last))
		if len(all) != len(before)+1 || !cmp.Equal(all[len(before)], last) {
			t.Fatalf("%d entries, then %d", len(before), len(all))
		}
		for _, e := range before {
			again := read(line1(e))
			if len(again) != 1 || again[0].ID != e.ID || !again[0].Time.Equal(e.Time) || oh.EventType(again[0].Event) != oh.EventType(e.Event) {
				t.Fatalf("%v became %v", e, again)
			}
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	s := Store{Dir: filepath.Join(b.TempDir(), "p")}
	f, err := s.Create(oh.SessionStarted{})
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	e := done("c1", strings.Repeat("output ", 150))
	for b.Loop() {
		if err := f.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpen10MB(b *testing.B) {
	s := Store{Dir: filepath.Join(b.TempDir(), "p")}
	f, err := s.Create(oh.SessionStarted{Session: "big"})
	if err != nil {
		b.Fatal(err)
	}
	for n := range 1000 {
		id := fmt.Sprint(n)
		for _, e := range []oh.Entry{user("u"+id, "go on"), reply("a"+id, use("c"+id)), done("c"+id, strings.Repeat("output of a\n", 780))} {
			if err := f.Append(e); err != nil {
				b.Fatal(err)
			}
		}
	}
	f.Close()
	for b.Loop() {
		f, err := s.Open("big")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := oh.Open(f, f.Entries()); err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

func BenchmarkList100(b *testing.B) {
	s := Store{Dir: filepath.Join(b.TempDir(), "p")}
	for n := range 100 {
		f, err := s.Create(oh.SessionStarted{Session: fmt.Sprint(n)})
		if err != nil {
			b.Fatal(err)
		}
		for i := range 40 {
			if err := f.Append(user(fmt.Sprint(i), strings.Repeat("w", 10_000))); err != nil {
				b.Fatal(err)
			}
		}
		f.Close()
	}
	for b.Loop() {
		if infos, err := s.List(0); err != nil || len(infos) != 100 {
			b.Fatal(len(infos), err)
		}
	}
}
