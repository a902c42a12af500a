package oh

// Role says who speaks. There is no system role: the system prompt is a
// parameter of the request.
type Role string

// The two roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// StopReason says why a reply ended. Values of the wires that have no name
// here are kept as they came.
type StopReason string

// The stop reasons that the engine acts on.
const (
	StopEnd       StopReason = "end_turn"
	StopToolUse   StopReason = "tool_use"
	StopMaxTokens StopReason = "max_tokens" // cut at the output limit
	StopSequence  StopReason = "stop_sequence"
	StopRefusal   StopReason = "refusal"                       // also content filters
	StopPause     StopReason = "pause_turn"                    // the service wants to be asked again
	StopTooLong   StopReason = "model_context_window_exceeded" // cut because the window is full
	StopCancelled StopReason = "cancelled"                     // ours: a person stopped the reply
)

// Cut reports whether the reply was cut off by a limit, so that its last call
// may be incomplete.
func (s StopReason) Cut() bool { return s == StopMaxTokens || s == StopTooLong }

// Message is one turn of one side. ID is unique within a conversation. Model,
// Stop and Usage are set on assistant messages only.
type Message struct {
	ID      string     `json:"id"`
	Role    Role       `json:"role"`
	Content Blocks     `json:"content"`
	Model   string     `json:"model,omitempty"`
	Stop    StopReason `json:"stop,omitempty"`
	Usage   Usage      `json:"usage,omitzero"`
}

// Usage counts tokens. InputTokens excludes what was read from or written to a
// prompt cache; OutputTokens includes ReasoningTokens.
type Usage struct {
	InputTokens      int `json:"input_tokens"`
	OutputTokens     int `json:"output_tokens"`
	CacheReadTokens  int `json:"cache_read_input_tokens,omitempty"`
	CacheWriteTokens int `json:"cache_creation_input_tokens,omitempty"`
	ReasoningTokens  int `json:"reasoning_tokens,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:  u.ReasoningTokens + v.ReasoningTokens,
	}
}

// Prompt is the whole size of the prompt in tokens: fresh, read and written.
func (u Usage) Prompt() int { return u.InputTokens + u.CacheReadTokens + u.CacheWriteTokens }
