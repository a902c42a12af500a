// Package catalog knows the model services and models that come built in:
// addresses, names of key variables, limits, manners and prices. One table
// drives profiles, requests and costs.
//
// It holds no keys and reads no settings; what a user defines is laid over it
// elsewhere. Only the functions of local.go use the network, and only towards
// addresses they are given or the loopback interface.
package catalog

import (
	"net/url"
	"strings"

	"github.com/openharness/oh"
)

// The wires that profiles speak.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// Profile is a model service. The zero value is no profile.
type Profile struct {
	Name     string // as a user writes it
	Label    string // for people
	Provider string // the vendor; names the credential in the store
	Wire     string // Anthropic or OpenAI
	BaseURL  string
	Keys     []string // variables that hold a key for this vendor, the best first
	Tokens   []string // variables that hold a bearer token instead
	Bases    []string // variables that move BaseURL
	Model    string   // used when none is chosen; "" asks the server
	Prefix   string   // how this vendor's keys begin, if that tells it apart
	Local    bool     // runs on the user's machine: no key, no cost

	// Missing says why the profile cannot be used and what to use instead; ""
	// for all others.
	Missing string
}

// Profiles returns the built-in profiles in the order in which they are tried.
func Profiles() []Profile {
	return []Profile{
		{Name: "claude-api", Label: "Anthropic-Compatible API", Provider: "anthropic", Wire: Anthropic, BaseURL: "https://api.anthropic.com",
			Keys: []string{"ANTHROPIC_API_KEY"}, Tokens: []string{"ANTHROPIC_AUTH_TOKEN"}, Bases: []string{"ANTHROPIC_BASE_URL"},
			Model: "claude-sonnet-4-6", Prefix: "sk-ant-"},
		{Name: "claude-subscription", Label: "Claude Subscription", Provider: "anthropic_claude", Wire: Anthropic, Model: "claude-sonnet-4-6",
			Missing: "a Claude subscription works only in Anthropic's own programs, which oh does not imitate; use the profile claude-api with a key from console.anthropic.com (ANTHROPIC_API_KEY)"},
		{Name: "openai-compatible", Label: "OpenAI-Compatible API", Provider: "openai", Wire: OpenAI, BaseURL: "https://api.openai.com/v1",
			Keys: []string{"OPENAI_API_KEY"}, Bases: []string{"OPENAI_BASE_URL"}, Model: "gpt-5.4", Prefix: "sk-proj-"},
		{Name: "codex", Label: "Codex Subscription", Provider: "openai_codex", Wire: OpenAI, Model: "gpt-5.4",
			Missing: "a ChatGPT subscription works only in OpenAI's own programs, which oh does not imitate; use the profile openai-compatible with a key from platform.openai.com (OPENAI_API_KEY)"},
		{Name: "copilot", Label: "GitHub Copilot", Provider: "copilot", Wire: OpenAI, Model: "gpt-5.4",
			Missing: "GitHub Copilot is not available yet; use another profile, for example openai-compatible (OPENAI_API_KEY)"},
		{Name: "moonshot", Label: "Moonshot (Kimi)", Provider: "moonshot", Wire: OpenAI, BaseURL: "https://api.moonshot.cn/v1",
			Keys: []string{"MOONSHOT_API_KEY"}, Bases: []string{"MOONSHOT_BASE_URL"}, Model: "kimi-k2.5"},
		{Name: "gemini", Label: "Google Gemini", Provider: "gemini", Wire: OpenAI, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
			Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, Model: "gemini-2.5-flash", Prefix: "AIza"},
		{Name: "minimax", Label: "MiniMax", Provider: "minimax", Wire: OpenAI, BaseURL: "https://api.minimax.io/v1",
			Keys: []string{"MINIMAX_API_KEY"}, Model: "MiniMax-M2.7"},
		{Name: "nvidia", Label: "NVIDIA NIM", Provider: "nvidia", Wire: OpenAI, BaseURL: "https://integrate.api.nvidia.com/v1",
			Keys: []string{"NVIDIA_API_KEY"}, Model: "openai/gpt-oss-120b", Prefix: "nvapi-"},
		{Name: "qwen", Label: "Qwen (DashScope)", Provider: "dashscope", Wire: OpenAI, BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1",
			Keys: []string{"DASHSCOPE_API_KEY"}, Model: "qwen-plus"},
		{Name: "modelscope", Label: "ModelScope", Provider: "modelscope", Wire: OpenAI, BaseURL: "https://api-inference.modelscope.cn/v1",
			Keys: []string{"MODELSCOPE_API_KEY"}, Model: "deepseek-ai/DeepSeek-V4-Flash"},
		{Name: "openrouter", Label: "OpenRouter", Provider: "openrouter", Wire: OpenAI, BaseURL: "https://openrouter.ai/api/v1",
			Keys: []string{"OPENROUTER_API_KEY"}, Model: "anthropic/claude-sonnet-4.6", Prefix: "sk-or-"},
		{Name: "groq", Label: "Groq", Provider: "groq", Wire: OpenAI, BaseURL: "https://api.groq.com/openai/v1",
			Keys: []string{"GROQ_API_KEY"}, Model: "openai/gpt-oss-120b", Prefix: "gsk_"},
		{Name: "deepseek", Label: "DeepSeek", Provider: "deepseek", Wire: OpenAI, BaseURL: "https://api.deepseek.com/v1",
			Keys: []string{"DEEPSEEK_API_KEY"}, Model: "deepseek-chat"},
		{Name: "mistral", Label: "Mistral", Provider: "mistral", Wire: OpenAI, BaseURL: "https://api.mistral.ai/v1",
			Keys: []string{"MISTRAL_API_KEY"}, Model: "devstral-latest"},
		{Name: "xai", Label: "xAI", Provider: "xai", Wire: OpenAI, BaseURL: "https://api.x.ai/v1",
			Keys: []string{"XAI_API_KEY"}, Model: "grok-4", Prefix: "xai-"},
		{Name: "zhipu", Label: "Zhipu (GLM)", Provider: "zhipu", Wire: OpenAI, BaseURL: "https://open.bigmodel.cn/api/paas/v4",
			Keys: []string{"ZHIPUAI_API_KEY", "ZAI_API_KEY"}, Model: "glm-4.6"},
		{Name: "together", Label: "Together AI", Provider: "together", Wire: OpenAI, BaseURL: "https://api.together.xyz/v1",
			Keys: []string{"TOGETHER_API_KEY"}, Model: "openai/gpt-oss-120b"},
		{Name: "fireworks", Label: "Fireworks AI", Provider: "fireworks", Wire: OpenAI, BaseURL: "https://api.fireworks.ai/inference/v1",
			Keys: []string{"FIREWORKS_API_KEY"}, Model: "accounts/fireworks/models/gpt-oss-120b", Prefix: "fw_"},
		{Name: "cerebras", Label: "Cerebras", Provider: "cerebras", Wire: OpenAI, BaseURL: "https://api.cerebras.ai/v1",
			Keys: []string{"CEREBRAS_API_KEY"}, Model: "gpt-oss-120b", Prefix: "csk-"},
		{Name: "ollama", Label: "Ollama", Provider: "ollama", Wire: OpenAI, BaseURL: "http://127.0.0.1:11434/v1", Bases: []string{"OLLAMA_HOST"}, Local: true},
		{Name: "llamacpp", Label: "llama.cpp", Provider: "llamacpp", Wire: OpenAI, BaseURL: "http://127.0.0.1:8080/v1", Local: true},
		{Name: "lmstudio", Label: "LM Studio", Provider: "lmstudio", Wire: OpenAI, BaseURL: "http://127.0.0.1:1234/v1", Local: true},
		{Name: "vllm", Label: "vLLM", Provider: "vllm", Wire: OpenAI, BaseURL: "http://127.0.0.1:8000/v1", Local: true},
	}
}

