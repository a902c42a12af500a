package auth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/internal/catalog"
	"github.com/openharness/oh/internal/config"
)

// scene is what surrounds a request: files, variables and flags.
type scene struct {
	user, claude, project, credentials string
	env                                string // A=1 B=2
	flags                              []config.Flag
	key, stdin                         string
	ring                               Keyring
}

const secret = "sk-secret"

func (s scene) request(t *testing.T) Request {
	t.Helper()
	home := t.TempDir()
	for name, text := range map[string]string{
		".openharness/settings.json": s.user, ".claude/settings.json": s.claude,
		"p/.openharness/settings.json": s.project, ".openharness/credentials.json": s.credentials,
		"p/key.txt": "  " + secret + "-file\n", "p/two.txt": secret + "\n" + secret,
	} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{}
	for _, pair := range strings.Fields(s.env) {
		k, v, _ := strings.Cut(pair, "=")
		env[k] = v
	}
	l, err := config.Load(config.Options{Dir: filepath.Join(home, "p"), Home: home, Managed: "-", Trusted: true, Flags: s.flags,
		LookupEnv: func(n string) (string, bool) { v, ok := env[n]; return v, ok }})
	if err != nil {
		t.Fatal(err)
	}
	return Request{Settings: l, Key: s.key, Stdin: strings.NewReader(s.stdin), Store: &Store{Path: filepath.Join(home, ".openharness", "credentials.json"), Ring: s.ring}, Local: func(context.Context) []catalog.Server { return nil }}
}

func profileFlag(name string) []config.Flag {
	return []config.Flag{{Name: "--profile", Key: "active_profile", Value: name}}
}

// outcome is what a scene should give, in one line: profile, wire, address,
// model, key or token, source.
func outcome(r Request, a Access, err error) string {
	if err != nil {
		return "!" + strings.ReplaceAll(err.Error(), r.Settings.Paths.Home, "~")
	}
	key := a.Key.Reveal()
	if !a.Token.IsZero() {
		key = "token:" + a.Token.Reveal()
	}
	return fmt.Sprintf("%s %s %s %s %q %s", a.Profile.Name, a.Profile.Wire, a.Profile.BaseURL, a.Model(false), key,
		strings.ReplaceAll(a.Source, r.Settings.Paths.Home, "~"))
}

const (
	anthropicURL = "https://api.anthropic.com"
	openaiURL    = "https://api.openai.com/v1"
)

