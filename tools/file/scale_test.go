package file

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/openharness/oh"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// canvas is dark on its left half and light on its right, its top row red.
func canvas(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{20, 20, 20, 255}
			if x >= w/2 {
				c = color.NRGBA{230, 230, 230, 255}
			}
			if y < h/4 {
				c = color.NRGBA{200, 0, 0, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

func testPNG(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, canvas(w, h)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestScale(t *testing.T) {
	var jpg, anim bytes.Buffer
	if err := jpeg.Encode(&jpg, canvas(2400, 1200), nil); err != nil {
		t.Fatal(err)
	}
	pal := image.NewPaletted(image.Rect(0, 0, 2100, 10), color.Palette{color.Black, color.White})
	if err := gif.EncodeAll(&anim, &gif.GIF{Image: []*image.Paletted{pal, pal}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	for _, c := range []struct {
		name string
		data []byte
		kind string
		w, h int
		note string
	}{
		{"wide.png", testPNG(t, 4000, 10), "image/png", 2000, 5, "Scaled down from 4000 x 10 pixels"},
		{"high.png", testPNG(t, 3, 2500), "image/png", 2, 2000, "to 2 x 2000"},
		{"photo.jpg", jpg.Bytes(), "image/jpeg", 2000, 1000, "to 2000 x 1000"},
		{"turned.jpg", withExif(jpg.Bytes(), 6), "image/jpeg", 1000, 2000, "from 1200 x 2400"},
		{"anim.gif", anim.Bytes(), "image/png", 2000, 9, "Only the first frame"},
		{"small.png", testPNG(t, 20, 20), "image/png", 20, 20, ""},
	} {
		b.put(c.name, string(c.data))
		res, err := b.call("read_file", "path", c.name)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		img := res.Content[0].(oh.Image)
		got, _, err := image.DecodeConfig(bytes.NewReader(img.Data))
		if err != nil || img.MediaType != c.kind || got.Width != c.w || got.Height != c.h {
			t.Errorf("%s: %s %d x %d, %v; want %s %d x %d", c.name, img.MediaType, got.Width, got.Height, err, c.kind, c.w, c.h)
		}
		has(t, res.Content.Text(), c.note)
		if c.note == "" && (!bytes.Equal(img.Data, c.data) || len(res.Content) != 1) {
			t.Errorf("%s was changed", c.name)
		}
	}
}

// withExif puts an orientation into a JPEG.
func withExif(data []byte, how byte) []byte {
	exif := "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string([]byte{how}) + "\x00\x00\x00\x00\x00\x00"
	return append(append(append([]byte{}, data[:2]...), exif...), data[2:]...)
}

// TestUpright turns a picture by each orientation and looks where its red row
// came to lie, and its dark half.
func TestUpright(t *testing.T) {
	src := canvas(40, 20)
	red := func(img image.Image, x, y int) bool { r, g, _, _ := img.At(x, y).RGBA(); return r > 2*g }
	dark := func(img image.Image, x, y int) bool { r, _, _, _ := img.At(x, y).RGBA(); return r < 0x4000 }
	for how, want := range map[int]struct{ w, h, redX, redY, darkX, darkY int }{
		1: {40, 20, 20, 0, 0, 19}, 2: {40, 20, 20, 0, 39, 19}, 3: {40, 20, 20, 19, 39, 0}, 4: {40, 20, 20, 19, 0, 0},
		5: {20, 40, 0, 20, 19, 0}, 6: {20, 40, 19, 20, 0, 0}, 7: {20, 40, 19, 20, 0, 39}, 8: {20, 40, 0, 20, 19, 39},
	} {
		img := upright(src, how)
		if img.Bounds().Dx() != want.w || img.Bounds().Dy() != want.h || !red(img, want.redX, want.redY) || !dark(img, want.darkX, want.darkY) {
			t.Errorf("orientation %d: %v, red %v, dark %v", how, img.Bounds(), red(img, want.redX, want.redY), dark(img, want.darkX, want.darkY))
		}
	}
	for how := byte(0); how < 12; how++ {
		want := int(how)
		if how < 1 || how > 8 {
			want = 1
		}
		if got := orientation(oh.Image{MediaType: "image/jpeg", Data: withExif([]byte("\xff\xd8\xff\xda\x00\x02"), how)}); got != want {
			t.Errorf("orientation %d read as %d", how, got)
		}
	}
}

// TestScaleNoise is a picture that does not compress: it ends as a JPEG within
// the limit, on white where it was clear.
func TestScaleNoise(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 1200, 1200))
	r := rand.New(rand.NewPCG(1, 1))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	fit, err := fitImage(oh.Image{Data: b.Bytes()})
	if err != nil || fit.image.MediaType != "image/jpeg" || len(fit.image.Data) > maxImageBytes || fit.w != 1200 {
		t.Errorf("%s of %d bytes, %d wide, %v", fit.image.MediaType, len(fit.image.Data), fit.w, err)
	}
}

func FuzzFitImage(f *testing.F) {
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\x0f\xff\x00\x00\x00\x01\x08\x02"))
	f.Add(withExif([]byte("\xff\xd8\xff\xc0\x00\x0b\x08\x10\x00\x20\x00\x01"), 3))
	f.Add([]byte("GIF89a\xff\x0f\x06\x00"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x0f\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fit, err := fitImage(oh.Image{Data: data})
		if err == nil && (fit.w > maxImageSide || fit.h > maxImageSide || len(fit.image.Data) > maxImageBytes) {
			t.Fatalf("%d x %d, %d bytes", fit.w, fit.h, len(fit.image.Data))
		}
	})
}
