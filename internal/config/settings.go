package config

import (
	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/catalog"
)

// Settings are the effective values. Zero means not set where no default is
// named.
type Settings struct {
	APIKey        Secret             `json:"api_key"`
	Model         string             `json:"model"`
	Fallback      []string           `json:"fallback_model"` // asked in turn when Model is overloaded
	MaxTokens     int                `json:"max_tokens"`     // output tokens per request; 16,384
	BaseURL       string             `json:"base_url"`
	Timeout       float64            `json:"timeout"` // seconds without a byte; 120
	Window        int                `json:"context_window_tokens"`
	CompactAt     int                `json:"auto_compact_threshold_tokens"`
	APIFormat     string             `json:"api_format"` // anthropic, openai or copilot
	Provider      string             `json:"provider"`
	ActiveProfile string             `json:"active_profile"`
	Profiles      map[string]Profile `json:"profiles"`
	CatalogURL    string             `json:"catalog_url"` // catalog.Source
	MaxTurns      int                `json:"max_turns"`   // 200
	SystemPrompt  string             `json:"system_prompt"`
	Permission    Permission         `json:"permission"`
	Permissions   Permissions        `json:"permissions"`
	Memory        Memory             `json:"memory"`
	Sandbox       Sandbox            `json:"sandbox"`

	ModelFacts map[string]catalog.Fields `json:"models"` // by name, or a beginning that ends in *

	EnabledPlugins  map[string]bool   `json:"enabled_plugins"`
	ProjectPlugins  bool              `json:"allow_project_plugins"`
	ProjectSkills   bool              `json:"allow_project_skills"` // true
	SkillDirs       []string          `json:"project_skill_dirs"`   // relative, without ..
	MCPServers      map[string]Raw    `json:"-"`                    // key mcp_servers
	LSPServers      map[string]Raw    `json:"-"`                    // key lsp_servers
	Web             Web               `json:"web"`
	Env             map[string]string `json:"env"`            // for children; see [Loaded.Env]
	StatusLine      []byte            `json:"-"`              // JSON; key status_line
	APIKeyHelper    string            `json:"api_key_helper"` // a command that prints a key
	Keyring         bool              `json:"keyring"`        // true: keys are kept in the system's keyring, if there is one
	TLS             TLS               `json:"tls"`
	CopilotClientID string            `json:"copilot_client_id"` // of the OAuth app that asks GitHub
	Theme           string            `json:"theme"`             // default
	OutputStyle     string            `json:"output_style"`      // default
	VimMode         bool              `json:"vim_mode"`
	VoiceMode       bool              `json:"voice_mode"`
	FastMode        bool              `json:"fast_mode"`
	Effort          string            `json:"effort"` // low, medium, high, xhigh; "" unless set
	Passes          int               `json:"passes"` // 1
	Verbose         bool              `json:"verbose"`
	Vision          Vision            `json:"vision"`
	ImageGeneration ImageGeneration   `json:"image_generation"`

	InlineChars    int  `json:"tool_output_inline_chars"`       // 16,000 code points
	PreviewChars   int  `json:"tool_output_preview_chars"`      // 3,000 code points
	MicrocompactAt int  `json:"microcompact_tool_result_chars"` // 4,000 code points
	ImageTokens    int  `json:"image_token_estimate"`           // 3,072
	EmptyReasoning bool `json:"require_empty_reasoning_content"`
}

// Profile is a model service as a user defines it, or what a user changes of a
// built-in one.
type Profile struct {
	Label      string   `json:"label"`
	Provider   string   `json:"provider"`
	APIFormat  string   `json:"api_format"`
	AuthSource string   `json:"auth_source"`
	BaseURL    string   `json:"base_url"`
	Model      string   `json:"default_model"`
	LastModel  string   `json:"last_model"` // over Model
	Slot       string   `json:"credential_slot"`
	KeyEnv     string   `json:"api_key_env"` // name of the variable that holds its key
	Key        Secret   `json:"api_key"`     // only from files that the user or the system owns
	KeyHelper  string   `json:"api_key_helper"`
	Models     []string `json:"allowed_models"`
	Window     int      `json:"context_window_tokens"`
	CompactAt  int      `json:"auto_compact_threshold_tokens"`

	ModelFacts map[string]catalog.Fields `json:"models"` // of models at this service
}

// Permission is the OpenHarness form of permissions. The rules are also in
// [Loaded.Rules], with file and line.
type Permission struct {
	Mode           oh.Mode    `json:"mode"` // default
	AllowedTools   []string   `json:"allowed_tools"`
	DeniedTools    []string   `json:"denied_tools"`
	PathRules      []PathRule `json:"path_rules"`
	DeniedCommands []string   `json:"denied_commands"`
}

// PathRule allows or denies the paths that a glob matches.
type PathRule struct {
	Pattern string `json:"pattern"`
	Allow   bool   `json:"allow"` // true unless written
}

