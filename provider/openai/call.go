package openai

import (
	"encoding/json"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/delta"
)

// call is one call in the making.
type call struct {
	index    *int
	id, name string
	args     argument.Builder
	seam     delta.Seam
	extra    json.RawMessage // extra_content
	n        int             // counts the calls of the reply
}

// call takes a piece of a call. Services disagree on how they tell the pieces
// of one call from those of another: by index, by id, or only by their order.
func (a *assembler) call(d *callDelta) {
	a.settle()
	name, args := "", ""
	if d.Function != nil {
		name, args = d.Function.Name, d.Function.args()
	}
	c := a.find(d)
	if c != nil && c.repeated(d, name, args) {
		c.hang(d)
		return
	}
	if c == nil || c.over(d, name, args) {
		if name == "" && args == "" && d.ID == "" {
			return
		}
		c = &call{index: d.Index, n: len(a.calls)}
		a.calls = append(a.calls, c)
		a.blocks = append(a.blocks, &part{kind: callPart, call: c})
		a.size.AddBlock()
	}
	if c.id == "" {
		c.id = d.ID
	}
	if name != "" {
		c.name = name
	}
	c.hang(d)
	a.size.Add(len(d.ID) + len(name) + len(args) + len(d.Extra))
	a.grow(c, c.seam.Join(args))
}

func (a *assembler) grow(c *call, args string) {
	c.args.Add(args)
	a.out = append(a.out, oh.ToolInputDelta{Index: c.n, ID: c.id, Name: c.name, JSON: args})
}

// hang keeps the extra content of a piece: the newest is the whole.
func (c *call) hang(d *callDelta) {
	if present(d.Extra) {
		c.extra = d.Extra
	}
}

// find returns the call that a piece would belong to.
func (a *assembler) find(d *callDelta) *call {
	for i := len(a.calls) - 1; i >= 0; i-- {
		c := a.calls[i]
		switch {
		case d.Index != nil:
			if c.index != nil && *c.index == *d.Index {
				return c
			}
		case d.ID != "":
			if c.id == d.ID {
				return c
			}
		default:
			return c
		}
	}
	return nil
}

// repeated reports whether a piece tells once more what is known of a complete
// call: some services send each call whole again at the end.
func (c *call) repeated(d *callDelta, name, args string) bool {
	return d.ID != "" && d.ID == c.id && name == c.name && strings.TrimSpace(args) != "" && c.args.Whole() &&
		strings.TrimSpace(args) == strings.TrimSpace(c.args.String())
}

// over reports whether a piece begins another call although it looks as if it
// belonged to c: it names another tool, or brings arguments where they are
// complete, or has another id and a name.
func (c *call) over(d *callDelta, name, args string) bool {
	if name == "" {
		return d.ID != "" && c.id != "" && d.ID != c.id && c.args.Whole()
	}
	switch {
	case c.name != "" && name != c.name:
		return true
	case d.ID != "" && c.id != "" && d.ID != c.id:
		return true
	}
	return strings.TrimSpace(args) != "" && c.args.Whole()
}

// phantom reports a call that says nothing.
func (c *call) phantom() bool { return c.name == "" && c.args.Blank() }

func (c *call) use(cut bool) oh.ToolUse {
	u := oh.ToolUse{ID: c.id, Name: c.name}
	u.Input, u.Malformed = argument.Parse(c.args.String(), cut)
	if c.name == "" && u.Malformed == "" {
		u.Malformed = "the call names no tool: " + c.args.String()
	}
	return u
}
