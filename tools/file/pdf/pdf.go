// Package pdf takes the text out of PDF files: what a person would read, page
// by page, in the order the file draws it.
//
// It is not a renderer: pictures, forms and layout are left out, and a scanned
// page has no text. It opens no file and starts no goroutine.
//
// Broken and hostile input gives an error or less text, never a panic, and its
// cost in memory and time is bounded by the constants below. Encrypted files
// are refused.
package pdf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

const (
	maxDecoded = 256 << 20 // bytes of the decoded streams of a page
	maxStream  = 64 << 20  // bytes of one
	maxPages   = 20_000
	maxText    = 8 << 20 // bytes of text of one page
)

// ErrEncrypted says that a file is protected by a password.
var ErrEncrypted = errors.New("the PDF is encrypted; make a copy without protection, such as by qpdf --decrypt")

// File is a PDF file in memory. It is not safe for concurrent use.
type File struct {
	objects map[ref]value
	trailer dict
	pages   []page
	fonts   map[ref]*font
	decoded int // bytes, for the page at hand
}

type page struct {
	dict      dict
	resources dict // its own or inherited
}

// Open reads the structure of a file. data is not changed and must not be.
func Open(data []byte) (*File, error) {
	if !bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) {
		return nil, errors.New("it does not begin like a PDF file")
	}
	f := &File{objects: map[ref]value{}, trailer: dict{}, fonts: map[ref]*font{}}
	f.load(data)
	if f.trailer["Encrypt"] != nil {
		return nil, ErrEncrypted
	}
	root, _ := f.get(f.trailer["Root"]).(dict)
	if root == nil {
		root = f.catalog()
	}
	if root == nil {
		return nil, errors.New("the PDF is broken: it has no catalog of pages")
	}
	f.walk(root["Pages"], nil, map[ref]bool{}, 0)
	if len(f.pages) == 0 {
		return nil, errors.New("the PDF is broken or empty: no page was found")
	}
	return f, nil
}

// Pages is how many pages the file has.
func (f *File) Pages() int { return len(f.pages) }

// Page returns the text of a page, counted from 0, with a line feed after each
// line; "" when it has none. The error is that of ctx.
func (f *File) Page(ctx context.Context, i int) (string, error) {
	if i < 0 || i >= len(f.pages) {
		return "", fmt.Errorf("there is no page %d: the file has %d", i+1, len(f.pages))
	}
	p := f.pages[i]
	f.decoded = 0
	w := &writer{}
	r := runner{ctx: ctx, file: f, out: w}
	err := r.run(f.content(p.dict["Contents"]), p.resources, unit, 0)
	return w.text(), err
}

// Text returns the text of all pages, each after a line that numbers it, up to
// limit bytes; what was left out is said at the end.
func (f *File) Text(ctx context.Context, limit int) (string, error) {
	var b strings.Builder
	for i := range f.pages {
		if b.Len() >= limit {
			fmt.Fprintf(&b, "\n[%d more pages left out.]\n", len(f.pages)-i)
			break
		}
		s, err := f.Page(ctx, i)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "--- page %d of %d\n%s", i+1, len(f.pages), s)
	}
	return b.String(), nil
}

// walk collects the pages below a node of the page tree.
func (f *File) walk(v value, resources dict, seen map[ref]bool, depth int) {
	if r, ok := v.(ref); ok {
		if seen[r] {
			return
		}
		seen[r] = true
	}
	d, _ := f.get(v).(dict)
	if d == nil || depth > maxDepth || len(f.pages) >= maxPages {
		return
	}
	if own, ok := f.get(d["Resources"]).(dict); ok {
		resources = own
	}
	kids, ok := f.get(d["Kids"]).(array)
	if !ok {
		f.pages = append(f.pages, page{d, resources})
		return
	}
	for _, k := range kids {
		f.walk(k, resources, seen, depth+1)
	}
}

// catalog looks for the catalog among all objects.
func (f *File) catalog() dict {
	for _, v := range f.objects {
		if d, ok := v.(dict); ok && d["Type"] == name("Catalog") {
			return d
		}
	}
	return nil
}

// get follows references.
func (f *File) get(v value) value {
	for range maxDepth {
		r, ok := v.(ref)
		if !ok {
			return v
		}
		v = f.objects[r]
	}
	return nil
}

func (f *File) number(v value) (float64, bool) {
	n, ok := f.get(v).(float64)
	return n, ok
}

// content returns the drawing commands of a page: one stream or several.
func (f *File) content(v value) []byte {
	switch v := f.get(v).(type) {
	case *stream:
		return f.decode(v)
	case array:
		var out []byte
		for _, part := range v {
			if s, ok := f.get(part).(*stream); ok && len(out) < maxStream {
				out = append(append(out, f.decode(s)...), '\n')
			}
		}
		return out
	}
	return nil
}
