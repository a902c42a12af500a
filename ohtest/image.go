package ohtest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"image"
	_ "image/gif"  // headers of GIF
	_ "image/jpeg" // headers of JPEG
	_ "image/png"  // headers of PNG
	"strings"
)

// The limits of the services for one image.
const (
	maxImageSide  = 8000    // pixels
	maxImageBytes = 5 << 20 // bytes, decoded
)

// checkImage holds an encoded image to the limits and its declared type.
func checkImage(r *report, where, mediaType string, data []byte) {
	kind, ok := strings.CutPrefix(mediaType, "image/")
	if !ok || (kind != "png" && kind != "jpeg" && kind != "gif" && kind != "webp") {
		r.add("image-type", where, "the media type %q is none of image/png, image/jpeg, image/gif and image/webp", mediaType)
		return
	}
	if len(data) > maxImageBytes {
		r.add("image-size", where, "the image has %d bytes, over the limit of 5 MB", len(data))
	}
	width, height, got, err := imageHeader(data)
	if err != nil {
		r.add("image-data", where, "the image cannot be read: %v", err)
		return
	}
	if got != kind {
		r.add("image-type", where, "the image is a %s, declared as %s", got, mediaType)
	}
	if width > maxImageSide || height > maxImageSide {
		r.add("image-size", where, "the image has %d x %d pixels, over the limit of %d a side", width, height, maxImageSide)
	}
	if width < 1 || height < 1 {
		r.add("image-data", where, "the image has no pixels")
	}
}

// checkImage64 is checkImage for data in base64.
func checkImage64(r *report, where, mediaType, data string) {
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil || strings.ContainsAny(data, "\r\n") {
		r.add("image-data", where, "the data is not base64 in one line with padding")
		return
	}
	checkImage(r, where, mediaType, raw)
}

// imageHeader reads the size and the type of an image.
func imageHeader(data []byte) (width, height int, kind string, err error) {
	if len(data) >= 16 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP" {
		width, height, err = webpHeader(data)
		return width, height, "webp", err
	}
	cfg, kind, err := image.DecodeConfig(bytes.NewReader(data))
	return cfg.Width, cfg.Height, kind, err
}

// webpHeader reads the size of a WebP file of any of its three forms.
func webpHeader(data []byte) (width, height int, err error) {
	le := binary.LittleEndian
	switch chunk := string(data[12:16]); {
	case chunk == "VP8X" && len(data) >= 30:
		width = 1 + int(data[24]) + int(data[25])<<8 + int(data[26])<<16
		height = 1 + int(data[27]) + int(data[28])<<8 + int(data[29])<<16
	case chunk == "VP8L" && len(data) >= 25 && data[20] == 0x2f:
		bits := le.Uint32(data[21:])
		width, height = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
	case chunk == "VP8 " && len(data) >= 30 && data[23] == 0x9d && data[24] == 0x01 && data[25] == 0x2a:
		width, height = int(le.Uint16(data[26:]))&0x3fff, int(le.Uint16(data[28:]))&0x3fff
	default:
		return 0, 0, errors.New("webp: the header is damaged")
	}
	return width, height, nil
}
