package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/openharness/oh"
)

// The way of one call, in order:
//
//	look up → validate and prepare → pre-hook → (input rewritten? prepare again)
//	→ gate → ask, if it says so → Config.Before → ToolStarted → run
//	→ offload what is too long → append → post-hook
//	→ (changed output? a second entry, which wins) → ToolDone
//
// ready does the first part, admit the gate, exec the rest.

// job is one call on its way.
type job struct {
	call   oh.ToolUse // Input is what runs
	tool   oh.Tool
	act    oh.Action
	hook   *oh.Decision // of a pre-tool hook
	added  string       // context from a pre-tool hook
	halted string       // a hook or a person ends the run: why
	edited bool         // Input is not what the model sent
}

// refused is a call that does not run.
type refused struct {
	cause oh.Cause
	text  string
}

func refuse(cause oh.Cause, text string) *refused { return &refused{cause, text} }

// ready looks a call up, prepares it and lets the pre-hooks see it. The error
// ends the run.
func (r *run) ready(call oh.ToolUse) (*job, *refused, error) {
	j := &job{call: call}
	if call.Malformed != "" {
		return j, refuse(oh.CauseInvalid, fill(wordUnparsed, "problem", call.Malformed)), nil
	}
	if call.Name == CallTool {
		var err error
		if call, err = unwrap(call); err != nil {
			return j, refuse(oh.CauseInvalid, err.Error()), nil
		}
		j.call = call
	}
	tool, ok := r.tools[oh.LegalName(call.Name)]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(r.tools)), ", ")
		return j, refuse(oh.CauseUnknownTool, fill(wordUnknown, "name", call.Name, "tools", names)), nil
	}
	call.Name = oh.ToolName(tool) // from here on, also for the tool itself
	j.call, j.tool = call, tool
	if ref, err := r.prepare(j); ref != nil || err != nil {
		return j, ref, err
	}
	res, err := r.fire(oh.HookInput{Event: oh.HookPreTool, ID: call.ID, Tool: call.Name, Input: call.Input})
	if err != nil {
		return j, nil, err
	}
	if res.Halt {
		j.halted = orElse(res.Reason, "A hook stopped the run.")
	}
	if res.Block || res.Halt {
		reason := orElse(res.Reason, "a hook blocked "+call.Name)
		err := r.record(oh.Decided{ID: call.ID, Tool: call.Name, Decision: oh.Deny, By: oh.ByHook, Reason: reason})
		return j, refuse(oh.CauseDenied, fill(wordDenied, "reason", reason)), err
	}
	j.hook, j.added = res.Decision, res.Context
	if len(res.Input) > 0 {
		j.call.Input, j.edited = oh.Compact(res.Input), true
		if ref, err := r.prepare(j); ref != nil || err != nil {
			return j, ref, err
		}
	}
	return j, nil, nil
}

// unwrap returns the call that a [CallTool] stands for.
func unwrap(call oh.ToolUse) (oh.ToolUse, error) {
	var in struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil || in.Name == "" || in.Name == CallTool {
		return call, errors.New(CallTool + ` takes {"name": the tool, "input": {its input}}`)
	}
	// Some models send the inner input as the text of its JSON.
	var text string
	if json.Unmarshal(in.Input, &text) == nil {
		in.Input = json.RawMessage(text)
	}
	if in.Input = bytes.TrimSpace(in.Input); len(in.Input) == 0 || string(in.Input) == "null" {
		in.Input = json.RawMessage("{}")
	}
	if in.Input[0] != '{' || !json.Valid(in.Input) {
		return call, fmt.Errorf("the input for %s is not a JSON object", in.Name)
	}
	call.Name, call.Input = in.Name, oh.Compact(in.Input)
	return call, nil
}

