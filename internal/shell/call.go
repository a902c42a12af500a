package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call is a simple command under way.
type call struct {
	words []word
	said  []word // what Text shows, where that is less
	raw   string // as written
	io    files
	in    stdin
	plain bool // no function is meant: it follows command, exec and the like
	grave string
}

// simple runs through a simple command.
func (r *reader) simple(stmt *syntax.Stmt, c *syntax.CallExpr, io files, s state, in stdin) (ok, fail state) {
	words := r.fields(c.Args, &s)
	if len(words) == 0 {
		for _, a := range c.Assigns {
			s = r.assign(a, s)
		}
		r.standing(stmt, io, s)
		return s, s
	}
	inner, bare := s, ""
	for _, a := range c.Assigns {
		if a.Name.Value == "IFS" && words[0].val == "read" {
			r.inside(a, s)
			continue // it only tells read where to cut
		}
		inner = r.assign(a, inner)
		if unsafeVariable(a.Name.Value) {
			bare = a.Name.Value + " is set before it"
		}
	}
	inner.taint = s.taint
	outer := r.bare
	if bare != "" {
		r.bare = bare
	}
	ok, fail = r.invoke(call{words: words, raw: r.src(c), io: io, in: in}, inner)
	r.bare = outer
	if len(c.Assigns) > 0 {
		ok, fail = restore(ok, s, c.Assigns), restore(fail, s, c.Assigns)
	}
	return ok, fail
}

// restore takes back variables that held for one command only. Whether they do
// depends on what it was.
func restore(after, before state, assigns []*syntax.Assign) state {
	for _, a := range assigns {
		name := a.Name.Value
		v, ok := before.vars[name]
		if !ok || v != after.vars[name] {
			after = after.with(name, string(rune(many)))
		}
	}
	after.taint = before.taint
	return after
}

// invoke looks at a command whose words are expanded.
func (r *reader) invoke(c call, s state) (ok, fail state) {
	r.words += len(c.words)
	if r.steps++; r.steps > maxSteps || r.words > 4*maxWords || r.depth > maxDepth*8 {
		r.spent = true
		return s, s
	}
	r.depth++
	defer func() { r.depth-- }()
	w := c.words[0]
	args := c.words[1:]
	if !known(w.val) || w.loose {
		r.obscure("an expansion stands for the name of a command")
		if flag(args, 'r', "--recursive") {
			r.guardTargets(s, "an unknown command", args)
		}
		r.mentionAll(s, c.words)
		r.add(c, s, Part{Reason: "which command it is cannot be told"})
		return s.fog(), s.fog()
	}
	if w.val == "--" && len(args) > 0 { // after the keyword time it ends the options
		r.obscure("-- stands for the name of a command")
		c.words = args
		return r.invoke(c, s)
	}
	if body, is := s.funcs[w.val]; is && !c.plain {
		return r.enter(c, body, s)
	}
	if strings.Contains(w.val, "/") {
		r.mention(s, w.val, &r.out.Mentions)
	}
	if !speaks(w.val) || c.in.heard {
		r.mentionAll(s, args)
	}
	name := commandName(w.val)
	c.grave = r.grave(s, name, args)
	if c.grave != "" {
		r.guard(c.grave)
	}
	r.feed(name, c)
	if !strings.Contains(w.val, "/") {
		if ok, fail, done := r.builtin(c, s); done {
			return ok, fail
		}
	}
	if strings.Contains(w.val, "/") && !standard(w.val) {
		r.add(c, s, Part{Reason: w.text() + " is a program of its own"})
		if t := data(); t.wrappers[name] != nil || shellName(name) || name == "find" {
			// By its name it runs another command, for all that is known.
			r.within++
			r.command(c, name, s)
			r.within--
		}
		return s, s
	}
	r.command(c, name, s)
	return s, s
}

