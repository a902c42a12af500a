package bedrock

import (
	"fmt"
	"strings"

	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/bridge"
)

// family is what the models of one maker have in common on this wire. It holds
// what the service refuses for some and wants for others.
type family struct {
	name       string
	cache      bool // takes cache points in system and messages
	toolCache  bool // and behind the tools
	status     bool // takes the status of tool results
	apart      bool // takes nothing beside tool results in one message
	thoughtful bool // takes signed reasoning back
	dialect    bridge.Dialect
}

const (
	claude = "claude"
	nova   = "nova"
)

// key names what the bytes of a message depend on.
func (f *family) key() string { return fmt.Sprintf("%t%t%t", f.status, f.apart, f.thoughtful) }

// familyOf tells the family from the model's id or ARN. A name that hides it,
// such as the ARN of an inference profile, gets no cache points.
func familyOf(model string, traits *provider.Traits) family {
	name := strings.ToLower(model)
	switch {
	case strings.Contains(name, claude), strings.Contains(name, "anthropic"):
		cache := !traits.NoCache && caches(name)
		return family{name: claude, cache: cache, toolCache: cache, status: true, thoughtful: true}
	case strings.Contains(name, "amazon.nova"), strings.HasPrefix(name, "nova-"):
		return family{name: nova, cache: !traits.NoCache, status: true, dialect: bridge.Bedrock}
	}
	for _, maker := range []string{"mistral.", "meta.", "cohere.", "ai21."} {
		if strings.Contains(name, maker) {
			return family{apart: true, dialect: bridge.Bedrock}
		}
	}
	for _, maker := range []string{"deepseek.", "openai.", "qwen.", "moonshot", "minimax.", "google.", "nvidia.", "writer.", "zai."} {
		if strings.Contains(name, maker) {
			return family{thoughtful: true, dialect: bridge.Bedrock}
		}
	}
	return family{status: true, thoughtful: true, dialect: bridge.Bedrock}
}

// caches reports whether a Claude model caches prompts; only the oldest do not.
func caches(name string) bool {
	for _, old := range []string{"claude-instant", "claude-v", "claude-2", "claude-3-opus", "claude-3-sonnet", "claude-3-haiku", "claude-3-5-sonnet-20240620"} {
		if strings.Contains(name, old) {
			return false
		}
	}
	return true
}
