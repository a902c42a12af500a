package oh

import (
	"encoding/json"
	"time"
)

// Event is one thing that happened in a run. The set is closed; see
// docs/events.md for the JSON form. Events are plain values.
//
// Events of record are in a conversation's log: [SessionStarted], [UserTurn],
// [MessageDone], [ToolDone], [Decided], [StateChanged], [SideUsage],
// [Compaction] (its last phase) and [Notice]. All others are for watchers only.
type Event interface {
	eventType() string
}

// Chunk is an event that a [Provider] may yield: [RateLimit], [TextDelta],
// [ThinkingDelta], [ToolInputDelta] and, once and last, [MessageDone].
type Chunk interface {
	Event
	chunk()
}

// TextDelta is a piece of the reply's text.
type TextDelta struct {
	Text string `json:"text"`
}

// ThinkingDelta is a piece of the model's reasoning.
type ThinkingDelta struct {
	Text string `json:"text"`
}

// ToolInputDelta is a piece of a call's arguments. Index counts the calls of
// the reply from 0; ID and Name may be empty until the service has told them.
type ToolInputDelta struct {
	Index int    `json:"index"`
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	JSON  string `json:"json"`
}

// MessageDone is a complete reply of the model with its usage.
type MessageDone struct {
	Message Message `json:"message"`
}

// Source says who put a [UserTurn] into the conversation.
type Source string

// The sources of user turns.
const (
	FromUser    Source = "user"    // the prompt of a run
	FromQueue   Source = "queue"   // taken from the queue between turns (steering, notices)
	FromHarness Source = "harness" // written by the engine, such as a request to go on
	FromHook    Source = "hook"
)

// RateLimit tells what is left of a service's limits, as its answer to a
// request said. It comes before the reply's first delta.
type RateLimit struct {
	Limits []Limit `json:"limits"`
}

// Limit is one of the limits of a service.
type Limit struct {
	Name      string    `json:"name"`            // what is limited: requests, tokens, input_tokens, ...
	Limit     int64     `json:"limit,omitempty"` // 0 when the service did not say
	Remaining int64     `json:"remaining"`
	Reset     time.Time `json:"reset,omitzero"` // when it is whole again
}

// UserTurn is a user message that entered the conversation.
type UserTurn struct {
	Message Message `json:"message"`
	Source  Source  `json:"source"`
}

// Retrying says that an attempt failed and another follows. Attempt counts the
// coming attempt from 2, Of is the most there will be. Discard says that text
// already shown for this reply is void.
type Retrying struct {
	Attempt int           `json:"attempt"`
	Of      int           `json:"of"`
	After   time.Duration `json:"after_ns"`
	Kind    Kind          `json:"kind"`
	Status  int           `json:"status,omitempty"` // HTTP status, 0 when there was none
	Reason  string        `json:"reason"`
	Discard bool          `json:"discard,omitempty"`
}

// ToolStarted says that a call passed the gate and runs. Input is the input
// that runs (a hook or a person may have rewritten it).
type ToolStarted struct {
	ID      string          `json:"id"`
	Tool    string          `json:"tool"`
	Input   json.RawMessage `json:"input"`
	Preview DisplayBox      `json:"preview,omitzero"`
}

