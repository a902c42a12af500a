package catalog

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
)

func TestProfilesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	keys := map[string]string{}
	for _, p := range Profiles() {
		if seen[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		seen[p.Name] = true
		if p.Wire != Anthropic && p.Wire != OpenAI {
			t.Errorf("%s: wire %q", p.Name, p.Wire)
		}
		if p.Missing != "" {
			if len(p.Keys)+len(p.Tokens) > 0 || p.BaseURL != "" {
				t.Errorf("%s cannot be used, but has an address or a key variable", p.Name)
			}
			continue
		}
		u, err := url.Parse(p.BaseURL)
		if err != nil || u.Host == "" || strings.HasSuffix(p.BaseURL, "/") {
			t.Errorf("%s: base URL %q", p.Name, p.BaseURL)
		}
		if p.Local != (u.Scheme == "http") || p.Local != (len(p.Keys) == 0) || p.Local != (p.Model == "") {
			t.Errorf("%s: local %v does not fit the rest", p.Name, p.Local)
		}
		for _, k := range append(p.Keys, p.Tokens...) {
			if keys[k] != "" {
				t.Errorf("%s belongs to %s and %s", k, keys[k], p.Name)
			}
			keys[k] = p.Name
		}
		if p.Model != "" && p.Provider != "modelscope" && p.Provider != "together" && !Model(p.Name, p.Model).Known {
			t.Errorf("%s: the default model %q is not in the table", p.Name, p.Model)
		}
	}
	want := "claude-api claude-subscription openai-compatible codex copilot moonshot gemini minimax nvidia qwen modelscope openrouter groq deepseek mistral xai zhipu together fireworks cerebras ollama llamacpp lmstudio vllm"
	for _, name := range strings.Fields(want) {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestRowsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range rows() {
		key := r.pattern + "|" + r.vendor
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		if r.pattern != strings.ToLower(r.pattern) {
			t.Errorf("%s is not in lower case and never matches", r.pattern)
		}
		if (r.in > 0) != (r.out > 0) || r.read > r.in {
			t.Errorf("%s: prices %v %v %v", key, r.in, r.out, r.read)
		}
		if r.window > 0 && r.output >= r.window {
			t.Errorf("%s: output %d of a window of %d", key, r.output, r.window)
		}
	}
}

func TestAlias(t *testing.T) {
	claude, _ := Find("claude-api")
	openai, _ := Find("openai-compatible")
	kimi, _ := Find("moonshot")
	ollama, _ := Find("ollama")
	for _, c := range []struct {
		p    Profile
		name string
		plan bool
		want string
	}{
		{claude, "", false, "claude-sonnet-4-6"},
		{claude, "default", false, "claude-sonnet-4-6"},
		{claude, "sonnet", false, "claude-sonnet-4-6"},
		{claude, "Opus", false, "claude-opus-4-6"},
		{claude, "haiku", false, "claude-haiku-4-5"},
		{claude, "best", false, "claude-opus-4-6"},
		{claude, "sonnet[1m]", false, "claude-sonnet-4-6[1m]"},
		{claude, "opus[1m]", false, "claude-opus-4-6[1m]"},
		{claude, "opusplan", false, "claude-sonnet-4-6"},
		{claude, "opusplan", true, "claude-opus-4-6"},
		{claude, "anthropic/claude-opus-4.5", false, "claude-opus-4-5"},
		{claude, "my.model", false, "my.model"},
		{claude, "\x1b[1msonnet\x1b[0m", false, "claude-sonnet-4-6"},
		{openai, "best", false, "gpt-5.4"},
		{openai, "default", false, "gpt-5.4"},
		{openai, "opus", false, "opus"},
		{kimi, "", false, "kimi-k2.5"},
		{kimi, "best", false, "best"},
		{ollama, "", false, ""},
		{ollama, "default", false, ""},
		{ollama, "qwen3-coder:30b", false, "qwen3-coder:30b"},
	} {
		if got := Alias(c.p, c.name, c.plan); got != c.want {
			t.Errorf("Alias(%s, %q, %v) = %q, want %q", c.p.Name, c.name, c.plan, got, c.want)
		}
	}
}

func TestModel(t *testing.T) {
	sonnet := Info{Known: true, Window: 200_000, Sure: true, MaxOutput: 64_000, Vision: true, Thinking: ThinkAdaptive,
		Efforts: []string{"low", "medium", "high", "max"}, TokenField: "max_tokens", Cache: CacheMarks,
		Price: Price{Known: true, In: 3, Out: 15, CacheRead: 0.30, CacheWrite: 3.75}}
	long := sonnet
	long.Window = 1_000_000
	gpt := Info{Known: true, Window: 1_050_000, Sure: true, MaxOutput: 128_000, Vision: true, Thinking: ThinkEffort,
		Efforts: []string{"low", "medium", "high", "xhigh"}, TokenField: "max_completion_tokens", Cache: CacheAuto,
		Price: Price{Known: true, In: 2.5, Out: 15, CacheRead: 0.25}}
	unpriced := gpt
	unpriced.Price = Price{}
	local := gpt
	local.Window, local.Sure, local.MaxOutput, local.Price = LocalWindow, false, 0, Price{Known: true}
	unknown := Info{Window: RemoteWindow, TokenField: "max_tokens"}
	for _, c := range []struct {
		profile, name string
		want          Info
	}{
		{"claude-api", "claude-sonnet-4-6", sonnet},
		{"claude-api", "claude-sonnet-4-6[1m]", long},
		{"openrouter", "anthropic/claude-sonnet-4.6", sonnet},
		{"my-own", "us.anthropic.claude-sonnet-4-6-20260101-v1:0", sonnet},
		{"openai-compatible", "gpt-5.4", gpt},
		{"openai-compatible", "gpt-5.4-2026-03-05", gpt},
		{"openai-compatible", "gpt-5.4-ultra", unpriced},
		{"nvidia", "openai/gpt-5.4", unpriced},
		{"ollama", "gpt-5.4", local},
		{"", "something-else", unknown},
		{"", "", unknown},
		{"", "spark-max", unknown},
		{"", "o3x", unknown},
	} {
		if diff := cmp.Diff(c.want, Model(c.profile, c.name)); diff != "" {
			t.Errorf("Model(%q, %q): %s", c.profile, c.name, diff)
		}
	}
}

func TestVision(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-3-haiku-20240307": true, "gpt-4.1": true, "gpt-5.2": true, "o3": true, "gemini-3-pro-preview": true,
		"qwen2.5-vl-72b-instruct": true, "qwen-vl-max": true, "qwen3-vl:8b": true, "llava:7b": true, "glm-4.5v": true, "pixtral-12b": true,
		"gpt-3.5-turbo": false, "qwen-plus": false, "deepseek-chat": false, "o3-mini": false, "evlve-1": false, "llama-3.2-90b-vision-preview": true,
	} {
		if got := Model("", name).Vision; got != want {
			t.Errorf("%s: vision %v", name, got)
		}
	}
}

