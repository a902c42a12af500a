package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const maxLinks = 255

// Resolve returns an absolute path with all links resolved. What does not
// exist is kept as named below its deepest existing folder; a link to
// something that does not exist leads to where that would be.
func Resolve(path string) (string, error) {
	path = filepath.Clean(path)
	vol := filepath.VolumeName(path)
	sep := string(filepath.Separator)
	done := vol + sep
	rest := strings.Split(strings.Trim(path[len(vol):], sep), sep)
	links := 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return filepath.Join(append([]string{next}, rest...)...), nil
		case err != nil:
			return "", err
		case info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0:
			done = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			if info.Mode()&fs.ModeSymlink == 0 {
				done = next
				continue
			}
			return "", err
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: path, Err: errors.New("too many links, or links in a circle")}
		}
		if filepath.IsAbs(to) {
			vol = filepath.VolumeName(to)
			done = vol + sep
			to = to[len(vol):]
		}
		rest = append(strings.Split(strings.Trim(filepath.FromSlash(to), sep), sep), rest...)
	}
	return done, nil
}
