package session

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// unborn is how the name of a copy ends that is not complete. With the dot that
// it begins with, no listing takes it for a session.
const unborn = ".fork"

// stale is the age at which an incomplete copy has no writer any more.
const stale = time.Hour

// copySource makes the file of a fork: under another name first, so that a copy
// that is cut short is never taken for a session.
func (f *File) copySource() error {
	dir := filepath.Dir(f.path)
	sweep(dir)
	path := filepath.Join(dir, "."+f.id+"."+oh.NewID()+unborn)
	w, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create session %s: %w", f.id, err)
	}
	f.w = w
	err = f.claim()
	if err == nil {
		err = f.fill()
	}
	if err == nil {
		f.w, err = publish(w, path, f.path)
	}
	if err != nil {
		f.w = nil
		_ = w.Close() // closed already where publish has to
		return errors.Join(fmt.Errorf("fork session %s: %w", f.from.id, err), discard(path))
	}
	f.started, f.unsynced = true, false
	_ = f.from.Close() // only read
	f.from = nil
	return nil
}

// fill writes the start entry and what is kept of the source, durably.
func (f *File) fill() error {
	first, err := encode(f.start)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f.w, 256<<10)
	w.Write(first) // an error stays in w until Flush
	for k, err := range f.from.entries(func(int, error) {}) {
		if err != nil {
			return err
		}
		w.Write(k.raw)
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.w.Sync()
}

func discard(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// exists refuses to put a session where one is.
func exists(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return misuse(path + " exists already; use another id or resume it")
	}
	return nil
}

// sweep removes what copies left that were cut short. What cannot be removed
// is in nobody's way.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !strings.HasSuffix(e.Name(), unborn) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > stale {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
