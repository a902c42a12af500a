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
	if kind := imageType(head); kind != "" {
		return r.image(kind, head)
	}
	set := workspace.Sniff(head, whole)
	if set == workspace.Binary {
		return oh.Result{}, "", r.binary(head)
	}
	return r.text(head, whole, set)
}

func (r reading) text(head []byte, whole bool, set workspace.Charset) (oh.Result, string, error) {
	sum := sha256.New()
	src := io.MultiReader(bytes.NewReader(head), r.f)
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
	if set == workspace.UTF16LE || set == workspace.UTF16BE {
		pg.note("The file is " + set.String() + ".")
	}
	res := oh.TextResult(pg.text(r.info.Size()))
	res.Meta = meta(map[string]any{"path": r.p.Path, "charset": set.String(), "lines": pg.shown, "first_line": r.in.Offset + 1, "crlf": pg.crlf})
	res.Display = oh.Count{N: pg.shown, Unit: "line", In: r.p.Path}
	return res, hash, nil
}

func (r reading) image(kind string, head []byte) (oh.Result, string, error) {
	size := r.info.Size()
	if size > maxImageBytes {
		return oh.Result{}, "", fmt.Errorf("%s is an image of %s bytes; at most %s can be shown: make a smaller copy and read that",
			r.p.Path, text.Number(int(size)), text.Number(maxImageBytes))
	}
	rest, err := io.ReadAll(io.LimitReader(r.f, maxImageBytes))
	if err != nil {
		return oh.Result{}, "", fmt.Errorf("read %s: %w", r.p.Path, err)
	}
	data := append(head, rest...)
	w, h := imageSize(kind, data)
	if w == 0 || h == 0 {
		return oh.Result{}, "", fmt.Errorf("%s begins like an %s file, but its width and height are not in it: it is broken or not complete (%s bytes)",
			r.p.Path, kind, text.Number(len(data)))
	}
	if w > maxImageSide || h > maxImageSide {
		return oh.Result{}, "", fmt.Errorf("%s is an image of %d x %d pixels; at most %d a side can be shown: make a smaller copy and read that",
			r.p.Path, w, h, maxImageSide)
	}
	return oh.Result{
		Content: oh.Blocks{oh.Image{MediaType: kind, Data: data}},
		Meta:    meta(map[string]any{"path": r.p.Path, "media_type": kind, "width": w, "height": h, "bytes": len(data)}),
		Display: oh.Count{N: len(data), Unit: "byte", In: r.p.Path},
	}, workspace.Hash(data), nil
}

// binary refuses a file that is no text, naming what it seems to be.
func (r reading) binary(head []byte) error {
	kind := "binary"
	for _, m := range []struct{ magic, kind string }{
		{"%PDF-", "PDF"}, {"PK\x03\x04", "ZIP (or a format built on it)"}, {"\x1f\x8b", "gzip"}, {"\x7fELF", "ELF program"},
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
