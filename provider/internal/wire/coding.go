package wire

import (
	"compress/gzip"
	"fmt"
	"io"
	"strings"

	"github.com/openharness/oh"
)

// decode undoes the coding of an answer. None is asked for, since a compressed
// stream comes late; some gateways compress all the same.
func (s *Stream) decode() error {
	switch coding := strings.ToLower(strings.TrimSpace(s.resp.Header.Get("Content-Encoding"))); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		s.resp.Body = &gzipBody{raw: s.resp.Body}
	default:
		return s.link.Fail(oh.KindInvalid, fmt.Errorf("the service answers in the coding %q, which was not asked for", coding))
	}
	return nil
}

// gzipBody decodes as it is read.
type gzipBody struct {
	raw io.ReadCloser
	z   *gzip.Reader
}

// Read implements [io.Reader].
func (b *gzipBody) Read(p []byte) (int, error) {
	if b.z == nil {
		z, err := gzip.NewReader(b.raw)
		if err != nil {
			return 0, err
		}
		b.z = z
	}
	return b.z.Read(p)
}

// Close implements [io.Closer].
func (b *gzipBody) Close() error { return b.raw.Close() }
