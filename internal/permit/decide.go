package permit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/shell"
	"github.com/openharness/oh/internal/text"
)

func show(path string) string { return text.OneLine(text.Clean(path), 300) }

// checkClosed refuses what touches a credential store or private key.
func (p *Policy) checkClosed(c *call, _ []*rule) (oh.Verdict, bool) {
	for _, u := range slices.Concat(c.uses, c.mentions) {
		for _, path := range [...]string{u.given, u.real} {
			if g, what := p.secret(path); g == closed {
				return oh.Verdict{Reason: fmt.Sprintf("%s holds credentials or keys (%s), which no tool may touch in any mode; no rule can allow it", show(path), what)}, true
			}
		}
	}
	return oh.Verdict{}, false
}

func (p *Policy) checkDeny(c *call, rules []*rule) (oh.Verdict, bool) {
	if r := p.first(c, rules, oh.Deny); r != nil {
		return oh.Verdict{Rule: r.String(), Reason: "denied by the rule " + r.String() + r.extent()}, true
	}
	if c.Hook != nil && *c.Hook == oh.Deny {
		return oh.Verdict{Reason: "denied by a hook"}, true
	}
	return oh.Verdict{}, false
}

func (p *Policy) first(c *call, rules []*rule, effect oh.Decision) *rule {
	for _, r := range rules {
		if r.Effect == effect && p.hits(r, c) {
			return r
		}
	}
	return nil
}

// extent explains a rule that holds for more than it says.
func (r *rule) extent() string {
	if r.part {
		return ", which names a part of " + r.tool + " that cannot be told apart, and so holds for every call of it"
	}
	return ""
}

func (p *Policy) checkPlan(c *call, _ []*rule) (oh.Verdict, bool) {
	if c.Mode != oh.ModePlan || c.reads {
		return oh.Verdict{}, false
	}
	return oh.Verdict{Reason: "in plan mode only reads are allowed, and " + c.Tool + " may change something; finish the plan and ask the user to approve it"}, true
}

// checkGuard asks about what needs a person in every mode.
func (p *Policy) checkGuard(c *call, rules []*rule) (oh.Verdict, bool) {
	if c.command != nil && c.command.Guard != "" {
		return oh.Verdict{Decision: oh.Ask, Guarded: true, Reason: "this command needs a person each time: " + show(c.command.Guard)}, true
	}
	for _, u := range slices.Concat(c.uses, c.mentions) {
		if v, done := p.checkPlace(c, u, rules); done {
			return v, true
		}
	}
	if c.command == nil {
		return oh.Verdict{}, false
	}
	for _, u := range c.mentions {
		if p.mayName(u.given) {
			return oh.Verdict{Decision: oh.Ask, Guarded: true, Reason: "the pattern " + show(u.given) + " in this command may name a file with credentials or keys"}, true
		}
	}
	for _, path := range c.command.Hints {
		if g, _ := p.secret(path); g != open {
			return oh.Verdict{Decision: oh.Ask, Guarded: true, Reason: "the code in this command names " + show(path) + ", which often holds secrets"}, true
		}
	}
	return oh.Verdict{}, false
}

func (p *Policy) checkPlace(c *call, u use, rules []*rule) (oh.Verdict, bool) {
	for _, path := range [...]string{u.real, u.given} {
		if g, what := p.secret(path); g == named && p.opened(c, u, what, rules) == nil {
			v := oh.Verdict{Decision: oh.Ask, Reason: show(path) + " often holds secrets, so a person or an allow rule that names it must agree, in every mode"}
			if c.command == nil && len(c.uses) == 1 {
				v.Suggest = p.suggestPath(u, false)
			}
			return v, true
		}
		if !u.write {
			continue
		}
		if why, what := p.guarded(path); why != "" && p.opened(c, u, what, rules) == nil {
			return oh.Verdict{Decision: oh.Ask, Guarded: true, Reason: show(path) + " belongs to " + why + ", so a write to it needs a person each time, unless an allow rule of your own names it"}, true
		}
	}
	return oh.Verdict{}, false
}

