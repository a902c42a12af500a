package bedrock

import (
	"bytes"
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
	metadata      bool // the last event came
	size          wire.Size
	shape         delta.Template // of the last delta, which belongs to shapeSlot
	shapeSlot     *slot
	buf           []byte
}

// The kinds of blocks. Any other is a block that is not known here.
const (
	textKind    = "text"
	thoughtKind = "reasoningContent"
	callKind    = "toolUse"
)

// malformed begins the reasons for the end of a reply that the service could
// not read.
const malformed = "malformed_"

// slot is one block in the making.
type slot struct {
	index  int
	kind   string
	text   strings.Builder // or thinking
	seam   delta.Seam      // of the text, the thinking or the arguments
	opaque opaque
	raw    json.RawMessage // of a block that is not known
	id     string
	name   string
	input  json.RawMessage // given whole
	args   argument.Builder
	told   bool
	call   int // counts the calls that were told
	closed bool
}

func newAssembler(origin, model string) *assembler {
	return &assembler{origin: origin, model: model}
}

// State implements [wire.Assembler]. Usage follows the reason for the end.
func (a *assembler) State() wire.State {
	switch {
	case a.stop == "":
		return wire.Open
	case a.metadata:
		return wire.Over
	}
	return wire.Complete
}

type event struct {
	Index      int                        `json:"contentBlockIndex"`
	Start      map[string]json.RawMessage `json:"start"`
	Delta      piece                      `json:"delta"`
	StopReason string                     `json:"stopReason"`
	Usage      *usage                     `json:"usage"`
}

// piece is what a block grows by: one member is set.
type piece struct {
	Text    *delta.Text `json:"text"`
	ToolUse *struct {
		Input arguments `json:"input"`
	} `json:"toolUse"`
	Reasoning *thought `json:"reasoningContent"`
}

// thought is reasoning as a delta has it, and as a whole block has it.
type thought struct {
	Text      delta.Text `json:"text"`
	Signature delta.Text `json:"signature"`
	Redacted  string     `json:"redactedContent"`
	Whole     *struct {
		Text      delta.Text `json:"text"`
		Signature delta.Text `json:"signature"`
	} `json:"reasoningText"`
}

// arguments is a piece of a call's arguments: text, or from some gateways the
// object itself.
type arguments string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(raw []byte) error {
	if s, ok := delta.Piece(raw); ok {
		*a = arguments(s)
	} else if string(raw) != "null" {
		*a = arguments(raw)
	}
	return nil
}

// Feed implements [wire.Assembler]. name is the type of the event; without one
// the event is the one member of data.
func (a *assembler) Feed(name, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	kind := string(name)
	if kind == "" {
		if string(data) == "[DONE]" {
			return nil
		}
		var err error
		if kind, data, err = unwrap(data); err != nil {
			return err
		}
	}
	if err := a.event(kind, data); err != nil {
		return err
	}
	return a.size.Check()
}

// unwrap takes an event out of an object whose one member it is. An object that
// holds none that is known here has no kind.
func unwrap(raw []byte) (kind string, data []byte, err error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		return "", nil, fmt.Errorf("event: %w", err)
	}
	if e := m["error"]; len(e) > 0 && string(e) != "null" {
		return "error", raw, nil
	}
	for kind, data := range m {
		if known(kind) || isException(kind) {
			return kind, data, nil
		}
	}
	return "", nil, nil
}

func known(kind string) bool {
	switch kind {
	case "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata":
		return true
	}
	return false
}

func isException(kind string) bool { return strings.HasSuffix(kind, "Exception") }

