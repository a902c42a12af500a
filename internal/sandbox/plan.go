package sandbox

import (
	_ "embed"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed secret.txt
var secretTable string

// plan is a configuration brought down to places that exist, links resolved.
type plan struct {
	temp   string
	home   string
	write  []string // folders and files; nothing in it lies below another
	deny   []string // not to be read
	except []string // below what is denied, and may be read; need not be there
	absent []string // would be denied, but are not there
	fixed  []string // below what may be written, and may not

	carve []string // write roots that hold the home folder, or are all there is; see dots
	port  int      // of the proxy; 0 for none
	reach Reach
	unix  bool
}

// plan resolves the configuration. The error says that a write root is missing.
func (p *Policy) plan() (*plan, error) {
	c := p.cfg
	out := &plan{temp: p.temp, home: resolve(c.Home), reach: c.Network, unix: c.UnixSockets}
	if p.proxy != nil {
		out.port = p.proxy.Port()
	}
	for _, path := range c.absolute(c.AllowRead) {
		out.except = append(out.except, resolve(path))
	}
	for _, path := range slices.Concat(c.secrets(), c.absolute(c.Private), c.absolute(c.DenyRead)) {
		out.refuse(path)
	}
	if err := out.allow(c); err != nil {
		return nil, err
	}
	return out, nil
}

// secrets lists the places of the table.
func (c Config) secrets() []string {
	var out []string
	for line := range strings.SplitSeq(secretTable, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || c.Home == "" && line[0] == '~' {
			continue
		}
		out = append(out, c.expand(line))
	}
	return out
}

// refuse notes a place that is not to be read.
func (x *plan) refuse(path string) {
	real := resolve(path)
	info, err := os.Lstat(real)
	switch {
	case err != nil:
		x.absent = append(x.absent, real)
	case slices.Contains(x.except, real) || slices.Contains(x.deny, real) || !readable(real, info):
	default:
		x.deny = append(x.deny, real)
	}
}

// readable reports whether we could read a place ourselves. What we cannot,
// commands cannot either, and it need not be kept from them.
func readable(path string, info os.FileInfo) bool {
	if !info.IsDir() && !info.Mode().IsRegular() {
		return true // opening might wait
	}
	f, err := os.Open(path)
	if err != nil {
		return !errors.Is(err, os.ErrPermission)
	}
	_ = f.Close()
	return true
}

// allow collects what may be written.
func (x *plan) allow(c Config) error {
	write := []string{x.temp}
	if c.Mode != ReadOnly {
		for _, root := range c.Write {
			real, err := filepath.EvalSymlinks(c.expand(root))
			if err != nil {
				return errors.New("sandbox: the folder " + root + " cannot be made writable: it does not exist or cannot be reached")
			}
			write = append(write, real)
		}
		write = append(write, c.existing(c.AllowWrite)...)
		write = append(write, x.caches(c)...)
		for _, root := range c.Write {
			write = append(write, gitPlaces(resolve(c.expand(root)))...)
		}
	}
	x.fixed = slices.Concat(c.existing(c.DenyWrite), c.existing(c.Private))
	for _, w := range write {
		switch {
		case slices.ContainsFunc(x.fixed, func(f string) bool { return within(f, w) }) && w != x.temp:
			continue // it is, or lies in, what may not be written
		case x.home != "" && within(w, x.home), filepath.Dir(w) == w:
			x.carve = append(x.carve, w)
		default:
			x.write = append(x.write, w)
		}
	}
	x.write = outermost(x.write)
	x.fixed = slices.DeleteFunc(x.fixed, func(f string) bool { return !x.writable(f) })
	return nil
}

// dots lists what in a carved home folder begins with a dot: shells and other
// programs run what is in it, so it is not written although the folder is.
func (x *plan) dots() []string {
	if !slices.ContainsFunc(x.carve, func(w string) bool { return x.home != "" && within(w, x.home) }) {
		return nil
	}
	var out []string
	entries, _ := os.ReadDir(x.home)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && e.Type()&os.ModeSymlink == 0 {
			out = append(out, filepath.Join(x.home, e.Name()))
		}
	}
	return out
}

func (x *plan) writable(path string) bool {
	return slices.ContainsFunc(x.write, func(w string) bool { return within(w, path) })
}

// exposed lists the denied places that lie in what may be written.
func (x *plan) exposed() []string {
	var out []string
	for _, d := range x.deny {
		if x.writable(d) {
			out = append(out, d)
		}
	}
	return out
}

// expand makes a path absolute.
func (c Config) expand(path string) string {
	if path == "~" {
		path = c.Home
	} else if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(c.Home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	return filepath.Clean(path)
}

func (c Config) absolute(paths []string) []string {
	var out []string
	for _, p := range paths {
		if p != "" {
			out = append(out, c.expand(p))
		}
	}
	return out
}

// existing resolves paths and leaves out those that are not there.
func (c Config) existing(paths []string) []string {
	var out []string
	for _, p := range c.absolute(paths) {
		if real, err := filepath.EvalSymlinks(p); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// resolve follows links as far as the path exists.
func resolve(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	path = filepath.Clean(path)
	up := filepath.Dir(path)
	if up == path {
		return path
	}
	return filepath.Join(resolve(up), filepath.Base(path))
}

// within reports whether path is dir or lies below it. Both are clean.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// outermost leaves out what lies below another one.
func outermost(paths []string) []string {
	var out []string
	for i, p := range paths {
		inner := slices.ContainsFunc(paths, func(o string) bool { return o != p && within(o, p) })
		if !inner && !slices.Contains(paths[:i], p) {
			out = append(out, p)
		}
	}
	return out
}
