package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config"
	"github.com/openharness/oh/internal/session"
	"github.com/openharness/oh/internal/text"
)

// Store returns the sessions of the project around a folder.
func Store(paths config.Paths, version string) session.Store {
	return session.Store{Dir: filepath.Join(paths.Data, "sessions", config.Key(paths.Root)), Version: version}
}

// openLog opens the session's file and its conversation. It is first, since
// the state in it feeds the steps.
func (r *Runtime) openLog() error {
	start := oh.SessionStarted{Session: r.opts.Session, Version: r.opts.Version, Dir: r.paths.Dir, Root: r.paths.Root}
	if r.opts.NoSave || r.opts.DryRun && r.opts.Resume == "" && !r.opts.Continue {
		if start.Session == "" {
			start.Session = oh.NewID()
		}
		return r.openConversation(&oh.MemoryLog{}, start)
	}
	file, err := r.openFile(start)
	if err != nil {
		return err
	}
	r.file = file
	for _, n := range file.Notes() {
		r.note(oh.Warning, n)
	}
	if file.Elsewhere() {
		r.note(oh.Info, "This session belongs to another project: "+file.Path())
	}
	var log oh.Log = &quietLog{file: file, begun: r.resumed && file.Begun()}
	if r.opts.DryRun {
		log = &oh.MemoryLog{} // nothing is written, not even to a session that is looked at
	}
	conv, err := oh.Open(log, file.Entries())
	if err != nil {
		return errors.Join(err, file.Close())
	}
	r.conv = conv
	if s := file.Skipped(); s.Count > 0 {
		r.note(oh.Warning, "session "+file.ID()+": "+s.String())
	}
	return r.restoreDir()
}

func (r *Runtime) openConversation(log oh.Log, start oh.SessionStarted) error {
	conv, err := oh.Open(log, nil)
	if err != nil {
		return err
	}
	r.conv = conv
	return conv.Append(oh.NewEntry(start))
}

// openFile finds or makes the session's file.
func (r *Runtime) openFile(start oh.SessionStarted) (*session.File, error) {
	store := Store(r.paths, r.opts.Version)
	ref := r.opts.Resume
	if r.opts.Continue {
		ref = session.Latest
	}
	if ref == "" {
		return store.Create(start)
	}
	r.resumed = true
	if r.opts.DryRun {
		return store.View(ref)
	}
	if r.opts.Fork {
		return store.Fork(ref, "", r.opts.Session)
	}
	file, err := store.Open(ref)
	if locked, ok := errors.AsType[*session.LockedError](err); ok {
		r.note(oh.Warning, fmt.Sprintf("Session %s is in use by another oh; going on in a copy of it.", locked.ID))
		return store.Fork(locked.ID, "", r.opts.Session)
	}
	return file, err
}

// restoreDir makes sure that the conversation's directory exists.
func (r *Runtime) restoreDir() error {
	dir := r.conv.State().Dir
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	r.note(oh.Warning, fmt.Sprintf("The session's directory %s is gone; going on in %s.", text.OneLine(dir, 200), r.paths.Dir))
	return r.change(oh.StateChanged{Dir: r.paths.Dir})
}

// change changes the session's state. Watchers are told of what happens after
// the build.
func (r *Runtime) change(ev oh.StateChanged) error {
	if err := r.conv.Append(oh.NewEntry(ev)); err != nil {
		return err
	}
	if r.built {
		r.untold = append(r.untold, ev)
	}
	return nil
}

// quietLog holds the state of a new session or fork back until something is
// said, so that looking around leaves no file. It is used under the conversation's lock.
type quietLog struct {
	file  *session.File
	begun bool
	held  []oh.Entry
}

// Append implements [oh.Log].
func (l *quietLog) Append(e oh.Entry) error {
	if !l.begun {
		switch e.Event.(type) {
		case oh.StateChanged, oh.SessionStarted, oh.Notice,
			oh.ToolDone: // stands for a call that the original has not ended
			l.held = append(l.held, e)
			return nil
		}
		l.begun = true
	}
	for len(l.held) > 0 {
		if err := l.file.Append(l.held[0]); err != nil {
			return err
		}
		l.held = l.held[1:]
	}
	return l.file.Append(e)
}

// Sync implements [oh.Log].
func (l *quietLog) Sync() error {
	if !l.begun {
		return nil
	}
	return l.file.Sync()
}
