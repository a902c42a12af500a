package shell

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// inside runs through what a node holds that runs commands, where its value does
// not matter.
func (r *reader) inside(n syntax.Node, s state) {
	if n == nil || r.spent {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CmdSubst:
			r.subst(x, s)
			return false
		case *syntax.ProcSubst:
			r.process(x, s)
			return false
		case *syntax.ArithmExp:
			r.arithmetic(x.X, &s)
			return false
		case *syntax.ExtGlob:
			r.obscure("what the pattern " + r.src(x) + " means depends on the shell's settings")
		case *syntax.ParamExp:
			r.hidden(x, s)
			r.below(x, s)
			return false
		}
		return true
	})
}

// below runs through the words of an expansion, but not the expressions.
func (r *reader) below(p *syntax.ParamExp, s state) {
	var words []*syntax.Word
	if p.Exp != nil {
		words = append(words, p.Exp.Word)
	}
	if p.Repl != nil {
		words = append(words, p.Repl.Orig, p.Repl.With)
	}
	for _, w := range words {
		if w != nil {
			r.inside(w, s)
		}
	}
}

// hidden looks for commands in an expansion of a variable that do not show: in
// its value, or in quotes that count for nothing within double quotes.
func (r *reader) hidden(p *syntax.ParamExp, s state) {
	if p.Excl && p.Names == 0 {
		r.obscure("${!...} uses the value of a variable as a name")
	}
	if p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		if l := p.Exp.Word.Lit(); l != "Q" && l != "U" && l != "u" && l != "L" {
			r.obscure("${...@" + l + "} may run what is in a variable")
		}
	}
	if p.Index != nil {
		r.arithmetic(p.Index, &s)
	}
	if p.Slice != nil {
		r.arithmetic(p.Slice.Offset, &s)
		r.arithmetic(p.Slice.Length, &s)
	}
	syntax.Walk(p, func(n syntax.Node) bool {
		if q, ok := n.(*syntax.SglQuoted); ok && strings.ContainsAny(q.Value, "$`") {
			r.obscure("the quotes within " + r.src(p) + " may count for nothing")
		}
		_, nested := n.(*syntax.CmdSubst)
		return !nested
	})
}

func (r *reader) subst(c *syntax.CmdSubst, s state) string {
	if c.Backquotes && strings.Contains(r.src(c), `\`) {
		r.obscure("backslashes within backquotes")
	}
	r.stmts(c.Stmts, s, stdin{heard: true})
	if c.TempFile || c.ReplyVar {
		r.obscure("a substitution that is not understood")
	}
	if len(c.Stmts) == 1 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 && len(call.Assigns) == 0 {
			switch name := call.Args[0].Lit(); {
			case name == "pwd" && len(call.Args) == 1 && s.dir() != "" && s.funcs["pwd"] == nil:
				return filepath.ToSlash(s.dir())
			case name == "mktemp" && s.funcs["mktemp"] == nil:
				return string(rune(fresh))
			}
		}
	}
	return string(rune(many))
}

func (r *reader) process(p *syntax.ProcSubst, s state) {
	r.stmts(p.Stmts, s, stdin{piped: p.Op == syntax.CmdOut, heard: true})
}

// arithmetic looks through an expression. A name in it is read as an expression
// in turn, so a value that is not a number may run commands.
func (r *reader) arithmetic(x syntax.ArithmExpr, s *state) {
	if x == nil || r.spent {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			r.subst(n, *s)
			r.obscure("what a command prints is read as an expression")
			return false
		case *syntax.ParamExp:
			r.inside(n, *s)
			if n.Param != nil && !n.Length {
				r.operand(n.Param.Value, s)
			}
			return false
		case *syntax.SglQuoted:
			r.obscure("quoted text in an expression")
		case *syntax.Lit:
			r.operand(n.Value, s)
		}
		return true
	})
}

// operand checks a name in an expression.
func (r *reader) operand(name string, s *state) {
	v, ok := s.vars[name]
	if !ok {
		if s.args && len(name) == 1 && name[0] >= '1' && name[0] <= '9' && int(name[0]-'1') < len(s.params) {
			v = s.params[name[0]-'1']
		}
	}
	if strings.Trim(v, "0123456789-\x07") != "" {
		r.obscure("the value of " + name + " is read as an expression")
	}
}

func (r *reader) test(x syntax.TestExpr, s *state) {
	switch t := x.(type) {
	case *syntax.BinaryTest:
		switch t.Op {
		case syntax.AndTest, syntax.OrTest:
			r.test(t.X, s)
			r.test(t.Y, s)
			return
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{t.X, t.Y} {
				if w, ok := side.(*syntax.Word); ok {
					r.arithmetic(w, s)
				}
			}
			return
		}
		r.test(t.X, s)
		r.test(t.Y, s)
	case *syntax.UnaryTest:
		if w, ok := t.X.(*syntax.Word); ok && (t.Op == syntax.TsVarSet || t.Op == syntax.TsRefVar) {
			if v := r.value(w, s, true); !syntax.ValidName(v) {
				r.obscure("[[ -v ]] reads an expression")
			}
			return
		}
		r.test(t.X, s)
	case *syntax.ParenTest:
		r.test(t.X, s)
	case *syntax.Word:
		r.mention(*s, r.value(t, s, true), &r.out.Mentions)
	}
}
