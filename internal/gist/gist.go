// Package gist holds the words that the faces for people have in common: what a
// call is about and what came of it, why a run ended, and what to do about it.
// It is not for the model, and it does not decide anything. What it says of
// calls and retries is one line of clean text; errors are worded by others and
// are to be cleaned with [Words].
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

// Retry says that an attempt failed and when another follows.
func Retry(e oh.Retrying) string {
	after := e.After
	if after >= time.Second {
		after = after.Round(time.Second)
	}
	return fmt.Sprintf("%s: trying again in %s (%d of %d)", Words(e.Reason, 500), Seconds(after), e.Attempt, e.Of)
}

// Words makes one clean line of s with at most n code points, cut after a whole
// word where there is one in its second half.
func Words(s string, n int) string {
	s = strings.Join(strings.Fields(text.Clean(s)), " ")
	head := text.Head(s, n)
	if len(head) == len(s) {
		return s
	}
	head = text.Head(s, n-1)
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 && s[len(head)] != ' ' {
		head = head[:i]
	}
	return head + "…"
}

// Seconds writes a duration as people read it: 0.4 s, 2 s, 12 s, 3 min 5 s.
func Seconds(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	t := fmt.Sprintf("%d min", int(d.Minutes()))
	if rest := int(d.Seconds()) % 60; rest > 0 {
		t += fmt.Sprintf(" %d s", rest)
	}
	return t
}
