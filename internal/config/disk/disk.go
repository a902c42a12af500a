// Package disk writes small files that several processes may change: settings
// and credentials. It is not for logs or large data.
//
// A file is replaced as a whole or not at all, under a lock that other
// processes respect. Links are followed, so that a file kept elsewhere by a
// link stays a link.
package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	lockWait  = 5 * time.Second
	lockPause = 5 * time.Millisecond
)

// File is a small file that is changed as a whole. A new one gets mode 0600.
type File struct {
	Path string
	Keep bool // an existing file keeps its mode; else it becomes 0600
}

// Update reads the file under its lock, lets change make the new content, and
// replaces the file with it. old is nil when there is no file. Missing folders
// are made with mode 0700. When change returns an error or nil, nothing is
// written. With Keep a file that its owner may not write is refused: somebody
// protects it. What a process left behind that was killed while it wrote is
// removed.
func (f File) Update(ctx context.Context, change func(old []byte) ([]byte, error)) error {
	path, err := target(f.Path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %w", path, err)
	}
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("change %s: %w", path, err)
	}
	defer unlock()
	sweep(path)
	old, err := Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil && old == nil {
		old = []byte{}
	}
	next, err := change(old)
	if err != nil || next == nil {
		return err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil && f.Keep {
		if mode = info.Mode().Perm(); mode&0o200 == 0 {
			return fmt.Errorf("change %s: %w: the file is read-only; make it writable, or make the change by hand", path, fs.ErrPermission)
		}
	}
	return replace(path, next, mode)
}

// target follows links, also one whose end does not exist yet.
func target(path string) (string, error) {
	for range 40 {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		link, err := os.Readlink(path)
		if err != nil {
			return "", fmt.Errorf("follow the link %s: %w", path, err)
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("follow the link %s: too many links", path)
}

// The names of what is written before it takes a file's place.
func draft(path string) (before, after string) { return "." + filepath.Base(path) + ".", ".tmp" }

// sweep removes drafts of a file whose lock is held: nobody else writes one.
func sweep(path string) {
	dir := filepath.Dir(path)
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	before, after := draft(path)
	for _, e := range list {
		if name := e.Name(); e.Type().IsRegular() && strings.HasPrefix(name, before) && strings.HasSuffix(name, after) {
			_ = os.Remove(filepath.Join(dir, name))
		}
	}
}

func replace(path string, data []byte, mode fs.FileMode) (err error) {
	before, after := draft(path)
	f, err := os.CreateTemp(filepath.Dir(path), before+"*"+after)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// MaxSize is the largest file that Read accepts, in bytes.
const MaxSize = 4 << 20

// Read returns the content of a regular file of at most MaxSize bytes. A file
// that is not there gives [fs.ErrNotExist], also where its folder is a file.
func Read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		if notDir(err) {
			return nil, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
		}
		return nil, fmt.Errorf("read %s: %w", path, bare(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read %s: it is not a regular file", path)
	}
	if info.Size() > MaxSize {
		return nil, fmt.Errorf("read %s: it is larger than %d MiB", path, MaxSize>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, bare(err))
	}
	return data, nil
}

// bare drops the path that an error of package os repeats.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// lock takes the lock file at path, waiting a little for another holder.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		unlock, err := tryLock(path)
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, bare(err))
		}
		if unlock != nil {
			return unlock, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s: another process has held it for too long; end that process and try again: %w", path, ctx.Err())
		case <-time.After(lockPause):
		}
	}
}
