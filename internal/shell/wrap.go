package shell

import (
	"strings"
)

// wrap looks through a command that runs another one. skip are the words of its
// name after the first.
func (r *reader) wrap(c call, row *row, skip int, s state) {
	name := commandName(c.words[0].val)
	sc := row.scan(c.words[1+skip:], true)
	rest := sc.rest
	outerBare := r.bare
	for (name == "env" || row.kind == "away") && len(rest) > 0 && strings.Contains(rest[0].val, "=") {
		v, _, _ := strings.Cut(rest[0].val, "=")
		if unsafeVariable(v) || !assignment(rest[0].val) {
			r.bare = show(v) + " is set before it"
		}
		if !assignment(rest[0].val) {
			r.obscure(name + " sets " + show(v))
		}
		rest = rest[1:]
	}
	defer func() { r.bare = outerBare }()
	outer := joinText(c.words)
	ask := row.kind != "through" || sc.bad != "" || sc.line != nil || len(rest) == 0
	if name == "exec" && len(rest) == 0 && sc.bad == "" {
		r.add(c, s, Part{Class: ReadOnly}) // its redirections are all it does
		return
	}
	if ask {
		r.add(c, s, r.wrapper(name, row, sc, s, len(rest) == 0))
	}
	if sc.bad != "" {
		r.obscure("which command " + name + " runs cannot be told: " + sc.bad)
	}
	if row.kind == "away" || sc.bad != "" {
		r.within++
		defer func() { r.within-- }()
	}
	r.push(outer, func() {
		switch {
		case sc.line != nil:
			r.wrapped(*sc.line, rest, s)
		case sc.bad != "":
			r.guess(c, c.words[1+skip:], s)
		case len(rest) == 0:
		case row.line:
			r.join(rest, s)
		default:
			io := c.io
			if ask {
				io = files{}
			}
			r.invoke(call{words: rest, raw: "", io: io, in: c.in, plain: true}, s)
		}
	})
}

func (r *reader) wrapper(name string, row *row, sc scanned, s state, none bool) Part {
	p := Part{Reason: name + " runs another command"}
	switch {
	case sc.bad != "":
		p.Reason = name + ": " + sc.bad
	case none && sc.line == nil:
		p.Reason = name + " without a command"
	case row.kind == "away":
		p.Reason = name + " runs a command elsewhere or with other rights"
	}
	r.touch(&p, s, sc.reads, nil)
	if row.files {
		r.touch(&p, s, nil, sc.operands)
	}
	return p
}

// wrapped runs through the value of an option that is a line, as of env -S.
func (r *reader) wrapped(line word, rest []word, s state) {
	if !known(line.val) {
		r.obscure(line.text() + " is run and cannot be shown")
		return
	}
	r.line(strings.TrimSpace(line.val+" "+joinQuoted(rest)), s.child(nil), stdin{})
}

// join runs through words that are joined to a line for a shell.
func (r *reader) join(words []word, s state) {
	for _, w := range words {
		if !known(w.val) {
			r.obscure(w.text() + " is run and cannot be shown")
		}
	}
	r.line(joinText(words), s.child(nil), stdin{})
}

// child is the state in another shell.
func (s state) child(params []word) state {
	out := state{dirs: s.dirs, taint: s.taint, moved: s.moved}
	if params != nil {
		out.args = true
		for _, p := range params {
			out.params = append(out.params, p.val)
			if strings.IndexByte(p.val, many) >= 0 {
				out.args, out.params = false, nil
				break
			}
		}
	}
	return out
}

// guess takes each word that may be the command, where the options of a wrapper
// are not known.
func (r *reader) guess(c call, args []word, s state) {
	tries := 0
	for i, w := range args {
		if isOption(w.val) || !known(w.val) || assignment(w.val) || w.val == "" {
			continue
		}
		if tries++; tries > 6 {
			return
		}
		r.invoke(call{words: args[i:], in: c.in, plain: true}, s)
	}
}

func assignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; c != '_' && (c < '0' || c > '9') && (c|32 < 'a' || c|32 > 'z') {
			return false
		}
	}
	return true
}

// xargs runs a command with words that are not known.
func (r *reader) xargs(c call, s state) {
	sc := data().wrappers["xargs"].scan(c.words[1:], true)
	rest := sc.rest
	if sc.bad != "" {
		r.obscure("which command xargs runs cannot be told: " + sc.bad)
		r.add(c, s, Part{Reason: "xargs: " + sc.bad})
		r.within++
		r.push(joinText(c.words), func() { r.guess(c, c.words[1:], s) })
		r.within--
		return
	}
	if len(rest) == 0 {
		rest = []word{{val: "echo", src: "echo"}}
	}
	hole := ""
	for i, w := range c.words[1:] {
		if w.val == "-i" {
			hole = "{}"
		} else if v, ok := strings.CutPrefix(w.val, "-I"); ok {
			if hole = v; v == "" && i+2 < len(c.words) {
				hole = c.words[i+2].val
			}
			break
		} else if v, ok := strings.CutPrefix(w.val, "--replace="); ok {
			hole = v
		}
	}
	var words []word
	for _, w := range rest {
		if hole != "" && strings.Contains(w.val, hole) {
			w = word{val: strings.ReplaceAll(w.val, hole, string(rune(one))), src: w.src}
		}
		words = append(words, w)
	}
	if hole == "" {
		words = append(words, word{val: string(rune(many)), src: "{}"})
	}
	r.push(joinText(c.words), func() {
		in := stdin{heard: c.in.heard}
		r.invoke(call{words: words, io: c.io, in: in, plain: true}, s)
	})
	if len(sc.reads) > 0 {
		p := Part{Class: ReadOnly}
		r.touch(&p, s, sc.reads, nil)
		r.add(c, s, p)
	}
}

