package image

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

// kindOf tells the media type of an image by its first bytes; "" for anything
// that services do not take.
func kindOf(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// readImage returns an image file of at most limit bytes with its media type.
func (t tools) readImage(p workspace.Place, limit int64) (data []byte, kind string, err error) {
	data, _, err = t.cfg.Workspace.ReadFile(p, limit)
	var large *workspace.SizeError
	switch {
	case errors.As(err, &large):
		return nil, "", fmt.Errorf("%s has %s bytes, and at most %s can be sent: make a smaller copy and give that",
			p.Path, text.Number(int(large.Size)), text.Number(int(limit)))
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", fmt.Errorf("%s does not exist", p.Path)
	case err != nil:
		return nil, "", err
	}
	if kind = kindOf(data); kind == "" {
		return nil, "", fmt.Errorf("%s is not a png, jpeg, gif or webp image, so it was not sent", p.Path)
	}
	return data, kind, nil
}
