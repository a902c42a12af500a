package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
	"github.com/openharness/oh/provider/internal/wire"
)

// assembler makes deltas and a message of the lines of one reply. It does no
// I/O.
type assembler struct {
	wire.Deltas
	origin, model string
	blocks        []*block // in order of arrival
	calls         int
	ids           map[string]*block // of calls
	seam          delta.Seam        // of the last block, if it is text or thinking
	size          wire.Size
	usage         oh.Usage
	reason        string
	done          bool
	shape         delta.Template // of the last line, which grew a block of shapeKind
	shapeKind     blockKind
	buf           []byte
}

// block is one block in the making.
type block struct {
	kind blockKind
	text strings.Builder

	id, name, args string // of a call
	told           bool   // the id is the service's
}

type blockKind int

const (
	textBlock blockKind = iota
	thinkingBlock
	callBlock
)

func newAssembler(origin, model string) *assembler {
	return &assembler{origin: origin, model: model, ids: map[string]*block{}}
}

// chunk is one line.
type chunk struct {
	Error   json.RawMessage `json:"error"`
	Model   delta.Text      `json:"model"`
	Message struct {
		Content  delta.Text `json:"content"`
		Thinking delta.Text `json:"thinking"`
		Calls    []call     `json:"tool_calls"`
	} `json:"message"`
	Done   flag        `json:"done"`
	Reason delta.Text  `json:"done_reason"`
	Prompt loose.Count `json:"prompt_eval_count"`
	Reply  loose.Count `json:"eval_count"`
}

