package ohtest

import "fmt"

// Known fields of the Messages API.
const (
	anthropicFields = "model messages max_tokens system metadata stop_sequences stream temperature top_k top_p tools tool_choice " +
		"thinking service_tier container mcp_servers context_management output_config output_format cache_control inference_geo speed"
	anthropicToolFields = "name description input_schema cache_control type strict defer_loading eager_input_streaming input_examples allowed_callers"

	maxCacheMarks     = 4
	minThinkingBudget = 1024
)

// anthropicCheck checks a body of the Messages API.
type anthropicCheck struct {
	*checker
	marks int // cache marks so far
}

func (c *anthropicCheck) run(root map[string]any) {
	c.fields("", root, anthropicFields)
	if c.str("", root, "model") == "" {
		c.add("model", "model", "a model is required")
	}
	if _, ok := root["max_tokens"]; !ok {
		c.add("max-tokens", "max_tokens", "the field is required")
	}
	limit, _ := c.number("max-tokens", root, "max_tokens", 1)
	c.streams(root)
	c.thinking(root, limit)
	c.system(root)
	c.tools(root)
	c.mark("", root)
	c.turns(c.messages(root))
	if c.marks > maxCacheMarks {
		c.add("cache-marks", "", "there are %d blocks with cache_control, at most %d are allowed", c.marks, maxCacheMarks)
	}
}

func (c *anthropicCheck) thinking(root map[string]any, limit int64) {
	v, ok := root["thinking"]
	if !ok {
		return
	}
	m, _ := v.(map[string]any)
	switch m["type"] {
	case "disabled", "adaptive":
	case "enabled":
		n, ok := whole(m["budget_tokens"])
		if !ok || n < minThinkingBudget || n >= limit {
			c.add("thinking-budget", "thinking.budget_tokens", "the budget has to be at least %d and less than max_tokens (%d)", minThinkingBudget, limit)
		}
	default:
		c.add("thinking-type", "thinking.type", "one of enabled, disabled and adaptive is required")
	}
}

func (c *anthropicCheck) system(root map[string]any) {
	switch v := root["system"].(type) {
	case string:
		c.text("system", v)
	case []any:
		for i, x := range v {
			where := fmt.Sprintf("system[%d]", i)
			m, _ := x.(map[string]any)
			if m["type"] != "text" {
				c.add("block-type", where, "system takes blocks of type text only")
				continue
			}
			c.block(where, m)
		}
	default:
		if _, ok := root["system"]; ok {
			c.add("field-type", "system", "a string or a list of blocks is required")
		}
	}
}

func (c *anthropicCheck) tools(root map[string]any) {
	v, ok := root["tools"]
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok {
		c.add("field-type", "tools", "a list is required")
	}
	names := map[string]bool{}
	for i, x := range list {
		where := fmt.Sprintf("tools[%d]", i)
		m, ok := x.(map[string]any)
		if !ok {
			c.add("field-type", where, "an object is required")
			continue
		}
		c.mark(where, m)
		c.toolHead(where+".name", c.str(where, m, "name"), names)
		if t, ok := m["type"]; ok && t != "custom" {
			continue // a tool of the service's own
		}
		c.fields(where, m, anthropicToolFields)
		schema, ok := m["input_schema"]
		if !ok {
			c.add("schema", where+".input_schema", "the field is required")
			continue
		}
		checkSchema(&c.report, where+".input_schema", schema, false)
	}
}

// mark counts and checks the cache mark of a block.
func (c *anthropicCheck) mark(where string, m map[string]any) {
	v, ok := m["cache_control"]
	if !ok || v == nil {
		return
	}
	c.marks++
	mark, _ := v.(map[string]any)
	ttl, hasTTL := mark["ttl"]
	if mark["type"] != "ephemeral" || (hasTTL && ttl != "5m" && ttl != "1h") {
		c.add("cache-type", where+".cache_control", "the type has to be ephemeral, with a ttl of 5m or 1h if any")
	}
	c.fields(where+".cache_control", mark, "type ttl scope")
}

func (c *anthropicCheck) turns(list []any) {
	before := ""
	for i, x := range list {
		where := fmt.Sprintf("messages[%d]", i)
		m, ok := x.(map[string]any)
		if !ok {
			c.add("field-type", where, "an object is required")
			continue
		}
		c.fields(where, m, "role content")
		role := c.str(where, m, "role")
		switch {
		case role != "user" && role != "assistant":
			c.add("role", where+".role", "the role %q is neither user nor assistant", role)
		case i == 0 && role != "user":
			c.add("role-order", where, "the first message has to be the user's")
		case role == before && !c.rules.MergeRoles:
			c.add("role-order", where, "two messages of the %s in a row: roles alternate", role)
		}
		before = role
		c.turn(where, role, m["content"])
	}
	end := fmt.Sprintf("messages[%d]", len(list)-1)
	if len(list) > 0 && before != "user" {
		c.add("role-last", end, "the last message has to be the user's")
	}
	c.unanswered(end)
}

func (c *anthropicCheck) turn(where, role string, content any) {
	var blocks []map[string]any
	switch v := content.(type) {
	case string:
		blocks = []map[string]any{{"type": "text", "text": v}}
	case []any:
		for i, x := range v {
			m, ok := x.(map[string]any)
			if !ok {
				c.add("field-type", fmt.Sprintf("%s.content[%d]", where, i), "an object is required")
			}
			blocks = append(blocks, m)
		}
	}
	if len(blocks) == 0 {
		c.add("content-empty", where+".content", "the message has no content")
	}
	if role == "assistant" {
		c.unanswered(where)
		c.assistant(where, blocks)
		return
	}
	c.user(where, blocks)
}

