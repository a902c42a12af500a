package print

import (
	"bytes"
	"strconv"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// appendSafe appends a JSON value with U+2028 and U+2029 escaped, which some
// readers take for the end of a line. They can stand only inside strings, and
// come through raw messages that are kept byte for byte elsewhere.
func appendSafe(dst, value []byte) []byte {
	for {
		i := bytes.Index(value, []byte("\xe2\x80"))
		if i < 0 {
			return append(dst, value...)
		}
		if i+2 < len(value) && (value[i+2] == 0xa8 || value[i+2] == 0xa9) {
			dst = append(append(dst, value[:i]...), `\u202`...)
			dst = append(dst, "0123456789abcdef"[value[i+2]&0xf])
			value = value[i+3:]
			continue
		}
		dst = append(dst, value[:i+2]...)
		value = value[i+2:]
	}
}

// appendDelta appends the line of an envelope whose event is a text or thinking
// delta. ok is false for anything else, and for a time JSON cannot hold.
func appendDelta(dst []byte, env oh.Envelope) (out []byte, ok bool) {
	var kind, said string
	switch e := env.Event.(type) {
	case oh.TextDelta:
		kind, said = "text_delta", e.Text
	case oh.ThinkingDelta:
		kind, said = "thinking_delta", e.Text
	default:
		return dst, false
	}
	keep := len(dst)
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, env.Seq, 10)
	dst = append(dst, `,"time":"`...)
	dst, ok = appendTime(dst, env.Time)
	if !ok {
		return dst[:keep], false
	}
	dst = append(dst, `","session":`...)
	dst = text.AppendJSON(dst, env.Session)
	dst = append(dst, `,"event":{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","text":`...)
	dst = text.AppendJSON(dst, said)
	return append(dst, "}}\n"...), true
}

func appendTime(dst []byte, t time.Time) ([]byte, bool) {
	out, err := t.AppendText(dst)
	if err != nil {
		return dst, false
	}
	return out, true
}

// eventFace writes native envelopes, one a line.
type eventFace struct{ p *Printer }

func (f *eventFace) event(env oh.Envelope, _ *Denial) error {
	out := f.p.out
	if buf, ok := appendDelta(out.buf, env); ok {
		out.buf = buf
		return out.held(env.Time)
	}
	value, err := oh.Marshal(env)
	if err != nil {
		f.p.note.warn("one event could not be written: " + err.Error())
		return nil
	}
	out.flushed = env.Time
	return out.line(value)
}

func (f *eventFace) finish(Outcome) error { return nil }
