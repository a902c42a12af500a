//go:build !unix

package workspace

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// handle is a folder by its path: this system has no openat in the library.
type handle struct {
	dir string
}

func (w *Workspace) openTop(p Place) (*handle, error) {
	info, err := os.Stat(p.Real)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &SpecialError{p.Path, Kind(info.Mode())}
	}
	return &handle{p.Real}, nil
}

func (h *handle) openDir(name string) (*handle, error) {
	dir := filepath.Join(h.dir, name)
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &SpecialError{dir, Kind(info.Mode())}
	}
	return &handle{dir}, nil
}

func (h *handle) list() ([]fs.DirEntry, error) { return os.ReadDir(h.dir) }

func (h *handle) regular(name string) (r io.ReadCloser, size int64, err error) {
	full := filepath.Join(h.dir, name)
	info, err := os.Lstat(full)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, &SpecialError{full, Kind(info.Mode())}
	}
	f, err := os.Open(full)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

func (h *handle) readSmall(name string) []byte { return readSmall(filepath.Join(h.dir, name)) }

func (h *handle) keep() *handle { return h }

func (h *handle) release() {}
