package shell

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWindow(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000)
	for _, c := range []struct {
		name       string
		writes     []string
		most       int
		head, tail string
		left       int64
	}{
		{"empty", nil, 10, "", "", 0},
		{"whole", []string{"abc", "def"}, 6, "abcdef", "", 0},
		{"cut", []string{"abc", "def", "g"}, 5, "abc", "fg", 2},
		{"one byte", []string{"abc"}, 1, "a", "", 2},
		{"a character at the cut", []string{"é", "é", "é", "é"}, 5, "é", "é", 4},
		{"no room for a character", []string{"🙂🙂"}, 3, "", "", 8},
		{"all that is kept", []string{long[:mostUnread]}, mostUnread, long[:mostUnread], "", 0},
		{"one more", []string{long[:mostUnread], "x"}, mostUnread, long[:mostUnread/2], long[1:mostUnread/2] + "x", 1},
		{"a little into the tail", []string{long[:mostUnread], "xyz"}, 10, "01234", "89xyz", mostUnread - 7},
		{"a big write", []string{long + "end"}, 6, "012", "end", int64(len(long)) - 3},
		{"many", []string{long, long, long, "end"}, 6, "012", "end", 3*int64(len(long)) - 3},
		{"more than can be asked for", []string{"abc"}, 1 << 30, "abc", "", 0},
	} {
		var w window
		for _, s := range c.writes {
			w.add([]byte(s))
		}
		head, tail, left := w.take(c.most)
		if head != c.head || tail != c.tail || left != c.left {
			t.Errorf("%s: %.40q (%d), %.40q (%d), %d left out", c.name, head, len(head), tail, len(tail), left)
		}
		if again, _, _ := w.take(c.most); again != "" || w.total != 0 {
			t.Errorf("%s: %q is told twice", c.name, again)
		}
	}
}

// FuzzWindow holds a window against the plain text.
func FuzzWindow(f *testing.F) {
	f.Add("héllo wörld", 3, 7, 5)
	f.Add("", 0, 1, 1)
	f.Add("🙂🙂🙂", 1, 300_000, 100_000)
	f.Fuzz(func(t *testing.T, s string, at, times, most int) {
		s = strings.ToValidUTF8(s, "?")
		most = 1 + int(uint(most)%100_000)
		whole := strings.Repeat(s, int(uint(times)%50_000/uint(len(s)+1)))
		cut := 0
		if len(whole) > 0 {
			cut = int(uint(at) % uint(len(whole)))
		}
		var w window
		w.add([]byte(whole[:cut]))
		w.add([]byte(whole[cut:]))
		head, tail, left := w.take(most)
		switch {
		case len(whole) <= most && (head != whole || tail != "" || left != 0):
			t.Errorf("%d bytes do not come whole", len(whole))
		case len(head)+len(tail) > most || int64(len(head)+len(tail))+left != int64(len(whole)):
			t.Errorf("%d + %d + %d of %d bytes, at most %d", len(head), left, len(tail), len(whole), most)
		case !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || !utf8.ValidString(head+tail):
			t.Errorf("%.40q ... %.40q", head, tail)
		}
	})
}
