package permit

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/openharness/oh/internal/link"
)

// place is a path as given and where its links lead. Where that cannot be told
// (a loop of links, a folder that cannot be searched), lost is the reason and
// real is the path as given.
type place struct {
	given, real string
	lost        error
}

// locate follows the links in an absolute path. What does not exist yet is kept
// as it is, so that a file to be made is found where it would come to lie, also
// behind a link that points to nothing. The memo may be nil.
func locate(path string, seen link.Memo) place {
	path = filepath.Clean(path)
	real, err := seen.Resolve(path)
	if err != nil {
		return place{path, path, err}
	}
	return place{given: path, real: real}
}

// locateUp is locate for a path that may go up from a folder that is a link,
// where the kernel and the text of the path disagree.
func locateUp(path string, seen link.Memo) place {
	clean := filepath.Clean(path)
	if !strings.Contains(path, "..") || clean == path {
		return locate(path, seen)
	}
	at := filepath.VolumeName(path) + string(filepath.Separator)
	for level := range strings.SplitSeq(filepath.ToSlash(path[len(filepath.VolumeName(path)):]), "/") {
		if level != ".." {
			at = filepath.Join(at, level)
			continue
		}
		p := locate(at, seen)
		if p.lost != nil {
			return place{clean, clean, p.lost}
		}
		at = filepath.Dir(p.real)
	}
	p := locate(at, seen)
	return place{given: clean, real: p.real, lost: p.lost}
}

// foldsCase reports whether file names usually differ only by more than case.
func foldsCase() bool { return runtime.GOOS == "darwin" || runtime.GOOS == "windows" }

// contains reports whether the real path lies in the real folder base. Where
// case may be folded, a difference in case only is settled by asking the file
// system whether both are the same folder.
func contains(base, path string, fold bool) bool {
	if _, ok := under(base, path); ok {
		return true
	}
	if !fold || len(path) < len(base) {
		return false
	}
	if _, ok := under(strings.ToLower(base), strings.ToLower(path)); !ok {
		return false
	}
	a, err := os.Stat(base)
	if err != nil {
		return false
	}
	b, err := os.Stat(path[:len(base)])
	return err == nil && os.SameFile(a, b)
}
