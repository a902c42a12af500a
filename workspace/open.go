package workspace

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// SpecialError says that a place holds no regular file.
type SpecialError struct {
	Path string
	Kind string // folder, named pipe, socket, device
}

// Error implements error.
func (e *SpecialError) Error() string {
	return fmt.Sprintf("%s is a %s, not a regular file", e.Path, e.Kind)
}

// SizeError says that a file is larger than the caller takes.
type SizeError struct {
	Path      string
	Size, Max int64 // bytes; Size is at least what was seen
}

// Error implements error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, more than the %d that can be handled at once", e.Path, e.Size, e.Max)
}

// Kind names what a file of that mode is: file, folder, link, named pipe,
// socket or device.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "file"
	case mode.IsDir():
		return "folder"
	case mode&fs.ModeSymlink != 0:
		return "link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}

// Open opens the regular file at p for reading. Anything else is refused with
// a [*SpecialError], without waiting for it. The error wraps fs.ErrNotExist
// when there is nothing.
func (w *Workspace) Open(p Place) (*os.File, fs.FileInfo, error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	f, info, err := w.openRead(p)
	if err != nil {
		return nil, nil, named(err, p)
	}
	return f, info, nil
}

func (w *Workspace) openRead(p Place) (*os.File, fs.FileInfo, error) {
	if w.rootOf(p.Real) == "" {
		// Folders on the way may be passable without being readable, which a
		// folder handle would need.
		return openFile(disk{}, p.Real, os.O_RDONLY|nofollow, p)
	}
	root, name, err := w.anchor(p.Real)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return openFile(root, name, os.O_RDONLY, p)
}

// opener is what files are opened below: an [os.Root], or the whole disk.
type opener interface {
	Lstat(name string) (fs.FileInfo, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
}

type disk struct{}

func (disk) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

func (disk) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// Stat describes what is at p, of whatever kind.
func (w *Workspace) Stat(p Place) (fs.FileInfo, error) {
	info, err := os.Lstat(p.Real)
	if err != nil {
		return nil, named(err, p)
	}
	return info, nil
}

// ReadFile returns the content of the regular file at p. More than limit bytes
// give a [*SizeError]; a limit of 0 means 256 MiB.
func (w *Workspace) ReadFile(p Place, limit int64) ([]byte, fs.FileInfo, error) {
	if limit <= 0 {
		limit = 256 << 20
	}
	f, info, err := w.Open(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, nil, &SizeError{p.Path, info.Size(), limit}
	}
	var buf bytes.Buffer
	buf.Grow(int(info.Size()) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", p.Path, bare(err))
	}
	if n > limit {
		return nil, nil, &SizeError{p.Path, n, limit}
	}
	return buf.Bytes(), info, nil
}

// Hash is the fingerprint under which the content of a file is remembered.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// StatHash stands for [Hash] where a file is too large to read it all: it is
// made of size and time of change, and never equals a Hash.
func StatHash(info fs.FileInfo) string {
	return fmt.Sprintf("stat:%d-%d", info.Size(), info.ModTime().UnixNano())
}

// anchor returns a folder handle that a resolved path is opened below, and the
// rest of the path: the root of the workspace that holds it, else its deepest
// existing folder.
func (w *Workspace) anchor(real string) (*os.Root, string, error) {
	dir := w.rootOf(real)
	if dir == real {
		dir = ""
	}
	for at := filepath.Dir(real); dir == ""; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err == nil && info.IsDir() || at == filepath.Dir(at) {
			dir = at
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	rel, err := filepath.Rel(dir, real)
	if err != nil {
		return nil, "", errors.Join(err, root.Close())
	}
	return root, rel, nil
}

// openFile opens a regular file below root without blocking.
func openFile(root opener, name string, flag int, p Place) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, special(info, p)
	}
	f, err := root.OpenFile(name, flag|nonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = special(info, p)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	limitWait(f)
	return f, info, nil
}

// maxWait bounds reads of files that look regular and wait for content all the
// same, as some below /proc do. Files on a disk know no such limit and need none.
const maxWait = time.Second

func limitWait(f *os.File) { _ = f.SetReadDeadline(time.Now().Add(maxWait)) }

func special(info fs.FileInfo, p Place) error {
	return &SpecialError{p.Path, Kind(info.Mode())}
}

// named makes an error name the path as it was given, and say in words what
// is common.
func named(err error, p Place) error {
	var known *SpecialError
	if errors.As(err, &known) {
		return err
	}
	switch err := bare(err); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: %w", p.Path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", p.Path, err)
	default:
		return fmt.Errorf("open %s: %w", p.Path, err)
	}
}

// bare takes the path out of an error that names it in another form.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}
