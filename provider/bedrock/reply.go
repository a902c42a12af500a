package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
	"github.com/openharness/oh/provider/internal/wire"
)

// usage counts tokens as the service does.
type usage struct {
	Input      loose.Count `json:"inputTokens"`
	Output     loose.Count `json:"outputTokens"`
	Total      loose.Count `json:"totalTokens"`
	CacheRead  loose.Count `json:"cacheReadInputTokens"`
	CacheWrite loose.Count `json:"cacheWriteInputTokens"`
}

// take keeps the newest counts.
func (u *usage) take(v *usage) {
	if v != nil {
		*u = *v
	}
}

// counts returns the usage in our form. Where the total shows that what the
// cache had is among the input, it is taken off.
func (u *usage) counts() oh.Usage {
	in := u.Input
	if cached := u.CacheRead + u.CacheWrite; cached > 0 && in >= cached && u.Total == in+u.Output {
		in -= cached
	}
	return oh.Usage{
		InputTokens:      int(in),
		OutputTokens:     int(u.Output),
		CacheReadTokens:  int(u.CacheRead),
		CacheWriteTokens: int(u.CacheWrite),
	}
}

// Whole implements [wire.Assembler].
func (a *assembler) Whole(raw []byte) error {
	var m struct {
		Output struct {
			Message struct {
				Content []map[string]json.RawMessage `json:"content"`
			} `json:"message"`
		} `json:"output"`
		StopReason string `json:"stopReason"`
		Usage      *usage `json:"usage"`
		Type       string `json:"__type"`
		Message    string `json:"message"`
	}
	if err := decode(raw, &m); err != nil {
		return fmt.Errorf("the service did not stream, and what it sent is no message: %w", err)
	}
	if m.StopReason == "" {
		if m.Type != "" || m.Message != "" || hasError(raw) {
			return &wire.Told{Raw: raw}
		}
		return errors.New("the service did not stream, and what it sent is no message")
	}
	for i, block := range m.Output.Message.Content {
		if err := a.whole(i, block); err != nil {
			return err
		}
	}
	a.usage.take(m.Usage)
	a.stop, a.metadata = m.StopReason, true
	a.settle()
	return a.size.Check()
}

func hasError(raw []byte) bool {
	var m struct {
		Error json.RawMessage `json:"error"`
	}
	return json.Unmarshal(raw, &m) == nil && len(m.Error) > 0 && string(m.Error) != "null"
}

// whole takes a block of an answer that did not stream.
func (a *assembler) whole(index int, block map[string]json.RawMessage) error {
	for kind, raw := range block {
		switch kind {
		case textKind:
			if s, ok := delta.String(raw); ok {
				a.grow(a.add(index, kind), s)
			}
		case thoughtKind:
			var t thought
			if err := decode(raw, &t); err != nil {
				return fmt.Errorf("content block %d: %w", index, err)
			}
			a.think(a.add(index, kind), &t)
		case callKind:
			if err := a.startCall(index, raw); err != nil {
				return err
			}
			if s := a.slot(index, callKind); s != nil && len(s.input) > 0 && !s.ghost(string(s.input)) {
				a.tell(s, string(s.input))
			}
		default:
			a.keep(a.add(index, kind), raw)
		}
	}
	return nil
}

// Message implements [wire.Assembler].
func (a *assembler) Message() oh.Message {
	a.settle()
	m := oh.Message{Role: oh.Assistant, Content: oh.Blocks{}, Model: a.model, Usage: a.usage.counts()}
	cut := a.reason(false).Cut()
	for i, s := range a.slots {
		if b := a.block(s, cut && i == len(a.slots)-1); b != nil {
			m.Content = append(m.Content, b)
		}
	}
	m.Stop = a.reason(len(m.Content.ToolUses()) > 0)
	return m
}

// reason is why the reply ended, in our words.
func (a *assembler) reason(calls bool) oh.StopReason {
	switch stop := oh.StopReason(a.stop); {
	case stop == "guardrail_intervened", stop == "content_filtered":
		return oh.StopRefusal
	case calls && (stop == oh.StopEnd || strings.HasPrefix(a.stop, malformed)):
		return oh.StopToolUse
	case !calls && stop == oh.StopToolUse:
		return oh.StopEnd
	default:
		return stop
	}
}

func (a *assembler) block(s *slot, cut bool) oh.Block {
	switch s.kind {
	case textKind:
		if s.text.Len() == 0 {
			return nil
		}
		return oh.Text{Text: s.text.String()}
	case thoughtKind:
		if s.text.Len() == 0 && s.opaque == (opaque{}) {
			return nil
		}
		return oh.Thinking{Text: s.text.String(), Opaque: a.sealed(s)}
	case callKind:
		raw := s.args.String()
		if s.args.Blank() && len(s.input) > 0 && (!cut || string(oh.Compact(s.input)) != "{}") {
			raw = string(s.input)
		}
		if s.ghost(raw) {
			return nil
		}
		return argument.Use(s.id, s.name, raw, cut)
	}
	return oh.Unknown{Type: s.kind, Raw: s.raw}
}

// ghost reports a call that says nothing.
func (s *slot) ghost(args string) bool {
	return s.name == "" && (args == "" || args == "{}")
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
