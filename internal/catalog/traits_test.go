package catalog

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/provider"
)

func words(all ...string) map[string]string {
	m := map[string]string{}
	for i, e := range efforts() {
		m[e] = all[i]
	}
	return m
}

func budgets(all ...int) map[string]int {
	m := map[string]int{}
	for i, e := range efforts() {
		m[e] = all[i]
	}
	return m
}

func TestTraits(t *testing.T) {
	claude46 := provider.Traits{MaxOutput: 64_000, TokenField: "max_tokens", Documents: true, Thinking: provider.ThinkEffort,
		Efforts: words("low", "low", "medium", "high", "max", "max")}
	claude46long := claude46
	claude46long.Name = "claude-sonnet-4-6"
	claude45long := provider.Traits{Name: "claude-sonnet-4-5", Betas: []string{"context-1m-2025-08-07"}, MaxOutput: 64_000, TokenField: "max_tokens", Documents: true,
		Thinking: provider.ThinkBudget, Budgets: budgets(1024, 4096, 10240, 20480, 32000, 32000)}
	gpt54 := provider.Traits{MaxOutput: 128_000, TokenField: "max_completion_tokens", Documents: true, CacheKey: true, ToolEffort: provider.OmitEffort,
		Thinking: provider.ThinkEffort, Efforts: words("low", "low", "medium", "high", "xhigh", "xhigh")}
	moved := gpt54
	moved.CacheKey = false
	flash := provider.Traits{MaxOutput: 65_536, TokenField: "max_tokens", Documents: true, Schema: provider.GeminiSchema,
		Thinking: provider.ThinkBudget, Budgets: budgets(1024, 4096, 10240, 20480, 24576, 24576)}
	flashChat := provider.Traits{MaxOutput: 65_536, TokenField: "max_tokens", Schema: provider.FlatSchema,
		Thinking: provider.ThinkEffort, Efforts: words("low", "low", "medium", "high", "high", "high")}
	gemini3 := provider.Traits{MaxOutput: 65_536, TokenField: "max_tokens", Documents: true, Schema: provider.GeminiSchema, Levels: true, ResponseImages: true, SignedCalls: true,
		Thinking: provider.ThinkEffort, Efforts: words("low", "low", "high", "high", "high", "high")}
	devstral := provider.Traits{MaxOutput: 16_384, TokenField: "max_tokens", NoImages: true, CallIDs: provider.NineID, NoUsageOption: true, NoReasoning: true}
	abroad := provider.Traits{MaxOutput: 16_384, TokenField: "max_tokens", NoImages: true, CallIDs: provider.NineID}
	kimi := provider.Traits{MaxOutput: 32_768, TokenField: "max_tokens", EmptyReasoning: true, Schema: provider.FlatSchema}
	for _, c := range []struct {
		profile, base, model string
		want                 provider.Traits
	}{
		{"claude-api", "", "claude-sonnet-4-6", claude46},
		{"claude-api", "", "claude-sonnet-4-6[1m]", claude46long},
		{"claude-api", "", "claude-sonnet-4-5[1m]", claude45long},
		{"openai-compatible", "", "gpt-5.4", gpt54},
		{"openai-compatible", "http://127.0.0.1:9/v1", "gpt-5.4", moved},
		{"gemini", "", "gemini-2.5-flash", flash},
		{"gemini-openai", "", "gemini-2.5-flash", flashChat},
		{"gemini", "", "gemini-3-pro-preview", gemini3},
		{"mistral", "", "devstral-latest", devstral},
		{"mistral", "http://127.0.0.1:9/v1", "devstral-latest", devstral},
		{"openrouter", "", "mistralai/devstral-2512", abroad},
		{"moonshot", "", "kimi-k2.5", kimi},
		{"nvidia", "", "nobody-knows", provider.Traits{TokenField: "max_tokens"}},
	} {
		p, ok := Find(c.profile)
		if !ok {
			t.Fatalf("no profile %s", c.profile)
		}
		if c.base != "" {
			p.BaseURL = c.base
		}
		if diff := cmp.Diff(c.want, Load(Config{}).Traits(p, c.model)); diff != "" {
			t.Errorf("%s at %s, %s (-want +got)\n%s", c.profile, p.BaseURL, c.model, diff)
		}
	}
}

