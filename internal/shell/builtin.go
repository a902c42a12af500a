package shell

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtin looks at commands that change the shell itself. done is false for
// those that are looked at as programs.
func (r *reader) builtin(c call, s state) (ok, fail state, done bool) {
	args := c.words[1:]
	harmless := Part{Class: ReadOnly}
	switch name := c.words[0].val; name {
	case "cd", "pushd", "popd":
		r.add(c, s, harmless)
		ok, fail = r.chdir(name, args, s)
		return ok, fail, true
	case "command", "builtin":
		for len(args) > 0 && (args[0].val == "-p" || args[0].val == "--") {
			args = args[1:]
		}
		if len(args) == 0 || isOption(args[0].val) || mayBeOption(args[0]) {
			return s, s, false
		}
		r.push(joinText(c.words), func() {
			ok, fail = r.invoke(call{words: args, io: c.io, in: c.in, plain: true}, s)
		})
		return ok, fail, true
	case "break", "continue", "return":
		r.add(c, s, harmless)
		for i := range r.escapes {
			r.escapes[i] = append(r.escapes[i], s)
		}
		return s, s, true
	case "eval":
		ok, fail = r.eval(c, args, s)
		return ok, fail, true
	case "source", ".":
		r.obscure(name + " runs what it cannot show")
		p := Part{Reason: name + " runs a file"}
		if len(args) > 0 {
			r.touch(&p, s, args[:1], nil)
		}
		r.add(c, s, p)
		return s.fog(), s.fog(), true
	case "alias":
		if len(args) > 0 {
			r.obscure("it defines an alias")
		}
		r.add(c, s, Part{Reason: "an alias changes what names mean"})
		return s, s, true
	case "trap":
		r.trap(c, args, s)
		return s, s, true
	case "set":
		s = r.set(c, args, s)
		return s, s, true
	case "shopt", "enable", "hash", "bind", "complete", "fc", "history":
		if name == "shopt" || name == "enable" || name == "hash" {
			r.obscure(name + " changes what the line means")
		}
		r.add(c, s, Part{Reason: name + " changes the shell"})
		return s, s, true
	case "export", "declare", "local", "readonly", "typeset", "let":
		// As a clause of its own it never comes here: something stands before it.
		r.obscure(name + " behind another command")
		r.add(c, s, Part{Reason: name + " behind another command"})
		return s.fog(), s.fog(), true
	case "shift":
		r.add(c, s, harmless)
		s.args, s.params = false, nil
		return s, s, true
	case "read", "mapfile", "readarray", "getopts", "unset", "wait", "printf", "test", "[":
		s = r.names(c, name, args, s)
		return s, s, true
	}
	return s, s, false
}

// chdir follows cd. When it fails the directory stays.
func (r *reader) chdir(name string, args []word, s state) (ok, fail state) {
	ok, fail = s, s
	r.out.Moves = true
	var to *word
	for i, a := range args {
		switch {
		case a.val == "-L" || a.val == "-P" || a.val == "-e" || a.val == "--":
		case a.val == "-" || isOption(a.val) || mayBeOption(a) || name != "cd" && strings.HasPrefix(a.val, "+"):
			ok.dirs, ok.moved = nil, "elsewhere"
			return ok, fail
		case to == nil:
			to = &args[i]
		}
	}
	_, home := s.vars["HOME"]
	switch {
	case name == "popd", to == nil && name == "pushd":
		ok.dirs, ok.moved = nil, "elsewhere"
		return ok, fail
	case to == nil && (r.at.Home == "" || home):
		ok.dirs, ok.moved = nil, "elsewhere"
		return ok, fail
	case to == nil:
		ok.dirs = []string{r.at.Home}
	case !known(to.val) || s.vars["CDPATH"] != "" || to.val == "":
		ok.dirs = nil
	default:
		ok.dirs = nil
		for _, p := range r.paths(s, to.val) {
			if p = filepath.Clean(p); !slices.Contains(ok.dirs, p) {
				ok.dirs = append(ok.dirs, p)
			}
		}
	}
	for _, d := range ok.dirs {
		if d != r.at.Dir && !slices.Contains(r.at.Roots, d) {
			ok.moved = d
		}
	}
	if ok.dirs == nil {
		ok.moved = "elsewhere"
	}
	return ok, fail
}

func (r *reader) eval(c call, args []word, s state) (ok, fail state) {
	for _, a := range args {
		if !known(a.val) {
			r.obscure("eval runs what it cannot show")
			r.add(c, s, Part{Reason: "eval runs what it cannot show"})
			r.push(joinText(c.words), func() { r.within++; r.line(joinText(args), s, c.in); r.within-- })
			return s.fog(), s.fog()
		}
	}
	if !c.io.empty() {
		r.add(c, s, Part{Reason: "eval with redirections"})
	}
	r.push(joinText(c.words), func() { ok, fail = r.line(joinText(args), s, c.in) })
	return ok, fail
}

// push runs f with one more text that rules which refuse look at.
func (r *reader) push(outer string, f func()) {
	r.outer = append(r.outer, outer)
	f()
	r.outer = r.outer[:len(r.outer)-1]
}

