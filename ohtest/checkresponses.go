package ohtest

import (
	"fmt"
	"slices"
	"strings"
)

// Known fields of the Responses API.
const (
	responsesFields = "model input instructions tools tool_choice parallel_tool_calls max_tool_calls stream stream_options max_output_tokens " +
		"temperature top_p top_logprobs store include reasoning text truncation metadata previous_response_id conversation prompt prompt_cache_key " +
		"prompt_cache_retention prompt_cache_options safety_identifier service_tier user background context_management moderation"
	responsesIncludes = "file_search_call.results web_search_call.results web_search_call.action.sources message.input_image.image_url " +
		"computer_call_output.output.image_url code_interpreter_call.outputs reasoning.encrypted_content message.output_text.logprobs"

	encryptedReasoning = "reasoning.encrypted_content"
	minOutputTokens    = 16
	maxItemID          = 64
)

// responsesCheck checks a body of the Responses API.
type responsesCheck struct {
	*checker
	answered map[string]bool // calls that have a result
	replying bool            // the last item was the assistant's
	last     string          // id of the reasoning item before, if that was the last item
	thoughts map[string]bool // encrypted contents in the input
}

func (c *responsesCheck) run(root map[string]any) {
	c.open, c.answered, c.thoughts = map[string]bool{}, map[string]bool{}, map[string]bool{}
	c.fields("", root, responsesFields)
	model := c.str("", root, "model")
	if model == "" {
		c.add("model", "model", "a model is required")
	}
	c.number("max-tokens", root, "max_output_tokens", minOutputTokens)
	c.cacheKey(root)
	c.streams(root)
	c.kept(root)
	c.reasons(root, model)
	if v, ok := root["instructions"]; ok && v != nil {
		c.text("instructions", c.str("", root, "instructions"))
	}
	c.tools(root)
	switch v := root["input"].(type) {
	case string:
		c.text("input", v)
	case []any:
		c.items(v)
	default:
		c.add("messages-empty", "input", "a text or a list of items is required")
	}
}

// kept reports references to what a server would have to have kept.
func (c *responsesCheck) kept(root map[string]any) {
	for _, key := range []string{"previous_response_id", "conversation"} {
		if v, ok := root[key]; ok && v != nil {
			c.add("not-stored", key, "this server stores nothing: send the whole input")
		}
	}
	if v, ok := root["store"]; ok && v != nil {
		if _, ok := v.(bool); !ok {
			c.add("field-type", "store", "a boolean is required")
		}
	}
}

// reasons checks what is asked about reasoning.
func (c *responsesCheck) reasons(root map[string]any, model string) {
	plain := strings.HasPrefix(model, "gpt-4") || strings.HasPrefix(model, "gpt-3") || strings.HasPrefix(model, "chatgpt-4")
	if v, ok := root["include"]; ok && v != nil {
		list, ok := v.([]any)
		if !ok {
			c.add("field-type", "include", "a list is required")
		}
		for _, x := range list {
			name, _ := x.(string)
			switch {
			case !slices.Contains(strings.Fields(responsesIncludes), name):
				c.add("include", "include", "%v is nothing that can be included", x)
			case name == encryptedReasoning && plain:
				c.add("include", "include", "encrypted content is not supported with the model %s", model)
			}
		}
	}
	v, ok := root["reasoning"]
	if !ok || v == nil {
		return
	}
	m, ok := v.(map[string]any)
	if !ok || plain {
		c.add("thinking-type", "reasoning", "an object is required, and a model that reasons")
	}
	c.fields("reasoning", m, "effort summary generate_summary")
	c.oneOf("thinking-type", "reasoning", m, "effort", "none minimal low medium high xhigh max")
	c.oneOf("thinking-type", "reasoning", m, "summary", "auto concise detailed")
}

// includes reports whether a request asks for something to be included.
func includes(root map[string]any, what string) bool {
	list, _ := root["include"].([]any)
	return slices.Contains(list, any(what))
}

