package permit

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/shell"
)

// Explanation is a verdict with those on the parts of a command line.
type Explanation struct {
	oh.Verdict

	// Parts are the commands of the line in the order of the analysis, nil when
	// the call has no command line. The line's verdict is never milder than that
	// of a part; it is stricter where something about the line as a whole decides.
	Parts []Part
}

// Part is the verdict on one command of a line, as if it stood alone. A command
// that runs within another one has at least that one's verdict.
type Part struct {
	oh.Verdict

	Argv          []string // as far as it is known
	Unsure        []int    // indexes of the words of Argv that stand as they are written
	Reads, Writes []string // absolute paths, which may hold wildcards
}

// Explain is [Policy.Check] with its reasons for each part of a command line.
func (p *Policy) Explain(ctx context.Context, req oh.GateRequest) Explanation {
	out := Explanation{Verdict: p.Check(ctx, req)}
	if req.Access.Command == "" || ctx.Err() != nil || req.Mode.Width() < 0 {
		return out
	}
	c := p.newCall(req)
	out.Parts = make([]Part, 0, len(c.parts))
	var around oh.Verdict // on the command that the next ones may run within
	for i := range c.parts {
		part := c.parts[i].Part
		v := p.judge(c.only(i))
		v.Suggest = ""
		switch {
		case !part.Within:
			around = v
		case i > 0 && around.Decision < v.Decision:
			v = around
		}
		out.Parts = append(out.Parts, Part{Verdict: v, Argv: part.Argv, Unsure: part.Unsure, Reads: part.Reads, Writes: part.Writes})
	}
	return out
}

// only is the call as if its line held nothing but one part. Rules that allow
// the line to the letter still speak of it.
func (c *call) only(i int) *call {
	part := c.parts[i]
	a := &shell.Analysis{Parts: []shell.Part{*part.Part}}
	unknown := len(part.Unsure) > 0 && part.Unsure[0] == 0 || part.Reason == c.command.Obscure
	switch {
	case part.Class == shell.Guarded:
		a.Guard = part.Reason
	case part.Class == shell.Unknown && unknown:
		a.Obscure = c.command.Obscure
	}
	one := &call{GateRequest: c.GateRequest, reads: part.Class == shell.ReadOnly, command: a, parts: c.parts[i : i+1], dir: c.dir, links: c.links, alone: true}
	one.mention(part.Reads, false)
	one.mention(part.Writes, true)
	for _, u := range c.mentions {
		if part.names(u, c.Access.Dir) && !slices.Contains(one.mentions, u) {
			one.mentions = append(one.mentions, u)
		}
	}
	return one
}

// names reports whether a word of a command is a path that its line mentions.
func (p *part) names(u use, dir string) bool {
	for i, word := range p.Argv {
		for _, at := range [...]string{p.Dir, dir} {
			if i > 0 && word != "" && (filepath.Clean(word) == u.given || filepath.Join(at, word) == u.given) {
				return true
			}
		}
	}
	return false
}

// Harmless reports whether a command line changes nothing, the directory of its
// shell included, so that it may run beside other reads.
func (p *Policy) Harmless(command, dir string) bool {
	a := p.analyser.Analyse(command, dir)
	return a.ReadOnly() && !a.Moves
}
