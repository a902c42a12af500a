package delta

import (
	"encoding/json"
	"strings"
	"testing"
)

type carrier struct {
	Kind  string `json:"kind"`
	Delta struct {
		Text string `json:"text"`
	} `json:"delta"`
}

func pure(data []byte) (string, bool) {
	var c carrier
	err := json.Unmarshal(data, &c)
	return c.Delta.Text, err == nil && c.Kind == "d"
}

func TestMatch(t *testing.T) {
	const first = `{"kind":"d","delta":{"text":"one"}}`
	tests := []struct {
		name, learn, data, want string
		ok                      bool
	}{
		{"same", first, first, "one", true},
		{"other string", first, `{"kind":"d","delta":{"text":"a\n\"b\" \u00e9 \ud83d\ude00 你"}}`, "a\n\"b\" é 😀 你", true},
		{"padded", first, `{"kind":"d","delta":{"text":"x"}    }`, "x", true},
		{"other kind", first, `{"kind":"e","delta":{"text":"x"}}`, "", false},
		{"more behind", first, `{"kind":"d","delta":{"text":"x","more":1}}`, "", false},
		{"lone surrogate", first, `{"kind":"d","delta":{"text":"\ud83d"}}`, "", false},
		{"bad escape", first, `{"kind":"d","delta":{"text":"\x"}}`, "", false},
		{"bad UTF-8", first, "{\"kind\":\"d\",\"delta\":{\"text\":\"\xff\"}}", "", false},
		{"control", first, "{\"kind\":\"d\",\"delta\":{\"text\":\"\n\"}}", "", false},
		{"cut", first, `{"kind":"d","delta":{"text":"x`, "", false},
		{"the member of another object", `{"x":{"text":"one"},"kind":"d","delta":{"text":"one"}}`, `{"x":{"text":"two"},"kind":"d","delta":{"text":"one"}}`, "", false},
		{"a later member wins", `{"kind":"d","delta":{"text":"one","text":"one"}}`, `{"kind":"d","delta":{"text":"two","text":"one"}}`, "", false},
		{"inside a key", `{"x\"text":"one","kind":"d","delta":{"tex\u0074":"one"}}`, `{"x\"text":"two","kind":"d","delta":{"tex\u0074":"one"}}`, "", false},
		{"space in a string counts", `{"delta":{"text":"one"},"kind":"d","z":"a b"}`, `{"delta":{"text":"one"},"kind":"d","z":"ab"}`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var tpl Template
			tpl.Learn([]byte(tt.learn), "text", pure)
			s, ok := tpl.Match([]byte(tt.data))
			if s != tt.want || ok != tt.ok {
				t.Errorf("Match = %q, %v; want %q, %v", s, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestLearnIsBounded(t *testing.T) {
	var tpl Template
	const data = `{"kind":"d","delta":{"text":"one"}}`
	n := 0
	for range 10 * maxLearned {
		tpl.Learn([]byte(data), "text", func(data []byte) (string, bool) { n++; return pure(data) })
	}
	if n != maxLearned {
		t.Errorf("decoded %d times, want %d", n, maxLearned)
	}
	if _, ok := tpl.Match([]byte(data)); ok {
		t.Error("a shape that was not learned matches")
	}
}

// FuzzMatch compares the fast way with encoding/json.
func FuzzMatch(f *testing.F) {
	f.Add([]byte(`{"kind":"d","delta":{"text":"one"}}`), []byte(`{"kind":"d","delta":{"text":"two\n"}}`))
	f.Add([]byte(`{"delta":{"text":"a"},"kind":"d"}`), []byte(`{"delta":{"text":"\ud83d\ude00"},"kind":"d"}`))
	f.Add([]byte(`{"x":{"text":"a"},"kind":"d","delta":{"text":"a"}}`), []byte(`{"x":{"text":"b"},"kind":"d","delta":{"text":"a"}}`))
	f.Fuzz(func(t *testing.T, learn, data []byte) {
		var tpl Template
		tpl.Learn(learn, "text", pure)
		s, ok := tpl.Match(data)
		if !ok {
			return
		}
		if want, pureOK := pure(data); !pureOK || s != want {
			t.Errorf("learned %q, of %q: fast %q, slow %q (%v)", learn, data, s, want, pureOK)
		}
	})
}

func FuzzString(f *testing.F) {
	for _, s := range []string{`"a"`, `"\u00e9\n"`, `"\ud83d"`, `"\ud83d\ude00"`, "\"\xff\"", `"a`, `""`, `1`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if strings.TrimSpace(raw) != raw {
			return
		}
		got, ok := String([]byte(raw))
		var want string
		err := json.Unmarshal([]byte(raw), &want)
		if wantOK := err == nil && raw != "null"; ok != wantOK || ok && got != want {
			t.Errorf("String(%q) = %q, %v; want %q, %v", raw, got, ok, want, wantOK)
		}
	})
}
