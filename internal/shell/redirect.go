package shell

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// files are what redirections touch.
type files struct {
	reads, writes, lost []string
	bad                 string // why they are not harmless
}

func (f *files) empty() bool { return len(f.reads)+len(f.writes)+len(f.lost) == 0 && f.bad == "" }

// redirects reads the redirections of a statement. They change what its commands
// find on their input.
func (r *reader) redirects(list []*syntax.Redirect, s *state, in *stdin) (f files) {
	for _, d := range list {
		if d.N != nil && strings.HasPrefix(d.N.Value, "{") {
			*s = s.with(strings.Trim(d.N.Value, "{}"), string(rune(digit)))
		}
		switch d.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			body := r.document(d, s)
			in.piped, in.given, in.text = true, sure(body), show(body)
			continue
		case syntax.WordHdoc:
			body := r.value(d.Word, s, true)
			r.mention(*s, body, &r.out.Mentions)
			in.piped, in.given, in.text = true, sure(body), show(body)+"\n"
			continue
		}
		v := r.value(d.Word, s, false)
		r.mention(*s, v, &r.out.Mentions)
		switch d.Op {
		case syntax.RdrIn:
			in.piped, in.given, in.text = true, false, ""
			r.opened(&f, *s, v, r.src(d.Word), false)
		case syntax.DplIn:
		case syntax.DplOut:
			if strings.Trim(v, "0123456789-\x07") != "" {
				r.opened(&f, *s, v, r.src(d.Word), true)
			}
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut:
			r.opened(&f, *s, v, r.src(d.Word), true)
		default:
			f.bad = "a redirection that is not understood"
		}
	}
	return f
}

// document is the text of a here document.
func (r *reader) document(d *syntax.Redirect, s *state) string {
	if d.Hdoc == nil {
		return ""
	}
	quoted := false
	for _, p := range d.Word.Parts {
		if l, ok := p.(*syntax.Lit); !ok || strings.Contains(l.Value, `\`) {
			quoted = true
		}
	}
	var b strings.Builder
	if quoted {
		for _, p := range d.Hdoc.Parts {
			if l, ok := p.(*syntax.Lit); ok {
				b.WriteString(l.Value)
			} else {
				b.WriteByte(one)
				r.inside(p, *s) // a parser that sees commands here is right or harmless
			}
		}
	} else {
		f := filler{reader: r, state: s}
		f.double(d.Hdoc.Parts)
		b.WriteString(f.cur.String())
	}
	if d.Op != syntax.DashHdoc {
		return b.String()
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimLeft(lines[i], "\t")
	}
	return strings.Join(lines, "\n")
}

// opened files a target of a redirection.
func (r *reader) opened(f *files, s state, v, src string, write bool) {
	switch p := filepath.ToSlash(show(v)); {
	case harmlessDevice(p):
		return
	case strings.HasPrefix(p, "/dev/tcp/") || strings.HasPrefix(p, "/dev/udp/"):
		f.bad = "it opens a connection to the network"
		return
	case write && strings.HasPrefix(p, "/dev/"):
		r.guard("it redirects to the device " + p)
	}
	all := r.paths(s, v)
	switch {
	case all == nil && write:
		f.lost = append(f.lost, src)
		r.note(s, v, &r.out.Targets)
	case all == nil:
		f.bad = "what is read from " + src + " cannot be told"
	case write:
		f.writes = append(f.writes, all...)
		r.note(s, v, &r.out.Targets)
	default:
		f.reads = append(f.reads, all...)
	}
}

// standing adds the redirections of a compound command, or of none, as a part.
func (r *reader) standing(stmt *syntax.Stmt, f files, s state) {
	if f.empty() || r.quiet > 0 || len(r.out.Parts) >= maxParts {
		return
	}
	var words []string
	for _, d := range stmt.Redirs {
		n := ""
		if d.N != nil {
			n = d.N.Value
		}
		words = append(words, n+d.Op.String()+r.src(d.Word))
	}
	p := Part{Text: strings.Join(words, " "), Class: ReadOnly, Command: ReadOnly, Dir: s.dir(), Reads: f.reads, Writes: f.writes, Redirects: f.writes, Lost: f.lost, Within: r.within > 0}
	r.finish(&p, f)
	r.out.Parts = append(r.out.Parts, p)
}

// finish lets redirections count in the class of a part.
func (r *reader) finish(p *Part, f files) {
	switch {
	case p.Class == Guarded:
	case f.bad != "":
		p.Class, p.Reason = Unknown, f.bad
	case p.Class == ReadOnly && len(f.lost) > 0:
		p.Class, p.Reason = Unknown, "which file "+f.lost[0]+" is cannot be told"
	case p.Class == ReadOnly && len(f.writes) > 0:
		p.Class = Writes
	}
}
