package permit

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Grant adds allow rules, one a line, while the program runs. The scope
// [oh.Session] keeps them in memory; [oh.Project] hands them to [Config.Save]
// first; [oh.Once] is no rule and does nothing. The error says why a rule cannot
// be granted; then it and those after it are not added.
func (p *Policy) Grant(rules string, scope oh.Scope) error {
	if scope == oh.Once || scope == "" {
		return nil
	}
	for rule := range strings.SplitSeq(strings.TrimSpace(rules), "\n") {
		if err := p.grant(rule, scope); err != nil {
			return err
		}
	}
	return nil
}

func (p *Policy) grant(rule string, scope oh.Scope) error {
	r := Rule{Text: strings.TrimSpace(rule), Effect: oh.Allow, Scope: Session}
	c, note, err := compile(r)
	switch {
	case err != nil:
		return err
	case c == nil:
		return errors.New(note)
	case scope != oh.Session && scope != oh.Project:
		return fmt.Errorf("grant %s: unknown scope %q; want once, session or project", r, scope)
	case scope == oh.Project && p.save == nil:
		return fmt.Errorf("grant %s: nothing can be saved for the project here; grant it for the session", r)
	case scope == oh.Project:
		if err := p.save(r.Text); err != nil {
			return fmt.Errorf("save permission rule %s: %w", text.OneLine(r.Text, 200), err)
		}
		c.Scope = Local
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	old := *p.rules.Load()
	for _, have := range old {
		if have.Effect == oh.Allow && have.Kind == c.Kind && have.Text == c.Text && have.Scope != Project {
			return nil
		}
	}
	list := append(old[:len(old):len(old)], c)
	p.rules.Store(&list)
	return nil
}

// Rules returns the rules that hold, in the order in which they are tried: all
// that deny, then all that ask, then all that allow.
func (p *Policy) Rules() []Rule {
	var out []Rule
	for _, effect := range [...]oh.Decision{oh.Deny, oh.Ask, oh.Allow} {
		for _, r := range *p.rules.Load() {
			if r.Effect == effect {
				out = append(out, r.Rule)
			}
		}
	}
	return out
}

// Describe returns the workspace and the rules as lines for a person.
func (p *Policy) Describe() string {
	var b strings.Builder
	for i, r := range p.roots {
		what := "workspace"
		if i > 0 {
			what = "also inside"
		}
		fmt.Fprintf(&b, "%s: %s\n", what, show(r.given))
	}
	rules := p.Rules()
	if len(rules) == 0 {
		b.WriteString("no rules\n")
	}
	for _, r := range rules {
		fmt.Fprintf(&b, "%-5s  %s\n", r.Effect, r)
	}
	for _, w := range p.warnings {
		fmt.Fprintf(&b, "note: %s\n", w)
	}
	return b.String()
}
