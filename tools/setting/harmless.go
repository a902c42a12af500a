package setting

import "strings"

// harmless reports whether a model may set a key. It is a list of what may be,
// so that a setting of the future is refused until somebody has thought about
// it: a slip here would let a model permit itself something.
func harmless(key string) bool {
	switch key {
	case "model", "max_tokens", "timeout", "max_turns", "effort", "passes", "verbose",
		"context_window_tokens", "auto_compact_threshold_tokens",
		"theme", "output_style", "vim_mode", "voice_mode", "fast_mode",
		"vision.model", "image_generation.model",
		"tool_output_inline_chars", "tool_output_preview_chars", "microcompact_tool_result_chars",
		"image_token_estimate", "require_empty_reasoning_content":
		return true
	}
	return strings.HasPrefix(key, "memory.")
}

// secret reports whether a value must not be shown, by the name of its key.
// Variables for children often hold secrets under any name.
func secret(key string) bool {
	if strings.HasPrefix(key, "env.") || strings.Contains(key, ".extra_env.") {
		return true
	}
	last := strings.ToLower(key[strings.LastIndexByte(key, '.')+1:])
	last = strings.ReplaceAll(last, "-", "_")
	for _, stem := range [...]string{"api_key", "apikey", "secret", "password", "passwd", "authorization", "credential", "private_key", "access_key"} {
		if strings.Contains(last, stem) {
			// A helper or a variable is a name, not the key itself.
			return last != "api_key_helper" && last != "api_key_env" && last != "credential_slot"
		}
	}
	return last == "token" || last == "key" || last == "cookie" || strings.HasSuffix(last, "_token") || strings.HasSuffix(last, "_key")
}
