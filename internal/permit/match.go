package permit

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/shell"
)

// hits reports whether a deny or ask rule applies to a call: it does as soon as
// any part of the call matches.
func (p *Policy) hits(r *rule, c *call) bool {
	switch r.form {
	case formPath, formGlob:
		return p.hitsPath(r, c)
	case formReads:
		return p.named(r, c.Tool) || len(c.uses) > 0
	case formEdits:
		return p.named(r, c.Tool) || slices.ContainsFunc(c.uses, func(u use) bool { return u.write })
	case formDomain:
		return slices.ContainsFunc(c.hosts, func(h string) bool { return strictHost(r.spec, h) })
	case formName:
		if c.Tool != r.tool {
			return false
		}
		name, ok := nameIn(r.tool, c.Input)
		if r.tool == "agent" && name == "" {
			name = defaultAgent
		}
		return !ok || matchName(r.spec, name, true)
	case formCommand, formShell:
		return c.command != nil && c.anyLine(r.onLine)
	}
	return p.named(r, c.Tool) || r.tool == "bash" && c.Access.Command != ""
}

// anyLine tries the whole command of a call and every way to write its parts.
func (c *call) anyLine(on func(string) bool) bool {
	return !c.alone && on(strings.TrimSpace(c.Access.Command)) || slices.ContainsFunc(c.command.Parts, func(p shell.Part) bool {
		return slices.ContainsFunc(p.Forms, on)
	})
}

// onLine reports whether a rule on commands speaks of a line. With a wildcard
// for the arguments it speaks of the command without any as well.
func (r *rule) onLine(s string) bool {
	if r.form == formCommand {
		bare, ok := strings.CutSuffix(r.spec, " *")
		return glob(r.spec, s, false, false) || ok && glob(bare, s, false, false)
	}
	if !r.wild {
		return r.spec == s
	}
	bare, ok := strings.CutSuffix(r.spec, " *")
	return glob(starsOnly(r.spec), s, true, false) || ok && glob(starsOnly(bare), s, true, false)
}