func TestResolve(t *testing.T) {
	claude := "claude-api anthropic " + anthropicURL + " claude-sonnet-4-6 "
	gpt := "openai-compatible openai " + openaiURL + " gpt-5.4 "
	for _, c := range []struct {
		name string
		s    scene
		want string
	}{
		// Who is chosen.
		{"the first key variable in table order", scene{env: "OPENAI_API_KEY=o ANTHROPIC_API_KEY=a GROQ_API_KEY=g"}, claude + `"a" ANTHROPIC_API_KEY`},
		{"another vendor's variable alone", scene{env: "OPENAI_API_KEY=o GROQ_API_KEY=g"}, gpt + `"o" OPENAI_API_KEY`},
		{"an empty variable is none", scene{env: "ANTHROPIC_API_KEY= OPENAI_API_KEY=o"}, gpt + `"o" OPENAI_API_KEY`},
		{"a token", scene{env: "ANTHROPIC_AUTH_TOKEN=t"}, claude + `"token:t" ANTHROPIC_AUTH_TOKEN`},
		{"a key before a token", scene{env: "ANTHROPIC_AUTH_TOKEN=t ANTHROPIC_API_KEY=a"}, claude + `"a" ANTHROPIC_API_KEY`},
		{"an explicit choice wins", scene{env: "ANTHROPIC_API_KEY=a GEMINI_API_KEY=g", flags: profileFlag("gemini")}, `gemini gemini https://generativelanguage.googleapis.com/v1beta gemini-2.5-flash "g" GEMINI_API_KEY`},
		{"by OPENHARNESS_PROFILE", scene{env: "ANTHROPIC_API_KEY=a OPENAI_API_KEY=o OPENHARNESS_PROFILE=openai-compatible"}, gpt + `"o" OPENAI_API_KEY`},
		{"by the format", scene{env: "ANTHROPIC_API_KEY=a OPENAI_API_KEY=o OPENHARNESS_API_FORMAT=openai"}, gpt + `"o" OPENAI_API_KEY`},
		{"by the vendor", scene{env: "ANTHROPIC_API_KEY=a DASHSCOPE_API_KEY=d OPENHARNESS_PROVIDER=dashscope"}, `qwen openai https://dashscope.aliyuncs.com/compatible-mode/v1 qwen-plus "d" DASHSCOPE_API_KEY`},
		{"by the address", scene{env: "ANTHROPIC_API_KEY=a GROQ_API_KEY=g", user: `{"base_url": "https://api.groq.com/openai/v1"}`}, `groq openai https://api.groq.com/openai/v1 openai/gpt-oss-120b "g" GROQ_API_KEY`},
		{"by a stored key", scene{credentials: `{"openai": {"api_key": "st0red"}}`}, gpt + `"st0red" ~/.openharness/credentials.json`},
		{"by a helper", scene{claude: `{"apiKeyHelper": "false"}`}, claude + `"" the helper in ~/.claude/settings.json`},
		{"by a key before a helper", scene{claude: `{"apiKeyHelper": "false"}`, env: "OPENAI_API_KEY=o"}, gpt + `"o" OPENAI_API_KEY`},
		{"by a key in the settings", scene{user: `{"profiles": {"openai-compatible": {"api_key": "set"}}}`}, gpt + `"set" settings`},
		{"by the flag's key", scene{key: "sk-or-v1-x", env: "ANTHROPIC_API_KEY=a"}, `openrouter openai https://openrouter.ai/api/v1 anthropic/claude-sonnet-4.6 "sk-or-v1-x" --api-key`},
		{"by the flag's variable", scene{key: "env:OPENAI_API_KEY", env: "ANTHROPIC_API_KEY=a OPENAI_API_KEY=o"}, gpt + `"o" OPENAI_API_KEY`},
		{"by a local address", scene{user: `{"base_url": "http://localhost:9999/v1"}`}, `openai-compatible openai http://localhost:9999/v1 gpt-5.4 "" `},
		{"by a vendor's address variable", scene{env: "OPENAI_BASE_URL=http://127.0.0.1:9/v1"}, `openai-compatible openai http://127.0.0.1:9/v1 gpt-5.4 "" `},
		{"a key that shows nothing", scene{key: "what"}, `!--api-key: it does not show which service the key is for; add --profile NAME`},
		{"no such profile", scene{user: `{"active_profile": "clod"}`}, `!~/.openharness/settings.json:1: "active_profile": "clod" is no profile; there are ` + strings.Join(allNames(), ", ")},
		{"a subscription is not imitated", scene{flags: profileFlag("claude-subscription"), env: "ANTHROPIC_AUTH_TOKEN=t"}, `!--profile: claude-subscription: a Claude subscription works only in Anthropic's own programs, which oh does not imitate; use the profile claude-api with a key from console.anthropic.com (ANTHROPIC_API_KEY)`},

		// Keys stay with their vendor.
		{"never another vendor's variable", scene{env: "ANTHROPIC_API_KEY=a", flags: profileFlag("moonshot")}, "!there is no key for the profile moonshot\nset MOONSHOT_API_KEY, or store a key with: oh auth login moonshot (oh setup asks for all of it)\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now"},
		{"never another vendor's stored key", scene{credentials: `{"anthropic": {"api_key": "x"}}`, flags: profileFlag("gemini")}, "!there is no key for the profile gemini\nset GEMINI_API_KEY or GOOGLE_API_KEY, or store a key with: oh auth login gemini (oh setup asks for all of it)\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now"},
		{"never the flat key of another profile", scene{user: `{"active_profile": "moonshot", "api_key": "m"}`, flags: profileFlag("openai-compatible")}, "!there is no key for the profile openai-compatible\nset OPENAI_API_KEY, or store a key with: oh auth login openai-compatible (oh setup asks for all of it)\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now"},
		{"the flat key of this profile", scene{user: `{"active_profile": "moonshot", "api_key": "m"}`}, `moonshot openai https://api.moonshot.cn/v1 kimi-k2.5 "m" settings`},
		{"a flat key alone is Anthropic's", scene{user: `{"api_key": "k"}`}, claude + `"k" settings`},
		{"a flat address of another profile", scene{user: `{"active_profile": "moonshot", "base_url": "https://gw.example/v1"}`, env: "OPENAI_API_KEY=o", flags: profileFlag("openai-compatible")}, gpt + `"o" OPENAI_API_KEY`},
		{"an address of a lower layer than the choice", scene{user: `{"base_url": "https://gw.example/v1"}`, env: "OPENAI_API_KEY=o", flags: profileFlag("openai-compatible")}, gpt + `"o" OPENAI_API_KEY`},
		{"an address that came with another profile", scene{env: "OPENAI_API_KEY=o OPENHARNESS_PROFILE=moonshot OPENHARNESS_BASE_URL=https://gw.example", flags: profileFlag("openai-compatible")}, gpt + `"o" OPENAI_API_KEY`},
		{"a project's key is not used", scene{project: `{"active_profile": "moonshot", "api_key": "m", "profiles": {"moonshot": {"api_key": "m"}}}`}, "!there is no key for the profile moonshot\nset MOONSHOT_API_KEY, or store a key with: oh auth login moonshot (oh setup asks for all of it)\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now"},
		{"a key that is plainly another's", scene{env: "OPENAI_API_KEY=sk-ant-x"}, `!OPENAI_API_KEY: the key looks like one of Anthropic-Compatible API and is not sent to OpenAI-Compatible API; choose --profile claude-api, or give a key of OpenAI-Compatible API`},
		{"a gateway may take any key", scene{env: "OPENAI_API_KEY=sk-ant-x OPENAI_BASE_URL=https://gw.example/v1"}, `openai-compatible openai https://gw.example/v1 gpt-5.4 "sk-ant-x" OPENAI_API_KEY`},

		// The order of keys.
		{"the flag before all", scene{key: "k", env: "ANTHROPIC_API_KEY=a", credentials: `{"anthropic": {"api_key": "c"}}`}, claude + `"k" --api-key`},
		{"the variable before the store", scene{env: "ANTHROPIC_API_KEY=a", credentials: `{"anthropic": {"api_key": "c"}}`, user: `{"profiles": {"claude-api": {"api_key": "s"}}}`}, claude + `"a" ANTHROPIC_API_KEY`},
		{"the store before the settings", scene{credentials: `{"anthropic": {"api_key": "c"}}`, user: `{"profiles": {"claude-api": {"api_key": "s"}}}`}, claude + `"c" ~/.openharness/credentials.json`},
		{"a slot", scene{credentials: `{"anthropic": {"api_key": "c"}, "profile:work": {"api_key": "w"}}`, user: `{"active_profile": "claude-api", "profiles": {"claude-api": {"credential_slot": "work"}}}`}, claude + `"w" ~/.openharness/credentials.json`},
		{"a variable in the user's env setting", scene{claude: `{"env": {"ANTHROPIC_API_KEY": "e", "ANTHROPIC_BASE_URL": "https://gw.example"}}`}, `claude-api anthropic https://gw.example claude-sonnet-4-6 "e" ANTHROPIC_API_KEY in ~/.claude/settings.json:1`},
		{"a damaged store", scene{credentials: `{"anthropic": `}, `!~/.openharness/credentials.json: the credentials file is damaged: it is no JSON object of providers; correct it, or move it away and store the keys again`},
		{"nothing at all", scene{}, "!no model is set up: there is no key in the environment and none is stored\nset ANTHROPIC_API_KEY (or another vendor's), or store a key with: oh auth login claude-api (oh setup asks for all of it)\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now"},

		// Forms of --api-key.
		{"env:", scene{key: "env:MY", env: "MY=m", flags: profileFlag("claude-api")}, claude + `"m" MY`},
		{"env: not set", scene{key: "env:MY", flags: profileFlag("claude-api")}, `!--api-key: the variable MY is not set`},
		{"file:", scene{key: "file:key.txt", flags: profileFlag("claude-api")}, claude + `"sk-secret-file" ~/p/key.txt`},
		{"file: of the home", scene{key: "file:~/p/key.txt", flags: profileFlag("claude-api")}, claude + `"sk-secret-file" ~/p/key.txt`},
		{"file: missing", scene{key: "file:none", flags: profileFlag("claude-api")}, `!--api-key: the key file cannot be read: open ~/p/none: no such file or directory`},
		{"file: of two lines", scene{key: "file:two.txt", flags: profileFlag("claude-api")}, `!~/p/two.txt: the key holds white space or characters that no key has; check how it was copied`},
		{"stdin", scene{key: "-", stdin: "s\n", flags: profileFlag("claude-api")}, claude + `"s" stdin`},
		{"empty stdin", scene{key: "-", flags: profileFlag("claude-api")}, `!stdin: the key is empty`},

		// Addresses.
		{"a vendor's variable", scene{env: "ANTHROPIC_API_KEY=a ANTHROPIC_BASE_URL=http://127.0.0.1:8/"}, `claude-api anthropic http://127.0.0.1:8 claude-sonnet-4-6 "a" ANTHROPIC_API_KEY`},
		{"the other vendor's variable is not used", scene{env: "ANTHROPIC_API_KEY=a OPENAI_BASE_URL=http://127.0.0.1:8/"}, claude + `"a" ANTHROPIC_API_KEY`},
		{"the settings before the vendor's variable", scene{env: "ANTHROPIC_API_KEY=a ANTHROPIC_BASE_URL=http://127.0.0.1:8/", user: `{"profiles": {"claude-api": {"base_url": "https://gw.example"}}}`}, `claude-api anthropic https://gw.example claude-sonnet-4-6 "a" ANTHROPIC_API_KEY`},
		{"OPENHARNESS_BASE_URL before the settings", scene{env: "ANTHROPIC_API_KEY=a OPENHARNESS_BASE_URL=https://e.example", user: `{"profiles": {"claude-api": {"base_url": "https://gw.example"}}}`}, `claude-api anthropic https://e.example claude-sonnet-4-6 "a" ANTHROPIC_API_KEY`},
		{"no address", scene{env: "ANTHROPIC_API_KEY=a OPENHARNESS_BASE_URL=gw.example"}, `!OPENHARNESS_BASE_URL: "base_url": "gw.example" must be an address that begins with http:// or https://`},
		{"OLLAMA_HOST", scene{env: "OLLAMA_HOST=0.0.0.0"}, `ollama ollama http://127.0.0.1:11434/v1  "" `},
		{"OLLAMA_HOST with a port", scene{env: "OLLAMA_HOST=box:99", flags: profileFlag("ollama")}, `ollama ollama http://box:99/v1  "" `},
		{"a local profile needs no key", scene{flags: profileFlag("lmstudio")}, `lmstudio openai http://127.0.0.1:1234/v1  "" `},

		// Models.
		{"ANTHROPIC_MODEL", scene{env: "ANTHROPIC_API_KEY=a ANTHROPIC_MODEL=opus"}, `claude-api anthropic ` + anthropicURL + ` claude-opus-4-6 "a" ANTHROPIC_API_KEY`},
		{"the last model before ANTHROPIC_MODEL", scene{env: "ANTHROPIC_API_KEY=a ANTHROPIC_MODEL=opus", user: `{"profiles": {"claude-api": {"last_model": "haiku"}}}`}, `claude-api anthropic ` + anthropicURL + ` claude-haiku-4-5 "a" ANTHROPIC_API_KEY`},
		{"OPENHARNESS_MODEL before both", scene{env: "ANTHROPIC_API_KEY=a OPENHARNESS_MODEL=best ANTHROPIC_MODEL=sonnet", user: `{"profiles": {"claude-api": {"last_model": "haiku"}}}`}, `claude-api anthropic ` + anthropicURL + ` claude-opus-4-6 "a" ANTHROPIC_API_KEY`},
		{"Claude's own file speaks of Claude", scene{env: "OPENAI_API_KEY=o", claude: `{"model": "opus"}`}, gpt + `"o" OPENAI_API_KEY`},
		{"Claude's own file says nothing to others", scene{env: "GROQ_API_KEY=g", claude: `{"model": "opus"}`}, `groq openai https://api.groq.com/openai/v1 openai/gpt-oss-120b "g" GROQ_API_KEY`},
		{"Claude's own file", scene{env: "ANTHROPIC_API_KEY=a", claude: `{"model": "opus"}`}, `claude-api anthropic ` + anthropicURL + ` claude-opus-4-6 "a" ANTHROPIC_API_KEY`},
		{"a model of another profile", scene{env: "OPENAI_API_KEY=o", user: `{"active_profile": "moonshot", "model": "kimi-k2.6"}`, flags: profileFlag("openai-compatible")}, gpt + `"o" OPENAI_API_KEY`},
		{"a model of another vendor", scene{env: "OPENAI_API_KEY=o", user: `{"model": "claude-opus-4-6"}`}, gpt + `"o" OPENAI_API_KEY`},
		{"--model is taken as it is", scene{env: "OPENAI_API_KEY=o", flags: []config.Flag{{Name: "--model", Key: "model", Value: "claude-opus-4-6"}}}, `openai-compatible openai ` + openaiURL + ` claude-opus-4-6 "o" OPENAI_API_KEY`},

		// Profiles of the user's own.
		{"an own gateway gets no vendor's key", scene{env: "OPENAI_API_KEY=o", user: `{"active_profile": "gw", "profiles": {"gw": {"provider": "openai", "base_url": "https://gw.example/v1", "default_model": "m"}}}`}, "!there is no key for the profile gw\nset profiles.gw.api_key_env in your settings to the name of a variable, or store a key with: oh auth login gw (oh setup asks for all of it)\nor use a model on this machine (Ollama, llama.cpp, LM Studio, vLLM): none is running now"},
		{"an own profile with its variable", scene{env: "OPENAI_API_KEY=o GW_KEY=g", user: `{"active_profile": "gw", "profiles": {"gw": {"api_format": "anthropic", "base_url": "https://gw.example", "default_model": "m", "api_key_env": "GW_KEY"}}}`}, `gw anthropic https://gw.example m "g" GW_KEY`},
		{"an own profile's stored key", scene{credentials: `{"profile:gw": {"api_key": "c"}}`, user: `{"active_profile": "gw", "profiles": {"gw": {"base_url": "https://gw.example/v1", "default_model": "m"}}}`}, `gw openai https://gw.example/v1 m "c" ~/.openharness/credentials.json`},
		{"an own profile at the vendor's address", scene{env: "ANTHROPIC_API_KEY=a", user: `{"active_profile": "mine", "profiles": {"mine": {"provider": "anthropic", "default_model": "haiku"}}}`}, `mine anthropic ` + anthropicURL + ` claude-haiku-4-5 "a" ANTHROPIC_API_KEY`},
		{"an own profile without an address", scene{user: `{"active_profile": "x", "profiles": {"x": {"default_model": "m"}}}`}, `!settings: "profiles.x.base_url": is missing: say where the service is`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.s.request(t)
			a, err := Resolve(t.Context(), r)
			if diff := cmp.Diff(c.want, outcome(r, a, err)); diff != "" {
				t.Error(diff)
			}
			shown := fmt.Sprintf("%v %+v %#v %v %s", a, a, a, err, a.Notes)
			for _, key := range []string{a.Key.Reveal(), a.Token.Reveal(), secret} {
				if len(key) > 3 && strings.Contains(shown, key) {
					t.Errorf("the key is shown: %s", shown)
				}
			}
		})
	}
}

