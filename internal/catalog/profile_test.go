package catalog

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestProfilesAreWhole(t *testing.T) {
	list, err := parseProfiles(profileText)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	owner := map[string]string{}
	for _, p := range list {
		if seen[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		seen[p.Name] = true
		if !slices.Contains(Wires(), p.Wire) {
			t.Errorf("%s: wire %q", p.Name, p.Wire)
		}
		if p.Label == "" || p.Provider == "" {
			t.Errorf("%s has no label or vendor", p.Name)
		}
		if p.Missing != "" {
			if len(p.Keys)+len(p.Tokens) > 0 || p.BaseURL != "" {
				t.Errorf("%s cannot be used, but has an address or a key variable", p.Name)
			}
			continue
		}
		checkAddress(t, p)
		for _, k := range append(p.Keys, p.Tokens...) {
			if owner[k] != "" && owner[k] != p.Provider {
				t.Errorf("%s belongs to %s and %s", k, owner[k], p.Provider)
			}
			owner[k] = p.Provider
		}
		if !p.Local && !slices.Contains([]string{"modelscope", "together", "volcengine", "siliconflow", "aihubmix", "huggingface"}, p.Name) && !Model(p.Name, p.Model).Known {
			t.Errorf("%s: the default model %q is not in the table", p.Name, p.Model)
		}
	}
	want := "claude-api claude-subscription openai-compatible openai-responses codex copilot moonshot gemini gemini-openai minimax nvidia qwen modelscope openrouter groq deepseek mistral xai zhipu together fireworks cerebras azure bedrock vertex vertex-anthropic ollama llamacpp lmstudio vllm"
	for _, name := range strings.Fields(want) {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN", "GITHUB_TOKEN"} {
		if owner[name] != "" {
			t.Errorf("%s chooses %s, but it is set for other reasons too", name, owner[name])
		}
	}
}

func checkAddress(t *testing.T, p Profile) {
	t.Helper()
	u, err := url.Parse(p.BaseURL)
	if p.Host == "" && (err != nil || u.Host == "") || strings.HasSuffix(p.BaseURL, "/") || p.Host != "" && p.BaseURL != "" {
		t.Errorf("%s: base URL %q", p.Name, p.BaseURL)
	}
	keyless := len(p.Keys) == 0 && p.Chain == "" && p.Name != "copilot" && p.Name != "huggingface"
	if p.Local != (u.Scheme == "http") || p.Local != keyless || p.Local != (p.Model == "") {
		t.Errorf("%s: local %v does not fit the rest", p.Name, p.Local)
	}
	if p.Chain != "" && p.Chain != AWS && p.Chain != Google {
		t.Errorf("%s: chain %q", p.Name, p.Chain)
	}
	for name, id := range p.aliases {
		if id != "default" && !Model(p.Name, id).Known {
			t.Errorf("%s: alias %s is %q, which is not in the table", p.Name, name, id)
		}
	}
}

func TestBadProfileTables(t *testing.T) {
	for table, want := range map[string]string{
		"label = x":             "line 1",
		"[a]\n[b":               "line 2",
		"[a]\ncolour = red":     "line 2",
		"[a]\nlabel":            "line 2",
		"[]":                    "line 1",
		"# only\n\n  # remarks": "",
	} {
		_, err := parseProfiles(table)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", table, err)
		}
	}
}

func TestByKeyAndURL(t *testing.T) {
	for key, want := range map[string]string{"sk-ant-api03-x": "claude-api", "sk-or-v1-x": "openrouter", "gsk_x": "groq", "sk-proj-x": "openai-compatible", "sk-x": "", "": ""} {
		if p, _ := ByKey(key); p.Name != want {
			t.Errorf("ByKey(%q) = %q, want %q", key, p.Name, want)
		}
	}
	for base, want := range map[string]string{
		"https://api.anthropic.com/v1": "claude-api", "https://generativelanguage.googleapis.com/v1beta/openai/": "gemini-openai", "https://generativelanguage.googleapis.com": "gemini",
		"https://generativelanguage.googleapis.com/v1beta": "gemini", "https://me.openai.azure.com/openai/v1": "azure", "https://bedrock-runtime.eu-west-1.amazonaws.com": "bedrock",
		"https://europe-west4-aiplatform.googleapis.com/v1": "vertex", "https://openai.azure.com.evil.example": "", "https://api.moonshot.ai/v1": "moonshot", "https://api.githubcopilot.com": "copilot",
		"https://API.openai.com": "openai-compatible", "http://localhost:11434": "ollama",
		"https://evil.example/api.anthropic.com": "", "https://api.anthropic.com.evil.example": "", "not a url": "", "": "",
	} {
		if p, _ := ByURL(base); p.Name != want {
			t.Errorf("ByURL(%q) = %q, want %q", base, p.Name, want)
		}
	}
}
