package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/wire"
)

// assembler makes deltas and a message of the chunks of one reply. It does no
// I/O.
type assembler struct {
	wire.Deltas
	origin, model string
	blocks        []*block // in order of arrival
	calls         []*call
	ids           map[string]*block // of calls, by id
	seam          delta.Seam        // of the last block, if it is text or a thought
	size          wire.Size
	finish        string // why the reply ended
	blocked       bool   // the prompt was refused
	usage         counts
	done          bool // a gateway said [DONE]
	shape         shape
}

// block is one block in the making.
type block struct {
	kind      blockKind
	text      strings.Builder
	signature string
	plain     bool // a signature alone, of a part that was no thought
	call      *call
	unknown   oh.Unknown
}

type blockKind int

const (
	textBlock blockKind = iota
	thoughtBlock
	callBlock
	unknownBlock
)

func newAssembler(origin, model string) *assembler {
	return &assembler{origin: origin, model: model}
}

// State implements [wire.Assembler]. A reply is complete when it was said why
// it ended: this wire has no other mark of the end.
func (a *assembler) State() wire.State {
	ended := a.finish != "" || a.blocked
	switch {
	case a.done && !ended:
		return wire.Broken
	case a.done:
		return wire.Over
	case ended:
		return wire.Complete
	}
	return wire.Open
}

// Feed implements [wire.Assembler]. A reply that is too long is given up, even
// if it said why it ended.
func (a *assembler) Feed(name, data []byte) error {
	if p, u, ok := a.shape.match(data); ok && string(name) != "error" {
		a.saw(a.shape.model, &u)
		if p.Text != "" {
			a.say(&p)
		}
		return a.size.Check()
	}
	switch string(bytes.TrimSpace(data)) {
	case "":
		return nil
	case "[DONE]":
		a.done = true
		return nil
	}
	list, err := decode(data)
	if err != nil {
		return fmt.Errorf("chunk: %w", err)
	}
	if string(name) == "error" && len(list) == 1 && list[0].fault() == nil {
		return &wire.Told{Raw: data}
	}
	if err := a.takeAll(list); err != nil {
		return err
	}
	if len(list) == 1 && data[0] == '{' {
		a.shape.learn(&list[0], data)
	}
	return nil
}

// Whole implements [wire.Assembler].
func (a *assembler) Whole(raw []byte) error {
	const other = "the service did not stream, and what it sent is no reply"
	list, err := decode(raw)
	if err != nil {
		return fmt.Errorf("%s: %w", other, err)
	}
	if err := a.takeAll(list); err != nil {
		return err
	}
	if a.State() != wire.Complete {
		if len(list) == 1 && list[0].Candidates == nil && list[0].Usage == nil {
			return errors.New(other)
		}
		return errors.New("the reply ends before it is complete")
	}
	a.done = true
	return nil
}

func (a *assembler) takeAll(list []chunk) error {
	for i := range list {
		if err := a.take(&list[i]); err != nil {
			return err
		}
	}
	return a.size.Check()
}

func (a *assembler) take(c *chunk) error {
	if raw := c.fault(); raw != nil {
		return &wire.Told{Raw: raw}
	}
	a.saw(c.Model, c.Usage)
	if len(c.Candidates) == 0 && c.Feedback.blocks() {
		a.blocked = true
	}
	if x := c.candidate(); x != nil {
		return a.candidate(x)
	}
	return nil
}

// saw keeps what a chunk tells beside the reply.
func (a *assembler) saw(model delta.Text, u *counts) {
	if model != "" {
		a.model = string(model)
	}
	a.usage.take(u)
}

func (a *assembler) candidate(c *candidate) error {
	for i := range c.Content.Parts {
		if err := a.part(&c.Content.Parts[i]); err != nil {
			return err
		}
	}
	if c.Finish == "" || c.Finish == "FINISH_REASON_UNSPECIFIED" {
		return nil
	}
	a.finish = string(c.Finish)
	if failed(a.finish) {
		return &wire.Told{Raw: broken(a.finish, string(c.Words))}
	}
	return nil
}

func (a *assembler) part(p *part) error {
	u, other := oh.Unknown{}, false
	if p.Text == "" && p.Call == nil {
		u, other = p.unknown()
	}
	switch {
	case other:
		a.settle()
		a.size.Add(len(u.Raw))
		a.add(&block{kind: unknownBlock, unknown: u})
	case p.Text != "" || p.Signature != "" && p.Call == nil:
		a.say(p)
	}
	if p.Call != nil {
		return a.callPart(p)
	}
	return nil
}

// say takes a piece of text or of a thought, with the signature of the part
// that it is a piece of. A signature that comes alone after a text is that
// text's.
func (a *assembler) say(p *part) {
	kind := textBlock
	if p.Thought {
		kind = thoughtBlock
	}
	signature := ""
	if p.Call == nil {
		signature = string(p.Signature)
	}
	b := a.last()
	grows := b != nil && (b.kind == kind && !b.plain || p.Text == "" && b.kind <= thoughtBlock) &&
		(signature == "" || b.signature == "" || b.signature == signature)
	if !grows {
		a.settle()
		plain := p.Text == "" && kind == textBlock
		if plain {
			kind = thoughtBlock // a text would be empty
		}
		b = a.add(&block{kind: kind, plain: plain})
	}
	if signature != "" {
		a.size.Add(len(signature))
		b.signature = signature
	}
	a.size.Add(len(p.Text))
	a.put(b, a.seam.Join(string(p.Text)))
}

