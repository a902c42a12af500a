package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace/proc"
)

// settle decides where the conversation goes after a command that began in
// old, and words it for the model; "" when it stays.
func (t *tool) settle(old string, exit proc.Exit) (dir, note string) {
	roots := t.roots()
	switch {
	case exit.DirGone:
		home := back(roots, old)
		return home, fmt.Sprintf("the directory in which the command ended no longer exists; the working directory is now %s", home)
	case exit.Dir == "" || same(exit.Dir, old):
		return old, ""
	case !utf8.ValidString(exit.Dir):
		home := back(roots, old)
		return home, "the command ended in a directory whose name is not UTF-8; the working directory was reset to " + home
	case !inside(roots, exit.Dir):
		home := back(roots, old)
		return home, fmt.Sprintf("the command ended in %s, which is outside the workspace; the working directory was reset to %s", exit.Dir, home)
	}
	return exit.Dir, "the working directory is now " + exit.Dir
}

// lostDir answers a call whose directory is gone, and moves the conversation.
func (t *tool) lostDir(dir string, emit func(oh.Event)) oh.Result {
	home := refuge(t.roots(), dir)
	if !isDir(home) {
		return oh.ErrorResult(fmt.Sprintf("The working directory %s no longer exists, and neither does %s. The command was not run: give a cwd that exists.", dir, home))
	}
	emit(oh.StateChanged{Dir: home})
	return oh.ErrorResult(fmt.Sprintf("The working directory %s no longer exists. The command was not run; the working directory is now %s. Repeat the command if it is still right there.", dir, home))
}

// back is where to stay: old, while it exists.
func back(roots []string, old string) string {
	if isDir(old) {
		return old
	}
	return refuge(roots, old)
}

// refuge is where to go when dir is gone: the first root that exists; the first
// one when none does, for it may come back and what is outside is no place to
// be. Without roots it is the nearest directory above that exists.
func refuge(roots []string, dir string) string {
	for _, r := range roots {
		if isDir(r) {
			return r
		}
	}
	if len(roots) > 0 {
		return roots[0]
	}
	for !isDir(dir) && filepath.Dir(dir) != dir {
		dir = filepath.Dir(dir)
	}
	return dir
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// same reports whether two paths are one directory.
func same(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// inside reports whether dir, its links resolved, is one of the roots or below
// one. No roots allow all.
func inside(roots []string, dir string) bool {
	if len(roots) == 0 {
		return true
	}
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		rel, err := filepath.Rel(root, dir)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}