// ToolOutput is live output of a running tool, for people only. Pieces may be
// merged.
type ToolOutput struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// ToolDone is the result of a call. A call that was refused before it began
// has a ToolDone without a ToolStarted. A second ToolDone for a call (a hook
// changed the output) replaces the first.
type ToolDone struct {
	ID       string          `json:"id"`
	Tool     string          `json:"tool"`
	Content  Blocks          `json:"content"`
	IsError  bool            `json:"is_error,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	Display  DisplayBox      `json:"display,omitzero"`
	Duration time.Duration   `json:"duration_ns,omitempty"`
	Cause    Cause           `json:"cause,omitempty"`
}

// Cause says why a result is not the tool's own.
type Cause string

// The causes. The empty cause is a tool that ran.
const (
	CauseUnknownTool Cause = "unknown_tool"
	CauseInvalid     Cause = "invalid_input"
	CauseDenied      Cause = "denied"      // by the gate, a person or a hook
	CauseInterrupted Cause = "interrupted" // cancelled, crashed or never run
	CausePanic       Cause = "panic"
)

// Asked says that a person is being asked; the answer follows as [Decided]
// where it is about a call.
type Asked struct {
	Question Question `json:"question"`
}

// Decided is what was decided about a call and by whom. Input is set when it
// differs from what the model sent.
type Decided struct {
	ID       string          `json:"id"`
	Tool     string          `json:"tool"`
	Decision Decision        `json:"decision"`
	By       Decider         `json:"by"`
	Reason   string          `json:"reason,omitempty"`
	Rule     string          `json:"rule,omitempty"`
	Input    json.RawMessage `json:"input,omitempty"`
}

// Decider says who decided.
type Decider string

// The deciders.
const (
	ByGate   Decider = "gate"
	ByPerson Decider = "person"
	ByHook   Decider = "hook"
	ByNobody Decider = "nobody" // somebody should have been asked, and nobody was there
)

// Status is a passing line for people, such as what a run waits for.
type Status struct {
	Text string `json:"text"`
}

// Notice is a line for people that stays in the record.
type Notice struct {
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// Level grades a notice.
type Level string

// The levels.
const (
	Info    Level = "info"
	Warning Level = "warning"
	Failure Level = "error"
)

// SideUsage counts a request outside the conversation proper: a title, a
// compaction, a hook, a sub-agent, an image that was described, a reply that was
// empty or broke off.
type SideUsage struct {
	For     string  `json:"for"`
	Profile string  `json:"profile,omitempty"`
	Model   string  `json:"model"`
	Usage   Usage   `json:"usage"`
	Cost    float64 `json:"cost_usd,omitempty"`
}

// Compaction reports progress of shortening the history. In the record it has
// phase "done" and History, the messages that replace all earlier ones.
type Compaction struct {
	Phase   string    `json:"phase"`
	Trigger string    `json:"trigger"` // auto, manual, reactive
	Text    string    `json:"text,omitempty"`
	History []Message `json:"history,omitempty"`
}

// CompactionDone is the phase of a [Compaction] that replaces the history.
const CompactionDone = "done"

// ErrorEvent is a failure that does not end the run.
type ErrorEvent struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
}

// Sub is an event of a sub-agent, under the call that started it.
type Sub struct {
	Call  string
	Event Event
}

// Reason says how a run ended.
type Reason string

// The reasons.
const (
	ReasonEnd        Reason = "end"
	ReasonMaxTurns   Reason = "max_turns"
	ReasonCancelled  Reason = "cancelled"
	ReasonFailed     Reason = "failed"      // the error follows the event
	ReasonLoop       Reason = "loop_guard"  // the same failing call again and again
	ReasonMaxTokens  Reason = "max_tokens"  // cut replies to the end
	ReasonEmptyReply Reason = "empty_reply" // twice nothing
	ReasonRefusal    Reason = "refusal"     // the model declined
	ReasonBlocked    Reason = "blocked"     // a hook dropped the prompt or stopped the run
	ReasonBudget     Reason = "budget"
	ReasonNoOutput   Reason = "no_structured_output" // the model did not give the answer the form that was asked for
)

// RunDone is the last event of every run. Usage is the sum over the run, side
// requests and attempts that came to nothing included, Turns the number of
// requests answered, Text a sentence for people when the reason is not end.
// Output is the answer as JSON, where one of a certain form was asked for.
type RunDone struct {
	Reason   Reason          `json:"reason"`
	Text     string          `json:"text,omitempty"`
	Output   json.RawMessage `json:"structured_output,omitempty"`
	Usage    Usage           `json:"usage"`
	Turns    int             `json:"turns"`
	Duration time.Duration   `json:"duration_ns"`
	API      time.Duration   `json:"api_duration_ns"` // of it, spent waiting for the model
}

// SessionStarted is the first entry of a log. Parent and ParentMessage are set
// on a fork.
type SessionStarted struct {
	Session       string `json:"session"`
	Version       string `json:"version"` // of the harness
	Dir           string `json:"dir"`
	Root          string `json:"root,omitempty"`
	Parent        string `json:"parent,omitempty"`
	ParentMessage string `json:"parent_message,omitempty"`
}

// StateChanged changes the conversation's state. Only the fields that are set
// (not zero) change anything; Todos replaces the list when not nil; Read adds
// content hashes of files that the model has seen, by absolute path; Images adds
// what images show, in words, by the SHA-256 of their data in hex. A change to
// plan mode remembers the mode that was; Before names another one, for a
// conversation that begins where a different one was.
type StateChanged struct {
	Mode    Mode              `json:"mode,omitempty"`
	Before  Mode              `json:"before,omitempty"`
	Profile string            `json:"profile,omitempty"`
	Model   string            `json:"model,omitempty"`
	Effort  string            `json:"effort,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	Title   string            `json:"title,omitempty"`
	System  string            `json:"system,omitempty"`
	Todos   *[]Todo           `json:"todos,omitempty"`
	Read    map[string]string `json:"read,omitempty"`
	Images  map[string]string `json:"images,omitempty"`
}

