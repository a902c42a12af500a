package body

import (
	"slices"

	"github.com/openharness/oh"
)

// minThinking is the least budget of thinking that Claude takes, in tokens.
const minThinking = 1024

// ThinkingBudget returns the tokens of thinking to ask Claude for: at most
// budget, and less than limit, the output limit (0 is none), so that something
// is left for the reply itself. 0 means none: too few remain, or the service
// would not take the history with a budget. sends reports whether a block of
// thinking goes back.
func ThinkingBudget(budget, limit int, messages []oh.Message, sends func(oh.Thinking) bool) int {
	if limit > 0 {
		budget = min(budget, limit-1)
	}
	if limit > 2*minThinking {
		budget = min(budget, limit-minThinking)
	}
	if budget < minThinking || !canThink(messages, sends) {
		return 0
	}
	return budget
}

// canThink reports whether Claude would take the history with a budget: in the
// middle of a turn with calls, the reply that made them must begin with its
// thinking.
func canThink(messages []oh.Message, sends func(oh.Thinking) bool) bool {
	n := len(messages)
	if n < 2 || !slices.ContainsFunc(messages[n-1].Content, IsResult) {
		return true
	}
	for _, x := range messages[n-2].Content {
		switch x := x.(type) {
		case oh.Thinking:
			if sends(x) {
				return true
			}
		case oh.Text:
			if !Blank(x.Text) {
				return false
			}
		case oh.ToolUse:
			return false
		}
	}
	return true
}

// IsResult reports whether a block answers a call.
func IsResult(x oh.Block) bool { _, ok := x.(oh.ToolResult); return ok }
