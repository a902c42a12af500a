// Package loose reads values that services write in more than one way, so that
// one of an odd form is taken for what it means and does not spoil the rest. It
// is not for text, which [github.com/openharness/oh/provider/internal/delta]
// reads.
package loose

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Count is a number of tokens, written as a number of any form or as a string;
// what is no positive number is 0.
type Count int

// UnmarshalJSON implements [json.Unmarshaler]. It never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err == nil && f > 0 && f < 1e15 {
		*c = Count(f)
	}
	return nil
}

// Present reports whether a member says anything: it is there, and is not null,
// false, or empty text or an empty object, which stand for nothing as well.
func Present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}":
		return false
	}
	return true
}
