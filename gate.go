package oh

import (
	"context"
	"encoding/json"
	"fmt"
)

// Mode is a permission mode. From narrow to wide: plan, dontAsk, default,
// acceptEdits, full_auto.
type Mode string

// The modes.
const (
	ModePlan        Mode = "plan"        // reads only
	ModeDontAsk     Mode = "dontAsk"     // as default, but what would ask is denied
	ModeDefault     Mode = "default"     // reads run, the rest asks
	ModeAcceptEdits Mode = "acceptEdits" // edits inside the workspace run too
	ModeFullAuto    Mode = "full_auto"   // everything runs but what is guarded or denied
)

// Modes lists the modes from narrow to wide.
var Modes = [...]Mode{ModePlan, ModeDontAsk, ModeDefault, ModeAcceptEdits, ModeFullAuto}

// ParseMode reads a mode by its name or an alias: manual is default, auto is
// acceptEdits, bypassPermissions is full_auto.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "manual":
		return ModeDefault, nil
	case "auto":
		return ModeAcceptEdits, nil
	case "bypassPermissions":
		return ModeFullAuto, nil
	}
	for _, m := range Modes {
		if s == string(m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("permission mode %q is not one of plan, dontAsk, default, acceptEdits, full_auto", s)
}

// Width orders modes: a wider mode has a larger number. An unknown mode is -1.
func (m Mode) Width() int {
	for i, x := range Modes {
		if m == x {
			return i
		}
	}
	return -1
}

// Decision is a verdict's answer. The zero value refuses.
type Decision int

// The decisions.
const (
	Deny Decision = iota
	Ask
	Allow
)

var decisionNames = [...]string{"deny", "ask", "allow"}

// String returns deny, ask or allow.
func (d Decision) String() string {
	if d < 0 || int(d) >= len(decisionNames) {
		return "deny"
	}
	return decisionNames[d]
}

// MarshalText implements [encoding.TextMarshaler].
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Decision) UnmarshalText(text []byte) error {
	for i, n := range decisionNames {
		if n == string(text) {
			*d = Decision(i)
			return nil
		}
	}
	return fmt.Errorf("unknown decision %q", text)
}

// GateRequest asks whether a prepared call may run. Hook is the decision of a
// pre-tool-use hook, or nil; a hook's allow never beats a deny or ask rule.
type GateRequest struct {
	ID     string
	Tool   string
	Input  json.RawMessage
	Access Access
	Mode   Mode
	Dir    string // the conversation's working directory
	Hook   *Decision
	Agent  string
	Depth  int
}

// Verdict is a gate's answer. The zero Verdict refuses.
type Verdict struct {
	Decision Decision
	Reason   string // for the model and the person: why
	Rule     string // the rule that decided, as written and with its file
	Guarded  bool   // needs a person each time: no rule may be saved
	Suggest  string // the rule that an "always" would save; "" when none fits
}

// Gate decides about every call of every tool, mode and caller. Check is fast
// and pure.
type Gate interface {
	Check(ctx context.Context, req GateRequest) Verdict
}

// GateFunc is a function as a [Gate].
type GateFunc func(ctx context.Context, req GateRequest) Verdict

// Check implements [Gate].
func (f GateFunc) Check(ctx context.Context, req GateRequest) Verdict { return f(ctx, req) }

// Asker is a person, or whoever stands for one. Ask waits for the answer and
// returns early when ctx ends. [ErrNobody] says that nobody can be asked.
type Asker interface {
	Ask(ctx context.Context, q Question) (Answer, error)
}

// AskerFunc is a function as an [Asker].
type AskerFunc func(ctx context.Context, q Question) (Answer, error)

// Ask implements [Asker].
func (f AskerFunc) Ask(ctx context.Context, q Question) (Answer, error) { return f(ctx, q) }

// QuestionKind says what a question is about.
type QuestionKind string

// The kinds of questions.
const (
	AskPermission QuestionKind = "permission" // may this call run?
	AskChoices    QuestionKind = "choices"    // the model asks the user
	AskPlan       QuestionKind = "plan"       // is this plan approved?
	AskTrust      QuestionKind = "trust"      // is this folder trusted?
)

// Question is put to an [Asker]. For permission, Tool, Input, Access, Preview
// and Verdict are set; for choices, Items.
type Question struct {
	ID      string          `json:"id"` // of the call
	Kind    QuestionKind    `json:"kind"`
	Tool    string          `json:"tool,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Access  Access          `json:"access,omitzero"`
	Preview DisplayBox      `json:"preview,omitzero"`
	Reason  string          `json:"reason,omitempty"`
	Rule    string          `json:"rule,omitempty"`
	Suggest string          `json:"suggest,omitempty"` // the rule that an "always" would save
	Guarded bool            `json:"guarded,omitempty"` // offer only once, no, no with a reason
	Agent   string          `json:"agent,omitempty"`   // who asks, "" for the main conversation
	Text    string          `json:"text,omitempty"`    // a plan, or what a folder brings
	Items   []Item          `json:"items,omitempty"`
}

// Item is one question of several with choices. No options means free text; a
// person may always answer in own words.
type Item struct {
	Question string   `json:"question"`
	Header   string   `json:"header,omitempty"`
	Options  []Option `json:"options,omitempty"`
	Multi    bool     `json:"multiSelect,omitempty"`
}

// Option is one choice of an [Item].
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
}

// Scope says how long a permission lasts.
type Scope string

// The scopes.
const (
	Once    Scope = "once"
	Session Scope = "session"
	Project Scope = "project"
)

// Answer is what a person said. Allow with a Scope for permission, plan and
// trust; Values holds one list of answers per [Item]. Text is a reason for the
// model when not allowed. Input, when set, replaces the call's input. Rule,
// when set, is the rule to save in place of the suggested one.
type Answer struct {
	Allow  bool            `json:"allow"`
	Scope  Scope           `json:"scope,omitempty"`
	Rule   string          `json:"rule,omitempty"`
	Text   string          `json:"text,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Values [][]string      `json:"values,omitempty"`
	Stop   bool            `json:"stop,omitempty"` // end the run as well
}
