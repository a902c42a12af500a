package file

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/openharness/oh/workspace"
)

// journal changes files one by one and can take all of it back. Nothing is
// removed before all else is done: a file to be deleted or moved is renamed,
// which keeps what it is and needs no space.
type journal struct {
	ws    *workspace.Workspace
	undo  []func() error
	trash []string // renamed away, to be removed at the end
}

// put gives a file its new content, moving it first if it has another name.
func (j *journal) put(d *draft) error {
	now, have := d.old, d.info != nil
	if d.from != nil {
		if err := j.move(d.from.place, d.place); err != nil {
			return err
		}
		now, have = d.from.old, true
		if string(now) == string(d.data) {
			return nil
		}
	}
	if !have {
		return j.create(d)
	}
	done, err := j.ws.WriteFile(d.place, d.data, workspace.WriteOptions{})
	if err != nil {
		return err
	}
	j.undo = append(j.undo, func() error { return j.restore(d.place, now) })
	if done.InPlace != "" {
		d.note = append(d.note, "Written in place: "+done.InPlace+".")
	}
	return nil
}

func (j *journal) create(d *draft) error {
	j.made(d.place)
	_, err := j.ws.WriteFile(d.place, d.data, workspace.WriteOptions{Parents: true, New: true})
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s was created by something else just now; read it first", d.place.Path)
	}
	if err != nil {
		return err
	}
	j.undo = append(j.undo, func() error { return os.Remove(d.place.Real) })
	return nil
}

// made notes the folders that a new file will bring into being.
func (j *journal) made(p workspace.Place) {
	top := ""
	for dir := filepath.Dir(p.Real); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		top = dir
	}
	if top == "" {
		return
	}
	j.undo = append(j.undo, func() error { return removeEmpty(filepath.Dir(p.Real), top) })
}

// removeEmpty removes a folder and those above it up to top while they are
// empty.
func removeEmpty(dir, top string) error {
	for ; workspace.Below(top, dir); dir = filepath.Dir(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil // something else was put there
		}
	}
	return nil
}

// move renames a file. Nothing may be at its new name.
func (j *journal) move(from, to workspace.Place) error {
	j.made(to)
	if err := j.within(to, func(root *os.Root, name string) error {
		return root.MkdirAll(filepath.Dir(name), 0o777)
	}); err != nil {
		return fmt.Errorf("make folder %s: %w", filepath.Dir(to.Path), err)
	}
	if old, err := os.Lstat(to.Real); err == nil && !sameFile(old, from.Real) {
		return fmt.Errorf("%s was created by something else just now", to.Path)
	}
	if err := rename(from.Real, to.Real); err != nil {
		if errors.Is(err, syscall.EXDEV) {
			return fmt.Errorf("%s and %s lie on different file systems; move the file with a command", from.Path, to.Path)
		}
		return fmt.Errorf("move %s to %s: %w", from.Path, to.Path, err)
	}
	j.undo = append(j.undo, func() error { return rename(to.Real, from.Real) })
	return nil
}

// sameFile reports whether a path leads to a file: on disks that do not tell
// cases apart a file may get its own name in another case.
func sameFile(info fs.FileInfo, path string) bool {
	other, err := os.Lstat(path)
	return err == nil && os.SameFile(info, other)
}

// remove takes a file away; a link itself, not what it leads to.
func (j *journal) remove(d *draft) error {
	path := d.place.Real
	if info, err := os.Lstat(d.place.Path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		dir, err := workspace.Resolve(filepath.Dir(d.place.Path))
		if err != nil {
			return err
		}
		path = filepath.Join(dir, filepath.Base(d.place.Path))
		d.note = append(d.note, "It was a link; what it led to is untouched.")
	}
	aside := filepath.Join(filepath.Dir(path), ".oh-"+strings.ToLower(rand.Text()[:12])+".tmp")
	if err := rename(path, aside); err != nil {
		return fmt.Errorf("delete %s: %w", d.place.Path, err)
	}
	j.trash = append(j.trash, aside)
	j.undo = append(j.undo, func() error { return rename(aside, path) })
	return nil
}

// within opens the folder that holds a place, or its deepest part that exists,
// and passes the rest of the path.
func (j *journal) within(p workspace.Place, do func(root *os.Root, name string) error) error {
	if real, err := workspace.Resolve(p.Path); err != nil || real != p.Real {
		return errors.Join(err, workspace.ErrMoved)
	}
	dir := filepath.Dir(p.Real)
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := filepath.Rel(dir, p.Real)
	if err != nil {
		return err
	}
	return do(root, name)
}

// rename gives a file another name, below one handle of the deepest folder
// that holds both names, so that no link on the way is followed out of it.
// Both paths have their links resolved.
func rename(from, to string) error {
	dir := filepath.Dir(from)
	for !workspace.Below(dir, to) && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	a, err := filepath.Rel(dir, from)
	if err != nil {
		return err
	}
	b, err := filepath.Rel(dir, to)
	if err != nil {
		return err
	}
	if err := root.Rename(a, b); err != nil {
		var le *os.LinkError
		if errors.As(err, &le) {
			return le.Err
		}
		return err
	}
	return nil
}

// restore gives a file its old content back: whole if it can, else in place,
// which needs no more space than the file had.
func (j *journal) restore(p workspace.Place, old []byte) error {
	err := error(nil)
	if _, err = j.ws.WriteFile(p, old, workspace.WriteOptions{}); err == nil {
		return nil
	}
	return j.within(p, func(root *os.Root, name string) error {
		f, open := root.OpenFile(name, os.O_WRONLY, 0)
		if open != nil {
			return errors.Join(err, open)
		}
		_, werr := f.WriteAt(old, 0)
		if werr == nil {
			werr = f.Truncate(int64(len(old)))
		}
		return errors.Join(werr, f.Close())
	})
}

// back takes everything back, the last first, and words the failure.
func (j *journal) back(cause error) error {
	var lost []string
	for _, f := range slices.Backward(j.undo) {
		if err := f(); err != nil {
			lost = append(lost, err.Error())
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w; and what was done before that could not all be taken back: %s", cause, strings.Join(lost, "; "))
	}
	if len(j.undo) > 0 {
		return fmt.Errorf("%w; the files before it were put back, so that nothing was changed", cause)
	}
	return fmt.Errorf("%w; nothing was changed", cause)
}

// finish removes what was renamed away. It returns a sentence about what could
// not be removed; "" when all went well.
func (j *journal) finish() string {
	var left []string
	for _, path := range j.trash {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			left = append(left, path)
		}
	}
	if len(left) == 0 {
		return ""
	}
	return "The deleted content could not be removed and is left in " + strings.Join(left, ", ") + "."
}
