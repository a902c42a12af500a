package ohtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// thing is what lay at a path.
type thing struct {
	mode fs.FileMode
	time time.Time
	link string            // where a link leads
	sum  [sha256.Size]byte // of a regular file's content
}

// snapshot is a folder and all below it, by absolute path.
type snapshot map[string]thing

// takeSnapshot looks at all below dir. Links are not followed.
func takeSnapshot(dir string) (snapshot, error) {
	dir = resolved(dir)
	out := snapshot{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil // gone since its folder was read
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		t := thing{mode: info.Mode(), time: info.ModTime()}
		switch {
		case t.mode.IsRegular():
			t.sum, err = sumOf(path)
		case t.mode&fs.ModeSymlink != 0:
			t.link, err = os.Readlink(path)
		}
		out[path] = t
		return err
	})
	return out, err
}

func sumOf(path string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// resolved is a path with the links on its way resolved as far as it exists.
func resolved(path string) string {
	rest := ""
	for at := path; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
		at = up
	}
}

// undeclared describes what differs between two snapshots although a does not
// declare it as a write, in the order of paths.
func undeclared(before, after snapshot, a oh.Access) []string {
	var writes []oh.PathUse
	for _, p := range a.Paths {
		if p.Write {
			writes = append(writes, p)
			if p.Path = resolved(p.Path); p != writes[len(writes)-1] {
				writes = append(writes, p)
			}
		}
	}
	var out []string
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, had := before[path]
		is, has := after[path]
		if what := difference(was, is, had, has); what != "" && !declared(path, was, is, had, has, writes) {
			out = append(out, path+" was "+what)
		}
	}
	return out
}

// difference words what happened to a path, "" for nothing.
func difference(was, is thing, had, has bool) string {
	switch {
	case had && !has:
		return "removed"
	case !had && has:
		return "created"
	case was.mode != is.mode:
		return fmt.Sprintf("changed in mode, from %v to %v", was.mode, is.mode)
	case was.sum != is.sum || was.link != is.link:
		return "changed"
	case !was.time.Equal(is.time):
		return "changed in time"
	}
	return ""
}

// declared reports whether a difference is covered by declared writes. A folder
// above one may come into being and has a new time.
func declared(path string, was, is thing, had, has bool, writes []oh.PathUse) bool {
	above := has && is.mode.IsDir() && (!had || was.mode == is.mode)
	for _, w := range writes {
		if path == w.Path || w.Tree && beneath(path, w.Path) || above && beneath(w.Path, path) {
			return true
		}
	}
	return false
}

// beneath reports whether path lies below dir.
func beneath(path, dir string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
