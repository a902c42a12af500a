package provider

import "strings"

// Thinking is how a model is asked for more or less reasoning.
type Thinking int

// The ways. With ThinkNone the effort of a request is not sent.
const (
	ThinkNone   Thinking = iota
	ThinkBudget          // a number of tokens (Anthropic: thinking.budget_tokens)
	ThinkEffort          // a word (Anthropic: adaptive thinking with output_config.effort; Chat: reasoning_effort)
)

// Traits is what a codec must know of a model. The zero value suits a plain
// model that takes text and images.
type Traits struct {
	// MaxOutput is the output limit in tokens that is sent when the request has
	// none. 0: the wire's default ([MaxOutput] where a limit must be sent,
	// otherwise none).
	MaxOutput int

	// Thinking is how the effort is sent; Budgets gives tokens for each effort
	// (missing ones are built in), Efforts the wire's word for each effort
	// (missing ones are sent as they are, an empty word is not sent).
	Thinking Thinking
	Budgets  map[string]int
	Efforts  map[string]string

	// TokenField names the output limit on the Chat wire: max_tokens (also when
	// empty) or max_completion_tokens.
	TokenField string

	// ReasoningField forces the field in which reasoning goes back on the Chat
	// wire. Empty: the field it came in. NoReasoning keeps all reasoning back
	// (services that refuse the field in a request). EmptyReasoning sends an
	// empty field with calls that had no reasoning (some Kimi endpoints demand it).
	ReasoningField string
	NoReasoning    bool
	EmptyReasoning bool

	// NoImages: the model takes no images; a note stands for each.
	NoImages bool

	// ImageInToolResult: on the Chat wire tool messages may hold images. Without
	// it they follow in a user message.
	ImageInToolResult bool

	// Documents: the Chat service takes PDF files as file parts. Without it a
	// note stands for each. The Anthropic wire always takes them.
	Documents bool

	// NoUsageOption leaves stream_options out (services that refuse it).
	NoUsageOption bool

	// CacheKey sends the session as prompt_cache_key on the Chat wire.
	CacheKey bool

	// NoCache leaves cache_control out on the Anthropic wire (services that
	// refuse it).
	NoCache bool
}

// MaxOutput is the output limit in tokens for a model nobody knows, where the
// wire demands one.
const MaxOutput = 8192

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

// DefaultTraits guesses the traits of a model from its name, in the forms that
// vendors and gateways use ("vendor/name", "name:tag"). An unknown name gives
// the zero value.
func DefaultTraits(model string) Traits {
	name := strings.ToLower(model)
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	if i := strings.Index(name, "claude-"); i >= 0 {
		return claudeTraits(name[i+len("claude-"):])
	}
	switch {
	case strings.HasPrefix(name, "gpt-5"):
		return openaiTraits(len(name) > 6 && name[5] == '.' && name[6] >= '2')
	case strings.HasPrefix(name, "o1-mini"), strings.HasPrefix(name, "o1-preview"):
		return Traits{TokenField: "max_completion_tokens", NoImages: true}
	case strings.HasPrefix(name, "o1"), strings.HasPrefix(name, "o3"), strings.HasPrefix(name, "o4"):
		return openaiTraits(false)
	}
	return Traits{}
}

func openaiTraits(xhigh bool) Traits {
	t := Traits{TokenField: "max_completion_tokens", Thinking: ThinkEffort}
	if !xhigh {
		t.Efforts = map[string]string{"xhigh": "high", "max": "high"}
	} else {
		t.Efforts = map[string]string{"max": "xhigh"}
	}
	return t
}

// claudeTraits reads what follows "claude-" in a model's name. Names that it
// does not know are newer than this table: they get the traits of the newest.
func claudeTraits(name string) Traits {
	switch {
	case strings.HasPrefix(name, "2"), strings.HasPrefix(name, "instant"):
		return Traits{MaxOutput: 4096, NoImages: true}
	case strings.HasPrefix(name, "3-5"), strings.HasPrefix(name, "3.5"):
		return Traits{MaxOutput: 8192}
	case strings.HasPrefix(name, "3-7"), strings.HasPrefix(name, "3.7"):
		return Traits{MaxOutput: 64000, Thinking: ThinkBudget}
	case strings.HasPrefix(name, "3-"):
		return Traits{MaxOutput: 4096}
	}
	family, version, _ := strings.Cut(name, "-")
	version = strings.ReplaceAll(version, ".", "-")
	switch {
	case family == "opus" && (oneOf(version, "4-0", "4-1") || version == "4" || strings.HasPrefix(version, "4-20")):
		return Traits{MaxOutput: 32000, Thinking: ThinkBudget}
	case oneOf(version, "4-0", "4-1", "4-5") || version == "4" || strings.HasPrefix(version, "4-20"):
		return Traits{MaxOutput: 64000, Thinking: ThinkBudget}
	case version == "4-6" || strings.HasPrefix(version, "4-6-"):
		return Traits{MaxOutput: 64000, Thinking: ThinkEffort, Efforts: map[string]string{"xhigh": "max", "minimal": "low"}}
	case family == "haiku":
		return Traits{MaxOutput: 64000, Thinking: ThinkBudget}
	}
	return Traits{MaxOutput: 64000, Thinking: ThinkEffort, Efforts: map[string]string{"minimal": "low"}}
}

// oneOf reports whether version is one of those listed, alone or dated.
func oneOf(version string, of ...string) bool {
	for _, v := range of {
		if version == v || strings.HasPrefix(version, v+"-") {
			return true
		}
	}
	return false
}
