package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

type lsInput struct {
	Path  string `json:"path,omitempty"`
	Depth int    `json:"depth,omitempty" oh:"min=1,max=5,default=1"`
}

// maxEntries is how many entries of a folder are shown.
const maxEntries = 500

func (s set) ls(_ context.Context, call *oh.Call, in lsInput) (oh.Action, error) {
	if in.Path == "" {
		in.Path = "."
	}
	p, err := s.ws.Locate(call.Env.Dir, in.Path)
	if err != nil {
		return oh.Action{}, err
	}
	l := &listing{s: s, p: p, depth: in.Depth}
	return oh.Action{
		Access: oh.Access{ReadOnly: true, Paths: []oh.PathUse{{Path: p.Path, Tree: true}}},
		Run:    func(ctx context.Context, _ func(oh.Event)) (oh.Result, error) { return l.run(ctx) },
	}, nil
}

// listing is one call of ls.
type listing struct {
	s     set
	p     workspace.Place
	depth int

	mu    sync.Mutex // guards what follows
	found []item
	total int
}

// item is one entry of a folder.
type item struct {
	path    string // below the folder, with slashes
	mode    fs.FileMode
	ignored bool
}

func (e item) level() int { return strings.Count(e.path, "/") }

func (l *listing) run(ctx context.Context) (oh.Result, error) {
	info, err := l.s.ws.Stat(l.p)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s does not exist%s", l.p.Path, near(l.p.Path))
		}
		return oh.Result{}, err
	}
	if !info.IsDir() {
		return oh.TextResult(l.p.Path + l.tail(item{mode: info.Mode().Type()}, l.p.Real)), nil
	}
	opt := workspace.WalkOptions{Dirs: true, Depth: l.depth, Keep: func(e *workspace.Entry) bool {
		l.add(item{e.Path, e.Type, true})
		return false
	}}
	skipped, err := l.s.ws.Walk(ctx, l.p, opt, func(_ int, e *workspace.Entry) error {
		l.add(item{e.Path, e.Type, false})
		return nil
	})
	if err != nil {
		return oh.Result{}, err
	}
	if info, err := os.Lstat(filepath.Join(l.p.Real, ".git")); err == nil {
		l.add(item{".git", info.Mode().Type(), true}) // a walk passes over it
	}
	return l.result(skipped), nil
}

// add notes an entry. Of many, those of the upper levels are kept.
func (l *listing) add(e item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total++
	l.found = append(l.found, e)
	if len(l.found) >= 4*maxEntries {
		l.prune()
	}
}

func (l *listing) prune() {
	slices.SortFunc(l.found, func(a, b item) int {
		if d := a.level() - b.level(); d != 0 {
			return d
		}
		return strings.Compare(a.path, b.path)
	})
	l.found = l.found[:min(len(l.found), maxEntries)]
}

func (l *listing) result(skipped workspace.Skipped) oh.Result {
	l.prune()
	slices.SortFunc(l.found, func(a, b item) int {
		return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/"))
	})
	var b strings.Builder
	var paths []string
	b.WriteString(strings.TrimSuffix(filepath.ToSlash(l.p.Path), "/") + "/\n")
	ignored := 0
	for _, e := range l.found {
		full := filepath.Join(l.p.Real, filepath.FromSlash(e.path))
		b.WriteString(strings.Repeat("  ", e.level()+1) + plainName(filepath.Base(full)) + l.tail(e, full))
		if e.ignored && e.path != ".git" {
			ignored++
			b.WriteString("  (ignored)")
		}
		b.WriteByte('\n')
		paths = append(paths, e.path)
	}
	notes := l.notes(skipped)
	if len(notes) > 0 {
		b.WriteString("[" + strings.Join(notes, " ") + "]")
	}
	res := oh.TextResult(strings.TrimSuffix(b.String(), "\n"))
	res.Display = oh.Tree{Paths: paths}
	res.Meta = meta(map[string]any{"path": l.p.Path, "entries": l.total, "shown": len(l.found), "ignored": ignored})
	return res
}

func (l *listing) notes(skipped workspace.Skipped) []string {
	var notes []string
	if l.total == 0 {
		notes = append(notes, "The folder is empty.")
	}
	if n := l.total - len(l.found); n > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s entries shown, upper levels first; list a folder below, or use glob.", text.Number(len(l.found)), text.Number(l.total)))
	}
	if skipped.Secret > 0 {
		notes = append(notes, text.Plural(skipped.Secret, "name")+" that may not be read left out.")
	}
	if skipped.Unreadable > 0 {
		notes = append(notes, text.Plural(skipped.Unreadable, "folder")+" could not be read.")
	}
	return notes
}

// tail is what follows a name: a slash, a size, a target, a kind.
func (l *listing) tail(e item, full string) string {
	switch {
	case e.mode.IsDir():
		return "/"
	case e.mode&fs.ModeSymlink != 0:
		to, err := os.Readlink(full)
		if err != nil {
			return " -> ?"
		}
		info, err := os.Stat(full)
		switch {
		case err != nil:
			return " -> " + plainName(to) + "  (leads nowhere)"
		case info.IsDir():
			return " -> " + plainName(to) + "/"
		}
		return " -> " + plainName(to)
	case !e.mode.IsRegular():
		return "  (" + workspace.Kind(e.mode) + ")"
	}
	info, err := os.Lstat(full)
	if err != nil {
		return "  (gone)"
	}
	return "  " + text.Number(int(info.Size()))
}

// plainName is a name that stays on its line and is valid text; one that would
// not is quoted.
func plainName(s string) string {
	odd := !utf8.ValidString(s)
	for _, r := range s {
		odd = odd || !unicode.IsPrint(r)
	}
	if odd {
		return fmt.Sprintf("%q", s)
	}
	return s
}
