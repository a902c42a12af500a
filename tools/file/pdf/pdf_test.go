package pdf

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/ascii85"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// doc makes a file of objects, numbered from 1; the first is the catalog.
func doc(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n%\xe2\xe3\n")
	for i, o := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	b.WriteString("trailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n")
	return b.Bytes()
}

func streamOf(dict, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", dict, len(data), data)
}

func flate(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	w.Close()
	return b.String()
}

// onePage is a file of one page with a font F and these commands.
func onePage(font, commands string, more ...string) []byte {
	return doc(append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >> >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>",
		streamOf("/Filter /FlateDecode", flate(commands)),
		font,
	}, more...)...)
}

const plainFont = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"

func first(t *testing.T, data []byte) string {
	t.Helper()
	f, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Page(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPage(t *testing.T) {
	widths := "<< /Subtype /Type1 /FirstChar 32 /Widths [" + strings.Repeat("500 ", 100) + "] /Encoding << /BaseEncoding /WinAnsiEncoding /Differences [65 /eacute /f_i /uni20AC 68 /ffl] >> >>"
	cmap := streamOf("", "1 beginbfchar <0001> <0048> endbfchar 2 beginbfrange <0002> <0004> <0061> <0010> <0011> [<d83dde00> <00660066>] endbfrange")
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"lines", onePage(plainFont, "BT /F 10 Tf 50 700 Td (Hello) Tj 0 -12 Td (World \\(1\\)) Tj ET"), "Hello\nWorld (1)\n"},
		{"paragraphs", onePage(plainFont, "BT /F 10 Tf 50 700 Td (a) Tj 0 -30 Td (b) Tj ET"), "a\n\nb\n"},
		{"gaps by kerning", onePage(widths, "BT /F 10 Tf [(x) -20 (y) -400 (z)] TJ ET"), "xy z\n"},
		{"gaps by place", onePage(widths, "BT /F 10 Tf 1 0 0 1 0 0 Tm (x) Tj 1 0 0 1 5 0 Tm (y) Tj 1 0 0 1 40 0 Tm (z) Tj ET"), "xy z\n"},
		{"names of glyphs", onePage(widths, "BT /F 10 Tf (ABCD) Tj ET"), "éfi€ffl\n"},
		{"one-byte encoding", onePage(plainFont, "BT /F 10 Tf (\\223caf\\351\\224 \\200) Tj ET"), "“café” €\n"},
		{"leading and quotes", onePage(plainFont, "BT /F 10 Tf 12 TL (a) Tj (b) ' 0 0 (c) \" T* (d) Tj ET"), "a\nb\nc\nd\n"},
		{"two-byte codes", onePage("<< /Subtype /Type0 /ToUnicode 6 0 R /DescendantFonts [<< /DW 1000 /W [1 [600 500]] >>] >>",
			"BT /F 10 Tf <0001000200030010> Tj <0011> Tj ET", cmap), "Hab😀ff\n"},
		{"a drawing in a drawing", onePage(plainFont, "q 1 0 0 1 0 100 cm /X Do Q BT /F 10 Tf (after) Tj ET",
			streamOf("/Subtype /Form /Resources << /Font << /F 5 0 R >> >>", "BT /F 10 Tf (inside) Tj ET")), "inside\n\nafter\n"},
		{"a drawing in itself", onePage(plainFont, "/X Do", streamOf("/Subtype /Form", "BT /F 10 Tf 0 0 Td (x) Tj ET /X Do /X Do")), strings.Repeat("x", 255) + "\n"},
		{"a picture among it", onePage(plainFont, "BT /F 10 Tf (a) Tj ET BI /W 1 ID \x00(\xff EI BT /F 10 Tf 60 0 Td (b) Tj ET"), "a b\n"},
		{"no text", onePage(plainFont, "0 0 10 10 re f"), ""},
		{"upright text", onePage(widths, "BT /F 10 Tf 0 1 -1 0 0 0 Tm (ab) Tj 0 1 -1 0 12 0 Tm (cd) Tj ET"), "ab\ncd\n"},
	} {
		got := first(t, c.data)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestFilters(t *testing.T) {
	text := "BT /F 10 Tf (filtered) Tj ET"
	var a85 bytes.Buffer
	w := ascii85.NewEncoder(&a85)
	_, _ = w.Write([]byte(flate(text)))
	w.Close()
	var rows strings.Builder // PNG rows of 4 bytes, each as the difference to the one above
	prev := [4]byte{}
	padded := text + strings.Repeat(" ", 4-len(text)%4)
	for i := 0; i < len(padded); i += 4 {
		rows.WriteByte(2)
		for k := range prev {
			rows.WriteByte(padded[i+k] - prev[k])
			prev[k] = padded[i+k]
		}
	}
	for name, s := range map[string]string{
		"none":       streamOf("", text),
		"ascii85":    streamOf("/Filter [/ASCII85Decode /FlateDecode]", a85.String()+"~>"),
		"hex":        streamOf("/Filter /ASCIIHexDecode", fmt.Sprintf("%x>", text)),
		"run length": streamOf("/Filter /RunLengthDecode", string(rune(len(text)-1))+text+"\x80"),
		"predictor":  streamOf("/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 4 >>", flate(rows.String())),
		"cut off":    streamOf("/Filter /FlateDecode", flate(text)[:len(flate(text))-3]),
		"bad length": strings.Replace(streamOf("/Filter /FlateDecode", flate(text)), "/Length ", "/Length 9", 1),
	} {
		data := doc("<< /Type /Catalog /Pages 2 0 R >>", "<< /Kids [3 0 R] >>",
			"<< /Contents [4 0 R] /Resources << /Font << /F 5 0 R >> >> >>", s, plainFont)
		if got := first(t, data); got != "filtered\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestObjectStream(t *testing.T) {
	inner := "1 0 2 33 3 55 << /Type /Catalog /Pages 2 0 R >>\n << /Kids [3 0 R] >> \n<< /Contents 8 0 R /Resources << /Font << /F << >> >> >> >>"
	head := strings.Index(inner, "<<")
	data := "%PDF-1.5\n" +
		"7 0 obj\n" + streamOf(fmt.Sprintf("/Type /ObjStm /N 3 /First %d /Filter /FlateDecode", head), flate(inner)) + "\nendobj\n" +
		"8 0 obj\n" + streamOf("", "BT /F 10 Tf (packed) Tj ET") + "\nendobj\n" +
		"9 0 obj\n" + streamOf("/Type /XRef /Root 1 0 R", "") + "\nendobj\n"
	if got := first(t, []byte(data)); got != "packed\n" {
		t.Errorf("%q", got)
	}
	newer := data + "8 0 obj\n" + streamOf("", "BT /F 10 Tf (newer) Tj ET") + "\nendobj\n"
	if got := first(t, []byte(newer)); got != "newer\n" {
		t.Errorf("after an update: %q", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	locked := bytes.Replace(onePage(plainFont, ""), []byte("/Root 1 0 R"), []byte("/Root 1 0 R /Encrypt 9 0 R"), 1)
	if _, err := Open(locked); !errors.Is(err, ErrEncrypted) {
		t.Errorf("encrypted: %v", err)
	}
	for name, data := range map[string]string{
		"text": "hello", "nothing": "", "only a head": "%PDF-1.4\n", "no pages": string(doc("<< /Type /Catalog >>")),
		"a loop": string(doc("<< /Pages 2 0 R >>", "<< /Kids [2 0 R] >>")), "deep": "%PDF-1.4\n1 0 obj\n" + strings.Repeat("[", 1<<20),
	} {
		if f, err := Open([]byte(data)); err == nil {
			t.Errorf("%s: opened with %d pages", name, f.Pages())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := Open(onePage(plainFont, "BT"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Page(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := f.Page(t.Context(), 1); err == nil {
		t.Error("a page that is not there was read")
	}
}

func TestText(t *testing.T) {
	page := "<< /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
	data := doc("<< /Pages 2 0 R >>", "<< /Kids [3 0 R 3 0 R "+page+" "+page+"] >>", page, streamOf("", "BT /F 9 Tf (p) Tj ET"), plainFont)
	f, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Text(t.Context(), 20)
	want := "--- page 1 of 3\np\n--- page 2 of 3\np\n\n[1 more pages left out.]\n"
	if err != nil || got != want {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(onePage(plainFont, "BT /F 10 Tf 50 700 Td [(a) -300 <62>] TJ ET"))
	f.Add(doc("<< /Pages 2 0 R >>", "<< /Kids [3 0 R] >>", "<< /Contents 4 0 R /Resources << /Font << /F << /Subtype /Type0 /ToUnicode 5 0 R >> >> >> >>",
		streamOf("", "BT /F 1 Tf <0001> Tj"), streamOf("", "1 beginbfrange <00> <ff> <0041> endbfrange")))
	f.Add([]byte("%PDF-\n7 0 obj<</Type/ObjStm/N 2/First 8>>stream\n1 0 2 9 <</Kids[2 0 R]>> 5\nendstream trailer<</Root 1 0 R>>"))
	f.Add([]byte("%PDF-1 0obj<<(\\"))
	f.Add([]byte("%PDF-1 0 obj<</Length 1 0 R/Filter/LZWDecode/DecodeParms<</Predictor 15/Columns 65536>>>>stream"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Open(data)
		if err != nil {
			return
		}
		if _, err := file.Text(t.Context(), 1<<20); err != nil {
			t.Fatal(err)
		}
	})
}
