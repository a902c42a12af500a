package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// mostGrants bounds the rules of one set. Folders on the way to a denied place
// with more entries than that are closed beyond it.
const mostGrants = 20_000

// grant opens a place, with all below it.
type grant struct {
	path  string
	ino   uint64
	write bool
}

// reach is what may be used of the file system, as a list of grants.
//
// Landlock only grants. So a denied place is left out: the folders on the way
// to it are not granted, but each of their other entries is. What is made in
// those folders later is in no grant; they are watched for that.
type reach struct {
	grants []grant
	seen   []watch
	gone   []string // denied places that are not there
	denied int      // how many places are denied
	full   bool     // grants were left out, there are too many
}

// watch is a folder on the way to a denied place, as it was read.
type watch struct {
	path  string
	mtime time.Time
}

func (x *plan) scan() *reach {
	r := &reach{gone: slices.Clone(x.absent), denied: len(x.deny)}
	r.open(x, string(filepath.Separator), false, slices.Concat(x.deny, []string{"/dev"}))
	for _, w := range x.carve {
		r.open(x, w, true, slices.Concat(x.deny, []string{"/dev", "/proc", "/sys"}))
	}
	for _, path := range x.except {
		if !r.add(path, false) {
			r.gone = append(r.gone, path)
		}
	}
	for _, path := range x.write {
		r.add(path, true)
	}
	return r
}

// open grants dir but for what is denied. Where dir is to be written, what
// begins with a dot in the home folder is not: it holds what shells and other
// programs run.
func (r *reach) open(x *plan, dir string, write bool, denied []string) {
	if slices.Contains(denied, dir) {
		return
	}
	home := write && within(dir, x.home)
	if !home && !slices.ContainsFunc(denied, func(d string) bool { return within(dir, d) }) {
		r.add(dir, write)
		return
	}
	entries := r.read(dir)
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 {
			continue // its target counts
		}
		path := filepath.Join(dir, e.Name())
		if dir == x.home && write && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		r.open(x, path, write, denied)
	}
}

// read lists a folder and watches it. A folder that everybody may write, as
// /tmp, changes all the time and is not followed.
func (r *reach) read(dir string) []os.DirEntry {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil
	}
	if info.Mode()&os.ModeSticky == 0 {
		r.seen = append(r.seen, watch{dir, info.ModTime()})
	}
	entries, _ := os.ReadDir(dir) // what cannot be listed is not granted
	return entries
}

// add grants a place. It reports whether it is there.
func (r *reach) add(path string, write bool) bool {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return false
	}
	if len(r.grants) >= mostGrants {
		r.full = true
		return true
	}
	r.grants = append(r.grants, grant{path, st.Ino, write})
	return true
}

// stale reports whether the watched folders have changed. It costs one call
// for each of some ten folders and some tens of absent places.
func (r *reach) stale() bool {
	for _, w := range r.seen {
		info, err := os.Stat(w.path)
		if err != nil || !info.ModTime().Equal(w.mtime) {
			return true
		}
	}
	var st unix.Stat_t
	for _, path := range r.gone {
		if unix.Lstat(path, &st) == nil {
			return true
		}
	}
	return false
}

// covers reports whether r denies what o does and grants all that o does: then
// nothing is lost by staying with it.
func (r *reach) covers(o *reach) bool {
	if r.denied != o.denied {
		return false
	}
	have := make(map[grant]bool, len(r.grants))
	for _, g := range r.grants {
		have[g] = true
	}
	return !slices.ContainsFunc(o.grants, func(g grant) bool { return !have[g] })
}