func (c *anthropicCheck) assistant(where string, blocks []map[string]any) {
	c.open = map[string]bool{}
	for i, m := range blocks {
		at := fmt.Sprintf("%s.content[%d]", where, i)
		switch m["type"] {
		case "image", "document", "tool_result":
			c.add("block-type", at, "%v does not belong into an assistant message", m["type"])
		}
		c.block(at, m)
	}
	if n := len(blocks); n > 0 {
		if kind := blocks[n-1]["type"]; kind == "thinking" || kind == "redacted_thinking" {
			c.add("thinking-last", where, "the last block of an assistant message cannot be %v", kind)
		}
	}
}

func (c *anthropicCheck) user(where string, blocks []map[string]any) {
	other := false
	answered := map[string]bool{}
	for i, m := range blocks {
		at := fmt.Sprintf("%s.content[%d]", where, i)
		switch m["type"] {
		case "tool_use", "thinking", "redacted_thinking":
			c.add("block-type", at, "%v does not belong into a user message", m["type"])
			continue
		}
		c.block(at, m)
		if m["type"] != "tool_result" {
			other = true
			continue
		}
		id, _ := m["tool_use_id"].(string)
		switch {
		case answered[id]:
			c.add("result-duplicate", at, "the call %q has two results", id)
		case !c.open[id]:
			c.add("result-orphan", at, "the message before has no call %q", id)
		case other:
			c.add("result-order", at, "results come before all other content")
		}
		answered[id] = true
		delete(c.open, id)
	}
	c.unanswered(where)
}

// block checks one block of content for itself.
func (c *anthropicCheck) block(at string, m map[string]any) {
	kind, _ := m["type"].(string)
	switch kind {
	case "text":
		c.fields(at, m, "type text cache_control citations")
		c.text(at, c.str(at, m, "text"))
	case "image":
		c.fields(at, m, "type source cache_control")
		c.image(at, m)
	case "document":
		c.fields(at, m, "type source cache_control title context citations")
		c.document(at, m)
	case "thinking":
		c.fields(at, m, "type thinking signature")
		c.signature(at, c.str(at, m, "signature"), c.str(at, m, "thinking"))
	case "redacted_thinking":
		c.fields(at, m, "type data")
		c.signature(at, c.str(at, m, "data"), "")
	case "tool_use":
		c.fields(at, m, "type id name input cache_control caller")
		c.callHead(at, c.str(at, m, "id"), c.str(at, m, "name"))
		if _, ok := m["input"].(map[string]any); !ok {
			c.add("call-input", at+".input", "the input is not a JSON object")
		}
	case "tool_result":
		c.fields(at, m, "type tool_use_id content is_error cache_control")
		c.result(at, m)
	default:
		c.add("block-type", at, "the type %q is not known", kind)
		return
	}
	c.mark(at, m)
}

func (c *anthropicCheck) result(at string, m map[string]any) {
	c.str(at, m, "tool_use_id")
	if v, ok := m["is_error"]; ok {
		if _, ok := v.(bool); !ok {
			c.add("field-type", at+".is_error", "a boolean is required")
		}
	}
	switch v := m["content"].(type) {
	case string:
		c.text(at+".content", v)
	case []any:
		if len(v) == 0 {
			c.add("content-empty", at+".content", "the result has no content")
		}
		for i, x := range v {
			inner, _ := x.(map[string]any)
			where := fmt.Sprintf("%s.content[%d]", at, i)
			switch inner["type"] {
			case "text", "image", "document":
				c.block(where, inner)
			default:
				c.add("block-type", where, "%v does not belong into a result", inner["type"])
			}
		}
	default:
		c.add("content-empty", at+".content", "the result has no content")
	}
}

func (c *anthropicCheck) image(at string, m map[string]any) {
	src, _ := m["source"].(map[string]any)
	switch src["type"] {
	case "base64":
		c.fields(at+".source", src, "type media_type data")
		checkImage64(&c.report, at+".source", c.str(at+".source", src, "media_type"), c.str(at+".source", src, "data"))
	case "url", "file":
	default:
		c.add("image-data", at+".source", "the type has to be base64, url or file")
	}
}

func (c *anthropicCheck) document(at string, m map[string]any) {
	src, _ := m["source"].(map[string]any)
	where := at + ".source"
	switch src["type"] {
	case "base64":
		if src["media_type"] != "application/pdf" {
			c.add("document", where, "the media type has to be application/pdf")
		}
		c.base64("document", where, c.str(where, src, "data"))
	case "text":
		c.text(where, c.str(where, src, "data"))
	case "url", "file", "content":
	default:
		c.add("document", where, "the type has to be base64, text, url, file or content")
	}
}

// signature checks that reasoning comes back as it was sent.
func (c *anthropicCheck) signature(at, sig, thought string) {
	sent, ok := c.sent.thought(Anthropic, sig)
	switch {
	case sig == "":
		c.add("signature", at, "the reasoning carries no signature")
	case c.rules.AnySignature && !ok:
	case !ok:
		c.add("signature", at, "the signature was not issued by this server")
	case sent != thought:
		c.add("signature", at, "the reasoning is not the one that was signed")
	}
}