// prepare lets the tool decode the call's input as it is now. A tool that does
// not come back is left behind when the run is cancelled.
func (r *run) prepare(j *job) (*refused, error) {
	type prepared struct {
		act oh.Action
		ref *refused
		err error
	}
	call := &oh.Call{ID: j.call.ID, Name: j.call.Name, Input: j.call.Input, Env: r.env()}
	done := make(chan prepared, 1)
	go func() {
		var p prepared
		defer func() {
			if x := recover(); x != nil {
				p.ref = refuse(oh.CausePanic, panicText(call.Name, x))
			}
			done <- p
		}()
		p.act, p.err = j.tool.Prepare(r.ctx, call)
	}()
	var p prepared
	select {
	case p = <-done:
	case <-r.ctx.Done():
		return nil, r.ctx.Err()
	}
	if p.ref != nil {
		return p.ref, nil
	}
	j.act = p.act
	err := p.err
	switch {
	case oh.IsFatal(err) || err != nil && r.ctx.Err() != nil:
		return nil, err
	case err != nil:
		return refuse(oh.CauseInvalid, err.Error()), nil
	case j.act.Run == nil:
		return refuse(oh.CauseInvalid, "the tool "+j.call.Name+" prepared nothing to run"), nil
	}
	return nil, nil
}

func (r *run) env() *oh.Env {
	st := r.conv.State()
	return &oh.Env{
		Dir:       st.Dir,
		Mode:      st.Mode,
		Before:    st.Before,
		Reads:     r.conv,
		Asker:     r.cfg.Asker,
		Artifacts: r.cfg.Artifacts,
		Limits:    r.cfg.Limits,
		Notify:    r.conv.Enqueue,
		Session:   st.Session,
		Agent:     r.cfg.Agent,
		Depth:     r.cfg.Depth,
	}
}

// admit asks the gate, and a person where the gate says so. A nil refused lets
// the call run; the error ends the run.
func (r *run) admit(j *job) (*refused, error) {
	v := r.check(j)
	if v.Decision != oh.Ask {
		return r.decide(j, v, oh.ByGate, "")
	}
	v, by, input, stop, err := r.askPerson(j, v)
	if err != nil {
		return nil, err
	}
	if v.Decision == oh.Allow && len(input) > 0 {
		// A rewritten input is judged once more: a deny stands, an ask counts as
		// answered.
		j.call.Input, j.edited = oh.Compact(input), true
		if ref, err := r.prepare(j); ref != nil || err != nil {
			return ref, err
		}
		if again := r.check(j); again.Decision == oh.Deny {
			v, by = again, oh.ByGate
		}
	}
	return r.decide(j, v, by, stop)
}

func (r *run) check(j *job) oh.Verdict {
	st := r.conv.State()
	req := oh.GateRequest{ID: j.call.ID, Tool: j.call.Name, Input: j.call.Input, Access: j.act.Access,
		Mode: st.Mode, Dir: st.Dir, Hook: j.hook, Agent: r.cfg.Agent, Depth: r.cfg.Depth}
	if r.cfg.Gate != nil {
		return r.cfg.Gate.Check(r.ctx, req)
	}
	if j.act.Access.ReadOnly {
		return oh.Verdict{Decision: oh.Allow, Reason: "it only reads"}
	}
	return oh.Verdict{Reason: "no gate is configured, so only reads run"}
}

// decide records a decision. halt, when set, ends the run after the refusal.
func (r *run) decide(j *job, v oh.Verdict, by oh.Decider, halt string) (*refused, error) {
	ev := oh.Decided{ID: j.call.ID, Tool: j.call.Name, Decision: v.Decision, By: by, Reason: v.Reason, Rule: v.Rule}
	if v.Decision == oh.Allow && j.edited {
		ev.Input = j.call.Input
	}
	if err := r.record(ev); err != nil {
		return nil, err
	}
	if v.Decision == oh.Allow {
		return nil, nil
	}
	j.halted = halt
	if _, err := r.fire(oh.HookInput{Event: oh.HookPermissionDenied, ID: j.call.ID, Tool: j.call.Name,
		Input: j.call.Input, Message: v.Reason}); err != nil {
		return nil, err
	}
	text := wordDenied
	if by == oh.ByNobody {
		text = wordNobody
	}
	return refuse(oh.CauseDenied, fill(text, "reason", strings.TrimSuffix(orElse(v.Reason, "not allowed"), "."))), nil
}

