package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/openharness/oh/provider/internal/sse"
)

// ByLine says that the wire streams JSON texts one after another, each on a line
// of its own, and not events. It returns the link.
func (l *Link) ByLine() *Link {
	l.lines = true
	return l
}

// lineReader reads JSON texts that end with a line.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 16<<10)} }

// next returns the next JSON text; one that is written over several lines is one
// text. At the end the error is [io.EOF]; what is left then is Unfinished.
func (l *lineReader) next() (sse.Event, error) {
	l.buf = l.buf[:0]
	for {
		piece, err := l.r.ReadSlice('\n')
		if len(l.buf)+len(piece) > sse.Limit {
			return sse.Event{}, sse.ErrTooLong
		}
		l.buf = append(l.buf, piece...)
		text := bytes.TrimSpace(bytes.TrimPrefix(l.buf, []byte("\xef\xbb\xbf")))
		switch {
		case err == nil && len(text) == 0:
			l.buf = l.buf[:0]
		case err == nil && json.Valid(text):
			return sse.Event{Data: text}, nil
		case errors.Is(err, io.EOF) && len(text) > 0:
			return sse.Event{Data: text, Unfinished: true}, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return sse.Event{}, err
		}
	}
}
