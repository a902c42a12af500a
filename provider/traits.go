package provider

import "github.com/openharness/oh"

// Thinking is how a model is asked for more or less reasoning.
type Thinking int

// The ways. With ThinkNone the effort of a request is not sent.
const (
	ThinkNone   Thinking = iota
	ThinkBudget          // a number of tokens (Anthropic: thinking.budget_tokens)
	ThinkEffort          // a word (Anthropic: adaptive thinking with output_config.effort; Chat: reasoning_effort; Responses: reasoning.effort)
)

// The forms of call ids.
const (
	AnyID  = ""       // letters, digits, "_" and "-", at most 64
	NineID = "alnum9" // exactly nine letters and digits (Mistral)
)

// The dialects of tool schemas.
const (
	PlainSchema  = ""       // JSON Schema
	GeminiSchema = "gemini" // the subset of OpenAPI that Gemini's parameters take
	FlatSchema   = "flat"   // JSON Schema without $ref and $defs
)

// OmitEffort as [Traits.ToolEffort] leaves the effort out beside tools.
const OmitEffort = "omit"

// Traits is what a codec must know of a model. The zero value suits a plain
// model that takes text and images.
type Traits struct {
	// Name is the id to send; empty: the one of the request. The origin of what
	// goes back (see [oh.Origin]) is that of the request's in any case.
	Name string

	// Betas are sent as anthropic-beta on the Anthropic wire, and as
	// anthropic_beta on the Bedrock wire.
	Betas []string

	// MaxOutput is the output limit in tokens that is sent when the request has
	// none. 0: the wire's default ([MaxOutput] where a limit must be sent,
	// otherwise none).
	MaxOutput int

	// Window is the context window in tokens that is asked for where a service
	// has to be told (Ollama's num_ctx). 0: the service's own.
	Window int

	// Thinking is how the effort is sent; Budgets gives tokens for each effort
	// (missing ones are built in), Efforts the wire's word for each effort
	// (missing ones are sent as they are, an empty word is not sent).
	Thinking Thinking
	Budgets  map[string]int
	Efforts  map[string]string

	// ToolEffort is what the Chat wire sends for the effort when the request has
	// tools, whether or not an effort was asked for: [OmitEffort] for models that
	// refuse one beside tools, a word for models that want that one. Empty: what
	// was asked.
	ToolEffort string

	// TokenField names the output limit on the Chat wire: max_tokens (also when
	// empty) or max_completion_tokens.
	TokenField string

	// ReasoningField forces the field in which reasoning goes back on the Chat
	// wire. Empty: the field it came in. EmptyReasoning sends an empty field with
	// calls that had no reasoning (some Kimi endpoints demand it).
	ReasoningField string
	EmptyReasoning bool

	// NoReasoning keeps all reasoning back, on every wire (services that refuse
	// it in a request). On the Responses wire it is not asked for either.
	NoReasoning bool

	// NoImages: the model takes no images; a note stands for each.
	NoImages bool

	// ImageInToolResult: on the Chat wire tool messages may hold images. Without
	// it they follow in a user message.
	ImageInToolResult bool

	// Documents: on the Chat and Responses wires the service takes PDF files as
	// file parts. Without it a note stands for each. The Anthropic and Bedrock
	// wires always take them, the Gemini wire where the model takes images.
	Documents bool

	// NoUsageOption leaves stream_options out on the Chat wire (services that
	// refuse it).
	NoUsageOption bool

	// NoTools: the model takes no tools. They are left out of the request and
	// earlier calls and results go as text.
	NoTools bool

	// CallIDs is the form of call ids that a service takes on the Chat wire:
	// [AnyID] or [NineID].
	CallIDs string

	// Schema is the dialect of the tools' schemas: [PlainSchema], [GeminiSchema]
	// or [FlatSchema].
	Schema string

	// Levels: on the Gemini wire the effort goes as a thinkingLevel word (see
	// Efforts) and not as a thinkingBudget.
	Levels bool

	// ResponseImages: on the Gemini wire function responses may hold images.
	// Without it they follow as parts of their own.
	ResponseImages bool

	// SignedCalls: the service refuses calls of the current turn that have no
	// signature, so those of other origins need a stand-in.
	SignedCalls bool

	// CacheKey sends the session as prompt_cache_key on the Chat and Responses
	// wires.
	CacheKey bool

	// NoCache leaves the marks of what to cache out: cache_control on the
	// Anthropic wire, cachePoint on the Bedrock wire (services that refuse them).
	NoCache bool
}

// MaxOutput is the output limit in tokens for a model nobody knows, where the
// wire demands one.
const MaxOutput = 8192

// Limit returns the output limit in tokens to send for a request: what it asks
// for, else the model's; 0 is none.
func (t *Traits) Limit(req *oh.Request) int {
	if req.MaxTokens > 0 {
		return req.MaxTokens
	}
	return max(t.MaxOutput, 0)
}

// Budget returns the thinking tokens for an effort, 0 when it is unknown.
func (t *Traits) Budget(effort string) int {
	if n, ok := t.Budgets[effort]; ok {
		return n
	}
	switch effort {
	case "minimal":
		return 1024
	case "low":
		return 4096
	case "medium":
		return 10000
	case "high":
		return 24000
	case "xhigh", "max":
		return 32000
	}
	return 0
}

// ChatEffort is Effort for the Chat wire, where tools may forbid it.
func (t *Traits) ChatEffort(effort string, tools bool) string {
	switch {
	case !tools || t.ToolEffort == "":
		return t.Effort(effort)
	case t.ToolEffort == OmitEffort:
		return ""
	}
	return t.ToolEffort
}

// Effort returns the wire's word for an effort, "" when nothing is to be sent.
func (t *Traits) Effort(effort string) string {
	if t.Thinking != ThinkEffort {
		return ""
	}
	if word, ok := t.Efforts[effort]; ok {
		return word
	}
	return effort
}
