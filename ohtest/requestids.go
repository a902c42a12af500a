package ohtest

import (
	"fmt"

	"github.com/openharness/oh"
)

// callIDs gives ids to calls that came without, and finds for a result without
// one the oldest call of its name that has no result yet. The zero value is
// ready for use.
type callIDs struct {
	n    int // calls so far
	open []oh.ToolUse
}

// give returns the blocks with an id for each call.
func (c *callIDs) give(blocks oh.Blocks) oh.Blocks {
	for i, b := range blocks {
		u, ok := b.(oh.ToolUse)
		if !ok {
			continue
		}
		c.n++
		if u.ID == "" {
			u.ID = fmt.Sprintf("call-%d", c.n)
		}
		c.open = append(c.open, u)
		blocks[i] = u
	}
	return blocks
}

// answer returns the id of the call that a result belongs to.
func (c *callIDs) answer(id, name string) string {
	for i, u := range c.open {
		if (id != "" && u.ID == id) || (id == "" && (name == "" || u.Name == name)) {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			return u.ID
		}
	}
	return id
}

// join appends a message, to the one before if that is of the same role.
func join(msgs []oh.Message, role oh.Role, blocks oh.Blocks) []oh.Message {
	if n := len(msgs) - 1; n >= 0 && msgs[n].Role == role {
		msgs[n].Content = append(msgs[n].Content, blocks...)
		return msgs
	}
	return append(msgs, oh.Message{Role: role, Content: blocks})
}
