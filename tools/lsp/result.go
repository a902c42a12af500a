package lsp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	maxHits    = 200
	maxSnippet = 160  // code points of a line
	maxHover   = 8000 // code points
)

// hit is one line of a result, with the line of code it is about.
type hit struct {
	kind, name string
	path       string // links resolved
	line, col  int    // from 1, in characters
	snippet    string
	more       string // after the position
}

// hit makes a hit of a place in a file.
func (q *query) hit(kind, name, path string, at position) hit {
	h := hit{kind: kind, name: named(name), path: path, line: at.Line + 1, col: at.Character + 1}
	if src := q.text.source(path); src != nil {
		h.col = src.column(at)
		h.snippet = snippet(src.line(at.Line))
		h.name = cmp.Or(h.name, named(src.wordAt(at)))
	}
	h.name = cmp.Or(h.name, "?")
	return h
}

func snippet(line string) string {
	return text.Cut(strings.TrimSpace(text.Clean(line)), maxSnippet)
}

// hits makes hits of locations, each once; those in no file are counted only.
func (q *query) hits(kind string, locs []location) []hit {
	seen := map[location]bool{}
	var out []hit
	elsewhere := 0
	for _, l := range locs {
		path, ok := fromURI(l.URI)
		switch {
		case seen[l]:
		case !ok:
			elsewhere++
		default:
			out = append(out, q.hit(kind, "", path, l.Range.Start))
		}
		seen[l] = true
	}
	if elsewhere > 0 {
		q.note(fmt.Sprintf("%s in no file.", text.Plural(elsewhere, "more place")))
	}
	return out
}

// sortHits orders hits by place.
func sortHits(hits []hit) {
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.line, b.line), cmp.Compare(a.col, b.col))
	})
}

// result writes hits, the first of them when there are many.
func (q *query) result(hits []hit, unit string) oh.Result {
	var b strings.Builder
	shown := hits[:min(len(hits), maxHits)]
	for _, h := range shown {
		fmt.Fprintf(&b, "%s %s - %s:%d:%d%s\n", h.kind, h.name, q.show(h.path), h.line, h.col, h.more)
		if h.snippet != "" {
			b.WriteString("    " + h.snippet + "\n")
		}
	}
	if len(hits) > len(shown) {
		q.note(fmt.Sprintf("%d of %d shown: ask more narrowly.", len(shown), len(hits)))
	}
	body := strings.TrimSuffix(b.String(), "\n")
	res := q.finish(cmp.Or(body, "(no results)"))
	res.Display = oh.Count{N: len(hits), Unit: unit, In: countFiles(hits)}
	res.Meta = meta(map[string]any{"count": len(hits)})
	return res
}

// finish puts the remarks behind a text.
func (q *query) finish(body string) oh.Result {
	if len(q.notes) > 0 {
		body += "\n[" + strings.Join(q.notes, " ") + "]"
	}
	return oh.TextResult(body)
}

func countFiles(hits []hit) string {
	files := map[string]bool{}
	for _, h := range hits {
		files[h.path] = true
	}
	if len(files) == 0 {
		return ""
	}
	return text.Plural(len(files), "file")
}

// meta encodes a result's metadata.
func meta(m map[string]any) []byte {
	raw, err := oh.Marshal(m)
	if err != nil {
		return nil
	}
	return raw
}

// named cuts what a server calls a thing to one clean line.
func named(s string) string { return text.OneLine(text.Clean(s), 200) }
