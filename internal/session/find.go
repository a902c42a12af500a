package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Ref is where a session is.
type Ref struct {
	ID        string
	Path      string // absolute if the store's folder is
	Elsewhere bool   // it belongs to another project
}

// NotFoundError says that no session matches.
type NotFoundError struct{ Ref string }

// Error implements error.
func (e *NotFoundError) Error() string {
	if e.Ref == Latest {
		return "there is no session to go on with in this project yet"
	}
	return fmt.Sprintf("no session begins with %q, in this project or any other; list them to see their ids", e.Ref)
}

// AmbiguousError says that several sessions match.
type AmbiguousError struct {
	Ref string
	IDs []string // all that match, newest first
}

// Error implements error. It names at most ten.
func (e *AmbiguousError) Error() string {
	ids, more := e.IDs, ""
	if len(ids) > 10 {
		more = fmt.Sprintf("\n  and %d more", len(ids)-10)
		ids = ids[:10]
	}
	return fmt.Sprintf("%d sessions begin with %q; give more of the id:\n  %s%s", len(e.IDs), e.Ref, strings.Join(ids, "\n  "), more)
}

// Find resolves a reference: [Latest], an id, or the beginning of one that no
// other session shares. This project is searched first, then all others (but
// not for latest). The error is a *[NotFoundError], an *[AmbiguousError], or
// says what is wrong with the reference.
func (s Store) Find(ref string) (Ref, error) {
	if ref == Latest {
		return s.latest()
	}
	if err := checkID(ref); err != nil {
		return Ref{}, err
	}
	found, err := match(s.Dir, ref, false)
	if err != nil {
		return Ref{}, err
	}
	if len(found) == 0 {
		for _, dir := range s.projects() {
			more, err := match(dir, ref, true)
			if err != nil {
				continue // another project's folder is not this one's trouble
			}
			found = append(found, more...)
		}
	}
	return pick(ref, found)
}

func pick(ref string, found []Ref) (Ref, error) {
	switch len(found) {
	case 0:
		return Ref{}, &NotFoundError{Ref: ref}
	case 1:
		return found[0], nil
	}
	for _, f := range found {
		if f.ID == ref {
			return f, nil
		}
	}
	ids := make([]string, len(found))
	for i, f := range found {
		ids[i] = f.ID
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return Ref{}, &AmbiguousError{Ref: ref, IDs: ids}
}

func (s Store) latest() (Ref, error) {
	infos, err := s.List(1)
	if err != nil {
		return Ref{}, err
	}
	if len(infos) == 0 {
		return Ref{}, &NotFoundError{Ref: Latest}
	}
	return Ref{ID: infos[0].ID, Path: infos[0].Path}, nil
}

// projects lists the folders beside Dir.
func (s Store) projects() []string {
	if s.Dir == "" {
		return nil
	}
	root := filepath.Dir(filepath.Clean(s.Dir))
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var dirs []string
	for _, e := range entries {
		if dir := filepath.Join(root, e.Name()); e.IsDir() && dir != filepath.Clean(s.Dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// match finds the sessions of a folder whose id begins with prefix.
func match(dir, prefix string, elsewhere bool) ([]Ref, error) {
	files, err := files(dir)
	if err != nil {
		return nil, err
	}
	var found []Ref
	for _, f := range files {
		if id := strings.TrimSuffix(f.Name(), ext); strings.HasPrefix(id, prefix) {
			found = append(found, Ref{ID: id, Path: filepath.Join(dir, f.Name()), Elsewhere: elsewhere})
		}
	}
	return found, nil
}

// files lists the session files of a folder; a folder that does not exist has
// none.
func files(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ext) || checkID(strings.TrimSuffix(e.Name(), ext)) != nil
	}), nil
}
