package bedrock

import (
	"cmp"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/bridge"
)

// point asks the service to cache what comes before. A request may have four:
// behind tools, system, and the last two user messages, so that what one turn
// wrote the next one finds.
const point = `,{"cachePoint":{"type":"default"}}`

//go:embed retired.md
var retired string

// encode makes the body of a request. Encoded messages are kept in the memo
// without cache points; those are put in between the pieces.
func (c *codec) encode(req *oh.Request) (*body.Body, error) {
	traits := c.link.Config().Model(req.Model)
	e := encoder{origin: c.link.Origin(req), traits: &traits, family: familyOf(cmp.Or(traits.Name, req.Model), &traits)}
	var b body.Body
	b.Add(e.head(req))
	if raw := c.toolList(req, &e); len(raw) > 0 {
		b.AddString(`"toolConfig":{"tools":`)
		b.Add(raw[:len(raw)-1])
		if e.family.toolCache {
			b.AddString(point)
		}
		b.AddString(`]},`)
	}
	if !body.Blank(req.System) {
		b.AddString(`"system":[{"text":`)
		b.Add(append(text.AppendJSON(nil, req.System), '}'))
		if e.family.cache {
			b.AddString(point)
		}
		b.AddString(`],`)
	}
	b.AddString(`"messages":[`)
	if err := e.messages(&b, req); err != nil {
		return nil, err
	}
	b.AddString(`]}`)
	return &b, nil
}

type encoder struct {
	origin string
	traits *provider.Traits
	family family
}

// head writes the members that are neither tools nor content, each with the
// comma that follows it.
func (e *encoder) head(req *oh.Request) []byte {
	limit := e.traits.Limit(req)
	thinking, free := e.thinking(req, limit)
	var fields []string
	if thinking != "" {
		fields = append(fields, thinking)
	}
	if betas, err := oh.Marshal(e.traits.Betas); err == nil && len(e.traits.Betas) > 0 && e.family.name == claude {
		fields = append(fields, `"anthropic_beta":`+string(betas))
	}
	out := []byte{'{'}
	if limit > 0 && !free {
		out = append(out, `"inferenceConfig":{"maxTokens":`...)
		out = append(strconv.AppendInt(out, int64(limit), 10), `},`...)
	}
	if len(fields) > 0 {
		out = append(out, `"additionalModelRequestFields":{`+strings.Join(fields, ",")+`},`...)
	}
	return out
}

// thinking asks for reasoning as the effort says, in the members that the
// model's maker wants. free says that the output must not be limited with it.
func (e *encoder) thinking(req *oh.Request, limit int) (fields string, free bool) {
	switch e.traits.Thinking {
	case provider.ThinkBudget:
		return e.budget(req, limit), false
	case provider.ThinkEffort:
		word := e.traits.Effort(req.Effort)
		if word == "" {
			return "", false
		}
		quoted := string(text.AppendJSON(nil, word))
		switch e.family.name {
		case claude:
			return `"thinking":{"type":"adaptive"},"output_config":{"effort":` + quoted + `}`, false
		case nova:
			return `"reasoningConfig":{"type":"enabled","maxReasoningEffort":` + quoted + `}`, word == "high"
		}
		return `"reasoning_effort":` + quoted, false
	}
	return "", false
}

func (e *encoder) budget(req *oh.Request, limit int) string {
	sends := func(x oh.Thinking) bool { return len(e.thought(nil, x)) > 0 }
	budget := body.ThinkingBudget(e.traits.Budget(req.Effort), limit, req.Messages, sends)
	if budget == 0 {
		return ""
	}
	return fmt.Sprintf(`"thinking":{"type":"enabled","budget_tokens":%d}`, budget)
}

// toolList returns the tools as a JSON list, nothing when there are none. The
// service wants the tools of the history declared, also where the request offers
// none.
func (c *codec) toolList(req *oh.Request, e *encoder) []byte {
	encode := func(specs []oh.ToolSpec) []byte { return body.ToolList(specs, e.family.dialect, appendTool) }
	switch {
	case e.traits.NoTools:
		return nil
	case len(req.Tools) > 0:
		return c.tools.As(string(e.family.dialect), req.Tools, encode)
	}
	var specs []oh.ToolSpec
	known := map[string]bool{}
	for i := range req.Messages {
		for _, u := range req.Messages[i].Content.ToolUses() {
			if name := body.Name(u.Name); !known[name] {
				known[name] = true
				specs = append(specs, oh.ToolSpec{Name: name, Description: strings.TrimSpace(retired)})
			}
		}
	}
	return encode(specs)
}

func appendTool(out []byte, t oh.ToolSpec, schema []byte) []byte {
	out = append(out, `{"toolSpec":{"name":`...)
	out = text.AppendJSON(out, body.Name(t.Name))
	if !body.Blank(t.Description) {
		out = append(out, `,"description":`...)
		out = text.AppendJSON(out, t.Description)
	}
	out = append(out, `,"inputSchema":{"json":`...)
	out = body.AppendRaw(out, schema, bridge.Empty)
	return append(out, `}}}`...)
}

func (e *encoder) messages(b *body.Body, req *oh.Request) error {
	key := fmt.Sprintf("bedrock\x00%s\x00%s\x00%t%t%t", e.origin, e.family.key(), e.traits.NoImages, e.traits.NoReasoning, e.traits.NoTools)
	marked := 0
	first := len(req.Messages) // of the messages that get a cache point
	for i := len(req.Messages) - 1; i >= 0 && marked < 2 && e.family.cache; i-- {
		if req.Messages[i].Role == oh.User {
			marked++
			first = i
		}
	}
	history := body.History{Memo: req.Memo, Key: key, Encode: e.message}
	if err := history.Add(b, req.Messages[:first]); err != nil {
		return fmt.Errorf("encode messages: %w", err)
	}
	for i := first; i < len(req.Messages); i++ {
		m := &req.Messages[i]
		raw, err := history.Message(m)
		if err != nil {
			return fmt.Errorf("encode message %d: %w", i+1, err)
		}
		if m.Role != oh.User {
			b.AddItem(raw)
			continue
		}
		const end = "]}" // of the content and the message
		b.AddItem(raw[:len(raw)-len(end)])
		b.AddString(point + end)
	}
	return nil
}
