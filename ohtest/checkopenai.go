package ohtest

import (
	"fmt"
	"slices"
)

// Known fields of the Chat Completions API.
const openaiFields = "model messages tools tool_choice parallel_tool_calls stream stream_options max_tokens max_completion_tokens temperature top_p n stop " +
	"presence_penalty frequency_penalty logit_bias logprobs top_logprobs seed user response_format reasoning_effort service_tier store metadata " +
	"modalities prediction audio web_search_options prompt_cache_key prompt_cache_retention safety_identifier verbosity"

// reasoningFields are the names under which services send reasoning.
var reasoningFields = [...]string{"reasoning_content", "reasoning", "reasoning_details"}

// openaiCheck checks a body of the Chat Completions API.
type openaiCheck struct {
	*checker
	answered map[string]bool // calls of the last assistant message that have a result
}

func (c *openaiCheck) run(root map[string]any) {
	c.fields("", root, openaiFields)
	if c.str("", root, "model") == "" {
		c.add("model", "model", "a model is required")
	}
	_, older := c.number("max-tokens", root, "max_tokens", 1)
	_, newer := c.number("max-tokens", root, "max_completion_tokens", 1)
	if older && newer {
		c.add("max-tokens", "max_tokens", "max_tokens and max_completion_tokens exclude each other")
	}
	c.cacheKey(root)
	c.streams(root)
	c.tools(root)
	c.turns(c.messages(root))
}

func (c *openaiCheck) tools(root map[string]any) {
	v, ok := root["tools"]
	if !ok {
		return
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		c.add("field-type", "tools", "a list that is not empty is required")
	}
	names := map[string]bool{}
	for i, x := range list {
		where := fmt.Sprintf("tools[%d]", i)
		m, _ := x.(map[string]any)
		c.fields(where, m, "type function")
		fn, ok := m["function"].(map[string]any)
		if m["type"] != "function" || !ok {
			c.add("field-type", where, `"type": "function" and an object function are required`)
			continue
		}
		where += ".function"
		c.fields(where, fn, "name description parameters strict")
		c.toolHead(where+".name", c.str(where, fn, "name"), names)
		schema, ok := fn["parameters"]
		if !ok {
			c.add("schema", where+".parameters", "the parameters are missing")
			continue
		}
		checkSchema(&c.report, where+".parameters", schema, true)
		if fn["strict"] == true {
			checkStrict(&c.report, where+".parameters", schema, 0)
		}
	}
}

func (c *openaiCheck) turns(list []any) {
	before := ""
	for i, x := range list {
		where := fmt.Sprintf("messages[%d]", i)
		m, ok := x.(map[string]any)
		if !ok {
			c.add("field-type", where, "an object is required")
			continue
		}
		role := c.str(where, m, "role")
		c.order(where, role, before)
		if role != "tool" {
			c.unanswered(where)
		}
		switch role {
		case "system", "developer":
			c.fields(where, m, "role content name")
			c.content(where+".content", m["content"], false)
		case "user":
			c.fields(where, m, "role content name")
			c.content(where+".content", m["content"], true)
		case "assistant":
			c.assistant(where, m)
		case "tool":
			c.result(where, m)
		default:
			c.add("role", where+".role", "the role %q is not known", role)
		}
		before = role
	}
	end := fmt.Sprintf("messages[%d]", len(list)-1)
	if len(list) > 0 && before != "user" && before != "tool" {
		c.add("role-last", end, "the last message has to be the user's or a tool's")
	}
	c.unanswered(end)
}

func (c *openaiCheck) order(where, role, before string) {
	switch {
	case role == "system" || role == "developer":
		if before != "" && before != "system" && before != "developer" {
			c.add("role-order", where, "a %s message after the conversation began", role)
		}
	case role == "assistant" && before != "user" && before != "tool" && !(c.rules.MergeRoles && before == "assistant"):
		c.add("role-order", where, "an assistant message without one of the user or a tool before it")
	}
}