func (a *assembler) event(kind string, data []byte) error {
	switch {
	case isException(kind):
		return told(kind, data)
	case kind == "error":
		return &wire.Told{Raw: data}
	case !known(kind):
		return nil
	case kind == "contentBlockDelta" && a.shapeSlot != nil:
		if s, ok := a.shape.Match(a.bare(data)); ok {
			a.grow(a.shapeSlot, s)
			return nil
		}
	}
	var ev event
	if err := decode(data, &ev); err != nil {
		return fmt.Errorf("event %s: %w", kind, err)
	}
	switch kind {
	case "messageStart":
		if len(a.slots) > 0 {
			return errors.New("the reply began a second time")
		}
	case "contentBlockStart":
		a.shapeSlot = nil
		return a.start(ev.Index, ev.Start)
	case "contentBlockDelta":
		a.shapeSlot = nil
		return a.delta(&ev, data)
	case "contentBlockStop":
		a.shapeSlot = nil
		if s := a.slot(ev.Index, ""); s != nil {
			a.close(s)
		}
	case "messageStop":
		a.stop = ev.StopReason
		a.settle()
		if a.calls == 0 && strings.HasPrefix(a.stop, malformed) {
			return errors.New("the service could not read what the model wrote")
		}
	case "metadata":
		a.usage.take(ev.Usage)
		a.metadata = true
	}
	return nil
}

// told makes an error of an exception that came as an event.
func told(kind string, data []byte) error {
	m := map[string]json.RawMessage{}
	if json.Unmarshal(data, &m) != nil || m == nil {
		m = map[string]json.RawMessage{}
	}
	code, err := oh.Marshal(kind)
	if err != nil {
		return err
	}
	m["__type"] = code
	raw, err := oh.Marshal(m)
	if err != nil {
		return err
	}
	return &wire.Told{Raw: raw}
}

// decode reads a JSON object. A member of an unexpected type is left out, not
// an error.
func decode(data []byte, to any) error {
	err := json.Unmarshal(data, to)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && bytes.TrimSpace(data)[0] == '{' {
		return nil
	}
	return err
}

// slot returns the newest block of an index, of a kind if one is named.
func (a *assembler) slot(index int, kind string) *slot {
	for i := len(a.slots) - 1; i >= 0; i-- {
		if s := a.slots[i]; s.index == index && (kind == "" || s.kind == kind) {
			return s
		}
	}
	return nil
}

func (a *assembler) add(index int, kind string) *slot {
	s := &slot{index: index, kind: kind}
	a.slots = append(a.slots, s)
	a.size.AddBlock()
	return s
}

func (a *assembler) start(index int, start map[string]json.RawMessage) error {
	for kind, raw := range start {
		if kind == callKind {
			return a.startCall(index, raw)
		}
		if kind != textKind && kind != thoughtKind {
			a.keep(a.add(index, kind), raw)
			return nil
		}
	}
	return nil // the first delta tells the kind
}

// keep makes an unknown block of what is not known here.
func (a *assembler) keep(s *slot, raw json.RawMessage) {
	out := append([]byte(nil), `{"type":`...)
	kind, err := oh.Marshal(s.kind)
	if err != nil {
		kind = []byte(`"unknown"`)
	}
	out = append(append(append(out, kind...), ',', '"'), `content":`...)
	s.raw = append(body.AppendRaw(out, oh.Compact(raw), "null"), '}')
	a.size.Add(len(s.raw))
}

func (a *assembler) startCall(index int, raw json.RawMessage) error {
	var u struct {
		ID    string          `json:"toolUseId"`
		Name  string          `json:"name"`
		Type  string          `json:"type"`
		Input json.RawMessage `json:"input"`
	}
	if err := decode(raw, &u); err != nil {
		return fmt.Errorf("call in block %d: %w", index, err)
	}
	if u.Type != "" { // a tool of the service, which runs it itself
		a.keep(a.add(index, u.Type), raw)
		return nil
	}
	if old := a.slot(index, callKind); old != nil && old.id == u.ID && (!old.closed || u.ID != "") {
		return fmt.Errorf("the call in block %d began a second time", index)
	}
	s := a.add(index, callKind)
	s.id, s.name, s.input = u.ID, u.Name, u.Input
	a.size.Add(len(raw))
	if s.name != "" {
		a.tell(s, "")
	}
	return nil
}

