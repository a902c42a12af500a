package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
	"github.com/openharness/oh/provider/internal/wire"
)

// assembler makes deltas and a message of the chunks of one reply. It does no
// I/O.
type assembler struct {
	wire.Deltas
	origin, model string
	blocks        []*part // in order of arrival
	calls         []*call
	details       details
	think         thinkTag
	seam          delta.Seam // of the text or reasoning that from names
	from          source
	size          wire.Size
	finish        string
	refused       bool
	usage         usage
	done          bool // [DONE] came
	order         order
	pieces        bool // something came in a delta
	told          int  // calls that were told
	shape         delta.Template
	shapeContent  bool // the shape is of text, not of reasoning
	shapeField    string
}

// part is one block in the making: text, thinking or a call.
type part struct {
	kind   partKind
	text   strings.Builder
	field  string // of thinking: where it came in
	opaque string // of thinking: its form for the service alone
	call   *call
}

type partKind int

const (
	textPart partKind = iota
	thinkingPart
	callPart
)

// source tells texts apart that come side by side: what of a reply it is, and
// the field it comes in.
type source struct {
	kind  partKind
	field string
}

func newAssembler(origin, model string) *assembler {
	return &assembler{origin: origin, model: model}
}

// State implements [wire.Assembler]. A reply is complete when it was said why
// it ended.
func (a *assembler) State() wire.State {
	switch {
	case a.done && a.finish == "":
		return wire.Broken
	case a.done:
		return wire.Over
	case a.finish != "":
		return wire.Complete
	}
	return wire.Open
}

// Feed implements [wire.Assembler]. A reply that is too long is given up, even
// if it said why it ended.
func (a *assembler) Feed(name, data []byte) error {
	if err := a.event(name, data); err != nil {
		return err
	}
	return a.size.Check()
}

func (a *assembler) event(name, data []byte) error {
	if s, ok := a.shape.Match(data); ok {
		a.addShaped(s)
		return nil
	}
	switch strings.TrimSpace(string(data)) {
	case "":
		return nil
	case "[DONE]":
		a.done = true
		return nil
	}
	var c chunk
	if err := decode(data, &c); err != nil {
		return fmt.Errorf("chunk: %w", err)
	}
	if c.fault() || string(name) == "error" {
		return &wire.Told{Raw: data}
	}
	if err := a.take(&c); err != nil {
		return err
	}
	a.learn(&c, data)
	return nil
}

// addShaped does what take does with a chunk that carries one string.
func (a *assembler) addShaped(s string) {
	a.order.chunks++
	if a.shapeContent {
		a.content(s)
	} else {
		a.thought(s, a.shapeField)
	}
}

// learn keeps the shape of a chunk that carries one string and nothing else.
func (a *assembler) learn(c *chunk, data []byte) {
	field, _, ok := c.pure()
	if !ok {
		return
	}
	a.shape.Learn(data, field, func(data []byte) (string, bool) {
		var again chunk
		if json.Unmarshal(data, &again) != nil || again.Model != c.Model {
			return "", false
		}
		f, s, ok := again.pure()
		return s, ok && f == field
	})
	a.shapeContent = field == "content"
	a.shapeField = field
}

// Whole implements [wire.Assembler].
func (a *assembler) Whole(raw []byte) error {
	var c chunk
	if err := decode(raw, &c); err != nil {
		return fmt.Errorf("the service did not stream, and what it sent is no completion: %w", err)
	}
	if c.fault() {
		return &wire.Told{Raw: raw}
	}
	if len(c.Choices) == 0 || c.Choices[0].Message == nil {
		return errors.New("the service did not stream, and what it sent is no completion")
	}
	if err := a.take(&c); err != nil {
		return err
	}
	a.done = true
	return a.size.Check()
}

func (a *assembler) take(c *chunk) error {
	if c.Model != "" {
		a.model = c.Model
	}
	a.usage.take(c.Usage)
	if c.Groq != nil {
		a.usage.take(c.Groq.Usage)
	}
	if ch := a.order.choice(c.Choices); ch != nil {
		a.usage.take(ch.Usage)
		return a.choice(ch)
	}
	return nil
}

