package ohtest

import (
	"fmt"
	"slices"
	"strings"
)

// Known fields of the Gemini API.
const (
	geminiFields     = "contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent serviceTier store labels"
	geminiToolFields = "functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext googleMaps fileSearch computerUse retrieval enterpriseWebSearch mcpServers"
	geminiConfig     = "stopSequences responseMimeType responseSchema responseJsonSchema responseFormat responseModalities candidateCount maxOutputTokens temperature topP topK seed " +
		"presencePenalty frequencyPenalty responseLogprobs logprobs speechConfig thinkingConfig imageConfig mediaResolution audioTimestamp routingConfig enableEnhancedCivicAnswers"
	geminiPartFields = "text thought thoughtSignature inlineData fileData functionCall functionResponse executableCode codeExecutionResult videoMetadata mediaResolution partMetadata toolCall toolResponse"

	maxThinkingBudget = 32768
)

// skipSignatures are what Google documents for calls that no model signed.
var skipSignatures = [...]string{"skip_thought_signature_validator", "context_engineering_is_the_way_to_go"}

// geminiCheck checks a body of the Gemini API.
type geminiCheck struct {
	*checker
	model string       // "" when it is not known
	calls []geminiCall // of the last model content, without results
	used  map[string]bool
}

type geminiCall struct{ id, name string }

func (c *geminiCheck) run(root map[string]any) {
	c.used = map[string]bool{}
	c.fields("", root, geminiFields)
	c.config(root)
	c.system(root)
	c.tools(root)
	list, ok := root["contents"].([]any)
	if !ok || len(list) == 0 {
		c.add("messages-empty", "contents", "at least one content is required")
	}
	c.turns(list)
	if c.rules.SignedCalls || signsCalls(c.model) {
		c.signedSteps(list)
	}
}

func (c *geminiCheck) config(root map[string]any) {
	v, ok := root["generationConfig"]
	if !ok {
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		c.add("field-type", "generationConfig", "an object is required")
	}
	c.fields("generationConfig", m, geminiConfig)
	c.number("max-tokens", m, "maxOutputTokens", 1)
	v, ok = m["thinkingConfig"]
	if !ok {
		return
	}
	const where = "generationConfig.thinkingConfig"
	think, ok := v.(map[string]any)
	if !ok {
		c.add("field-type", where, "an object is required")
	}
	c.fields(where, think, "includeThoughts thinkingBudget thinkingLevel")
	budget, hasBudget := think["thinkingBudget"]
	level, hasLevel := think["thinkingLevel"]
	if n, ok := whole(budget); hasBudget && (!ok || n < -1 || n > maxThinkingBudget) {
		c.add("thinking-budget", where, "the budget has to be from -1 to %d", maxThinkingBudget)
	}
	if hasBudget && hasLevel {
		c.add("thinking-budget", where, "thinkingBudget and thinkingLevel exclude each other")
	}
	if s, _ := level.(string); hasLevel && !slices.Contains([]string{"MINIMAL", "LOW", "MEDIUM", "HIGH"}, strings.ToUpper(s)) {
		c.add("thinking-type", where, "%v is none of minimal, low, medium and high", level)
	}
	if hasLevel && strings.Contains(c.model, "gemini-") && !signsCalls(c.model) {
		c.add("thinking-type", where, "thinking level is not supported for the model %s", c.model)
	}
}

func (c *geminiCheck) system(root map[string]any) {
	v, ok := root["systemInstruction"]
	if !ok {
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		c.add("field-type", "systemInstruction", "a content with parts is required")
		return
	}
	c.fields("systemInstruction", m, "role parts")
	for i, p := range c.parts("systemInstruction", m) {
		where := fmt.Sprintf("systemInstruction.parts[%d]", i)
		if _, ok := p["text"]; !ok {
			c.add("block-type", where, "the system instruction takes text only")
			continue
		}
		c.fields(where, p, "text")
		c.text(where, c.str(where, p, "text"))
	}
}

