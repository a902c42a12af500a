package engine

import (
	"bytes"
	"encoding/json"

	"github.com/openharness/oh"
)

// The same failing call this often: the model is told, then the run ends.
const (
	repeatsTold  = 3
	repeatsEnded = 5
)

// guard counts failing calls that repeat: the same tool, the same input and
// the same error, once for each reply, since the model learns of an error only
// after it. A success that is new ends the count, so that running a test
// again after each edit is never taken for a loop.
type guard struct {
	failed    map[string]int
	succeeded map[string]bool
	counted   map[string]bool // failures of this reply
}

// reply begins with the calls of the next reply.
func (g *guard) reply() { g.counted = map[string]bool{} }

// note takes the result of a call into account and returns how many replies
// this very failure has been seen in; 0 for a success.
func (g *guard) note(call oh.ToolUse, isError bool, text string) int {
	key := callKey(call)
	if !isError {
		if !g.succeeded[key] {
			g.failed, g.succeeded = nil, map[string]bool{}
		}
		g.succeeded[key] = true
		return 0
	}
	if g.failed == nil {
		g.failed = map[string]int{}
	}
	failure := key + "\x00" + text
	if !g.counted[failure] {
		g.counted[failure] = true
		g.failed[failure]++
	}
	return g.failed[failure]
}

// callKey names a tool with its input as canonical JSON. Calls that do not
// parse count as the same.
func callKey(call oh.ToolUse) string {
	if call.Malformed != "" {
		return call.Name + "\x00malformed"
	}
	dec := json.NewDecoder(bytes.NewReader(call.Input))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return call.Name + "\x00" + string(call.Input)
	}
	canon, err := oh.Marshal(v)
	if err != nil {
		canon = call.Input
	}
	return call.Name + "\x00" + string(canon)
}
