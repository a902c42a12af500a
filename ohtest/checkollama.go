package ohtest

import "fmt"

// ollamaCheck checks a body of Ollama's own API.
type ollamaCheck struct {
	*checker
	waiting int // calls of the last assistant message without a result
}

func (c *ollamaCheck) run(root map[string]any) {
	c.fields("", root, "model messages tools stream format options keep_alive think logprobs top_logprobs truncate shift")
	if c.str("", root, "model") == "" {
		c.add("model", "model", "a model is required")
	}
	if v, ok := root["stream"]; ok && v != true {
		c.add("stream", "stream", "this server only streams: send true or nothing")
	}
	if v, ok := root["options"]; ok {
		if m, ok := v.(map[string]any); ok {
			c.number("max-tokens", m, "num_predict", -2)
		} else {
			c.add("field-type", "options", "an object is required")
		}
	}
	names := map[string]bool{}
	for i, t := range objects(root["tools"]) {
		where := fmt.Sprintf("tools[%d].function", i)
		fn, _ := t["function"].(map[string]any)
		c.fields(where, fn, "name description parameters")
		c.toolHead(where+".name", c.str(where, fn, "name"), names)
		checkSchema(&c.report, where+".parameters", fn["parameters"], true)
	}
	before := ""
	list := c.messages(root)
	for i, x := range list {
		m, _ := x.(map[string]any)
		before = c.message(fmt.Sprintf("messages[%d]", i), m, before)
	}
	if len(list) > 0 && before != "user" && before != "tool" {
		c.add("role-last", fmt.Sprintf("messages[%d]", len(list)-1), "the last message has to be the user's or a tool's")
	}
	c.lacking(fmt.Sprintf("messages[%d]", len(list)-1))
}

// message checks one message and returns its role.
func (c *ollamaCheck) message(where string, m map[string]any, before string) string {
	c.fields(where, m, "role content thinking images tool_calls tool_name tool_call_id")
	role := c.str(where, m, "role")
	if role != "tool" {
		c.lacking(where)
	}
	calls := objects(m["tool_calls"])
	images, _ := m["images"].([]any)
	if content, ok := m["content"].(string); (!ok && m["content"] != nil) || (blank(content) && len(calls) == 0 && len(images) == 0) {
		c.add("blank-text", where+".content", "the text is empty or blank, or no text")
	}
	for i, x := range images {
		data, _ := x.(string)
		c.base64("image-data", fmt.Sprintf("%s.images[%d]", where, i), data)
	}
	switch role {
	case "user":
	case "system":
		if before != "" && before != "system" {
			c.add("role-order", where, "a system message after the conversation began")
		}
	case "assistant":
		if before != "user" && before != "tool" && !c.rules.MergeRoles {
			c.add("role-order", where, "an assistant message without one of the user or a tool before it")
		}
		c.assistant(where, m, calls)
	case "tool":
		if c.waiting--; c.waiting < 0 {
			c.add("result-orphan", where, "no call waits for a result")
			c.waiting = 0
		}
	default:
		c.add("role", where+".role", "the role %q is not known", role)
	}
	return role
}

func (c *ollamaCheck) assistant(where string, m map[string]any, calls []map[string]any) {
	c.waiting = len(calls)
	for i, call := range calls {
		at := fmt.Sprintf("%s.tool_calls[%d]", where, i)
		c.fields(at, call, "id type function")
		fn, _ := call["function"].(map[string]any)
		c.fields(at, fn, "index name arguments")
		if name := c.str(at, fn, "name"); !legalName(name) {
			c.add("tool-name", at, "%q does not match ^[a-zA-Z0-9_-]{1,64}$", name)
		}
		if _, ok := fn["arguments"].(map[string]any); !ok {
			c.add("call-input", at, "the arguments are not a JSON object")
		}
	}
	if s, ok := m["thinking"].(string); ok && !c.rules.AnySignature && !c.sent.reasoned("thinking", s) {
		c.add("reasoning-foreign", where, "this server never sent this reasoning")
	}
}

func (c *ollamaCheck) lacking(where string) {
	if c.waiting > 0 {
		c.add("call-unanswered", where, "%d calls before this have no result", c.waiting)
	}
	c.waiting = 0
}
