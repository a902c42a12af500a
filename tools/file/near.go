package file

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// near names what exists and may have been meant by a missing path, as the end
// of a sentence.
func near(path string) string {
	dir, name := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		for up := dir; ; up = filepath.Dir(up) {
			if info, err := os.Stat(up); err == nil && info.IsDir() {
				return "; the nearest folder that exists is " + up
			}
			if up == filepath.Dir(up) {
				return ""
			}
		}
	}
	f, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer f.Close()
	names, _ := f.Readdirnames(10_000)
	type scored struct {
		name string
		d    int
	}
	var best []scored
	want := strings.ToLower(name)
	for _, n := range names {
		got := strings.ToLower(n)
		d := text.Distance(want, got)
		if stem(want) == stem(got) {
			d = min(d, 1)
		}
		if d <= max(1, len(want)/4) {
			best = append(best, scored{n, d})
		}
	}
	if len(best) == 0 {
		return ""
	}
	slices.SortFunc(best, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	var list []string
	for _, s := range best[:min(3, len(best))] {
		list = append(list, s.name)
	}
	return "; near names in its folder: " + strings.Join(list, ", ")
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }
