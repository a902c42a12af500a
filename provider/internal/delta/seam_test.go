package delta

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// joined passes raw JSON strings through a seam.
func joined(raws ...string) string {
	var s Seam
	var out strings.Builder
	for _, raw := range raws {
		var t Text
		if err := json.Unmarshal([]byte(raw), &t); err != nil {
			return "error: " + err.Error()
		}
		out.WriteString(s.Join(string(t)))
	}
	return out.String() + s.Flush()
}

func TestSeam(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   []string
		want string
	}{
		{"whole", []string{`"a\ud83d\ude00b"`, `"c"`}, "a😀bc"},
		{"cut", []string{`"a\ud83d"`, `"\ude00b"`}, "a😀b"},
		{"cut, capitals and escapes", []string{`"\n\uD83D"`, `"\uDE00\t"`}, "\n😀\t"},
		{"cut, nothing else", []string{`"\ud83d"`, `"\ude00"`}, "😀"},
		{"cut twice", []string{`"\ud83d"`, `"\ude00\ud83d"`, `"\ude01"`}, "😀😁"},
		{"an empty piece between", []string{`"a\ud83d"`, `""`, `"\ude00b"`}, "a😀b"},
		{"no low half", []string{`"a\ud83d"`, `"b"`}, "a\ufffdb"},
		{"no low half, then a pair", []string{`"a\ud83d"`, `"\ud83d"`, `"\ude00"`}, "a\ufffd😀"},
		{"no high half", []string{`"a"`, `"\ude00b"`}, "a\ufffdb"},
		{"at the end", []string{`"a\ud83d"`}, "a\ufffd"},
		{"within", []string{`"a\ud83db\ude00c"`}, "a\ufffdb\ufffdc"},
		{"an escaped backslash", []string{`"a\\ud83d"`, `"\\ude00"`}, `a\ud83d\ude00`},
		{"a backslash before", []string{`"a\\\ud83d"`, `"\ude00"`}, `a\😀`},
		{"the bytes of a half", []string{"\"a\xed\xa0\xbd\"", "\"\xed\xb8\x80\""}, "a\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"no string", []string{`7`, `{}`, `null`}, ""},
	} {
		if got := joined(tt.in...); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// However a text is cut into pieces, they join to what the whole decodes to.
func FuzzSeam(f *testing.F) {
	f.Add(`a\ud83d\ude00b`, 7)
	f.Add(`\ud83d\\ude00`, 6)
	f.Add("\xed\xa0\xbd\\ude00", 3)
	f.Fuzz(func(t *testing.T, in string, at int) {
		if at < 0 || at > len(in) {
			return
		}
		first, second, whole := `"`+in[:at]+`"`, `"`+in[at:]+`"`, `"`+in+`"`
		got := joined(first, second)
		if !utf8.ValidString(got) && !strings.HasPrefix(got, "error: ") {
			t.Errorf("%q, %q join to %q", first, second, got)
		}
		var want string
		for _, raw := range []string{first, second, whole} {
			if json.Unmarshal([]byte(raw), &want) != nil || !utf8.ValidString(raw) {
				return
			}
		}
		if got != want {
			t.Errorf("%q, %q join to %q, want %q", first, second, got, want)
		}
	})
}