type call struct {
	ID       delta.Text `json:"id"`
	Function struct {
		Name      delta.Text      `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// args are the arguments as the model wrote them: an object, or text of one from
// gateways that pass on what other services say.
func (c *call) args() string {
	raw := c.Function.Arguments
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] == '"' {
		s, _ := delta.String(raw)
		return s
	}
	return string(oh.Compact(raw))
}

// flag is true only for the JSON true, whatever else a service sends.
type flag bool

// UnmarshalJSON implements [json.Unmarshaler].
func (f *flag) UnmarshalJSON(raw []byte) error {
	*f = string(raw) == "true"
	return nil
}

// State implements [wire.Assembler]. The line that says done is the last.
func (a *assembler) State() wire.State {
	if a.done {
		return wire.Over
	}
	return wire.Open
}

// Feed implements [wire.Assembler].
func (a *assembler) Feed(_, data []byte) error {
	if s, ok := a.shape.Match(a.bare(data)); ok {
		a.say(a.shapeKind, s)
		return a.size.Check()
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("line: %w", err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" && string(c.Error) != `""` {
		return &wire.Told{Raw: data}
	}
	if c.Model != "" {
		a.model = string(c.Model)
	}
	a.say(thinkingBlock, string(c.Message.Thinking))
	a.say(textBlock, string(c.Message.Content))
	for i := range c.Message.Calls {
		a.call(&c.Message.Calls[i])
	}
	a.usage.InputTokens = max(a.usage.InputTokens, int(c.Prompt))
	a.usage.OutputTokens = max(a.usage.OutputTokens, int(c.Reply))
	if c.Done {
		a.done, a.reason = true, string(c.Reason)
	}
	a.learn(&c, data)
	return a.size.Check()
}

// learn makes a line that was decoded the shape of those that follow.
func (a *assembler) learn(c *chunk, data []byte) {
	key := "content"
	if a.shapeKind = textBlock; c.Message.Content == "" {
		a.shapeKind, key = thinkingBlock, "thinking"
	}
	a.shape.Learn(a.bare(data), key, func(data []byte) (string, bool) {
		var again chunk
		err := json.Unmarshal(data, &again)
		text, ok := again.only(a.shapeKind)
		return text, ok && err == nil
	})
}

// only returns the text of a line that grows a block of a kind and does nothing
// else, or nothing that doing it twice would change.
func (c *chunk) only(kind blockKind) (string, bool) {
	m := &c.Message
	if len(c.Error) > 0 || len(m.Calls) > 0 || c.Done {
		return "", false
	}
	if kind == thinkingBlock {
		return string(m.Thinking), m.Content == ""
	}
	return string(m.Content), m.Thinking == ""
}

// bare returns a line without its time, by which alone most lines differ. What
// is cut out of a valid line is a whole value of digits and the like.
func (a *assembler) bare(data []byte) []byte {
	const key = `"created_at":"`
	i := bytes.Index(data, []byte(key))
	if i < 0 {
		return data
	}
	i += len(key)
	n := bytes.IndexByte(data[i:], '"')
	if n < 0 || len(bytes.Trim(data[i:i+n], "0123456789-:.TZ+")) > 0 {
		return data
	}
	a.buf = append(append(a.buf[:0], data[:i]...), data[i+n:]...)
	return a.buf
}

// Whole implements [wire.Assembler]. Only a gateway that streams events answers
// whole: lines are read as they come.
func (a *assembler) Whole(raw []byte) error {
	if err := a.Feed(nil, raw); err != nil {
		return err
	}
	if !a.done {
		return errors.New("the service did not stream, and what it sent is no reply")
	}
	return nil
}

// End implements [wire.Assembler].
func (a *assembler) End() { a.settle() }

func (a *assembler) say(kind blockKind, piece string) {
	if piece == "" {
		return
	}
	b := a.last()
	if b == nil || b.kind != kind {
		a.settle()
		b = a.add(&block{kind: kind})
	}
	a.size.Add(len(piece))
	a.put(b, a.seam.Join(piece))
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
func (a *assembler) settle() { a.put(a.last(), a.seam.Flush()) }

func (a *assembler) put(b *block, s string) {
	if s == "" {
		return
	}
	b.text.WriteString(s)
	if b.kind == thinkingBlock {
		a.Add(oh.ThinkingDelta{Text: s})
	} else {
		a.Add(oh.TextDelta{Text: s})
	}
}

// call takes a call, which comes whole. One that is told again is the same; one
// that names nothing and has no arguments is none.
func (a *assembler) call(c *call) {
	name, args, told := string(c.Function.Name), c.args(), string(c.ID)
	if name == "" && (args == "" || args == "{}") {
		return
	}
	if b := a.ids[told]; b != nil && b.told && b.name == name && b.args == args {
		return
	}
	a.settle()
	b := a.add(&block{kind: callBlock, name: name, args: args, id: told, told: told != "" && a.ids[told] == nil})
	a.size.Add(len(told) + len(name) + len(args))
	for n := a.calls + 1; !b.told; n++ {
		if b.id = "call_" + strconv.Itoa(n); a.ids[b.id] == nil {
			break
		}
	}
	a.ids[b.id] = b
	a.Add(oh.ToolInputDelta{Index: a.calls, ID: b.id, Name: name, JSON: string(body.AppendRaw(nil, []byte(args), ""))})
	a.calls++
}

// Message implements [wire.Assembler].
func (a *assembler) Message() oh.Message {
	m := oh.Message{Role: oh.Assistant, Content: oh.Blocks{}, Model: a.model, Stop: a.stop(), Usage: a.usage}
	for i, b := range a.blocks {
		said := b.text.String()
		switch {
		case b.kind == callBlock:
			m.Content = append(m.Content, argument.Use(b.id, b.name, b.args, m.Stop.Cut() && i == len(a.blocks)-1))
		case said == "":
		case b.kind == thinkingBlock:
			m.Content = append(m.Content, oh.Thinking{Text: said, Opaque: &oh.Opaque{Origin: a.origin, Data: json.RawMessage(own)}})
		default:
			m.Content = append(m.Content, oh.Text{Text: said})
		}
	}
	return m
}

// stop is why the reply ended. A model that was merely loaded said nothing.
func (a *assembler) stop() oh.StopReason {
	switch a.reason {
	case "length":
		return oh.StopMaxTokens
	case "", "stop", "load", "unload":
		if a.calls > 0 {
			return oh.StopToolUse
		}
		return oh.StopEnd
	}
	return oh.StopReason(a.reason)
}
