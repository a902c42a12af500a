package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type got struct {
	Name, Data string
	Unfinished bool
}

func readAll(r io.Reader) ([]got, error) {
	var out []got
	s := NewReader(r)
	for {
		ev, err := s.Next()
		if err != nil {
			return out, err
		}
		out = append(out, got{string(ev.Name), string(ev.Data), ev.Unfinished})
	}
}

var streams = []struct {
	name, in string
	want     []got
}{
	{"one", "data: a\n\n", []got{{"", "a", false}}},
	{"named", "event: x\ndata: a\n\ndata:b\n\n", []got{{"x", "a", false}, {"", "b", false}}},
	{"crlf", "event: x\r\ndata: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", []got{{"x", "a\nb", false}, {"", "c", false}}},
	{"cr", "data: a\rdata: b\r\rdata: c\r\r", []got{{"", "a\nb", false}, {"", "c", false}}},
	{"comments", ": hello\n\n:\ndata: a\n: inside\n\n", []got{{"", "a", false}}},
	{"byte order mark", "\xef\xbb\xbfdata: a\n\n", []got{{"", "a", false}}},
	{"no blank line", "data: a\n\ndata: b\n", []got{{"", "a", false}, {"", "b", true}}},
	{"no line end", "data: a\n\ndata: b", []got{{"", "a", false}, {"", "b", true}}},
	{"one space only", "data:  a\n\n", []got{{"", " a", false}}},
	{"empty data", "data\n\ndata:\ndata:\n\n", []got{{"", "", false}, {"", "\n", false}}},
	{"name without data", "event: x\n\ndata: a\n\n", []got{{"", "a", false}}},
	{"other fields", "id: 1\nretry: 5\nfoo\ndata: a\n\n", []got{{"", "a", false}}},
	{"bare", "data: a\n\n{\n \"e\": [\"}\\\"{\"]\n}\ndata: b\n\n", []got{{"", "a", false}, {"", "{\n \"e\": [\"}\\\"{\"]\n}\n", false}, {"", "b", false}}},
	{"bare, in one line", "data: a\r\n\r\n{\"e\":1}\r\n", []got{{"", "a", false}, {"", "{\"e\":1}\n", false}}},
	{"bare, no line end", "data: a\n\n{\"e\":\n1}", []got{{"", "a", false}, {"", "{\"e\":\n1}\n", true}}},
	{"bare, cut", "data: a\n\n{\"e\":\n", []got{{"", "a", false}}},
	{"bare, given up", "{\"e\":\n: c\ndata: a\n\n", []got{{"", "a", false}}},
	{"bare, but no object", "{e}\n}\n[1]\ndata: a\n\n", []got{{"", "a", false}}},
	{"bare, inside an event", "data: a\n{\"e\":1}\ndata: b\n\n", []got{{"", "a\nb", false}}},
	{"bare, too long", "{\"e\":\"" + strings.Repeat("x", maxBare) + "\"}\ndata: a\n\n", []got{{"", "a", false}}},
	{"characters", "data: 你好👍é\n\n", []got{{"", "你好👍é", false}}},
	{"long", "data: " + strings.Repeat("x", 100_000) + "\n\n", []got{{"", strings.Repeat("x", 100_000), false}}},
	{"nothing", "", nil},
	{"a mark alone", "\xef\xbb\xbf", nil},
}

func TestReader(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			for name, r := range map[string]io.Reader{
				"whole":      strings.NewReader(tt.in),
				"bytes":      iotest.OneByteReader(strings.NewReader(tt.in)),
				"data error": iotest.DataErrReader(strings.NewReader(tt.in)),
			} {
				out, err := readAll(r)
				if !errors.Is(err, io.EOF) {
					t.Errorf("%s: error %v", name, err)
				}
				if d := cmp.Diff(tt.want, out); d != "" {
					t.Errorf("%s: (-want +got)\n%s", name, d)
				}
			}
			if len(tt.in) > 1000 {
				return
			}
			for i := range tt.in {
				out, _ := readAll(io.MultiReader(strings.NewReader(tt.in[:i]), strings.NewReader(tt.in[i:])))
				if d := cmp.Diff(tt.want, out); d != "" {
					t.Errorf("cut at %d: (-want +got)\n%s", i, d)
				}
			}
		})
	}
}

func TestReaderError(t *testing.T) {
	broken := errors.New("broken")
	out, err := readAll(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
	if d := cmp.Diff([]got{{"", "a", false}}, out); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestReaderLimit(t *testing.T) {
	for name, in := range map[string]string{
		"line":  "data: " + strings.Repeat("x", 5000),
		"event": strings.Repeat("data: "+strings.Repeat("x", 500)+"\n", 10) + "\n",
	} {
		s := NewReader(strings.NewReader(in))
		s.limit = 1000
		s.buf = make([]byte, 100)
		for range 2 {
			if _, err := s.Next(); !errors.Is(err, ErrTooLong) {
				t.Errorf("%s: error %v, want %v", name, err, ErrTooLong)
			}
		}
	}
}

// FuzzReader checks that how the bytes arrive changes nothing.
func FuzzReader(f *testing.F) {
	for _, tt := range streams {
		f.Add([]byte(tt.in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, _ := readAll(bytes.NewReader(in))
		single, _ := readAll(iotest.OneByteReader(bytes.NewReader(in)))
		if d := cmp.Diff(whole, single); d != "" {
			t.Errorf("(-whole +single bytes)\n%s", d)
		}
	})
}