func TestCost(t *testing.T) {
	use := oh.Usage{InputTokens: 1_000_000, OutputTokens: 100_000, CacheReadTokens: 2_000_000, CacheWriteTokens: 400_000, ReasoningTokens: 50_000}
	for _, c := range []struct {
		profile, model string
		usd            float64
		known          bool
	}{
		{"claude-api", "claude-sonnet-4-6", 3 + 1.5 + 0.6 + 1.5, true},
		{"openai-compatible", "gpt-5.4", 2.5 + 1.5 + 0.5, true},
		{"groq", "openai/gpt-oss-120b", 0.15 + 0.06 + 0.15, true},
		{"nvidia", "openai/gpt-oss-120b", 0, false},
		{"openrouter", "openai/gpt-oss-120b", 0, false},
		{"openai-compatible", "nobody-knows", 0, false},
		{"claude-api", "claude-haiku-5-5", 0, false},
		{"ollama", "nobody-knows", 0, true},
	} {
		usd, known := Cost(c.profile, c.model, use)
		if fmt.Sprintf("%.6f %v", usd, known) != fmt.Sprintf("%.6f %v", c.usd, c.known) {
			t.Errorf("Cost(%s, %s) = %v %v, want %v %v", c.profile, c.model, usd, known, c.usd, c.known)
		}
	}
}