// Find returns the built-in profile of that name.
func Find(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// ByKey returns the profile that a key belongs to by how it begins.
func ByKey(key string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Prefix != "" && strings.HasPrefix(key, p.Prefix) {
			return p, true
		}
	}
	return Profile{}, false
}

// ByURL returns the profile whose own address has the host (and port) of base.
func ByURL(base string) (Profile, bool) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return Profile{}, false
	}
	host := strings.ToLower(u.Host)
	if h, port, ok := strings.Cut(host, ":"); ok && h == "localhost" {
		host = "127.0.0.1:" + port
	}
	for _, p := range Profiles() {
		if own, err := url.Parse(p.BaseURL); err == nil && own.Host != "" && own.Host == host {
			return p, true
		}
	}
	return Profile{}, false
}

// Variables returns the names of all variables that hold keys or tokens of
// built-in profiles, in table order.
func Variables() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(append(names, p.Keys...), p.Tokens...)
	}
	return names
}

// Alias resolves a model name as a user writes it for a profile. "" and
// "default" are the profile's model. On Anthropic's wire sonnet, opus, haiku,
// best and opusplan (opus while planning, else sonnet) are short names;
// sonnet[1m] and opus[1m] keep their suffix; other Claude names lose an
// anthropic/ prefix and get hyphens for dots. For openai, best is the default.
func Alias(p Profile, name string, plan bool) string {
	name = strings.TrimSpace(plainName(name))
	if name == "" || strings.EqualFold(name, "default") {
		if p.Model == "" || strings.EqualFold(p.Model, "default") {
			return ""
		}
		name = p.Model
	}
	switch {
	case p.Wire == Anthropic:
		return claudeAlias(name, plan)
	case p.Provider == "openai" && strings.EqualFold(name, "best"):
		return p.Model
	}
	return name
}

func claudeAlias(name string, plan bool) string {
	const sonnet, opus, haiku = "claude-sonnet-4-6", "claude-opus-4-6", "claude-haiku-4-5"
	short, long := strings.ToLower(name), ""
	if s, ok := strings.CutSuffix(short, "[1m]"); ok {
		short, long = s, "[1m]"
	}
	switch short {
	case "sonnet":
		return sonnet + long
	case "opus", "best":
		return opus + long
	case "haiku":
		return haiku
	case "opusplan":
		if plan {
			return opus + long
		}
		return sonnet + long
	}
	name = strings.TrimPrefix(name, "anthropic/")
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-")
	}
	return name
}

// plainName drops terminal colour codes, which some shells' completions leave
// in names.
func plainName(s string) string {
	for {
		i := strings.Index(s, "\x1b[")
		if i < 0 {
			return s
		}
		end := strings.IndexByte(s[i:], 'm')
		if end < 0 {
			return s[:i]
		}
		s = s[:i] + s[i+end+1:]
	}
}

// Cost returns the price in US dollars of one or more requests to a model, by
// the list price of its maker. Surcharges for very long prompts are not
// counted. known is false when the price is not in the table; the cost is then
// 0. A local profile costs nothing.
func Cost(profile, model string, u oh.Usage) (usd float64, known bool) {
	if p, ok := Find(profile); ok && p.Local {
		return 0, true
	}
	price := Model(profile, model).Price
	if !price.Known {
		return 0, false
	}
	sum := float64(u.InputTokens)*price.In + float64(u.OutputTokens)*price.Out +
		float64(u.CacheReadTokens)*price.CacheRead + float64(u.CacheWriteTokens)*price.CacheWrite
	return sum / 1e6, true
}
