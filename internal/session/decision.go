package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// Decision is what was decided about one call of a session.
type Decision struct {
	Time     time.Time   `json:"time"`
	Call     string      `json:"call"`            // its id
	Agent    string      `json:"agent,omitempty"` // the call that started the sub-agent; "" in the main conversation
	Tool     string      `json:"tool"`
	What     string      `json:"what"` // the command, path, address or pattern; else the input
	Decision oh.Decision `json:"decision"`
	By       oh.Decider  `json:"by"`
	Rule     string      `json:"rule"` // as written, with where; "" when none decided
	Reason   string      `json:"reason"`
}

// Decisions lists what was decided in a session, oldest first; ref is what
// [Store.Find] takes. It returns what was left out of the session because it
// could not be read.
func (s Store) Decisions(ref string) ([]Decision, Skipped, error) {
	from, err := s.Find(ref)
	if err != nil {
		return nil, Skipped{}, err
	}
	r, err := openLog(from.Path)
	if err != nil {
		return nil, Skipped{}, fmt.Errorf("read session %s: %w", from.ID, err)
	}
	defer r.Close()
	var skipped Skipped
	d := decisions{calls: map[string]oh.ToolUse{}}
	for e, err := range Read(r, skipped.add) {
		if err != nil {
			return nil, skipped, fmt.Errorf("read session %s: %w", from.ID, err)
		}
		d.event(e.Time, "", e.Event)
	}
	return d.list, skipped, nil
}

type decisions struct {
	list  []Decision
	calls map[string]oh.ToolUse // by agent and id
}

func (d *decisions) event(at time.Time, agent string, ev oh.Event) {
	switch ev := ev.(type) {
	case oh.Sub:
		d.event(at, ev.Call, ev.Event)
	case oh.MessageDone:
		for _, use := range ev.Message.Content.ToolUses() {
			d.calls[agent+" "+use.ID] = use
		}
	case oh.Decided:
		input := ev.Input
		if len(input) == 0 {
			input = called(d.calls[agent+" "+ev.ID], ev.Tool)
		}
		d.list = append(d.list, Decision{Time: at, Call: ev.ID, Agent: agent, Tool: ev.Tool, What: text.Clean(what(input)),
			Decision: ev.Decision, By: ev.By, Rule: ev.Rule, Reason: ev.Reason})
	}
}

// called is the input of a tool that was called by itself or through another.
func called(use oh.ToolUse, tool string) json.RawMessage {
	var in struct {
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if use.Name == tool || json.Unmarshal(use.Input, &in) != nil || oh.LegalName(in.Name) != oh.LegalName(tool) {
		return use.Input
	}
	var quoted string // some models send it as the text of its JSON
	if json.Unmarshal(in.Input, &quoted) == nil {
		return json.RawMessage(quoted)
	}
	return in.Input
}

// what a call is about, for a person.
func what(input json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(input, &in) == nil {
		for _, key := range [...]string{"command", "path", "url", "pattern", "query"} {
			var s string
			if json.Unmarshal(in[key], &s) == nil && s != "" {
				return s
			}
		}
	}
	return string(bytes.TrimSpace(input))
}