func TestEffort(t *testing.T) {
	for _, c := range []struct {
		model, want, got string
		budget           int
	}{
		{"claude-sonnet-4-6", "xhigh", "max", 32_000},
		{"claude-opus-4-8", "xhigh", "xhigh", 32_000},
		{"gpt-5", "xhigh", "high", 32_000},
		{"gpt-5", "", "", 0},
		{"gpt-5-pro", "low", "high", 4_096},
		{"gpt-4o", "high", "", 12_288},
		{"claude-opus-4-1", "high", "", 20_480},
	} {
		i := Model("", c.model)
		if got := i.Effort(c.want); got != c.got {
			t.Errorf("%s: Effort(%q) = %q, want %q", c.model, c.want, got, c.got)
		}
		if got := i.Budget(c.want); got != c.budget {
			t.Errorf("%s: Budget(%q) = %d, want %d", c.model, c.want, got, c.budget)
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
		"https://api.anthropic.com/v1": "claude-api", "https://API.openai.com": "openai-compatible", "http://localhost:11434": "ollama",
		"https://evil.example/api.anthropic.com": "", "https://api.anthropic.com.evil.example": "", "not a url": "", "": "",
	} {
		if p, _ := ByURL(base); p.Name != want {
			t.Errorf("ByURL(%q) = %q, want %q", base, p.Name, want)
		}
	}
}

func port(t *testing.T, s *httptest.Server) int {
	t.Helper()
	_, p, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(p)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSearch(t *testing.T) {
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"qwen3-coder:30b"},{"id":"llama3.3"},{"id":""}]}`)
	}))
	defer ollama.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }))
	defer web.Close()
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release }))
	defer slow.Close()
	defer close(release)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	got := Search{Within: time.Second, Ports: map[string]int{"ollama": port(t, ollama), "llamacpp": port(t, web), "lmstudio": port(t, closed), "vllm": port(t, slow)}}.Run(t.Context())
	want := []Server{{Profile: "ollama", Label: "Ollama", BaseURL: ollama.URL + "/v1", Models: []string{"qwen3-coder:30b", "llama3.3"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSearchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := FindLocal(ctx); got != nil {
		t.Errorf("a cancelled search found %v", got)
	}
}

func TestServerModelsGuardsTheKey(t *testing.T) {
	var leaked string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = r.Header.Get("Authorization") }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }))
	defer s.Close()
	_, err := ServerModels(t.Context(), s.URL+"/v1", "sk-secret")
	if err == nil || strings.Contains(err.Error(), "sk-secret") || leaked != "" {
		t.Errorf("err %v, leaked %q", err, leaked)
	}
}

func FuzzModel(f *testing.F) {
	for _, s := range []string{"claude-sonnet-4-6[1m]", "a/b/claude-", "gpt-5.4-2026-01-01", "-v", "", "claude-x-v1:0"} {
		f.Add("openrouter", s)
	}
	f.Fuzz(func(t *testing.T, profile, name string) {
		i := Model(profile, name)
		if i.Window <= 0 || i.TokenField == "" {
			t.Errorf("Model(%q, %q) = %+v", profile, name, i)
		}
	})
}

func FuzzModelList(f *testing.F) {
	f.Add([]byte(`{"object":"list","data":[{"id":"a"}]}`))
	f.Add([]byte(`{"data":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ids, err := modelList(b)
		if err != nil && ids != nil {
			t.Error("an error and models")
		}
	})
}

func BenchmarkModel(b *testing.B) {
	for b.Loop() {
		Model("claude-api", "claude-sonnet-4-6")
	}
}
