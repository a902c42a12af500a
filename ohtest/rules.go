package ohtest

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"
)

// Wire names the protocol of a request.
type Wire string

// The wires.
const (
	Anthropic Wire = "anthropic" // Messages: POST .../messages
	OpenAI    Wire = "openai"    // Chat Completions: POST .../chat/completions
	Responses Wire = "responses" // Responses of OpenAI: POST .../responses
	Gemini    Wire = "gemini"    // Gemini of Google: POST .../models/NAME:streamGenerateContent?alt=sse
	Bedrock   Wire = "bedrock"   // Converse of Amazon Bedrock: POST .../model/NAME/converse-stream
	Ollama    Wire = "ollama"    // POST .../api/chat
)

// Wires returns all wires.
func Wires() []Wire { return []Wire{Anthropic, OpenAI, Responses, Gemini, Bedrock, Ollama} }

// Rules adjusts the checks of requests. The zero value is the strictest.
type Rules struct {
	// Fields lists further top-level fields that are known, such as the quirk
	// of a service.
	Fields []string

	// MergeRoles allows neighbouring messages of one role, which the services
	// would merge.
	MergeRoles bool

	// NoAuth allows requests without a key. Servers only.
	NoAuth bool

	// AnySignature allows reasoning that this server never sent, such as that
	// of an earlier server in a resumed session.
	AnySignature bool

	// RequireReasoning demands that a reply with calls comes back with the
	// reasoning it was sent with. OpenAI, Responses and Gemini wires.
	RequireReasoning bool

	// SignedCalls demands a signature on the first call of each step since the
	// user last spoke, as Gemini does from version 3 on. A server knows it by the
	// model's name. Gemini wire.
	SignedCalls bool

	// ClosedObjects refuses objects without properties anywhere in the schema of
	// a function, as Gemini did until 2025 and gateways to it may. At the top they
	// are refused in any case. Gemini wire.
	ClosedObjects bool

	// EmptyReasoning allows a reasoning field that is present but empty. OpenAI
	// wire.
	EmptyReasoning bool
}

// Check holds a request body to the rules of a wire, as the real service does.
// It knows of no reasoning sent earlier, so any passes.
func Check(w Wire, body []byte, rules Rules) []Violation {
	rules.AnySignature = true
	return check(w, "", body, rules, &issued{})
}

// check is [Check] with what a server remembers, and the model where the path
// tells it.
func check(w Wire, model string, body []byte, rules Rules, sent *issued) []Violation {
	found := inspect(body)
	if slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == "json" }) {
		return found
	}
	root, err := decodeObject(body)
	if err != nil {
		return append(found, Violation{"json", "", "the body is not a JSON object"})
	}
	c := checker{report: report{found}, rules: rules, sent: sent, seen: map[string]bool{}}
	for _, f := range rules.Fields {
		delete(root, f)
	}
	switch w {
	case Anthropic:
		(&anthropicCheck{checker: &c}).run(root)
	case OpenAI:
		(&openaiCheck{checker: &c}).run(root)
	case Responses:
		(&responsesCheck{checker: &c}).run(root)
	case Gemini:
		(&geminiCheck{checker: &c, model: model}).run(root)
	case Bedrock:
		(&bedrockCheck{checker: &c}).run(root)
	case Ollama:
		(&ollamaCheck{checker: &c}).run(root)
	default:
		c.add("wire", "", "the wire %q is not known", w)
	}
	if other, ok := sent.foreign(w, body); ok && !rules.AnySignature {
		c.add("reasoning-foreign", "", "the body holds encrypted reasoning or a signature that was sent on the %s wire", other)
	}
	return c.found
}

// checker is what the checks of the wires have in common.
type checker struct {
	report
	rules Rules
	sent  *issued
	seen  map[string]bool // ids of all calls
	open  map[string]bool // calls that wait for a result
}

