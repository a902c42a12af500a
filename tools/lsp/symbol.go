package lsp

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

// declared is a symbol as a server lists it.
type declared struct {
	kind string
	name string // dotted
	path string // links resolved
	rng  span
	at   position // of the name, as far as it is known
	sure bool     // at is the name's place rather than the declaration's
}

const maxDepth = 50 // of symbols in symbols

// declarations asks for the symbols of a file, in the order of the file.
func (c *client) declarations(ctx context.Context, path string) ([]declared, error) {
	var list []symbol
	params := map[string]any{"textDocument": docID{URI: toURI(path)}}
	if err := c.call(ctx, "textDocument/documentSymbol", params, &list); err != nil {
		return nil, err
	}
	return flatten(nil, list, path, "", maxDepth), nil
}

// flatten lists symbols with those inside them.
func flatten(out []declared, list []symbol, path, outer string, depth int) []declared {
	for _, s := range list {
		d := declared{kind: kindName(s.Kind), name: plainName(s.Name), path: path, rng: s.Range, at: s.Range.Start}
		switch {
		case s.Selection != nil:
			d.at, d.sure = s.Selection.Start, true
		case s.Location != nil:
			d.rng, d.at = s.Location.Range, s.Location.Range.Start
			outer = plainName(s.Container)
		}
		if outer != "" && !strings.HasPrefix(d.name, outer+".") {
			d.name = outer + "." + d.name
		}
		out = append(out, d)
		if depth > 0 {
			out = flatten(out, s.Children, path, d.name, depth-1)
		}
	}
	return out
}

// plainName brings the ways of servers to write a name to one: dots between,
// no receiver marks, no parameters. (*T).M, T::M(int) and T#M are T.M.
func plainName(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "("); ok {
		if recv, method, ok := strings.Cut(rest, ")"); ok {
			s = strings.TrimLeft(recv, "*") + method
		}
	}
	if i := strings.IndexAny(s, "(<["); i > 0 {
		end := strings.LastIndexAny(s, ")>]")
		tail := ""
		if end > i && strings.HasPrefix(s[end+1:], ".") { // T[P].M
			tail = s[end+1:]
		}
		s = s[:i] + tail
	}
	s = strings.NewReplacer("::", ".", "#", ".").Replace(s)
	return named(strings.Trim(s, ". "))
}

// bare is the last part of a dotted name.
func bare(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// afterSlash drops the folders of a package's path: some servers name symbols
// by all of it.
func afterSlash(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// means reports whether a name, perhaps with what it lies in, is the one that
// was asked for: all of it or its last parts.
func means(have, want string) bool { return have == want || strings.HasSuffix(have, "."+want) }

// document answers document_symbol.
func (q *query) document(ctx context.Context) (oh.Result, error) {
	c, err := q.pool.client(ctx, q.place.Real)
	if err == nil {
		err = q.can(c, c.caps.DocumentSymbol)
	}
	if err != nil {
		return oh.Result{}, err
	}
	if _, err := q.open(ctx, c, q.place); err != nil {
		return oh.Result{}, err
	}
	var list []declared
	err = q.patient(ctx, c, func() (int, error) {
		list, err = c.declarations(ctx, q.place.Real)
		return len(list), err
	})
	if err != nil {
		return oh.Result{}, err
	}
	var hits []hit
	for _, d := range list {
		hits = append(hits, q.hit(d.kind, d.name, d.path, d.at))
	}
	return q.result(hits, "symbol"), nil
}

// lookup asks a server for the symbols of the whole project.
func (c *client) lookup(ctx context.Context, name string) ([]declared, error) {
	var list []symbol
	if err := c.call(ctx, "workspace/symbol", map[string]string{"query": name}, &list); err != nil {
		return nil, err
	}
	var out []declared
	for _, s := range list {
		if s.Location == nil {
			continue
		}
		path, ok := fromURI(s.Location.URI)
		if !ok {
			continue
		}
		d := declared{kind: kindName(s.Kind), name: plainName(s.Name), path: path, rng: s.Location.Range, at: s.Location.Range.Start}
		d.name = afterSlash(d.name)
		if box := afterSlash(plainName(s.Container)); box != "" && d.name != box && !strings.HasPrefix(d.name, box+".") {
			d.name = box + "." + d.name
		}
		out = append(out, d)
	}
	return out, nil
}

// workspaceSymbols answers workspace_symbol, with all servers of the project.
func (q *query) workspaceSymbols(ctx context.Context) (oh.Result, error) {
	clients, err := q.clients(ctx)
	if err != nil {
		return oh.Result{}, err
	}
	var hits []hit
	outside := 0
	for _, c := range clients {
		var list []declared
		err := q.patient(ctx, c, func() (n int, err error) {
			list, err = c.lookup(ctx, q.in.Query)
			return len(list), err
		})
		if err != nil {
			return oh.Result{}, err
		}
		for _, d := range list {
			if !q.ours(d.path) {
				outside++
				continue
			}
			hits = append(hits, q.hit(d.kind, d.name, d.path, q.refine(d)))
		}
	}
	if outside > 0 {
		q.note(text.Plural(outside, "more symbol") + " outside the workspace.")
	}
	return q.result(hits, "symbol"), nil
}

// ours reports whether a file belongs to the workspace and may be shown.
func (q *query) ours(path string) bool {
	if len(q.pool.ws.Roots()) == 0 {
		return workspace.Below(q.real, path)
	}
	return q.pool.ws.Inside(path, false) && !q.pool.ws.Secret(path)
}

// refine finds the name in a declaration whose server told only where all of
// it lies.
func (q *query) refine(d declared) position {
	src := q.text.source(d.path)
	if d.sure || src == nil {
		return d.at
	}
	return refine(src, d)
}

func refine(src *source, d declared) position {
	name := bare(d.name)
	for n := d.at.Line; n <= d.rng.End.Line && n < len(src.starts); n++ {
		from := 0
		if n == d.at.Line {
			from = byteAt(src.line(n), d.at.Character)
		}
		if i := findWord(src.line(n), name, from); i >= 0 {
			return src.at(n, i)
		}
	}
	return d.at
}

// extensionOf is the extension of a file as the table writes it.
func extensionOf(path string) string { return strings.ToLower(filepath.Ext(path)) }
