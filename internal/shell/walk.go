package shell

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const slashRoot = string(filepath.Separator)

// stdin is what is known of what a command reads from its input.
type stdin struct {
	piped bool             // it comes from elsewhere
	given bool             // it is text, and nothing else
	text  string           // what is known of it
	heard bool             // another command gets what this one prints
	feeds *strings.Builder // takes the text that the command passes on
}

// stmts runs through a list. ok is the state if the last command succeeds, fail
// if it does not.
func (r *reader) stmts(list []*syntax.Stmt, s state, in stdin) (ok, fail state) {
	ok, fail = s, s
	for _, stmt := range list {
		ok, fail = r.stmt(stmt, meet(ok, fail), in)
	}
	return ok, fail
}

func (r *reader) stmt(stmt *syntax.Stmt, s state, in stdin) (ok, fail state) {
	if r.steps++; r.steps > maxSteps || r.depth > maxDepth*8 {
		r.spent = true
	}
	if r.spent || stmt == nil {
		return s, s
	}
	r.depth++
	defer func() { r.depth-- }()
	before := s
	io := r.redirects(stmt.Redirs, &s, &in)
	if call, is := stmt.Cmd.(*syntax.CallExpr); is {
		ok, fail = r.simple(stmt, call, io, s, in)
	} else {
		r.standing(stmt, io, s)
		ok, fail = r.compound(stmt.Cmd, s, in)
	}
	if stmt.Negated {
		ok, fail = fail, ok
	}
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		return before, before
	}
	return ok, fail
}

func (r *reader) compound(cmd syntax.Command, s state, in stdin) (ok, fail state) {
	switch c := cmd.(type) {
	case nil:
		return s, s
	case *syntax.Block:
		return r.stmts(c.Stmts, s, in)
	case *syntax.Subshell:
		r.stmts(c.Stmts, s, in)
		return s, s
	case *syntax.BinaryCmd:
		return r.binary(c, s, in)
	case *syntax.IfClause:
		return r.conditional(c, s, in)
	case *syntax.WhileClause:
		return r.repeat(s, func(s state) state {
			yes, no := r.stmts(c.Cond, s, in)
			if c.Until {
				yes, no = no, yes
			}
			return meet(meet2(r.stmts(c.Do, yes, in)), meet(yes, no))
		})
	case *syntax.ForClause:
		return r.loop(c, s, in)
	case *syntax.CaseClause:
		return r.cases(c, s, in)
	case *syntax.FuncDecl:
		return r.function(c, s)
	case *syntax.DeclClause:
		return r.declare(c, s)
	case *syntax.ArithmCmd:
		r.arithmetic(c.X, &s)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			r.arithmetic(x, &s)
		}
	case *syntax.TestClause:
		r.test(c.X, &s)
	case *syntax.TimeClause:
		return r.stmt(c.Stmt, s, in)
	case *syntax.CoprocClause:
		if _, more := c.Stmt.Cmd.(*syntax.BinaryCmd); more {
			r.obscure("a list behind coproc")
		}
		r.stmt(c.Stmt, s, stdin{piped: true, heard: true})
	default:
		r.obscure("a kind of command that is not understood")
	}
	return s, s
}

func meet2(ok, fail state) state { return meet(ok, fail) }

// jumps runs through a body that break, continue or return may leave early.
func (r *reader) jumps(body func() (ok, fail state)) (ok, fail state) {
	r.escapes = append(r.escapes, nil)
	ok, fail = body()
	last := len(r.escapes) - 1
	for _, s := range r.escapes[last] {
		ok, fail = meet(ok, s), meet(fail, s)
	}
	r.escapes = r.escapes[:last]
	return ok, fail
}

