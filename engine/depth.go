package engine

import (
	"encoding/json"
	"fmt"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

const (
	// maxDepth is how deep the arguments of a call may be nested. JSON can be
	// read to a depth of 10,000, with everything around the arguments.
	maxDepth = 500
	maxKept  = 4000 // code points of arguments that are too deep
)

// flatten makes a call that is nested too deep one that is malformed, which a
// log can hold and a service can be sent.
func flatten(u oh.ToolUse) oh.ToolUse {
	deep := depth(u.Input)
	if deep <= maxDepth {
		return u
	}
	raw := text.Cut(string(u.Input), maxKept)
	input, err := oh.Marshal(map[string]string{"malformed": raw})
	if err != nil { // a string can be written
		input = json.RawMessage("{}")
	}
	u.Input = input
	u.Malformed = fmt.Sprintf("the arguments are nested %s deep; at most %d are allowed", text.Number(deep), maxDepth)
	return u
}

// depth is how deep the objects and arrays of JSON are nested.
func depth(raw []byte) int {
	now, most := 0, 0
	quoted, escaped := false, false
	for _, c := range raw {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			now++
			most = max(most, now)
		case c == '}' || c == ']':
			now--
		}
	}
	return most
}
