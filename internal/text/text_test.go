package text

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"a\r\nb\rc", "a\nb\nc"},
		{"end\r", "end\n"},
		{"\x1b[31mred\x1b[0m", "red"},
		{"\x1b]0;title\x07x\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "xlink"},
		{"\x1b(Bx\x1b7y", "xy"},
		{"a\x00b\x07c\x7fd", "abcd"},
		{"half \xe4\xbd", "half \uFFFD\uFFFD"},
		{"bad \xff byte", "bad \uFFFD byte"},
		{"世界 🙂", "世界 🙂"},
		{"c1 \u009b31mred", "c1 red"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestCleanerCutAnywhere(t *testing.T) {
	in := "\x1b[1;31mérror\x1b[0m\r\n世界\xff🙂\x1b]0;t\x1b\\done\r"
	want := Clean(in)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var out strings.Builder
		c := Cleaner{W: &out}
		for rest := in; rest != ""; {
			n := 1 + r.IntN(min(4, len(rest)))
			_, _ = io.WriteString(&c, rest[:n])
			rest = rest[n:]
		}
		_ = c.Close()
		if out.String() != want {
			t.Fatalf("got %q, want %q", out.String(), want)
		}
	}
}

// FuzzCleaner compares writes as long as they are, which take runs of clean
// characters as a whole, with a byte at a time, which cannot.
func FuzzCleaner(f *testing.F) {
	for _, s := range []string{"", "ab\tc\n", "a\r\nb\rc\r", "é\x1b[1mü\x1b[0m\u009b1mü\u0085x", "\x1b]0;t\x07世界\xe4\xb8", "a\x7f\xff\u00a0\uFFFD"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		var one, many strings.Builder
		slow, fast := Cleaner{W: &one}, Cleaner{W: &many}
		for i := range len(s) {
			_, _ = io.WriteString(&slow, s[i:i+1])
		}
		cut = min(max(0, cut), len(s))
		_, _ = io.WriteString(&fast, s[:cut])
		_, _ = io.WriteString(&fast, s[cut:])
		_, _ = slow.Close(), fast.Close()
		if one.String() != many.String() {
			t.Errorf("%q cut at %d: %q, bytewise %q", s, cut, many.String(), one.String())
		}
	})
}

// BenchmarkFlood is what the output of a command costs before it is kept.
func BenchmarkFlood(b *testing.B) {
	for name, line := range map[string]string{
		"ascii": "src/main.go:12: a line as commands print it by the million\n", "wide": "編譯 ./main.go: 完成, 沒有錯誤\n", "colour": "\x1b[32mok\x1b[0m a line as test runners print it\r\n",
	} {
		p := bytes.Repeat([]byte(line), 32<<10/len(line))
		b.Run(name, func(b *testing.B) {
			s := Spill{Inline: 1000, Preview: 100}
			c := Cleaner{W: &s}
			b.SetBytes(int64(len(p)))
			for b.Loop() {
				_, _ = c.Write(p)
			}
		})
	}
}

type memFile struct {
	bytes.Buffer
	fail error
}

func (f *memFile) Write(p []byte) (int, error) {
	if f.fail != nil {
		return 0, f.fail
	}
	return f.Buffer.Write(p)
}
func (f *memFile) Close() error { return nil }
func (f *memFile) Path() string { return "/artifacts/x.txt" }

func TestSpillKeepsShortText(t *testing.T) {
	s := Spill{Inline: 10, Preview: 4}
	_, _ = io.WriteString(&s, "0123456789")
	sum, err := s.Finish("bash", "c1")
	if err != nil || sum.Text != "0123456789" || sum.Cut {
		t.Errorf("got %+v, %v", sum, err)
	}
}

func TestSpillLongText(t *testing.T) {
	whole := strings.Repeat("🙂é", 5000) + "END"
	for step := 1; step < 4000; step = step*3 + 1 {
		f := &memFile{}
		s := Spill{Inline: 100, Preview: 20, Create: func() (File, error) { return f, nil }}
		runes := []rune(whole)
		for i := 0; i < len(runes); i += step {
			_, _ = io.WriteString(&s, string(runes[i:min(i+step, len(runes))]))
		}
		sum, err := s.Finish("bash", "c1")
		if err != nil || !sum.Cut || sum.Path != f.Path() || sum.Chars != len(runes) {
			t.Fatalf("step %d: %+v, %v", step, sum, err)
		}
		if f.String() != whole {
			t.Fatalf("step %d: the file has %d bytes, want %d", step, f.Len(), len(whole))
		}
		if !utf8.ValidString(sum.Text) || !strings.Contains(sum.Text, "\n🙂é🙂é🙂é🙂é🙂é\n") || !strings.HasSuffix(sum.Text, "END") {
			t.Fatalf("step %d: text %q", step, sum.Text)
		}
	}
}

func TestSpillSaysWhenTheFileFails(t *testing.T) {
	full := errors.New("no space left on device")
	s := Spill{Inline: 10, Preview: 4, Create: func() (File, error) { return &memFile{fail: full}, nil }}
	_, _ = io.WriteString(&s, strings.Repeat("x", 200_000))
	sum, err := s.Finish("bash", "c1")
	if !errors.Is(err, full) || !strings.Contains(sum.Text, "not saved whole (no space left on device)") || sum.Path != "" {
		t.Errorf("got %+v, %v", sum, err)
	}
}

func TestCutHeadTail(t *testing.T) {
	if got := Cut("世界地图", 3); got != "世界…" {
		t.Errorf("Cut = %q", got)
	}
	if got := Head("a世界", 2) + "|" + Tail("a世界", 2); got != "a世|世界" {
		t.Errorf("got %q", got)
	}
	if got := Plural(12345, "match"); got != "12,345 matches" {
		t.Errorf("Plural = %q", got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[1mx\r\n\xff")
	f.Fuzz(func(t *testing.T, s string) {
		out := Clean(s)
		if !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\x1b\r\x7f") {
			t.Errorf("Clean(%q) = %q", s, out)
		}
		if again := Clean(out); again != out {
			t.Errorf("not stable: %q, then %q", out, again)
		}
	})
}