func (c *geminiCheck) tools(root map[string]any) {
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
		m, _ := x.(map[string]any)
		if len(m) == 0 {
			c.add("field-type", where, "an object that is not empty is required")
		}
		c.fields(where, m, geminiToolFields)
		declared, ok := m["functionDeclarations"]
		fns, isList := declared.([]any)
		if ok && (!isList || len(fns) == 0) {
			c.add("field-type", where+".functionDeclarations", "a list that is not empty is required")
		}
		for j, f := range fns {
			fn, _ := f.(map[string]any)
			c.function(fmt.Sprintf("%s.functionDeclarations[%d]", where, j), fn, names)
		}
	}
}

func (c *geminiCheck) function(where string, fn map[string]any, names map[string]bool) {
	c.fields(where, fn, "name description parameters parametersJsonSchema response responseJsonSchema behavior")
	name := c.str(where, fn, "name")
	if !legalFunction(name) {
		c.add("tool-name", where+".name", "%q does not match ^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$", name)
	}
	if names[name] {
		c.add("tool-duplicate", where, "there are two functions of the name %q", name)
	}
	names[name] = true
	if v, ok := fn["description"]; ok {
		if _, ok := v.(string); !ok {
			c.add("field-type", where+".description", "a string is required")
		}
	}
	subset, hasSubset := fn["parameters"]
	full, hasFull := fn["parametersJsonSchema"]
	switch {
	case hasSubset && hasFull:
		c.add("schema", where, "parameters and parametersJsonSchema exclude each other")
	case hasSubset:
		checkGeminiSchema(&c.report, where+".parameters", subset, c.rules.ClosedObjects)
	case hasFull:
		checkSchema(&c.report, where+".parametersJsonSchema", full, false)
	}
}

// legalFunction reports whether s is a function name that Gemini takes.
func legalFunction(s string) bool {
	if s == "" || len(s) > 64 || (s[0] >= '0' && s[0] <= '9') || s[0] == '-' || s[0] == '.' || s[0] == ':' {
		return false
	}
	return legalID(strings.NewReplacer(".", "_", ":", "_").Replace(s))
}

// parts returns the parts of a content.
func (c *geminiCheck) parts(where string, m map[string]any) []map[string]any {
	list, ok := m["parts"].([]any)
	if !ok || len(list) == 0 {
		c.add("content-empty", where+".parts", "the content has no parts")
	}
	var out []map[string]any
	for i, x := range list {
		p, ok := x.(map[string]any)
		if !ok {
			c.add("field-type", fmt.Sprintf("%s.parts[%d]", where, i), "an object is required")
		}
		out = append(out, p)
	}
	return out
}

func (c *geminiCheck) turns(list []any) {
	before := ""
	for i, x := range list {
		where := fmt.Sprintf("contents[%d]", i)
		m, ok := x.(map[string]any)
		if !ok {
			c.add("field-type", where, "an object is required")
			continue
		}
		c.fields(where, m, "role parts")
		role := c.str(where, m, "role")
		switch {
		case role != "user" && role != "model":
			c.add("role", where+".role", "the role %q is neither user nor model", role)
		case i == 0 && role != "user":
			c.add("role-order", where, "the first content has to be the user's")
		case role == before && !c.rules.MergeRoles:
			c.add("role-order", where, "two contents of the %s in a row: roles alternate", role)
		}
		before = role
		parts := c.parts(where, m)
		if role == "model" {
			c.lacking(where)
			for j, p := range parts {
				c.reply(fmt.Sprintf("%s.parts[%d]", where, j), p)
			}
			continue
		}
		c.user(where, parts)
	}
	end := fmt.Sprintf("contents[%d]", len(list)-1)
	if len(list) > 0 && before != "user" {
		c.add("role-last", end, "the last content has to be the user's")
	}
	c.lacking(end)
}

