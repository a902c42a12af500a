package argument

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/openharness/oh"
)

func TestParse(t *testing.T) {
	tests := []struct {
		name, raw string
		cut       bool
		input     string
		malformed string // its beginning
	}{
		{"object", `{"a": 1, "b": "x y"}`, false, `{"a":1,"b":"x y"}`, ""},
		{"nothing", "", false, `{}`, ""},
		{"blank", " \n", false, `{}`, ""},
		{"null", "null", false, `{}`, ""},
		{"empty string", `""`, false, `{}`, ""},
		{"raw newline and tab", "{\"a\":\"x\ny\tz\"}", false, `{"a":"x\ny\tz"}`, ""},
		{"raw newline after an escape", "{\"a\":\"x\\\\\n\"}", false, `{"a":"x\\\n"}`, ""},
		{"newline between members", "{\n\"a\":1\n}", false, `{"a":1}`, ""},
		{"lone surrogate", `{"a":"\ud83d"}`, false, `{"a":"\ufffd"}`, ""},
		{"missing brace", `{"a":1`, false, `{"malformed":"{\"a\":1"}`, "the arguments are no JSON object (unexpected end of JSON input): {\"a\":1"},
		{"two objects", `{"a":1}{"b":2}`, false, `{"malformed":"{\"a\":1}{\"b\":2}"}`, "the arguments are no JSON object ("},
		{"list", `[1]`, false, `{"malformed":"[1]"}`, "the arguments are no JSON object (it is another kind of value): [1]"},
		{"string", `"ls"`, false, `{"malformed":"\"ls\""}`, "the arguments are no JSON object (it is another kind of value)"},
		{"encoded twice", `"{\"a\": \"x\"}"`, false, `{"a":"x"}`, ""},
		{"encoded twice and broken", `"{\"a\": "`, false, `{"malformed":"\"{\\\"a\\\": \""}`, "the arguments are no JSON object ("},
		{"words", `ls -l`, false, `{"malformed":"ls -l"}`, "the arguments are no JSON object ("},
		{"newline and missing brace", "{\"a\":\"x\ny\"", false, `{"malformed":"{\"a\":\"x\ny\""}`, "the arguments are no JSON object ("},
		{"cut", `{"path":"a","content":"half`, true, `{"malformed":"{\"path\":\"a\",\"content\":\"half"}`, "the reply was cut off at the output limit"},
		{"cut before anything", "", true, `{"malformed":""}`, "the reply was cut off at the output limit"},
		{"whole in a cut reply", `{"a":1}`, true, `{"a":1}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input, malformed := Parse(tt.raw, tt.cut)
			want := strings.ReplaceAll(tt.input, "\n", `\n`)
			if string(input) != want {
				t.Errorf("input %s, want %s", input, want)
			}
			if (malformed == "") != (tt.malformed == "") || !strings.HasPrefix(malformed, tt.malformed) {
				t.Errorf("malformed %q, want %q", malformed, tt.malformed)
			}
		})
	}
}

func TestParseCutsLongText(t *testing.T) {
	input, malformed := Parse(`{"a":"`+strings.Repeat("é", 50_000), false)
	if n := utf8.RuneCountInString(malformed); n > 650 {
		t.Errorf("the reason has %d characters", n)
	}
	if n := utf8.RuneCount(input); n > 4100 {
		t.Errorf("the kept text has %d characters", n)
	}
}

// FuzzParse checks that the input is always a compact object of valid UTF-8,
// and that an object is never changed in meaning.
func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":1}`, "{\"a\":\"\n\"}", `{"a":"\ud83d"}`, "{\"\xff\":1}", `{`, `[]`, "null", `{"a":"\`, "{\"a\":\"\\\n\"}"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, raw string, cut bool) {
		input, malformed := Parse(raw, cut)
		var m map[string]any
		if err := json.Unmarshal(input, &m); err != nil || m == nil || !utf8.Valid(input) || string(oh.Compact(input)) != string(input) {
			t.Fatalf("Parse(%q) = %q (%v)", raw, input, err)
		}
		if !utf8.ValidString(malformed) {
			t.Errorf("malformed %q", malformed)
		}
		var want map[string]any
		if json.Unmarshal([]byte(raw), &want) == nil && want != nil && malformed != "" {
			t.Errorf("a legal object was refused: %q", raw)
		}
	})
}
