package openai

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/delta"
	"github.com/openharness/oh/provider/internal/loose"
)

// call is one call in the making.
type call struct {
	index    *int
	id, name string
	args     argument.Builder
	seam     delta.Seam
	extra    json.RawMessage // extra_content
	told     bool            // a delta went out
	n        int             // counts the calls that were told
}

// call takes a piece of a call. Services disagree on how they tell the pieces
// of one call from those of another: by index, by id, or only by their order.
func (a *assembler) call(d *callDelta) {
	a.settle()
	name, args := "", ""
	if d.Function != nil {
		name, args = string(d.Function.Name), d.Function.args()
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
		a.say(a.think.interrupt())
		c = &call{index: d.Index.number}
		a.calls = append(a.calls, c)
		a.blocks = append(a.blocks, &part{kind: callPart, call: c})
		a.size.AddBlock()
	}
	if c.id == "" {
		c.id = string(d.ID)
	}
	c.rename(name)
	c.hang(d)
	a.size.Add(len(d.ID) + len(name) + len(args) + len(d.Extra))
	if strings.HasPrefix(strings.TrimSpace(args), "{") && c.args.String() == "{}" {
		c.args = argument.Builder{} // it stood for what comes now
	}
	a.grow(c, c.seam.Join(args))
}

// rename takes a name that may come in pieces, or growing.
func (c *call) rename(name string) {
	switch {
	case name == "":
	case c.name == "" || !c.args.Blank() || strings.HasPrefix(name, c.name):
		c.name = name
	default:
		c.name += name
	}
}

// grow adds to a call and tells it, once there is something to tell.
func (a *assembler) grow(c *call, args string) {
	c.args.Add(args)
	if c.phantom() {
		return
	}
	if !c.told {
		c.told, c.n = true, a.told
		a.told++
		args = c.args.String()
	}
	a.Add(oh.ToolInputDelta{Index: c.n, ID: c.id, Name: c.name, JSON: args})
}

// hang keeps the extra content of a piece: the newest is the whole.
func (c *call) hang(d *callDelta) {
	if loose.Present(d.Extra) {
		c.extra = d.Extra
	}
}

// find returns the call that a piece would belong to.
func (a *assembler) find(d *callDelta) *call {
	var near *call
	for _, c := range slices.Backward(a.calls) {
		switch {
		case d.Index.number != nil:
			if c.index == nil || *c.index != *d.Index.number {
				continue
			}
			if d.ID == "" || c.id == string(d.ID) {
				return c
			}
			if near == nil {
				near = c // another id, which may be that of another call
			}
		case d.ID == "" || c.id == string(d.ID):
			return c
		}
	}
	return near
}

// repeated reports whether a piece tells once more what is known of a complete
// call: some services send each call whole again at the end.
func (c *call) repeated(d *callDelta, name, args string) bool {
	same := d.ID != "" && string(d.ID) == c.id && name == c.name || d.ID == "" && name == "" && len(args) > 2
	args = strings.TrimSpace(args)
	return same && args != "" && c.args.Whole() && args == strings.TrimSpace(c.args.String())
}

// over reports whether a piece begins another call although it looks as if it
// belonged to c: it names another tool, or brings arguments where they are
// complete, or has another id.
func (c *call) over(d *callDelta, name, args string) bool {
	other := d.ID != "" && c.id != "" && string(d.ID) != c.id
	if name == "" {
		return other && c.args.Whole()
	}
	if other || strings.TrimSpace(args) != "" && c.args.Whole() && c.args.String() != "{}" {
		return true
	}
	if c.name == "" || name == c.name {
		return strings.TrimSpace(args) != "" && c.args.Whole() && d.ID == ""
	}
	// A second name where the first had an id is the rest of it.
	return c.id == "" || !c.args.Blank()
}

// phantom reports a call that says nothing.
func (c *call) phantom() bool { return c.name == "" && c.args.Blank() }

func (c *call) use(cut bool) oh.ToolUse {
	return argument.Use(c.id, c.name, c.args.String(), cut)
}
