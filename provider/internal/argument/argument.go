// Package argument turns the arguments of a call, as a model wrote them, into
// what a history may hold: always a compact JSON object. What is no object is
// never guessed at: it becomes a record of the raw text and a reason.
package argument

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider/internal/body"
)

const (
	maxReason = 500  // code points of raw text in a reason
	maxKept   = 4000 // code points of raw text in the stored input
)

// Use makes a call of what a service told of one; see Parse. A call that names
// no tool is malformed too.
func Use(id, name, raw string, cut bool) oh.ToolUse {
	u := oh.ToolUse{ID: id, Name: name}
	u.Input, u.Malformed = Parse(raw, cut)
	if name == "" && u.Malformed == "" {
		u.Malformed = "the call names no tool: " + text.Cut(raw, maxReason)
	}
	return u
}

// Parse reads the arguments of a call. Nothing, "" and null are an empty
// object; a string that holds an object is that object. malformed is empty, or says for the model why raw is no JSON object;
// input is then an object with the raw text under "malformed". cut says that
// the reply was cut off at a limit in this call, so that an empty raw proves
// nothing.
func Parse(raw string, cut bool) (input json.RawMessage, malformed string) {
	s := strings.TrimSpace(raw)
	if cut && s == "" {
		return keep(raw), "the reply was cut off at the output limit before the arguments of this call were complete"
	}
	if s == "" || s == "null" || s == `""` {
		return json.RawMessage("{}"), ""
	}
	s = unquoted(s)
	input, err := object(s)
	if err != nil {
		if mended, changed := escapeControls(s); changed {
			if input, err2 := object(mended); err2 == nil {
				return input, ""
			}
		}
	}
	if err == nil {
		return input, ""
	}
	if cut {
		return keep(raw), "the reply was cut off at the output limit before the arguments of this call were complete; they end so far with: " +
			text.Tail(strings.ToValidUTF8(s, "\ufffd"), maxReason)
	}
	return keep(raw), fmt.Sprintf("the arguments are no JSON object (%v): %s", err, text.Cut(strings.ToValidUTF8(s, "\ufffd"), maxReason))
}

// unquoted returns the object that a string holds, where some services encode
// arguments twice.
func unquoted(s string) string {
	if s[0] != '"' {
		return s
	}
	var inner string
	if json.Unmarshal([]byte(s), &inner) != nil {
		return s
	}
	if inner = strings.TrimSpace(inner); strings.HasPrefix(inner, "{") && json.Valid([]byte(inner)) {
		return inner
	}
	return s
}

// object returns s as a compact JSON object without half characters.
func object(s string) (json.RawMessage, error) {
	if s[0] != '{' {
		var v any
		if err := json.Unmarshal([]byte(s), &v); err != nil {
			return nil, err
		}
		return nil, errors.New("it is another kind of value")
	}
	if !json.Valid([]byte(s)) {
		var v map[string]json.RawMessage
		err := json.Unmarshal([]byte(s), &v)
		if err == nil {
			err = errors.New("invalid JSON")
		}
		return nil, err
	}
	return body.AppendRaw(nil, oh.Compact([]byte(s)), "{}"), nil
}

func keep(raw string) json.RawMessage {
	out := append([]byte(nil), `{"malformed":`...)
	return append(text.AppendJSON(out, text.Cut(strings.ToValidUTF8(raw, "\ufffd"), maxKept)), '}')
}

// escapeControls escapes raw control characters inside strings, the one
// mistake that models make often and that has one meaning only.
func escapeControls(s string) (string, bool) {
	var out bytes.Buffer
	inside, changed := false, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case inside && c < ' ':
			quoted := text.AppendJSON(nil, s[i:i+1])
			out.Write(quoted[1 : len(quoted)-1])
			changed = true
			continue
		case inside && c == '\\' && i+1 < len(s) && s[i+1] >= ' ':
			out.WriteByte(c)
			i++
			c = s[i]
		case c == '"':
			inside = !inside
		}
		out.WriteByte(c)
	}
	return out.String(), changed
}

// Builder collects the pieces of a call's arguments.
type Builder struct{ buf []byte }

// Add appends a piece.
func (b *Builder) Add(piece string) { b.buf = append(b.buf, piece...) }

// String returns what was collected.
func (b *Builder) String() string { return string(b.buf) }

// Blank reports whether nothing but white space was collected.
func (b *Builder) Blank() bool { return len(bytes.TrimSpace(b.buf)) == 0 }

// Whole reports whether what was collected is one complete JSON value.
func (b *Builder) Whole() bool {
	t := bytes.TrimSpace(b.buf)
	return len(t) > 0 && (t[len(t)-1] == '}' || t[len(t)-1] == 'l' || t[len(t)-1] == '"') && utf8.Valid(t) && json.Valid(t)
}
