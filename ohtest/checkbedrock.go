package ohtest

import (
	"fmt"
	"slices"
	"strings"
)

// bedrockFields are the known fields of the Converse API.
const bedrockFields = "messages system inferenceConfig toolConfig guardrailConfig additionalModelRequestFields additionalModelResponseFieldPaths " +
	"promptVariables requestMetadata performanceConfig serviceTier outputConfig"

// bedrockCheck checks a body of Bedrock's Converse API.
type bedrockCheck struct {
	*checker
	marks int  // cache points so far
	tools bool // the request has tools
	used  bool // it has calls or results
}

func (c *bedrockCheck) run(root map[string]any) {
	c.fields("", root, bedrockFields)
	if v, ok := root["inferenceConfig"]; ok {
		m, _ := v.(map[string]any)
		c.fields("inferenceConfig", m, "maxTokens temperature topP stopSequences")
		c.number("max-tokens", m, "maxTokens", 1)
	}
	for i, m := range objects(root["system"]) {
		c.block(fmt.Sprintf("system[%d]", i), m, "text cachePoint guardContent")
	}
	c.declared(root)
	c.turns(c.messages(root))
	if c.used && !c.tools {
		c.add("tools-missing", "toolConfig", "toolConfig must be defined when toolUse and toolResult blocks are used")
	}
	if c.marks > maxCacheMarks {
		c.add("cache-marks", "", "there are %d cache points, at most %d are allowed", c.marks, maxCacheMarks)
	}
}

func (c *bedrockCheck) declared(root map[string]any) {
	v, ok := root["toolConfig"]
	if !ok {
		return
	}
	m, _ := v.(map[string]any)
	c.fields("toolConfig", m, "tools toolChoice")
	list := objects(m["tools"])
	if len(list) == 0 {
		c.add("field-type", "toolConfig.tools", "a list that is not empty is required")
	}
	c.tools = true
	names := map[string]bool{}
	for i, t := range list {
		where := fmt.Sprintf("toolConfig.tools[%d]", i)
		if t["cachePoint"] != nil {
			c.block(where, t, "cachePoint")
			continue
		}
		spec, ok := t["toolSpec"].(map[string]any)
		if !ok {
			c.fields(where, t, "toolSpec systemTool")
			continue
		}
		where += ".toolSpec"
		c.fields(where, spec, "name description inputSchema strict")
		c.toolHead(where+".name", c.str(where, spec, "name"), names)
		if d, ok := spec["description"]; ok && d == "" {
			c.add("field-type", where+".description", "a description has at least one character, or is missing")
		}
		schema, _ := spec["inputSchema"].(map[string]any)
		checkSchema(&c.report, where+".inputSchema.json", schema["json"], false)
	}
}

func (c *bedrockCheck) turns(list []any) {
	before := ""
	for i, x := range list {
		where := fmt.Sprintf("messages[%d]", i)
		m, _ := x.(map[string]any)
		c.fields(where, m, "role content")
		role := c.str(where, m, "role")
		switch {
		case role != "user" && role != "assistant":
			c.add("role", where+".role", "the role %q is neither user nor assistant", role)
		case i == 0 && role != "user":
			c.add("role-order", where, "a conversation must start with a user message")
		case role == before && !c.rules.MergeRoles:
			c.add("role-order", where, "two messages of the %s in a row: roles alternate", role)
		}
		before = role
		blocks := objects(m["content"])
		if len(blocks) == 0 {
			c.add("content-empty", where+".content", "the message has no content")
		}
		if role == "assistant" {
			c.unanswered(where)
			c.open = map[string]bool{}
			for j, b := range blocks {
				c.block(fmt.Sprintf("%s.content[%d]", where, j), b, "text toolUse reasoningContent cachePoint")
			}
			continue
		}
		c.user(where, blocks)
	}
	end := fmt.Sprintf("messages[%d]", len(list)-1)
	if len(list) > 0 && before != "user" {
		c.add("role-last", end, "the last message has to be the user's")
	}
	c.unanswered(end)
}

