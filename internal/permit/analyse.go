package permit

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/shell"
)

// Analyser looks at shell command lines. It reads no files and is safe for
// concurrent use.
type Analyser interface {
	Analyse(command, dir string) shell.Analysis
}

// lines is the Analyser of a policy that is given none.
type lines struct {
	home  string
	roots []string
}

func (l lines) Analyse(command, dir string) shell.Analysis {
	return shell.Analyse(command, shell.Place{Dir: dir, Home: l.home, Roots: l.roots})
}

// part is a command of a line, with the paths that it touches.
type part struct {
	*shell.Part
	reads, writes []use
}

// look notes what a line touches.
func (c *call) look(a *shell.Analysis) {
	c.command = a
	c.mention(a.Mentions, false)
	c.mention(a.Targets, true)
	for i := range a.Parts {
		p := part{Part: &a.Parts[i]}
		if !p.Within {
			p.reads, p.writes = c.mention(p.Reads, false), c.mention(p.Writes, true)
		}
		c.parts = append(c.parts, p)
	}
}

// inCommand lists what a line needs beyond what the mode allows.
func (p *Policy) inCommand(c *call) (out []need) {
	edits := c.Mode == oh.ModeAcceptEdits
	a := c.command
	if a.Obscure != "" {
		out = append(out, need{why: c.Tool + " runs a command that is not understood: " + a.Obscure})
	}
	for i := range c.parts {
		part := &c.parts[i]
		if part.Within {
			continue
		}
		if part.Command != shell.ReadOnly {
			why := c.Tool + " runs a command"
			if part.Reason != "" {
				why += ": " + part.Reason
			}
			out = append(out, need{why: why, part: part.Part})
		}
		for j := range part.reads {
			if u := &part.reads[j]; !edits && !p.mayRead(u.place) {
				out = append(out, need{why: c.Tool + " reads " + p.whereTo(u.place), use: u, part: part.Part})
			}
		}
		for j := range part.writes {
			u := &part.writes[j]
			switch {
			case !p.inside(u.place):
				out = append(out, need{why: c.Tool + " writes " + p.whereTo(u.place), use: u, part: part.Part})
			case !edits && slices.Contains(part.Redirects, part.Writes[j]):
				out = append(out, need{why: c.Tool + " writes " + show(u.given), use: u, part: part.Part})
			}
		}
		for _, l := range part.Lost {
			out = append(out, need{why: c.Tool + " writes to " + show(l) + ", and which file that is cannot be told", lost: true})
		}
	}
	return out
}

// maxLocated bounds how many paths of one command are looked up on disk.
const maxLocated = 64

// mention places paths of a command and keeps them for the rules on paths.
func (c *call) mention(paths []string, write bool) []use {
	out := make([]use, 0, len(paths))
	for _, path := range paths {
		at := place{path, path, errors.New("the command names too many paths")}
		if c.located++; c.located <= maxLocated {
			at = locateUp(path, c.links)
		}
		u := use{at, write, false}
		out = append(out, u)
		// A word that reads like prose or code is a path only if it is there.
		if !write && strings.ContainsAny(path, " \t\n'\"(") {
			if _, err := os.Lstat(path); err != nil {
				continue
			}
		}
		if !slices.ContainsFunc(c.mentions, func(m use) bool { return m.given == at.given && m.real == at.real && m.write == write }) {
			c.mentions = append(c.mentions, u)
		}
	}
	return out
}
