package gemini

import (
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider/internal/argument"
	"github.com/openharness/oh/provider/internal/body"
)

// call is one call in the making. Calls come whole, but for pieces of arguments
// that Vertex AI may stream.
type call struct {
	id, name string
	told     string // the id as the service told it; empty when it told none, or one twice
	args     string
	tree     *tree
	open     bool // more pieces must come
	n        int  // counts the calls of the reply
}

// callPart takes a call, or a piece of the one that is open.
func (a *assembler) callPart(p *part) error {
	f := p.Call
	if c := a.openCall(); c != nil && (f.Name == "" || string(f.Name) == c.name && len(f.Partial) > 0) {
		return a.grow(c, f)
	}
	args := f.args()
	if f.Name == "" && len(f.Partial) == 0 && (args == "" || args == "{}") {
		return nil // the end of pieces, or nothing
	}
	if old := a.repeated(f, args); old != nil {
		if old.signature == "" {
			old.signature = string(p.Signature)
		}
		return nil
	}
	a.settle()
	c := &call{name: string(f.Name), args: args, n: len(a.calls)}
	c.id, c.told = a.id(string(f.ID))
	a.calls = append(a.calls, c)
	a.size.Add(len(f.ID) + len(f.Name) + len(args) + len(p.Signature))
	if a.ids == nil {
		a.ids = map[string]*block{}
	}
	a.ids[c.id] = a.add(&block{kind: callBlock, call: c, signature: string(p.Signature)})
	delta := oh.ToolInputDelta{Index: c.n, ID: c.id, Name: c.name}
	if args != "" {
		delta.JSON = string(body.AppendRaw(nil, []byte(args), ""))
	}
	a.Add(delta)
	if f.More || len(f.Partial) > 0 {
		c.open, c.tree = true, &tree{}
		return a.grow(c, f)
	}
	return nil
}

func (a *assembler) openCall() *call {
	if n := len(a.calls); n > 0 && a.calls[n-1].open {
		return a.calls[n-1]
	}
	return nil
}

// grow takes pieces of arguments.
func (a *assembler) grow(c *call, f *functionCall) error {
	for i := range f.Partial {
		p := &f.Partial[i]
		a.size.AddBlock()
		a.size.Add(len(p.Path) + len(p.String) + len(p.Number))
		if err := c.tree.add(p); err != nil {
			return err
		}
	}
	if len(f.Args) > 0 && c.tree.root == nil {
		c.args = f.args()
	}
	if c.open = f.More; !c.open {
		a.close(c)
	}
	return nil
}

// close puts the arguments that came in pieces together.
func (a *assembler) close(c *call) {
	if c.tree == nil {
		return
	}
	if c.tree.root != nil {
		c.args = c.tree.JSON()
	}
	c.tree = nil
	if c.args != "" {
		a.Add(oh.ToolInputDelta{Index: c.n, ID: c.id, Name: c.name, JSON: c.args})
	}
}

// closeAll ends the call whose last piece did not come. What is missing nobody
// knows, so its arguments stay an object that is not closed.
func (a *assembler) closeAll() {
	c := a.openCall()
	if c == nil {
		return
	}
	c.open = false
	if c.tree.root != nil {
		c.args, c.tree.root = c.tree.JSON(), nil
	}
	if c.args = strings.TrimSuffix(c.args, "}"); c.args == "" {
		c.args = "{"
	}
	a.close(c)
}

// repeated returns a call that was told before: with the same id, name and
// arguments it is the same one.
func (a *assembler) repeated(f *functionCall, args string) *block {
	if b := a.ids[string(f.ID)]; b != nil && b.call.told != "" && b.call.name == string(f.Name) && b.call.args == args {
		return b
	}
	return nil
}

// id returns an id that no other call of the reply has, and the one that goes
// back to the service.
func (a *assembler) id(told string) (id, back string) {
	if told != "" && a.ids[told] == nil {
		return told, told
	}
	for n := len(a.calls) + 1; ; n++ {
		if id := "call_" + strconv.Itoa(n); a.ids[id] == nil {
			return id, ""
		}
	}
}

// use makes the block of a call.
func (c *call) use(cut bool) oh.ToolUse {
	return argument.Use(c.id, c.name, c.args, cut)
}
