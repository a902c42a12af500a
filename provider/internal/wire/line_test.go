package wire

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 50_000) + `"}`
	for name, c := range map[string]struct {
		in   string
		want []string // a last one with + before it is unfinished
	}{
		"plain":        {"{\"a\":1}\n{\"b\":2}\n", []string{`{"a":1}`, `{"b":2}`}},
		"crlf, blanks": {"\r\n{\"a\":1}\r\n\r\n  {\"b\":2}  \r\n", []string{`{"a":1}`, `{"b":2}`}},
		"mark":         {"\xef\xbb\xbf{}\n", []string{`{}`}},
		"spread":       {"{\n \"a\":\n {}\n}\n{}\n", []string{"{\n \"a\":\n {}\n}", `{}`}},
		"no end":       {"{}\n{\"b\":2}", []string{`{}`, `+{"b":2}`}},
		"cut":          {"{}\n{\"b\":", []string{`{}`, `+{"b":`}},
		"long":         {long + "\n{}\n", []string{long, `{}`}},
		"nothing":      {"\n\n", nil},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			l := newLineReader(r)
			var got []string
			var err error
			for {
				ev, e := l.next()
				if err = e; e != nil {
					break
				}
				s := string(ev.Data)
				if ev.Unfinished {
					s = "+" + s
				}
				got = append(got, s)
			}
			if d := cmp.Diff(c.want, got); d != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v %s", name, err, d)
			}
		}
	}
	l := newLineReader(io.MultiReader(strings.NewReader("{}\n{\"a\""), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if ev, err := l.next(); err != nil || string(ev.Data) != "{}" {
		t.Errorf("%s %v", ev.Data, err)
	}
	if _, err := l.next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v", err)
	}
}
