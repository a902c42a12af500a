package web

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// table writes a table of data as one of Markdown, and one that only lays the
// page out as blocks.
func (w *writer) table(n *html.Node) {
	if w.flat || layout(n) {
		w.gap(1)
		w.children(n)
		w.gap(1)
		return
	}
	w.gap(2)
	first := true
	for row := range n.Descendants() {
		if w.done() {
			return
		}
		switch row.DataAtom {
		case atom.Caption:
			if s := w.line(row); s != "" {
				w.word(s)
				w.gap(2)
			}
		case atom.Tr:
			if cells := w.cells(row); len(cells) > 0 {
				w.row(cells, first)
				first = false
			}
		}
	}
	w.gap(2)
}

// row writes one row; under the first stands the line that Markdown asks for.
func (w *writer) row(cells []string, first bool) {
	w.gap(1)
	w.word("| " + strings.Join(cells, " | ") + " |")
	if first {
		w.gap(1)
		w.word("|" + strings.Repeat("---|", len(cells)))
	}
	w.gap(1)
}

func (w *writer) cells(row *html.Node) []string {
	var cells []string
	some := false
	for c := range row.ChildNodes() {
		if c.DataAtom != atom.Td && c.DataAtom != atom.Th || dropped(c) {
			continue
		}
		if len(cells) == maxCells {
			break
		}
		s := w.line(c)
		some = some || s != ""
		cells = append(cells, s)
	}
	if !some {
		return nil
	}
	return cells
}

func (w *writer) line(n *html.Node) string {
	inside := w.inside
	inside.cell = true
	return w.apart(inside, maxInline, func(in *writer) { in.children(n) })
}

// layout reports whether a table is no table of data: it holds another, or
// blocks of code, or no row of two cells.
func layout(n *html.Node) bool {
	wide := false
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Table, atom.Pre, atom.H1, atom.H2, atom.Ul, atom.Ol:
			return true
		case atom.Td, atom.Th:
			wide = wide || d.PrevSibling != nil && (d.PrevSibling.DataAtom == atom.Td || d.PrevSibling.DataAtom == atom.Th || d.PrevSibling.Type == html.TextNode && d.PrevSibling.PrevSibling != nil)
		}
	}
	return !wide
}
