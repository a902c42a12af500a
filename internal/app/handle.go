package app

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/engine"
	"github.com/openharness/oh/internal/prompt"
	"github.com/openharness/oh/internal/schema"
	"github.com/openharness/oh/internal/slash"
)

// Handle runs one line: a slash command, or a prompt with what is attached to
// it. An empty line without attachments runs the model on what is queued. The
// error is the last thing yielded; [ErrExit] ends the program. Everything is
// saved before it is yielded.
func (r *Runtime) Handle(ctx context.Context, line string, attached ...oh.Block) iter.Seq2[oh.Envelope, error] {
	return func(yield func(oh.Envelope, error) bool) {
		h := &handling{r: r, ctx: ctx, yield: yield}
		h.begin()
		h.line(line, attached)
	}
}

// handling is one line on its way.
type handling struct {
	r      *Runtime
	ctx    context.Context
	yield  func(oh.Envelope, error) bool
	broken bool
}

// emit stamps an event and yields it.
func (h *handling) emit(ev oh.Event) bool {
	if h.broken {
		return false
	}
	h.r.debugEvent(ev)
	if limits, ok := ev.(oh.RateLimit); ok {
		h.r.limits = limits
	}
	env := oh.Envelope{Seq: h.r.seq.Add(1), Time: time.Now().UTC(), Session: h.r.Session(), Event: ev}
	h.broken = !h.yield(env, nil)
	return !h.broken
}

// debugEvent logs an event by its kind and measures, never by its contents.
func (r *Runtime) debugEvent(ev oh.Event) {
	if r.opts.Log == nil {
		return
	}
	switch ev := ev.(type) {
	case oh.TextDelta, oh.ThinkingDelta, oh.ToolInputDelta, oh.ToolOutput:
	case oh.MessageDone:
		u := ev.Message.Usage
		r.debug("reply", "model", ev.Message.Model, "stop", ev.Message.Stop, "calls", len(ev.Message.Content.ToolUses()),
			"in", u.InputTokens, "cache_read", u.CacheReadTokens, "cache_write", u.CacheWriteTokens, "out", u.OutputTokens)
	case oh.RateLimit:
		for _, l := range ev.Limits {
			r.debug("rate limit", "of", l.Name, "limit", l.Limit, "remaining", l.Remaining, "reset", l.Reset)
		}
	case oh.SideUsage:
		r.debug("side request", "for", ev.For, "model", ev.Model, "in", ev.Usage.InputTokens, "out", ev.Usage.OutputTokens)
	case oh.ToolDone:
		r.debug("tool done", "id", ev.ID, "tool", ev.Tool, "error", ev.IsError, "cause", ev.Cause, "took", ev.Duration)
	case oh.Decided:
		r.debug("decided", "id", ev.ID, "tool", ev.Tool, "decision", ev.Decision, "by", ev.By, "rule", ev.Rule)
	case oh.Retrying:
		r.debug("retrying", "attempt", ev.Attempt, "of", ev.Of, "after", ev.After, "kind", ev.Kind, "status", ev.Status)
	case oh.RunDone:
		r.debug("run done", "reason", ev.Reason, "turns", ev.Turns, "took", ev.Duration, "api", ev.API)
	default:
		r.debug(oh.EventType(ev))
	}
}

func (h *handling) fail(err error) {
	if err != nil && !h.broken {
		h.broken = true
		h.yield(oh.Envelope{}, err)
	}
}

// record writes an event to the log and yields it.
func (h *handling) record(ev oh.Event) bool {
	if err := h.r.conv.Append(oh.NewEntry(ev)); err != nil {
		h.fail(err)
		return false
	}
	return h.emit(ev)
}

// begin tells what the build had to say, and starts the session for hooks.
func (h *handling) begin() {
	h.tell()
	if h.r.started {
		return
	}
	h.r.started = true
	if h.r.hook == nil {
		return
	}
	in := h.r.hookInput(oh.HookSessionStart)
	in.Source = "startup"
	if h.r.resumed {
		in.Source = "resume"
	}
	res, err := h.r.hook.Fire(h.ctx, in)
	if err != nil {
		h.emit(oh.Notice{Level: oh.Warning, Text: "hook session_start: " + err.Error()})
	}
	if res.Context != "" {
		h.r.conv.Enqueue(oh.Text{Text: res.Context, Context: true})
	}
}

// tell yields what watchers have not been told yet.
func (h *handling) tell() {
	for _, ev := range h.r.untold {
		h.emit(ev)
	}
	h.r.untold = nil
}

func (h *handling) line(line string, attached []oh.Block) {
	effect, ok, err := h.r.set.Run(h.ctx, strings.TrimSpace(line))
	if err != nil {
		h.fail(err)
		return
	}
	if ok {
		h.effect(line, effect, attached)
		return
	}
	var blocks []oh.Block
	if strings.TrimSpace(line) != "" {
		blocks = append(blocks, h.mentions(line)...)
		blocks = append(blocks, oh.Text{Text: line})
	}
	h.run(append(attached, blocks...))
}

// effect does what a command asks for.
func (h *handling) effect(line string, e slash.Effect, attached []oh.Block) {
	name, _, _ := slash.Parse(strings.TrimSpace(line))
	if e.Text != "" {
		h.emit(oh.CommandOutput{Command: name, Text: e.Text})
	}
	if e.Clear {
		h.fail(h.r.clear(h.ctx))
	}
	h.tell()
	switch {
	case h.broken:
	case e.Exit:
		h.fail(ErrExit)
	case e.Prompt != "":
		h.run(append(attached, oh.Text{Text: e.Prompt}))
	case e.Continue:
		h.run(nil)
	}
}

// run drives the engine until nothing is left to do.
func (h *handling) run(blocks []oh.Block) {
	if len(blocks) > 0 {
		if news := h.r.news(); news != "" {
			blocks = append([]oh.Block{oh.Text{Text: news, Context: true}}, blocks...)
		}
		if h.r.opts.Schema != nil {
			blocks = append(blocks, oh.Text{Text: schema.Ask(), Context: true})
		}
	}
	eng, err := engine.New(h.r.config)
	if err != nil {
		h.fail(err)
		return
	}
	for again := true; again && !h.broken; blocks = nil {
		again = h.once(eng, blocks)
	}
	h.grants()
}

// once is one run. again says that something was queued while it ended.
func (h *handling) once(eng *engine.Engine, blocks []oh.Block) (again bool) {
	for ev, err := range eng.Run(h.ctx, h.r.conv, blocks...) {
		if err != nil {
			h.fail(err)
			return false
		}
		if done, ok := ev.(oh.RunDone); ok {
			again = done.Reason == oh.ReasonEnd && len(done.Output) == 0 && h.r.conv.Queued()
			for _, notice := range h.r.tape.told() {
				h.emit(notice)
			}
		}
		if !h.emit(ev) {
			return false
		}
	}
	return again
}

// grants tells about rules that could not be kept.
func (h *handling) grants() {
	if err := h.r.grantErr; err != nil {
		h.r.grantErr = nil
		h.emit(oh.Notice{Level: oh.Warning, Text: err.Error()})
	}
}

// news is what has changed since the model was told last: date, branch,
// directory, mode.
func (r *Runtime) news() string {
	st := r.conv.State()
	branch, _ := prompt.Branch(st.Dir)
	now := prompt.Turn{Date: time.Now(), Branch: branch, Dir: st.Dir, Mode: st.Mode}
	told := r.told
	r.told = now
	if now.Mode == oh.ModeDefault && told.Mode == "" {
		told.Mode = now.Mode // the usual needs no word
	}
	return prompt.Context(told, now)
}
