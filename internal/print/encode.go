package print

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/openharness/oh"
)

const hex = "0123456789abcdef"

// appendString appends s as a JSON string, with the bytes that encoding/json
// writes when it does not escape HTML. It exists because deltas come by the ten
// thousand.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if b >= ' ' && b != '"' && b != '\\' && b < utf8.RuneSelf {
			i++
			continue
		}
		if b < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[start:i]...), b)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, s[start:i]...), `\u202`...)
			dst = append(dst, hex[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(dst, s[start:]...), '"')
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&0xf])
}

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
			dst = append(dst, hex[value[i+2]&0xf])
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
	var kind, text string
	switch e := env.Event.(type) {
	case oh.TextDelta:
		kind, text = "text_delta", e.Text
	case oh.ThinkingDelta:
		kind, text = "thinking_delta", e.Text
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
	dst = appendString(dst, env.Session)
	dst = append(dst, `,"event":{"type":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","text":`...)
	dst = appendString(dst, text)
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
