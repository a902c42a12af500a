package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/openharness/oh"
)

// maxImage is the largest image a service takes, in bytes.
const maxImage = 5 << 20

// loadImage reads an image file that is attached to a prompt.
func loadImage(path string) (oh.Image, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return oh.Image{}, err
	case !info.Mode().IsRegular():
		return oh.Image{}, fmt.Errorf("%s is no file", path)
	case info.Size() > maxImage:
		return oh.Image{}, fmt.Errorf("%s has %.1f MB; services take at most 5 MB: make it smaller", path, float64(info.Size())/(1<<20))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return oh.Image{}, err
	}
	kind := http.DetectContentType(data)
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return oh.Image{}, fmt.Errorf("%s is no PNG, JPEG, GIF or WebP image (it looks like %s)", path, kind)
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return oh.Image{}, err
	}
	return oh.Image{MediaType: kind, Data: data, Path: full}, nil
}