// tell makes the delta of a call.
func (a *assembler) tell(s *slot, piece string) {
	if !s.told {
		s.told, s.call = true, a.calls
		a.calls++
	}
	a.Add(oh.ToolInputDelta{Index: s.call, ID: s.id, Name: s.name, JSON: piece})
}

func (a *assembler) delta(ev *event, data []byte) error {
	var s *slot
	key := "text"
	switch d := &ev.Delta; {
	case d.Text != nil:
		s = a.open(ev.Index, textKind)
		a.grow(s, string(*d.Text))
	case d.Reasoning != nil:
		s = a.open(ev.Index, thoughtKind)
		a.think(s, d.Reasoning)
	case d.ToolUse != nil:
		if s := a.slot(ev.Index, ""); s != nil && s.kind != callKind && s.raw != nil {
			return nil
		}
		if s, key = a.slot(ev.Index, callKind), "input"; s == nil {
			return fmt.Errorf("arguments for block %d, which has not begun", ev.Index)
		}
		a.grow(s, string(d.ToolUse.Input))
	default:
		return nil
	}
	a.shape.Learn(a.bare(data), key, func(data []byte) (string, bool) {
		var again event
		err := json.Unmarshal(data, &again)
		text, ok := again.Delta.only(s.kind)
		return text, ok && err == nil && again.Index == ev.Index
	})
	a.shapeSlot = s
	return nil
}

// only returns the text of a piece that grows a block of a kind and has nothing
// beside it.
func (p *piece) only(kind string) (string, bool) {
	t := p.Reasoning
	switch {
	case p.Text != nil && t == nil && p.ToolUse == nil:
		return string(*p.Text), kind == textKind
	case p.Text == nil && t != nil && p.ToolUse == nil:
		return string(t.Text), kind == thoughtKind && t.Signature == "" && t.Redacted == "" && t.Whole == nil
	case p.Text == nil && t == nil && p.ToolUse != nil:
		return string(p.ToolUse.Input), kind == callKind
	}
	return "", false
}

// bare returns an event without the padding at its end, a member p of letters
// and digits, by which the service hides how long events are.
func (a *assembler) bare(data []byte) []byte {
	i := bytes.LastIndex(data, []byte(`,"p":"`))
	if i < 0 || !bytes.HasSuffix(data, []byte(`"}`)) {
		return data
	}
	for _, c := range data[i+len(`,"p":"`) : max(i+len(`,"p":"`), len(data)-len(`"}`))] {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return data
		}
	}
	a.buf = append(append(a.buf[:0], data[:i]...), '}')
	return a.buf
}

// open returns the block of a kind that grows at an index. Text and reasoning
// are not announced.
func (a *assembler) open(index int, kind string) *slot {
	if s := a.slot(index, ""); s != nil && s.kind == kind && !s.closed {
		return s
	}
	return a.add(index, kind)
}

func (a *assembler) think(s *slot, t *thought) {
	if w := t.Whole; w != nil {
		t.Text, t.Signature = w.Text, w.Signature
	}
	s.opaque.Signature += string(t.Signature)
	s.opaque.Redacted += t.Redacted
	a.size.Add(len(t.Signature) + len(t.Redacted))
	a.grow(s, string(t.Text))
}

// grow puts a piece into a block and makes its delta.
func (a *assembler) grow(s *slot, piece string) {
	a.size.Add(len(piece))
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
	switch s.kind {
	case textKind:
		s.text.WriteString(piece)
		a.Add(oh.TextDelta{Text: piece})
	case thoughtKind:
		s.text.WriteString(piece)
		a.Add(oh.ThinkingDelta{Text: piece})
	case callKind:
		s.args.Add(piece)
		a.tell(s, piece)
	}
}

// End implements [wire.Assembler].
func (a *assembler) End() { a.settle() }