func allNames() []string {
	var list []string
	for _, p := range catalog.Profiles() {
		list = append(list, p.Name)
	}
	return list
}

func TestWhyAndNotes(t *testing.T) {
	a, err := Resolve(t.Context(), scene{env: "OPENAI_API_KEY=o", key: "literal", user: `{"model": "claude-x"}`}.request(t))
	if err != nil {
		t.Fatal(err)
	}
	if a.Why != "OPENAI_API_KEY is set" || len(a.Notes) != 1 || len(a.Warnings) != 2 || a.Notes[0] != "using openai-compatible (OPENAI_API_KEY is set)" ||
		!strings.HasPrefix(a.Warnings[0], "the model claude-x in ") || !strings.HasPrefix(a.Warnings[1], "a key on the command line") {
		t.Errorf("%q %q %q", a.Why, a.Notes, a.Warnings)
	}
	a, err = Resolve(t.Context(), scene{env: "OPENAI_API_KEY=o", flags: profileFlag("openai-compatible")}.request(t))
	if err != nil || a.Why != "chosen by --profile" || a.Notes != nil {
		t.Errorf("%q %q %v", a.Why, a.Notes, err)
	}
}

func TestNoKeyNamesLocalServers(t *testing.T) {
	r := scene{}.request(t)
	r.Local = func(context.Context) []catalog.Server {
		return []catalog.Server{{Profile: "ollama", Label: "Ollama", Models: []string{"qwen3-coder:30b", "x"}}, {Profile: "vllm", Label: "vLLM"},
			{Profile: "llamacpp", Label: "llama.cpp", BaseURL: "http://127.0.0.1:9931/v1"}}
	}
	_, err := Resolve(t.Context(), r)
	var none *NoKey
	if !errors.As(err, &none) || len(none.Found) != 3 {
		t.Fatal(err)
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || lines[2] != "or use what runs on this machine: Ollama (oh --profile ollama --model qwen3-coder:30b), vLLM (oh --profile vllm), llama.cpp (oh --profile llamacpp --base-url http://127.0.0.1:9931/v1)" {
		t.Errorf("%q", lines)
	}
}

func TestScrub(t *testing.T) {
	r := scene{user: `{"profiles": {"gw": {"api_key_env": "GW_KEY"}}}`}.request(t)
	got := Scrub(r.Settings, "env:MINE")
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GW_KEY", "MINE",
		"CLAUDE_AGENT_SDK_VERSION", "CLAUDE_CODE_ENTRYPOINT", "OPENHARNESS_VISION_API_KEY"} {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not scrubbed", name)
		}
	}
	if slices.Contains(got, "ANTHROPIC_BASE_URL") || slices.Contains(got, "PATH") {
		t.Error("too much is scrubbed")
	}
	if len(Scrub(nil, "")) < 20 {
		t.Error("without settings")
	}
}

func TestAzureVersion(t *testing.T) {
	const at = "AZURE_OPENAI_API_KEY=k-azure-0123456789 AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com/"
	for env, want := range map[string]string{
		at:                                    "https://x.openai.azure.com",
		at + " OPENAI_API_VERSION=2025-04-01": "https://x.openai.azure.com?api-version=2025-04-01",
		at + "?api-version=a OPENAI_API_VERSION=2025-04-01-prev": "https://x.openai.azure.com/?api-version=a",
	} {
		a, err := Resolve(t.Context(), scene{env: env, flags: []config.Flag{{Name: "--profile", Key: "active_profile", Value: "azure"}, {Name: "--model", Key: "model", Value: "mine"}}}.request(t))
		if err != nil || a.Profile.BaseURL != want {
			t.Errorf("%s: %q, %v", env, a.Profile.BaseURL, err)
		}
	}
}