// starsOnly is a pattern in which nothing but * is special.
func starsOnly(spec string) string {
	return strings.NewReplacer(`?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(spec)
}

// named reports whether a rule that holds for whole tools holds for this one.
func (p *Policy) named(r *rule, tool string) bool {
	strict := r.Effect != oh.Allow
	switch {
	case strings.HasPrefix(r.tool, "mcp__"):
		if rest := strings.TrimPrefix(r.tool, "mcp__"); !strings.Contains(rest, "__") && strings.HasPrefix(tool, r.tool+"__") {
			return true // a server with all its tools
		}
		return glob(r.tool, tool, false, strict)
	case strict:
		if r.form == formReads && touching(tool) || r.form == formEdits && editing(tool) {
			return true
		}
		return glob(r.tool, tool, false, true)
	}
	return r.tool == tool
}

// ToolDenied reports whether a deny rule takes a whole tool, by our name, out
// of what the model is offered.
func (p *Policy) ToolDenied(tool string) bool {
	return slices.ContainsFunc(*p.rules.Load(), func(r *rule) bool {
		whole := r.form == formTool || r.form == formReads || r.form == formEdits
		return r.Effect == oh.Deny && whole && !r.part && p.named(r, tool)
	})
}

func editing(tool string) bool {
	switch tool {
	case "edit_file", "write_file", "multi_edit", "notebook_edit", "apply_patch":
		return true
	}
	return false
}

// hitsPath tries a strict path rule on every path of a call. Of a command only
// the words are known: a rule on reading applies to each path it names, a rule
// on writing to those it seems to write.
func (p *Policy) hitsPath(r *rule, c *call) bool {
	for _, u := range c.uses {
		if r.own && c.Tool != r.tool || r.write && !u.write {
			continue
		}
		if p.onPath(r, u, c.dir) {
			return true
		}
	}
	for _, u := range c.mentions {
		if r.own || r.write && !u.write {
			continue
		}
		if p.onPath(r, u, c.dir) {
			return true
		}
	}
	return false
}

// onPath reports whether a path rule covers a path: for deny and ask the path
// as given or as resolved, for allow both.
func (p *Policy) onPath(r *rule, u use, dir place) bool {
	given := p.matchPath(r, u.given, dir)
	if r.Effect == oh.Allow {
		return u.lost == nil && given && (u.real == u.given || p.matchPath(r, u.real, dir))
	}
	return given || u.real != u.given && p.matchPath(r, u.real, dir)
}

func (p *Policy) matchPath(r *rule, path string, dir place) bool {
	strict := r.Effect != oh.Allow
	fold := strict && p.fold
	if r.form == formGlob {
		return p.matchGlob(r.spec, path, fold)
	}
	on := func(at place) bool {
		return r.pat.match(at.given, path, fold) || at.real != at.given && r.pat.match(at.real, path, fold)
	}
	switch r.pat.anchor {
	case atTop:
		return r.pat.matchTop(path, fold)
	case atHome:
		return p.home.given != "" && on(p.home)
	case atRoot:
		if !strict {
			return on(p.roots[0])
		}
		// Meant as an absolute path, perhaps: a deny holds for both.
		return slices.ContainsFunc(p.roots, on) || r.pat.matchTop(path, fold)
	}
	if strict {
		return on(dir) || slices.ContainsFunc(p.roots, on)
	}
	return p.inside(dir) && on(dir)
}

// matchGlob matches one of OpenHarness's path globs, also with a slash at the
// end, so that */.ssh/* covers the folder itself.
func (p *Policy) matchGlob(pat, path string, fold bool) bool {
	path = filepath.ToSlash(path)
	try := func(g string) bool { return glob(g, path, false, fold) || glob(g, path+"/", false, fold) }
	switch {
	case strings.HasPrefix(pat, "~/"):
		home := func(h string) bool { return h != "" && try(filepath.ToSlash(h)+pat[1:]) }
		return home(p.home.given) || home(p.home.real)
	case strings.HasPrefix(pat, "/") || strings.HasPrefix(pat, "*") || filepath.IsAbs(pat):
		return try(filepath.ToSlash(pat))
	}
	pat = strings.TrimPrefix(pat, "./")
	for _, r := range p.roots {
		if try(filepath.ToSlash(r.given)+"/"+pat) || try(filepath.ToSlash(r.real)+"/"+pat) {
			return true
		}
	}
	return try(pat)
}

func matchHost(spec, host string) bool {
	if host == "" {
		return false
	}
	if domain, ok := strings.CutPrefix(spec, "*."); ok {
		return strings.HasSuffix(host, "."+domain)
	}
	return spec == "*" || spec == host
}

// strictHost also covers hosts below the one that is named, and one that could
// not be read.
func strictHost(spec, host string) bool {
	domain := strings.TrimPrefix(spec, "*.")
	return host == "" || spec == "*" || host == domain || strings.HasSuffix(host, "."+domain)
}

// defaultAgent is the type of an agent for which a call names none.
const defaultAgent = "general-purpose"

// nameIn returns the type of the agent, or the name of the skill, of a call.
func nameIn(tool string, input json.RawMessage) (string, bool) {
	var in struct {
		Type string `json:"subagent_type"`
		Name string `json:"name"`
	}
	if json.Unmarshal(input, &in) != nil {
		return "", false
	}
	if tool == "skill" {
		return strings.TrimPrefix(in.Name, "/"), true
	}
	return in.Type, true
}

// matchName compares a spec with a name. `name:*` and `name *` are the name with
// any arguments; a strict rule also takes other spellings of the case.
func matchName(spec, name string, strict bool) bool {
	spec = strings.TrimPrefix(strings.TrimSpace(spec), "/")
	for _, tail := range [...]string{":*", " *"} {
		if s, ok := strings.CutSuffix(spec, tail); ok && (s == name || strict && strings.EqualFold(s, name)) {
			return true
		}
	}
	return glob(spec, name, false, strict)
}

// touching lists the tools that a bare deny on reading takes away.
func touching(tool string) bool {
	switch tool {
	case "read_file", "glob", "grep", "ls":
		return true
	}
	return editing(tool)
}