// opened returns the allow rule that names a protected place itself and so
// opens it. Rules that come with the repository cannot.
func (p *Policy) opened(c *call, u use, what string, rules []*rule) *rule {
	what = strings.ToLower(what)
	for _, r := range rules {
		if r.Effect != oh.Allow || r.Scope == Project {
			continue
		}
		names := false
		switch r.form {
		case formPath:
			names = slices.ContainsFunc(r.pat.levels, func(l string) bool { return strings.HasPrefix(strings.ToLower(l), what) })
		case formGlob:
			names = strings.Contains(strings.ToLower(r.spec), what)
		}
		if names && p.coversUse(r, c, u) {
			return r
		}
	}
	return nil
}

func (p *Policy) checkAsk(c *call, rules []*rule) (oh.Verdict, bool) {
	if r := p.first(c, rules, oh.Ask); r != nil {
		return oh.Verdict{Decision: oh.Ask, Rule: r.String(), Reason: "the rule " + r.String() + " asks first" + r.extent()}, true
	}
	if c.command != nil && c.command.Obscure != "" {
		// A rule on commands must not be slipped past by hiding the command.
		for _, r := range rules {
			if r.Effect != oh.Allow && (r.form == formCommand || r.form == formShell) {
				return oh.Verdict{Decision: oh.Ask, Rule: r.String(), Reason: "there is the rule " + r.String() +
					", and whether it applies cannot be told: " + c.command.Obscure}, true
			}
		}
	}
	if c.Hook != nil && *c.Hook == oh.Ask {
		return oh.Verdict{Decision: oh.Ask, Reason: "a hook asks first"}, true
	}
	return oh.Verdict{}, false
}

// need is one thing about a call that the mode would ask about.
type need struct {
	why  string
	use  *use   // a path
	host string // of a URL
	url  bool
	part *shell.Part // of a command
	lost bool        // a write to nobody knows where
}

// checkMode lets rules, grants, a hook and the mode answer what the call needs.
func (p *Policy) checkMode(c *call, rules []*rule) (oh.Verdict, bool) {
	all := p.needs(c)
	var by *rule
	left := all[:0:0]
	for _, n := range all {
		if r := p.covering(c, n, rules); r != nil {
			by = r
		} else {
			left = append(left, n)
		}
	}
	if len(left) == 0 {
		v := oh.Verdict{Decision: oh.Allow, Reason: p.freely(c)}
		if by != nil {
			v.Rule, v.Reason = by.String(), "allowed by the rule "+by.String()
		}
		return v, true
	}
	if c.Hook != nil && *c.Hook == oh.Allow {
		return oh.Verdict{Decision: oh.Allow, Reason: "allowed by a hook"}, true
	}
	mode := c.Mode
	if mode == oh.ModeDontAsk {
		mode = oh.ModeDefault
	}
	return oh.Verdict{
		Decision: oh.Ask,
		Reason:   left[0].why + ", which the mode " + string(mode) + " asks about",
		Suggest:  p.suggest(c, left),
	}, true
}

// freely says why a call needs no rule and no person.
func (p *Policy) freely(c *call) string {
	switch {
	case c.reads:
		return "it only reads, which the mode " + string(c.Mode) + " allows"
	case p.held(c):
		return "the sandbox confines it, and the mode " + string(c.Mode) + " runs such commands unasked"
	}
	return "the mode " + string(c.Mode) + " allows it"
}

// held reports whether the sandbox answers for what a command needs.
func (p *Policy) held(c *call) bool {
	return c.command != nil && c.Tool == "bash" && c.Mode == oh.ModeAcceptEdits && p.confined != nil && p.confined()
}