func (a *assembler) choice(ch *choice) error {
	if loose.Present(ch.Error) {
		return &wire.Told{Raw: append(append([]byte(`{"error":`), ch.Error...), '}')}
	}
	if d := a.news(ch); d != nil {
		if err := a.delta(d); err != nil {
			return err
		}
	}
	if ch.Finish == "" {
		return nil
	}
	a.finish = string(ch.Finish)
	if raw, ok := broken(a.finish); ok {
		return &wire.Told{Raw: raw}
	}
	return nil
}

// news returns what a choice adds. Some services send pieces as messages; others
// send a message beside or after the pieces, which repeats them but for what no
// piece had.
func (a *assembler) news(ch *choice) *message {
	d, m := ch.Delta, ch.Message
	if d != nil && !d.empty() {
		a.pieces = true
		return d
	}
	switch {
	case m == nil:
		return d
	case !a.pieces:
		return m
	}
	rest := &message{}
	if len(a.calls) == 0 {
		rest.ToolCalls, rest.FunctionCall = m.ToolCalls, m.FunctionCall
	}
	if !slices.ContainsFunc(a.blocks, func(p *part) bool { return p.kind == textPart }) {
		rest.Content = m.Content
	}
	return rest
}

// broken makes an error of the finish reasons that are failures.
func broken(finish string) (raw []byte, ok bool) {
	code := ""
	switch finish {
	case "error", "network_error":
		code = "upstream_error"
	case "insufficient_system_resource":
		code = "overloaded"
	default:
		return nil, false
	}
	return []byte(`{"error":{"code":"` + code + `","message":"the service ended the reply with ` + finish + `"}}`), true
}

func (a *assembler) delta(d *message) error {
	if field, s := d.reasoning(); s != "" {
		a.thought(s, field)
	}
	if list := d.details(); len(list) > 0 {
		a.size.Add(len(d.Details))
		a.details.add(list)
		if field, _ := d.reasoning(); field == "" {
			a.thought(detailText(list), fieldDetails)
		}
		// The list itself goes back even when it holds no text to show.
		a.block(thinkingPart, fieldDetails)
	}
	if d.Sealed != "" {
		a.size.Add(len(d.Sealed))
		p := a.block(thinkingPart, fieldText)
		p.opaque = string(d.Sealed) // the newest is the whole
	}
	for _, p := range d.content() {
		if p.thinking {
			a.thought(p.text, "")
		} else {
			a.content(p.text)
		}
	}
	if d.Refusal != "" {
		a.refused = true
		a.turn(source{textPart, "refusal"})
		a.say(a.think.interrupt())
		a.say(a.join(string(d.Refusal)))
	}
	if d.FunctionCall != nil {
		a.call(&callDelta{Function: d.FunctionCall})
	}
	for i := range d.ToolCalls {
		a.call(&d.ToolCalls[i])
	}
	return nil
}

// content takes a piece of content, in which a model may think aloud.
func (a *assembler) content(s string) {
	a.turn(source{textPart, ""})
	a.aloud(a.join(s))
}

// thought takes a piece of reasoning.
func (a *assembler) thought(s, field string) {
	if s == "" {
		return
	}
	a.turn(source{thinkingPart, field})
	a.muse(a.join(s), field)
}

// join counts a piece and mends characters that were cut in two.
func (a *assembler) join(s string) string {
	a.size.Add(len(s))
	return a.seam.Join(s)
}

// turn ends the text that came so far unless it is the one that goes on.
func (a *assembler) turn(to source) {
	if a.from != to {
		a.settle()
		a.from = to
	}
}

// settle gives up half a character that waited for the other.
func (a *assembler) settle() {
	s := a.seam.Flush()
	switch {
	case s == "":
	case a.from.kind == thinkingPart:
		a.muse(s, a.from.field)
	case a.from.field == "":
		a.aloud(s)
	default:
		a.say(s)
	}
}

