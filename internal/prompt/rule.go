package prompt

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Rule is an instruction file that counts only for files that match.
type Rule struct {
	Path  string   // absolute
	Dir   string   // what the patterns are relative to
	Globs []string // as written, such as src/**/*.{ts,tsx}
}

// Match reports whether the rule counts for a file, given by its absolute path.
func (r Rule) Match(path string) bool {
	rel, err := filepath.Rel(r.Dir, path)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(r.Globs, func(glob string) bool {
		ok, err := doublestar.Match(strings.TrimPrefix(glob, "./"), rel)
		return err == nil && ok
	})
}

// loadRules loads the rules of a folder, by name. Those for some paths only
// are put aside.
func (g *gather) loadRules(dir string, from origin) {
	rules := filepath.Join(dir, ".claude", "rules")
	entries, err := os.ReadDir(rules)
	if err != nil {
		if isDir(rules) {
			g.warn("%s: not loaded: %v", rules, bare(err))
		}
		return
	}
	for _, e := range entries {
		if path := filepath.Join(rules, e.Name()); strings.HasSuffix(e.Name(), ".md") {
			g.rule(path, dir, from)
		}
	}
}

func (g *gather) rule(path, dir string, from origin) {
	real := resolve(path)
	if !g.allowed(real, from) {
		g.warn("%s: not loaded, as it links to %s outside of the project and the folder is not trusted", path, real)
		return
	}
	if g.seen[real] {
		return
	}
	s, ok := g.text(path, real)
	if !ok {
		return
	}
	globs, body := pathsOf(s)
	if len(globs) > 0 {
		if from == byPerson {
			dir = g.cfg.Root // the person's patterns are about the project
		}
		delete(g.seen, real) // it is not in the prompt yet
		g.rules = append(g.rules, Rule{Path: path, Dir: dir, Globs: globs})
		return
	}
	g.take(doc{path: path, from: from, text: body}, 0)
}

// pathsOf splits the front matter off a rule and reads its paths: a list, or
// patterns separated by commas. Without front matter the text is all body.
func pathsOf(s string) (globs []string, body string) {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return nil, s
	}
	head, body, ok := strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix("\n"+strings.TrimRight(rest, "\n"), "\n---"); !ok {
			return nil, s
		}
		body = ""
	}
	in := false
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, " \t\n")
		item := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "paths:"):
			in = true
			globs = append(globs, splitGlobs(strings.TrimPrefix(line, "paths:"))...)
		case in && strings.HasPrefix(item, "- "):
			globs = append(globs, splitGlobs(item[2:])...)
		case item != "" && !strings.HasPrefix(item, "#"):
			in = false
		}
	}
	return globs, body
}

// splitGlobs splits at commas outside of braces and takes off quotes and the
// brackets of a list.
func splitGlobs(s string) []string {
	s = strings.TrimSpace(s)
	if at := strings.Index(s, " #"); at >= 0 {
		s = strings.TrimSpace(s[:at])
	}
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	depth := 0
	parts := strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '{':
			depth++
		case '}':
			depth--
		}
		return r == ',' && depth <= 0
	})
	var globs []string
	for _, part := range parts {
		if part = strings.Trim(strings.TrimSpace(part), `"'`); part != "" {
			globs = append(globs, part)
		}
	}
	return globs
}
