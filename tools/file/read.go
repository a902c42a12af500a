package file

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type readInput struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" oh:"min=0,default=0"`
	Limit  int    `json:"limit,omitempty" oh:"min=1,max=2000,default=2000"`
}

// wholeLimit is up to which size, in bytes, a file is read to its end, to
// count its lines and fingerprint its content.
const wholeLimit = 64 << 20

const headSize = 64 << 10

func (s set) read(_ context.Context, call *oh.Call, in readInput) (oh.Action, error) {
	p, err := s.ws.Locate(call.Env.Dir, in.Path)
	if err != nil {
		return oh.Action{}, err
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: p.Path}}},
		Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			f, info, err := s.ws.Open(p)
			if err != nil {
				return oh.Result{}, s.explain(p, err)
			}
			defer f.Close()
			r := reading{ctx: ctx, p: p, f: f, info: info, in: in}
			res, hash, err := r.run()
			if err != nil {
				return oh.Result{}, err
			}
			emit(seen(p, hash))
			return res, nil
		},
	}, nil
}

// reading is one call of read_file.
type reading struct {
	ctx  context.Context
	p    workspace.Place
	f    *os.File
	info fs.FileInfo
	in   readInput
	note string // for the result
}

// run returns the result and the fingerprint of the content.
func (r reading) run() (oh.Result, string, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(r.f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return oh.Result{}, "", fmt.Errorf("read %s: %w", r.p.Path, err)
	}
	whole := err != nil
	head = head[:n]
	if imageType(head) != "" {
		return r.image(head)
	}
	if isPDF(head) {
		return r.pdf(head)
	}
	set := workspace.Sniff(head, whole)
	if set == workspace.Binary {
		return oh.Result{}, "", r.binary(head)
	}
	if strings.EqualFold(filepath.Ext(r.p.Path), ".ipynb") && (set == workspace.UTF8 || set == workspace.UTF8BOM) && r.info.Size() <= wholeLimit {
		return r.notebook(head, set)
	}
	return r.text(head, whole, set)
}

func (r reading) text(head []byte, whole bool, set workspace.Charset) (oh.Result, string, error) {
	sum := sha256.New()
	src := io.Reader(bytes.NewReader(head))
	if r.f != nil {
		src = io.MultiReader(src, r.f)
	}
	all := whole || r.info.Size() <= wholeLimit
	if all {
		src = io.TeeReader(src, sum)
	}
	pg := page{offset: r.in.Offset, limit: r.in.Limit, all: all}
	if err := pg.read(r.ctx, workspace.NewReader(src, set)); err != nil {
		if err == errNUL {
			return oh.Result{}, "", r.binary(head)
		}
		return oh.Result{}, "", fmt.Errorf("read %s: %w", r.p.Path, err)
	}
	hash := workspace.StatHash(r.info)
	if all {
		hash = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	if r.note != "" {
		pg.note(r.note)
	}
	if set == workspace.UTF16LE || set == workspace.UTF16BE {
		pg.note("The file is " + set.String() + ".")
	}
	res := oh.TextResult(pg.text(r.info.Size()))
	res.Meta = meta(map[string]any{"path": r.p.Path, "charset": set.String(), "lines": pg.shown, "first_line": r.in.Offset + 1, "crlf": pg.crlf})
	res.Display = oh.Count{N: pg.shown, Unit: "line", In: r.p.Path}
	return res, hash, nil
}

func (r reading) image(head []byte) (oh.Result, string, error) {
	data, err := r.all(head, maxSourceBytes, "an image")
	if err != nil {
		return oh.Result{}, "", err
	}
	fit, err := fitImage(oh.Image{Data: data})
	if err != nil {
		return oh.Result{}, "", fmt.Errorf("%s is %w", r.p.Path, err)
	}
	res := oh.Result{
		Content: oh.Blocks{fit.image},
		Meta:    meta(map[string]any{"path": r.p.Path, "media_type": fit.image.MediaType, "width": fit.w, "height": fit.h, "bytes": len(fit.image.Data)}),
		Display: oh.Count{N: len(data), Unit: "byte", In: r.p.Path},
	}
	if fit.note != "" {
		res.Content = append(res.Content, oh.Text{Text: "[" + fit.note + "]"})
	}
	return res, workspace.Hash(data), nil
}

// all reads the file to its end.
func (r reading) all(head []byte, limit int, what string) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.f, int64(limit-len(head)+1)))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.p.Path, err)
	}
	if data = append(head, data...); len(data) > limit {
		return nil, fmt.Errorf("%s is %s of %s bytes; at most %s can be read: make a smaller copy and read that",
			r.p.Path, what, text.Number(int(max(r.info.Size(), int64(len(data))))), text.Number(limit))
	}
	return data, nil
}

// notebook shows a Jupyter notebook. What is none after all is shown as text,
// with the reason.
func (r reading) notebook(head []byte, set workspace.Charset) (oh.Result, string, error) {
	data, err := r.all(head, wholeLimit, "a notebook")
	if err != nil {
		return oh.Result{}, "", err
	}
	v, err := renderNotebook(data[len(set.Mark()):])
	if err != nil {
		r.note = "Shown as text: " + err.Error() + "."
		r.f = nil
		return r.text(data, true, set)
	}
	n := min(r.in.Limit, max(0, len(v.lines)-r.in.Offset))
	return oh.Result{
		Content: v.page(r.in.Offset, r.in.Limit),
		Meta:    meta(map[string]any{"path": r.p.Path, "lines": n, "first_line": r.in.Offset + 1, "shortened_outputs": v.cut}),
		Display: oh.Count{N: n, Unit: "line", In: r.p.Path},
	}, workspace.Hash(data), nil
}

// binary refuses a file that is no text, naming what it seems to be.
func (r reading) binary(head []byte) error {
	kind := "binary"
	for _, m := range []struct{ magic, kind string }{
		{"PK\x03\x04", "ZIP (or a format built on it)"}, {"\x1f\x8b", "gzip"}, {"\x7fELF", "ELF program"},
		{"SQLite format 3\x00", "SQLite database"}, {"MZ", "Windows program"}, {"\xcf\xfa\xed\xfe", "Mach-O program"},
		{"BZh", "bzip2"}, {"\xfd7zXZ", "xz"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BM", "BMP image"}, {"II*\x00", "TIFF image"}, {"MM\x00*", "TIFF image"},
		{"OggS", "Ogg media"}, {"\x00asm", "WebAssembly"},
	} {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			kind = m.kind
			break
		}
	}
	return fmt.Errorf("%s is not text: %s file of %s bytes", r.p.Path, kind, text.Number(int(r.info.Size())))
}
