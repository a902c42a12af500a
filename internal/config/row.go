package config

import (
	"strings"

	"github.com/openharness/oh"
)

// liberty says what an untrusted folder may do with a setting.
type liberty int

const (
	never    liberty = iota
	always           // harmless, or only ever tighter
	tightens         // if the value is narrower than what counted before
)

// row describes one setting: its names, where its value goes and what it may
// be. The type of ptr decides the rest.
type row struct {
	key    string // ours, dotted
	claude string // Claude Code's, dotted; the only name that counts in .claude files
	ptr    any
	read   func(b *builder, l *layer, n *node) // instead of ptr
	enum   []string
	lower  bool    // enum values may be written in any case
	min    float64 // least value; with clamp smaller ones are raised to it
	max    float64 // greatest value, 0 for none
	clamp  bool
	free   liberty
	effect oh.Decision // of the rules that a list holds
	kind   Kind        // of those rules; "" for lists without rules
	list   bool        // listed member by member
}

// strict reports whether a bad value of a key ends the program.
func strict(key string) bool {
	top, _, _ := strings.Cut(key, ".")
	switch top {
	case "permission", "permissions", "sandbox", "hooks":
		return true
	}
	return false
}

// formats are the wires by their names in settings; openai_compat is openai,
// copilot a service.
func formats() []string {
	return []string{"anthropic", "openai", "openai_compat", "responses", "gemini", "bedrock", "ollama", "copilot"}
}