// shellName reports whether a command is a shell.
func shellName(name string) bool {
	switch name {
	case "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh":
		return true
	}
	return false
}

// shellWords is what the words of a shell say.
type shellWords struct {
	code   *word
	script *word
	params []word
	odd    string // an option that is not looked through
}

func readShell(args []word) (w shellWords) {
	code := false
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case v == "--norc" || v == "--noprofile" || v == "--posix":
		case v == "--" || v == "-":
			i++
			fallthrough
		case !isOption(v) && !strings.HasPrefix(v, "+"):
			if i >= len(args) {
				return w
			}
			if code {
				w.code, w.params = &args[i], args[min(i+2, len(args)):]
			} else {
				w.script = &args[i]
			}
			return w
		case !known(v) || strings.HasPrefix(v, "--"):
			w.odd = "the option " + args[i].text()
		default:
			code = code || strings.Contains(v[1:], "c") && v[0] == '-'
			if strings.HasSuffix(v, "o") || strings.HasSuffix(v, "O") {
				i++
			}
			if strings.Trim(v[1:], "ceuxvfo") != "" {
				w.odd = "the option " + v
			}
			if i < len(args) && strings.HasSuffix(v, "o") && args[i].val != "pipefail" && args[i].val != "errexit" && args[i].val != "nounset" {
				w.odd = "the option " + args[i].text()
			}
		}
	}
	return w
}

// interpreter looks at a shell: its code is looked through when it can be read.
func (r *reader) interpreter(c call, name string, s state) {
	w := readShell(c.words[1:])
	switch {
	case w.code != nil:
		r.shellCode(c, name, w, s)
	case w.script != nil:
		p := Part{Reason: name + " runs a script"}
		if strings.HasPrefix(w.script.val, "/dev/") {
			r.obscure(name + " runs what it reads")
		}
		r.touch(&p, s, []word{*w.script}, nil)
		r.add(c, s, p)
	default:
		r.shellInput(c, name, w, s)
	}
}

func (r *reader) shellCode(c call, name string, w shellWords, s state) {
	why := w.odd
	switch {
	case !known(w.code.val):
		why = "the code cannot be shown"
		r.obscure(name + " runs what it cannot show")
	case name == "bash":
	case name != "sh" && name != "dash" && name != "ash":
		why = "it reads the code in its own way"
		r.obscure(name + " reads the code in its own way")
	case bashism(w.code.val):
		why = "what the code means depends on which shell this is"
		r.obscure(why)
	}
	if why != "" || !c.io.empty() {
		p := Part{Reason: name + ": " + why}
		if why == "" {
			p = Part{Class: ReadOnly}
		}
		r.add(c, s, p)
	}
	code := w.code.val
	if !known(code) {
		code = show(code)
		r.within++
		defer func() { r.within-- }()
	}
	params := w.params
	if params == nil {
		params = []word{}
	}
	r.push(joinText(c.words), func() { r.line(code, s.child(params), c.in) })
}

// bashism reports whether code may mean something else to another shell.
func bashism(code string) bool {
	for _, s := range [...]string{"$'", `$"`, "&>", ">&", "<(", ">(", "<<<", "|&", "[[", "((", "function", ";;&", ";&", "coproc", "select", "{", "$[", "~+", "~-", "echo -", "time"} {
		if strings.Contains(strings.NewReplacer("2>&1", "", ">&2", "", "1>&2", "", "${", "").Replace(code), s) {
			return true
		}
	}
	return false
}

// shellInput looks at a shell that reads its commands from its input.
func (r *reader) shellInput(c call, name string, w shellWords, s state) {
	why := name + " runs what it reads"
	if !c.in.given || name != "bash" || w.odd != "" {
		if !c.in.given {
			r.obscure(why)
		}
		r.add(c, s, Part{Reason: why})
	}
	if c.in.text == "" {
		return
	}
	if !c.in.given {
		r.within++
		defer func() { r.within-- }()
	}
	r.push(joinText(c.words), func() { r.line(c.in.text, s.child([]word{}), stdin{piped: true}) })
}

// codeName reports whether a command runs code of another language.
func codeName(name string) bool {
	for _, p := range [...]string{"python", "node", "perl", "ruby", "php", "deno", "bun", "lua", "osascript", "pwsh", "powershell", "tclsh", "Rscript"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// code notes the paths in code of another language.
func (r *reader) code(c call, s state) {
	for _, w := range c.words[1:] {
		if strings.ContainsAny(w.val, " \t\n'\"(") {
			r.hint(s, show(w.val))
		}
	}
	r.hint(s, c.in.text)
}

// script looks at script -c LINE FILE.
func (r *reader) script(c call, s state) {
	p := Part{Reason: "script runs a shell"}
	var code *word
	args := c.words[1:]
	for i := 0; i < len(args); i++ {
		v := args[i].val
		switch {
		case strings.HasPrefix(v, "--command="):
			code = &word{val: v[len("--command="):], src: args[i].src}
		case v == "--command" || isOption(v) && v[1] != '-' && strings.HasSuffix(v, "c"):
			if i++; i < len(args) {
				code = &args[i]
			}
		case !isOption(v):
			r.touch(&p, s, nil, args[i:i+1])
		}
	}
	r.add(c, s, p)
	if code == nil {
		return
	}
	r.push(joinText(c.words), func() { r.wrapped(*code, nil, s) })
}