func (c *responsesCheck) tools(root map[string]any) {
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
		kind := c.str(where, m, "type")
		if !ok || kind != "function" {
			continue // a tool of the service's own, or told already
		}
		c.fields(where, m, "type name description parameters strict defer_loading allowed_callers output_schema")
		c.toolHead(where+".name", c.str(where, m, "name"), names)
		schema, ok := m["parameters"]
		if !ok || schema == nil {
			c.add("schema", where+".parameters", "the parameters are missing")
			continue
		}
		checkSchema(&c.report, where+".parameters", schema, true)
		if m["strict"] == true {
			checkStrict(&c.report, where+".parameters", schema, 0)
		}
	}
}

func (c *responsesCheck) items(list []any) {
	if len(list) == 0 {
		c.add("messages-empty", "input", "at least one item is required")
		return
	}
	for i, x := range list {
		where := fmt.Sprintf("input[%d]", i)
		m, ok := x.(map[string]any)
		if !ok {
			c.add("field-type", where, "an object is required")
			continue
		}
		var next map[string]any
		if i+1 < len(list) {
			next, _ = list[i+1].(map[string]any)
		}
		c.item(where, m, next)
	}
	end := fmt.Sprintf("input[%d]", len(list)-1)
	if c.replying {
		c.add("role-last", end, "the last item has to be the user's or a result")
	}
	c.unanswered(end)
}

func (c *responsesCheck) item(where string, m, next map[string]any) {
	kind, _ := m["type"].(string)
	if kind == "" {
		kind = "message"
	}
	fromUser := kind == "function_call_output" || (kind == "message" && m["role"] != "assistant")
	if kind == "message" && fromUser || !fromUser && !c.replying {
		c.unanswered(where)
		c.open = map[string]bool{}
	}
	c.replying = !fromUser
	before := c.last
	c.last = ""
	switch kind {
	case "message":
		c.message(where, m)
	case "reasoning":
		c.reasoning(where, m, next)
		return
	case "function_call":
		c.fields(where, m, "type id call_id name arguments status namespace caller")
		c.id(where, m, "fc")
		c.call(where, m)
	case "function_call_output":
		c.fields(where, m, "type id call_id output status name namespace caller")
		c.result(where, c.str(where, m, "call_id"), c.answered)
		c.output(where+".output", m["output"])
	case "item_reference":
		c.add("not-stored", where, "this server stores nothing: send the item itself")
	default:
		if !slices.Contains(strings.Fields("web_search_call file_search_call code_interpreter_call image_generation_call computer_call custom_tool_call mcp_call "+
			"mcp_list_tools tool_search_call tool_search_output compaction"), kind) {
			c.add("block-type", where, "an item of type %q is not known", kind)
		}
	}
	// An item that goes by the id it was sent with stands after its reasoning.
	if id, _ := m["id"].(string); id != "" && !c.rules.AnySignature {
		if leader := c.sent.leader(id); leader != "" && leader != before {
			c.add("reasoning-missing", where, "the item %q was sent after the reasoning item %q, which is missing before it", id, leader)
		}
	}
}

// id checks the id of an item.
func (c *responsesCheck) id(where string, m map[string]any, prefix string) {
	v, ok := m["id"]
	if !ok || v == nil {
		return
	}
	if id, _ := v.(string); !strings.HasPrefix(id, prefix) || !legalID(id) || len(id) > maxItemID {
		c.add("item-id", where+".id", "%v does not begin with %s, or has other characters than letters, digits, _ and -, or is longer than %d", v, prefix, maxItemID)
	}
}

func (c *responsesCheck) call(where string, m map[string]any) {
	id := c.str(where, m, "call_id")
	if len(id) > maxItemID {
		c.add("call-id", where, "the id %q is longer than %d", id, maxItemID)
	}
	c.callHead(where, id, c.str(where, m, "name"))
	c.arguments(where+".arguments", c.str(where, m, "arguments"))
	if !c.rules.RequireReasoning {
		return
	}
	for _, r := range c.sent.before(Responses, id) {
		if r.field == "encrypted_content" && !c.thoughts[r.text] {
			c.add("reasoning-missing", where, "the call %q was sent with reasoning, which has to come back before it", id)
		}
	}
}