// rows is the table of all settings, bound to s.
func rows(s *Settings) []row {
	efforts := []string{"low", "medium", "high", "xhigh", "max"}
	m, x, v, g := &s.Memory, &s.Sandbox, &s.Vision, &s.ImageGeneration
	return []row{
		{key: "api_key", ptr: &s.APIKey},
		{key: "model", claude: "model", ptr: &s.Model, free: always},
		{key: "fallback_model", claude: "fallbackModel", ptr: &s.Fallback, read: (*builder).fallback, free: always},
		{key: "max_tokens", ptr: &s.MaxTokens, min: 1},
		{key: "base_url", ptr: &s.BaseURL},
		{key: "timeout", ptr: &s.Timeout, min: 0.001},
		{key: "context_window_tokens", ptr: &s.Window, min: 1},
		{key: "auto_compact_threshold_tokens", ptr: &s.CompactAt, min: 1},
		{key: "api_format", ptr: &s.APIFormat, enum: formats()},
		{key: "provider", ptr: &s.Provider},
		{key: "active_profile", ptr: &s.ActiveProfile},
		{key: "profiles", read: (*builder).profiles, list: true},
		{key: "models", read: (*builder).models, list: true},
		{key: "catalog_url", ptr: &s.CatalogURL, read: (*builder).catalogURL},
		{key: "max_turns", ptr: &s.MaxTurns, min: 1, free: tightens},
		{key: "system_prompt", ptr: &s.SystemPrompt},
		{key: "permission.mode", claude: "permissions.defaultMode", ptr: &s.Permission.Mode, free: tightens},
		{key: "permission.allowed_tools", ptr: &s.Permission.AllowedTools, kind: KindTool, effect: oh.Allow},
		{key: "permission.denied_tools", ptr: &s.Permission.DeniedTools, kind: KindTool, effect: oh.Deny, free: always},
		{key: "permission.path_rules", read: (*builder).pathRules, free: always},
		{key: "permission.denied_commands", ptr: &s.Permission.DeniedCommands, kind: KindCommand, effect: oh.Deny, free: always},
		{key: "permissions.allow", claude: "permissions.allow", ptr: &s.Permissions.Allow, kind: KindClaude, effect: oh.Allow},
		{key: "permissions.ask", claude: "permissions.ask", ptr: &s.Permissions.Ask, kind: KindClaude, effect: oh.Ask, free: always},
		{key: "permissions.deny", claude: "permissions.deny", ptr: &s.Permissions.Deny, kind: KindClaude, effect: oh.Deny, free: always},
		{key: "permissions.additionalDirectories", claude: "permissions.additionalDirectories", ptr: &s.Permissions.Dirs},
		{key: "permissions.disableBypassPermissionsMode", claude: "permissions.disableBypassPermissionsMode", ptr: &s.Permissions.NoBypass, enum: []string{"disable"}, free: always},
		{key: "hooks", claude: "hooks", read: (*builder).hooks, list: true},
		{key: "memory.enabled", ptr: &m.Enabled},
		{key: "memory.max_files", ptr: &m.MaxFiles},
		{key: "memory.max_entrypoint_lines", ptr: &m.EntrypointLines},
		{key: "memory.max_entrypoint_bytes", ptr: &m.EntrypointBytes},
		{key: "memory.context_window_tokens", ptr: &m.Window, min: 1},
		{key: "memory.auto_compact_threshold_tokens", ptr: &m.CompactAt, min: 1},
		{key: "memory.auto_extract_enabled", ptr: &m.AutoExtract},
		{key: "memory.auto_extract_max_records", ptr: &m.ExtractRecords},
		{key: "memory.session_memory_enabled", ptr: &m.SessionMemory},
		{key: "memory.auto_dream_enabled", ptr: &m.AutoDream},
		{key: "memory.auto_dream_min_hours", ptr: &m.DreamHours},
		{key: "memory.auto_dream_min_sessions", ptr: &m.DreamSessions},
		{key: "sandbox.enabled", claude: "sandbox.enabled", ptr: &x.Enabled, free: tightens},
		{key: "sandbox.backend", ptr: &x.Backend, enum: []string{"auto", "landlock", "bwrap", "seatbelt", "docker", "srt"}},
		{key: "sandbox.fail_if_unavailable", ptr: &x.Strict, free: tightens},
		{key: "sandbox.enabled_platforms", ptr: &x.Platforms},
		{key: "sandbox.network.allowed_domains", claude: "sandbox.network.allowedDomains", ptr: &x.Network.Allowed},
		{key: "sandbox.network.denied_domains", claude: "sandbox.network.deniedDomains", ptr: &x.Network.Denied, free: always},
		{key: "sandbox.filesystem.allow_read", claude: "sandbox.filesystem.allowRead", ptr: &x.Filesystem.AllowRead},
		{key: "sandbox.filesystem.deny_read", claude: "sandbox.filesystem.denyRead", ptr: &x.Filesystem.DenyRead, free: always},
		{key: "sandbox.filesystem.allow_write", claude: "sandbox.filesystem.allowWrite", ptr: &x.Filesystem.AllowWrite},
		{key: "sandbox.filesystem.deny_write", claude: "sandbox.filesystem.denyWrite", ptr: &x.Filesystem.DenyWrite, free: always},
		{key: "sandbox.docker.image", ptr: &x.Docker.Image},
		{key: "sandbox.docker.auto_build_image", ptr: &x.Docker.AutoBuild},
		{key: "sandbox.docker.cpu_limit", ptr: &x.Docker.CPUs},
		{key: "sandbox.docker.memory_limit", ptr: &x.Docker.Memory},
		{key: "sandbox.docker.extra_mounts", ptr: &x.Docker.Mounts},
		{key: "sandbox.docker.extra_env", ptr: &x.Docker.Env, list: true},
		{key: "enabled_plugins", claude: "enabledPlugins", ptr: &s.EnabledPlugins, list: true},
		{key: "allow_project_plugins", ptr: &s.ProjectPlugins},
		{key: "allow_project_skills", ptr: &s.ProjectSkills},
		{key: "project_skill_dirs", read: (*builder).skillDirs},
		{key: "mcp_servers", claude: "mcpServers", read: (*builder).mcpServers, list: true},
		{key: "lsp_servers", claude: "lspServers", read: (*builder).lspServers, list: true},
		{key: "web.private_hosts", ptr: &s.Web.PrivateHosts},
		{key: "env", claude: "env", ptr: &s.Env, list: true},
		{key: "status_line", claude: "statusLine", read: (*builder).statusLine},
		{key: "api_key_helper", claude: "apiKeyHelper", ptr: &s.APIKeyHelper},
		{key: "keyring", ptr: &s.Keyring},
		{key: "tls.ca_file", ptr: &s.TLS.CAFile},
		{key: "tls.client_cert", ptr: &s.TLS.Cert},
		{key: "tls.client_key", ptr: &s.TLS.Key},
		{key: "copilot_client_id", ptr: &s.CopilotClientID},
		{key: "theme", ptr: &s.Theme, free: always},
		{key: "output_style", claude: "outputStyle", ptr: &s.OutputStyle, free: always},
		{key: "vim_mode", ptr: &s.VimMode, free: always},
		{key: "voice_mode", ptr: &s.VoiceMode},
		{key: "fast_mode", ptr: &s.FastMode},
		{key: "effort", claude: "effortLevel", ptr: &s.Effort, enum: efforts, lower: true, free: always},
		{key: "passes", ptr: &s.Passes, min: 1},
		{key: "verbose", ptr: &s.Verbose},
		{key: "vision.model", ptr: &v.Model},
		{key: "vision.api_key", ptr: &v.Key},
		{key: "vision.base_url", ptr: &v.BaseURL},
		{key: "image_generation.provider", ptr: &g.Provider},
		{key: "image_generation.model", ptr: &g.Model},
		{key: "image_generation.api_key", ptr: &g.Key},
		{key: "image_generation.base_url", ptr: &g.BaseURL},
		{key: "image_generation.codex_model", ptr: &g.CodexModel},
		{key: "image_generation.codex_base_url", ptr: &g.CodexBaseURL},
		{key: "tool_output_inline_chars", ptr: &s.InlineChars, min: 256, clamp: true},
		{key: "tool_output_preview_chars", ptr: &s.PreviewChars, min: 128, clamp: true},
		{key: "microcompact_tool_result_chars", ptr: &s.MicrocompactAt, min: 256, clamp: true},
		{key: "image_token_estimate", ptr: &s.ImageTokens, min: 64, clamp: true},
		{key: "require_empty_reasoning_content", ptr: &s.EmptyReasoning},
	}
}

