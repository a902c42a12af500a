package text

import (
	"bytes"
	"encoding/json"
	"testing"
)

func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c\b\f\n\r\t\x00\x1f\x7f", "é你👍\u2028\u2029", "\xed\xa0\xbd", "a\xff", "<&>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := AppendJSON([]byte("x"), s); string(got) != "x"+string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))) {
			t.Errorf("%q: %s, want %s", s, got, want.Bytes())
		}
	})
}
