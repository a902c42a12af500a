package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/openharness/oh"
	"github.com/openharness/oh/tools/file"
)

// maxImageFile bounds an image file that is attached, in bytes. Larger ones
// than services take are scaled down.
const maxImageFile = 64 << 20

// LoadImage reads an image file that is attached to a prompt, fit for the
// services.
func LoadImage(path string) (oh.Image, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return oh.Image{}, err
	case !info.Mode().IsRegular():
		return oh.Image{}, fmt.Errorf("%s is no file", path)
	case info.Size() > maxImageFile:
		return oh.Image{}, fmt.Errorf("%s has %d MB; at most %d MB can be read: make it smaller", path, info.Size()>>20, maxImageFile>>20)
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
	fit, _, err := file.FitImage(oh.Image{MediaType: kind, Data: data, Path: full})
	if err != nil {
		return oh.Image{}, fmt.Errorf("%s is %w", path, err)
	}
	return fit, nil
}