func (c *openaiCheck) assistant(where string, m map[string]any) {
	c.open, c.answered = map[string]bool{}, map[string]bool{}
	c.fields(where, m, "role content name refusal audio tool_calls reasoning_content reasoning reasoning_details")
	v, hasCalls := m["tool_calls"]
	calls, _ := v.([]any)
	if hasCalls && len(calls) == 0 {
		c.add("field-type", where+".tool_calls", "a list that is not empty is required")
	}
	if m["content"] != nil || len(calls) == 0 {
		c.content(where+".content", m["content"], false)
	}
	for i, x := range calls {
		c.call(fmt.Sprintf("%s.tool_calls[%d]", where, i), x)
	}
	c.reasoning(where, m)
	if c.rules.RequireReasoning {
		c.demand(where, m)
	}
}

func (c *openaiCheck) call(at string, x any) {
	m, _ := x.(map[string]any)
	fn, ok := m["function"].(map[string]any)
	if m["type"] != "function" || !ok {
		c.add("field-type", at, `"type": "function" and an object function are required`)
		return
	}
	c.fields(at, m, "id type function extra_content")
	c.fields(at+".function", fn, "name arguments")
	c.callHead(at, c.str(at, m, "id"), c.str(at+".function", fn, "name"))
	args := c.str(at+".function", fn, "arguments")
	c.arguments(at+".function.arguments", args)
}

func (c *openaiCheck) result(where string, m map[string]any) {
	c.fields(where, m, "role content tool_call_id")
	id := c.str(where, m, "tool_call_id")
	c.checker.result(where, id, c.answered)
	c.content(where+".content", m["content"], false)
}

// content checks the text, or the parts, of a message.
func (c *openaiCheck) content(where string, v any, images bool) {
	switch v := v.(type) {
	case string:
		c.text(where, v)
	case []any:
		if len(v) == 0 {
			c.add("content-empty", where, "the list of parts is empty")
		}
		for i, x := range v {
			m, _ := x.(map[string]any)
			c.contentPart(fmt.Sprintf("%s[%d]", where, i), m, images)
		}
	default:
		c.add("content-empty", where, "content is required where there are no calls")
	}
}

func (c *openaiCheck) contentPart(at string, m map[string]any, images bool) {
	kind, _ := m["type"].(string)
	switch {
	case kind == "text":
		c.fields(at, m, "type text")
		c.text(at, c.str(at, m, "text"))
	case kind == "image_url" && images:
		c.fields(at, m, "type image_url")
		ref, _ := m["image_url"].(map[string]any)
		c.fields(at+".image_url", ref, "url detail")
		c.dataURL(at+".image_url", c.str(at+".image_url", ref, "url"))
	case (kind == "file" || kind == "input_audio") && images:
	default:
		c.add("block-type", at, "a part of type %q does not belong here", kind)
	}
}

// reasoning checks that only reasoning comes back that was sent.
func (c *openaiCheck) reasoning(where string, m map[string]any) {
	for _, field := range reasoningFields {
		v, ok := m[field]
		if !ok {
			continue
		}
		at := where + "." + field
		s, isText := v.(string)
		list, isList := v.([]any)
		switch {
		case v == nil || (isText && s == "") || (isList && len(list) == 0):
			if !c.rules.EmptyReasoning {
				c.add("reasoning-empty", at, "the field is present but empty: leave it out")
			}
		case !isText && !isList:
			c.add("field-type", at, "a string or a list is required")
		case !c.rules.AnySignature && !c.sent.reasoned(field, reasoningKey(v)):
			c.add("reasoning-foreign", at, "this server never sent this reasoning")
		}
	}
}

// demand checks that calls come back with the reasoning they were sent with,
// in one of the fields it came in.
func (c *openaiCheck) demand(where string, m map[string]any) {
	calls, _ := m["tool_calls"].([]any)
	for _, x := range calls {
		call, _ := x.(map[string]any)
		id, _ := call["id"].(string)
		sent := c.sent.before(OpenAI, id)
		if len(sent) > 0 && !slices.ContainsFunc(sent, func(r reasoning) bool { return reasoningKey(m[r.field]) == r.text }) {
			c.add("reasoning-missing", where, "the reply was sent with %s, which has to come back with its calls", sent[0].field)
			return
		}
	}
}

// reasoningKey makes a reasoning field comparable.
func reasoningKey(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return anyDetails
		}
	}
	return ""
}
