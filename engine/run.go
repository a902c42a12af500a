package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// How many replies in a row may be cut at the output limit, or paused by the
// service, and still be continued.
const (
	maxCuts   = 3
	maxPauses = 10
)

// run is one run of one conversation. Its methods are called from the run's
// goroutine only, unless they say otherwise.
type run struct {
	cfg    *Config
	conv   *oh.Conversation
	ctx    context.Context
	cancel context.CancelFunc
	yield  func(oh.Event, error) bool
	broken bool   // the consumer broke off; nothing more is yielded
	dir    string // the working directory as hooks know it

	tools map[string]oh.Tool
	specs []oh.ToolSpec
	twins map[string]bool // names of tools that were left out and told so
	guard guard

	start    time.Time
	api      time.Duration
	usage    oh.Usage
	turns    int
	cuts     int
	pauses   int
	empties  int
	stopHook bool // a stop hook made this run go on
	reactive bool // a compaction for a request that was too long has been tried

	fallback  int    // how many models of Config.Fallback were turned to or passed over
	deltas    bool   // something of the reply that failed was shown
	overloads int    // of the model that is asked, in a row
	model     string // the one of them that is asked; "" is the conversation's
	output    output
}

// end says how a run ended. The zero end means: go on.
type end struct {
	reason oh.Reason
	text   string
	err    error
}

func failed(err error) end { return end{reason: oh.ReasonFailed, err: err} }

func (r *run) do(prompt []oh.Block) {
	e := r.begin(prompt)
	for e.reason == "" {
		e = r.turn()
	}
	if err := r.refuseAll(r.conv.OpenCalls(), oh.CauseInterrupted, oh.InterruptedText); err != nil && e.err == nil {
		e = failed(err)
	}
	if e.reason == oh.ReasonFailed {
		e = r.classify(e)
	}
	if err := r.conv.Sync(); err != nil && e.err == nil {
		e = failed(err)
	}
	done := oh.RunDone{Reason: e.reason, Text: e.text, Usage: r.usage, Turns: r.turns,
		Duration: time.Since(r.start), API: r.api}
	if e.reason == oh.ReasonEnd {
		done.Output = r.output.value
	}
	r.emit(done)
	if e.err != nil && !r.broken {
		r.yield(nil, e.err)
	}
}

func (r *run) begin(prompt []oh.Block) end {
	r.loadTools()
	r.dir = r.conv.State().Dir
	if r.cfg.Agent != "" {
		if _, err := r.fire(oh.HookInput{Event: oh.HookSubagentStart}); err != nil {
			return failed(err)
		}
	}
	return r.accept(prompt)
}

// classify tells a cancelled run from a failed one, and tells the hooks.
func (r *run) classify(e end) end {
	if r.ctx.Err() != nil && (errors.Is(e.err, context.Canceled) || errors.Is(e.err, context.DeadlineExceeded) ||
		oh.KindOf(e.err) == oh.KindCancelled) {
		return end{reason: oh.ReasonCancelled, text: "The run was stopped."}
	}
	_, _ = r.fire(oh.HookInput{Event: oh.HookStopFailure, Message: e.err.Error()})
	e.text = e.err.Error()
	return e
}

// emit yields an event. After a break it does nothing.
func (r *run) emit(ev oh.Event) {
	if !r.broken && !r.yield(ev, nil) {
		r.broken = true
		r.cancel()
	}
}

// record writes an event to the log and yields it.
func (r *run) record(ev oh.Event) error {
	if err := r.conv.Append(oh.NewEntry(ev)); err != nil {
		return err
	}
	r.emit(ev)
	return nil
}

// loadTools asks for the tools. A tool is declared under a name that every wire
// takes (see [oh.LegalName]) and is found by it; gates, hooks and events show
// the tool's own. Of tools that share a name the first wins.
func (r *run) loadTools() {
	r.tools, r.specs = map[string]oh.Tool{}, nil
	add := func(list func() []oh.Tool, declare bool) {
		if list == nil {
			return
		}
		for _, t := range list() {
			name := oh.LegalName(oh.ToolName(t))
			if first, dup := r.tools[name]; dup {
				r.warnTwin(first, t)
				continue
			}
			r.tools[name] = t
			if declare {
				spec := t.Spec()
				spec.Name = name
				r.specs = append(r.specs, spec)
			}
		}
	}
	add(r.cfg.Tools, true)
	add(r.cfg.Deferred, false)
}

