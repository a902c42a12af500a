package engine

import (
	"encoding/json"
	"fmt"

	"github.com/openharness/oh"
)

func (a *Answer) withDefaults() *Answer {
	if a == nil {
		return nil
	}
	c := *a
	if c.Reminds <= 0 {
		c.Reminds = 2
	}
	if c.Retries <= 0 {
		c.Retries = 3
	}
	return &c
}

// output is how far a run is with an answer of a certain form.
type output struct {
	value   json.RawMessage // nil until there is one
	failed  int             // calls that did not fit
	reminds int
	problem string // of the last call that did not fit
}

// noteOutput looks for the answer among the results.
func (r *run) noteOutput(done oh.ToolDone) {
	a := r.cfg.Answer
	if a == nil || done.Tool != a.Tool || r.output.value != nil {
		return
	}
	var meta struct {
		Output json.RawMessage `json:"structured_output"`
	}
	if done.IsError || json.Unmarshal(done.Meta, &meta) != nil || len(meta.Output) == 0 {
		r.output.failed++
		r.output.problem = done.Content.Text()
		return
	}
	r.output.value = meta.Output
}

// answered ends a run after calls among which was the answer, or too many
// attempts at one. e is what the calls came to.
func (r *run) answered(e end) end {
	a := r.cfg.Answer
	switch {
	case a == nil || e.reason != "":
		return e
	case r.output.value != nil:
		return r.settle()
	case r.output.failed > a.Retries:
		return end{reason: oh.ReasonNoOutput, text: fmt.Sprintf(
			"The answer did not have the form that was asked for, %d times. The last time: %s", r.output.failed, r.output.problem)}
	}
	return e
}

// remind asks a model for the answer that ended without one. again is false when
// there is nothing to ask for.
func (r *run) remind() (e end, again bool) {
	a := r.cfg.Answer
	if a == nil || r.output.value != nil {
		return end{}, false
	}
	if r.output.reminds++; r.output.reminds > a.Reminds {
		return end{reason: oh.ReasonNoOutput, text: fmt.Sprintf(
			"The model ended without an answer in the form that was asked for, and was asked %d times to give one.", a.Reminds)}, true
	}
	r.emit(oh.Status{Text: "The answer lacks the form that was asked for; asking for it."})
	return r.say(oh.FromHarness, oh.Blocks{oh.Text{Text: a.Remind, Context: true}}), true
}
