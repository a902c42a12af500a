package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// WriteOptions says how a file is written.
type WriteOptions struct {
	Parents bool // make missing folders
	Sync    bool // wait until the content is on disk
	New     bool // refuse with fs.ErrExist when something is there already
}

// Written says what became of a write.
type Written struct {
	Created bool
	// InPlace says why the file was overwritten in place, after a saved copy,
	// rather than replaced: "it is hard-linked (3 names)". "" when replaced.
	InPlace string
}

// WriteFile gives the file at p new content, whole or not at all: it is
// written beside the file and put in its place, with the mode and owner of the
// old one. A new file gets the mode that the umask leaves of 0666. Where
// putting another file in its place would break a hard link or change the
// owner, the content is written in place after a copy was saved.
func (w *Workspace) WriteFile(p Place, data []byte, opt WriteOptions) (Written, error) {
	if err := p.check(); err != nil {
		return Written{}, err
	}
	root, name, err := w.anchor(p.Real)
	if err != nil {
		return Written{}, named(err, p)
	}
	defer root.Close()
	t := target{root, name, p, opt}
	old, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t.create(data)
	case err != nil:
		return Written{}, t.fail("write", err)
	case !old.Mode().IsRegular():
		return Written{}, special(old, p)
	case opt.New:
		return Written{}, fmt.Errorf("%s: %w", p.Path, fs.ErrExist)
	}
	if n := links(old); n > 1 {
		return t.overwrite(data, fmt.Sprintf("it is hard-linked (%d names)", n))
	}
	return t.replace(data, old)
}

// target is a file about to be written.
type target struct {
	root *os.Root
	name string // below root
	p    Place
	opt  WriteOptions
}

func (t target) create(data []byte) (Written, error) {
	dir := filepath.Dir(t.name)
	if _, err := t.root.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if !t.opt.Parents {
			return Written{}, fmt.Errorf("the folder %s does not exist", filepath.Dir(t.p.Path))
		}
		if err := t.root.MkdirAll(dir, 0o777); err != nil {
			return Written{}, fmt.Errorf("make folder %s: %w", filepath.Dir(t.p.Path), bare(err))
		}
	}
	temp, f, err := t.temp(0o666)
	if err != nil {
		return Written{}, t.fail("create", err)
	}
	if err := t.fill(f, data); err != nil {
		return Written{}, t.drop(temp, err)
	}
	if err := t.root.Rename(temp, t.name); err != nil {
		return Written{}, t.drop(temp, err)
	}
	return Written{Created: true}, nil
}

func (t target) replace(data []byte, old fs.FileInfo) (Written, error) {
	if err := t.writable(); err != nil {
		return Written{}, err
	}
	temp, f, err := t.temp(0o600)
	if err != nil {
		return Written{}, t.fail("write", err)
	}
	if err := keepOwner(f, old); err != nil {
		f.Close()
		if err := t.root.Remove(temp); err != nil {
			return Written{}, t.fail("write", err)
		}
		return t.overwrite(data, "its owner could not be kept otherwise")
	}
	const bits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	err = t.fill(f, data)
	if err == nil {
		err = t.root.Chmod(temp, old.Mode()&bits)
	}
	if err == nil {
		err = t.root.Rename(temp, t.name)
	}
	if err != nil {
		return Written{}, t.drop(temp, err)
	}
	return Written{}, nil
}

// writable refuses a file that is read-only by its own mode: replacing it
// would go round that.
func (t target) writable() error {
	f, err := t.root.OpenFile(t.name, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return t.fail("write", err)
	}
	return f.Close()
}

// overwrite writes in place. A copy of the old content beside the file is
// there until the new content is complete; what fails is put back from it.
func (t target) overwrite(data []byte, why string) (Written, error) {
	f, _, err := openFile(t.root, t.name, os.O_RDWR, t.p)
	if err != nil {
		return Written{}, t.fail("write", err)
	}
	defer f.Close()
	temp, saved, err := t.temp(0o600)
	if err != nil {
		return Written{}, t.fail("write", err)
	}
	defer saved.Close()
	if _, err := io.Copy(saved, f); err != nil {
		return Written{}, t.drop(temp, err)
	}
	if err := put(f, data, t.opt.Sync); err != nil {
		if _, back := saved.Seek(0, io.SeekStart); back == nil {
			if old, back := io.ReadAll(saved); back == nil && put(f, old, true) == nil {
				return Written{}, t.drop(temp, err)
			}
		}
		return Written{}, fmt.Errorf("write %s: %w; the old content is saved in %s", t.p.Path, bare(err),
			filepath.Join(filepath.Dir(t.p.Real), filepath.Base(temp)))
	}
	saved.Close()
	if err := t.root.Remove(temp); err != nil {
		return Written{}, fmt.Errorf("%s was written, but the saved copy %s could not be removed: %w", t.p.Path, temp, bare(err))
	}
	return Written{InPlace: why}, nil
}

// put makes data the whole content of f.
func put(f *os.File, data []byte, sync bool) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

// temp makes a new file in the target's folder.
func (t target) temp(mode fs.FileMode) (string, *os.File, error) {
	for range 100 {
		name := filepath.Join(filepath.Dir(t.name), ".oh-"+strings.ToLower(rand.Text()[:12])+".tmp")
		f, err := t.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return name, f, err
		}
	}
	return "", nil, errors.New("no free name for a temporary file")
}

// fill writes data to f and closes it.
func (t target) fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil && t.opt.Sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// drop removes a temporary file after a failure.
func (t target) drop(temp string, err error) error {
	err = t.fail("write", err)
	if gone := t.root.Remove(temp); gone != nil {
		return fmt.Errorf("%w (the temporary file %s could not be removed: %v)", err, temp, bare(gone))
	}
	return err
}

func (t target) fail(op string, err error) error {
	cause := bare(err)
	dir := filepath.Dir(t.p.Path)
	switch {
	case errors.Is(cause, syscall.EROFS):
		return fmt.Errorf("%s %s: it lies on a read-only file system; nothing was changed: %w", op, t.p.Path, cause)
	case errors.Is(cause, fs.ErrPermission):
		return fmt.Errorf("%s %s: the file or its folder %s is read-only for this user; nothing was changed: %w", op, t.p.Path, dir, cause)
	}
	return fmt.Errorf("%s %s: %w; the old content, if any, is unchanged", op, t.p.Path, cause)
}
