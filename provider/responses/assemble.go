package responses

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/loose"
	"github.com/openharness/oh/provider/internal/wire"
)

// assembler makes deltas and a message of the events of one reply. It does no
// I/O.
//
// An item may be told up to four times: in pieces, at the end of a part, at its
// own end, and with the whole reply. Services leave out some of these, so each
// is taken for what is still missing and nothing is taken twice.
type assembler struct {
	wire.Deltas
	origin, model string
	id            string // of the reply
	slots         []*slot
	calls         int
	refused       bool
	status        string // at the end: completed or incomplete
	reason        string // why it is incomplete
	usage         usage
	size          wire.Size
	limit         int  // of the reply in tokens, as it was asked for; 0 for none
	done          bool // [DONE] came
	run           run
}

func newAssembler(origin, model string) *assembler {
	return &assembler{origin: origin, model: model}
}

// State implements [wire.Assembler]. A reply is complete when the service told
// how it ended.
func (a *assembler) State() wire.State {
	switch {
	case a.status != "":
		return wire.Over
	case a.done:
		return wire.Broken
	}
	return wire.Open
}

// Feed implements [wire.Assembler].
func (a *assembler) Feed(name, data []byte) error {
	if err := a.event(name, data); err != nil {
		return err
	}
	return a.size.Check()
}

func (a *assembler) event(name, data []byte) error {
	if a.again(data) {
		return nil
	}
	switch string(name) {
	case "ping", "keepalive", "heartbeat":
		return nil
	}
	switch data = bytes.TrimSpace(data); string(data) {
	case "":
		return nil
	case "[DONE]":
		a.done = true
		return nil
	}
	var ev event
	if err := decode(data, &ev); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if ev.Type == "" {
		ev.Type = string(name)
	}
	a.run = run{}
	a.usage.take(ev.Usage)
	return a.take(&ev, data)
}

// again takes a delta of the same text as the last.
func (a *assembler) again(data []byte) bool {
	if a.run.slot == nil {
		return false
	}
	piece, ok := a.run.next(data)
	if ok {
		a.add(a.run.slot, a.run.from, piece)
	}
	return ok
}

func (a *assembler) take(ev *event, data []byte) error {
	switch ev.Type {
	case "error", "response.error":
		return tell(data)
	case "response.created":
		return a.begin(ev.Response)
	case "response.queued", "response.in_progress":
		a.note(ev.Response)
	case "response.output_item.added":
		a.added(ev)
	case "response.output_item.done":
		a.ended(ev)
	case "response.completed", "response.done":
		return a.end(ev.Response, "completed")
	case "response.incomplete":
		return a.end(ev.Response, "incomplete")
	case "response.failed":
		return a.end(ev.Response, "failed")
	case "response.cancelled", "response.canceled":
		return a.end(ev.Response, "cancelled")
	default:
		if form, ok := forms(ev.Type); ok {
			a.text(ev, form)
		} else if loose.Present(ev.Error) {
			return tell(data)
		}
	}
	return nil
}

// begin takes the first event. A proxy that asks its service again must not
// glue two replies.
func (a *assembler) begin(r *response) error {
	if len(a.slots) > 0 && (r == nil || r.ID == "" || r.ID != a.id) {
		return errors.New("the reply began a second time")
	}
	if r != nil {
		a.id = r.ID
	}
	a.note(r)
	return nil
}

func (a *assembler) note(r *response) {
	if r == nil {
		return
	}
	if r.Model != "" {
		a.model = r.Model
	}
	a.usage.take(r.Usage)
}

// end takes the last event, whose type means status. The status of the response
// says it if the two differ, but for a failure.
func (a *assembler) end(r *response, status string) error {
	if r == nil {
		r = &response{}
	}
	switch r.Status {
	case "incomplete", "failed", "cancelled":
		if status == "completed" {
			status = r.Status
		}
	}
	if status != "completed" && status != "incomplete" {
		return tell(failure(r, status))
	}
	a.note(r)
	a.settleAll()
	a.reconcile(r.Output)
	a.status, a.reason = status, r.Incomplete.Reason
	return nil
}

// Whole implements [wire.Assembler].
func (a *assembler) Whole(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if bytes.HasPrefix(raw, []byte("[")) && bytes.Contains(raw, []byte(`"error"`)) {
		return &wire.Told{Raw: raw} // a list with one error in it
	}
	var r response
	if err := decode(raw, &r); err != nil {
		return fmt.Errorf("the service did not stream, and what it sent is no response: %w", err)
	}
	switch {
	case r.Output == nil && r.Status == "" && (loose.Present(r.Error) || isFault(raw)):
		return &wire.Told{Raw: raw}
	case r.Output == nil && r.Status == "":
		return errors.New("the service did not stream, and what it sent is no response")
	case r.Status == "queued" || r.Status == "in_progress":
		return fmt.Errorf("the service did not stream, and its response is not finished but %s", r.Status)
	}
	if err := a.end(&r, "completed"); err != nil {
		return err
	}
	return a.size.Check()
}

// End implements [wire.Assembler].
func (a *assembler) End() { a.settleAll() }

// Message implements [wire.Assembler].
func (a *assembler) Message() oh.Message {
	a.settleAll()
	m := oh.Message{Role: oh.Assistant, Content: oh.Blocks{}, Model: a.model, Usage: a.usage.counts()}
	calls := false
	whole := a.whole()
	for i, s := range a.slots {
		if b := a.block(s, i == len(a.slots)-1, whole); b != nil {
			_, call := b.(oh.ToolUse)
			calls = calls || call
			m.Content = append(m.Content, b)
		}
	}
	m.Stop = a.stop(calls)
	return m
}

func (a *assembler) stop(calls bool) oh.StopReason {
	if a.status == "incomplete" {
		switch a.reason {
		case "", "max_output_tokens", "max_tokens", "length":
			return oh.StopMaxTokens
		case "content_filter":
			return oh.StopRefusal
		case "context_length_exceeded", "context_window_exceeded":
			return oh.StopTooLong
		}
		return oh.StopReason(a.reason)
	}
	switch {
	case a.limit > 0 && a.usage.counts().OutputTokens == a.limit:
		// llama.cpp calls a reply completed that was cut at the limit.
		return oh.StopMaxTokens
	case calls:
		return oh.StopToolUse
	case a.refused:
		return oh.StopRefusal
	}
	return oh.StopEnd
}
