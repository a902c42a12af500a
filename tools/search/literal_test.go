package search

import (
	"bytes"
	"strings"
	"testing"
)

// lowered is b with ASCII letters in lower case.
func lowered(b []byte) []byte {
	out := bytes.Clone(b)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

func FuzzLiteral(f *testing.F) {
	f.Add("needle_in", []byte("NEEDLE needle_in NEEDLE_IN"), true)
	f.Add("needle_in", []byte("__ needle_i"), false)
	f.Add("ab", []byte(strings.Repeat("aaab", 200)), false)
	f.Add("bbbbc", []byte(strings.Repeat("b", 4000)+"c"), false)
	f.Add("x1", []byte("X1"), true)
	f.Fuzz(func(t *testing.T, text string, hay []byte, fold bool) {
		if text == "" {
			return
		}
		want := bytes.Index(hay, []byte(text))
		if fold {
			text = string(lowered([]byte(text)))
			want = bytes.Index(lowered(hay), []byte(text))
		}
		l := newLiteral(text, fold)
		if got := l.index(hay); got != want {
			t.Errorf("%q in %q, fold %v: %d, want %d", text, hay, fold, got, want)
		}
	})
}

// TestFrequentByte: text full of the byte that counts as rare is found all the
// same, wherever it is.
func TestFrequentByte(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 66, 1000} {
		hay := []byte(strings.Repeat("q", n) + "qed")
		l := newLiteral("qed", false)
		if got := l.index(hay); got != n {
			t.Errorf("after %d: %d", n, got)
		}
	}
}
