// Package session keeps conversations on disk: one append-only file of JSON
// lines per session, in one folder per project.
//
// It is for writing the record of a running conversation ([File] is an
// [oh.Log]), for finding, listing and loading earlier ones, and for forks and
// exports. It is not for what the record means: that is [oh.Conversation].
//
// Guarantees: a file is created by the first entry, never before; it is never
// shortened or rewritten; each entry is one line and one write; a line that was
// cut off by a crash spoils no other line; one writer at a time, held by a lock
// of the operating system that ends with the process; what cannot be read is
// skipped and counted, never silently. Looking never creates anything.
package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
)

const ext = ".jsonl"

// Latest is the reference that names the session changed last.
const Latest = "latest"

// Store is the sessions of one project. The folders beside Dir hold those of
// other projects, where [Store.Find] looks when this one has no match. It has
// no state and is safe for concurrent use.
type Store struct {
	Dir     string // absolute; need not exist
	Version string // of the harness, for the first entry of new sessions
}

// Create begins a session. Nothing is written before the first entry; the
// start entry then goes first. An empty start.Session gets a new id, an empty
// start.Version the store's.
func (s Store) Create(start oh.SessionStarted) (*File, error) {
	if start.Session == "" {
		start.Session = oh.NewID()
	}
	if start.Version == "" {
		start.Version = s.Version
	}
	if err := checkID(start.Session); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	if s.Dir == "" {
		return nil, errors.New("create session: no folder to keep sessions in")
	}
	path := filepath.Join(s.Dir, start.Session+ext)
	if err := exists(path); err != nil {
		return nil, fmt.Errorf("create session: %w", err)
	}
	return &File{id: start.Session, path: path, start: oh.NewEntry(start)}, nil
}

// Open opens an earlier session to go on with it; ref is what [Store.Find]
// takes. The error is a *[LockedError] when somebody else writes it.
func (s Store) Open(ref string) (*File, error) {
	found, err := s.Find(ref)
	if err != nil {
		return nil, err
	}
	return openFile(found, s.Version)
}

// View opens an earlier session to look at, also while somebody writes it; ref
// is what [Store.Find] takes. Nothing is created or locked, and appending fails.
func (s Store) View(ref string) (*File, error) {
	found, err := s.Find(ref)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(found.Path)
	if err != nil {
		return nil, fmt.Errorf("open session %s: %w", found.ID, err)
	}
	return &File{id: found.ID, path: found.Path, elsewhere: found.Elsewhere, reading: true, started: info.Size() > 0,
		start: oh.NewEntry(oh.SessionStarted{Session: found.ID, Version: s.Version})}, nil
}

// LockedError says that a session has a writer already.
type LockedError struct {
	ID   string
	Path string
}

// Error implements error.
func (e *LockedError) Error() string {
	return fmt.Sprintf("session %s is in use by another running oh; fork it, or end the other one first (%s)", e.ID, e.Path)
}

// misuse is what whoever named a session did wrong.
type misuse string

// Error implements error.
func (e misuse) Error() string { return string(e) }

// Usage tells that the command line is at fault.
func (misuse) Usage() bool { return true }

// checkID refuses what is no plain file name, so that an id never leads out of
// the folder.
func checkID(id string) error {
	switch {
	case id == "":
		return misuse("the session id is empty; give an id, its beginning, or latest")
	case len(id) > 128:
		return misuse(fmt.Sprintf("the session id has %d characters; at most 128 are allowed", len(id)))
	case strings.HasPrefix(id, "."):
		return misuse(fmt.Sprintf("session id %q begins with a dot", id))
	}
	for _, r := range id {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.') {
			return misuse(fmt.Sprintf("session id %q holds %q; only letters, digits, - _ and . are allowed", id, r))
		}
	}
	return nil
}
