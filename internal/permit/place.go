package permit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// place is a path as given and where its links lead. Where that cannot be told
// (a loop of links, a folder that cannot be searched), lost is the reason and
// real is the path as given.
type place struct {
	given, real string
	lost        error
}

const maxLinks = 255

var errLoop = errors.New("too many symbolic links")

// locate follows the links in an absolute path. What does not exist yet is kept
// as it is, so that a file to be made is found where it would come to lie, also
// behind a link that points to nothing.
func locate(path string) place { return tracer(nil).locate(path) }

// tracer follows links and remembers what it saw, so that the paths of one call
// that lie in the same folders are cheap. The nil tracer remembers nothing.
type tracer map[string]string

func (t tracer) locate(path string) place {
	path = filepath.Clean(path)
	real, err := t.follow(path)
	if err != nil {
		return place{path, path, err}
	}
	return place{given: path, real: real}
}

func (t tracer) follow(path string) (string, error) {
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
		target, err := t.readLink(next)
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
			return "", errLoop
		}
		if v := filepath.VolumeName(target); filepath.IsAbs(target) {
			at, target = v+sep, target[len(v):]
		}
		todo = append(strings.Split(filepath.FromSlash(target), sep), todo...)
	}
	return at, nil
}

func (t tracer) readLink(path string) (string, error) {
	if target, ok := t[path]; ok {
		return target, nil
	}
	target, err := readLink(path)
	if err == nil && t != nil {
		t[path] = target
	}
	return target, err
}

// readLink returns where a link points, or "" for what is no link.
func readLink(path string) (string, error) {
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
	if err == nil && target == "" {
		return "", errors.New("an empty link")
	}
	return target, err
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
