package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/config/disk"
)

// Load reads all layers. The error is an [*Error], or several joined; with one
// the settings must not be used.
func Load(o Options) (*Loaded, error) {
	p, err := FindPaths(o)
	if err != nil {
		return nil, &Error{File: "environment", Problem: err.Error()}
	}
	b := newBuilder(o, p)
	if err := b.files(); err != nil {
		return nil, err
	}
	b.environment()
	if err := b.flags(); err != nil {
		return nil, err
	}
	if p.Managed != "" {
		b.file(Managed, p.Managed, false)
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	b.limitMode()
	return b.out, nil
}

// limitMode holds the mode where full_auto is disabled, whoever asked for it.
func (b *builder) limitMode() {
	s := &b.out.Settings
	if s.Permissions.NoBypass == "" || s.Permission.Mode != oh.ModeFullAuto {
		return
	}
	o, by := b.out.Origin("permission.mode"), b.out.Origin("permissions.disableBypassPermissionsMode")
	s.Permission.Mode = oh.ModeAcceptEdits
	b.out.Warnings = append(b.out.Warnings, Warning{File: o.File, Line: o.Line, Key: "permission.mode",
		Problem: "full_auto is disabled by " + by.String() + "; acceptEdits counts instead"})
}

// files adds the user's, the project's and the local settings.
func (b *builder) files() error {
	for _, s := range b.opt.Sources {
		if s != string(User) && s != string(Project) && s != string(Local) {
			return &Error{File: "--setting-sources", Problem: fmt.Sprintf("%q is not one of user, project, local", s)}
		}
	}
	p := b.out.Paths
	var own []fs.FileInfo
	add := func(s Scope, claude bool, dir, name string) {
		if dir == "" || b.opt.Sources != nil && !slices.Contains(b.opt.Sources, string(s)) {
			return
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil {
			if s == User {
				own = append(own, info)
			} else if slices.ContainsFunc(own, func(o fs.FileInfo) bool { return os.SameFile(o, info) }) {
				return // the start folder is the home folder: read once, as the user's
			}
		}
		b.file(s, file, claude)
	}
	add(User, true, p.Claude, "settings.json")
	add(User, false, p.Config, "settings.json")
	for _, part := range []struct {
		scope Scope
		name  string
	}{{Project, "settings.json"}, {Local, "settings.local.json"}} {
		add(part.scope, true, filepath.Join(p.Root, ".claude"), part.name)
		add(part.scope, false, filepath.Join(p.Root, ".openharness"), part.name)
	}
	return nil
}

// file adds one settings file, if there is one.
func (b *builder) file(s Scope, path string, claude bool) {
	data, err := disk.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		problem := strings.TrimPrefix(err.Error(), "read "+path+": ")
		b.errs = append(b.errs, &Error{File: path, Problem: "the file cannot be read: " + problem + "; correct that or move the file away"})
		return
	}
	b.out.Files = append(b.out.Files, path)
	trusted := s != Project && s != Local || b.opt.Trusted
	b.text(&layer{scope: s, file: path, claude: claude, trusted: trusted, text: true}, data)
}

// text adds a layer of JSON text.
func (b *builder) text(l *layer, data []byte) {
	doc, fault := parse(data)
	if fault != nil {
		fault.File = l.file
		b.errs = append(b.errs, fault)
		return
	}
	for _, w := range doc.twice {
		w.File = l.file
		b.out.Warnings = append(b.out.Warnings, *w)
	}
	l.root = doc.root
	b.add(l)
}

// environment adds the variables that set keys.
func (b *builder) environment() {
	root := &node{kind: '{'}
	for _, v := range variables() {
		text, _, ok := b.out.Env(v.name)
		if !ok || text == "" {
			continue
		}
		n, problem := b.fromText(v.key, text)
		if problem != "" {
			n = &node{kind: '?'}
			n.text = problem
		}
		n.name(v.name)
		_ = root.put(strings.Split(v.key, "."), n) // the table holds no key below a scalar
	}
	if len(root.keys) > 0 {
		b.add(&layer{scope: Env, trusted: true, root: root})
	}
}

// flags adds --settings and then the single flags.
func (b *builder) flags() error {
	if s := strings.TrimSpace(b.opt.Settings); strings.HasPrefix(s, "{") {
		b.text(&layer{scope: FlagSet, file: "--settings", trusted: true, text: true}, []byte(s))
	} else if s != "" {
		if !filepath.IsAbs(s) {
			s = filepath.Join(b.out.Paths.Dir, s)
		}
		if _, err := os.Stat(s); errors.Is(err, fs.ErrNotExist) {
			return &Error{File: "--settings", Problem: fmt.Sprintf("there is no file %s; give a path or a JSON object", s)}
		}
		b.file(FlagSet, s, false)
	}
	root := &node{kind: '{'}
	for _, f := range b.opt.Flags {
		n, err := fromValue(f.Value, f.Name)
		if err != nil {
			return &Error{File: f.Name, Key: f.Key, Problem: err.Error()}
		}
		if old, _ := root.find(f.Key); old != nil && old.kind == '[' && n.kind == '[' {
			n.items = append(old.items, n.items...)
		}
		if err := root.put(strings.Split(f.Key, "."), n); err != nil {
			return &Error{File: f.Name, Key: f.Key, Problem: err.Error()}
		}
	}
	if len(root.keys) > 0 {
		b.add(&layer{scope: FlagSet, trusted: true, root: root, flag: true})
	}
	return nil
}