// variable is an environment variable that sets a key.
type variable struct{ name, key string }

func variables() []variable {
	return []variable{
		{"OPENHARNESS_PROFILE", "active_profile"},
		{"OPENHARNESS_MODEL", "model"},
		{"OPENHARNESS_BASE_URL", "base_url"},
		{"OPENHARNESS_API_FORMAT", "api_format"},
		{"OPENHARNESS_PROVIDER", "provider"},
		{"OPENHARNESS_CATALOG_URL", "catalog_url"},
		{"OPENHARNESS_MAX_TOKENS", "max_tokens"},
		{"OPENHARNESS_TIMEOUT", "timeout"},
		{"OPENHARNESS_MAX_TURNS", "max_turns"},
		{"OPENHARNESS_CONTEXT_WINDOW_TOKENS", "context_window_tokens"},
		{"OPENHARNESS_AUTO_COMPACT_THRESHOLD_TOKENS", "auto_compact_threshold_tokens"},
		{"OPENHARNESS_SANDBOX_ENABLED", "sandbox.enabled"},
		{"OPENHARNESS_SANDBOX_FAIL_IF_UNAVAILABLE", "sandbox.fail_if_unavailable"},
		{"OPENHARNESS_SANDBOX_BACKEND", "sandbox.backend"},
		{"OPENHARNESS_SANDBOX_DOCKER_IMAGE", "sandbox.docker.image"},
		{"OPENHARNESS_KEYRING", "keyring"},
		{"OPENHARNESS_COPILOT_CLIENT_ID", "copilot_client_id"},
		{"CLAUDE_CODE_CLIENT_CERT", "tls.client_cert"},
		{"CLAUDE_CODE_CLIENT_KEY", "tls.client_key"},
		{"OPENHARNESS_VISION_MODEL", "vision.model"},
		{"OPENHARNESS_VISION_API_KEY", "vision.api_key"},
		{"OPENHARNESS_VISION_BASE_URL", "vision.base_url"},
		{"OPENHARNESS_IMAGE_GENERATION_PROVIDER", "image_generation.provider"},
		{"OPENHARNESS_IMAGE_GENERATION_MODEL", "image_generation.model"},
		{"OPENHARNESS_IMAGE_GENERATION_API_KEY", "image_generation.api_key"},
		{"OPENHARNESS_IMAGE_GENERATION_BASE_URL", "image_generation.base_url"},
		{"OPENHARNESS_IMAGE_GENERATION_CODEX_MODEL", "image_generation.codex_model"},
		{"OPENHARNESS_IMAGE_GENERATION_CODEX_BASE_URL", "image_generation.codex_base_url"},
		{"OPENHARNESS_TOOL_OUTPUT_INLINE_CHARS", "tool_output_inline_chars"},
		{"OPENHARNESS_TOOL_OUTPUT_PREVIEW_CHARS", "tool_output_preview_chars"},
		{"OPENHARNESS_MICROCOMPACT_TOOL_RESULT_CHARS", "microcompact_tool_result_chars"},
		{"OPENHARNESS_IMAGE_TOKEN_ESTIMATE", "image_token_estimate"},
		{"OPENHARNESS_REQUIRE_EMPTY_REASONING_CONTENT", "require_empty_reasoning_content"},
	}
}