func (a *assembler) last() *block {
	if n := len(a.blocks); n > 0 {
		return a.blocks[n-1]
	}
	return nil
}

func (a *assembler) add(b *block) *block {
	a.size.AddBlock()
	a.blocks = append(a.blocks, b)
	return b
}

// settle gives up half a character that waited for the other.
func (a *assembler) settle() {
	a.put(a.last(), a.seam.Flush())
}

func (a *assembler) put(b *block, s string) {
	if s == "" {
		return
	}
	b.text.WriteString(s)
	if b.kind == thoughtBlock {
		a.Add(oh.ThinkingDelta{Text: s})
	} else {
		a.Add(oh.TextDelta{Text: s})
	}
}

// End implements [wire.Assembler].
func (a *assembler) End() {
	a.settle()
	a.closeAll()
}

// The reasons of an end that is a failure: of the model's sampling, which
// another attempt may well heal (the service's own clients try again too), or
// of the request.
const (
	malformedCall    = "MALFORMED_FUNCTION_CALL"
	unexpectedCall   = "UNEXPECTED_TOOL_CALL"
	malformedReply   = "MALFORMED_RESPONSE"
	tooManyCalls     = "TOO_MANY_TOOL_CALLS"
	missingSignature = "MISSING_THOUGHT_SIGNATURE"
)

func failed(finish string) bool {
	switch finish {
	case malformedCall, unexpectedCall, malformedReply, tooManyCalls, missingSignature:
		return true
	}
	return false
}

// broken makes an error of such an end. Nothing of the reply can be used: the
// call that matters is not in it.
func broken(finish, words string) []byte {
	said := "the service ended the reply, since "
	switch finish {
	case malformedCall:
		said += "it could not read a call that the model wrote"
	case unexpectedCall:
		said += "the model called a tool that it does not have"
	case tooManyCalls:
		said += "the model made too many calls in a row"
	case missingSignature:
		said += "the request lacks a thought signature"
	default:
		said += "it could not read what the model wrote"
	}
	if words = text.OneLine(words, 500); words != "" {
		said += ": " + words
	}
	out := append([]byte(nil), `{"error":{"code":`...)
	out = append(text.AppendJSON(out, finish), `,"message":`...)
	return append(text.AppendJSON(out, said), `}}`...)
}

// Message implements [wire.Assembler].
func (a *assembler) Message() oh.Message {
	m := oh.Message{Role: oh.Assistant, Content: oh.Blocks{}, Model: a.model, Stop: a.stop(), Usage: a.usage.usage()}
	for i, b := range a.blocks {
		switch b.kind {
		case textBlock:
			if b.text.Len() > 0 {
				m.Content = append(m.Content, oh.Text{Text: b.text.String(), Opaque: a.seal(opaque{Signature: b.signature})})
			}
		case thoughtBlock:
			// A thought without a signature goes home as well.
			t := oh.Thinking{Text: b.text.String(), Opaque: a.sealAny(opaque{Signature: b.signature, Plain: b.plain})}
			if t.Text != "" || b.signature != "" {
				m.Content = append(m.Content, t)
			}
		case callBlock:
			u := b.call.use(m.Stop.Cut() && i == len(a.blocks)-1)
			u.Opaque = a.seal(opaque{Signature: b.signature, ID: b.call.told})
			m.Content = append(m.Content, u)
		case unknownBlock:
			m.Content = append(m.Content, b.unknown)
		}
	}
	return m
}

// opaque is what this wire keeps with a block: the signature of its part; of a
// call, the id that the service gave it; of a thought, whether it was the
// signature of an empty text.
type opaque struct {
	Signature string `json:"thoughtSignature,omitempty"`
	ID        string `json:"id,omitempty"`
	Plain     bool   `json:"plain,omitempty"`
}

// seal keeps what came with a block for its origin, if anything did.
func (a *assembler) seal(o opaque) *oh.Opaque {
	if o == (opaque{}) {
		return nil
	}
	return a.sealAny(o)
}

func (a *assembler) sealAny(o opaque) *oh.Opaque {
	data, err := oh.Marshal(o)
	if err != nil {
		return nil
	}
	return &oh.Opaque{Origin: a.origin, Data: oh.Compact(data)}
}

// open returns what was kept with a block for this origin.
func (o *opaque) open(from *oh.Opaque, origin string) bool {
	return from != nil && from.Origin == origin && json.Unmarshal(from.Data, o) == nil
}

func (a *assembler) stop() oh.StopReason {
	switch a.finish {
	case "STOP":
		if len(a.calls) > 0 {
			return oh.StopToolUse
		}
		return oh.StopEnd
	case "MAX_TOKENS", "CONTINUATION":
		return oh.StopMaxTokens
	case "", "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"ESCALATION", "PUP_LIMITED_DISABLED", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return oh.StopRefusal
	}
	return oh.StopReason(a.finish)
}
