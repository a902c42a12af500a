package file

import (
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/tools/file/pdf"
	"github.com/openharness/oh/workspace"
)

// pdf shows the text of a PDF file, page by page. Pages behind the part that
// is asked for are not read.
func (r reading) pdf(head []byte) (oh.Result, string, error) {
	data, err := r.all(head, wholeLimit, "a PDF file")
	if err != nil {
		return oh.Result{}, "", err
	}
	f, err := pdf.Open(data)
	if err != nil {
		return oh.Result{}, "", fmt.Errorf("read %s: %w", r.p.Path, err)
	}
	v := &view{of: "; the file has " + text.Plural(f.Pages(), "page")}
	blank, page := 0, 0
	for ; page < f.Pages() && len(v.lines) <= r.in.Offset+r.in.Limit; page++ {
		s, err := f.Page(r.ctx, page)
		if err != nil {
			return oh.Result{}, "", fmt.Errorf("read %s: %w", r.p.Path, err)
		}
		v.lines = append(v.lines, fmt.Sprintf("--- page %d", page+1))
		if s == "" {
			blank++
		}
		v.add(text.Clean(s))
	}
	if blank == page {
		v.lines = append(v.lines, fmt.Sprintf("[No text was found on %s: they are pictures, or name no characters. A command such as pdftoppm -png makes images that can be read.]", text.Plural(page, "page")))
	}
	n := min(r.in.Limit, max(0, len(v.lines)-r.in.Offset))
	return oh.Result{
		Content: v.page(r.in.Offset, r.in.Limit),
		Meta:    meta(map[string]any{"path": r.p.Path, "pages": f.Pages(), "lines": n, "first_line": r.in.Offset + 1}),
		Display: oh.Count{N: n, Unit: "line", In: r.p.Path},
	}, workspace.Hash(data), nil
}

// isPDF reports whether a file begins as PDF files do.
func isPDF(head []byte) bool {
	return strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(string(head[:min(len(head), 64)]), "\ufeff"), " \t\r\n"), "%PDF-")
}
