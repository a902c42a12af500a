package permit

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/claude"
)

// suggest returns the rules that would answer all that a call still needs, one a
// line, or "" when none would without allowing far more.
func (p *Policy) suggest(c *call, needs []need) string {
	var rules []string
	for _, n := range needs {
		s := p.suggestOne(c, n)
		if s == "" {
			return p.suggestLine(c, needs)
		}
		if !slices.Contains(rules, s) {
			rules = append(rules, s)
		}
	}
	switch {
	case c.command == nil && len(rules) > 1:
		return ""
	case len(rules) > maxRules:
		return p.suggestLine(c, needs)
	}
	return strings.Join(rules, "\n")
}

// maxRules is how many rules are offered for one command line.
const maxRules = 5

func (p *Policy) suggestOne(c *call, n need) string {
	name := claude.ToolName(c.Tool)
	switch {
	case n.use != nil:
		return p.suggestPath(*n.use, true)
	case n.part != nil && c.Tool == "bash":
		return n.part.Rule()
	case c.Access.Command != "":
		return ""
	case n.url && c.Tool == "web_fetch":
		if n.host == "" || strings.ContainsAny(n.host, "*()") {
			return ""
		}
		return claude.JoinRule(name, "domain:"+n.host)
	case c.Tool == "agent" || c.Tool == "skill":
		if who, ok := nameIn(c.Tool, c.Input); ok && who != "" && !strings.ContainsAny(who, "*?[()") {
			return claude.JoinRule(name, who)
		}
	}
	return name
}

// maxLine is the longest command, in bytes, that a rule is offered for.
const maxLine = 200

// suggestLine names this very command line, where its parts cannot be allowed
// one by one.
func (p *Policy) suggestLine(c *call, needs []need) string {
	if c.command == nil {
		return ""
	}
	line := strings.TrimSpace(c.Access.Command)
	if c.Tool != "bash" || len(line) > maxLine || strings.ContainsAny(line, "\n*") || c.command.Obscure != "" {
		return ""
	}
	r, _, err := compile(Rule{Text: claude.JoinRule(claude.ToolName(c.Tool), line), Effect: oh.Allow, Scope: Session})
	if err != nil || r == nil || r.form != formShell || r.spec != line {
		return ""
	}
	for _, n := range needs {
		if !p.covers(r, c, n) {
			return ""
		}
	}
	return r.Text
}

// suggestPath names the folder of a path with all below it, or the path alone
// where the folder is the root, the home folder or above.
func (p *Policy) suggestPath(u use, folder bool) string {
	// Both forms of the path must fit an allow rule.
	if u.lost != nil {
		return ""
	}
	name := claude.ToolName("read_file")
	if u.write {
		name = claude.ToolName("edit_file")
	}
	path, tail := u.given, ""
	if dir := filepath.Dir(path); u.tree {
		tail = "/**"
	} else if folder && !p.tooWide(dir) {
		path, tail = dir, "/**"
	}
	spec := p.anchored(path) + tail
	if u.tree && p.tooWide(path) {
		return ""
	}
	r, _, err := compile(Rule{Text: claude.JoinRule(name, spec), Effect: oh.Allow, Scope: Session})
	if err != nil || r == nil || !p.onPath(r, u, p.roots[0]) {
		return ""
	}
	return r.Text
}

// tooWide reports whether a rule on a whole folder would reach too far.
func (p *Policy) tooWide(dir string) bool {
	if filepath.Dir(dir) == dir || filepath.Dir(filepath.Dir(dir)) == filepath.Dir(dir) {
		return true
	}
	for _, held := range []place{p.home, p.roots[0]} {
		for _, h := range [...]string{held.given, held.real} {
			if h == "" {
				continue
			}
			if _, ok := under(dir, h); ok {
				return true
			}
		}
	}
	return false
}

func (p *Policy) anchored(path string) string {
	if rel, ok := under(p.roots[0].given, path); ok {
		return "/" + escapeGlob(rel)
	}
	if rel, ok := under(p.roots[0].real, path); ok {
		return "/" + escapeGlob(rel)
	}
	if rel, ok := under(p.home.given, path); ok {
		return "~/" + escapeGlob(rel)
	}
	return "//" + escapeGlob(strings.TrimPrefix(filepath.ToSlash(path), "/"))
}
