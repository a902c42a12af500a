package search

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

// outLine is a line of a result.
type outLine struct {
	text   string
	result bool // it counts as one
}

// result words what was found and what was not looked at.
func (g *grepping) result(skipped workspace.Skipped, late bool) oh.Result {
	g.best.sort()
	out, more := g.lines()
	texts := make([]string, len(out))
	for i, l := range out {
		texts[i] = l.text
	}
	body, n := bounded(texts)
	shown := 0
	for _, l := range out[:n] {
		if l.result {
			shown++
		}
	}
	remarks := g.remarks(shown, more || n < len(out), late)
	remarks = append(remarks, leftOut(skipped), g.unsearched(), g.inPart())
	if body == "" {
		body = g.nothing()
	}
	res := oh.TextResult(strings.TrimSuffix(body+notes(remarks), "\n"))
	res.Display = oh.Count{N: shown, Unit: g.unit(), In: workspace.Show(g.dir, g.root.Path)}
	res.Meta = meta(map[string]any{"shown": shown, "matches": g.best.total, "files": g.best.hits, "searched": g.searched,
		"complete": !g.best.cut && !late && g.partial == 0, "ignored": skipped.Ignored, "binary": g.binary})
	return res
}

func (g *grepping) unit() string {
	if g.in.Mode == modeContent {
		return "match"
	}
	return "file"
}

func (g *grepping) nothing() string {
	if g.in.Offset > 0 && g.best.hits > 0 {
		return fmt.Sprintf("No more results at offset %d.\n", g.in.Offset)
	}
	return fmt.Sprintf("No matches (%s searched).\n", text.Plural(g.searched, "file"))
}

// remarks says how much of the results is shown.
func (g *grepping) remarks(shown int, more, late bool) []string {
	var list []string
	if late {
		list = append(list, fmt.Sprintf("Stopped after %s; the results are not complete: narrow root or file_glob, or raise timeout_seconds.",
			text.Plural(g.in.TimeoutSec, "second")))
	}
	if more && shown > 0 {
		of := ""
		if !g.best.cut && !late {
			total := g.best.total
			if g.in.Mode != modeContent {
				total = g.best.hits
			}
			of = " of " + text.Number(total)
		}
		list = append(list, fmt.Sprintf("Results %d-%d%s; there are more: narrow the search, or go on with offset=%d.",
			g.in.Offset+1, g.in.Offset+shown, of, g.in.Offset+shown))
	}
	return list
}

// unsearched counts the files whose content was not looked at.
func (g *grepping) unsearched() string {
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{{g.binary, "binary file"}, {g.links, "link"}, {g.large, "file too large for multiline"}} {
		if x.n > 0 {
			what := x.what
			if x.n > 1 {
				what = strings.Replace(strings.Replace(what, "file", "files", 1), "link", "links", 1)
			}
			parts = append(parts, strconv.Itoa(x.n)+" "+what)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "Skipped: " + strings.Join(parts, ", ") + "."
}

// inPart tells of lines too long to be searched or shown as others are, "" for
// none.
func (g *grepping) inPart() string {
	var said []string
	if g.partial > 0 {
		how := fmt.Sprintf("in pieces, so that matches over %d KiB and context may be missing", overlap>>10)
		if g.m.edge {
			how = `not searched, since the pattern has ^, $ or \b`
		}
		said = append(said, fmt.Sprintf("Lines over %d MiB (in %s): %s.", maxLine>>20, text.Plural(g.partial, "file"), how))
	}
	if g.bare > 0 {
		said = append(said, fmt.Sprintf("Context of over %d MiB is left out (in %s).", maxLine>>21, text.Plural(g.bare, "file")))
	}
	return strings.Join(said, " ")
}

// lines lays out the results from the offset on, at most the limit; more tells
// that there are others.
func (g *grepping) lines() (out []outLine, more bool) {
	skip, left := g.in.Offset, g.in.Limit
	for _, f := range g.best.files {
		if g.in.Mode == modeContent {
			if skip >= f.count {
				skip -= f.count
				continue
			}
			if left == 0 {
				return out, true
			}
			take := min(left, f.count-skip)
			out = g.content(out, f, skip, take)
			if skip+take < f.count {
				return out, true
			}
			skip = 0
			left -= take
			more = more || f.more
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if left == 0 {
			return out, true
		}
		left--
		line := shownPath(g.dir, g.root.Path, f.path)
		if g.in.Mode == modeCount {
			line += ":" + strconv.Itoa(f.count)
		}
		out = append(out, outLine{line, true})
	}
	return out, more || g.best.cut
}

// content lays out some of a file's matches with the context that was kept.
func (g *grepping) content(out []outLine, f fileResult, skip, take int) []outLine {
	path := shownPath(g.dir, g.root.Path, f.path)
	lines := part(f.lines, skip, take, g.in.After)
	last := 0
	for i, h := range lines {
		if (g.in.Before > 0 || g.in.After > 0) && (i > 0 || len(out) > 0) && h.n != last+1 {
			out = append(out, outLine{text: "--"})
		}
		last = h.n
		sep := "-"
		if h.match {
			sep = ":"
		}
		out = append(out, outLine{path + sep + strconv.Itoa(h.n) + sep + h.text, h.first})
	}
	return out
}

// part returns the lines of some matches and of the context next to them.
func part(lines []hit, skip, take, after int) []hit {
	from, to, n := -1, len(lines), 0
	for i, h := range lines {
		if !h.first {
			continue
		}
		if n == skip {
			from = i
		}
		if n == skip+take {
			to = i
			break
		}
		n++
	}
	if from < 0 {
		return nil
	}
	for skip > 0 && from > 0 && !lines[from-1].match && lines[from-1].n == lines[from].n-1 {
		from--
	}
	if skip == 0 {
		from = 0
	}
	last := to - 1
	for last > from && !lines[last].match {
		last--
	}
	for to-1 > last && lines[to-1].n > lines[last].n+after {
		to--
	}
	return lines[from:to]
}
