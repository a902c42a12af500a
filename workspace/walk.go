package workspace

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// WalkOptions says what a walk visits. The zero value visits all files and
// links that no ignore file leaves out.
type WalkOptions struct {
	// Keep asks back about an entry that an ignore file leaves out; true visits
	// it, or enters the folder, all the same. It is called from several
	// goroutines. Nil keeps none.
	Keep func(e *Entry) bool

	Dirs  bool // visit folders too
	Depth int  // 1: only what lies in the folder itself; 0: no limit
}

// Entry is what a walk found. It may be used only during the visit.
type Entry struct {
	Path string // below the walk's folder, with slashes
	Name string
	Type fs.FileMode // type bits only
	dir  *handle
}

// Open opens the regular file for reading, without following a link and
// without blocking. size is that of the file, in bytes.
func (e *Entry) Open() (r io.ReadCloser, size int64, err error) {
	return e.dir.regular(e.Name)
}

// Skipped counts what a walk left out. A folder counts once.
type Skipped struct {
	Ignored    int
	Secret     int
	Unreadable int
	Examples   []string // a few of the ignored, the topmost first, sorted
}

// Workers is how many goroutines a walk uses.
func Workers() int { return min(runtime.GOMAXPROCS(0), 8) }

// Walk visits what lies below the folder at p, in no particular order. visit
// is called from several goroutines; worker, from 0 to Workers()-1, tells them
// apart. Links are visited but not followed, .git is never entered. An error
// of visit, or the end of ctx, ends the walk and is returned, with what was
// counted so far.
//
// .gitignore files, .git/info/exclude and the user's excludes file count
// inside a git work tree, .ignore files always. When the folder at p is itself
// ignored, rules from above it do not count: who names it wants to see it.
func (w *Workspace) Walk(ctx context.Context, p Place, opt WalkOptions, visit func(worker int, e *Entry) error) (Skipped, error) {
	if err := p.check(); err != nil {
		return Skipped{}, err
	}
	top, err := w.openTop(p)
	if err != nil {
		return Skipped{}, named(err, p)
	}
	home, err := w.homeDir()
	if err != nil {
		home = ""
	}
	r, prefix := w.startRules(p.Real, home)
	k := &walker{ctx: ctx, w: w, opt: opt, visit: visit, real: p.Real, prefix: prefix, home: home}
	k.cond.L = &k.mu
	k.stack = []job{{dir: top, rules: r}}
	var wg sync.WaitGroup
	for i := range Workers() {
		wg.Go(func() { k.work(i) })
	}
	wg.Wait()
	for _, j := range k.stack {
		j.dir.release()
	}
	return k.skipped, k.err
}

// startRules collects the rules from above a folder, and its path below the
// folder they begin at.
func (w *Workspace) startRules(real, home string) (rules, string) {
	var r rules
	top, git := real, false
	for at := real; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			top, git = at, true
			break
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if git {
		r = r.repo(top, "", home)
	} else if root := w.rootOf(real); root != "" {
		top = root
	}
	rel, err := filepath.Rel(top, real)
	if err != nil || rel == "." {
		return r, ""
	}
	at, base := top, ""
	for _, name := range strings.Split(filepath.ToSlash(rel), "/") {
		r = r.inside(base, func(name string) []byte { return readSmall(filepath.Join(at, name)) })
		at, base = filepath.Join(at, name), join(base, name)
		if r.ignored(base, true) {
			r.plain, r.git = nil, nil
		}
	}
	return r, base
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

const batch = 64 // files of one folder that a worker visits before others may help

// job is a folder to read (entries nil), or some files of one to visit.
type job struct {
	dir     *handle // of the folder, or for a folder to read, of its parent
	name    string  // of the folder to read; "" when dir is already it
	rel     string
	depth   int
	rules   rules
	entries []fs.DirEntry
}

type walker struct {
	ctx    context.Context
	w      *Workspace
	opt    WalkOptions
	visit  func(int, *Entry) error
	real   string // the walk's folder
	prefix string // its path below where the rules begin
	home   string

	mu      sync.Mutex // guards what follows
	cond    sync.Cond
	stack   []job
	busy    int
	skipped Skipped
	err     error
	stop    atomic.Bool
}

func (k *walker) work(worker int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		for len(k.stack) == 0 && k.busy > 0 && k.err == nil {
			k.cond.Wait()
		}
		if len(k.stack) == 0 || k.err != nil {
			k.cond.Broadcast()
			return
		}
		j := k.stack[len(k.stack)-1]
		k.stack = k.stack[:len(k.stack)-1]
		k.busy++
		k.mu.Unlock()
		err := k.do(worker, j)
		k.mu.Lock()
		k.busy--
		if err != nil && k.err == nil {
			k.err = err
			k.stop.Store(true)
		}
		if k.busy == 0 || k.err != nil {
			k.cond.Broadcast()
		}
	}
}

