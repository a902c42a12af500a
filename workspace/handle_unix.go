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

// regular opens a regular file for reading without following a link or waiting.
func (h *handle) regular(name string) (r io.ReadCloser, size int64, err error) {
	const flags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	f := &rawFile{dir: h.f.Name(), name: name}
	err = retry(func() (err error) {
		f.fd, err = unix.Openat(int(h.f.Fd()), name, flags, 0)
		return err
	})
	if err != nil {
		return nil, 0, f.failed("open", err)
	}
	var st unix.Stat_t
	if err = retry(func() error { return unix.Fstat(f.fd, &st) }); err != nil {
		err = f.failed("stat", err)
	} else if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG {
		err = &SpecialError{filepath.Join(f.dir, name), Kind(typeBits(uint32(kind)))}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, st.Size, nil
}

// rawFile is a regular file that is read. An [os.File] asks the poller about
// each, in vain, which is a third of the calls of a search. It is not for
// concurrent use.
type rawFile struct {
	fd        int
	dir, name string
}

// Read implements io.Reader. A file that has to be waited for is an error.
func (f *rawFile) Read(p []byte) (n int, err error) {
	err = retry(func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	switch {
	case err != nil:
		return 0, f.failed("read", err)
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer.
func (f *rawFile) Close() error {
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}

func (f *rawFile) failed(op string, err error) error {
	return &fs.PathError{Op: op, Path: filepath.Join(f.dir, f.name), Err: err}
}

func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// typeBits turns the type of a file that is not regular.
func typeBits(kind uint32) fs.FileMode {
	switch kind {
	case unix.S_IFDIR:
		return fs.ModeDir
	case unix.S_IFIFO:
		return fs.ModeNamedPipe
	case unix.S_IFSOCK:
		return fs.ModeSocket
	}
	return fs.ModeDevice
}

// readSmall returns the content of a regular file, nil when there is none.
func (h *handle) readSmall(name string) []byte {
	f, _, err := h.regular(name)
	if err != nil {
		return nil
	}
	defer f.Close()
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
