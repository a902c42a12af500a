package catalog

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

// Model is what the built-in tables know of a model.
func Model(profile, name string) Info { return Load(Config{}).Model(profile, name) }

func TestRowsAreWhole(t *testing.T) {
	all, err := parseModels(modelText)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range all {
		key := r.pattern + " of maker " + r.maker + ", service " + r.service
		if seen[key] {
			t.Errorf("%s is there twice", key)
		}
		seen[key] = true
		if r.pattern != strings.ToLower(r.pattern) {
			t.Errorf("%s is not in lower case and never matches", key)
		}
		if _, known := Find(r.service); r.service != "" && !known {
			if _, vendor := byVendor(Profiles(), r.service); !vendor {
				t.Errorf("%s: no such service", key)
			}
		}
		checkFacts(t, key, r)
		name := r.pattern
		if strings.HasSuffix(name, "-") || strings.HasSuffix(name, ".") {
			name += "x"
		}
		if i := Model("", name); r.service == "" && (i.Window <= i.MaxOutput || i.Price.CacheRead > i.Price.In) {
			t.Errorf("%s: output %d of a window of %d, prices %+v", key, i.MaxOutput, i.Window, i.Price)
		}
	}
}

func checkFacts(t *testing.T, key string, r row) {
	t.Helper()
	for word := range strings.FieldsSeq(r.facts) {
		name, text, ok := strings.Cut(word, "=")
		if !ok {
			text = "yes"
		}
		if name == "price" {
			if p := readPrice(text); !p.Known || p.In <= 0 != (p.Out <= 0) {
				t.Errorf("%s: %s", key, word)
			}
			continue
		}
		if name == "id" || word == "old" {
			if strings.ToLower(text) != text && !strings.EqualFold(text, r.pattern) || name == "id" && !Model("", text).Known {
				t.Errorf("%s: %s", key, word)
			}
			continue
		}
		f, ok := findField(name, true)
		if _, err := f.fromText(text); !ok || err != nil {
			t.Errorf("%s: %s: %v", key, word, err)
		}
		if f.kind == list {
			for _, e := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' }) {
				if !slices.Contains(efforts(), e) {
					t.Errorf("%s: %s", key, word)
				}
			}
		}
	}
}