func (c *responsesCheck) message(where string, m map[string]any) {
	c.fields(where, m, "type id role content status phase")
	role := c.str(where, m, "role")
	switch role {
	case "user", "system", "developer":
		c.content(where+".content", m["content"], "input_text", role == "user")
	case "assistant":
		c.id(where, m, "msg")
		c.content(where+".content", m["content"], "output_text", false)
	default:
		c.add("role", where+".role", "the role %q is not known", role)
	}
}

func (c *responsesCheck) output(where string, v any) { c.content(where, v, "input_text", true) }

// content checks a text, or a list of parts of which those of text have the
// given type.
func (c *responsesCheck) content(where string, v any, text string, media bool) {
	switch v := v.(type) {
	case string:
		c.text(where, v)
	case []any:
		if len(v) == 0 {
			c.add("content-empty", where, "the list of parts is empty")
		}
		for i, x := range v {
			m, _ := x.(map[string]any)
			c.part(fmt.Sprintf("%s[%d]", where, i), m, text, media)
		}
	default:
		c.add("content-empty", where, "a text or a list of parts is required")
	}
}

func (c *responsesCheck) part(at string, m map[string]any, text string, media bool) {
	kind, _ := m["type"].(string)
	switch {
	case kind == text && kind == "input_text":
		c.fields(at, m, "type text prompt_cache_breakpoint")
		c.text(at, c.str(at, m, "text"))
	case kind == text:
		c.fields(at, m, "type text annotations logprobs")
		c.text(at, c.str(at, m, "text"))
	case kind == "refusal" && text == "output_text":
		c.fields(at, m, "type refusal")
		c.text(at, c.str(at, m, "refusal"))
	case kind == "input_image" && media:
		c.fields(at, m, "type image_url file_id detail prompt_cache_breakpoint")
		c.oneOf("field-type", at, m, "detail", "auto low high original")
		if _, ok := m["file_id"]; !ok {
			c.dataURL(at, c.str(at, m, "image_url"))
		}
	case kind == "input_file" && media:
		c.fields(at, m, "type file_data filename file_id file_url detail prompt_cache_breakpoint")
		c.file(at, m)
	default:
		c.add("block-type", at, "a part of type %q does not belong here", kind)
	}
}

func (c *responsesCheck) file(at string, m map[string]any) {
	v, ok := m["file_data"]
	if !ok {
		if m["file_id"] == nil && m["file_url"] == nil {
			c.add("document", at, "one of file_data, file_url and file_id is required")
		}
		return
	}
	s, _ := v.(string)
	head, data, ok := strings.Cut(s, ";base64,")
	if !ok || !strings.HasPrefix(head, "data:") {
		c.add("document", at, "the data is no data URL in base64")
		return
	}
	c.base64("document", at, data)
	if name, _ := m["filename"].(string); name == "" {
		c.add("document", at, "a file needs a filename")
	}
}

// reasoning checks that a reasoning item comes back as it was sent, before the
// item that it came before.
func (c *responsesCheck) reasoning(where string, m, next map[string]any) {
	c.fields(where, m, "type id summary encrypted_content content status")
	c.id(where, m, "rs")
	id := c.str(where, m, "id")
	c.last = id
	encrypted, _ := m["encrypted_content"].(string)
	c.thoughts[encrypted] = true
	if _, ok := m["summary"].([]any); !ok {
		c.add("field-type", where+".summary", "a list is required, if an empty one")
	}
	sent, known := c.sent.item(id)
	switch {
	case encrypted == "":
		c.add("signature", where, "nothing is stored, so the reasoning has to carry its encrypted_content")
	case c.rules.AnySignature && !known:
	case !known:
		c.add("signature", where, "this server never sent the reasoning item %q", id)
	case encrypted != sent.encrypted:
		c.add("signature", where, "the encrypted_content is not the one that was sent")
	case canonical(m["summary"]) != sent.summary:
		c.add("signature", where, "the summary is not the one that was sent")
	}
	after := itemKind(next)
	fromUser := next == nil || after == "function_call_output" || (after == "message" && next["role"] != "assistant")
	if fromUser || (known && sent.next != "" && after != sent.next) {
		c.add("reasoning-alone", where, "the reasoning stands without the item that it was sent before (%s)", sent.next)
	}
}
