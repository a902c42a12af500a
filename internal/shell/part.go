package shell

import (
	"slices"
	"strings"
)

// byRow judges a command by its row.
func (r *reader) byRow(row *row, args []word, s state, c call) Part {
	sc := row.scan(args, false)
	row.place(&sc)
	p := Part{Class: ReadOnly}
	switch {
	case row.kind == "u":
		p.Class, p.Reason = Unknown, commandName(c.words[0].val)+" is not known to be harmless"
	case row.kind == "w":
		p.Class = Writes
	}
	r.touch(&p, s, sc.reads, sc.writes)
	if len(p.Writes) > 0 && p.Class == ReadOnly {
		p.Class = Writes
	}
	if sc.bad != "" {
		p.Class, p.Reason, p.exact = Unknown, sc.bad, row.kind == "r"
	}
	return p
}

// touch adds the paths of words to a part.
func (r *reader) touch(p *Part, s state, reads, writes []word) {
	for _, w := range reads {
		if harmlessDevice(w.val) {
			continue
		}
		all := r.paths(s, w.val)
		if all == nil && p.Class != Unknown {
			p.Class, p.Reason = Unknown, "what it reads at "+w.text()+" cannot be told"
		}
		p.Reads = appendNew(p.Reads, all)
	}
	for _, w := range writes {
		if harmlessDevice(w.val) {
			continue
		}
		all := r.paths(s, w.val)
		if all == nil {
			p.Lost = append(p.Lost, w.text())
			if p.Class != Unknown {
				p.Class, p.Reason = Unknown, "what it writes at "+w.text()+" cannot be told"
			}
		}
		p.Writes = appendNew(p.Writes, all)
		r.note(s, w.val, &r.out.Targets)
	}
}

func appendNew(to, more []string) []string {
	for _, m := range more {
		if !slices.Contains(to, m) && len(to) < maxPaths {
			to = append(to, m)
		}
	}
	return to
}

// add makes a part of a command.
func (r *reader) add(c call, s state, p Part) {
	if r.quiet > 0 {
		return
	}
	if len(r.out.Parts) >= maxParts {
		r.spent = true
		return
	}
	for i, w := range c.words {
		p.Argv = append(p.Argv, w.text())
		if !sure(w.val) {
			p.Unsure = append(p.Unsure, i)
		}
	}
	if c.said == nil {
		c.said = c.words
	}
	p.Text = joinQuoted(c.said)
	p.Dir = s.dir()
	p.Within = r.within > 0
	p.Bare = r.bare
	if p.Bare == "" && s.taint != "" {
		p.Bare = s.taint + " is set before it"
	}
	p.Reads = appendNew(p.Reads, c.io.reads)
	p.Writes = appendNew(p.Writes, c.io.writes)
	p.Redirects = c.io.writes
	p.Lost = append(p.Lost, c.io.lost...)
	switch {
	case c.grave != "":
		p.Class, p.Reason = Guarded, c.grave
	case p.Class != Unknown && p.Bare != "":
		p.Class, p.Reason = Unknown, p.Bare
	}
	p.Command = p.Class
	r.finish(&p, c.io)
	p.Forms = r.forms(c, p.Text)
	r.out.Parts = append(r.out.Parts, p)
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// forms are the ways to write a command that rules which refuse look at.
func (r *reader) forms(c call, text string) []string {
	out := []string{text}
	plus := func(s string) {
		if s = strings.TrimSpace(s); s != "" && len(out) < maxForms && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	plus(joinText(c.said))
	plain := joinText(c.words)
	plus(plain)
	if name := commandName(c.words[0].val); name != c.words[0].val && known(name) {
		plus(name + strings.TrimPrefix(plain, c.words[0].text()))
	}
	if n := len(c.words) - 1; n > 0 && c.words[n].val == string(rune(many)) {
		plus(joinText(c.words[:n]))
	}
	plus(c.raw)
	for i := len(r.outer) - 1; i >= 0; i-- {
		plus(r.outer[i])
	}
	return out
}
