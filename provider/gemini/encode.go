package gemini

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/bridge"
	"github.com/openharness/oh/provider/internal/note"
)

// encode makes the body of a request of pieces that the memo keeps. The
// contents come last, so that one request is the beginning of the next.
func (c *codec) encode(req *oh.Request, traits *provider.Traits) (*body.Body, error) {
	e := encoder{origin: c.link.Origin(req), traits: traits, signs: traits.SignedCalls || signs(name(traits, req)), messages: alternating(req.Messages)}
	var b body.Body
	b.AddString(`{`)
	if !body.Blank(req.System) {
		b.AddString(`"systemInstruction":{"parts":[{"text":`)
		b.Add(text.AppendJSON(nil, req.System))
		b.AddString(`}]},`)
	}
	if len(req.Tools) > 0 && !traits.NoTools {
		b.Add(c.tools.Get(req.Tools, encodeTools))
	}
	b.Add(e.config(req))
	b.AddString(`"contents":[`)
	history := body.History{Memo: req.Memo, Key: e.key(), Encode: e.message}
	if err := history.Add(&b, e.messages); err != nil {
		return nil, fmt.Errorf("encode messages: %w", err)
	}
	b.AddString(`]}`)
	return &b, nil
}

// name is the id of the model that is asked.
func name(traits *provider.Traits, req *oh.Request) string {
	return cmp.Or(traits.Name, req.Model)
}

type encoder struct {
	origin   string
	traits   *provider.Traits
	signs    bool // calls need a thought signature
	messages []oh.Message
}

// key names all that the bytes of a message depend on.
func (e *encoder) key() string {
	t := e.traits
	return fmt.Sprintf("gemini\x00%s\x00%t%t%t%t%t", e.origin, e.signs, t.NoReasoning, t.NoImages, t.ResponseImages, t.NoTools)
}

// encodeTools makes the member of a request that declares tools, with a comma
// after it; nothing when there is no tool that can be declared.
func encodeTools(specs []oh.ToolSpec) []byte {
	list := body.ToolList(specs, bridge.Gemini, func(out []byte, t oh.ToolSpec, schema []byte) []byte {
		out = append(out, `{"name":`...)
		out = text.AppendJSON(out, body.Name(t.Name))
		if !body.Blank(t.Description) {
			out = append(out, `,"description":`...)
			out = text.AppendJSON(out, t.Description)
		}
		if len(schema) > 0 {
			out = append(out, `,"parameters":`...)
			out = body.AppendRaw(out, schema, bridge.Empty)
		}
		return append(out, '}')
	})
	if len(list) == 0 {
		return nil
	}
	out := append([]byte(nil), `"tools":[{"functionDeclarations":`...)
	return append(append(out, list...), `}],`...)
}

// Tokens: what is left for the reply itself when there is a limit, and the least
// and the most thinking that every model takes.
const (
	minReply  = 1024
	minBudget = 512
	maxBudget = 24576
)

// config is the generation's configuration with a comma after it, or nothing.
// A model that thinks is asked for its thoughts whatever the effort: it thinks
// anyhow, and what is shown is a sign of life in the minutes before it answers.
func (e *encoder) config(req *oh.Request) []byte {
	limit := e.traits.Limit(req)
	var members []string
	if limit > 0 {
		members = append(members, `"maxOutputTokens":`+strconv.Itoa(limit))
	}
	if e.traits.Levels || e.traits.Thinking != provider.ThinkNone {
		members = append(members, `"thinkingConfig":{"includeThoughts":true`+e.effort(req.Effort, limit)+`}`)
	}
	if len(members) == 0 {
		return nil
	}
	return []byte(`"generationConfig":{` + strings.Join(members, ",") + `},`)
}

// effort is how much the model is to think, with a comma before it. A request
// has a level or a budget, never both.
func (e *encoder) effort(effort string, limit int) string {
	if e.traits.Levels || e.traits.Thinking == provider.ThinkEffort {
		if word := e.level(effort); word != "" {
			return `,"thinkingLevel":"` + word + `"`
		}
		return ""
	}
	budget := e.traits.Budget(effort)
	if _, own := e.traits.Budgets[effort]; !own {
		budget = min(budget, maxBudget)
	}
	switch {
	case budget <= 0:
		return ""
	case limit > 2*minReply:
		// The limit is on thoughts and reply together.
		budget = min(budget, limit-minReply)
	case limit > 0:
		budget = min(budget, max(limit/2, minBudget))
	}
	return `,"thinkingBudget":` + strconv.Itoa(budget)
}

