package oh

import (
	"context"
	"encoding/json"
)

// HookEvent names a point where hooks run.
type HookEvent string

// The points. Each has its call site in the engine or in the runtime, whether
// or not any hook is configured.
const (
	HookSessionStart     HookEvent = "session_start"
	HookSessionEnd       HookEvent = "session_end"
	HookUserPrompt       HookEvent = "user_prompt_submit"
	HookPreTool          HookEvent = "pre_tool_use"
	HookPostTool         HookEvent = "post_tool_use"
	HookPostToolFailure  HookEvent = "post_tool_use_failure"
	HookPostToolBatch    HookEvent = "post_tool_batch"
	HookPermission       HookEvent = "permission_request"
	HookPermissionDenied HookEvent = "permission_denied"
	HookNotification     HookEvent = "notification"
	HookStop             HookEvent = "stop"
	HookStopFailure      HookEvent = "stop_failure"
	HookSubagentStart    HookEvent = "subagent_start"
	HookSubagentStop     HookEvent = "subagent_stop"
	HookPreCompact       HookEvent = "pre_compact"
	HookPostCompact      HookEvent = "post_compact"
	HookPreModelSwitch   HookEvent = "pre_model_switch"
	HookPostModelSwitch  HookEvent = "post_model_switch"
	HookCwdChanged       HookEvent = "cwd_changed"
	HookInstructions     HookEvent = "instructions_loaded"
	HookPromptExpansion  HookEvent = "user_prompt_expansion"
)

// HookInput tells hooks what happened. Only the fields of the event are set.
type HookInput struct {
	Event      HookEvent
	Session    string
	Dir        string
	Mode       Mode
	Agent      string
	ID         string          // of the call
	Tool       string          // our name of the tool
	Input      json.RawMessage // of the call
	Output     Blocks          // of the call
	IsError    bool
	Cause      Cause
	Calls      []ToolDone // of a batch
	Prompt     string     // what the user sent
	Source     string     // startup, resume, clear, compact, fork; a trigger; a kind of notification
	Message    string     // a notification; an error; the last reply on stop
	StopActive bool       // a stop hook already made this run go on
	From, To   string     // of a switch
	Paths      []string
}

// HookResult is what the hooks of one event want, already merged: deny beats
// ask beats allow. The zero value wants nothing.
type HookResult struct {
	Block    bool // refuse the call, drop the prompt, or go on instead of stopping
	Halt     bool // end the run
	Reason   string
	Decision *Decision       // about the permission of a call
	Input    json.RawMessage // replaces the call's input
	Output   Blocks          // replaces the call's output
	Context  string          // added for the model
	Message  string          // shown to the person
}

// Hook runs the hooks of an event. An error is a failure of the hook
// machinery: it is shown as a warning and blocks nothing, unless marked by
// [Fatal].
type Hook interface {
	Fire(ctx context.Context, in HookInput) (HookResult, error)
}

// HookFunc is a function as a [Hook].
type HookFunc func(ctx context.Context, in HookInput) (HookResult, error)

// Fire implements [Hook].
func (f HookFunc) Fire(ctx context.Context, in HookInput) (HookResult, error) { return f(ctx, in) }

// Compactor shortens histories.
type Compactor interface {
	// Due reports whether the history should be shortened before the next
	// request. It is cheap: the engine asks before each one.
	Due(c *Conversation) bool

	// Compact returns the new history, or nil to leave it as it is. trigger is
	// auto, manual, or reactive when a request turned out too long; progress
	// reports phases and side usage. Its error is shown and does not end the
	// run.
	Compact(ctx context.Context, c *Conversation, trigger string, progress func(Event)) ([]Message, error)
}