// command looks at a program.
func (r *reader) command(c call, name string, s state) {
	args := c.words[1:]
	t := data()
	if row, n := lookup(t.commands, t.longest, name, args); row != nil && (n > 0 || t.wrappers[name] == nil) && !special(name) {
		p := r.byRow(row, args[n:], s, c)
		if name == "ps" && slices.ContainsFunc(args, environment) {
			p = Part{Reason: "ps may show the environment of processes"}
		}
		r.add(c, s, p)
		return
	}
	switch {
	case shellName(name):
		r.interpreter(c, name, s)
	case name == "xargs":
		r.xargs(c, s)
	case name == "find" || name == "gfind":
		r.find(c, s)
	case name == "git":
		r.git(c, s)
	case name == "sed" || name == "gsed":
		r.add(c, s, r.sed(c, s))
	case name == "awk" || name == "gawk" || name == "mawk" || name == "nawk":
		r.add(c, s, r.awk(c, s))
	case name == "tar" || name == "gtar" || name == "bsdtar":
		r.add(c, s, r.tar(c, s))
	case name == "dd":
		r.add(c, s, r.dd(c, s))
	case name == "script":
		r.script(c, s)
	default:
		if row, n := lookup(t.wrappers, t.longest, name, args); row != nil {
			r.wrap(c, row, n, s)
			return
		}
		if codeName(name) {
			r.code(c, s)
		}
		if t.families[name] && len(args) > 0 {
			name += " " + args[0].text()
		}
		r.add(c, s, Part{Reason: name + " is not known to be harmless"})
	}
}

// environment reports whether a word makes ps show variables.
func environment(w word) bool {
	return !known(w.val) || w.val == "-E" || !isOption(w.val) && strings.ContainsAny(w.val, "eE")
}

// special are the commands with rows that need more than a row.
func special(name string) bool { return name == "git" }

// commandName is the name without folder: /bin/rm is rm.
func commandName(s string) string {
	return strings.TrimSuffix(path.Base(strings.ReplaceAll(s, `\`, "/")), ".exe")
}

// standard reports whether a path names a program of the system.
func standard(p string) bool {
	switch path.Dir(path.Clean(p)) {
	case "/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/opt/homebrew/bin":
		return true
	}
	return false
}

// speaks reports whether a command only prints its words.
func speaks(name string) bool { return name == "echo" || name == "printf" }

// feed notes the text that a command passes on to the next of a pipeline.
func (r *reader) feed(name string, c call) {
	if c.in.feeds == nil || c.in.feeds.Len() > maxLine {
		return
	}
	switch name {
	case "echo", "printf":
		c.in.feeds.WriteString(joinText(c.words[1:]) + "\n")
	case "cat", "tee":
		c.in.feeds.WriteString(c.in.text)
	}
}

// enter runs through the body of a function with the words of a call.
func (r *reader) enter(c call, body *syntax.Stmt, s state) (ok, fail state) {
	if body == nil {
		r.obscure("which function " + c.words[0].text() + " is cannot be told")
		r.add(c, s, Part{Reason: "which function it is cannot be told"})
		return s.fog(), s.fog()
	}
	text := r.text
	for i := range r.late {
		if d := &r.late[i]; d.body == body {
			text = d.text
			if r.quiet == 0 {
				d.called = true
			}
		}
	}
	in := s
	in.args, in.params = true, nil
	for _, a := range c.words[1:] {
		in.params = append(in.params, a.val)
		if a.val == string(rune(many)) {
			in.args, in.params = false, nil
			break
		}
	}
	if !c.io.empty() {
		p := Part{Class: ReadOnly}
		r.add(call{words: []word{{val: ":", src: ":"}}, raw: c.raw, io: c.io}, s, p)
	}
	r.mentionAll(s, c.words[1:])
	outer := r.text
	r.text = text
	if slices.Contains(r.active, body) {
		r.obscure("the function " + c.words[0].text() + " calls itself")
		if code := r.src(body); strings.Contains(code, "|") && strings.Contains(code, "&") {
			r.guard("it looks like a fork bomb")
		}
		r.text = outer
		return s.fog(), s.fog()
	}
	r.active = append(r.active, body)
	defer func() { r.active = r.active[:len(r.active)-1] }()
	r.calls++
	r.push(joinText(c.words), func() {
		ok, fail = r.jumps(func() (state, state) { return r.stmt(body, in, c.in) })
	})
	r.calls--
	r.text = outer
	return left(ok, s, body), left(fail, s, body)
}

// left is the state after a function: its words and its own variables are gone.
func left(after, before state, body *syntax.Stmt) state {
	after.args, after.params = before.args, before.params
	syntax.Walk(body, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.DeclClause); ok && d.Variant.Value != "export" && d.Variant.Value != "readonly" {
			for _, a := range d.Args {
				if a.Name != nil {
					after = after.with(a.Name.Value, string(rune(many)))
				}
			}
		}
		return true
	})
	after.taint = orElse(before.taint, after.taint)
	return after
}