// A profile of a user's own has its vendor's manners, wherever it is.
func TestTraitsOfOwnProfile(t *testing.T) {
	p := Profile{Name: "mine", Provider: "mistral", Wire: OpenAI, BaseURL: "http://127.0.0.1:9/v1"}
	if got := Load(Config{}).Traits(p, "nobody-knows"); got.CallIDs != provider.NineID || !got.NoUsageOption {
		t.Errorf("%+v", got)
	}
	p = Profile{Name: "mine", Provider: "openai", Wire: OpenAI, BaseURL: "https://api.openai.com/v1"}
	if got := Load(Config{}).Traits(p, "gpt-5.6-sol"); !got.CacheKey || got.ToolEffort != "none" {
		t.Errorf("%+v", got)
	}
	p.BaseURL = "https://gateway.example/v1"
	if got := Load(Config{}).Traits(p, "gpt-5.6-sol"); got.CacheKey {
		t.Errorf("%+v", got)
	}
}

// facts makes fields of a JSON object.
func facts(t *testing.T, object string) Fields {
	t.Helper()
	var f Fields
	if err := json.Unmarshal([]byte(object), &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestUserFacts(t *testing.T) {
	c := Load(Config{
		Models: map[string]Fields{
			"my-*":            facts(t, `{"context_window": 50000, "vision": false, "tools": false}`),
			"My-Model":        facts(t, `{"context_window": 60000, "input_price": 1, "output_price": 2}`),
			"claude-opus-4-6": facts(t, `{"context_window": 150000, "max_output_tokens": 1000, "thinking": "none"}`),
			"gpt-5.4":         facts(t, `{"token_field": "max_tokens", "effort_with_tools": "as_set", "efforts": ["low"]}`),
			"local":           facts(t, `{"context_window": 9000, "bogus": 1, "vision": "maybe"}`),
		},
		Profiles: map[string]map[string]Fields{"groq": {"my-model": facts(t, `{"context_window": 70000}`)}},
	})
	window := func(profile, name string, want int) {
		t.Helper()
		if got := c.Model(profile, name); got.Window != want || !got.Sure || !got.Known {
			t.Errorf("%s %s: %+v, want window %d", profile, name, got, want)
		}
	}
	window("nvidia", "my-other", 50_000)
	window("nvidia", "org/my-model", 60_000)
	window("groq", "my-model", 70_000)
	window("claude-api", "claude-opus-4-6[1m]", 150_000)
	window("bedrock", "us.anthropic.claude-opus-4-6-v1", 150_000)
	window("ollama", "local", 9_000)

	nvidia, _ := Find("nvidia")
	if got := c.Traits(nvidia, "my-x"); !got.NoImages || !got.NoTools {
		t.Errorf("my-x: %+v", got)
	}
	if usd, known := c.Cost("nvidia", "my-model", oneEach()); usd != 3 || !known {
		t.Errorf("cost %v %v", usd, known)
	}
	if usd, known := c.Cost("ollama", "my-model", oneEach()); usd != 3 || !known {
		t.Errorf("a price of one's own for a local model: %v %v", usd, known)
	}
	claude, _ := Find("claude-api")
	if got := c.Traits(claude, "claude-opus-4-6"); got.MaxOutput != 1000 || got.Thinking != provider.ThinkNone {
		t.Errorf("opus: %+v", got)
	}
	openai, _ := Find("openai-compatible")
	if got := c.Traits(openai, "gpt-5.4"); got.TokenField != "max_tokens" || got.ToolEffort != "" || got.Efforts["high"] != "low" {
		t.Errorf("gpt-5.4: %+v", got)
	}
	if got := c.Model("ollama", "local"); got.Vision {
		t.Errorf("a bad value counted: %+v", got)
	}
}

func TestCheckField(t *testing.T) {
	for field, values := range map[string][2][]string{
		"context_window":   {{`1`, `200000`}, {`0`, `-1`, `1.5`, `"8k"`, `true`, `1e12`, `null`, `[1]`}},
		"vision":           {{`true`, `false`}, {`1`, `"yes"`, `null`}},
		"input_price":      {{`0`, `0.25`, `3`}, {`-1`, `"3"`, `1e9`}},
		"thinking":         {{`"none"`, `"budget"`, `"levels"`}, {`"odd"`, `""`, `1`}},
		"efforts":          {{`[]`, `["low","high"]`}, {`["low", 1]`, `[""]`, `["a b"]`}},
		"call_ids":         {{`"any"`, `"alnum9"`}, {`"nine"`}},
		"schema":           {{`"plain"`, `"gemini"`, `"flat"`}, {`"x"`}},
		"context_windows":  {nil, {`1`}},
		"nothing like it!": {nil, {`1`}},
	} {
		for _, v := range values[0] {
			if err := CheckField(field, json.RawMessage(v)); err != nil {
				t.Errorf("%s %s: %v", field, v, err)
			}
		}
		for _, v := range values[1] {
			if err := CheckField(field, json.RawMessage(v)); err == nil {
				t.Errorf("%s took %s", field, v)
			}
		}
	}
}

func TestLearn(t *testing.T) {
	c := Load(Config{Models: map[string]Fields{"mine": facts(t, `{"context_window": 5000}`)}})
	c.Learn("ollama", "m", Fields{"vision": json.RawMessage("true")})
	c.Learn("ollama", "m", Window(8192))
	c.Learn("ollama", "mine", Window(8192))
	c.Learn("ollama", "m", nil)
	if i := c.Model("ollama", "m"); i.Window != 8192 || !i.Sure || !i.Vision {
		t.Errorf("%+v", i)
	}
	if i := c.Model("ollama", "mine"); i.Window != 5000 {
		t.Errorf("what was learned counted before what the user set: %+v", i)
	}
	if i := c.Model("vllm", "m"); i.Window != LocalWindow || i.Sure {
		t.Errorf("learned of another server: %+v", i)
	}
}

// TestTableAlone holds that a service of a known wire is one entry in each
// table, and no code.
func TestTableAlone(t *testing.T) {
	const profiles = `
[acme]
label = Acme
vendor = acme
wire = openai
url = https://api.acme.example/v1
keys = ACME_API_KEY
model = acme-large
prefix = acme-
header.X-Acme = oh
alias.best = default
`
	const models = `
[maker acme]
acme-large  window=123000 output=4000 vision thinking=effort efforts=low,high price=1/2/0.50
[service acme]
*  call_ids=alnum9 schema=flat usage_option=no
`
	list, err := parseProfiles(profileText + profiles)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseModels(modelText + models)
	if err != nil {
		t.Fatal(err)
	}
	c := Load(Config{})
	c.profiles, c.rows = func() []Profile { return list }, func() []row { return all }
	p, ok := c.Find("acme")
	if !ok || p.BaseURL != "https://api.acme.example/v1" || len(p.Keys) != 1 || p.Headers.Get("X-Acme") != "oh" {
		t.Fatalf("profile %+v", p)
	}
	if got := Alias(p, "best", false); got != "acme-large" {
		t.Errorf("best is %q", got)
	}
	want := provider.Traits{MaxOutput: 4000, TokenField: "max_tokens", CallIDs: provider.NineID, Schema: provider.FlatSchema, NoUsageOption: true,
		Thinking: provider.ThinkEffort, Efforts: words("low", "low", "high", "high", "high", "high")}
	if diff := cmp.Diff(want, c.Traits(p, "acme-large")); diff != "" {
		t.Error(diff)
	}
	if usd, known := c.Cost("acme", "acme-large", oneEach()); usd != 3 || !known {
		t.Errorf("cost %v %v", usd, known)
	}
	if got := c.Models("acme"); len(got) != 1 || got[0].Name != "acme-large" || got[0].Info.Window != 123_000 {
		t.Errorf("models %+v", got)
	}
}
