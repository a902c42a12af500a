package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
)

// guards are the blocks whose settings hold something back. A slip in a name
// there would drop a rule without a word, so it is an error.
var guards = [...]string{"permission", "permissions", "sandbox", "hooks"}

// slips finds names that are nearly those of guards, or stand in the wrong one
// of them. Names that resemble none are kept silently: they may be of a newer
// version, or of Claude Code.
func (b *builder) slips(l *layer) {
	if l.root.kind != '{' {
		return
	}
	for _, name := range l.root.keys {
		kid := l.root.kids[name]
		if slices.Contains(guards[:], name) {
			if name != "hooks" && kid.kind == '{' {
				b.slipsIn(l, name, kid)
			}
			continue
		}
		for _, g := range guards {
			if strings.EqualFold(name, g) {
				b.slip(l, name, g, kid)
			}
		}
	}
}

func (b *builder) slipsIn(l *layer, block string, n *node) {
	var own, other []string // names below this block, and full names in other blocks
	for _, r := range b.rows {
		for _, key := range []string{r.key, r.claude} {
			top, rest, ok := strings.Cut(key, ".")
			if !ok || !slices.Contains(guards[:], top) {
				continue
			}
			if member, _, _ := strings.Cut(rest, "."); top == block {
				own = append(own, member)
			} else {
				other = append(other, key)
			}
		}
	}
	for _, name := range n.keys {
		if slices.Contains(own, name) {
			continue
		}
		meant := ""
		for _, full := range other {
			if _, member, _ := strings.Cut(full, "."); strings.EqualFold(member, name) {
				meant = full
			}
		}
		for _, member := range own {
			if strings.EqualFold(member, name) || text.Distance(strings.ToLower(member), strings.ToLower(name)) <= 2 && len(name) > 3 {
				meant = block + "." + member
			}
		}
		if meant != "" {
			b.slip(l, block+"."+name, meant, n.kids[name])
		}
	}
}

func (b *builder) slip(l *layer, name, meant string, n *node) {
	o := l.origin(n)
	b.errs = append(b.errs, &Error{File: o.File, Line: o.Line, Key: name, Problem: fmt.Sprintf("is no setting; did you mean %q?", meant)})
}
