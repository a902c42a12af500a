// Package plan holds the tools by which a model enters plan mode, in which it
// may only read, and leaves it with a plan that a person approves.
//
// The mode belongs to the conversation: no setting is written. Entering can
// only narrow what is allowed. Leaving needs a person's word, and gives back the
// mode that was before, never another one.
package plan

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

//go:embed enter.md
var enterDoc string

//go:embed exit.md
var exitDoc string

//go:embed entered.md
var entered string

//go:embed nobody.md
var nobody string

const (
	enterName = "enter_plan_mode"
	exitName  = "exit_plan_mode"

	mostPlan = 60_000 // code points
	mostNote = 16_000 // code points of a person's words that the model sees
)

type exitInput struct {
	Plan string `json:"plan"`
}

// Tools returns enter_plan_mode and exit_plan_mode.
func Tools() []oh.Tool {
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[struct{}]{Name: enterName, Doc: enterDoc, SelfLimited: true, Prepare: enter}),
		oh.NewTool(oh.ToolDef[exitInput]{Name: exitName, Doc: exitDoc, SelfLimited: true, Prepare: exit}),
	}
}

func enter(_ context.Context, call *oh.Call, _ struct{}) (oh.Action, error) {
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run: func(_ context.Context, emit func(oh.Event)) (oh.Result, error) {
			if call.Env.Mode == oh.ModePlan {
				return oh.TextResult("Plan mode is on already."), nil
			}
			emit(oh.StateChanged{Mode: oh.ModePlan})
			return oh.TextResult(strings.TrimSpace(entered)), nil
		},
	}, nil
}

func exit(_ context.Context, call *oh.Call, in exitInput) (oh.Action, error) {
	plan := strings.TrimSpace(text.Clean(in.Plan))
	switch n := utf8.RuneCountInString(plan); {
	case call.Env.Mode != oh.ModePlan:
		return oh.Action{}, fmt.Errorf("plan mode is not on, so there is nothing to leave: carry on, or call %s first", enterName)
	case plan == "":
		return oh.Action{}, errors.New("plan is empty: write down what you will do, for the user to approve")
	case n > mostPlan:
		return oh.Action{}, fmt.Errorf("plan has %s characters, and at most %s are allowed: shorten it", text.Number(n), text.Number(mostPlan))
	}
	return oh.Action{
		Access: oh.Access{ReadOnly: true},
		Run: func(ctx context.Context, emit func(oh.Event)) (oh.Result, error) {
			if call.Env.Asker == nil {
				return alone(), nil
			}
			answer, err := call.Env.Asker.Ask(ctx, oh.Question{
				ID: call.ID, Kind: oh.AskPlan, Tool: exitName, Agent: call.Env.Agent, Text: plan,
			})
			switch {
			case errors.Is(err, oh.ErrNobody):
				return alone(), nil
			case err != nil:
				return oh.Result{}, fmt.Errorf("ask the user about the plan: %w", err)
			case ctx.Err() != nil:
				return oh.Result{}, ctx.Err()
			case !answer.Allow:
				return refused(answer), nil
			}
			mode := back(call.Env.Before)
			emit(oh.StateChanged{Mode: mode})
			return approved(plan, mode, answer), nil
		},
	}, nil
}

// back is the mode that follows plan mode. Where nothing was before, the
// conversation began in it.
func back(before oh.Mode) oh.Mode {
	if before.Width() < 0 || before == oh.ModePlan {
		return oh.ModeDefault
	}
	return before
}

// meta is what the log keeps beside the text.
type meta struct {
	Approved bool    `json:"approved"`
	Mode     oh.Mode `json:"mode"` // after the call
	Nobody   bool    `json:"nobody,omitempty"`
}

func withMeta(res oh.Result, m meta) oh.Result {
	if raw, err := oh.Marshal(m); err == nil {
		res.Meta = raw
	}
	return res
}

func alone() oh.Result {
	return withMeta(oh.ErrorResult(strings.TrimSpace(nobody)), meta{Mode: oh.ModePlan, Nobody: true})
}

func refused(a oh.Answer) oh.Result {
	msg := "The user did not approve the plan; plan mode stays on."
	if note := noteOf(a); note != "" {
		msg += " The user said: " + note
	} else {
		msg += " No reason was given: ask what should be different."
	}
	return withMeta(oh.ErrorResult(msg), meta{Mode: oh.ModePlan})
}

func approved(plan string, mode oh.Mode, a oh.Answer) oh.Result {
	msg := "The user approved the plan, and plan mode has ended (the mode is " + string(mode) + " now). Carry the plan out."
	if note := noteOf(a); note != "" {
		msg += " The user added: " + note
	}
	res := withMeta(oh.TextResult(msg), meta{Approved: true, Mode: mode})
	res.Display = oh.Markdown{Text: plan}
	return res
}

func noteOf(a oh.Answer) string { return text.Cut(strings.TrimSpace(text.Clean(a.Text)), mostNote) }
