package file

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	// maxImageBytes and maxImageSide are what every service takes, whatever
	// else the request holds: 5 MiB as base64, and 2,000 pixels a side (where
	// a request has many images; a single one may have more, and is scaled
	// down by the service).
	maxImageBytes = 5 << 20 / 4 * 3
	maxImageSide  = 2000

	maxSourceBytes  = 64 << 20 // of an image file
	maxSourcePixels = 64 << 20 // 256 MiB decoded
)

// fitted is an image within the limits of the services.
type fitted struct {
	image oh.Image
	w, h  int    // pixels
	note  string // what was done to it, "" when it is as it was
}

// fitImage returns an image as it is when services take it so, else scaled
// down. The error says what is wrong with it.
func fitImage(img oh.Image) (fitted, error) {
	if kind := imageType(img.Data); kind != "" {
		img.MediaType = kind
	}
	w, h := imageSize(img.MediaType, img.Data)
	if w == 0 || h == 0 {
		return fitted{}, fmt.Errorf("an %s file without width and height: it is broken or not complete (%s bytes)", img.MediaType, text.Number(len(img.Data)))
	}
	if w <= maxImageSide && h <= maxImageSide && len(img.Data) <= maxImageBytes {
		return fitted{img, w, h, ""}, nil
	}
	if w > maxSourcePixels/h {
		return fitted{}, fmt.Errorf("an image of %d x %d pixels, too many to be scaled down here; make a smaller copy with a command", w, h)
	}
	src, err := decodeImage(img.MediaType, img.Data)
	if err != nil {
		return fitted{}, fmt.Errorf("an image of %d x %d pixels that is too large to be shown and cannot be decoded to scale it down: %w", w, h, err)
	}
	src = upright(src, orientation(img))
	out, err := shrink(src, img.MediaType)
	if err != nil {
		return fitted{}, err
	}
	out.image.Path = img.Path
	out.note = fmt.Sprintf("Scaled down from %d x %d pixels (%s bytes) to %d x %d.", src.Bounds().Dx(), src.Bounds().Dy(), text.Number(len(img.Data)), out.w, out.h)
	if img.MediaType == "image/gif" {
		out.note += " Only the first frame is shown."
	}
	return out, nil
}

// FitImage returns an image as services take it: scaled down where it is too
// large, with its media type told from its bytes. The note says what was done,
// "" for nothing; the error, without the file's name, what is wrong with it.
func FitImage(img oh.Image) (fit oh.Image, note string, err error) {
	f, err := fitImage(img)
	return f.image, f.note, err
}

func decodeImage(kind string, data []byte) (image.Image, error) {
	r := bytes.NewReader(data)
	switch kind {
	case "image/png":
		return png.Decode(r)
	case "image/jpeg":
		return jpeg.Decode(r)
	case "image/gif":
		return gif.Decode(r)
	case "image/webp":
		return webp.Decode(r)
	}
	return nil, fmt.Errorf("%s is not known", kind)
}

// shrink scales an image down until it fits: as PNG where it was lossless and
// that is small enough, else as JPEG.
func shrink(src image.Image, kind string) (fitted, error) {
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	side := max(w, h)
	for try := min(side, maxImageSide); try > 0; try = try * 3 / 4 {
		tw, th := max(1, w*try/side), max(1, h*try/side)
		dst := image.NewNRGBA(image.Rect(0, 0, tw, th))
		draw.BiLinear.Scale(dst, dst.Bounds(), src, src.Bounds(), draw.Src, nil)
		if kind != "image/jpeg" {
			var b bytes.Buffer
			if err := png.Encode(&b, dst); err != nil {
				return fitted{}, fmt.Errorf("scale the image down: %w", err)
			}
			if b.Len() <= maxImageBytes {
				return fitted{oh.Image{MediaType: "image/png", Data: b.Bytes()}, tw, th, ""}, nil
			}
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, opaque(dst), &jpeg.Options{Quality: 85}); err != nil {
			return fitted{}, fmt.Errorf("scale the image down: %w", err)
		}
		if b.Len() <= maxImageBytes {
			return fitted{oh.Image{MediaType: "image/jpeg", Data: b.Bytes()}, tw, th, ""}, nil
		}
	}
	return fitted{}, errors.New("an image that cannot be made small enough")
}

// opaque puts an image on white.
func opaque(src *image.NRGBA) image.Image {
	if src.Opaque() {
		return src
	}
	dst := image.NewRGBA(src.Bounds())
	draw.Draw(dst, dst.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Over)
	return dst
}

// orientation reads how the camera was held from the Exif data of a JPEG, from
// 1 (upright) to 8, as its tag 0x0112 says.
func orientation(img oh.Image) int {
	data := img.Data
	if img.MediaType != "image/jpeg" {
		return 1
	}
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		n := int(binary.BigEndian.Uint16(data[i+2:]))
		if data[i+1] == 0xda || n < 2 || i+2+n > len(data) {
			return 1
		}
		if body := data[i+4 : i+2+n]; data[i+1] == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return exifOrientation(body[6:])
		}
		i += 2 + n
	}
	return 1
}

func exifOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if tiff[0] == 'M' {
		order = binary.BigEndian
	}
	at := int(order.Uint32(tiff[4:]))
	if at < 8 || at > len(tiff)-2 {
		return 1
	}
	n := int(order.Uint16(tiff[at:]))
	for at += 2; n > 0 && at+12 <= len(tiff); n, at = n-1, at+12 {
		if order.Uint16(tiff[at:]) == 0x0112 {
			if o := int(order.Uint16(tiff[at+8:])); o >= 1 && o <= 8 {
				return o
			}
			return 1
		}
	}
	return 1
}

// turned is an image mirrored and turned by an Exif orientation.
type turned struct {
	image.Image
	how int
}

// upright turns an image the way it was seen.
func upright(src image.Image, how int) image.Image {
	if how <= 1 {
		return src
	}
	return turned{src, how}
}

func (t turned) Bounds() image.Rectangle {
	b := t.Image.Bounds()
	if t.how >= 5 {
		return image.Rect(0, 0, b.Dy(), b.Dx())
	}
	return image.Rect(0, 0, b.Dx(), b.Dy())
}

func (t turned) At(x, y int) color.Color {
	b := t.Image.Bounds()
	w, h := b.Dx()-1, b.Dy()-1
	switch t.how {
	case 2:
		x = w - x
	case 3:
		x, y = w-x, h-y
	case 4:
		y = h - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, h-x
	case 7:
		x, y = w-y, h-x
	case 8:
		x, y = w-y, x
	}
	return t.Image.At(b.Min.X+x, b.Min.Y+y)
}

// decodeBase64 decodes base64 as notebooks hold it, with line breaks.
func decodeBase64(s string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
}
