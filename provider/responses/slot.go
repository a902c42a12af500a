package responses

import (
	"encoding/json"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/delta"
)

// slot is one item in the making.
type slot struct {
	kind          string
	index         place
	id            string
	text          strings.Builder // of a message or reasoning
	start         int             // in text, where from began
	from          source          // of what grows
	begun         bool            // from is set
	seam          delta.Seam      // of the text or the arguments
	status, phase string
	announced     bool            // its beginning was told
	closed        bool            // its end was told
	raw           json.RawMessage // the item itself, of reasoning only as it ended

	call, name string // of a call: its id and its tool
	told       bool   // a delta went out
	n          int    // counts the calls that were told
	args       argument.Builder
	first      string // arguments that the beginning told
	whole      string // arguments as told whole
}

// source tells the texts of one item apart: what it is, and which part.
type source struct {
	what what
	part int
}

type what int

const (
	textOf what = iota
	refusalOf
	summaryOf
	thoughtOf
	argumentsOf
)

// form is what an event about a text means.
type form struct {
	what what
	kind string // of the item
	end  bool   // the text is told whole
}

// forms knows the events about texts.
func forms(event string) (f form, ok bool) {
	switch event {
	case "response.output_text.delta", "response.output_text.done", "response.content_part.done":
		f = form{what: textOf, kind: kindMessage}
	case "response.refusal.delta", "response.refusal.done":
		f = form{what: refusalOf, kind: kindMessage}
	case "response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "response.reasoning_summary_part.done",
		"response.reasoning_summary.delta", "response.reasoning_summary.done":
		f = form{what: summaryOf, kind: kindReasoning}
	case "response.reasoning_text.delta", "response.reasoning_text.done", "response.reasoning.delta", "response.reasoning.done":
		f = form{what: thoughtOf, kind: kindReasoning}
	case "response.function_call_arguments.delta", "response.function_call_arguments.done":
		f = form{what: argumentsOf, kind: kindCall}
	default:
		return f, false
	}
	f.end = strings.HasSuffix(event, ".done")
	return f, true
}

