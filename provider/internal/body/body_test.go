package body

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/openharness/oh"
)

func TestAppendRaw(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "{}"},
		{"  ", "{}"},
		{`{"a":1.0}`, `{"a":1.0}`},
		{`{"a":"<&>"}`, `{"a":"<&>"}`},
		{`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d\ude00"}`},
		{`{"a":"\ud83d"}`, `{"a":"\ufffd"}`},
		{`{"a":"\ude00\uD83D\uDE00"}`, `{"a":"\ufffd\uD83D\uDE00"}`},
		{`{"a":"\ud83d\ud83d\ude00"}`, `{"a":"\ufffd\ud83d\ude00"}`},
		{`{"a":"\\ud83d"}`, `{"a":"\\ud83d"}`},
		{`{"a":"\u00e9"}`, `{"a":"\u00e9"}`},
		{"{\"a\":\"\xff\"}", `{"a":"` + "\ufffd" + `"}`},
	}
	for _, tt := range tests {
		if got := string(AppendRaw(nil, []byte(tt.in), "{}")); got != tt.want {
			t.Errorf("AppendRaw(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzAppendRaw(f *testing.F) {
	for _, s := range []string{`{"a":"\ud83d\ude00"}`, `{"a":"\ud83d"}`, `["\\\ud83d"]`, "\"\xff\"", `"\u12`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := AppendRaw(nil, raw, "{}")
		if !utf8.Valid(out) {
			t.Errorf("%q gives invalid UTF-8", raw)
		}
		if !json.Valid(raw) {
			return
		}
		if !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		var a, b any
		if json.Unmarshal(raw, &a) == nil && json.Unmarshal(out, &b) == nil && utf8.Valid(raw) {
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			if !bytes.Equal(x, y) {
				t.Errorf("%q became %q", raw, out)
			}
		}
	})
}

func TestBody(t *testing.T) {
	var b Body
	b.AddString("one")
	b.Add(nil)
	b.Add([]byte(" two"))
	b.AddString(" three")
	const want = "one two three"
	if err := iotest.TestReader(b.Reader(), []byte(want)); err != nil {
		t.Error(err)
	}
	again, _ := io.ReadAll(b.Reader())
	if string(again) != want || string(b.Bytes()) != want || b.Size() != int64(len(want)) {
		t.Errorf("%q, %q, %d", again, b.Bytes(), b.Size())
	}
}

func TestTools(t *testing.T) {
	var tools Tools
	n := 0
	encode := func([]oh.ToolSpec) []byte { n++; return []byte("x") }
	a := []oh.ToolSpec{{Name: "a", Schema: []byte("{}")}}
	b := []oh.ToolSpec{{Name: "a", Schema: []byte("{}"), Description: "other"}}
	for _, specs := range [][]oh.ToolSpec{a, a, {{Name: "a", Schema: []byte("{}")}}, b, b, nil} {
		tools.Get(specs, encode)
	}
	if n != 3 {
		t.Errorf("encoded %d times, want 3", n)
	}
	nothing := func([]oh.ToolSpec) []byte { n++; return nil }
	for _, form := range []string{"flat", "flat", "", "flat"} {
		tools.As(form, a, nothing)
	}
	if n != 6 {
		t.Errorf("encoded %d times, want 6", n)
	}
}

func TestImageType(t *testing.T) {
	for in, want := range map[string]string{"image/png": "image/png", " Image/JPG": "image/jpeg", "image/svg+xml": "", "text/plain": "", "": ""} {
		if got := ImageType(in); got != want {
			t.Errorf("ImageType(%q) = %q, want %q", in, got, want)
		}
	}
}
