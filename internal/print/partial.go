package print

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	textKind     = "text"
	thinkingKind = "thinking"
)

// partial is where a streamed message stands: the events of Anthropic's wire
// are made anew, whatever wire the message came by. Text and thinking come as
// they are streamed; calls come when the message is complete, each as one
// delta, since their fields are translated.
type partial struct {
	id    string // of the message, "" before it begins
	index int    // of the next block
	open  string // kind of the open block
	text  bool   // some text or thinking was streamed
}

// streamEvent is a stream_event frame.
type streamEvent struct {
	Type  string `json:"type"`
	Event any    `json:"event"`
	origin
}

type (
	messageStart struct {
		Type    string     `json:"type"`
		Message apiMessage `json:"message"`
	}
	blockStart struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Block any    `json:"content_block"`
	}
	blockDelta struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Delta any    `json:"delta"`
	}
	blockStop struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}
	messageDelta struct {
		Type  string     `json:"type"`
		Delta stopDelta  `json:"delta"`
		Usage usageFrame `json:"usage"`
	}
	stopDelta struct {
		Reason   *oh.StopReason `json:"stop_reason"`
		Sequence *string        `json:"stop_sequence"`
	}
	inputDelta struct {
		Type string `json:"type"`
		JSON string `json:"partial_json"`
	}
	messageStop struct {
		Type string `json:"type"`
	}
)

func (f *streamFace) raw(event any) error {
	return f.frame(streamEvent{Type: "stream_event", Event: event, origin: f.origin("")})
}

// delta writes a piece of text or thinking.
func (f *streamFace) delta(parent, kind, text string, at time.Time) error {
	if parent != "" || !f.p.o.Partial || text == "" {
		return nil
	}
	if f.partial.open != kind {
		if err := f.openBlock(kind); err != nil {
			return err
		}
	}
	out := f.p.out
	out.buf = f.appendPartial(out.buf, kind, text)
	return out.held(at)
}

// appendPartial writes the line of a delta without reflection.
func (f *streamFace) appendPartial(dst []byte, kind, said string) []byte {
	dst = append(dst, `{"type":"stream_event","event":{"type":"content_block_delta","index":`...)
	dst = strconv.AppendInt(dst, int64(f.partial.index), 10)
	dst = append(dst, `,"delta":{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `_delta","`...)
	dst = append(dst, kind...)
	dst = append(dst, `":`...)
	dst = text.AppendJSON(dst, said)
	dst = append(dst, `}},"parent_tool_use_id":null,"session_id":`...)
	dst = text.AppendJSON(dst, f.session)
	dst = append(dst, `,"uuid":`...)
	dst = text.AppendJSON(dst, f.p.o.NewID())
	return append(dst, "}\n"...)
}

func (f *streamFace) start(model string) error {
	if f.partial.id != "" {
		return nil
	}
	f.partial.id = "msg_" + f.p.o.NewID()
	return f.raw(messageStart{"message_start", apiMessage{
		ID: f.partial.id, Type: "message", Role: oh.Assistant, Model: model, Content: []any{},
	}})
}

func (f *streamFace) openBlock(kind string) error {
	if err := f.start(f.model(oh.Message{})); err != nil {
		return err
	}
	if err := f.closeBlock(); err != nil {
		return err
	}
	f.partial.open, f.partial.text = kind, true
	var block any = textBlock{Type: "text"}
	if kind == thinkingKind {
		block = thinkingBlock{Type: "thinking"}
	}
	return f.raw(blockStart{"content_block_start", f.partial.index, block})
}

func (f *streamFace) closeBlock() error {
	if f.partial.open == "" {
		return nil
	}
	f.partial.open = ""
	index := f.partial.index
	f.partial.index++
	return f.raw(blockStop{"content_block_stop", index})
}

// finishPartial writes what is left of a complete message.
func (f *streamFace) finishPartial(m oh.Message) error {
	if err := f.start(f.model(m)); err != nil {
		return err
	}
	if err := f.closeBlock(); err != nil {
		return err
	}
	streamed := f.partial.text
	for _, b := range m.Content {
		if err := f.late(b, streamed); err != nil {
			return err
		}
	}
	stop := stopDelta{}
	if m.Stop != "" {
		stop.Reason = &m.Stop
	}
	if err := f.raw(messageDelta{"message_delta", stop, usageOf(m.Usage)}); err != nil {
		return err
	}
	return f.raw(messageStop{"message_stop"})
}

// late writes a block that was not streamed: calls always, text and thinking
// when no delta came at all.
func (f *streamFace) late(b oh.Block, streamed bool) error {
	switch b := b.(type) {
	case oh.Text:
		if !streamed && b.Text != "" {
			return f.wholeText(textKind, b.Text)
		}
	case oh.Thinking:
		if !streamed && b.Text != "" {
			return f.wholeText(thinkingKind, b.Text)
		}
	case oh.ToolUse:
		return f.wholeCall(b)
	}
	return nil
}

func (f *streamFace) wholeText(kind, text string) error {
	if err := f.openBlock(kind); err != nil {
		return err
	}
	f.p.out.buf = f.appendPartial(f.p.out.buf, kind, text)
	return f.closeBlock()
}

func (f *streamFace) wholeCall(u oh.ToolUse) error {
	block := toolUse(u)
	input := string(block.Input)
	block.Input = json.RawMessage("{}")
	f.partial.open = "tool_use"
	if err := f.raw(blockStart{"content_block_start", f.partial.index, block}); err != nil {
		return err
	}
	if err := f.raw(blockDelta{"content_block_delta", f.partial.index, inputDelta{"input_json_delta", input}}); err != nil {
		return err
	}
	return f.closeBlock()
}