// needs lists what the mode would ask about; none means that it may run.
func (p *Policy) needs(c *call) (out []need) {
	if c.Mode == oh.ModeFullAuto || p.held(c) {
		return nil
	}
	edits := c.Mode == oh.ModeAcceptEdits
	writes := false
	for i := range c.uses {
		u := &c.uses[i]
		writes = writes || u.write
		switch {
		case u.write && !p.inside(u.place):
			out = append(out, need{why: c.Tool + " writes " + p.whereTo(u.place), use: u})
		case u.write && !edits:
			out = append(out, need{why: c.Tool + " writes " + show(u.given), use: u})
		case !u.write && !edits && !p.mayRead(u.place):
			out = append(out, need{why: c.Tool + " reads " + p.whereTo(u.place), use: u})
		}
	}
	switch {
	case c.command != nil:
		out = append(out, p.inCommand(c)...)
	case !c.reads && !writes && len(c.hosts) == 0:
		out = append(out, need{why: c.Tool + " may change something"})
	}
	for _, h := range c.hosts {
		out = append(out, need{why: c.Tool + " connects to " + show(h), host: h, url: true})
	}
	if c.Access.Upload {
		out = append(out, need{why: c.Tool + " sends local data to the network"})
	}
	return out
}

func (p *Policy) whereTo(at place) string {
	s := show(at.given)
	switch {
	case at.lost != nil:
		return s + ", and where its links lead cannot be told (" + show(at.lost.Error()) + ")"
	case at.real != at.given && !p.sameName(at):
		s += " (a link to " + show(at.real) + ")"
	}
	return s + ", outside the workspace " + show(p.roots[0].given)
}

// sameName reports that only links above the home folder differ.
func (p *Policy) sameName(at place) bool {
	a, ok := under(p.home.given, at.given)
	b, ok2 := under(p.home.real, at.real)
	return ok && ok2 && a == b
}

// covering returns the allow rule that answers a need.
func (p *Policy) covering(c *call, n need, rules []*rule) *rule {
	for _, r := range rules {
		if r.Effect == oh.Allow && p.covers(r, c, n) {
			return r
		}
	}
	return nil
}

func (p *Policy) covers(r *rule, c *call, n need) bool {
	switch {
	case c.command != nil && r.form == formTool && p.named(r, c.Tool):
		return true // whoever allows the whole shell allows what it writes
	case n.lost:
		return false
	}
	switch r.form {
	case formTool, formReads, formEdits:
		// A rule that names no place does not open the border for writes.
		if n.use != nil && n.use.write && !p.inside(n.use.place) {
			return false
		}
		switch {
		case p.named(r, c.Tool):
			return true
		case r.form == formEdits:
			return n.use != nil && editing(c.Tool)
		}
		return r.form == formReads && n.use != nil && !n.use.write && touching(c.Tool)
	case formPath, formGlob:
		return n.use != nil && p.coversUse(r, c, *n.use)
	case formDomain:
		return n.url && c.Tool == r.tool && matchHost(r.spec, n.host)
	case formShell:
		return !n.url && c.Tool == r.tool && p.coversCommand(r, c, n)
	case formName:
		if c.Tool != r.tool || n.use != nil || n.url {
			return false
		}
		name, ok := nameIn(r.tool, c.Input)
		return ok && matchName(r.spec, name, false)
	}
	return false
}

// coversCommand reports whether an allow rule on commands answers a need: it
// speaks of the very line, or of the part that needs it. It opens no place for
// writing, and a part with unsafe variables before it is not what it speaks of.
func (p *Policy) coversCommand(r *rule, c *call, n need) bool {
	line := !r.wild && strings.TrimSpace(c.Access.Command) == r.spec
	if n.use != nil && n.use.write {
		return line && p.inside(n.use.place)
	}
	return line || n.part != nil && n.part.Bare == "" && r.onLine(n.part.Text)
}

// coversUse reports whether an allow rule on paths opens a path. A rule on
// editing opens it for reading too; one on reading never for writing.
func (p *Policy) coversUse(r *rule, c *call, u use) bool {
	switch {
	case r.form == formPath && r.own && c.Tool != r.tool:
		return false
	case r.form == formPath && !r.write && u.write:
		return false
	}
	return p.onPath(r, u, c.dir)
}
