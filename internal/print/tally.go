package print

import (
	"encoding/json"
	"math"
	"time"

	"github.com/openharness/oh"
)

// Denial is a call that was refused. Tool is our name; By is who refused.
// Parent is the call whose sub-agent asked for it, "" in the main conversation.
type Denial struct {
	ID, Parent string
	Tool       string
	Input      json.RawMessage
	By         oh.Decider
	Reason     string
}

// spent is what one model has used. cost is in US dollars.
type spent struct {
	usage oh.Usage
	cost  float64
}

type callKey struct{ parent, id string }

// tally collects what the end of a run needs to know.
type tally struct {
	o       *Options
	calls   map[callKey]oh.ToolUse // asked for and not finished
	refused map[callKey]bool
	denials []Denial

	answer  string // the last message; cut replies are joined
	goesOn  bool   // the next message continues the answer
	stop    oh.StopReason
	command string // output of slash commands
	done    *oh.RunDone

	profile, model string
	usage          oh.Usage // of the main conversation
	models         map[string]spent
	unpriced       bool
	prompt         int // tokens of the last request and its reply
	first, last    time.Time
}

func newTally(o *Options) *tally {
	return &tally{
		o: o, profile: o.Info.Profile, model: o.Info.Model,
		calls: map[callKey]oh.ToolUse{}, refused: map[callKey]bool{}, models: map[string]spent{},
	}
}

// next returns the tally of the following run.
func (t *tally) next() *tally {
	n := newTally(t.o)
	n.profile, n.model, n.prompt = t.profile, t.model, t.prompt
	return n
}

// add takes an event in. It returns the denial that the event brought, if any.
func (t *tally) add(env oh.Envelope) *Denial {
	if t.first.IsZero() {
		t.first = env.Time
	}
	t.last = env.Time
	return t.event("", env.Event)
}

func (t *tally) event(parent string, e oh.Event) *Denial {
	switch e := e.(type) {
	case oh.MessageDone:
		for _, u := range e.Message.Content.ToolUses() {
			t.calls[callKey{parent, u.ID}] = u
		}
		if parent == "" {
			t.message(e.Message)
		}
	case oh.Decided:
		if e.Decision == oh.Deny {
			return t.deny(parent, e)
		}
	case oh.ToolDone:
		return t.toolDone(parent, e)
	case oh.Sub:
		return t.event(e.Call, e.Event)
	}
	if parent == "" {
		t.mainEvent(e)
	}
	return nil
}

func (t *tally) mainEvent(e oh.Event) {
	switch e := e.(type) {
	case oh.UserTurn:
		if e.Source != oh.FromHarness {
			t.goesOn = false
		}
	case oh.SideUsage:
		t.side(e)
	case oh.StateChanged:
		if e.Profile != "" {
			t.profile = e.Profile
		}
		if e.Model != "" {
			t.model = e.Model
		}
	case oh.CommandOutput:
		t.command += lineEnd(e.Text)
	case oh.RunDone:
		t.done = &e
	}
}

func (t *tally) message(m oh.Message) {
	text := m.Content.Text()
	if t.goesOn {
		text = t.answer + text
	}
	t.answer, t.stop = text, m.Stop
	t.goesOn = (m.Stop.Cut() || m.Stop == oh.StopPause) && len(m.Content.ToolUses()) == 0
	t.usage = t.usage.Add(m.Usage)
	t.prompt = m.Usage.Prompt() + m.Usage.OutputTokens
	model := m.Model
	if model == "" {
		model = t.model
	}
	usd, known := t.o.Price(t.profile, model, m.Usage)
	t.spend(model, m.Usage, usd, known)
}

// side counts a request outside the conversation. A sub-agent's requests come
// this way too, so that the messages inside a Sub are not counted again.
func (t *tally) side(e oh.SideUsage) {
	usd, known := e.Cost, true
	if usd == 0 {
		profile := e.Profile
		if profile == "" {
			profile = t.profile
		}
		usd, known = t.o.Price(profile, e.Model, e.Usage)
	}
	t.spend(e.Model, e.Usage, usd, known)
}

func (t *tally) spend(model string, u oh.Usage, usd float64, known bool) {
	if u == (oh.Usage{}) && usd == 0 {
		return
	}
	if !known || math.IsNaN(usd) || math.IsInf(usd, 0) {
		t.unpriced, usd = true, 0
	}
	s := t.models[model]
	t.models[model] = spent{usage: s.usage.Add(u), cost: s.cost + usd}
}

func (t *tally) cost() float64 {
	sum := 0.0
	for _, s := range t.models {
		sum += s.cost
	}
	return sum
}

func (t *tally) deny(parent string, e oh.Decided) *Denial {
	key := callKey{parent, e.ID}
	if t.refused[key] {
		return nil
	}
	t.refused[key] = true
	use := t.calls[key]
	tool, input := innerCall(use.Name, use.Input)
	if len(e.Input) > 0 {
		input = e.Input
	}
	if e.Tool != "" {
		tool = e.Tool
	}
	t.denials = append(t.denials, Denial{ID: e.ID, Parent: parent, Tool: tool, Input: input, By: e.By, Reason: e.Reason})
	return &t.denials[len(t.denials)-1]
}

func (t *tally) toolDone(parent string, e oh.ToolDone) *Denial {
	key := callKey{parent, e.ID}
	var d *Denial
	if e.Cause == oh.CauseDenied {
		d = t.deny(parent, oh.Decided{ID: e.ID, Tool: e.Tool, By: oh.ByGate, Reason: e.Content.Text()})
	}
	delete(t.calls, key)
	return d
}

func lineEnd(s string) string {
	if s == "" || s[len(s)-1] == '\n' {
		return s
	}
	return s + "\n"
}
