package body

import (
	"io"
	"slices"
)

// Body is a request body made of pieces. The pieces are not copied and are not
// to be changed afterwards.
type Body struct {
	pieces [][]byte
	short  []byte // where strings were copied to, one after another
	size   int64
	items  bool // the list has an element
}

// Grow makes room for n more pieces.
func (b *Body) Grow(n int) { b.pieces = slices.Grow(b.pieces, n) }

// Add appends a piece.
func (b *Body) Add(piece []byte) {
	if len(piece) > 0 {
		b.pieces = append(b.pieces, piece)
		b.size += int64(len(piece))
	}
}

// AddString appends a piece of constant text.
func (b *Body) AddString(s string) {
	start := len(b.short)
	b.short = append(b.short, s...)
	end := len(b.short)
	b.Add(b.short[start:end:end])
}

// AddItem appends an element of the body's one list, after a comma unless it
// is the first.
func (b *Body) AddItem(raw []byte) {
	if b.items {
		b.AddString(",")
	}
	b.items = true
	b.Add(raw)
}

// Size is the length in bytes.
func (b *Body) Size() int64 { return b.size }

// Bytes returns the whole body as a copy.
func (b *Body) Bytes() []byte {
	out := make([]byte, 0, b.size)
	for _, p := range b.pieces {
		out = append(out, p...)
	}
	return out
}

// Reader returns a new reader of the whole body, independent of others.
func (b *Body) Reader() io.Reader { return &reader{pieces: b.pieces} }

type reader struct {
	pieces [][]byte
	off    int // in the first piece
}

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) && len(r.pieces) > 0 {
		k := copy(p[n:], r.pieces[0][r.off:])
		n += k
		if r.off += k; r.off == len(r.pieces[0]) {
			r.pieces, r.off = r.pieces[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
