package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/openharness/oh/internal/text"
)

// Bounds on what one line makes us look at.
const (
	maxLine    = 128 << 10 // bytes
	maxNest    = 400       // brackets open at once
	maxDepth   = 24        // lines within lines, functions within functions
	maxParts   = 2048
	maxPaths   = 2048
	maxWords   = 20000
	maxSteps   = 20000 // statements looked at, again in loops and calls
	maxReason  = 200   // bytes of a parser's message
	maxForms   = 24    // of one part
	maxRepeats = 3     // of a loop
)

// reader is one analysis under way.
type reader struct {
	at   Place
	out  Analysis
	text string // that is being parsed now

	depth int
	steps int
	words int  // looked at
	spent bool // something was left unseen
	quiet int  // parts and notes are not kept: a loop is tried for what it changes

	outer  []string // commands that run what is looked at now
	bare   string   // why no rule on the command covers what is looked at now
	within int      // more than 0: it runs with other rights or elsewhere

	seen    map[noted]bool
	calls   int            // functions under way
	active  []*syntax.Stmt // their bodies
	escapes [][]state      // what loops and functions are left with by break, continue and return

	late  []deferred // bodies of traps and functions
	once  map[string]int
	bytes int // of texts parsed within the line
}

// noted is a path in one of the lists.
type noted struct {
	list *[]string
	path string
}

// deferred is code that runs at another time than where it stands.
type deferred struct {
	body   *syntax.Stmt
	code   string
	text   string // that the body was parsed from
	state  state
	called bool
}

// Analyse looks at a line that bash would run. It keeps nothing and touches
// nothing.
func Analyse(line string, at Place) Analysis {
	r := &reader{at: at}
	s := state{}
	if at.Dir != "" {
		s.dirs = []string{at.Dir}
	}
	switch {
	case strings.TrimSpace(line) == "":
		return r.out
	case len(line) > maxLine || nest(line) > maxNest:
		r.spent = true
	case strings.ContainsAny(line, marks+"\r"):
		r.foreign(line, "it holds control characters")
	default:
		r.line(line, s, stdin{})
		r.deferred()
	}
	if r.spent || len(r.out.Parts) >= maxParts || len(r.out.Mentions) >= maxPaths {
		r.obscure("it is too long to be looked through")
		r.guard("it is too long to be looked through")
		if len(r.out.Parts) == 0 {
			r.foreign(text.Cut(line, 1000), "it is too long to be looked through")
		}
	}
	return r.out
}

// nest is how deep brackets are open at once, and no less.
func nest(line string) (deepest int) {
	depth := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '(', '{', '[':
			depth++
			deepest = max(deepest, depth)
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// foreign is a line that cannot be read: one part of which nothing is known.
func (r *reader) foreign(line, why string) {
	line = strings.TrimSpace(line)
	r.obscure(why)
	if r.quiet == 0 && len(r.out.Parts) < maxParts {
		r.out.Parts = append(r.out.Parts, Part{Argv: []string{line}, Unsure: []int{0}, Text: line, Forms: []string{line}, Reason: why, Bare: why})
	}
	for _, f := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t\r\n;&|(){}`'\"\\$<>/!", c) }) {
		if dire(f) {
			r.guard("it cannot be read as a command line and names " + f)
		}
	}
	for _, f := range strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" \t\r\n;&|(){}`'\"<>=:@,", c) }) {
		r.mention(state{dirs: []string{r.at.Dir}}, f, &r.out.Mentions)
	}
}

// dire names the commands that may destroy much.
func dire(name string) bool {
	switch name {
	case "rm", "dd", "shred", "wipefs", "fdisk", "sfdisk", "parted", "shutdown", "reboot", "halt", "poweroff", "mkswap", "-delete",
		"clean", "push", "filter-branch", "filter-repo", "chmod", "chown", "destroy", "prune", "crontab":
		return true
	}
	return strings.HasPrefix(name, "mkfs")
}