func (c *checker) text(where, s string) {
	if blank(s) {
		c.add("blank-text", where, "the text is empty or blank")
	}
}

// callHead checks the id and name of a call and opens it.
func (c *checker) callHead(where, id, name string) {
	if !legalID(id) {
		c.add("call-id", where, "the id %q does not match ^[a-zA-Z0-9_-]+$", id)
	}
	if c.seen[id] {
		c.add("call-duplicate", where, "the id %q was used by an earlier call", id)
	}
	if !legalName(name) {
		c.add("tool-name", where, "%q does not match ^[a-zA-Z0-9_-]{1,64}$", name)
	}
	c.seen[id] = true
	c.open[id] = true
}

// toolHead checks the name of a tool against those before.
func (c *checker) toolHead(where, name string, names map[string]bool) {
	if !legalName(name) {
		c.add("tool-name", where, "%q does not match ^[a-zA-Z0-9_-]{1,64}$", name)
	}
	if names[name] {
		c.add("tool-duplicate", where, "there are two tools of the name %q", name)
	}
	names[name] = true
}

// unanswered reports the calls that should have got their results before where.
func (c *checker) unanswered(where string) {
	for _, id := range sortedKeys(c.open) {
		c.add("call-unanswered", where, "the call %q before this has no result", id)
	}
	c.open = nil
}

// number checks a member that has to be a whole number of at least low, when
// it is there.
func (c *checker) number(rule string, m map[string]any, key string, low int64) (int64, bool) {
	v, ok := m[key]
	if !ok {
		return 0, false
	}
	n, ok := whole(v)
	if !ok || n < low {
		c.add(rule, key, "a whole number of at least %d is required", low)
	}
	return n, ok
}

// streams reports a request for anything but a stream.
func (c *checker) streams(root map[string]any) {
	if root["stream"] != true {
		c.add("stream", "stream", "this server only streams: send true")
	}
}

// messages returns the list of messages of a request.
func (c *checker) messages(root map[string]any) []any {
	list, ok := root["messages"].([]any)
	if !ok || len(list) == 0 {
		c.add("messages-empty", "messages", "at least one message is required")
	}
	return list
}

// result notes that a result for a call came, which has to wait for one.
func (c *checker) result(at, id string, answered map[string]bool) {
	switch {
	case answered[id]:
		c.add("result-duplicate", at, "the call %q has two results", id)
	case !c.open[id]:
		c.add("result-orphan", at, "no call %q waits for a result", id)
	default:
		answered[id] = true
	}
	delete(c.open, id)
}

// dataURL checks an image given as a data URL; other URLs pass.
func (c *checker) dataURL(at, url string) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
			c.add("image-data", at, "the url is neither a data URL nor one of http")
		}
		return
	}
	mediaType, data, ok := strings.Cut(rest, ";base64,")
	if !ok {
		c.add("image-data", at, "the data URL is not base64")
		return
	}
	checkImage64(&c.report, at, mediaType, data)
}

// arguments checks the text of a call's arguments.
func (c *checker) arguments(at, args string) {
	if !isObject([]byte(args)) {
		c.add("call-input", at, "the arguments are not a JSON object")
		return
	}
	for _, v := range inspect([]byte(args)) {
		c.add(v.Rule, at, "%s", v.Text)
	}
}

// cacheKey checks the key under which OpenAI caches prompts.
func (c *checker) cacheKey(root map[string]any) {
	const limit = 64
	if v, ok := root["prompt_cache_key"]; ok {
		if s, isText := v.(string); !isText || utf8.RuneCountInString(s) > limit {
			c.add("field-type", "prompt_cache_key", "a string of at most %d characters is required", limit)
		}
	}
}

// base64 checks data that has to be base64 and not empty.
func (c *checker) base64(rule, at, data string) {
	if _, err := base64.StdEncoding.Strict().DecodeString(data); err != nil || data == "" {
		c.add(rule, at, "the data is not base64")
	}
}
