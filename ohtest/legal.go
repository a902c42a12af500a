package ohtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
)

// legalName reports whether s is a tool name that every service takes.
func legalName(s string) bool { return legalID(s) && len(s) <= 64 }

// legalID reports whether s is a call id that every service takes: letters,
// digits, _ and -.
func legalID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func isObject(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}

// CheckRequest holds a request to the rules of [oh.Request]: roles alternate
// beginning and ending with the user; each call is answered exactly once, in
// the next message, before other content; no text is blank; ids are unique and
// legal, as are the names and schemas of tools; inputs are JSON objects; all
// text is valid UTF-8.
func CheckRequest(req *oh.Request) []Violation {
	c := &vocabulary{seen: map[string]bool{}}
	if req.MaxTokens < 0 {
		c.add("max-tokens", "max_tokens", "%d is negative", req.MaxTokens)
	}
	c.utf8("system", req.System)
	c.messages(req.Messages)
	c.tools(req.Tools)
	return c.found
}

// CheckSpec holds what the model is told about a tool to the rules of the
// services: a legal name, a description, and a schema that all of them take.
func CheckSpec(spec oh.ToolSpec) []Violation {
	c := &vocabulary{}
	where := "tool " + text.Cut(spec.Name, 80)
	c.text(where+".description", spec.Description)
	c.tool(where, spec)
	return c.found
}

// vocabulary checks a request in the words of package oh.
type vocabulary struct {
	report
	seen map[string]bool // ids of all calls
	open map[string]bool // calls of the last message that wait for a result
}

func (c *vocabulary) utf8(where, s string) {
	if !utf8.ValidString(s) {
		c.add("utf8", where, "the text is not valid UTF-8")
	}
}

func (c *vocabulary) text(where, s string) {
	if blank(s) {
		c.add("blank-text", where, "the text is empty or blank")
	}
	c.utf8(where, s)
}

func (c *vocabulary) tools(specs []oh.ToolSpec) {
	names := map[string]bool{}
	for i, spec := range specs {
		where := fmt.Sprintf("tools[%d]", i)
		if names[spec.Name] {
			c.add("tool-duplicate", where, "there are two tools of the name %q", spec.Name)
		}
		names[spec.Name] = true
		c.tool(where, spec)
	}
}

func (c *vocabulary) tool(where string, spec oh.ToolSpec) {
	if !legalName(spec.Name) {
		c.add("tool-name", where+".name", "%q does not match ^[a-zA-Z0-9_-]{1,64}$", spec.Name)
	}
	c.utf8(where+".description", spec.Description)
	found := inspect(spec.Schema)
	for _, v := range found {
		c.add(v.Rule, where+".schema", "%s", v.Text)
	}
	if len(found) > 0 {
		return
	}
	var schema any
	if err := json.Unmarshal(spec.Schema, &schema); err != nil {
		c.add("json", where+".schema", "%v", err)
		return
	}
	checkSchema(&c.report, where+".schema", schema, false)
}

func (c *vocabulary) messages(msgs []oh.Message) {
	if len(msgs) == 0 {
		c.add("messages-empty", "messages", "there are no messages")
		return
	}
	want := oh.User
	for i, m := range msgs {
		where := fmt.Sprintf("messages[%d]", i)
		if m.Role != want {
			c.add("role-order", where, "the role is %q, not %q: roles alternate beginning with the user", m.Role, want)
			want = m.Role
		}
		if len(m.Content) == 0 {
			c.add("content-empty", where, "the message has no content")
		}
		if m.Role == oh.Assistant {
			c.assistant(where, m.Content)
			want = oh.User
			continue
		}
		c.user(where, m.Content)
		want = oh.Assistant
	}
	last := len(msgs) - 1
	if msgs[last].Role != oh.User {
		c.add("role-last", fmt.Sprintf("messages[%d]", last), "the last message is not the user's")
	}
	c.unanswered(fmt.Sprintf("messages[%d]", last))
}

// unanswered reports the calls that should have got their results in the
// message at where.
func (c *vocabulary) unanswered(where string) {
	for _, id := range sortedKeys(c.open) {
		c.add("call-unanswered", where, "the call %q of the message before has no result here", id)
	}
	c.open = nil
}

func (c *vocabulary) assistant(where string, blocks oh.Blocks) {
	c.unanswered(where)
	c.open = map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content[%d]", where, i)
		switch b := b.(type) {
		case oh.Text:
			c.text(at, b.Text)
		case oh.Thinking:
			c.utf8(at, b.Text)
			if b.Opaque != nil && !json.Valid(b.Opaque.Data) {
				c.add("json", at, "the opaque payload is not valid JSON")
			}
		case oh.ToolUse:
			c.call(at, b)
		case oh.Unknown:
		default:
			c.add("block-type", at, "%T does not belong into an assistant message", b)
		}
	}
}

func (c *vocabulary) call(at string, b oh.ToolUse) {
	if !legalID(b.ID) {
		c.add("call-id", at, "the id %q does not match ^[a-zA-Z0-9_-]+$", b.ID)
	}
	if c.seen[b.ID] {
		c.add("call-duplicate", at, "the id %q was used by an earlier call", b.ID)
	}
	if !legalName(b.Name) {
		c.add("tool-name", at, "%q does not match ^[a-zA-Z0-9_-]{1,64}$", b.Name)
	}
	if !isObject(b.Input) {
		c.add("call-input", at, "the input is not a JSON object")
	} else if !utf8.Valid(b.Input) {
		c.add("utf8", at, "the input is not valid UTF-8")
	}
	c.seen[b.ID] = true
	c.open[b.ID] = true
}

func (c *vocabulary) user(where string, blocks oh.Blocks) {
	other := false
	answered := map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content[%d]", where, i)
		r, ok := b.(oh.ToolResult)
		if !ok {
			other = true
			c.userBlock(at, b)
			continue
		}
		switch {
		case answered[r.ToolUseID]:
			c.add("result-duplicate", at, "the call %q has two results", r.ToolUseID)
		case !c.open[r.ToolUseID]:
			c.add("result-orphan", at, "the message before has no call %q", r.ToolUseID)
		case other:
			c.add("result-order", at, "results come before all other content")
		}
		answered[r.ToolUseID] = true
		delete(c.open, r.ToolUseID)
		for j, inner := range r.Content {
			c.userBlock(fmt.Sprintf("%s.content[%d]", at, j), inner)
		}
	}
	c.unanswered(where)
}

// userBlock checks content of a user message or of a result.
func (c *vocabulary) userBlock(at string, b oh.Block) {
	switch b := b.(type) {
	case oh.Text:
		c.text(at, b.Text)
	case oh.Image:
		checkImage(&c.report, at, b.MediaType, b.Data)
	case oh.Document:
		if len(b.Data) == 0 {
			c.add("document", at, "the document is empty")
		}
	case oh.Unknown:
	default:
		c.add("block-type", at, "%T does not belong here", b)
	}
}
