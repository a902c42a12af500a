package config

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Paths are the places that oh knows. All are absolute; none is created.
type Paths struct {
	Home    string // "" when not known
	Config  string // OPENHARNESS_CONFIG_DIR or ~/.openharness
	Data    string // OPENHARNESS_DATA_DIR or Config/data
	Logs    string // OPENHARNESS_LOGS_DIR or Config/logs
	Claude  string // CLAUDE_CONFIG_DIR or ~/.claude
	Dir     string // the start folder, links resolved
	Root    string // the git root around Dir, else Dir
	Main    string // the main git root when Root is a worktree, else Root
	Git     bool   // Root is a git root
	Managed string // the system's settings file; "" for none
}

// FindPaths resolves the places for a start folder. The git root is searched
// upwards from Dir; the home folder and what lies above it count only when
// they are Dir itself.
func FindPaths(o Options) (Paths, error) {
	dir, err := startDir(o.Dir)
	if err != nil {
		return Paths{}, err
	}
	p := Paths{Dir: dir, Home: o.Home, Managed: o.Managed}
	if p.Home == "" {
		p.Home = homeOf(o)
	}
	place := func(env, fallback string) string {
		v, _ := o.lookup(env)
		switch {
		case v == "":
			return fallback
		case !filepath.IsAbs(v):
			return filepath.Join(p.Dir, v)
		}
		return filepath.Clean(v)
	}
	if p.Home != "" {
		p.Config, p.Claude = filepath.Join(p.Home, ".openharness"), filepath.Join(p.Home, ".claude")
	}
	p.Config = place("OPENHARNESS_CONFIG_DIR", p.Config)
	if p.Config == "" {
		return p, errors.New("the home folder is not known: set HOME or OPENHARNESS_CONFIG_DIR")
	}
	p.Claude = place("CLAUDE_CONFIG_DIR", p.Claude)
	p.Data = place("OPENHARNESS_DATA_DIR", filepath.Join(p.Config, "data"))
	p.Logs = place("OPENHARNESS_LOGS_DIR", filepath.Join(p.Config, "logs"))
	p.Root, p.Git = gitRoot(p.Dir, resolve(p.Home))
	p.Main = mainRoot(p.Root)
	switch p.Managed {
	case "":
		p.Managed = managedFile()
	case "-":
		p.Managed = ""
	}
	return p, nil
}

// startDir resolves the start folder; "" is the process's.
func startDir(dir string) (string, error) {
	if dir == "" {
		wd, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("find the working directory: %w", err)
		}
		dir = wd
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", dir, err)
	}
	return resolve(abs), nil
}

func homeOf(o Options) string {
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if v, _ := o.lookup(name); v != "" && filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
	}
	if o.LookupEnv == nil {
		if home, err := os.UserHomeDir(); err == nil {
			return home
		}
	}
	return ""
}

// Key names a folder in DATA: its base name and the first 12 hex digits of the
// SHA-1 of its resolved absolute path.
func Key(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	dir = resolve(dir)
	sum := sha1.Sum([]byte(dir))
	base := filepath.Base(dir)
	if strings.ContainsAny(base, `/\`) {
		base = "root"
	}
	return base + "-" + hex.EncodeToString(sum[:])[:12]
}

// resolve follows links as far as the path exists.
func resolve(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

func gitRoot(dir, home string) (string, bool) {
	for at := dir; ; {
		if at != dir && home != "" && (at == home || strings.HasPrefix(home, strings.TrimSuffix(at, string(filepath.Separator))+string(filepath.Separator))) {
			return dir, false
		}
		if isGit(at) {
			return at, true
		}
		up := filepath.Dir(at)
		if up == at {
			return dir, false
		}
		at = up
	}
}

// isGit reports whether at holds a repository: a .git folder with a HEAD, or a
// .git file that points to one.
func isGit(at string) bool {
	git := filepath.Join(at, ".git")
	info, err := os.Stat(git)
	if err != nil {
		return false
	}
	if info.IsDir() {
		_, err := os.Lstat(filepath.Join(git, "HEAD"))
		return err == nil
	}
	return info.Mode().IsRegular() && gitDir(at) != ""
}

// gitDir returns what the .git file in at points to, or "".
func gitDir(at string) string {
	return pointer(filepath.Join(at, ".git"), "gitdir:", at)
}

// pointer reads a small file of git's that holds a path.
func pointer(file, prefix, base string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 16<<10 {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	path, ok := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
	path = strings.TrimSpace(path)
	if !ok || path == "" || strings.ContainsRune(path, 0) {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

// mainRoot returns the root of the repository that a worktree belongs to. The
// repository must know the worktree in turn, so that a folder cannot pretend
// to belong to another project.
func mainRoot(root string) string {
	dir := gitDir(root)
	if dir == "" {
		return root
	}
	back := pointer(filepath.Join(dir, "gitdir"), "", dir)
	if back == "" || resolve(back) != resolve(filepath.Join(root, ".git")) {
		return root
	}
	common := pointer(filepath.Join(dir, "commondir"), "", dir)
	if common == "" || filepath.Base(common) != ".git" {
		return root
	}
	return resolve(filepath.Dir(common))
}

// File returns the settings file of a scope that [Set] writes to.
func (p Paths) File(s Scope) (string, error) {
	switch s {
	case User:
		return filepath.Join(p.Config, "settings.json"), nil
	case Project:
		return filepath.Join(p.Root, ".openharness", "settings.json"), nil
	case Local:
		return filepath.Join(p.Root, ".openharness", "settings.local.json"), nil
	}
	return "", fmt.Errorf("there is no settings file to write for %q: use user, project or local", string(s))
}
