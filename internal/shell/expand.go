package shell

import (
	"path/filepath"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds on what one word becomes.
const (
	maxFields = 256
	maxValue  = 4096 // bytes of a variable
)

// src is a node as it is written.
func (r *reader) src(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(r.text) {
		return "?"
	}
	return r.text[from:to]
}

// fields expands the words of a command.
func (r *reader) fields(words []*syntax.Word, s *state) []word {
	var out []word
	for _, w := range words {
		if len(out) > maxWords {
			r.spent = true
			return out
		}
		out = append(out, r.field(w, s)...)
	}
	return out
}

func (r *reader) field(w *syntax.Word, s *state) []word {
	src := r.src(w)
	if lit := w.Lit(); lit != "" && plain(lit) {
		return []word{{val: lit, src: src}}
	}
	var out []word
	for _, parts := range r.braces(w) {
		f := filler{reader: r, state: s, split: true}
		f.parts(parts, true)
		f.end()
		out = append(out, f.out...)
	}
	for i := range out {
		if out[i].src = src; len(out[i].val) > maxValue {
			out[i].val = string(rune(one))
		}
	}
	return out
}

// plain reports whether a literal means itself.
func plain(lit string) bool {
	return !strings.ContainsAny(lit, "\\*?[{~=")
}

// value expands a word where it is not split: values, redirections, patterns.
func (r *reader) value(w *syntax.Word, s *state, assigned bool) string {
	if w == nil {
		return ""
	}
	f := filler{reader: r, state: s, assigned: assigned}
	f.parts(w.Parts, true)
	f.end()
	if len(f.out) == 0 {
		return ""
	}
	if v := f.out[0].val; len(v) <= maxValue {
		return v
	}
	return string(rune(one))
}

// braces applies brace expansion: each result is a list of parts.
func (r *reader) braces(w *syntax.Word) [][]syntax.WordPart {
	braced := false
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			braced = true
		}
	}
	if !braced {
		return [][]syntax.WordPart{w.Parts}
	}
	own := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	syntax.SplitBraces(own)
	out, ok := r.brace(own, 0)
	for _, parts := range out {
		for _, p := range parts {
			// What is left of braces means itself, unless the shell reads it
			// otherwise than the parser.
			if l, is := p.(*syntax.Lit); is && strings.Contains(l.Value, "{") && (strings.Contains(l.Value, ",") || strings.Contains(l.Value, "..")) {
				ok = false
			}
		}
	}
	if !ok {
		r.obscure("the braces in " + r.src(w) + " cannot be read")
		return [][]syntax.WordPart{w.Parts}
	}
	return out
}

func (r *reader) brace(w *syntax.Word, depth int) (out [][]syntax.WordPart, ok bool) {
	out = [][]syntax.WordPart{nil}
	for _, p := range w.Parts {
		b, is := p.(*syntax.BraceExp)
		if !is {
			for i := range out {
				out[i] = append(out[i][:len(out[i]):len(out[i])], p)
			}
			continue
		}
		choices, ok := r.choices(b, depth)
		if !ok || len(out)*len(choices) > maxFields {
			return out, false
		}
		var next [][]syntax.WordPart
		for _, head := range out {
			for _, c := range choices {
				next = append(next, append(head[:len(head):len(head)], c...))
			}
		}
		out = next
	}
	return out, true
}

func (r *reader) choices(b *syntax.BraceExp, depth int) (out [][]syntax.WordPart, ok bool) {
	if depth > maxDepth {
		return nil, false
	}
	if !b.Sequence {
		for _, e := range b.Elems {
			c, ok := r.brace(e, depth+1)
			if !ok {
				return nil, false
			}
			out = append(out, c...)
		}
		return out, true
	}
	if len(b.Elems) != 2 {
		return nil, false
	}
	from, err := strconv.Atoi(b.Elems[0].Lit())
	to, err2 := strconv.Atoi(b.Elems[1].Lit())
	if err != nil || err2 != nil || from < 0 || to < from || to-from >= maxFields || strings.HasPrefix(b.Elems[0].Lit(), "0") && from > 0 {
		return nil, false
	}
	for n := from; n <= to; n++ {
		out = append(out, []syntax.WordPart{&syntax.Lit{Value: strconv.Itoa(n)}})
	}
	return out, true
}

// filler puts the parts of a word together.
type filler struct {
	*reader
	state    *state
	split    bool // unquoted values fall into words
	assigned bool // the word is the value of a variable: no patterns
	cur      strings.Builder
	in       bool
	loose    bool
	out      []word
}

func (f *filler) add(s string) {
	f.in = true
	f.cur.WriteString(s)
}

// end closes a word. A bracket that is not closed in it means itself.
func (f *filler) end() {
	if !f.in {
		return
	}
	v := f.cur.String()
	if strings.IndexByte(v, brack) >= 0 {
		last := max(strings.LastIndexByte(v, ']'), 0)
		v = v[:last] + strings.ReplaceAll(v[last:], string(rune(brack)), "[")
	}
	f.out = append(f.out, word{val: v, loose: f.loose})
	f.cur.Reset()
	f.in, f.loose = false, false
}

func (f *filler) parts(parts []syntax.WordPart, head bool) {
	for i, p := range parts {
		if f.spent {
			return
		}
		switch p := p.(type) {
		case *syntax.Lit:
			f.literal(p.Value, head && i == 0)
		case *syntax.SglQuoted:
			v := p.Value
			if p.Dollar {
				v = ansi(v)
			}
			f.add(v)
		case *syntax.DblQuoted:
			f.double(p.Parts)
		default:
			f.expansion(p, false)
		}
	}
}

