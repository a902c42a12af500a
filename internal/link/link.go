// Package link follows symbolic links: where does a path lead? The gate and the
// tools ask the same code, so that what is judged is what is touched.
//
// It reads links and nothing else, and changes nothing.
package link

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxLinks is how many links one path may go through.
const maxLinks = 255

// ErrLoop says that links lead in a circle, or through too many others.
var ErrLoop = errors.New("too many symbolic links, or links in a circle")

// Resolve returns an absolute path with all links resolved. What does not
// exist is kept as named below its deepest existing folder; a link to
// something that does not exist leads to where that would be. The error is
// [ErrLoop] or that of the file system, such as a folder that may not be
// searched.
func Resolve(path string) (string, error) { return Memo(nil).Resolve(path) }

// Memo remembers the links it saw, so that many paths in the same folders are
// cheap. It is to be thrown away soon: links change. The nil Memo remembers
// nothing.
type Memo map[string]string

// Resolve is like the function of that name.
func (m Memo) Resolve(path string) (string, error) {
	path = filepath.Clean(path)
	volume := filepath.VolumeName(path)
	sep := string(filepath.Separator)
	at := volume + sep
	todo := strings.Split(strings.TrimPrefix(path[len(volume):], sep), sep)
	for links := 0; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		target, err := m.read(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) || isNotDir(err):
			return filepath.Join(append([]string{next}, todo...)...), nil
		case err != nil:
			return "", err
		case target == "":
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "resolve", Path: path, Err: ErrLoop}
		}
		if v := filepath.VolumeName(target); filepath.IsAbs(target) {
			at, target = v+sep, target[len(v):]
		}
		todo = append(strings.Split(filepath.FromSlash(target), sep), todo...)
	}
	return at, nil
}

func (m Memo) read(path string) (string, error) {
	if target, ok := m[path]; ok {
		return target, nil
	}
	target, err := read(path)
	if err == nil && m != nil {
		m[path] = target
	}
	return target, err
}

// read returns where a link points, or "" for what is no link.
func read(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	// On Windows a junction is an irregular file that reads as a link.
	junction := runtime.GOOS == "windows" && info.Mode()&fs.ModeIrregular != 0
	if info.Mode()&fs.ModeSymlink == 0 && !junction {
		return "", nil
	}
	target, err := os.Readlink(path)
	switch {
	case err != nil && junction:
		return "", nil // some other kind of irregular file
	case err == nil && target == "":
		return "", &fs.PathError{Op: "readlink", Path: path, Err: errors.New("an empty link")}
	}
	return target, err
}