// IsZero reports whether nothing is changed.
func (s StateChanged) IsZero() bool {
	return s.Mode == "" && s.Before == "" && s.Profile == "" && s.Model == "" && s.Effort == "" && s.Dir == "" && s.Title == "" &&
		s.System == "" && s.Todos == nil && len(s.Read) == 0 && len(s.Images) == 0
}

// CommandOutput is what a slash command printed.
type CommandOutput struct {
	Command string `json:"command"` // without the slash
	Text    string `json:"text"`
}

// UnknownEvent is an event of a type this version does not know. It survives a
// round trip byte for byte.
type UnknownEvent struct {
	Type string
	Raw  json.RawMessage
}

// Entry is an event of record as a [Log] stores it.
type Entry struct {
	ID    string
	Time  time.Time
	Event Event
}

// Envelope is an event as watchers see it: numbered from 1 within the process,
// with its time and session. It is stamped once, by the runtime.
type Envelope struct {
	Seq     uint64
	Time    time.Time
	Session string
	Event   Event
}

func (TextDelta) eventType() string      { return "text_delta" }
func (ThinkingDelta) eventType() string  { return "thinking_delta" }
func (ToolInputDelta) eventType() string { return "tool_input_delta" }
func (MessageDone) eventType() string    { return "message_done" }
func (RateLimit) eventType() string      { return "rate_limit" }
func (UserTurn) eventType() string       { return "user_turn" }
func (Retrying) eventType() string       { return "retrying" }
func (ToolStarted) eventType() string    { return "tool_started" }
func (ToolOutput) eventType() string     { return "tool_output" }
func (ToolDone) eventType() string       { return "tool_done" }
func (Asked) eventType() string          { return "asked" }
func (Decided) eventType() string        { return "decided" }
func (Status) eventType() string         { return "status" }
func (Notice) eventType() string         { return "notice" }
func (SideUsage) eventType() string      { return "side_usage" }
func (Compaction) eventType() string     { return "compaction" }
func (ErrorEvent) eventType() string     { return "error" }
func (Sub) eventType() string            { return "sub" }
func (RunDone) eventType() string        { return "run_done" }
func (SessionStarted) eventType() string { return "session_started" }
func (StateChanged) eventType() string   { return "state_changed" }
func (CommandOutput) eventType() string  { return "command_output" }
func (u UnknownEvent) eventType() string { return u.Type }

func (RateLimit) chunk()      {}
func (TextDelta) chunk()      {}
func (ThinkingDelta) chunk()  {}
func (ToolInputDelta) chunk() {}
func (MessageDone) chunk()    {}
