//go:build unix

package workspace

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// handle is an open folder that several jobs share.
type handle struct {
	f    *os.File
	refs atomic.Int32
}

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func newHandle(f *os.File) *handle {
	h := &handle{f: f}
	h.refs.Store(1)
	return h
}

// openTop opens the folder of a walk, part by part below the root that holds
// it, so that no link is followed.
func (w *Workspace) openTop(p Place) (*handle, error) {
	start := w.rootOf(p.Real)
	if start == "" {
		start = p.Real
	}
	f, err := openAt(unix.AT_FDCWD, start, start)
	if err != nil {
		return nil, err
	}
	h := newHandle(f)
	rel, err := filepath.Rel(start, p.Real)
	if err != nil || rel == "." {
		return h, err
	}
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		next, err := h.openDir(name)
		h.release()
		if err != nil {
			return nil, err
		}
		h = next
	}
	return h, nil
}

func openAt(fd int, name, full string) (*os.File, error) {
	for {
		sub, err := unix.Openat(fd, name, dirFlags, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: full, Err: err}
		}
		return os.NewFile(uintptr(sub), full), nil
	}
}

func (h *handle) openDir(name string) (*handle, error) {
	f, err := openAt(int(h.f.Fd()), name, filepath.Join(h.f.Name(), name))
	if err != nil {
		return nil, err
	}
	return newHandle(f), nil
}

func (h *handle) list() ([]fs.DirEntry, error) { return h.f.ReadDir(-1) }

// open opens a file for reading without following a link or waiting.
func (h *handle) open(name string) (*os.File, error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	for {
		fd, err := unix.Openat(int(h.f.Fd()), name, flags, 0)
		if err == unix.EINTR {
			continue
		}
		full := filepath.Join(h.f.Name(), name)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: full, Err: err}
		}
		return os.NewFile(uintptr(fd), full), nil
	}
}

// readSmall returns the content of a regular file, nil when there is none.
func (h *handle) readSmall(name string) []byte {
	f, err := h.open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return data
}

func (h *handle) keep() *handle {
	h.refs.Add(1)
	return h
}

func (h *handle) release() {
	if h.refs.Add(-1) == 0 {
		h.f.Close()
	}
}
