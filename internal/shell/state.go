package shell

import (
	"maps"
	"path/filepath"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// state is what a command finds: directories it may be in, variables that the
// line itself has set. Its maps are never changed, only replaced.
type state struct {
	dirs   []string // nil: it cannot be told
	vars   map[string]string
	params []string // $1 and so on
	args   bool     // params are known
	funcs  map[string]*syntax.Stmt
	taint  string // a variable that changes what later commands do
	moved  string // a directory that is no root of the workspace
}

const maxDirs = 8

func (s state) with(name, val string) state {
	vars := make(map[string]string, len(s.vars)+1)
	maps.Copy(vars, s.vars)
	vars[name] = val
	s.vars = vars
	if s.taint == "" && unsafeVariable(name) {
		s.taint = name
	}
	return s
}

// fog is the state after something that may have changed any variable.
func (s state) fog() state {
	vars := make(map[string]string, len(s.vars))
	for name := range s.vars {
		vars[name] = string(rune(many))
	}
	s.vars, s.dirs, s.params, s.args = vars, nil, nil, false
	return s
}

// meet is what holds in both states.
func meet(a, b state) state {
	if a.same(b) {
		return a
	}
	out := a
	out.dirs = meetDirs(a.dirs, b.dirs)
	out.vars = meetMaps(a.vars, b.vars, string(rune(many)))
	out.funcs = meetMaps(a.funcs, b.funcs, nil) // one of several, or none
	if a.args != b.args || !slices.Equal(a.params, b.params) {
		out.args, out.params = false, nil
	}
	if out.taint == "" {
		out.taint = b.taint
	}
	if out.moved == "" {
		out.moved = b.moved
	}
	return out
}

func meetDirs(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	out := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	if len(out) > maxDirs {
		return nil
	}
	return out
}

// meetMaps keeps what both say, and has doubt for the rest.
func meetMaps[V comparable](a, b map[string]V, doubt V) map[string]V {
	if maps.Equal(a, b) {
		return a
	}
	out := make(map[string]V, len(a))
	for name, v := range a {
		if w, ok := b[name]; !ok || w != v {
			v = doubt
		}
		out[name] = v
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			out[name] = doubt
		}
	}
	return out
}

func (s state) same(b state) bool {
	return slices.Equal(s.dirs, b.dirs) && (s.dirs == nil) == (b.dirs == nil) && maps.Equal(s.vars, b.vars) &&
		s.args == b.args && slices.Equal(s.params, b.params) && maps.Equal(s.funcs, b.funcs) && s.taint == b.taint && s.moved == b.moved
}

// dir is the directory for a person, "" when there is not one.
func (s state) dir() string {
	if len(s.dirs) == 1 {
		return s.dirs[0]
	}
	return ""
}

// paths resolves a word. With no result it cannot be told what it names. A path
// that goes up from a folder below keeps its dots, since the folder may be a
// link.
func (r *reader) paths(s state, val string) []string {
	if val == "" || !sure(val) {
		return nil
	}
	p := filepath.FromSlash(show(val))
	if filepath.IsAbs(p) {
		return []string{tidy(p)}
	}
	var out []string
	for _, d := range s.dirs {
		full := tidy(d + string(filepath.Separator) + p)
		if d == r.at.Dir || slices.Contains(r.at.Roots, d) {
			full = tidy(filepath.Join(d, leadingDots(p)) + string(filepath.Separator) + p[len(leadingDots(p)):])
		}
		out = append(out, full)
	}
	return out
}

// leadingDots is the part of a relative path that only goes up.
func leadingDots(p string) string {
	i := 0
	for i < len(p) {
		switch {
		case p[i] == filepath.Separator:
			i++
		case len(p) >= i+2 && p[i:i+2] == ".." && (len(p) == i+2 || p[i+2] == filepath.Separator):
			i += 2
		case p[i] == '.' && (len(p) == i+1 || p[i+1] == filepath.Separator):
			i++
		default:
			return p[:i]
		}
	}
	return p[:i]
}

// tidy cleans a path in which nothing goes up; any other stays as it is.
func tidy(p string) string {
	for i := 0; i+2 < len(p); i++ {
		if p[i] == filepath.Separator && p[i+1] == '.' && p[i+2] == '.' && (i+3 == len(p) || p[i+3] == filepath.Separator) {
			return p
		}
	}
	return filepath.Clean(p)
}