// warnTwin says, once in a run, that a tool cannot be offered.
func (r *run) warnTwin(first, second oh.Tool) {
	name := oh.ToolName(second)
	if r.twins[name] {
		return
	}
	if r.twins == nil {
		r.twins = map[string]bool{}
	}
	r.twins[name] = true
	r.emit(oh.Notice{Level: oh.Warning, Text: fmt.Sprintf(
		"Two tools have the name %q for the model; the second (%q) is left out. Rename it or switch one of them off.",
		oh.LegalName(oh.ToolName(first)), name)})
}

// ownName is the name that a called tool gave itself, or the name of the call
// when there is no such tool.
func (r *run) ownName(call oh.ToolUse) string {
	if t, ok := r.tools[oh.LegalName(call.Name)]; ok {
		return oh.ToolName(t)
	}
	return call.Name
}

// accept puts the prompt into the conversation.
func (r *run) accept(prompt []oh.Block) end {
	if len(prompt) == 0 {
		return end{}
	}
	content := oh.Blocks(prompt)
	res, err := r.fire(oh.HookInput{Event: oh.HookUserPrompt, Prompt: content.Text()})
	if err != nil {
		return failed(err)
	}
	if res.Block || res.Halt {
		return end{reason: oh.ReasonBlocked, text: "A hook dropped the prompt: " + orElse(res.Reason, "no reason given")}
	}
	if res.Context != "" {
		content = append(content[:len(content):len(content)], oh.Text{Text: res.Context, Context: true})
	}
	return r.say(oh.FromUser, content)
}

// say adds a user turn.
func (r *run) say(from oh.Source, content oh.Blocks) end {
	msg := oh.Message{ID: oh.NewID(), Role: oh.User, Content: content}
	if err := r.record(oh.UserTurn{Message: msg, Source: from}); err != nil {
		return failed(err)
	}
	return end{}
}

// turn takes what is queued, asks the model once and does what it wants.
func (r *run) turn() end {
	if err := r.ctx.Err(); err != nil {
		return failed(err)
	}
	for _, blocks := range r.conv.Dequeue() {
		if e := r.say(oh.FromQueue, blocks); e.reason != "" {
			return e
		}
	}
	if !r.conv.Pending() {
		return r.settle()
	}
	if r.turns >= r.cfg.MaxTurns {
		return end{reason: oh.ReasonMaxTurns, text: fmt.Sprintf(
			"Stopped after %d turns, the limit. The conversation is kept and can be continued.", r.cfg.MaxTurns)}
	}
	msg, err := r.ask()
	if over, ok := errors.AsType[overspent](err); ok {
		return end{reason: oh.ReasonBudget, text: over.Error()}
	}
	if err != nil {
		return failed(err)
	}
	r.turns++
	r.usage = r.usage.Add(msg.Usage)
	return r.answer(msg)
}

// settle ends the run, unless a stop hook wants it to go on.
func (r *run) settle() end {
	if r.turns == 0 {
		return end{reason: oh.ReasonEnd}
	}
	if e, again := r.remind(); again {
		return e
	}
	event := oh.HookStop
	if r.cfg.Agent != "" {
		event = oh.HookSubagentStop
	}
	res, err := r.fire(oh.HookInput{Event: event, Message: r.lastText(), StopActive: r.stopHook})
	switch {
	case err != nil:
		return failed(err)
	case res.Halt || !res.Block:
		return end{reason: oh.ReasonEnd}
	}
	r.stopHook, r.output.value = true, nil
	return r.say(oh.FromHook, oh.Blocks{oh.Text{Text: orElse(res.Reason, "A stop hook asks you to go on."), Context: true}})
}

func (r *run) lastText() string {
	msgs := r.conv.Messages()
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == oh.Assistant {
			return msgs[i].Content.Text()
		}
	}
	return ""
}