// line parses code and runs through it. What was read before an error counts
// too, since a shell would have run it.
func (r *reader) line(code string, s state, in stdin) (ok, fail state) {
	if r.bytes += len(code); r.depth >= maxDepth || r.bytes > 4*maxLine || nest(code) > maxNest {
		r.spent = true
		return s.fog(), s.fog()
	}
	if strings.ContainsAny(code, marks+"\r") {
		r.foreign(code, "it holds control characters")
		return s.fog(), s.fog()
	}
	var list []*syntax.Stmt
	var bad error
	for stmt, err := range syntax.NewParser().StmtsSeq(strings.NewReader(code)) {
		// The parser may yield more after an error, so the loop goes on.
		switch {
		case bad != nil:
		case err != nil:
			bad = err
		default:
			list = append(list, stmt)
		}
	}
	outer := r.text
	r.text = code
	r.depth++
	r.count(list)
	ok, fail = r.stmts(list, s, in)
	r.depth--
	r.text = outer
	if bad != nil {
		why := "it cannot be read as a command line: " + text.OneLine(bad.Error(), maxReason)
		r.foreign(code, why)
	}
	return ok, fail
}

// count notes how often each variable is given a value.
func (r *reader) count(list []*syntax.Stmt) {
	for _, stmt := range list {
		syntax.Walk(stmt, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Assign:
				if n.Name != nil {
					r.assigned(n.Name.Value)
				}
			case *syntax.WordIter:
				r.assigned(n.Name.Value)
			}
			return true
		})
	}
}

func (r *reader) assigned(name string) {
	if r.once == nil {
		r.once = map[string]int{}
	}
	r.once[name]++
}

// deferred runs through traps, and through functions that nothing calls.
func (r *reader) deferred() {
	for i := 0; i < len(r.late) && !r.spent; i++ {
		d := r.late[i]
		if d.called {
			continue
		}
		s := d.state
		for name := range s.vars {
			if r.once[name] > 1 {
				s = s.with(name, string(rune(many)))
			}
		}
		s.params, s.args = nil, false
		if r.out.Moves {
			s.dirs, s.moved = nil, "elsewhere"
		}
		if d.body == nil {
			r.line(d.code, s, stdin{piped: true})
			continue
		}
		r.text = d.text
		r.calls++
		r.stmt(d.body, s, stdin{piped: true})
		r.calls--
	}
}

func (r *reader) obscure(why string) {
	if r.out.Obscure == "" && r.quiet == 0 {
		r.out.Obscure = why
	}
}

func (r *reader) guard(why string) {
	if r.out.Guard == "" && r.quiet == 0 {
		r.out.Guard = why
	}
}

// mention notes the paths that a word may stand for: the whole of it, and what
// follows =, :, @, a comma or an option's letter.
func (r *reader) mention(s state, v string, to *[]string) {
	if r.quiet > 0 || v == "" || strings.Contains(v, "://") && !strings.Contains(v, "file://") {
		return
	}
	r.note(s, v, to)
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '=', ':', '@', ',':
			r.note(s, v[i+1:], to)
		}
	}
	if len(v) > 2 && v[0] == '-' && v[1] != '-' {
		r.note(s, v[2:], to)
	}
}

// note adds the path of a word. For an unknown folder or variable the names
// behind it still tell.
func (r *reader) note(s state, v string, to *[]string) {
	if v == "" || len(v) > maxValue || len(*to) >= maxPaths || r.quiet > 0 {
		return
	}
	if rest, ok := strings.CutPrefix(v, "~/"); ok && r.at.Home != "" {
		v = r.at.Home + "/" + rest
	}
	all := r.paths(s, v)
	if all == nil {
		all = []string{slashRoot + strings.TrimLeft(show(v), "/")}
	}
	for _, p := range all {
		have := noted{to, p}
		if !r.seen[have] {
			if r.seen == nil {
				r.seen = map[noted]bool{}
			}
			r.seen[have] = true
			*to = append(*to, p)
		}
	}
}

// hint notes the paths inside a longer text.
func (r *reader) hint(s state, code string) {
	for _, f := range strings.FieldsFunc(code, func(c rune) bool { return strings.ContainsRune(" \t\r\n'\"`()[]{},;|&<>=:@", c) }) {
		if strings.ContainsAny(f, "/.~") {
			r.note(s, f, &r.out.Hints)
		}
	}
}
