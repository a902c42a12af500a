package plain

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/gist"
	"github.com/openharness/oh/internal/text"
)

// event shows what a person should see of an event.
func (s *screen) event(c Config, e oh.Event) {
	switch e := e.(type) {
	case oh.TextDelta:
		s.stream(e.Text)
	case oh.MessageDone:
		s.message(e.Message)
	case oh.Retrying:
		s.retrying(e)
	case oh.ToolStarted:
		s.line(s.dim(s.glyph("●") + " " + gist.Call(e.Tool, e.Input, c.Width-4)))
	case oh.ToolDone:
		s.toolDone(c, e)
	case oh.Sub:
		s.sub(c, e)
	case oh.Notice:
		s.notice(e)
	case oh.ErrorEvent:
		s.problem(e.Message)
	case oh.Status:
		s.line(s.dim(text.OneLine(text.Clean(e.Text), 500)))
	case oh.Compaction:
		s.compaction(e)
	case oh.StateChanged:
		if e.Mode != "" {
			s.line(s.dim("mode: " + string(e.Mode)))
		}
	case oh.CommandOutput:
		s.line(text.Clean(e.Text))
	case oh.RunDone:
		s.runDone(e)
	}
}

func (s *screen) message(m oh.Message) {
	if whole := m.Content.Text(); !s.streaming() && strings.TrimSpace(whole) != "" {
		s.stream(whole)
	}
	s.streamed()
}

func (s *screen) retrying(e oh.Retrying) {
	broke := s.streaming()
	s.streamed()
	t := fmt.Sprintf("%s: trying again in %s (%d of %d)", text.OneLine(text.Clean(e.Reason), 500), gist.Seconds(e.After), e.Attempt, e.Of)
	if broke && e.Discard {
		t += "; the reply above is void, it begins anew"
	}
	s.line(s.glyph("⚠") + " " + t)
}

func (s *screen) toolDone(c Config, e oh.ToolDone) {
	mark := s.good(s.glyph("✓"))
	if e.IsError {
		mark = s.bad(s.glyph("✗"))
	}
	done := mark + " " + text.OneLine(text.Clean(e.Tool), 100)
	if r := gist.Done(e); r != "" {
		done += s.dim("  " + r)
	}
	s.line(done)
	s.result(c, e)
}

func (s *screen) result(c Config, e oh.ToolDone) {
	switch d := e.Display.Display.(type) {
	case oh.Diff:
		s.line(s.dim("  " + relative(c.Dir, d.Path)))
		s.line(s.diff(text.Clean(d.Unified), c.Lines))
	case oh.Todos:
		for _, t := range d.Items {
			s.line("  " + todoMark(t.Status) + " " + text.OneLine(text.Clean(t.Content), c.Width-6))
		}
	default:
		if e.IsError {
			s.detail(c, e)
		}
	}
}

// detail shows the end of a failure's text.
func (s *screen) detail(c Config, e oh.ToolDone) {
	const shown = 5
	said := e.Content.Text()
	if d, ok := e.Display.Display.(oh.Output); ok {
		said = d.Text
	}
	lines := strings.Split(strings.TrimSpace(text.Clean(said)), "\n")
	if hidden := len(lines) - shown; hidden > 0 {
		s.line(s.dim("  " + s.glyph("…") + " " + text.Plural(hidden, "line") + " above"))
		lines = lines[hidden:]
	}
	for _, l := range lines {
		if l != "" {
			s.line(s.dim("  " + s.glyph("└") + " " + text.Cut(l, max(20, c.Width-4))))
		}
	}
}

func todoMark(t oh.TodoStatus) string {
	switch t {
	case oh.TodoCompleted:
		return "[x]"
	case oh.TodoInProgress:
		return "[>]"
	default:
		return "[ ]"
	}
}

// sub shows which tools a sub-agent uses.
func (s *screen) sub(c Config, e oh.Sub) {
	switch inner := e.Event.(type) {
	case oh.ToolStarted:
		s.line(s.dim("  " + s.glyph("└") + " agent: " + gist.Call(inner.Tool, inner.Input, c.Width-14)))
	case oh.ErrorEvent:
		s.problem("agent: " + inner.Message)
	case oh.Sub:
		s.sub(c, inner)
	}
}

func (s *screen) notice(e oh.Notice) {
	t := text.OneLine(text.Clean(e.Text), 2000)
	switch e.Level {
	case oh.Failure:
		s.problem(t)
	case oh.Warning:
		s.line(s.glyph("⚠") + " " + t)
	default:
		s.line(s.dim(t))
	}
}

func (s *screen) compaction(e oh.Compaction) {
	t := "shortening the history"
	if e.Phase == oh.CompactionDone {
		t = "the history is shortened"
	}
	if e.Text != "" {
		t += ": " + text.OneLine(text.Clean(e.Text), 300)
	}
	s.line(s.dim(t))
}

func (s *screen) runDone(e oh.RunDone) {
	s.streamed()
	switch e.Reason {
	case oh.ReasonEnd, oh.ReasonFailed: // of a failure the error tells more
		return
	case oh.ReasonCancelled:
		s.line(s.dim("stopped; what was done so far is kept"))
		return
	default:
	}
	why := e.Text
	if why == "" {
		why = "the run ended: " + strings.ReplaceAll(string(e.Reason), "_", " ")
	}
	if e.Reason == oh.ReasonMaxTurns || e.Reason == oh.ReasonMaxTokens {
		why += " (/continue goes on)"
	}
	s.problem(why)
}

// diff draws a unified diff, cut to n lines; 0 is all.
func (s *screen) diff(unified string, n int) string {
	lines := strings.Split(strings.TrimRight(unified, "\n"), "\n")
	hidden := 0
	if n > 0 && len(lines) > n {
		hidden = len(lines) - n
		lines = lines[:n]
	}
	var b strings.Builder
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "+"):
			l = s.good(l)
		case strings.HasPrefix(l, "-"):
			l = s.bad(l)
		case strings.HasPrefix(l, "@@"):
			l = s.dim(l)
		}
		b.WriteString("  " + l + "\n")
	}
	if hidden > 0 {
		b.WriteString(s.dim(fmt.Sprintf("  %s %s more", s.glyph("…"), text.Plural(hidden, "line"))) + "\n")
	}
	return b.String()
}

// relative shortens a path below dir.
func relative(dir, path string) string {
	path = text.OneLine(text.Clean(path), 1000)
	if dir == "" {
		return path
	}
	if r, err := filepath.Rel(dir, path); err == nil && r != ".." && !strings.HasPrefix(r, ".."+string(filepath.Separator)) {
		return r
	}
	return path
}
