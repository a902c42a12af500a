package shell

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// function notes a function. Its body counts where it is called, or at the end.
func (r *reader) function(c *syntax.FuncDecl, s state) (ok, fail state) {
	if c.Name == nil || c.Body == nil {
		r.obscure("a function without a name")
		return s, s
	}
	if strings.Contains(c.Name.Value, "=") || known(c.Name.Value) && dire(c.Name.Value) {
		r.obscure("it gives " + c.Name.Value + " another meaning")
	}
	funcs := make(map[string]*syntax.Stmt, len(s.funcs)+1)
	maps.Copy(funcs, s.funcs)
	funcs[c.Name.Value] = c.Body
	s.funcs = funcs
	if _, more := c.Body.Cmd.(*syntax.BinaryCmd); more {
		// The parser takes what follows the body to belong to it.
		r.obscure("a definition of a function within a list")
		r.stmt(c.Body, s, stdin{piped: true})
		return s.fog(), s.fog()
	}
	if !slices.ContainsFunc(r.late, func(d deferred) bool { return d.body == c.Body }) {
		r.late = append(r.late, deferred{body: c.Body, text: r.text, state: s})
	}
	return s, s
}

// declare reads export, local, declare and their kin.
func (r *reader) declare(c *syntax.DeclClause, s state) (ok, fail state) {
	if c.Variant.Value == "local" && r.calls == 0 {
		defer func(before state) { ok, fail = meet(before, ok), meet(before, fail) }(s) // it fails here
	}
	for _, a := range c.Args {
		if a.Naked && a.Name == nil {
			flags := r.value(a.Value, &s, true)
			if c.Variant.Value == "nameref" || strings.Trim(flags, "-+xrgaAp") != "" {
				r.obscure(c.Variant.Value + " " + show(flags) + " changes what names mean")
			}
			continue
		}
		if a.Naked {
			if c.Variant.Value != "export" && c.Variant.Value != "readonly" {
				s = s.with(a.Name.Value, string(rune(many)))
			} else if unsafeVariable(a.Name.Value) && s.taint == "" {
				if _, ok := s.vars[a.Name.Value]; ok {
					s.taint = a.Name.Value
				}
			}
			continue
		}
		s = r.assign(a, s)
	}
	if c.Variant.Value == "nameref" {
		r.obscure("nameref changes what names mean")
	}
	return s, s
}

func (r *reader) assign(a *syntax.Assign, s state) state {
	if a.Index != nil {
		r.arithmetic(a.Index, &s)
	}
	val := string(rune(many))
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				r.arithmetic(e.Index, &s)
			}
			if e.Value != nil {
				r.mentionAll(s, r.field(e.Value, &s))
			}
		}
	case a.Value == nil:
		val = ""
	default:
		val = r.value(a.Value, &s, true)
		r.mention(s, val, &r.out.Mentions)
		if a.Append || a.Index != nil {
			val = string(rune(many))
		}
	}
	switch a.Name.Value {
	case "IFS", "PS4", "BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS":
		r.obscure(a.Name.Value + " changes what the shell makes of the line")
	}
	return s.with(a.Name.Value, val)
}