func (r *reader) trap(c call, args []word, s state) {
	if len(args) > 0 && args[0].val == "--" {
		args = args[1:]
	}
	if len(args) < 2 || args[0].val == "-" || args[0].val == "" || isOption(args[0].val) {
		r.add(c, s, Part{Class: ReadOnly})
		return
	}
	if !known(args[0].val) {
		r.obscure("trap runs what it cannot show")
		r.add(c, s, Part{Reason: "trap runs what it cannot show"})
		return
	}
	r.add(c, s, Part{Class: ReadOnly})
	for _, sig := range args[1:] {
		switch strings.TrimPrefix(strings.ToUpper(sig.val), "SIG") {
		case "0", "EXIT", "INT", "TERM", "HUP", "QUIT", "1", "2", "3", "15":
		default:
			r.obscure("trap " + sig.text() + " runs between other commands")
		}
	}
	if !slices.ContainsFunc(r.late, func(d deferred) bool { return d.body == nil && d.code == args[0].val }) {
		r.late = append(r.late, deferred{code: args[0].val, state: s})
	}
}

// set takes new positional parameters, or settings of the shell.
func (r *reader) set(c call, args []word, s state) state {
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case v == "--" || v == "-":
			args = args[i+1:]
			return r.given(c, args, s)
		case v == "-o" || v == "+o":
			i++
			if i == len(args) {
				break
			}
			switch args[i].val {
			case "pipefail", "errexit", "nounset", "xtrace", "noclobber", "noglob", "verbose":
			default:
				r.obscure("set -o " + args[i].text() + " changes what the line means")
			}
		case isOption(v) || strings.HasPrefix(v, "+"):
			if !known(v) || strings.Trim(v[1:], "euxvCfo") != "" {
				r.obscure("set " + args[i].text() + " changes what the line means")
			}
			if strings.HasSuffix(v, "o") { // as in set -euo pipefail
				args[i] = word{val: "-o"}
				i--
			}
		default:
			if mayBeOption(args[i]) {
				r.obscure("set takes its settings from a variable")
			}
			return r.given(c, args[i:], s)
		}
	}
	r.add(c, s, Part{Class: ReadOnly})
	return s
}

func (r *reader) given(c call, args []word, s state) state {
	r.add(c, s, Part{Class: ReadOnly})
	s.args, s.params = true, nil
	for _, a := range args {
		s.params = append(s.params, a.val)
		if a.val == string(rune(many)) {
			s.args, s.params = false, nil
			break
		}
	}
	return s
}

// names looks at builtins that take names of variables. A name with an index in
// it is read as an expression, which may run commands.
func (r *reader) names(c call, name string, args []word, s state) state {
	p := r.byRow(data().commands[name], args, s, c)
	switch name {
	case "test", "[":
		for i, a := range args {
			if i > 0 && (args[i-1].val == "-v" || args[i-1].val == "-R") && !syntax.ValidName(a.val) {
				r.obscure("test -v reads an expression")
			}
		}
		args = nil
	case "printf":
		p, args = printf(args)
	case "getopts":
		s = s.with("OPTARG", string(rune(many)))
		args = args[min(1, len(args)):min(2, len(args))]
	case "read":
		s = s.with("REPLY", string(rune(many)))
	case "wait":
		if flag(args, 'p', "") {
			r.obscure("wait -p sets a variable")
		}
		args = nil
	case "mapfile", "readarray":
		if flag(args, 'C', "") {
			r.obscure(name + " -C runs a command")
			p = Part{Reason: name + " -C runs a command"}
		}
	}
	for _, a := range operandsOf(name, args) {
		s = r.rename(name, a, s)
	}
	r.add(c, s, p)
	return s
}

// printf returns the name that printf -v sets. Any other use is harmless.
func printf(args []word) (Part, []word) {
	switch {
	case len(args) > 1 && args[0].val == "-v":
		return Part{Class: ReadOnly}, args[1:2]
	case len(args) > 0 && (mayBeOption(args[0]) || strings.HasPrefix(args[0].val, "-v")) && !strings.HasPrefix(args[0].val, "%"):
		return Part{Reason: args[0].text() + " may be an option"}, nil
	}
	return Part{Class: ReadOnly}, nil
}

// operandsOf returns the names among the words of a builtin, without options and
// their values.
func operandsOf(name string, args []word) (out []word) {
	valued := map[string]string{"read": "dinNptu", "mapfile": "dnOsucC", "readarray": "dnOsucC"}[name]
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case v == "--":
			return append(out, args[i+1:]...)
		case !isOption(v) || !known(v):
			out = append(out, args[i])
		case strings.IndexByte(valued, v[len(v)-1]) >= 0:
			i++
		}
	}
	return out
}

// rename makes what a name holds unknown.
func (r *reader) rename(builtin string, a word, s state) state {
	if !syntax.ValidName(a.val) {
		r.obscure(builtin + " takes " + a.text() + " for the name of a variable")
		return s.fog()
	}
	r.assigned(a.val)
	s = s.with(a.val, string(rune(many)))
	if _, ok := s.funcs[a.val]; ok && builtin == "unset" {
		funcs := maps.Clone(s.funcs)
		funcs[a.val] = nil
		s.funcs = funcs
	}
	return s
}
