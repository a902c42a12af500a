package lsp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/tools/lsp/scan"
	"github.com/openharness/oh/workspace"
)

// target is the place in a document that a question is about.
type target struct {
	client *client
	place  workspace.Place
	view   view
	at     position
	name   string
}

const maxChoices = 10 // named when a symbol is ambiguous

// target finds the one place that is asked about.
func (q *query) target(ctx context.Context) (target, error) {
	list, err := q.targets(ctx)
	if err != nil {
		return target{}, err
	}
	if len(list) == 1 {
		return list[0], nil
	}
	var b strings.Builder
	for _, t := range list[:min(len(list), maxChoices)] {
		h := q.hit("", t.name, t.place.Real, t.at)
		fmt.Fprintf(&b, "\n%s - %s:%d:%d", h.name, q.show(h.path), h.line, h.col)
	}
	if len(list) > maxChoices {
		fmt.Fprintf(&b, "\nand %d more", len(list)-maxChoices)
	}
	return target{}, fmt.Errorf("%q names several symbols; give file_path with line and character of one:%s", q.in.Symbol, b.String())
}

// targets finds the places that are asked about, at least one.
func (q *query) targets(ctx context.Context) ([]target, error) {
	if q.in.Path == "" {
		return q.everywhere(ctx)
	}
	c, err := q.pool.client(ctx, q.place.Real)
	if err != nil {
		return nil, err
	}
	v, err := q.open(ctx, c, q.place)
	if err != nil {
		return nil, err
	}
	if q.in.Line == 0 {
		return q.inFile(ctx, c, v)
	}
	at, err := q.position(ctx, c, v)
	if err != nil {
		return nil, err
	}
	return []target{{c, q.place, v, at, v.wordAt(at)}}, nil
}

// position is the place given by line, with character or symbol or neither.
func (q *query) position(ctx context.Context, c *client, v view) (position, error) {
	n := q.in.Line - 1
	line := v.line(n)
	switch {
	case n >= len(v.starts):
		return position{}, fmt.Errorf("line %d is beyond the end: %s has %s", q.in.Line, q.place.Path, text.Plural(len(v.starts), "line"))
	case q.in.Character > 0:
		return v.fromColumn(q.in.Line, q.in.Character), nil
	case q.in.Symbol != "":
		if i := findWord(line, bare(plainName(q.in.Symbol)), 0); i >= 0 {
			return v.at(n, i), nil
		}
		return position{}, fmt.Errorf("line %d of %s has no %q; it is: %s", q.in.Line, q.place.Path, q.in.Symbol, snippet(line))
	}
	if c.caps.DocumentSymbol {
		list, err := c.declarations(ctx, q.place.Real)
		if err != nil {
			return position{}, err
		}
		for _, d := range list {
			if at := refineIn(v.source, d); at.Line == n {
				return at, nil
			}
		}
	}
	if i, ok := firstName(line); ok {
		return v.at(n, i), nil
	}
	return position{}, fmt.Errorf("line %d of %s has no name; it is: %s", q.in.Line, q.place.Path, snippet(line))
}

func refineIn(src *source, d declared) position {
	if d.sure {
		return d.at
	}
	return refine(src, d)
}

// firstName finds the first word of a line that is a name rather than a word
// of the language.
func firstName(line string) (int, bool) {
	for i := 0; i < len(line); {
		end := i
		for _, r := range line[i:] {
			if !wordRune(r) {
				break
			}
			end += len(string(r))
		}
		word := line[i:end]
		if word != "" && (word[0] < '0' || word[0] > '9') && !scan.Keyword(word) {
			return i, true
		}
		if end == i {
			end++
			for end < len(line) && line[end]&0xc0 == 0x80 { // stay at the beginning of a character
				end++
			}
		}
		i = end
	}
	return 0, false
}

// inFile finds a symbol by its name in one file: what is declared there, else
// the first place where the name is used.
func (q *query) inFile(ctx context.Context, c *client, v view) ([]target, error) {
	want := plainName(q.in.Symbol)
	var out []target
	if c.caps.DocumentSymbol {
		var list []declared
		err := q.patient(ctx, c, func() (n int, err error) {
			list, err = c.declarations(ctx, q.place.Real)
			return len(list), err
		})
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if means(d.name, want) {
				out = append(out, target{c, q.place, v, refineIn(v.source, d), d.name})
			}
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	for n := range v.starts {
		if i := findWord(v.line(n), bare(want), 0); i >= 0 {
			return []target{{c, q.place, v, v.at(n, i), want}}, nil
		}
	}
	return nil, fmt.Errorf("%s has no %q", q.place.Path, q.in.Symbol)
}

// everywhere finds a symbol by its name in the whole project.
func (q *query) everywhere(ctx context.Context) ([]target, error) {
	clients, err := q.clients(ctx)
	if err != nil {
		return nil, err
	}
	want := plainName(q.in.Symbol)
	var out []target
	for _, c := range clients {
		found, err := q.declaredAs(ctx, c, want)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			t, err := q.at(ctx, c, d)
			if err != nil {
				return nil, err
			}
			if !holds(out, t) {
				out = append(out, t)
			}
		}
	}
	if len(out) > 0 {
		slices.SortFunc(out, func(a, b target) int {
			return cmp.Or(cmp.Compare(a.place.Real, b.place.Real), cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Character, b.at.Character))
		})
		return out, nil
	}
	// Servers list only part of what is declared (seldom methods of other
	// packages, or fields): the scan knows places to ask about.
	if out, err = q.scanned(ctx, want); err != nil || len(out) > 0 {
		return out, err
	}
	return nil, fmt.Errorf("no symbol %q was found; give file_path with line and character of a place that uses it", q.in.Symbol)
}

func holds(list []target, t target) bool {
	for _, o := range list {
		if o.place.Real == t.place.Real && o.at == t.at {
			return true
		}
	}
	return false
}

// maxMeant bounds how many symbols of one name are opened.
const maxMeant = 30

// declaredAs asks a server for the symbols of the workspace with a name.
func (q *query) declaredAs(ctx context.Context, c *client, want string) ([]declared, error) {
	var found []declared
	err := q.patient(ctx, c, func() (int, error) {
		list, err := c.lookup(ctx, bare(want))
		found = found[:0]
		for _, d := range list {
			if means(d.name, want) && q.ours(d.path) && len(found) < maxMeant {
				found = append(found, d)
			}
		}
		return len(list), err
	})
	return found, err
}

// at opens the document of a symbol.
func (q *query) at(ctx context.Context, c *client, d declared) (target, error) {
	p, err := q.pool.ws.Locate(q.dir, d.path)
	if err != nil {
		return target{}, err
	}
	v, err := q.open(ctx, c, p)
	if err != nil {
		return target{}, err
	}
	return target{c, p, v, refineIn(v.source, d), d.name}, nil
}

// scanned finds declarations by the scan and takes them to their servers.
func (q *query) scanned(ctx context.Context, want string) ([]target, error) {
	found, err := q.scanProject(ctx, want, means)
	if err != nil {
		return nil, err
	}
	var out []target
	for _, f := range found.hits[:min(len(found.hits), maxMeant)] {
		c := q.pool.running(f.path)
		if c == nil {
			continue
		}
		t, err := q.at(ctx, c, declared{name: f.name, path: f.path, sure: true})
		if err != nil {
			return nil, err
		}
		t.at = t.view.fromColumn(f.line, f.col)
		out = append(out, t)
	}
	return out, nil
}
