package auth

import (
	"testing"

	"github.com/openharness/oh/internal/config"
)

func TestNear(t *testing.T) {
	l := &config.Loaded{Settings: config.Settings{Profiles: map[string]config.Profile{"work": {}}}}
	for name, want := range map[string]string{
		"anthropic": "claude-api",
		"openai":    "openai-compatible",
		"claud":     "claude-api",
		"gemni":     "gemini",
		"wokr":      "work",
		"google":    "gemini",
		"kimi":      "moonshot",
		"Amazon":    "bedrock",
		"lm studio": "lmstudio",
		"llama.cpp": "llamacpp",
		"no":        "",
		"clod-nine": "",
	} {
		if got := near(l, name); got != want {
			t.Errorf("near(%q) = %q, want %q", name, got, want)
		}
	}
}
