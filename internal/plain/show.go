package plain

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/gist"
	"github.com/openharness/oh/internal/text"
)

// show shows what a person should see of an event. It is for Run's goroutine.
func (f *Face) show(e oh.Event) {
	switch e := e.(type) {
	case oh.CommandOutput:
		f.said = e.Text
	case oh.StateChanged:
		f.changed(e)
	case oh.ToolDone:
		if f.seen(e) {
			f.s.toolLine(e)
			return
		}
	case oh.RunDone:
		f.runDone(e)
	}
	f.s.event(f.c, e)
}

// seen reports whether a change was shown, as it was made, in a question.
func (f *Face) seen(e oh.ToolDone) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, asked := f.approved[e.ID]
	delete(f.approved, e.ID)
	is, ok := e.Display.Display.(oh.Diff)
	return asked && ok && !e.IsError && is == was
}

// changed tells of the mode, model and effort what is new and was not said by
// the command that changed it.
func (f *Face) changed(e oh.StateChanged) {
	k := &f.known
	for _, x := range []struct {
		name, value string
		known       *string
	}{{"mode", string(e.Mode), &k.mode}, {"model", e.Model, &k.model}, {"effort", e.Effort, &k.effort}} {
		if x.value == "" || x.value == *x.known {
			continue
		}
		*x.known = x.value
		if !says(f.said, x.value) {
			f.s.dimmed(x.name + ": " + gist.Words(x.value, 200))
		}
	}
}

// state is what a person knows to hold.
type state struct{ mode, model, effort string }

// says reports whether a word stands in t.
func says(t, word string) bool {
	for w := range strings.FieldsSeq(t) {
		if strings.Trim(w, ".,:;\"'`()") == word {
			return true
		}
	}
	return false
}

// runDone tells why a run ended. Of a failure the error tells more.
func (f *Face) runDone(e oh.RunDone) {
	f.s.streamed()
	switch e.Reason {
	case oh.ReasonEnd, oh.ReasonFailed:
		return
	case oh.ReasonCancelled:
		f.s.dimmed(gist.Sentence("stopped; what was done so far is kept", gist.ReasonAdvice(e.Reason, f.place())))
		return
	default:
	}
	why := gist.Reason(e.Reason)
	if e.Text != "" {
		why = gist.Words(e.Text, 600)
	}
	f.s.problem(withAdvice(why, gist.ReasonAdvice(e.Reason, f.place())))
}

// withAdvice leaves words that need no advice as they are.
func withAdvice(t, advice string) string {
	if advice == "" {
		return t
	}
	return gist.Sentence(t, advice)
}

// event shows an event that needs nothing but itself.
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
		s.dimmed(gist.Words(e.Text, 500))
	case oh.Compaction:
		s.compaction(e)
	case oh.CommandOutput:
		s.line(text.Clean(e.Text))
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
	t := gist.Retry(e)
	if broke && e.Discard {
		t += "; the reply above is void, it begins anew"
	}
	s.warning(t)
}

func (s *screen) toolDone(c Config, e oh.ToolDone) {
	s.toolLine(e)
	s.result(c, e)
}

// toolLine says what came of a call.
func (s *screen) toolLine(e oh.ToolDone) {
	mark := s.good(s.glyph("✓"))
	if e.IsError {
		mark = s.bad(s.glyph("✗"))
	}
	done := mark + " " + text.OneLine(text.Clean(e.Tool), 100)
	if r := gist.Done(e); r != "" {
		done += s.dim("  " + r)
	}
	s.line(done)
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
	case oh.Output:
		if e.IsError {
			s.tail(c, d.Text, 5)
		} else {
			s.tail(c, d.Text, 3)
		}
	default:
		if e.IsError {
			s.tail(c, said(e.Content), 5)
		}
	}
}

// said is the text of a result without what was added for the model.
func said(content oh.Blocks) string {
	var parts []string
	for _, b := range content {
		if t, ok := b.(oh.Text); ok && !t.Context {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// tail shows the last n lines of what a tool said.
func (s *screen) tail(c Config, t string, n int) {
	lines := strings.Split(strings.Trim(text.Clean(t), "\n"), "\n")
	if hidden := len(lines) - n; hidden > 0 {
		s.line(s.dim("  " + s.glyph("…") + " " + text.Plural(hidden, "line") + " above"))
		lines = lines[hidden:]
	}
	for _, l := range lines {
		if l = strings.TrimRight(l, " \t"); l != "" {
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
	switch e.Level {
	case oh.Failure:
		s.problem(e.Text)
	case oh.Warning:
		s.warning(e.Text)
	default:
		s.dimmed(gist.Words(e.Text, 2000))
	}
}

func (s *screen) compaction(e oh.Compaction) {
	t := "shortening the history"
	if e.Phase == oh.CompactionDone {
		t = "the history is shortened"
	}
	if e.Text != "" {
		t += ": " + gist.Words(e.Text, 300)
	}
	s.dimmed(t)
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

// relative is a path for a line of its own, shortened when it lies below dir.
func relative(dir, path string) string { return text.OneLine(text.Clean(below(dir, path)), 1000) }

// below shortens a path that lies below dir.
func below(dir, path string) string {
	if dir == "" {
		return path
	}
	if r, err := filepath.Rel(dir, path); err == nil && r != ".." && !strings.HasPrefix(r, ".."+string(filepath.Separator)) {
		return r
	}
	return path
}
