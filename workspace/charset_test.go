package workspace

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		data  string
		whole bool
		want  Charset
	}{
		{"", true, UTF8},
		{"plain\r\n", true, UTF8},
		{"gr\u00fc\u00df", true, UTF8},
		{"gr\xfc\xdf dich", true, CP1252},
		{"ok \u00fc and a stray \x99", true, UTF8},
		{"cut \xe2\x82", false, UTF8},
		{"cut \xe2\x82", true, CP1252},
		{"\xef\xbb\xbfx", true, UTF8BOM},
		{"\xff\xfex\x00", true, UTF16LE},
		{"\xfe\xff\x00x", true, UTF16BE},
		{"\xff\xfe\x00\x00x\x00\x00\x00", true, Binary},
		{"a\x00b", true, Binary},
		{"\x01\x02\x03\x04", true, Binary},
		{"\x1b[31mred\x1b[0m", true, UTF8},
	} {
		if got := Sniff([]byte(c.data), c.whole); got != c.want {
			t.Errorf("Sniff(%q) = %v, want %v", c.data, got, c.want)
		}
	}
}

func TestOneByteRoundTrip(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	text, guessed := DecodeLine(all)
	back, ok := CP1252.Encode(text)
	if !guessed || !ok || !bytes.Equal(back, all) {
		t.Errorf("guessed %v, ok %v, back %q", guessed, ok, back)
	}
	if !strings.Contains(text, "€") || !strings.Contains(text, "™") {
		t.Errorf("no euro or trade mark in %q", text)
	}
	if _, ok := CP1252.Encode("漢"); ok {
		t.Error("a character that is not in the charset was encoded")
	}
}

func FuzzUTF16(f *testing.F) {
	f.Add("a\U0001F600\r\nb", true)
	f.Add("", false)
	f.Fuzz(func(t *testing.T, s string, big bool) {
		set := UTF16LE
		if big {
			set = UTF16BE
		}
		s = strings.TrimPrefix(strings.ToValidUTF8(s, "?"), "\ufeff")
		enc, ok := set.Encode(s)
		if !ok {
			t.Fatal("valid text was not encoded")
		}
		data := append(bytes.Clone(set.Mark()), enc...)
		if got, ok := DecodeUTF16(data, set); !ok || got != s {
			t.Errorf("%q came back as %q, %v", s, got, ok)
		}
		got, err := io.ReadAll(NewReader(iotest.OneByteReader(bytes.NewReader(data)), set))
		if err != nil || string(got) != s {
			t.Errorf("%q read in pieces is %q, %v", s, got, err)
		}
	})
}

func FuzzUTF16Bytes(f *testing.F) {
	f.Add([]byte("\xff\xfe\x00\xd8a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := DecodeUTF16(append([]byte("\xff\xfe"), data...), UTF16LE)
		if back, _ := UTF16LE.Encode(got); ok && !bytes.Equal(back, data) {
			t.Errorf("%x was said to survive, but came back as %x", data, back)
		}
	})
}