// text takes a piece of a text, or a text told whole.
func (a *assembler) text(ev *event, f form) {
	var part contentPart
	if len(ev.Part) > 0 && decode(ev.Part, &part) == nil {
		switch {
		case part.Type == "refusal":
			f.what = refusalOf
		case strings.HasPrefix(part.Type, "reasoning"):
			f.what, f.kind = thoughtOf, kindReasoning
		}
	}
	from := source{f.what, ev.Content.n}
	switch f.what {
	case summaryOf:
		from.part = ev.Summary.n
	case argumentsOf:
		from.part = 0
	}
	s := a.find(ev, f.kind)
	if s == nil {
		if s = a.open(f.kind, ev.Output, ev.ItemID); f.what == argumentsOf {
			a.announce(s)
		}
	}
	switch {
	case f.end && f.what == argumentsOf:
		if s.name == "" {
			s.name = ev.Name
		}
		a.argue(s, arguments(ev.Arguments))
	case f.end:
		a.tell(s, from, firstOf(string(ev.Text), string(ev.Refusal), string(part.Text), string(part.Refusal)))
	default:
		a.add(s, from, ev.piece())
		a.run = newRun(s, from, ev)
	}
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// open makes a slot for an item.
func (a *assembler) open(kind string, index place, id string) *slot {
	s := &slot{kind: kind, index: index, id: id}
	a.slots = append(a.slots, s)
	a.size.AddBlock()
	return s
}

// announce says that a call begins. One without a name may be none.
func (a *assembler) announce(s *slot) {
	if s.name != "" {
		a.argued(s, "")
	}
}

// argued makes the delta of a call.
func (a *assembler) argued(s *slot, piece string) {
	if !s.told {
		s.told, s.n = true, a.calls
		a.calls++
	}
	a.Add(oh.ToolInputDelta{Index: s.n, ID: s.callID(), Name: s.name, JSON: piece})
}

// callID is the id of a call; the item's own where a service gives no other.
func (s *slot) callID() string {
	if s.call == "" {
		return s.id
	}
	return s.call
}

// add takes a piece of a text.
func (a *assembler) add(s *slot, from source, piece string) {
	if piece == "" || !a.turn(s, from) {
		return
	}
	a.put(s, s.seam.Join(piece))
}

// turn makes from the text that grows. A reasoning item has one text to show:
// of one that tells its thoughts and a summary, what it tells first.
func (a *assembler) turn(s *slot, from source) bool {
	switch {
	case !s.begun:
		s.begun = true
	case s.from == from:
		return true
	case s.kind == kindReasoning && s.from.what != from.what:
		return false
	default:
		a.settle(s)
		a.put(s, between(s.text.Len(), s.from, from))
	}
	s.from, s.start = from, s.text.Len()
	if from.what == refusalOf {
		a.refused = true
	}
	return true
}

// between is what separates two texts of one item.
func between(written int, from, to source) string {
	if written == 0 || from.what == textOf && to.what == textOf || from.what == refusalOf && to.what == refusalOf {
		return ""
	}
	return "\n\n"
}

// tell takes a text told whole: what did not come in pieces.
func (a *assembler) tell(s *slot, from source, full string) {
	if full == "" || s.begun && s.from != from || !a.turn(s, from) {
		return
	}
	a.settle(s)
	a.rest(s, s.text.String()[s.start:], plain(full))
}

// rest adds what full has more than what came. Where the two differ, what was
// shown stays.
func (a *assembler) rest(s *slot, came, full string) {
	if strings.HasPrefix(full, came) {
		a.put(s, full[len(came):])
	}
}

// plain returns a text of a whole event without half characters.
func plain(s string) string {
	var seam delta.Seam
	return seam.Join(s) + seam.Flush()
}

// argue takes arguments told whole.
func (a *assembler) argue(s *slot, full string) {
	if strings.TrimSpace(full) == "" {
		return
	}
	a.settle(s)
	s.whole = plain(full)
	a.size.Add(len(full))
	a.rest(s, s.args.String(), s.whole)
}

// settle ends a text; half a character that waited for the other is given up.
func (a *assembler) settle(s *slot) { a.put(s, s.seam.Flush()) }

func (a *assembler) settleAll() {
	for _, s := range a.slots {
		a.settle(s)
	}
}

// put writes into an item and makes the delta.
func (a *assembler) put(s *slot, piece string) {
	if piece == "" {
		return
	}
	a.size.Add(len(piece))
	switch s.kind {
	case kindMessage:
		s.text.WriteString(piece)
		a.Add(oh.TextDelta{Text: piece})
	case kindReasoning:
		s.text.WriteString(piece)
		a.Add(oh.ThinkingDelta{Text: piece})
	case kindCall:
		s.args.Add(piece)
		a.argued(s, piece)
	}
}

// whole reports whether the reply can go back item by item, so that the items'
// ids mean something: a service that made them refuses one whose reasoning is
// missing.
func (a *assembler) whole() bool {
	for _, s := range a.slots {
		if s.kind == kindReasoning && !returns(s.raw) || foreign(s.kind) {
			return false
		}
	}
	return true
}

func foreign(kind string) bool {
	return kind != kindMessage && kind != kindReasoning && kind != kindCall
}

// block makes the block of an item, nil for one that says nothing.
func (a *assembler) block(s *slot, last, whole bool) oh.Block {
	switch s.kind {
	case kindMessage:
		if s.text.Len() == 0 {
			return nil
		}
		return oh.Text{Text: s.text.String(), Opaque: a.sealed(s, whole && legal(s.id, "msg"))}
	case kindReasoning:
		t := oh.Thinking{Text: s.text.String()}
		if returns(s.raw) {
			t.Opaque = &oh.Opaque{Origin: a.origin, Data: s.raw}
		}
		if t.Text == "" && t.Opaque == nil {
			return nil
		}
		return t
	case kindCall:
		return a.use(s, last, whole)
	case "text", "image", "document", "thinking", "tool_use", "tool_result":
		return nil // a name of ours, which this wire does not have
	}
	return oh.Unknown{Type: s.kind, Raw: body.AppendRaw(nil, oh.Compact(s.raw), "null")}
}

func (a *assembler) sealed(s *slot, id bool) *oh.Opaque {
	m := mark{Phase: s.phase}
	if id {
		m.ID = s.id
	}
	if m == (mark{}) {
		return nil
	}
	data, err := oh.Marshal(m)
	if err != nil {
		return nil
	}
	return &oh.Opaque{Origin: a.origin, Data: data}
}

func (a *assembler) use(s *slot, last, whole bool) oh.Block {
	raw := s.input()
	if s.name == "" && strings.TrimSpace(raw) == "" {
		return nil
	}
	unfinished := s.status == "incomplete" || s.status != "completed" && (last || !s.closed)
	u := argument.Use(s.callID(), s.name, raw, a.status == "incomplete" && unfinished)
	if whole && legal(s.id, "fc") && s.call != "" && u.Malformed == "" {
		u.Opaque = a.sealed(s, true)
	}
	return u
}

// input returns the arguments: as they were told whole if they came in pieces
// that do not fit together, and at the beginning if nowhere else.
func (s *slot) input() string {
	var told argument.Builder
	told.Add(s.whole)
	switch {
	case s.args.Blank() && told.Blank():
		return s.first
	case s.args.Blank(), told.Whole() && (!s.args.Whole() || string(oh.Compact([]byte(s.whole))) != "{}"):
		return s.whole
	}
	return s.args.String()
}
