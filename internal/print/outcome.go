package print

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/openharness/oh"
)

// Class says what kind of end a run had, as exit codes tell them apart.
type Class int

// The classes.
const (
	OK        Class = iota
	Other           // any failure that is none of the below
	Usage           // a mistake in the command line or the configuration
	Auth            // the key is missing or was refused
	API             // the model service failed
	Limit           // turns, budget, a loop, or a reply that stayed cut
	Refused         // complete, but a call was refused because nobody could be asked
	Cancelled       // a person or a signal stopped it
)

// Outcome is how a run ended.
type Outcome struct {
	IsError bool
	Class   Class
	Reason  oh.Reason
	Subtype string          // of the result frame
	Result  string          // the answer, or the error's text after a failure of the service
	Status  int             // HTTP status of a failed request, 0 when there was none
	Output  json.RawMessage // the answer as JSON, where a form was asked for
	Denials []Denial
	Closed  bool  // stdout has no reader
	Err     error // what ended the run, nil when nothing did

	// Terminated is for the caller to set: what cancelled the run was SIGTERM.
	Terminated bool
}

// ExitCode maps an outcome to the program's exit code:
//
//	0    the run is complete
//	1    another failure, or stdout was closed
//	2    usage or configuration
//	3    authentication
//	4    the model service failed
//	5    turn limit, budget, loop guard, cut replies
//	6    complete, but something was refused because nobody could be asked
//	     (0 when an SDK drives, which takes anything else for a crash)
//	130  SIGINT, 143 SIGTERM
func ExitCode(o Outcome, sdkDriven bool) int {
	if o.Closed {
		return 1
	}
	switch o.Class {
	case OK:
		return 0
	case Usage:
		return 2
	case Auth:
		return 3
	case API:
		return 4
	case Limit:
		return 5
	case Refused:
		if sdkDriven {
			return 0
		}
		return 6
	case Cancelled:
		if o.Terminated {
			return 143
		}
		return 130
	default:
		return 1
	}
}

// The subtypes of a result frame.
const (
	subSuccess  = "success"
	subExecute  = "error_during_execution"
	subMaxTurns = "error_max_turns"
	subBudget   = "error_max_budget_usd"
	subNoOutput = "error_max_structured_output_retries"
)

func (t *tally) outcome(runErr error) Outcome {
	o := Outcome{Reason: t.reason(runErr), Denials: t.denials, Err: runErr, Subtype: subExecute, Result: t.result()}
	o.Class = classOf(o.Reason, runErr)
	switch o.Reason {
	case oh.ReasonEnd:
		o.Subtype = subSuccess
		if t.done != nil && len(t.done.Output) > 0 {
			o.Output, o.Result = t.done.Output, string(t.done.Output)
		}
		if unasked(t.denials) > 0 {
			o.Class = Refused
		}
	case oh.ReasonMaxTurns:
		o.Subtype = subMaxTurns
	case oh.ReasonBudget:
		o.Subtype = subBudget
	case oh.ReasonNoOutput:
		o.Subtype = subNoOutput
	case oh.ReasonFailed:
		o.Result = ""
		if e, ok := errors.AsType[*oh.Error](runErr); ok {
			o.Subtype, o.Result, o.Status = subSuccess, runErr.Error(), e.Status
		}
	default: // an end that the frame has no name for
	}
	o.IsError = o.Class != OK && o.Class != Refused
	return o
}

// reason is that of the RunDone, unless there is none or an error came after a
// good end.
func (t *tally) reason(runErr error) oh.Reason {
	if t.done != nil && (runErr == nil || t.done.Reason != oh.ReasonEnd) {
		return t.done.Reason
	}
	switch {
	case runErr == nil:
		return oh.ReasonEnd
	case errors.Is(runErr, context.Canceled) || oh.KindOf(runErr) == oh.KindCancelled:
		return oh.ReasonCancelled
	}
	return oh.ReasonFailed
}

// result is the answer; without one, what slash commands printed.
func (t *tally) result() string {
	if t.answer == "" {
		return strings.TrimSuffix(t.command, "\n")
	}
	return t.answer
}

func classOf(r oh.Reason, err error) Class {
	switch r {
	case oh.ReasonEnd:
		return OK
	case oh.ReasonCancelled:
		return Cancelled
	case oh.ReasonMaxTurns, oh.ReasonBudget, oh.ReasonLoop, oh.ReasonMaxTokens:
		return Limit
	case oh.ReasonEmptyReply:
		return API
	case oh.ReasonFailed:
		return classOfError(err)
	default:
		return Other
	}
}

// classOfError knows the provider's errors, and any error that says by a method
// Usage that the person's input is at fault.
func classOfError(err error) Class {
	var mistake interface{ Usage() bool }
	if errors.As(err, &mistake) && mistake.Usage() {
		return Usage
	}
	e, ok := errors.AsType[*oh.Error](err)
	switch {
	case !ok:
		return Other
	case e.Kind == oh.KindAuth:
		return Auth
	case e.Kind == oh.KindCancelled:
		return Cancelled
	}
	return API
}

// unasked counts what was refused because nobody could be asked.
func unasked(denials []Denial) int {
	n := 0
	for _, d := range denials {
		if d.By == oh.ByNobody {
			n++
		}
	}
	return n
}
