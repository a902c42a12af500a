// Package search holds the tools that look for files: glob by name, grep by
// content.
//
// Both walk folders by [workspace.Workspace.Walk]: ignore files are respected,
// hidden files are searched, .git is never entered, links are not followed,
// and what was left out is said. Results are sorted by path, so the same call
// on the same files gives the same text, and they are bounded in themselves.
package search

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/workspace"
)

//go:embed glob.md
var globDoc string

//go:embed grep.md
var grepDoc string

// Tools returns glob and grep on a workspace. A nil workspace has no roots and
// hides nothing.
func Tools(ws *workspace.Workspace) []oh.Tool {
	s := set{ws}
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[globInput]{Name: "glob", Doc: globDoc, SelfLimited: true, Prepare: s.glob}),
		oh.NewTool(oh.ToolDef[grepInput]{Name: "grep", Doc: grepDoc, SelfLimited: true, Prepare: s.grep}),
	}
}

type set struct {
	ws *workspace.Workspace
}

// maxChars bounds a result, in characters.
const maxChars = 40_000

// first returns the first string that is not empty.
func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

// leftOut says what a walk did not look at, "" when it looked at all.
func leftOut(s workspace.Skipped) string {
	var parts []string
	if s.Ignored > 0 {
		more := ""
		if s.Ignored > len(s.Examples) {
			more = ", …"
		}
		parts = append(parts, fmt.Sprintf("%d by ignore files (%s%s)", s.Ignored, strings.Join(named(s.Examples), ", "), more))
	}
	if s.Secret > 0 {
		parts = append(parts, fmt.Sprintf("%d protected", s.Secret))
	}
	if s.Unreadable > 0 {
		parts = append(parts, fmt.Sprintf("%d unreadable", s.Unreadable))
	}
	if len(parts) == 0 {
		return ""
	}
	return "Not searched: " + strings.Join(parts, "; ") + "."
}

// notes puts remarks in one bracketed line.
func notes(list []string) string {
	var full []string
	for _, n := range list {
		if n != "" {
			full = append(full, n)
		}
	}
	if len(full) == 0 {
		return ""
	}
	return "[" + strings.Join(full, " ") + "]"
}

// bounded joins lines up to the limit of a result and tells how many it took.
func bounded(list []string) (string, int) {
	var b strings.Builder
	n := 0
	for i, line := range list {
		n += len(line) + 1
		if n > maxChars && i > 0 {
			return b.String(), i
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return b.String(), len(list)
}

// meta encodes a result's metadata.
func meta(m map[string]any) []byte {
	raw, err := oh.Marshal(m)
	if err != nil {
		return nil
	}
	return raw
}

// shownPath is the path of a found file for the model.
func shownPath(dir, root, rel string) string {
	if rel == "" {
		return name(workspace.Show(dir, root))
	}
	base := workspace.Show(dir, root)
	if base == "." {
		return name(rel)
	}
	return name(strings.TrimSuffix(base, "/") + "/" + rel)
}

// name is a path that stays on its line and is valid text; one that would not
// is quoted.
func name(path string) string {
	if utf8.ValidString(path) && !strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return path
	}
	return strconv.Quote(path)
}

func named(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = name(p)
	}
	return out
}

// plain makes a line of a file fit to be shown: without a line end, and with
// invalid bytes and control characters cleaned; a carriage return within it is
// a space.
func plain(line []byte) string {
	s, _ := workspace.DecodeLine(line)
	return text.Clean(strings.ReplaceAll(s, "\r", " "))
}
