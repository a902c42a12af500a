package ohtest

import (
	"fmt"

	"github.com/openharness/oh"
)

// encoding says how the parts of a reply become events of a wire.
type encoding struct {
	wire      Wire
	model     string
	id        string // of the message
	usage     bool   // OpenAI: a chunk with the usage at the end
	reasoning string // OpenAI: the field for reasoning
	encrypted bool   // Responses: reasoning items carry their encrypted content
	cut       Cut
}

// Events returns the events that a reply makes on a wire, one piece of bytes
// each, with what ends it (a blank line, on most): for tests of codecs, and to
// be cut up by hand. On the OpenAI wire reasoning is in reasoning_content, on the
// Responses wire it is encrypted.
func Events(w Wire, cut Cut, parts ...Part) [][]byte {
	e := encoding{wire: w, model: "scripted", id: newID(idPrefix(w)), usage: true, reasoning: reasoningFields[0], encrypted: true, cut: cut}
	events, _ := e.encode(parts)
	return events
}

func idPrefix(w Wire) string {
	switch w {
	case OpenAI:
		return "chatcmpl-"
	case Responses:
		return "resp_"
	case Anthropic:
		return "msg_"
	}
	return "" // a bare id
}

func newID(prefix string) string { return prefix + oh.NewID() }

// encode returns the events of a complete reply. The first open of them are
// what there is before the reply begins to close.
func (e encoding) encode(parts []Part) (events [][]byte, open int) {
	switch e.wire {
	case OpenAI:
		return e.openai(parts)
	case Responses:
		return e.responses(parts)
	case Gemini:
		return e.gemini(parts)
	case Bedrock:
		return e.bedrock(parts)
	case Ollama:
		return e.ollama(parts)
	}
	return e.anthropic(parts)
}

func event(name, format string, args ...any) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, fmt.Sprintf(format, args...))
}
