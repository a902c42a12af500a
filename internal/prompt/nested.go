package prompt

import (
	"path/filepath"
	"slices"

	_ "embed"
)

//go:embed nested.md
var nestedWords string

// Nested loads the instructions that come into play when the model touches a
// file: those of the folders between the working directory and the file, and
// the rules whose patterns match it. have is what the prompt was rendered
// with; its Files and Rules grow by what the caller was given since. Once a
// compaction has taken that out of the conversation, the caller goes back to
// the Files of the prompt, and it comes again with the next file. Text is empty
// when there is nothing new. The same limits hold as for a prompt.
func Nested(cfg Config, have Rendered, path string) Rendered {
	var p page
	if cfg.Root == "" {
		cfg.Root = gitRoot(cfg.Dir)
	}
	if cfg.Bare || !filepath.IsAbs(path) {
		return p.out
	}
	g := newGather(cfg, p.warn)
	for _, f := range have.Files {
		g.seen[resolve(f)] = true
	}
	if within(path, cfg.Root) {
		known := folders(cfg.Root, cfg.Dir)
		for _, dir := range folders(cfg.Root, filepath.Dir(path)) {
			if !slices.Contains(known, dir) {
				g.folder(dir)
			}
		}
	}
	fresh := g.rules
	for _, r := range slices.Concat(have.Rules, fresh) {
		if r.Match(path) {
			g.apply(r)
		}
	}
	p.out.Rules = slices.DeleteFunc(fresh, func(r Rule) bool {
		return slices.ContainsFunc(have.Rules, func(h Rule) bool { return h.Path == r.Path })
	})
	p.write(g.docs, nestedWords)
	p.out.Text = p.text.String()
	return p.out
}

// apply loads a rule whose patterns match.
func (g *gather) apply(r Rule) {
	real := resolve(r.Path)
	from := byPerson
	if within(r.Path, g.cfg.Root) {
		from = byProject
	}
	if g.seen[real] || !g.allowed(real, from) {
		return
	}
	if s, ok := g.text(r.Path, real); ok {
		_, body := pathsOf(s)
		g.take(doc{path: r.Path, from: from, text: body}, 0)
	}
}
