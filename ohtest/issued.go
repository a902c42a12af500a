package ohtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// seal returns the signature of a piece of reasoning.
func seal(thought string) string {
	sum := sha256.Sum256([]byte("ohtest thinking\x00" + thought))
	return "ohsig_" + hex.EncodeToString(sum[:20])
}

// issued remembers the reasoning that a server sent. The zero value remembers
// none. It is safe for concurrent use.
type issued struct {
	mu         sync.Mutex
	signatures map[string]string      // guarded by mu; signature → text
	texts      map[reasoning]bool     // guarded by mu
	calls      map[string][]reasoning // guarded by mu; call id → what its reply had
}

// anyDetails stands for reasoning_details of any content: clients merge the
// pieces in ways of their own.
const anyDetails = "(details)"

// reasoning is what was sent in one field of a reply.
type reasoning struct{ field, text string }

// thought returns the text that goes with a signature.
func (i *issued) thought(sig string) (string, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	s, ok := i.signatures[sig]
	return s, ok
}

// reasoned reports whether a reply had this text in this field.
func (i *issued) reasoned(field, text string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.texts[reasoning{field, text}]
}

// before returns the reasoning of the reply that had a call, one for each
// field it was sent in.
func (i *issued) before(call string) []reasoning {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[call]
}

// learn reads the bytes of an answer for the reasoning in it. Bytes that are
// no events are passed over.
func (i *issued) learn(w Wire, sent []byte) {
	var events []map[string]any
	for _, data := range eventData(sent) {
		if m, err := decodeObject(data); err == nil {
			events = append(events, m)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.signatures == nil {
		i.signatures, i.texts, i.calls = map[string]string{}, map[reasoning]bool{}, map[string][]reasoning{}
	}
	if w == Anthropic {
		i.learnAnthropic(events)
	} else {
		i.learnOpenAI(events)
	}
}

func (i *issued) learnAnthropic(events []map[string]any) {
	type block struct{ text, sig string }
	open := map[string]*block{}
	for _, e := range events {
		at := fmt.Sprint(e["index"])
		if open[at] == nil || e["type"] == "content_block_start" {
			open[at] = &block{}
		}
		b := open[at]
		for _, key := range []string{"content_block", "delta"} {
			m, _ := e[key].(map[string]any)
			text, _ := m["thinking"].(string)
			sig, _ := m["signature"].(string)
			b.text += text
			b.sig += sig
			if data, ok := m["data"].(string); ok && m["type"] == "redacted_thinking" {
				i.signatures[data] = ""
			}
		}
		if b.sig != "" {
			i.signatures[b.sig] = b.text
		}
	}
}

func (i *issued) learnOpenAI(events []map[string]any) {
	var text, other strings.Builder // of reasoning_content and of reasoning
	details := 0
	var calls []string
	for _, e := range events {
		choices, _ := e["choices"].([]any)
		for _, x := range choices {
			choice, _ := x.(map[string]any)
			delta, _ := choice["delta"].(map[string]any)
			s, _ := delta["reasoning_content"].(string)
			text.WriteString(s)
			s, _ = delta["reasoning"].(string)
			other.WriteString(s)
			list, _ := delta["reasoning_details"].([]any)
			details += len(list)
			list, _ = delta["tool_calls"].([]any)
			for _, y := range list {
				call, _ := y.(map[string]any)
				if id, _ := call["id"].(string); id != "" {
					calls = append(calls, id)
				}
			}
		}
	}
	all := []reasoning{{"reasoning_content", text.String()}, {"reasoning", other.String()}}
	if details > 0 {
		all = append(all, reasoning{"reasoning_details", anyDetails})
	}
	all = slices.DeleteFunc(all, func(r reasoning) bool { return r.text == "" })
	for _, r := range all {
		i.texts[r] = true
	}
	for _, id := range calls {
		i.calls[id] = all
	}
}

// eventData returns the data of the events in a stream.
func eventData(stream []byte) [][]byte {
	stream = bytes.ReplaceAll(stream, []byte("\r\n"), []byte("\n"))
	var out [][]byte
	for event := range bytes.SplitSeq(stream, []byte("\n\n")) {
		var data []byte
		for line := range bytes.SplitSeq(event, []byte("\n")) {
			if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				if data != nil {
					data = append(data, '\n')
				}
				data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
			}
		}
		if data != nil {
			out = append(out, data)
		}
	}
	return out
}