func TestBadModelTables(t *testing.T) {
	for table, want := range map[string]string{
		"gpt-4 window=1":       "line 1",
		"[maker a]\n[what b]":  "line 2",
		"[maker a\ngpt":        "line 1",
		"[service a]\n* tools": "",
	} {
		_, err := parseModels(table)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", table, err)
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

// same compares infos but for how they came about.
func same(want, got Info) string { return cmp.Diff(want, got, cmpopts.IgnoreUnexported(Info{})) }

func TestModel(t *testing.T) {
	sonnet := Info{Known: true, Window: 200_000, Sure: true, Long: 1_000_000, MaxOutput: 64_000, Vision: true, Documents: true, Thinking: ThinkAdaptive,
		Efforts: []string{"low", "medium", "high", "max"}, TokenField: "max_tokens", Cache: CacheMarks,
		Price: Price{Known: true, In: 3, Out: 15, CacheRead: 0.30, CacheWrite: 3.75}}
	long := sonnet
	long.Window = 1_000_000
	router := sonnet
	gpt := Info{Known: true, Window: 1_050_000, Sure: true, MaxOutput: 128_000, Vision: true, Documents: true, Thinking: ThinkEffort,
		Efforts: []string{"low", "medium", "high", "xhigh"}, TokenField: "max_completion_tokens", Cache: CacheAuto,
		Price: Price{Known: true, In: 2.5, Out: 15, CacheRead: 0.25}}
	gpt.Quirks.CacheKey, gpt.Quirks.ToolEffort = true, provider.OmitEffort
	unpriced := gpt
	unpriced.Price = Price{}
	elsewhere := unpriced
	elsewhere.Quirks = provider.Traits{}
	local := elsewhere
	local.Window, local.Sure, local.MaxOutput, local.Price = LocalWindow, false, 0, Price{Known: true}
	local.Quirks.Schema = provider.FlatSchema
	unknown := Info{Window: RemoteWindow, TokenField: "max_tokens"}
	for _, c := range []struct {
		profile, name string
		want          Info
	}{
		{"claude-api", "claude-sonnet-4-6", sonnet},
		{"claude-api", "claude-sonnet-4-6[1m]", long},
		{"openrouter", "anthropic/claude-sonnet-4.6", router},
		{"my-own", "us.anthropic.claude-sonnet-4-6-20260101-v1:0", sonnet},
		{"openai-compatible", "gpt-5.4", gpt},
		{"openai-compatible", "gpt-5.4-2026-03-05", gpt},
		{"openai-compatible", "gpt-5.4-ultra", unpriced},
		{"nvidia", "openai/gpt-5.4", elsewhere},
		{"ollama", "gpt-5.4", local},
		{"", "something-else", unknown},
		{"", "", unknown},
		{"", "spark-max", unknown},
		{"", "o3x", unknown},
		{"bedrock", "us.something.new-v1:0", unknown},
	} {
		if diff := same(c.want, Model(c.profile, c.name)); diff != "" {
			t.Errorf("Model(%q, %q): %s", c.profile, c.name, diff)
		}
	}
}

// TestOllamaElsewhere: a profile of the user's own on Ollama's wire does not ask
// its server for a window that the server has no memory for.
func TestOllamaElsewhere(t *testing.T) {
	c := Load(Config{})
	p := Profile{Name: "box", Provider: "box", Wire: Ollama, BaseURL: "http://10.0.0.5:11434"}
	if got := c.Traits(p, "qwen3:8b").Window; got != LocalWindow {
		t.Errorf("asked for a window of %d", got)
	}
	if i := c.Of(p, "qwen3:8b"); i.Price.Known {
		t.Errorf("the price is known: %+v", i.Price)
	}
	p.Wire = OpenAI
	if i := c.Of(p, "nobody-knows"); i.Window != RemoteWindow {
		t.Errorf("another wire: %d", i.Window)
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
		{"openai-compatible", "gpt-5.4", 2.5 + 1.5 + 0.5 + 1, true},
		{"mistral", "mistral-large-2512", 0.5 + 0.15 + 1 + 0.2, true}, // no price for the cache
		{"groq", "openai/gpt-oss-120b", 0.15 + 0.06 + 0.15 + 0.06, true},
		{"nvidia", "openai/gpt-oss-120b", 0, false},
		{"openrouter", "openai/gpt-oss-120b", 0, false},
		{"openai-compatible", "nobody-knows", 0, false},
		{"claude-api", "claude-haiku-5-5", 0, false},
		{"bedrock", "global.anthropic.claude-sonnet-4-6", 3 + 1.5 + 0.6 + 1.5, true},
		{"bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", 3 + 1.5 + 0.6 + 1.5, true},
		{"bedrock", "eu.anthropic.claude-sonnet-4-6", 0, false},
		{"copilot", "gpt-5.4", 0, false},
		{"ollama", "nobody-knows", 0, true},
	} {
		usd, known := Load(Config{}).Cost(c.profile, c.model, use)
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
	_, err := ServerModels(t.Context(), nil, Profile{Name: "x", BaseURL: s.URL + "/v1"}, "sk-secret")
	if err == nil || strings.Contains(err.Error(), "sk-secret") || leaked != "" {
		t.Errorf("err %v, leaked %q", err, leaked)
	}
}

func TestServerModelsSayWhatToDo(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close() // nobody listens there now
	for _, local := range []bool{true, false} {
		_, err := ServerModels(t.Context(), nil, Profile{Name: "vllm", Wire: OpenAI, BaseURL: srv.URL, Local: local}, "")
		if err == nil || strings.Contains(err.Error(), "; start the server, or say where it is: oh provider edit vllm --base-url ADDRESS") != local {
			t.Errorf("local %v: %v", local, err)
		}
	}
}

func TestServerModels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.String() + " " + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") {
		case "/v1/models Bearer k":
			fmt.Fprint(w, `{"object":"list","data":[{"id":"chat"}]}`)
		case "/v1/models?limit=1000 k":
			fmt.Fprint(w, `{"data":[{"id":"claude","type":"model"}],"has_more":false}`)
		case "/v1beta/models?pageSize=1000 k":
			fmt.Fprint(w, `{"models":[{"name":"models/gemini-x","supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for _, c := range []struct{ wire, path, want string }{
		{OpenAI, "", "chat"}, {Responses, "/v1/", "chat"}, {Ollama, "/v1", "chat"}, {Anthropic, "", "claude"}, {Anthropic, "/v1", "claude"}, {Gemini, "", "gemini-x"}, {Gemini, "/v1beta", "gemini-x"},
	} {
		got, err := ServerModels(t.Context(), nil, Profile{Name: "x", Wire: c.wire, BaseURL: s.URL + c.path}, "k")
		if err != nil || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %s: %v, %v", c.wire, c.path, got, err)
		}
	}
	for _, p := range []Profile{{Name: "x"}, {Name: "x", Host: "bedrock", BaseURL: s.URL}, {Name: "x", BaseURL: s.URL + "/none"}} {
		if got, err := ServerModels(t.Context(), nil, p, "k"); err == nil {
			t.Errorf("%+v: %v", p, got)
		}
	}
}

// TestOddModelList: what is odd in a list keeps nothing else from counting.
func TestOddModelList(t *testing.T) {
	got, err := modelList([]byte(`{"data":[{"id":5},"x",null,{"id":"a\u001b[2J"},{"id":" "},{"id":"My Model.gguf"},{"id":["y"]},{"id":"b"}]}`))
	if diff := cmp.Diff([]string{"My Model.gguf", "b"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
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
	f.Add([]byte(`{"models":[{"name":"models/a","supportedGenerationMethods":[]},{"name":1}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ids, err := modelList(b)
		if err != nil && ids != nil {
			t.Error("an error and models")
		}
	})
}

func BenchmarkModel(b *testing.B) {
	c := Load(Config{})
	for b.Loop() {
		c.Model("claude-api", "claude-sonnet-4-6")
	}
}

// oneEach is a million tokens in and out.
func oneEach() oh.Usage { return oh.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000} }

func BenchmarkParse(b *testing.B) {
	b.Run("profiles", func(b *testing.B) {
		for b.Loop() {
			if _, err := parseProfiles(profileText); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("models", func(b *testing.B) {
		for b.Loop() {
			if _, err := parseModels(modelText); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestModelsHaveTheirIDs(t *testing.T) {
	c := Load(Config{Models: map[string]Fields{"mine": Window(5000), "all-*": Window(6000)}})
	for profile, want := range map[string]string{
		"minimax": "MiniMax-M2.7 MiniMax-M2 MiniMax-M2.1 MiniMax-M2.5 MiniMax-M2.5-highspeed MiniMax-M2.7-highspeed MiniMax-M3 mine",
		"groq":    "openai/gpt-oss-120b llama-3.1-8b-instant llama-3.3-70b-versatile mine openai/gpt-oss-20b",
		"nvidia":  "openai/gpt-oss-120b mine",
		"ollama":  "mine",
		"my-own":  "mine",
	} {
		var got []string
		for _, m := range c.Models(profile) {
			got = append(got, m.Name)
			if m.Info.Window == 0 {
				t.Errorf("%s: nothing is known of %s", profile, m.Name)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v", profile, got)
		}
	}
}

func TestCloudNames(t *testing.T) {
	for name, want := range map[string]int{
		"openai.gpt-oss-120b-1:0": 131_072, "us.amazon.nova-pro-v1:0": 300_000, "us.anthropic.claude-opus-4-7": 1_000_000,
		"arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-6": 200_000, "claude-sonnet-4-5@20250929": 200_000,
		"publishers/google/models/gemini-2.5-pro": 1_048_576, "qwen.qwen3-coder-480b-a35b-v1:0": 262_144,
	} {
		if i := Model("bedrock", name); i.Window != want || !i.Known {
			t.Errorf("%s: %+v", name, i)
		}
	}
	if i := Model("copilot", "claude-sonnet-4.6"); i.Window != 168_000 || i.MaxOutput != 32_000 || i.Thinking != ThinkNone {
		t.Errorf("%+v", i)
	}
	if i := Model("azure", "my-deployment"); i.TokenField != "max_completion_tokens" || i.Known {
		t.Errorf("%+v", i)
	}
}
