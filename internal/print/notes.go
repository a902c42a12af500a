package print

import (
	"fmt"
	"io"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/gist"
	"github.com/openharness/oh/internal/text"
)

// notes is stderr: warnings, errors and how the run ended; on a terminal also
// one live line that tells what runs.
type notes struct {
	o       *Options
	w       io.Writer
	live    *live // nil when Err is no terminal, or frames scroll by on the same one
	running []call
	midLine bool // a message is streaming to a terminal
	scarce  bool // it was told that a limit is near
}

type call struct{ id, what string }

func newNotes(o *Options) *notes {
	n := &notes{o: o, w: o.Err}
	if o.ErrTerminal && !(o.OutTerminal && (o.Format == StreamJSON || o.Format == Events)) {
		n.live = &live{w: o.Err, width: o.Width, mark: "● "}
		if o.ASCII {
			n.live.mark = "* "
		}
	}
	return n
}

func (n *notes) event(e oh.Event) {
	switch e := e.(type) {
	case oh.TextDelta:
		if !n.midLine {
			n.textBegins()
		}
	case oh.RateLimit:
		n.rateLimit(e)
	case oh.ThinkingDelta:
		n.show("thinking")
	case oh.MessageDone:
		n.midLine = false
		n.show("")
	case oh.Notice:
		n.notice(e)
	case oh.ErrorEvent:
		n.fail(e.Message)
	case oh.Retrying:
		n.retrying(e)
	case oh.Status:
		n.show(e.Text)
	case oh.Compaction:
		n.show("shortening the history")
	case oh.UserTurn:
		n.show("waiting for the model")
	case oh.ToolStarted:
		n.started(e)
	case oh.ToolDone:
		n.ended(e.ID)
	case oh.Asked:
		n.show("")
	}
}

func (n *notes) textBegins() {
	n.midLine = n.o.OutTerminal && n.o.Format == Text
	if n.midLine {
		n.erase()
		return
	}
	n.show("answering")
}

func (n *notes) notice(e oh.Notice) {
	switch {
	case e.Level == oh.Failure:
		n.fail(e.Text)
	case e.Level == oh.Warning:
		n.warn(e.Text)
	case n.o.Verbose:
		n.line("", "", e.Text)
	}
}

// retrying tells that a run waits. Frames and events tell it on stdout.
func (n *notes) retrying(e oh.Retrying) {
	n.midLine = false
	if told := n.o.Format == StreamJSON || n.o.Format == Events; told && n.live == nil && !n.o.Verbose {
		return
	}
	n.warn(gist.Retry(e))
}

func (n *notes) started(e oh.ToolStarted) {
	n.running = append(n.running, call{e.ID, gist.Call(e.Tool, e.Input, 200)})
	n.showRunning()
}

func (n *notes) ended(id string) {
	for i, c := range n.running {
		if c.id == id {
			n.running = append(n.running[:i:i], n.running[i+1:]...)
			break
		}
	}
	n.showRunning()
}

func (n *notes) showRunning() {
	switch k := len(n.running); k {
	case 0:
		n.show("waiting for the model")
	case 1:
		n.show(n.running[0].what)
	default:
		n.show(fmt.Sprintf("%s (and %d more)", n.running[k-1].what, k-1))
	}
}

// show sets what the live line tells; "" removes it.
func (n *notes) show(what string) {
	if n.live != nil && !n.midLine {
		n.live.set(text.OneLine(text.Clean(what), 200), time.Now())
	}
}

// erase removes the live line before something else is written to the screen.
func (n *notes) erase() {
	if n.live != nil {
		n.live.set("", time.Time{})
	}
}

// stop ends the live line and waits for its goroutine.
func (n *notes) stop() {
	if n.live != nil {
		n.live.close()
	}
	n.running, n.midLine, n.scarce = nil, false, false
}

func (n *notes) warn(s string) { n.line("⚠ ", "warning: ", s) }
func (n *notes) fail(s string) { n.line("✗ ", "error: ", s) }

// line writes one line. Where glyphs do not belong the word stands for them.
func (n *notes) line(glyph, word, s string) {
	head := word
	if n.o.ErrTerminal && !n.o.ASCII {
		head = glyph
	}
	s = head + gist.Words(s, 4000) + "\n"
	if n.midLine && n.o.ErrTerminal {
		s = "\n" + s
	}
	if n.live != nil {
		n.live.print(s)
		return
	}
	_, _ = io.WriteString(n.w, s)
}

// end says how the run ended when it did not end well, and what to do.
func (n *notes) end(o Outcome, t *tally) {
	n.denials(o.Denials)
	at := n.place(t)
	switch {
	case o.Reason == oh.ReasonEnd:
	case o.Err != nil && o.Reason != oh.ReasonCancelled:
		n.fail(gist.Sentence(o.Err.Error(), gist.Advice(o.Err, at)))
	default:
		why := gist.Reason(o.Reason)
		if t.done != nil && t.done.Text != "" {
			why = gist.Words(t.done.Text, 600)
		}
		n.fail(gist.Sentence(why, gist.ReasonAdvice(o.Reason, at)))
	}
}

// place is what advice depends on.
func (n *notes) place(t *tally) gist.Place {
	i := &n.o.Info
	return gist.Place{
		Profile: t.profile, Model: t.model, KeySource: i.KeySource,
		BaseURL: i.BaseURL, BaseURLSource: i.BaseURLSource, NoSave: i.NoSave,
	}
}

// denials sums up what was refused.
func (n *notes) denials(all []Denial) {
	if len(all) == 0 {
		return
	}
	const shown = 3
	names := ""
	for i, d := range all {
		if i == shown {
			names += fmt.Sprintf(" and %d more", len(all)-shown)
			break
		}
		if i > 0 {
			names += "; "
		}
		names += gist.Call(d.Tool, d.Input, 80)
	}
	if unasked(all) == 0 {
		n.warn(fmt.Sprintf("refused: %s", names))
		return
	}
	n.warn(fmt.Sprintf("refused because nobody could be asked: %s (--allowed-tools or --permission-mode permits it beforehand)", names))
}
