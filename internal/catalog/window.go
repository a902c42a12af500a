package catalog

import "strings"

// mark is the words before or after the window in a vendor's complaint about a
// prompt that is too long.
type mark struct {
	before string
	after  string // right after the number; "" for anything
}

// marks are the vendors' sentences, in lower case. Where a sentence has two
// numbers, the one of the window is meant and not the one of the prompt.
func marks() []mark {
	return []mark{
		{"maximum context length is ", ""},                   // OpenAI, vLLM, DeepSeek, Mistral, OpenRouter, Together
		{"model with ", " maximum context length"},           // Mistral
		{"maximum context length of ", ""},                   // Fireworks, older vLLM
		{"maximum model length of ", ""},                     // vLLM, SGLang
		{"tokens > ", " maximum"},                            // Anthropic: prompt is too long: 201234 tokens > 200000 maximum
		{"exceed context limit: ", ""},                       // Anthropic: input length and max_tokens, see windowOf
		{"maximum number of tokens allowed (", ""},           // Gemini
		{"maximum number of tokens allowed ", ""},            // Vertex
		{"available context size (", ""},                     // llama.cpp
		{"\"n_ctx\":", ""},                                   // llama.cpp, as JSON
		{"n_ctx = ", ""},                                     // llama.cpp, as text
		{"context length of only ", ""},                      // LM Studio
		{"exceeded model token limit: ", ""},                 // Moonshot
		{"maximum prompt length is ", ""},                    // xAI
		{"range of input length should be [1, ", ""},         // DashScope
		{"context length exceeded: limit is ", ""},           // Cerebras
		{"current length is", ""},                            // Cerebras, see windowOf
		{"context window of ", ""},                           // several gateways
		{"context window is ", ""},                           //
		{"context length is ", ""},                           //
		{"context limit of ", ""},                            //
		{"context length limit of ", ""},                     //
		{"context size of ", ""},                             // Ollama's own runner
		{"limit is ", " tokens"},                             // Copilot: prompt token count of 70000 exceeds the limit of 64000
		{"exceeds the limit of ", ""},                        // Copilot
		{"exceeds the model's maximum input length of ", ""}, // Bedrock
	}
}

// WindowFromError finds the context window in tokens in what a service says of
// a prompt that is too long; false when it does not say. Ask only for errors of
// [oh.KindTooLong].
func WindowFromError(text string) (int, bool) {
	text = strings.ToLower(strings.ReplaceAll(text, "`", ""))
	for _, m := range marks() {
		rest := text
		for {
			_, after, ok := strings.Cut(rest, m.before)
			if !ok {
				break
			}
			if n := m.window(after); n > 0 {
				return n, true
			}
			rest = after
		}
	}
	return 0, false
}

// window reads the number behind the mark; 0 when there is none that could be a
// window.
func (m mark) window(s string) int {
	switch m.before {
	case "exceed context limit: ": // 188240 + 21333 > 200000
		_, after, ok := strings.Cut(s, "> ")
		if !ok {
			return 0
		}
		s = after
	case "current length is": // Current length is 9000 while limit is 8192
		_, after, ok := strings.Cut(s, "limit is ")
		if !ok {
			return 0
		}
		s = after
	}
	n, rest := readCount(s)
	if n < leastWindow || n > mostWindow || !strings.HasPrefix(rest, m.after) {
		return 0
	}
	return n
}

// What could be a window, in tokens.
const (
	leastWindow = 256
	mostWindow  = 100_000_000
)

// readCount reads a whole number, with commas or not, and what follows.
func readCount(s string) (n int, rest string) {
	s = strings.TrimLeft(s, " ")
	i := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if n > mostWindow {
				return 0, ""
			}
			n = n*10 + int(c-'0')
		case c == ',' && i+3 < len(s) && i > 0 && digits(s[i+1:i+4]):
		default:
			return n, s[i:]
		}
	}
	return n, ""
}

func digits(s string) bool { return strings.Trim(s, "0123456789") == "" }
