package image

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/openharness/oh/workspace"
)

// mostNames is how many names are tried for a file that nobody named.
const mostNames = 1000

// outputs returns where the images go.
func (t tools) outputs(dir string, in drawInput) ([]workspace.Place, error) {
	if in.Path != "" {
		if strings.HasSuffix(in.Path, "/") || strings.HasSuffix(in.Path, string(filepath.Separator)) {
			return nil, fmt.Errorf("output_path %q is a folder: name a file, or give output_dir", in.Path)
		}
		out, err := t.places(dir, numbered(stem(in.Path), suffix(in.Path, in.Format), in.N)...)
		if err != nil {
			return nil, fmt.Errorf("output_path: %w", err)
		}
		return out, nil
	}
	name := slug(in.Prompt)
	for i := 1; i <= mostNames; i++ {
		at := cmp.Or(in.Dir, ".") + "/" + name
		if i > 1 {
			at += "-" + strconv.Itoa(i)
		}
		out, err := t.places(dir, numbered(at, "."+in.Format, in.N)...)
		if err != nil {
			return nil, fmt.Errorf("output_dir: %w", err)
		}
		if in.Overwrite || !t.anyThere(out) {
			return out, nil
		}
	}
	return nil, errors.New("output_dir has too many images of that name: give output_path")
}

func (t tools) anyThere(places []workspace.Place) bool {
	for _, p := range places {
		if _, err := t.cfg.Workspace.Stat(p); err == nil {
			return true
		}
	}
	return false
}

// numbered returns n paths of one name.
func numbered(stem, suffix string, n int) []string {
	if n == 1 {
		return []string{stem + suffix}
	}
	out := make([]string, n)
	for i := range out {
		out[i] = stem + "-" + strconv.Itoa(i+1) + suffix
	}
	return out
}

// stem is a path without the suffix of an image.
func stem(path string) string {
	if imageSuffix(path) {
		return path[:len(path)-len(filepath.Ext(path))]
	}
	return path
}

// suffix is that of the format, as the path spells it where it fits.
func suffix(path, format string) string {
	ext := filepath.Ext(path)
	low := strings.ToLower(ext)
	if low == "."+format || low == ".jpg" && format == "jpeg" {
		return ext
	}
	return "." + format
}

func imageSuffix(path string) bool {
	name := filepath.Base(path)
	ext := filepath.Ext(name)
	switch strings.ToLower(ext) {
	case ".png", ".jpg", ".jpeg", ".webp", ".gif":
		return name != ext
	}
	return false
}

// slug makes a file name of a prompt's first words.
func slug(prompt string) string {
	const most = 40
	var b strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if b.Len()+len(word) >= most {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('-')
		}
		b.WriteString(word)
	}
	if b.Len() == 0 {
		return "image"
	}
	return b.String()
}
