package app

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLoadImage: what an attached image must be, so that no service refuses it
// and with it the whole conversation.
func TestLoadImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var big bytes.Buffer
	if err := png.Encode(&big, image.NewGray(image.Rect(0, 0, 9000, 3))); err != nil {
		t.Fatal(err)
	}
	path := write("big.png", big.Bytes())
	img, err := LoadImage(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := png.DecodeConfig(bytes.NewReader(img.Data))
	if err != nil || cfg.Width > 2000 || img.Path != path || img.MediaType != "image/png" {
		t.Errorf("got %d x %d, %s, %s: %v", cfg.Width, cfg.Height, img.Path, img.MediaType, err)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"bare.png": {[]byte("\x89PNG\r\n\x1a\n"), "without width and height"},
		"zero.gif": {[]byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "without width and height"},
		"text.png": {[]byte("hello"), "is no PNG"},
	} {
		if _, err := LoadImage(write(name, c.data)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := LoadImage(dir); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Errorf("a folder: %v", err)
	}
}