func (c *bedrockCheck) user(where string, blocks []map[string]any) {
	answered := map[string]bool{}
	other, text, document := false, false, false
	for i, b := range blocks {
		at := fmt.Sprintf("%s.content[%d]", where, i)
		c.block(at, b, "text image document video toolResult cachePoint guardContent")
		text, document = text || b["text"] != nil, document || b["document"] != nil
		r, ok := b["toolResult"].(map[string]any)
		if !ok {
			other = other || b["cachePoint"] == nil
			continue
		}
		if other {
			c.add("result-order", at, "results come before all other content")
		}
		c.result(at, c.str(at, r, "toolUseId"), answered)
	}
	if document && !text {
		c.add("document", where, "a text block is required beside a document")
	}
	c.unanswered(where)
}

// block checks one block, which has exactly one of the members that may be.
func (c *bedrockCheck) block(at string, b map[string]any, may string) {
	keys := sortedKeys(b)
	if len(keys) != 1 || !slices.Contains(strings.Fields(may), keys[0]) {
		c.add("block-type", at, "a block has exactly one of %s here, not %v", strings.ReplaceAll(may, " ", ", "), keys)
		return
	}
	if keys[0] == "text" {
		c.text(at, c.str(at, b, "text"))
		return
	}
	m, ok := b[keys[0]].(map[string]any)
	if !ok {
		c.add("field-type", at+"."+keys[0], "an object is required")
	}
	at += "." + keys[0]
	switch keys[0] {
	case "cachePoint":
		c.marks++
		if c.fields(at, m, "type ttl"); m["type"] != "default" {
			c.add("cache-type", at, "the type has to be default")
		}
	case "image", "document":
		c.media(at, keys[0], m)
	case "toolUse":
		c.used = true
		c.fields(at, m, "toolUseId name input type")
		id := c.str(at, m, "toolUseId")
		if len(id) > 64 {
			c.add("call-id", at, "the id %q is longer than 64", id)
		}
		c.callHead(at, id, c.str(at, m, "name"))
		if _, ok := m["input"].(map[string]any); !ok {
			c.add("call-input", at+".input", "the input is not a JSON object")
		}
	case "toolResult":
		c.used = true
		c.fields(at, m, "toolUseId content status type")
		c.oneOf("field-type", at, m, "status", "success error")
		inner := objects(m["content"])
		if len(inner) == 0 {
			c.add("content-empty", at+".content", "the result has no content")
		}
		for i, x := range inner {
			c.block(fmt.Sprintf("%s.content[%d]", at, i), x, "text json image document video")
		}
	case "reasoningContent":
		c.reasoning(at, m)
	}
}

func (c *bedrockCheck) media(at, kind string, m map[string]any) {
	c.fields(at, m, "format name source context citations")
	src, _ := m["source"].(map[string]any)
	format := c.str(at, m, "format")
	if kind == "image" {
		checkImage64(&c.report, at, "image/"+format, c.str(at+".source", src, "bytes"))
		return
	}
	if !slices.Contains(strings.Fields("pdf csv doc docx xls xlsx html txt md"), format) {
		c.add("document", at, "the format %q is not known", format)
	}
	name := c.str(at, m, "name")
	plain := strings.NewReplacer(" ", "a", "(", "a", ")", "a", "[", "a", "]", "a").Replace(name)
	if !legalID(plain) || strings.Contains(plain, "_") || strings.Contains(name, "  ") {
		c.add("document", at+".name", "the name %q has other characters than letters, digits, single spaces, hyphens, parentheses and brackets", name)
	}
	c.base64("document", at, c.str(at+".source", src, "bytes"))
}

// reasoning checks that reasoning comes back as it was sent.
func (c *bedrockCheck) reasoning(at string, m map[string]any) {
	c.fields(at, m, "reasoningText redactedContent")
	sig, thought := "", ""
	if text, ok := m["reasoningText"].(map[string]any); ok {
		c.fields(at, text, "text signature")
		sig, _ = text["signature"].(string)
		thought = c.str(at, text, "text")
	} else {
		sig = c.str(at, m, "redactedContent")
	}
	sent, known := c.sent.thought(Bedrock, sig)
	switch {
	case sig == "":
		c.add("signature", at, "the reasoning carries no signature")
	case c.rules.AnySignature && !known:
	case !known:
		c.add("signature", at, "the signature was not issued by this server")
	case sent != thought:
		c.add("signature", at, "the reasoning is not the one that was signed")
	}
}
