package eventstream

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// frame makes a frame of raw headers, its sums right.
func frame(headers, payload []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(prelude+len(headers)+len(payload)+trailer))
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, headers...), payload...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func all(r io.Reader) (out []Frame, err error) {
	s := NewReader(r)
	for {
		f, err := s.Next()
		if err != nil {
			return out, err
		}
		f.Payload = bytes.Clone(f.Payload)
		for i := range f.Headers {
			f.Headers[i].Value = bytes.Clone(f.Headers[i].Value)
		}
		out = append(out, f)
	}
}

// The vectors are those that Amazon publishes with the format.
func TestKnownFrames(t *testing.T) {
	for hexed, want := range map[string]Frame{
		"000000100000000005c248eb7d98c8ff":                           {},
		"0000001d00000000fd528c5a7b27666f6f273a27626172277dc3653936": {Payload: []byte("{'foo':'bar'}")},
		"0000003d0000002007fd83960c636f6e74656e742d747970650700106170706c69636174696f6e2f6a736f6e7b27666f6f273a27626172277d8d9c08b1": {
			Headers: []Header{{"content-type", String, []byte("application/json")}}, Payload: []byte("{'foo':'bar'}")},
		"0000002d0000001041c424b80a6576656e742d74797065040000a00c7b27666f6f273a27626172277d36f480a0": {
			Headers: []Header{{"event-type", Int32, []byte{0, 0, 0xa0, 0x0c}}}, Payload: []byte("{'foo':'bar'}")},
	} {
		raw, err := hex.DecodeString(hexed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := all(bytes.NewReader(raw))
		if !errors.Is(err, io.EOF) || len(got) != 1 || string(got[0].Payload) != string(want.Payload) || cmp.Diff(want.Headers, got[0].Headers) != "" {
			t.Errorf("%s: %+v, %v", hexed, got, err)
		}
	}
}

func TestKinds(t *testing.T) {
	headers := "\x01a\x00" + "\x01b\x01" + "\x01c\x02x" + "\x01d\x03xx" + "\x01e\x04xxxx" + "\x01f\x05xxxxxxxx" +
		"\x01g\x06\x00\x02hi" + "\x01h\x07\x00\x03you" + "\x01i\x08xxxxxxxx" + "\x01j\x09xxxxxxxxxxxxxxxx"
	got, err := all(bytes.NewReader(frame([]byte(headers), []byte("p"))))
	if !errors.Is(err, io.EOF) || len(got) != 1 || len(got[0].Headers) != 10 {
		t.Fatalf("%+v, %v", got, err)
	}
	f := got[0]
	if f.Get("h") != "you" || f.Get("g") != "" || f.Get("z") != "" || string(f.Headers[6].Value) != "hi" || f.Headers[9].Kind != UUID {
		t.Errorf("%+v", f)
	}
}

func TestCutAnywhere(t *testing.T) {
	whole := Append(Append(nil, []byte(strings.Repeat("long ", 15000)), ":event-type", "one"), []byte("{}"), ":event-type", "two", "x", "")
	want, err := all(bytes.NewReader(whole))
	if !errors.Is(err, io.EOF) || len(want) != 2 || want[1].Get(":event-type") != "two" {
		t.Fatalf("%d frames, %v", len(want), err)
	}
	for _, r := range []io.Reader{iotest.HalfReader(bytes.NewReader(whole)), iotest.DataErrReader(bytes.NewReader(whole)), iotest.OneByteReader(bytes.NewReader(whole))} {
		got, err := all(r)
		if !errors.Is(err, io.EOF) || len(got) != 2 || !bytes.Equal(got[0].Payload, want[0].Payload) || cmp.Diff(want[1], got[1]) != "" {
			t.Errorf("%d frames, %v", len(got), err)
		}
	}
	short := Append(nil, []byte("{}"), ":event-type", "two")
	for i := 1; i < len(short); i++ {
		if got, err := all(bytes.NewReader(short[:i])); len(got) > 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %d frames, %v", i, len(got), err)
		}
	}
	boom := errors.New("boom")
	if _, err := all(io.MultiReader(bytes.NewReader(whole[:30]), iotest.ErrReader(boom))); !errors.Is(err, boom) {
		t.Error(err)
	}
}

func TestBadFrames(t *testing.T) {
	good := frame([]byte("\x01h\x07\x00\x03you"), []byte("payload"))
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if got, err := all(bytes.NewReader(bad)); len(got) != 0 || err == nil || errors.Is(err, io.EOF) {
			t.Errorf("byte %d changed: %+v, %v", i, got, err)
		}
	}
	for name, bad := range map[string][]byte{
		"no name":      frame([]byte("\x00\x00"), nil),
		"cut name":     frame([]byte("\x05ab"), nil),
		"cut value":    frame([]byte("\x01a\x05xx"), nil),
		"cut length":   frame([]byte("\x01a\x07\x00"), nil),
		"cut text":     frame([]byte("\x01a\x07\x00\x09x"), nil),
		"unknown kind": frame([]byte("\x01a\x0a"), nil),
	} {
		if got, err := all(bytes.NewReader(bad)); len(got) != 0 || err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, lengths := range [][2]uint32{{Limit + 1, 0}, {15, 0}, {16, 1}, {maxHeader + 100, maxHeader + 1}} {
		b := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, lengths[0]), lengths[1])
		b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
		r := NewReader(io.MultiReader(bytes.NewReader(b), strings.NewReader("abcdefgh")))
		if _, err := r.Next(); err == nil || errors.Is(err, io.EOF) || (lengths[0] > Limit) != errors.Is(err, ErrTooLong) {
			t.Errorf("%v: %v", lengths, err)
		}
		if _, err := r.Next(); err == nil {
			t.Errorf("%v: a frame after an error", lengths)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(frame([]byte("\x01a\x00\x01h\x07\x00\x03you"), []byte("payload")))
	f.Add(Append(nil, []byte("{}"), ":event-type", "x"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		one, err := all(bytes.NewReader(raw))
		two, err2 := all(iotest.OneByteReader(bytes.NewReader(raw)))
		if err.Error() != err2.Error() || cmp.Diff(one, two) != "" {
			t.Errorf("%v, %v", err, err2)
		}
		// The same bytes as headers, in a frame whose sums are right.
		if _, err := all(bytes.NewReader(frame(raw[:min(len(raw), maxHeader)], raw))); err == nil {
			t.Error("no end")
		}
	})
}