// Permissions is Claude Code's form of permissions; its defaultMode is
// [Permission.Mode].
type Permissions struct {
	Allow []string `json:"allow"`
	Ask   []string `json:"ask"`
	Deny  []string `json:"deny"`
	Dirs  []string `json:"additionalDirectories"`

	// NoBypass is "disable" when the mode full_auto must not be used; the
	// loaded mode then is acceptEdits at most.
	NoBypass string `json:"disableBypassPermissionsMode"`
}

// Memory configures what is remembered.
type Memory struct {
	Enabled         bool    `json:"enabled"`              // true
	MaxFiles        int     `json:"max_files"`            // 5
	EntrypointLines int     `json:"max_entrypoint_lines"` // 200
	EntrypointBytes int     `json:"max_entrypoint_bytes"` // 25,000
	Window          int     `json:"context_window_tokens"`
	CompactAt       int     `json:"auto_compact_threshold_tokens"`
	AutoExtract     bool    `json:"auto_extract_enabled"`
	ExtractRecords  int     `json:"auto_extract_max_records"` // 3
	SessionMemory   bool    `json:"session_memory_enabled"`   // true
	AutoDream       bool    `json:"auto_dream_enabled"`
	DreamHours      float64 `json:"auto_dream_min_hours"`    // 24
	DreamSessions   int     `json:"auto_dream_min_sessions"` // 5
}

// Sandbox configures how commands are held.
type Sandbox struct {
	Enabled    bool              `json:"enabled"`
	Backend    string            `json:"backend"` // srt, which means auto
	Strict     bool              `json:"fail_if_unavailable"`
	Platforms  []string          `json:"enabled_platforms"`
	Network    SandboxNetwork    `json:"network"`
	Filesystem SandboxFilesystem `json:"filesystem"`
	Docker     SandboxDocker     `json:"docker"`
}

// SandboxNetwork lists hosts.
type SandboxNetwork struct {
	Allowed []string `json:"allowed_domains"`
	Denied  []string `json:"denied_domains"`
}

// SandboxFilesystem lists paths.
type SandboxFilesystem struct {
	AllowRead  []string `json:"allow_read"`
	DenyRead   []string `json:"deny_read"`
	AllowWrite []string `json:"allow_write"` // "."
	DenyWrite  []string `json:"deny_write"`
}

// SandboxDocker configures the container backend.
type SandboxDocker struct {
	Image     string            `json:"image"`            // openharness-sandbox:latest
	AutoBuild bool              `json:"auto_build_image"` // true
	CPUs      float64           `json:"cpu_limit"`
	Memory    string            `json:"memory_limit"`
	Mounts    []string          `json:"extra_mounts"`
	Env       map[string]string `json:"extra_env"`
}

// TLS says how the model services are recognised, and this machine by them.
type TLS struct {
	CAFile string `json:"ca_file"`     // PEM: certificate authorities beside the system's
	Cert   string `json:"client_cert"` // PEM
	Key    string `json:"client_key"`  // PEM: path of the certificate's key
}

// Web bounds the tools that reach the web.
type Web struct {
	// PrivateHosts are names, addresses and prefixes that may be reached
	// although their address is not public.
	PrivateHosts []string `json:"private_hosts"`
}

// Vision is the model that describes images for models that see none.
type Vision struct {
	Model   string `json:"model"`
	Key     Secret `json:"api_key"`
	BaseURL string `json:"base_url"`
}

// ImageGeneration is the service that draws images.
type ImageGeneration struct {
	Provider     string `json:"provider"` // auto
	Model        string `json:"model"`    // gpt-image-2
	Key          Secret `json:"api_key"`
	BaseURL      string `json:"base_url"`
	CodexModel   string `json:"codex_model"` // gpt-5.4
	CodexBaseURL string `json:"codex_base_url"`
}

// defaults returns the settings that count when nobody says anything.
func defaults() Settings {
	return Settings{
		MaxTokens: 16_384, Timeout: 120, MaxTurns: 200,
		Permission:    Permission{Mode: oh.ModeDefault},
		ProjectSkills: true,
		SkillDirs:     []string{".openharness/skills", ".agents/skills", ".claude/skills"},
		Keyring:       true,
		Theme:         "default", OutputStyle: "default", Passes: 1,
		Memory: Memory{Enabled: true, MaxFiles: 5, EntrypointLines: 200, EntrypointBytes: 25_000, ExtractRecords: 3,
			SessionMemory: true, DreamHours: 24, DreamSessions: 5},
		Sandbox: Sandbox{Backend: "srt", Filesystem: SandboxFilesystem{AllowWrite: []string{"."}},
			Docker: SandboxDocker{Image: "openharness-sandbox:latest", AutoBuild: true}},
		ImageGeneration: ImageGeneration{Provider: "auto", Model: "gpt-image-2", CodexModel: "gpt-5.4"},
		InlineChars:     16_000, PreviewChars: 3_000, MicrocompactAt: 4_000, ImageTokens: 3_072,
	}
}