// literal takes unquoted text.
func (f *filler) literal(s string, head bool) {
	if head && strings.HasPrefix(s, "~") {
		s = f.home(s)
	} else if name, rest, ok := strings.Cut(s, "="); ok && head && syntax.ValidName(name) && strings.HasPrefix(rest, "~") {
		f.add(name + "=")
		s = f.home(rest)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			i++
			b.WriteByte(s[i])
			continue
		}
		b.WriteByte(f.active(c))
	}
	f.add(b.String())
}

// active marks an unquoted character of a pattern.
func (f *filler) active(c byte) byte {
	if f.assigned {
		return c
	}
	switch c {
	case '*':
		return star
	case '?':
		return quest
	case '[':
		return brack
	}
	return c
}

// home replaces a ~ at the head, and returns what is left to be read.
func (f *filler) home(s string) string {
	name, _, _ := strings.Cut(s[1:], "/")
	rest := s[1+len(name):]
	_, moved := f.state.vars["HOME"]
	switch {
	case name == "" && !moved && f.at.Home != "":
		f.add(f.at.Home)
	case name == "":
		f.add(string(rune(one)))
	case name == "+" && f.state.dir() != "":
		f.add(f.state.dir())
	default:
		f.add(string(rune(tilde)) + name)
	}
	return rest
}

func (f *filler) double(parts []syntax.WordPart) {
	f.add("")
	for _, p := range parts {
		l, ok := p.(*syntax.Lit)
		if !ok {
			f.expansion(p, true)
			continue
		}
		f.add(unescape(l.Value, "$`\"\\"))
	}
}

// unescape takes backslashes away before some characters.
func unescape(s, chars string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(chars, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (f *filler) expansion(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		f.insert(f.param(p, f.state), quoted)
		if name := p.Param; name != nil && (name.Value == "@" || name.Value == "*") {
			f.positional(p, quoted)
		}
	case *syntax.CmdSubst:
		f.insert(f.subst(p, *f.state), quoted)
	case *syntax.ArithmExp:
		f.arithmetic(p.X, f.state)
		f.add(string(rune(digit)))
	case *syntax.ProcSubst:
		f.process(p, *f.state)
		f.add("/dev/fd/63")
	case *syntax.ExtGlob:
		f.obscure("what the pattern " + f.src(p) + " means depends on the shell's settings")
		f.add(string(rune(star)))
	default:
		f.obscure("an expansion that is not understood")
		f.add(string(rune(many)))
	}
}

// positional puts in the words of "$@"; param has put in nothing.
func (f *filler) positional(p *syntax.ParamExp, quoted bool) {
	if !f.state.args || p.Exp != nil || p.Slice != nil || p.Repl != nil || p.Length || p.Excl {
		f.insert(string(rune(many)), false)
		return
	}
	for i, v := range f.state.params {
		if i > 0 {
			if quoted && p.Param.Value == "*" || !f.split {
				f.add(" ")
			} else {
				f.end()
			}
		}
		f.insert(v, quoted)
	}
}

// insert puts in the value of an expansion. Unquoted it falls into words at
// blanks, and its characters of patterns count.
func (f *filler) insert(val string, quoted bool) {
	if quoted || !f.split {
		if val = strings.ReplaceAll(val, string(rune(many)), string(rune(one))); val != "" || quoted {
			f.add(val)
		}
		return
	}
	if pattern(val) {
		f.loose = true
	}
	for i := 0; i < len(val); i++ {
		switch c := val[i]; c {
		case ' ', '\t', '\n':
			f.end()
		case one:
			f.add(string(rune(many)))
		default:
			f.in = true
			f.cur.WriteByte(f.active(c))
		}
	}
}

// param is the value of a variable.
func (r *reader) param(p *syntax.ParamExp, s *state) string {
	r.inside(p, *s)
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	switch {
	case name == "@" || name == "*":
		return ""
	case p.Length:
		return string(rune(digit))
	case p.Excl || p.Names != 0 || p.Index != nil || p.Width || p.IsSet || p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0:
		return string(rune(many))
	}
	v, ok := r.variable(name, s)
	switch {
	case p.Slice != nil || p.Repl != nil:
		return string(rune(many))
	case p.Exp == nil:
	case !ok || !sure(v) || v == "":
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			*s = s.with(name, string(rune(many)))
		}
		return string(rune(many))
	default:
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		default:
			return string(rune(many))
		}
	}
	return v
}

// variable is the value of a name; ok is false when the line does not set it.
func (r *reader) variable(name string, s *state) (val string, ok bool) {
	switch name {
	case "?", "#", "$", "!":
		return string(rune(digit)), true
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case !s.args || n == 0:
			return string(rune(many)), false
		case n <= len(s.params):
			return s.params[n-1], true
		}
		return "", true
	}
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	switch {
	case name == "PPID" || name == "UID" || name == "EUID" || name == "RANDOM" || name == "SECONDS" || name == "LINENO":
		return string(rune(digit)), true
	case name == "HOME" && r.at.Home != "":
		return r.at.Home, true
	case name == "PWD" && s.dir() != "":
		return filepath.ToSlash(s.dir()), true
	}
	return string(rune(many)), false
}
