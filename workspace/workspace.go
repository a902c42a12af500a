package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Config describes a workspace. The zero value has no roots and hides nothing.
type Config struct {
	Root  string   // the main folder, absolute
	Extra []string // further folders that belong to it, absolute

	// Readable are folders that count as inside for reading only, such as the
	// folder of artifacts. They need not exist yet.
	Readable []string

	// Secret reports whether searches must hide the file at an absolute path.
	// It is called from several goroutines. Nil hides nothing.
	Secret func(path string) bool

	Home string // what ~ stands for; "" asks the system
}

// Workspace is a set of folders. It is safe for concurrent use. A nil
// *Workspace behaves like one of the zero Config: paths are resolved and files
// opened all the same, without roots and with nothing hidden.
type Workspace struct {
	readable []string
	secret   func(string) bool
	home     string

	mu    sync.Mutex // guards roots and locks
	roots []string   // links resolved; the main root first
	locks map[string]*keyLock
}

// Place is where a path leads. Path is absolute and clean, with the spelling
// found on disk, links not resolved; it is what tools declare and show. Real
// has all links resolved, also those on the way to something that does not
// exist yet; it is the key under which reads are remembered.
type Place struct {
	Path, Real string
}

// New makes a workspace. Each of Root and Extra must be a folder.
func New(cfg Config) (*Workspace, error) {
	w := &Workspace{secret: cfg.Secret, home: cfg.Home}
	dirs := cfg.Extra
	if cfg.Root != "" {
		dirs = append([]string{cfg.Root}, cfg.Extra...)
	}
	for _, dir := range dirs {
		if err := w.Add(dir); err != nil {
			return nil, err
		}
	}
	for _, dir := range cfg.Readable {
		real, err := Resolve(dir)
		if err != nil {
			return nil, fmt.Errorf("readable folder %s: %w", dir, err)
		}
		w.readable = append(w.readable, real)
	}
	return w, nil
}

// Add makes one more folder part of the workspace.
func (w *Workspace) Add(dir string) error {
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("workspace folder %q must be an absolute path", dir)
	}
	real, err := Resolve(dir)
	if err != nil {
		return fmt.Errorf("workspace folder %s: %w", dir, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("workspace folder: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("workspace folder %s is not a folder", dir)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.roots {
		if r == real {
			return nil
		}
	}
	w.roots = append(w.roots, real)
	return nil
}

// Roots returns the folders of the workspace with links resolved, the main
// one first.
func (w *Workspace) Roots() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.roots...)
}

// Inside reports whether a resolved path lies in the workspace; for reading,
// the readable folders count too.
func (w *Workspace) Inside(real string, read bool) bool {
	if w.rootOf(real) != "" {
		return true
	}
	if w == nil || !read {
		return false
	}
	for _, dir := range w.readable {
		if Below(dir, real) {
			return true
		}
	}
	return false
}

// Secret reports whether searches must hide the file at path.
func (w *Workspace) Secret(path string) bool {
	return w != nil && w.secret != nil && w.secret(path)
}

// Locate turns a path as a model writes it into a place. A relative path
// counts from dir, ~ is the home folder. When no file has the exact name, one
// that differs only in Unicode form or kind of space or apostrophe is taken,
// if there is just one. The place need not exist.
func (w *Workspace) Locate(dir, path string) (Place, error) {
	abs, err := w.Abs(dir, path)
	if err != nil {
		return Place{}, err
	}
	abs = lookup(abs)
	real, err := Resolve(abs)
	if err != nil {
		return Place{}, err
	}
	return Place{abs, real}, nil
}

// Abs makes path absolute and clean without looking at the disk; see Locate.
func (w *Workspace) Abs(dir, path string) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", errors.New("the path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("the path %q holds a NUL character", path)
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~`+string(filepath.Separator)) {
		home, err := w.homeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, path[1:]), nil
	}
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the path %q is relative, and there is no working folder to start from; give an absolute path", path)
	}
	return filepath.Join(dir, path), nil
}

func (w *Workspace) homeDir() (string, error) {
	if w != nil && w.home != "" {
		return w.home, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("the home folder is not known: %w", err)
	}
	return home, nil
}

// rootOf returns the innermost root that holds a resolved path, or "".
func (w *Workspace) rootOf(real string) string {
	best := ""
	for _, r := range w.Roots() {
		if Below(r, real) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// Below reports whether path is dir or lies below it. Both are clean and
// absolute; links are not resolved.
func Below(dir, path string) bool {
	if dir == path {
		return true
	}
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	return strings.HasPrefix(path, dir)
}

// Show returns how a path is written for the model: relative to dir when it
// lies below it, else absolute; with slashes on every system.
func Show(dir, path string) string {
	if dir != "" && Below(dir, path) {
		if rel, err := filepath.Rel(dir, path); err == nil {
			path = rel
		}
	}
	return filepath.ToSlash(path)
}

// ErrMoved says that a place leads elsewhere than when it was located.
var ErrMoved = errors.New("the path leads elsewhere than when it was checked (a link was changed meanwhile); try again")

// check makes sure that a place still leads where it led.
func (p Place) check() error {
	real, err := Resolve(p.Path)
	if err != nil {
		return err
	}
	if real != p.Real {
		return &fs.PathError{Op: "open", Path: p.Path, Err: ErrMoved}
	}
	return nil
}

type keyLock struct {
	sync.Mutex
	users int
}

// Lock holds a file against other writers of this workspace that lock it too,
// and returns what lets it go. Who reads a file to change it locks it first,
// so that agents side by side lose no change.
func (w *Workspace) Lock(p Place) (unlock func()) {
	if w == nil {
		return func() {}
	}
	w.mu.Lock()
	l := w.locks[p.Real]
	if l == nil {
		if w.locks == nil {
			w.locks = map[string]*keyLock{}
		}
		l = &keyLock{}
		w.locks[p.Real] = l
	}
	l.users++
	w.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(w.locks, p.Real)
		}
	}
}
