package cli

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestHiddenLine(t *testing.T) {
	for _, tt := range []struct {
		typed, want, rest string
		err               error
		interrupts        int
	}{
		{"key\rmore", "key", "more", nil, 0},
		{"key\n", "key", "", nil, 0},
		{"kez\x7fy\r", "key", "", nil, 0},
		{"\x7f\x08k\r", "k", "", nil, 0},
		{"wrong\x15key\r", "key", "", nil, 0},
		{"\r", "", "", nil, 0},
		{"\x04", "", "", io.EOF, 0},
		{"k\x04ey\r", "key", "", nil, 0},
		{"half", "", "", io.EOF, 0},
		{"half\x03", "", "", io.EOF, 1},
	} {
		n := 0
		in := strings.NewReader(tt.typed)
		got, err := hiddenLine(iotest.OneByteReader(in), func() { n++ })
		rest, _ := io.ReadAll(in)
		if string(got) != tt.want || string(rest) != tt.rest || !errors.Is(err, tt.err) || n != tt.interrupts {
			t.Errorf("%q: %q %q %v, %d interrupts", tt.typed, got, rest, err, n)
		}
	}
}
