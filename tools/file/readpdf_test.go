package file

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testPDF is a file of pages, each with these lines.
func testPDF(pages ...[]string) string {
	var kids, rest strings.Builder
	for i, lines := range pages {
		var c strings.Builder
		c.WriteString("BT /F 10 Tf 12 TL ")
		for _, l := range lines {
			fmt.Fprintf(&c, "(%s) Tj T* ", l)
		}
		c.WriteString("ET")
		fmt.Fprintf(&kids, "%d 0 R ", 10+2*i)
		fmt.Fprintf(&rest, "%d 0 obj << /Contents %d 0 R >> endobj\n%d 0 obj << /Length %d >>\nstream\n%s\nendstream endobj\n", 10+2*i, 11+2*i, 11+2*i, c.Len(), c.String())
	}
	return "%PDF-1.4\n1 0 obj << /Pages 2 0 R >> endobj\n2 0 obj << /Kids [" + kids.String() + "] /Resources << /Font << /F << /Subtype /Type1 >> >> >> >> endobj\n" +
		rest.String() + "trailer << /Root 1 0 R >>\n"
}

func TestReadPDF(t *testing.T) {
	b := newBench(t)
	b.put("f.pdf", testPDF([]string{"one", "two"}, []string{"three"}))
	if diff := cmp.Diff("--- page 1\none\ntwo\n--- page 2\nthree", b.ok("read_file", "path", "f.pdf")); diff != "" {
		t.Error(diff)
	}
	want := "two\n--- page 2\n[Lines 3-4; the file has 2 pages. Go on with offset=4.]"
	if diff := cmp.Diff(want, b.ok("read_file", "path", "f.pdf", "offset", 2, "limit", 2)); diff != "" {
		t.Error(diff)
	}
	b.put("scan.pdf", testPDF(nil, nil))
	has(t, b.ok("read_file", "path", "scan.pdf"), "No text was found on 2 pages")
	b.put("locked.pdf", strings.Replace(testPDF(nil), "/Root", "/Encrypt 5 0 R /Root", 1))
	has(t, b.fails("read_file", "path", "locked.pdf"), b.path("locked.pdf"), "encrypted", "qpdf")
	b.put("broken.pdf", "%PDF-1.4\n\x00\x01")
	has(t, b.fails("read_file", "path", "broken.pdf"), "broken")
}
