package workspace

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// maxIgnoreFile bounds an ignore or git configuration file, in bytes.
const maxIgnoreFile = 4 << 20

// ruleFile is the patterns of one ignore file, for what lies below base.
type ruleFile struct {
	parent   *ruleFile
	base     string // slash path of its folder below the walk's top, "" for the top
	patterns []pattern
}

// rules is what holds in one folder. Patterns of .ignore files beat those of
// git; a nested repository begins without the outer one's.
type rules struct {
	plain, git *ruleFile
	inRepo     bool // .gitignore files count only inside a work tree
	fold       bool // of git's patterns (core.ignorecase)
}

// parseRules reads an ignore file. It returns parent when there is no pattern.
func parseRules(parent *ruleFile, base string, data []byte, fold bool) *ruleFile {
	r := &ruleFile{parent: parent, base: base}
	data = bytes.TrimPrefix(data, []byte(bom8))
	for line := range strings.Lines(string(data)) {
		if p, ok := parsePattern(line, fold); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	if len(r.patterns) == 0 {
		return parent
	}
	return r
}

// decide returns whether the entry at rel (a slash path below the top) is
// ignored, and whether any pattern spoke of it. The last match of the nearest
// file wins.
func (r *ruleFile) decide(rel string, dir, fold bool) (ignored, known bool) {
	if r == nil {
		return false, false
	}
	if fold {
		rel = lower(rel)
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	for ; r != nil; r = r.parent {
		below := rel
		if r.base != "" {
			if len(rel) <= len(r.base) {
				continue
			}
			below = rel[len(r.base)+1:]
		}
		for i := len(r.patterns) - 1; i >= 0; i-- {
			if p := &r.patterns[i]; p.match(below, name, dir) {
				return !p.negate, true
			}
		}
	}
	return false, false
}

// ignored reports whether the entry at rel is ignored, its folders aside.
func (r *rules) ignored(rel string, dir bool) bool {
	if yes, known := r.plain.decide(rel, dir, false); known {
		return yes
	}
	yes, _ := r.git.decide(rel, dir, r.fold)
	return yes
}

// repo makes the rules of a repository whose work tree is at base: what the
// user ignores everywhere and .git/info/exclude. workTree is its path on disk.
func (r rules) repo(workTree, base, home string) rules {
	r.git, r.inRepo = nil, true
	git := gitDir(workTree)
	cfg := readGitConfig(home, git)
	r.fold = cfg.ignoreCase
	if cfg.excludes != "" {
		r.git = parseRules(nil, base, readSmall(cfg.excludes), r.fold)
	}
	r.git = parseRules(r.git, base, readSmall(filepath.Join(git, "info", "exclude")), r.fold)
	return r
}

// inside adds the ignore files of a folder to the rules that hold in it. read
// returns the content of a file in that folder, nil when there is none.
func (r rules) inside(base string, read func(name string) []byte) rules {
	r.plain = parseRules(r.plain, base, read(".ignore"), false)
	if r.inRepo {
		r.git = parseRules(r.git, base, read(".gitignore"), r.fold)
	}
	return r
}

// gitDir returns the git directory that belongs to a work tree and holds
// info/exclude: the common one when the work tree is a linked one.
func gitDir(workTree string) string {
	dot := filepath.Join(workTree, ".git")
	info, err := os.Stat(dot)
	if err != nil || info.IsDir() {
		return dot
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(readSmall(dot))), "gitdir:")
	if !ok {
		return dot
	}
	dir := from(workTree, strings.TrimSpace(to))
	if common := strings.TrimSpace(string(readSmall(filepath.Join(dir, "commondir")))); common != "" {
		return from(dir, common)
	}
	return dir
}

func from(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readSmall returns the content of a regular file that need not exist.
func readSmall(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return data
}
