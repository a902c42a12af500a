// Package eventstream reads the frames of application/vnd.amazon.eventstream
// from a stream of bytes, however it is cut. A frame is a length, headers, a
// payload and two check sums; what does not add up is an error, and no frame is
// given before its sums were checked. It knows nothing of HTTP or of what the
// frames mean.
package eventstream

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

const (
	// Limit is the size in bytes of the longest frame.
	Limit = 24 << 20

	prelude   = 12 // two lengths and their sum
	trailer   = 4  // the sum of the whole frame
	maxHeader = 128 << 10
	ahead     = 16 << 10
	step      = 64 << 10 // bytes that are made room for before they came
)

// ErrBroken says that what came is no frame, or not as it was sent.
var ErrBroken = errors.New("the stream is broken")

// ErrTooLong says that a frame is longer than [Limit].
var ErrTooLong = errors.New("a frame of the stream is longer than 24 MB")

// Kind is the type of a header's value.
type Kind byte

// The kinds, with the size of their values.
const (
	True      Kind = iota // nothing
	False                 // nothing
	Byte                  // 1 byte
	Int16                 // 2 bytes, the highest first, like all numbers
	Int32                 // 4 bytes
	Int64                 // 8 bytes
	Bytes                 // any
	String                // any, UTF-8
	Timestamp             // 8 bytes: milliseconds since 1970
	UUID                  // 16 bytes
)

// Header is one header of a frame. Value holds the bytes as they came, without
// the length of Bytes and String.
type Header struct {
	Name  string
	Kind  Kind
	Value []byte
}

// Frame is one message. Its bytes are valid until the next call of Next.
type Frame struct {
	Headers []Header
	Payload []byte
}

// Get returns the value of a header of text, "" when there is none.
func (f *Frame) Get(name string) string {
	for _, h := range f.Headers {
		if h.Name == name && h.Kind == String {
			return string(h.Value)
		}
	}
	return ""
}

// Reader reads frames.
type Reader struct {
	r   io.Reader
	buf []byte
	err error
}

// NewReader returns a reader of the frames in r. It reads ahead: most frames are
// short, and many come at once.
func NewReader(r io.Reader) *Reader { return &Reader{r: bufio.NewReaderSize(r, ahead)} }

// Next returns the next frame. At the end between two frames the error is
// [io.EOF], inside one [io.ErrUnexpectedEOF]; bad bytes are [ErrBroken] or
// [ErrTooLong]; an error of the underlying reader is returned as it is. After an
// error there is nothing more.
func (r *Reader) Next() (Frame, error) {
	if r.err != nil {
		return Frame{}, r.err
	}
	f, err := r.next()
	r.err = err
	return f, err
}

func (r *Reader) next() (Frame, error) {
	r.buf = r.buf[:0]
	if err := r.fill(prelude); err != nil {
		return Frame{}, err
	}
	total, headers := binary.BigEndian.Uint32(r.buf), binary.BigEndian.Uint32(r.buf[4:])
	switch {
	case crc32.ChecksumIEEE(r.buf[:8]) != binary.BigEndian.Uint32(r.buf[8:]):
		return Frame{}, fmt.Errorf("%w: a frame begins with a wrong check sum", ErrBroken)
	case total > Limit:
		return Frame{}, ErrTooLong
	case total < prelude+trailer || headers > maxHeader || headers > total-prelude-trailer:
		return Frame{}, fmt.Errorf("%w: a frame of %d bytes with %d bytes of headers", ErrBroken, total, headers)
	}
	if err := r.fill(int(total)); err != nil {
		return Frame{}, err
	}
	sum := len(r.buf) - trailer
	if crc32.ChecksumIEEE(r.buf[:sum]) != binary.BigEndian.Uint32(r.buf[sum:]) {
		return Frame{}, fmt.Errorf("%w: the check sum of a frame is wrong", ErrBroken)
	}
	end := prelude + int(headers)
	list, err := readHeaders(r.buf[prelude:end])
	return Frame{Headers: list, Payload: r.buf[end:sum]}, err
}

// fill reads until the frame has n bytes. Room is made as they come: what a
// length announces is not believed.
func (r *Reader) fill(n int) error {
	for len(r.buf) < n {
		have := len(r.buf)
		r.buf = slices.Grow(r.buf, min(n-have, step))
		k, err := io.ReadFull(r.r, r.buf[have:have+min(n-have, step)])
		r.buf = r.buf[:have+k]
		if errors.Is(err, io.EOF) && len(r.buf) > 0 {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readHeaders reads a block of headers, which must end with the last of them.
func readHeaders(b []byte) ([]Header, error) {
	var out []Header
	for len(b) > 0 {
		n := 1 + int(b[0])
		if n == 1 || len(b) < n+1 {
			return nil, fmt.Errorf("%w: a header has no name or is cut", ErrBroken)
		}
		h := Header{Name: string(b[1:n]), Kind: Kind(b[n])}
		b = b[n+1:]
		size, skip, err := h.Kind.size(b)
		if err != nil {
			return nil, fmt.Errorf("%w: the header %.40q: %w", ErrBroken, h.Name, err)
		}
		h.Value, b = b[skip:skip+size:skip+size], b[skip+size:]
		out = append(out, h)
	}
	return out, nil
}

// size returns how long the value at the start of b is, and how many bytes
// before it hold its length.
func (k Kind) size(b []byte) (size, skip int, err error) {
	switch k {
	case True, False:
	case Byte:
		size = 1
	case Int16:
		size = 2
	case Int32:
		size = 4
	case Int64, Timestamp:
		size = 8
	case UUID:
		size = 16
	case Bytes, String:
		if skip = 2; len(b) >= skip {
			size = int(binary.BigEndian.Uint16(b))
		}
	default:
		return 0, 0, fmt.Errorf("its value is of an unknown kind %d", k)
	}
	if len(b) < skip+size {
		return 0, 0, errors.New("its value is cut")
	}
	return size, skip, nil
}

// Append appends a frame with headers of text, in pairs of name and value. It
// is for those who play a service. Names have at most 255 bytes, values 64 kB.
func Append(dst, payload []byte, headers ...string) []byte {
	var block []byte
	for i := 0; i+1 < len(headers); i += 2 {
		block = append(block, byte(len(headers[i])))
		block = append(block, headers[i]...)
		block = append(block, byte(String))
		block = binary.BigEndian.AppendUint16(block, uint16(len(headers[i+1])))
		block = append(block, headers[i+1]...)
	}
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, uint32(prelude+len(block)+len(payload)+trailer))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(block)))
	dst = binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
	dst = append(append(dst, block...), payload...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[start:]))
}