// level is the wire's word for an effort, "" when nothing is to be sent.
func (e *encoder) level(effort string) string {
	if word, ok := e.traits.Efforts[effort]; ok {
		effort = word
	}
	switch effort = strings.ToUpper(effort); effort {
	case "MINIMAL", "LOW", "MEDIUM", "HIGH":
		return effort
	case "XHIGH", "MAX":
		return "HIGH"
	}
	return ""
}

// alternating returns messages with neighbours of one role put together: some
// models take only turns that alternate.
func alternating(msgs []oh.Message) []oh.Message {
	same := func(a, b *oh.Message) bool { return (a.Role == oh.Assistant) == (b.Role == oh.Assistant) }
	fits := true
	for i := 1; i < len(msgs) && fits; i++ {
		fits = !same(&msgs[i-1], &msgs[i])
	}
	if fits {
		return msgs
	}
	var out []oh.Message
	for _, m := range msgs {
		n := len(out) - 1
		if n < 0 || !same(&out[n], &m) {
			out = append(out, m)
			continue
		}
		before := &out[n]
		before.Content = append(slices.Clip(before.Content), m.Content...)
		if before.ID == "" || m.ID == "" {
			before.ID = ""
		} else {
			before.ID += "\x00" + m.ID
		}
	}
	return out
}

// message encodes one message.
func (e *encoder) message(m *oh.Message) []byte {
	var p parts
	role := "user"
	if m.Role == oh.Assistant {
		role = "model"
		e.assistant(&p, m)
	} else {
		e.user(&p, m)
	}
	if p.empty() {
		p.text(note.EmptyMessage(), "")
	}
	out := append([]byte(nil), `{"role":"`+role+`","parts":[`...)
	return append(append(out, p.out...), `]}`...)
}

func (e *encoder) assistant(p *parts, m *oh.Message) {
	signed := e.signatures(m.Content.ToolUses())
	calls := 0
	for _, x := range m.Content {
		switch x := x.(type) {
		case oh.Text:
			var o opaque
			o.open(x.Opaque, e.origin)
			p.text(x.Text, o.Signature)
		case oh.Thinking:
			var o opaque
			switch home := o.open(x.Opaque, e.origin); {
			case !home || e.traits.NoReasoning && !o.Plain:
			case o.Plain:
				p.text(x.Text, o.Signature)
			default:
				p.thought(x.Text, o.Signature)
			}
		case oh.ToolUse:
			if e.traits.NoTools {
				p.text(note.Called(body.Name(x.Name), x.ID, string(body.AppendRaw(nil, x.Input, "{}"))), "")
				continue
			}
			p.call(x, e.id(x), signed[calls])
			calls++
		}
	}
}

// unsigned is what Google documents as the signature of a call that no Gemini
// model signed.
const unsigned = "skip_thought_signature_validator"

// signatures returns the signature of each call, "" where none is sent. A model
// that demands one wants it on the first of parallel calls only. It demands it
// of the current turn, but a stand-in that came and went would move the prefix.
func (e *encoder) signatures(calls []oh.ToolUse) []string {
	out := make([]string, len(calls))
	own := false
	for i, u := range calls {
		var o opaque
		if o.open(u.Opaque, e.origin) {
			out[i] = o.Signature
		}
		own = own || out[i] != ""
	}
	if e.signs && len(calls) > 0 && !own {
		out[0] = unsigned
	}
	return out
}

// signs reports whether a model refuses calls without a signature: all since
// Gemini 3 do, and the names without a number are of the newest.
func signs(model string) bool {
	name, ok := strings.CutPrefix(strings.ToLower(last(model)), "gemini-")
	if !ok {
		return false
	}
	end := strings.IndexFunc(name, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(name)
	}
	version, err := strconv.Atoi(name[:end])
	return err == nil && version >= 3 || end == 0 && strings.HasSuffix(name, "-latest")
}