func (a *assembler) aloud(s string) {
	thought, said := a.think.feed(s)
	a.muse(thought, "")
	a.say(said)
}

func (a *assembler) say(s string) {
	if s == "" {
		return
	}
	a.block(textPart, "").text.WriteString(s)
	a.Add(oh.TextDelta{Text: s})
}

func (a *assembler) muse(s, field string) {
	if s == "" {
		return
	}
	a.block(thinkingPart, field).text.WriteString(s)
	a.Add(oh.ThinkingDelta{Text: s})
}

// block returns the last block if it is of the kind, or a new one. Reasoning in
// another field goes on; only what was thought aloud is apart.
func (a *assembler) block(kind partKind, field string) *part {
	if n := len(a.blocks); n > 0 && a.blocks[n-1].kind == kind && (a.blocks[n-1].field == "") == (field == "") {
		return a.blocks[n-1]
	}
	p := &part{kind: kind, field: field}
	a.blocks = append(a.blocks, p)
	a.size.AddBlock()
	return p
}

// End implements [wire.Assembler]: it gives out what was held back for a tag or
// half a character that did not come.
func (a *assembler) End() {
	a.settle()
	thought, said := a.think.flush()
	a.muse(thought, "")
	a.say(said)
	for _, c := range a.calls {
		if s := c.seam.Flush(); s != "" {
			a.grow(c, s)
		}
	}
}

// Message implements [wire.Assembler].
func (a *assembler) Message() oh.Message {
	m := oh.Message{Role: oh.Assistant, Content: oh.Blocks{}, Model: a.model, Usage: a.usage.counts()}
	m.Stop = a.stop()
	last := a.lastCall()
	for _, p := range a.blocks {
		switch p.kind {
		case textPart:
			m.Content = append(m.Content, oh.Text{Text: p.text.String()})
		case thinkingPart:
			if t := (oh.Thinking{Text: p.text.String(), Opaque: a.sealed(p)}); t.Text != "" || t.Opaque != nil {
				m.Content = append(m.Content, t)
			}
		case callPart:
			if !p.call.phantom() {
				cut := m.Stop.Cut() && (p.call == last || !p.call.args.Blank())
				u := p.call.use(cut)
				u.Opaque = sealExtra(a.origin, p.call.extra)
				m.Content = append(m.Content, u)
			}
		}
	}
	return m
}

// lastCall is the last block, if it is a call: a cut reply may have been cut
// before its arguments began.
func (a *assembler) lastCall() *call {
	if n := len(a.blocks); n > 0 && a.blocks[n-1].kind == callPart {
		return a.blocks[n-1].call
	}
	return nil
}

// sealed keeps the field that reasoning came in. The list of details goes with
// the first block that has one, as one list.
func (a *assembler) sealed(p *part) *oh.Opaque {
	o := opaque{Field: p.field, Sealed: p.opaque}
	if len(a.details.list) > 0 && a.details.owner(p) {
		o.Field = fieldDetails
		o.Details = a.details.raw()
	}
	if o.Field == "" || o.Field == fieldDetails && len(o.Details) == 0 {
		return nil
	}
	data, err := oh.Marshal(o)
	if err != nil {
		return nil
	}
	return &oh.Opaque{Origin: a.origin, Data: oh.Compact(data)}
}

func (a *assembler) stop() oh.StopReason {
	calls := false
	for _, c := range a.calls {
		calls = calls || !c.phantom()
	}
	switch a.finish {
	case "length", "max_tokens", "model_length":
		return oh.StopMaxTokens
	case "content_filter", "sensitive", "refusal":
		return oh.StopRefusal
	case "", "stop", "eos", "end_turn", "tool_calls", "function_call", "tool_use":
		switch {
		case calls:
			return oh.StopToolUse
		case a.refused:
			return oh.StopRefusal
		}
		return oh.StopEnd
	case "stop_sequence":
		return oh.StopSequence
	}
	return oh.StopReason(a.finish)
}