// askPerson turns an ask into an answer.
func (r *run) askPerson(j *job, v oh.Verdict) (_ oh.Verdict, by oh.Decider, input []byte, stop string, err error) {
	refuse := func(reason string, by oh.Decider) (oh.Verdict, oh.Decider, []byte, string, error) {
		return oh.Verdict{Decision: oh.Deny, Reason: reason, Rule: v.Rule}, by, nil, "", nil
	}
	res, err := r.fire(oh.HookInput{Event: oh.HookPermission, ID: j.call.ID, Tool: j.call.Name, Input: j.call.Input, Message: v.Reason})
	if err != nil {
		return v, "", nil, "", err
	}
	if d := res.Decision; d != nil && *d != oh.Ask {
		v.Decision, v.Reason = *d, orElse(res.Reason, v.Reason)
		return v, oh.ByHook, res.Input, "", nil
	}
	if r.cfg.Asker == nil {
		return refuse(v.Reason, oh.ByNobody)
	}
	if _, err := r.fire(oh.HookInput{Event: oh.HookNotification, Source: "permission_prompt", ID: j.call.ID,
		Tool: j.call.Name, Message: v.Reason}); err != nil {
		return v, "", nil, "", err
	}
	q := oh.Question{ID: j.call.ID, Kind: oh.AskPermission, Tool: j.call.Name, Input: j.call.Input,
		Access: j.act.Access, Preview: oh.DisplayBox{Display: j.act.Preview}, Reason: v.Reason, Rule: v.Rule,
		Suggest: v.Suggest, Guarded: v.Guarded, Agent: r.cfg.Agent}
	r.emit(oh.Asked{Question: q})
	ans, err := r.cfg.Asker.Ask(r.ctx, q)
	switch {
	case r.ctx.Err() != nil:
		return v, "", nil, "", r.ctx.Err()
	case errors.Is(err, oh.ErrNobody):
		return refuse(v.Reason, oh.ByNobody)
	case err != nil:
		if oh.IsFatal(err) {
			return v, "", nil, "", err
		}
		return refuse(fmt.Sprintf("asking failed: %v", err), oh.ByNobody)
	case ans.Allow:
		v.Decision = oh.Allow
		v.Reason += granted(q, ans)
		return v, oh.ByPerson, ans.Input, "", nil
	}
	reason := "the user said no"
	if ans.Text != "" {
		reason += ": " + ans.Text
	}
	if ans.Stop {
		stop = "The user stopped the run."
	}
	return oh.Verdict{Decision: oh.Deny, Reason: reason, Rule: v.Rule}, oh.ByPerson, nil, stop, nil
}

// granted tells, for the record, what a person allowed beyond the one call.
func granted(q oh.Question, ans oh.Answer) string {
	rule := orElse(ans.Rule, q.Suggest)
	if q.Guarded || rule == "" || ans.Scope == "" || ans.Scope == oh.Once {
		return ""
	}
	return fmt.Sprintf("; from now on (%s) the rule %s allows it", ans.Scope, strings.ReplaceAll(rule, "\n", ", "))
}

// panicText says what panicked, for the model. The stack is not for it.
func panicText(tool string, p any) string {
	return fmt.Sprintf("The tool %s failed with an internal error: %v", tool, p)
}

// runAction runs a prepared call and turns every way to fail into a result.
// The error ends the run. It is called from the call's own goroutine.
func runAction(ctx context.Context, j *job, emit func(oh.Event)) (res oh.Result, cause oh.Cause, err error) {
	defer func() {
		if p := recover(); p != nil {
			emit(oh.Notice{Level: oh.Failure, Text: fmt.Sprintf("tool %s panicked: %v\n%s", j.call.Name, p, debug.Stack())})
			res, cause, err = oh.ErrorResult(panicText(j.call.Name, p)), oh.CausePanic, nil
		}
	}()
	res, err = j.act.Run(ctx, emit)
	switch {
	case oh.IsFatal(err):
		return oh.ErrorResult(err.Error()), "", err
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return oh.ErrorResult(oh.InterruptedText), oh.CauseInterrupted, nil
	case err != nil:
		// What the tool had to show is kept beside its error.
		res.IsError = true
		res.Content = append(res.Content[:len(res.Content):len(res.Content)], oh.Text{Text: err.Error()})
	}
	return res, "", nil
}