// lacking reports the calls that should have got their responses before where.
func (c *geminiCheck) lacking(where string) {
	for _, call := range c.calls {
		c.add("call-unanswered", where, "the call of %s %q before this has no function response: there have to be as many responses as calls", call.name, call.id)
	}
	c.calls = nil
}

func (c *geminiCheck) user(where string, parts []map[string]any) {
	answered := map[string]bool{}
	text := false
	for i, p := range parts {
		at := fmt.Sprintf("%s.parts[%d]", where, i)
		if p["functionCall"] != nil || p["thought"] == true || p["thoughtSignature"] != nil {
			c.add("block-type", at, "calls, thoughts and signatures do not belong into a content of the user")
			continue
		}
		c.part(at, p)
		if _, ok := p["text"]; ok {
			text = true
		}
		r, ok := p["functionResponse"].(map[string]any)
		if !ok {
			continue
		}
		if text {
			c.add("result-order", at, "function responses come before all text")
		}
		c.response(at+".functionResponse", r, answered)
	}
	c.lacking(where)
}

// response checks a function response and which call it answers.
func (c *geminiCheck) response(at string, r map[string]any, answered map[string]bool) {
	c.fields(at, r, "id name response parts willContinue scheduling")
	name := c.str(at, r, "name")
	id, _ := r["id"].(string)
	n := slices.IndexFunc(c.calls, func(call geminiCall) bool {
		return call.name == name && (id == call.id || id == "")
	})
	switch {
	case id != "" && answered[id]:
		c.add("result-duplicate", at, "the call %q has two responses", id)
	case n < 0:
		c.add("result-orphan", at, "the content before has no call of %q %q that waits for a response", name, id)
	default:
		answered[c.calls[n].id] = true
		c.calls = slices.Delete(c.calls, n, n+1)
	}
	if m, ok := r["response"].(map[string]any); !ok || len(m) == 0 {
		c.add("content-empty", at+".response", "an object that is not empty is required")
	}
	list, _ := r["parts"].([]any)
	if len(list) > 0 && c.model != "" && !signsCalls(c.model) {
		c.add("block-type", at+".parts", "the model %s takes no media in function responses", c.model)
	}
	for i, x := range list {
		p, _ := x.(map[string]any)
		where := fmt.Sprintf("%s.parts[%d]", at, i)
		c.fields(where, p, "inlineData fileData")
		c.inline(where, p)
	}
}

// part checks a part for itself.
func (c *geminiCheck) part(at string, p map[string]any) {
	c.fields(at, p, geminiPartFields)
	data := 0
	for _, key := range []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"} {
		if _, ok := p[key]; ok {
			data++
		}
	}
	if data != 1 {
		c.add("block-type", at, "a part has exactly one of text, inlineData, functionCall, functionResponse, ..., not %d", data)
	}
	if v, ok := p["text"]; ok {
		s, isText := v.(string)
		switch sig, _ := p["thoughtSignature"].(string); {
		case !isText:
			c.add("field-type", at+".text", "a string is required")
		case sig == "": // with a signature an empty text may be what was sent
			c.text(at, s)
		}
	}
	if _, ok := p["inlineData"]; ok {
		c.inline(at, p)
	}
}

func (c *geminiCheck) inline(at string, p map[string]any) {
	at += ".inlineData"
	b, ok := p["inlineData"].(map[string]any)
	if !ok {
		if p["fileData"] == nil {
			c.add("field-type", at, "an object is required")
		}
		return
	}
	c.fields(at, b, "mimeType data displayName")
	kind, data := c.str(at, b, "mimeType"), c.str(at, b, "data")
	switch {
	case kind == "image/gif":
		c.add("image-type", at, "unsupported MIME type: image/gif")
	case kind == "image/heic" || kind == "image/heif":
		c.base64("image-data", at, data)
	case strings.HasPrefix(kind, "image/"):
		checkImage64(&c.report, at, kind, data)
	default:
		if kind != "application/pdf" && !strings.HasPrefix(kind, "text/") && !strings.HasPrefix(kind, "audio/") && !strings.HasPrefix(kind, "video/") {
			c.add("document", at, "unsupported MIME type: %s", kind)
		}
		c.base64("document", at, data)
	}
}