func (r *reader) binary(c *syntax.BinaryCmd, s state, in stdin) (ok, fail state) {
	switch c.Op {
	case syntax.AndStmt:
		yes, no := r.stmt(c.X, s, in)
		ok, fail = r.stmt(c.Y, yes, in)
		return ok, meet(no, fail)
	case syntax.OrStmt:
		yes, no := r.stmt(c.X, s, in)
		ok, fail = r.stmt(c.Y, no, in)
		return meet(yes, ok), fail
	}
	left := in
	left.heard, left.feeds = true, &strings.Builder{}
	r.stmt(c.X, s, left)
	right := stdin{piped: true, text: left.feeds.String(), heard: in.heard, feeds: in.feeds}
	r.stmt(c.Y, s, right)
	return s, s
}

func (r *reader) conditional(c *syntax.IfClause, s state, in stdin) (ok, fail state) {
	if len(c.Cond) == 0 { // else
		return r.stmts(c.Then, s, in)
	}
	yes, no := r.stmts(c.Cond, s, in)
	ok, fail = r.stmts(c.Then, yes, in)
	if c.Else == nil {
		return meet(ok, no), fail
	}
	ok2, fail2 := r.conditional(c.Else, no, in)
	return meet(ok, ok2), meet(fail, fail2)
}

// repeat runs through the body of a loop until it finds nothing changed that it
// began with. Tries before the last one leave no trace.
func (r *reader) repeat(s state, body func(state) state) (ok, fail state) {
	for n := 0; ; n++ {
		if n == maxRepeats {
			s = s.fog()
			break
		}
		r.quiet++
		late := len(r.late)
		end := meet2(r.jumps(func() (state, state) { e := body(s); return e, e }))
		r.late = r.late[:min(late, len(r.late))]
		r.quiet--
		next := meet(s, end)
		if next.same(s) {
			break
		}
		s = next
	}
	s = meet(s, meet2(r.jumps(func() (state, state) { e := body(s); return e, e })))
	return s, s
}

func (r *reader) loop(c *syntax.ForClause, s state, in stdin) (ok, fail state) {
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			if x != nil {
				r.arithmetic(x, &s)
			}
		}
		return r.repeat(s, func(s state) state { return meet2(r.stmts(c.Do, s, in)) })
	case *syntax.WordIter:
		items := []word{{val: string(rune(many)), src: "$@"}}
		if l.InPos.IsValid() {
			items = r.fields(l.Items, &s)
		}
		return r.each(l.Name.Value, items, c, s, in)
	}
	r.obscure("a kind of loop that is not understood")
	return s, s
}

// maxTurns is how many turns of a loop are gone through one by one.
const maxTurns = 12

func (r *reader) each(name string, items []word, c *syntax.ForClause, s state, in stdin) (ok, fail state) {
	straight := len(items) <= maxTurns && !c.Select && r.quiet == 0
	for _, w := range items {
		straight = straight && sure(w.val)
	}
	if straight {
		out := s
		for _, w := range items {
			s = meet2(r.jumps(func() (state, state) { return r.stmts(c.Do, s.with(name, w.val), in) }))
			out = meet(out, s)
		}
		return out, out
	}
	val := string(rune(one))
	for _, w := range items {
		if !sure(w.val) || c.Select {
			val = string(rune(many))
		}
	}
	if val == string(rune(one)) {
		// Known words, but too many: they are still words.
		r.mentionAll(s, items)
	}
	return r.repeat(s, func(s state) state { return meet2(r.stmts(c.Do, s.with(name, val), in)) })
}

func (r *reader) mentionAll(s state, words []word) {
	for _, w := range words {
		r.mention(s, w.val, &r.out.Mentions)
	}
}

func (r *reader) cases(c *syntax.CaseClause, s state, in stdin) (ok, fail state) {
	r.value(c.Word, &s, true)
	ok, fail = s, s
	prev := s
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			r.inside(p, s)
		}
		yes, no := r.stmts(item.Stmts, meet(s, prev), in)
		ok, fail = meet(ok, yes), meet(fail, no)
		if prev = s; item.Op != syntax.Break {
			prev = meet(yes, no) // the next body may follow this one
		}
	}
	return ok, fail
}
