package session

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/openharness/oh"
)

// File is one session that is open for writing. It implements [oh.Log] and is,
// as that says, used from one goroutine at a time.
type File struct {
	id        string
	path      string
	elsewhere bool
	start     oh.Entry // not yet written when started is false
	started   bool
	w         *os.File // nil until the first entry of a new session
	from      *source  // of a fork, until it is copied
	reading   bool     // nothing may be written
	torn      bool     // the file does not end in a newline
	unsynced  bool     // something was written since the last Sync
	closed    bool
	skipped   Skipped
	notes     []string
}

var (
	errClosed  = errors.New("the session is closed")
	errReading = errors.New("the session is open for reading only")
)

func openFile(ref Ref, version string) (*File, error) {
	w, err := os.OpenFile(ref.Path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", ref.ID, err)
	}
	f := &File{id: ref.ID, path: ref.Path, elsewhere: ref.Elsewhere, started: true, w: w}
	if err := f.claim(); err != nil {
		w.Close()
		return nil, err
	}
	if err := f.inspect(version); err != nil {
		w.Close()
		return nil, fmt.Errorf("open session %s: %w", ref.ID, err)
	}
	return f, nil
}

// inspect looks at how the last writer left the file. One that died before its
// first entry left nothing: the session begins now.
func (f *File) inspect(version string) error {
	info, err := f.w.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		f.started = false
		f.start = oh.NewEntry(oh.SessionStarted{Session: f.id, Version: version})
		return nil
	}
	var last [1]byte
	if _, err := f.w.ReadAt(last[:], info.Size()-1); err != nil {
		return fmt.Errorf("read the last byte: %w", err)
	}
	f.torn = last[0] != '\n'
	return nil
}

// claim makes f the one writer of its file.
func (f *File) claim() error {
	switch err := lock(f.w); {
	case err == nil:
		return nil
	case errors.Is(err, errLocked):
		return &LockedError{ID: f.id, Path: f.path}
	case errors.Is(err, errors.ErrUnsupported):
		f.notes = append(f.notes, fmt.Sprintf("the file system of %s has no locks: do not open session %s twice at the same time", f.path, f.id))
		return nil
	default:
		return fmt.Errorf("lock session %s: %w", f.path, err)
	}
}

// ID is the session's id.
func (f *File) ID() string { return f.id }

// Path is the absolute path of the file, which need not exist yet.
func (f *File) Path() string { return f.path }

// Elsewhere reports whether the session belongs to another project than the
// store it was opened with.
func (f *File) Elsewhere() bool { return f.elsewhere }

// Notes returns warnings about the file as such, for the user.
func (f *File) Notes() []string { return f.notes }

// Entries reads the session from its beginning, as far as it has come by then.
// The first entry is always an [oh.SessionStarted] with the id of this file:
// that of a new session before anything is written, or one made up when the
// file has lost its own. Lines that cannot be read are left out;
// [File.Skipped] counts them afterwards. The error is of the file system and
// ends the sequence.
func (f *File) Entries() iter.Seq2[oh.Entry, error] {
	return func(yield func(oh.Entry, error) bool) {
		f.skipped = Skipped{}
		if !f.started {
			if yield(f.start, nil) && f.from != nil {
				f.taken(yield)
			}
			return
		}
		r, err := openLog(f.path)
		if err != nil {
			yield(oh.Entry{}, fmt.Errorf("read session %s: %w", f.id, err))
			return
		}
		defer r.Close()
		first := true
		for e, err := range Read(r, f.skipped.add) {
			if err != nil {
				yield(oh.Entry{}, fmt.Errorf("read session %s: %w", f.path, err))
				return
			}
			if first {
				first = false
				start, ok := e.Event.(oh.SessionStarted)
				if !ok && !yield(oh.NewEntry(oh.SessionStarted{Session: f.id}), nil) {
					return
				}
				if ok && start.Session != f.id {
					start.Session = f.id
					e.Event = start
				}
			}
			if !yield(e, nil) {
				return
			}
		}
		if first {
			yield(oh.NewEntry(oh.SessionStarted{Session: f.id}), nil)
		}
	}
}

// taken yields what a fork will copy.
func (f *File) taken(yield func(oh.Entry, error) bool) {
	for k, err := range f.from.entries(f.skipped.add) {
		if err != nil {
			yield(oh.Entry{}, fmt.Errorf("read session %s: %w", f.from.id, err))
			return
		}
		if !yield(k.entry, nil) {
			return
		}
	}
}

// Begun reports whether the file exists: a new session has none before its
// first entry.
func (f *File) Begun() bool { return f.started }

// Skipped tells what the last range over [File.Entries] left out.
func (f *File) Skipped() Skipped { return f.skipped }

// Append implements [oh.Log]: one line, one write. After an error the entry
// counts as not written; what of it reached the disk is passed over when the
// file is read, and the next entry begins on a line of its own.
func (f *File) Append(e oh.Entry) error {
	line, err := encode(e)
	if err != nil {
		return err
	}
	if err := f.create(); err != nil {
		return err
	}
	if !f.started {
		if _, ok := e.Event.(oh.SessionStarted); !ok {
			first, err := encode(f.start)
			if err != nil {
				return err
			}
			if err := f.write(first); err != nil {
				return err
			}
			f.started = true
		}
	}
	if err := f.write(line); err != nil {
		return err
	}
	f.started = true
	return nil
}

func encode(e oh.Entry) ([]byte, error) {
	line, err := e.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode session entry %s: %w", e.ID, err)
	}
	return append(line, '\n'), nil
}

// create makes the file and its folder, once.
func (f *File) create() error {
	if f.closed {
		return fmt.Errorf("write session %s: %w", f.id, errClosed)
	}
	if f.reading {
		return fmt.Errorf("write session %s: %w", f.id, errReading)
	}
	if f.w != nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("create the folder of session %s: %w", f.id, err)
	}
	if f.from != nil {
		return f.copySource()
	}
	w, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("create session %s: %w", f.id, err)
	}
	f.w = w
	if err := f.claim(); err != nil {
		f.w = nil
		w.Close()
		return err
	}
	return nil
}

func (f *File) write(line []byte) error {
	if f.torn {
		line = append([]byte{'\n'}, line...)
	}
	n, err := f.w.Write(line)
	f.unsynced = f.unsynced || n > 0
	if err == nil {
		f.torn = false
		return nil
	}
	if n > 0 {
		f.torn = true
	}
	var perr *fs.PathError
	if errors.As(err, &perr) {
		err = perr.Err
	}
	return fmt.Errorf("write session %s: %w (this entry is not kept, all earlier ones are)", f.path, err)
}

// Sync implements [oh.Log]. Without new entries there is nothing to sync.
func (f *File) Sync() error {
	if f.w == nil || f.closed || !f.unsynced {
		return nil
	}
	if err := f.w.Sync(); err != nil {
		return fmt.Errorf("sync session %s: %w", f.id, err)
	}
	f.unsynced = false
	return nil
}

// Close ends the claim on the file. Closing twice does nothing.
func (f *File) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	if f.from != nil {
		_ = f.from.Close() // only read
	}
	if f.w == nil {
		return nil
	}
	if err := f.w.Close(); err != nil {
		return fmt.Errorf("close session %s: %w", f.id, err)
	}
	return nil
}

var (
	_ oh.Log    = (*File)(nil)
	_ io.Closer = (*File)(nil)
)