// answer acts on a reply.
func (r *run) answer(msg oh.Message) end {
	if msg.Content.Empty() {
		return r.empty(msg)
	}
	r.empties = 0
	msg = r.conv.Claim(msg)
	if err := r.record(oh.MessageDone{Message: msg}); err != nil {
		return failed(err)
	}
	calls := msg.Content.ToolUses()
	switch {
	case msg.Stop == oh.StopTooLong:
		return r.full(calls)
	case msg.Stop.Cut():
		return r.cut(calls)
	case msg.Stop == oh.StopRefusal:
		if err := r.refuseAll(calls, oh.CauseInterrupted, wordRefused); err != nil {
			return failed(err)
		}
		return refusal
	case len(calls) > 0:
		r.cuts, r.pauses = 0, 0
		return r.answered(r.runCalls(calls))
	case msg.Stop == oh.StopPause:
		if r.pauses++; r.pauses > maxPauses {
			return end{reason: oh.ReasonMaxTokens, text: fmt.Sprintf("The service paused the reply %d times in a row.", r.pauses)}
		}
		r.emit(oh.Status{Text: "The service paused the reply; asking it to go on."})
		return r.say(oh.FromHarness, oh.Blocks{oh.Text{Text: wordPaused, Context: true}})
	}
	r.cuts, r.pauses = 0, 0
	return end{}
}

var refusal = end{reason: oh.ReasonRefusal, text: "The model declined to answer (stop reason: refusal)."}

// empty handles a reply that says nothing. It is not kept, but counted.
func (r *run) empty(msg oh.Message) end {
	st := r.conv.State()
	err := r.record(oh.SideUsage{For: "empty_reply", Profile: st.Profile, Model: msg.Model, Usage: msg.Usage})
	switch {
	case err != nil:
		return failed(err)
	case msg.Stop == oh.StopRefusal:
		return refusal
	case msg.Stop == oh.StopTooLong:
		return r.full(nil)
	case msg.Stop.Cut():
		return r.cut(nil)
	}
	r.empties++
	if r.empties > 1 {
		return end{reason: oh.ReasonEmptyReply, text: "The model sent an empty reply twice. Nothing of it was kept; send the message again or try another model."}
	}
	r.emit(oh.Status{Text: "The model sent an empty reply; asking once more."})
	return end{}
}

// cut handles a reply that ended at the output limit: none of its calls runs,
// and the model is asked to go on, a few times.
func (r *run) cut(calls []oh.ToolUse) end {
	if err := r.refuseAll(calls, oh.CauseInvalid, wordCutCall); err != nil {
		return failed(err)
	}
	r.cuts++
	if r.cuts > maxCuts {
		return end{reason: oh.ReasonMaxTokens, text: fmt.Sprintf(
			"The reply was cut at the output limit %d times in a row. Raise max_tokens, or ask for smaller steps.", r.cuts)}
	}
	r.emit(oh.Status{Text: "The reply was cut at the output limit; asking the model to go on."})
	if len(calls) > 0 {
		return end{}
	}
	return r.say(oh.FromHarness, oh.Blocks{oh.Text{Text: wordCutText, Context: true}})
}

// full handles a reply that ended because the context window is full: asking
// again with a longer history cannot help.
func (r *run) full(calls []oh.ToolUse) end {
	if err := r.refuseAll(calls, oh.CauseInvalid, wordCutCall); err != nil {
		return failed(err)
	}
	return failed(&oh.Error{Op: "the reply", Kind: oh.KindTooLong, Err: errors.New("the model's context window is full")})
}

// refuseAll answers calls without running them.
func (r *run) refuseAll(calls []oh.ToolUse, cause oh.Cause, text string) error {
	for _, call := range calls {
		if err := r.record(oh.ToolDone{ID: call.ID, Tool: r.ownName(call), IsError: true, Cause: cause,
			Content: oh.Blocks{oh.Text{Text: text}}}); err != nil {
			return err
		}
	}
	return nil
}

// fire runs the hooks of an event. A failure of the machinery is a warning,
// unless it is fatal.
func (r *run) fire(in oh.HookInput) (oh.HookResult, error) {
	if r.cfg.Hook == nil {
		return oh.HookResult{}, nil
	}
	st := r.conv.State()
	in.Session, in.Dir, in.Mode, in.Agent = st.Session, st.Dir, st.Mode, r.cfg.Agent
	res, err := r.cfg.Hook.Fire(r.ctx, in)
	if res.Message != "" {
		r.emit(oh.Notice{Level: oh.Info, Text: res.Message})
	}
	if err == nil || oh.IsFatal(err) {
		return res, err
	}
	r.emit(hookWarning(in.Event, err))
	return oh.HookResult{}, nil
}

func hookWarning(event oh.HookEvent, err error) oh.Notice {
	return oh.Notice{Level: oh.Warning, Text: fmt.Sprintf("hook %s: %v", event, err)}
}

func orElse(s, other string) string {
	if strings.TrimSpace(s) == "" {
		return other
	}
	return s
}
