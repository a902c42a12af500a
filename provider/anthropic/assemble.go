package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/wire"
)

// assembler makes deltas and a message of the events of one reply. It does no
// I/O.
type assembler struct {
	wire.Deltas
	origin, model string
	slots         []*slot
	calls         int
	stop          string
	usage         usage
	size          wire.Size
	stopped       bool           // message_stop came
	shape         delta.Template // of the last delta, which belongs to shapeSlot
	shapeSlot     *slot
	shapeKind     string
}

// slot is one block in the making.
type slot struct {
	index  int
	kind   string
	what   string          // the member that grows it
	text   strings.Builder // or thinking
	seam   delta.Seam      // of the text, the thinking or the arguments
	opaque opaque
	raw    json.RawMessage // the block as it began
	id     string
	name   string
	input  json.RawMessage // given at the start
	args   argument.Builder
	told   bool
	call   int // counts the calls that were told
	closed bool
}

func newAssembler(origin, model string) *assembler {
	return &assembler{origin: origin, model: model}
}

// State implements [wire.Assembler].
func (a *assembler) State() wire.State {
	switch {
	case a.stopped && a.complete():
		return wire.Over
	case a.stopped:
		return wire.Broken
	case a.complete():
		return wire.Complete
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
	if s, ok := a.shape.Match(data); ok && a.shapeSlot != nil {
		a.add(a.shapeSlot, a.shapeKind, s)
		return nil
	}
	if string(name) == "ping" || len(data) == 0 || string(data) == "[DONE]" {
		return nil
	}
	var ev event
	if err := decode(data, &ev); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if ev.Type == "" {
		ev.Type = string(name)
	}
	switch ev.Type {
	case "message_start":
		if len(a.slots) > 0 {
			return errors.New("the reply began a second time")
		}
		if ev.Message != nil {
			a.begin(ev.Message)
		}
	case "content_block_start":
		return a.start(ev.Index, ev.ContentBlock)
	case "content_block_delta":
		ev.Delta.Type = ev.Delta.kind()
		return a.delta(&ev, data)
	case "content_block_stop":
		if s := a.slot(ev.Index); s != nil {
			a.close(s)
		}
	case "message_delta":
		a.end(ev.Delta.StopReason)
		a.usage.take(ev.Usage)
	case "message_stop":
		a.settle()
		a.stopped = true
	case "error":
		return &wire.Told{Raw: data}
	default:
		if len(ev.Error) > 0 && string(ev.Error) != "null" {
			return &wire.Told{Raw: data}
		}
	}
	return nil
}

// end takes the reason why the reply ended, after which no block goes on, also
// where a gateway did not close it. A call whose arguments are not complete stays
// open.
func (a *assembler) end(reason string) {
	if reason == "" {
		return
	}
	a.stop = reason
	for _, s := range a.slots {
		if s.kind != "tool_use" || s.args.Blank() || s.args.Whole() {
			a.close(s)
		}
	}
}

func (a *assembler) begin(m *head) {
	if m.Model != "" {
		a.model = m.Model
	}
	if m.StopReason != "" {
		a.stop = m.StopReason
	}
	a.usage.take(m.Usage)
}

// slot returns the newest block of an index.
func (a *assembler) slot(index int) *slot {
	for i := len(a.slots) - 1; i >= 0; i-- {
		if a.slots[i].index == index {
			return a.slots[i]
		}
	}
	return nil
}

func (a *assembler) start(index int, raw json.RawMessage) error {
	var b struct {
		Type      string          `json:"type"`
		Text      delta.Text      `json:"text"`
		Thinking  delta.Text      `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return fmt.Errorf("content block %d: %w", index, err)
	}
	if b.Type == "" {
		return fmt.Errorf("content block %d has no type", index)
	}
	// Some gateways number every block 0.
	if old := a.slot(index); old != nil && (!old.closed || old.id != "" && old.id == b.ID) {
		return fmt.Errorf("content block %d began a second time", index)
	}
	s := &slot{index: index, kind: b.Type, raw: raw, id: b.ID, name: b.Name, input: b.Input}
	a.slots = append(a.slots, s)
	a.size.AddBlock()
	a.size.Add(len(raw))
	a.shapeSlot = nil
	switch b.Type {
	case "text":
		a.add(s, "text", string(b.Text))
	case "thinking":
		s.opaque.Signature = b.Signature
		a.add(s, "thinking", string(b.Thinking))
	case "redacted_thinking":
		s.opaque.Redacted = b.Data
	case "tool_use":
		if s.name != "" {
			a.tell(s, "")
		}
	}
	return nil
}

// key names the member of a delta that grows a block.
func key(kind string) string {
	switch kind {
	case "text_delta":
		return "text"
	case "thinking_delta":
		return "thinking"
	case "input_json_delta":
		return "partial_json"
	}
	return ""
}

func (p *piece) value() string {
	switch p.Type {
	case "text_delta":
		return string(p.Text)
	case "thinking_delta":
		return string(p.Thinking)
	case "input_json_delta":
		return string(p.PartialJSON)
	}
	return ""
}

func (a *assembler) delta(ev *event, data []byte) error {
	s := a.slot(ev.Index)
	if s == nil {
		var err error
		if s, err = a.implied(ev); err != nil {
			return err
		}
	}
	k := key(ev.Delta.Type)
	if k == "" {
		if ev.Delta.Type == "signature_delta" && ev.Delta.Signature != "" {
			a.size.Add(len(ev.Delta.Signature))
			s.opaque.Signature = ev.Delta.Signature // it comes whole; the newest counts
		}
		return nil
	}
	a.add(s, k, ev.Delta.value())
	kind, index := ev.Delta.Type, ev.Index
	a.shape.Learn(data, k, func(data []byte) (string, bool) {
		var ev event
		err := json.Unmarshal(data, &ev)
		return ev.Delta.value(), err == nil && ev.Type == "content_block_delta" && ev.Index == index && ev.Delta.Type == kind
	})
	a.shapeSlot, a.shapeKind = s, k
	return nil
}

// implied begins a block that a gateway did not announce.
func (a *assembler) implied(ev *event) (*slot, error) {
	kind := ""
	switch ev.Delta.Type {
	case "text_delta":
		kind = "text"
	case "thinking_delta", "signature_delta":
		kind = "thinking"
	case "input_json_delta":
		return nil, fmt.Errorf("arguments for block %d, which has not begun", ev.Index)
	}
	s := &slot{index: ev.Index, kind: kind, closed: true}
	a.slots = append(a.slots, s)
	a.size.AddBlock()
	return s, nil
}

// add puts a piece into a block and makes its delta.
func (a *assembler) add(s *slot, what, piece string) {
	a.size.Add(len(piece))
	s.what = what
	a.put(s, s.seam.Join(piece))
}

// close ends a block; half a character that waited for the other is given up.
func (a *assembler) close(s *slot) {
	s.closed = true
	a.put(s, s.seam.Flush())
}

// settle ends the halves of all blocks.
func (a *assembler) settle() {
	for _, s := range a.slots {
		a.put(s, s.seam.Flush())
	}
}

func (a *assembler) put(s *slot, piece string) {
	if piece == "" {
		return
	}
	switch {
	case s.what == "text" && s.kind == "text":
		s.text.WriteString(piece)
		a.Add(oh.TextDelta{Text: piece})
	case s.what == "thinking" && s.kind == "thinking":
		s.text.WriteString(piece)
		a.Add(oh.ThinkingDelta{Text: piece})
	case s.what == "partial_json":
		s.args.Add(piece)
		if s.kind == "tool_use" {
			a.tell(s, piece)
		}
	}
}

// tell makes the delta of a call.
func (a *assembler) tell(s *slot, piece string) {
	if !s.told {
		s.told, s.call = true, a.calls
		a.calls++
	}
	a.Add(oh.ToolInputDelta{Index: s.call, ID: s.id, Name: s.name, JSON: piece})
}

// complete reports whether nothing of the reply is missing although
// message_stop did not come.
func (a *assembler) complete() bool {
	if a.stop == "" {
		return false // also with message_stop: nobody said why the reply ended
	}
	if a.stopped {
		return true
	}
	for _, s := range a.slots {
		if !s.closed {
			return false
		}
	}
	return true
}

// Whole implements [wire.Assembler].
func (a *assembler) Whole(raw []byte) error {
	var m struct {
		Type string `json:"type"`
		head
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("the service did not stream, and what it sent is no message: %w", err)
	}
	if m.Type == "error" || len(m.Error) > 0 && string(m.Error) != "null" {
		return &wire.Told{Raw: raw}
	}
	if m.Type != "message" || m.StopReason == "" {
		return errors.New("the service did not stream, and what it sent is no message")
	}
	a.begin(&m.head)
	for i, b := range m.Content {
		if err := a.start(i, b); err != nil {
			return err
		}
		if s := a.slots[i]; s.kind == "tool_use" && len(s.input) > 0 {
			a.tell(s, string(s.input))
		}
	}
	a.settle()
	a.stopped = true
	return a.size.Check()
}

// End implements [wire.Assembler].
func (a *assembler) End() { a.settle() }

// Message implements [wire.Assembler].
func (a *assembler) Message() oh.Message {
	a.settle()
	m := oh.Message{Role: oh.Assistant, Content: oh.Blocks{}, Model: a.model, Stop: oh.StopReason(a.stop), Usage: a.usage.counts()}
	for i, s := range a.slots {
		if b := a.block(s, m.Stop.Cut() && i == len(a.slots)-1); b != nil {
			m.Content = append(m.Content, b)
		}
	}
	calls := len(m.Content.ToolUses()) > 0
	switch {
	case calls && (m.Stop == "" || m.Stop == oh.StopEnd):
		m.Stop = oh.StopToolUse
	case !calls && (m.Stop == "" || m.Stop == oh.StopToolUse):
		m.Stop = oh.StopEnd
	}
	return m
}

func (a *assembler) block(s *slot, cut bool) oh.Block {
	switch s.kind {
	case "text":
		if s.text.Len() == 0 {
			return nil
		}
		return oh.Text{Text: s.text.String()}
	case "thinking", "redacted_thinking":
		if s.text.Len() == 0 && s.opaque == (opaque{}) {
			return nil
		}
		return oh.Thinking{Text: s.text.String(), Opaque: a.sealed(s)}
	case "tool_use":
		raw := s.args.String()
		if s.args.Blank() && len(s.input) > 0 && (!cut || string(oh.Compact(s.input)) != "{}") {
			raw = string(s.input)
		}
		if s.name == "" && (raw == "" || raw == "{}") {
			return nil // a call that says nothing
		}
		return argument.Use(s.id, s.name, raw, cut)
	case "":
		return nil
	}
	return oh.Unknown{Type: s.kind, Raw: s.foreign()}
}

func (a *assembler) sealed(s *slot) *oh.Opaque {
	if s.opaque == (opaque{}) {
		return nil
	}
	data, err := oh.Marshal(s.opaque)
	if err != nil {
		return nil
	}
	return &oh.Opaque{Origin: a.origin, Data: data}
}

// foreign is a block of a kind that is not known here, with the arguments that
// came for it.
func (s *slot) foreign() json.RawMessage {
	raw := s.raw
	var m map[string]json.RawMessage
	if s.args.Whole() && json.Unmarshal(s.raw, &m) == nil {
		m["input"] = json.RawMessage(s.args.String())
		if full, err := oh.Marshal(m); err == nil {
			raw = full
		}
	}
	return body.AppendRaw(nil, oh.Compact(raw), "null")
}