func (k *walker) push(jobs ...job) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stack = append(k.stack, jobs...)
	k.cond.Broadcast()
}

func (k *walker) skip(what *int, rel string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	*what++
	if what != &k.skipped.Ignored {
		return
	}
	k.skipped.Examples = append(k.skipped.Examples, rel)
	slices.SortFunc(k.skipped.Examples, func(a, b string) int {
		if d := strings.Count(a, "/") - strings.Count(b, "/"); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	k.skipped.Examples = k.skipped.Examples[:min(3, len(k.skipped.Examples))]
}

func (k *walker) do(worker int, j job) error {
	if j.entries == nil {
		return k.readDir(worker, j)
	}
	defer j.dir.release()
	return k.visitAll(worker, j)
}

func (k *walker) visitAll(worker int, j job) error {
	for _, d := range j.entries {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		if k.stop.Load() {
			return nil
		}
		e := &Entry{join(j.rel, d.Name()), d.Name(), d.Type(), j.dir}
		if err := k.visit(worker, e); err != nil {
			return err
		}
	}
	return nil
}

// readDir reads a folder, queues its folders and files and visits the first of
// its files.
func (k *walker) readDir(worker int, j job) error {
	if err := k.ctx.Err(); err != nil {
		j.dir.release()
		return err
	}
	dir := j.dir
	if j.name != "" {
		sub, err := dir.openDir(j.name)
		dir.release()
		if err != nil {
			k.skip(&k.skipped.Unreadable, j.rel)
			return nil
		}
		dir = sub
	}
	defer dir.release()
	list, err := dir.list()
	if err != nil && len(list) == 0 {
		if j.rel == "" {
			return fmt.Errorf("read folder %s: %w", k.real, bare(err))
		}
		k.skip(&k.skipped.Unreadable, j.rel)
		return nil
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	j.rules = k.rulesIn(dir, list, j)
	dirs, visits := k.sort(dir, list, j)
	slices.Reverse(dirs)
	for i := len(visits); i > batch; i -= batch {
		lo := max(batch, i-batch)
		dirs = append(dirs, job{dir: dir.keep(), rel: j.rel, entries: visits[lo:i]})
	}
	k.push(dirs...)
	return k.visitAll(worker, job{dir: dir, rel: j.rel, entries: visits[:min(batch, len(visits))]})
}

// rulesIn returns the rules that hold in a folder.
func (k *walker) rulesIn(dir *handle, list []fs.DirEntry, j job) rules {
	r := j.rules
	base := join(k.prefix, j.rel)
	if j.rel == "" {
		base = k.prefix
	}
	has := map[string]bool{}
	for _, d := range list {
		switch d.Name() {
		case ".git", ".gitignore", ".ignore":
			has[d.Name()] = true
		}
	}
	if len(has) == 0 {
		return r
	}
	if has[".git"] && j.rel != "" {
		r = r.repo(filepath.Join(k.real, filepath.FromSlash(j.rel)), base, k.home)
	}
	return r.inside(base, func(name string) []byte {
		if !has[name] {
			return nil
		}
		return dir.readSmall(name)
	})
}

// sort tells the entries of a folder apart into folders to read and entries to
// visit.
func (k *walker) sort(dir *handle, list []fs.DirEntry, j job) (dirs []job, visits []fs.DirEntry) {
	for _, d := range list {
		name := d.Name()
		if strings.EqualFold(name, ".git") {
			continue
		}
		rel := join(j.rel, name)
		isDir := d.IsDir()
		if j.rules.ignored(join(k.prefix, rel), isDir) {
			e := &Entry{rel, name, d.Type(), dir}
			if k.opt.Keep == nil || !k.opt.Keep(e) {
				k.skip(&k.skipped.Ignored, rel)
				continue
			}
		}
		if k.w.Secret(filepath.Join(k.real, filepath.FromSlash(rel))) {
			k.skip(&k.skipped.Secret, rel)
			continue
		}
		if !isDir || k.opt.Dirs {
			visits = append(visits, d)
		}
		if isDir && (k.opt.Depth == 0 || j.depth+1 < k.opt.Depth) {
			dirs = append(dirs, job{dir: dir.keep(), name: name, rel: rel, depth: j.depth + 1, rules: j.rules})
		}
	}
	return dirs, visits
}
