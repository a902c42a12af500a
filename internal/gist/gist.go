// Package gist says in a few words what a call is about and what came of it,
// for faces that show one line per call. It is not for the model, and it does
// not decide anything. What it returns is one line of clean text.
package gist

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Call returns the tool's name and the most telling part of its input, at most
// n code points.
func Call(tool string, input json.RawMessage, n int) string {
	about := subject(input)
	if about == "" {
		return text.OneLine(text.Clean(tool), n)
	}
	return text.OneLine(text.Clean(tool+" "+about), n)
}

// subject returns the first of the members that name what a call works on.
func subject(input json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	for _, key := range []string{"command", "path", "pattern", "url", "query", "description", "prompt", "name", "subject", "to", "task_id"} {
		var s string
		if json.Unmarshal(in[key], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// Done returns what came of a call, such as "+1 -1" or "exit 1", with its
// duration when that is half a second or more; "" when there is nothing to say.
func Done(e oh.ToolDone) string {
	var parts []string
	if s := result(e); s != "" {
		parts = append(parts, s)
	}
	if e.Duration >= time.Second/2 {
		parts = append(parts, Seconds(e.Duration))
	}
	return strings.Join(parts, ", ")
}

func result(e oh.ToolDone) string {
	switch d := e.Display.Display.(type) {
	case oh.Diff:
		return fmt.Sprintf("+%d -%d", d.Added, d.Removed)
	case oh.Output:
		return exit(d)
	case oh.Count:
		return count(d)
	case oh.Tree:
		return text.Plural(len(d.Paths), "path")
	case oh.Todos:
		return text.Plural(len(d.Items), "item")
	}
	if e.Cause != "" {
		return strings.ReplaceAll(string(e.Cause), "_", " ")
	}
	if e.IsError {
		return "failed"
	}
	return ""
}

func exit(d oh.Output) string {
	switch {
	case d.Exit < 0:
		return "killed"
	case d.Exit > 0:
		return "exit " + strconv.Itoa(d.Exit)
	}
	return ""
}

func count(d oh.Count) string {
	s := text.Plural(d.N, d.Unit)
	if d.In != "" {
		s += " in " + d.In
	}
	return text.OneLine(text.Clean(s), 80)
}

// Seconds writes a duration as people read it: 0.4 s, 12 s, 3 min 5 s.
func Seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}
