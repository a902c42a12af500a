package bridge

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		` { "a" : [ 1 , -2.5e+3,true,false, null,"x\\" ] , "b":{ } } `: `{"a":[1,-2.5e+3,true,false,null,"x\\"],"b":{}}`,
		`"\u00e9\ud83d\ude00\"\n"`:                                     `"é😀\"\n"`,
		`"\ud83d"`:                                                     "\"\ufffd\"",
		"\"\xff\"":                                                     "\"\ufffd\"",
		`{"a":1,"b":2,"a":3}`:                                          `{"a":3,"b":2}`,
		`[]`:                                                           `[]`,
		`7`:                                                            `7`,
	} {
		v, twice, err := parse([]byte(in))
		if got := string(write(nil, v)); err != nil || got != want || twice != strings.Contains(in, `"a":3`) {
			t.Errorf("%s: %s, %v, %v", in, got, twice, err)
		}
	}
	for _, in := range []string{``, `{`, `{"a"}`, `{} {}`, `nul`, strings.Repeat("[", 600) + strings.Repeat("]", 600)} {
		if v, _, err := parse([]byte(in)); err == nil {
			t.Errorf("%.20s was read: %v", in, v)
		}
	}
}

// What is read means what it means to encoding/json.
func FuzzParse(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add([]byte(s.raw))
	}
	f.Add([]byte(`[-0.0e-1, "\ud800\u0041", {"":{"\\":"\/"}}]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, _, err := parse(raw)
		if err != nil {
			return
		}
		var a, b any
		if json.Unmarshal(raw, &a) != nil {
			return // a number that is too large
		}
		out := write(nil, v)
		if err := json.Unmarshal(out, &b); err != nil {
			t.Fatalf("%q became %q: %v", raw, out, err)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("%q became %q\n%s", raw, out, d)
		}
	})
}
