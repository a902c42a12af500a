package file

import (
	"fmt"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/openharness/oh"
	"github.com/openharness/oh/workspace"
)

const (
	previewLimit = 1 << 20   // bytes of a file that a preview is made for
	diffLimit    = 256 << 10 // bytes of changed text that are compared line by line
	contextLines = 3
)

// diff compares two contents of a file for a person. Bytes that are not UTF-8
// are shown decoded.
func diff(path string, before, after []byte) oh.Diff {
	if workspace.Sniff(before, true) == workspace.Binary || workspace.Sniff(after, true) == workspace.Binary {
		return oh.Diff{Path: path, Unified: fmt.Sprintf("(binary: %d bytes replaced by %d)\n", len(before), len(after))}
	}
	a, b := shown(before), shown(after)
	head := commonLines(a, b)
	tail := commonTail(a[head:], b[head:])
	lead := strings.Count(a[:head], "\n")
	from := backLines(a, head, contextLines)
	to := forwardLines(a, len(a)-tail, contextLines)
	skipped := lead - strings.Count(a[from:head], "\n")
	mid, midNew := a[from:to], b[from:len(b)-(len(a)-to)]
	d := oh.Diff{Path: path}
	if len(mid)+len(midNew) > diffLimit {
		d.Removed = lineCount(a[head : len(a)-tail])
		d.Added = lineCount(b[head : len(b)-tail])
		d.Unified = fmt.Sprintf("(too large to show: from line %d on, %d lines replaced by %d)\n", lead+1, d.Removed, d.Added)
		return d
	}
	u, err := udiff.ToUnifiedDiff("a", "b", mid, udiff.Lines(mid, midNew), contextLines)
	if err != nil {
		d.Unified = fmt.Sprintf("(no diff: %v)\n", err)
		return d
	}
	for _, h := range u.Hunks {
		h.FromLine += skipped
		h.ToLine += skipped
		for _, l := range h.Lines {
			switch l.Kind {
			case udiff.Insert:
				d.Added++
			case udiff.Delete:
				d.Removed++
			}
		}
	}
	d.Unified = withoutHeader(u.String())
	return d
}

// withoutHeader drops the two lines that name the files.
func withoutHeader(s string) string {
	if i := strings.Index(s, "@@"); i > 0 && strings.HasPrefix(s, "---") {
		return s[i:]
	}
	return s
}

// shown decodes a file's content for people.
func shown(data []byte) string {
	set := workspace.Sniff(data, true)
	switch set {
	case workspace.UTF16LE, workspace.UTF16BE:
		s, _ := workspace.DecodeUTF16(data, set)
		return s
	}
	s, _ := workspace.DecodeLine(data)
	return s
}

// commonLines returns how many bytes of whole lines a and b begin with alike.
func commonLines(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonTail returns how many bytes of whole lines a and b end with alike.
func commonTail(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	i := strings.IndexByte(a[len(a)-n:], '\n')
	if i < 0 {
		return 0
	}
	atA := len(a) == n || a[len(a)-n-1] == '\n'
	atB := len(b) == n || b[len(b)-n-1] == '\n'
	if atA && atB {
		return n
	}
	return n - i - 1
}

// backLines returns the offset n lines before the line that begins at at.
func backLines(s string, at, n int) int {
	for ; n > 0 && at > 0; n-- {
		at = strings.LastIndexByte(s[:at-1], '\n') + 1
	}
	return at
}

// forwardLines returns the offset n lines after the line that begins at at.
func forwardLines(s string, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		i := strings.IndexByte(s[at:], '\n')
		if i < 0 {
			return len(s)
		}
		at += i + 1
	}
	return at
}