// reply checks a part of a content of the model.
func (c *geminiCheck) reply(at string, p map[string]any) {
	if p["functionResponse"] != nil {
		c.add("block-type", at, "a function response does not belong into a content of the model")
		return
	}
	c.part(at, p)
	c.signature(at, p)
	if v, ok := p["thought"]; ok {
		text, _ := p["text"].(string)
		switch {
		case v != true && v != false:
			c.add("field-type", at+".thought", "a boolean is required")
		case v == true && !c.rules.AnySignature && !c.sent.reasoned("thought", text):
			c.add("reasoning-foreign", at, "this server never sent this thought")
		}
	}
	call, ok := p["functionCall"].(map[string]any)
	if !ok {
		return
	}
	at += ".functionCall"
	c.fields(at, call, "id name args")
	name, id := c.str(at, call, "name"), ""
	if v, ok := call["id"]; ok {
		if id, _ = v.(string); id == "" {
			c.add("call-id", at+".id", "an id has to be a string that is not empty, or missing")
		}
		if c.seen[id] {
			c.add("call-duplicate", at, "the id %q was used by an earlier call", id)
		}
		c.seen[id] = true
	}
	if !legalFunction(name) {
		c.add("tool-name", at+".name", "%q does not match ^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$", name)
	}
	if v, ok := call["args"]; ok {
		if _, ok := v.(map[string]any); !ok {
			c.add("call-input", at+".args", "the arguments are not a JSON object")
		}
	}
	c.calls = append(c.calls, geminiCall{id, name})
	if sent := c.sent.before(Gemini, id); c.rules.RequireReasoning && id != "" && p["thoughtSignature"] == nil &&
		slices.ContainsFunc(sent, func(r reasoning) bool { return r.field == "thoughtSignature" }) {
		c.add("reasoning-missing", at, "the call was sent with a signature, which has to come back with it")
	}
}

// signature checks that a signature comes back on the part it came with.
func (c *geminiCheck) signature(at string, p map[string]any) {
	v, ok := p["thoughtSignature"]
	if !ok {
		return
	}
	sig, _ := v.(string)
	call, isCall := p["functionCall"].(map[string]any)
	if isCall && slices.Contains(skipSignatures[:], sig) {
		return
	}
	sent, known := c.sent.part(sig)
	name, _ := call["name"].(string)
	switch {
	case sig == "":
		c.add("signature", at, "the signature is empty: leave it out")
	case c.used[sig]:
		c.add("signature", at, "the signature stands on two parts")
	case c.rules.AnySignature && !known:
	case !known:
		c.add("signature", at, "the signature was not issued by this server")
	case sent.call != isCall || sent.name != name || sent.args != canonicalArgs(call):
		c.add("signature", at, "the signature is not on the part that it was sent with")
	}
	c.used[sig] = true
}

// signedSteps checks that each step since the user last said something has a
// signature on its first call.
func (c *geminiCheck) signedSteps(list []any) {
	for i := len(list) - 1; i >= 0; i-- {
		m, _ := list[i].(map[string]any)
		parts := objects(m["parts"])
		if m["role"] != "model" {
			if slices.ContainsFunc(parts, func(p map[string]any) bool { return p["functionResponse"] == nil }) {
				return
			}
			continue
		}
		n := slices.IndexFunc(parts, func(p map[string]any) bool { return p["functionCall"] != nil })
		if n >= 0 && parts[n]["thoughtSignature"] == nil {
			c.add("signature", fmt.Sprintf("contents[%d].parts[%d]", i, n), "the first function call of this step is missing a thought_signature")
		}
	}
}
