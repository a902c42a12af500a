package auth

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStatusOf(t *testing.T) {
	for _, tt := range []struct {
		name, profile string
		s             scene
		want          string // state, model, source
	}{
		{"a variable", "groq", scene{env: "GROQ_API_KEY=g"}, "ready openai/gpt-oss-120b GROQ_API_KEY"},
		{"a stored key", "groq", scene{credentials: `{"groq": {"api_key": "g"}}`}, "ready openai/gpt-oss-120b ~/.openharness/credentials.json"},
		{"none", "groq", scene{env: "ANTHROPIC_API_KEY=a"}, "missing openai/gpt-oss-120b "},
		{"a model of the user's", "groq", scene{user: `{"profiles": {"groq": {"last_model": "m"}}}`}, "missing m "},
		{"one of the file that means another", "groq", scene{user: `{"active_profile": "claude-api", "model": "opus"}`}, "missing openai/gpt-oss-120b "},
		{"local", "ollama", scene{}, "keyless  "},
		{"not to be had", "codex", scene{}, "unsupported  "},
		{"no address", "azure", scene{env: "AZURE_OPENAI_API_KEY=k"}, "missing  profiles.azure.base_url is missing: say where the service is, here or in AZURE_OPENAI_ENDPOINT or AZURE_OPENAI_BASE_URL"},
		{"an address", "azure", scene{env: "AZURE_OPENAI_API_KEY=k AZURE_OPENAI_ENDPOINT=https://x.openai.azure.com"}, "ready gpt-5.4 AZURE_OPENAI_API_KEY"},
		{"a bad address", "groq", scene{env: "GROQ_API_KEY=k", user: `{"profiles": {"groq": {"base_url": "x"}}}`}, `error  base_url "x" must be an address that begins with http:// or https://`},
		{"another vendor's key", "groq", scene{env: "GROQ_API_KEY=sk-ant-1"}, "error openai/gpt-oss-120b the key looks like one of Anthropic"},
		{"AWS keys", "bedrock", scene{env: "AWS_ACCESS_KEY_ID=a"}, "ready global.anthropic.claude-sonnet-4-6 AWS credentials: AWS_ACCESS_KEY_ID"},
		{"an AWS profile", "bedrock", scene{env: "AWS_PROFILE=dev"}, "ready global.anthropic.claude-sonnet-4-6 AWS credentials: the profile dev (AWS_PROFILE)"},
		{"an AWS file", "bedrock", scene{env: "AWS_CONFIG_FILE=status_test.go"}, "ready global.anthropic.claude-sonnet-4-6 AWS credentials: status_test.go"},
		{"a container", "bedrock", scene{env: "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://x"}, "ready global.anthropic.claude-sonnet-4-6 AWS credentials: AWS_CONTAINER_CREDENTIALS_FULL_URI"},
		{"a token before AWS keys", "bedrock", scene{env: "AWS_ACCESS_KEY_ID=a AWS_BEARER_TOKEN_BEDROCK=t"}, "ready global.anthropic.claude-sonnet-4-6 AWS_BEARER_TOKEN_BEDROCK"},
		{"nothing of AWS", "bedrock", scene{}, "missing global.anthropic.claude-sonnet-4-6 AWS credentials: none found; an instance's role"},
		{"Google's file", "vertex", scene{env: "GOOGLE_APPLICATION_CREDENTIALS=x"}, "ready gemini-2.5-flash Google credentials: GOOGLE_APPLICATION_CREDENTIALS"},
		{"nothing of Google", "vertex", scene{}, "missing gemini-2.5-flash Google credentials: none found; an instance's account"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.s.request(t)
			s := r.StatusOf(t.Context(), tt.profile)
			got := s.State + " " + s.Model + " " + strings.ReplaceAll(s.Source, r.Settings.Paths.Home, "~")
			if !strings.HasPrefix(got, tt.want) || s.Profile.Name != tt.profile {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestHeldToken: what is stored for a service that knows only bearer tokens is one.
func TestHeldToken(t *testing.T) {
	r := scene{credentials: `{"bedrock": {"api_key": "t"}}`, flags: profileFlag("bedrock")}.request(t)
	a, err := Resolve(t.Context(), r)
	if err != nil || a.Token.Reveal() != "t" || !a.Key.IsZero() {
		t.Error(a, err)
	}
}

// TestOwnProfiles: what a profile of a user's own takes from its vendor.
func TestOwnProfiles(t *testing.T) {
	r := scene{user: `{"profiles": {
		"a": {"provider": "gemini"},
		"b": {"provider": "gemini", "api_format": "openai"},
		"c": {"provider": "openai", "base_url": "https://gw.example/v1"},
		"d": {"provider": "azure", "base_url": "https://x.openai.azure.com"},
		"e": {"provider": "azure", "base_url": "https://x.openai.azure.com.evil.example"},
		"f": {"api_format": "copilot"},
		"g": {"base_url": "https://gw.example/v1", "api_format": "responses"}}}`}.request(t)
	var got []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		p, err := Profile(r.Settings, name)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.Join([]string{p.Name, p.Wire, string(p.Host), p.BaseURL, strings.Join(p.Keys, ",")}, " "))
	}
	want := []string{
		"a gemini  https://generativelanguage.googleapis.com/v1beta GEMINI_API_KEY,GOOGLE_API_KEY",
		"b openai  https://generativelanguage.googleapis.com/v1beta/openai GEMINI_API_KEY,GOOGLE_API_KEY",
		"c openai  https://gw.example/v1 ",
		"d openai azure https://x.openai.azure.com AZURE_OPENAI_API_KEY",
		"e openai  https://x.openai.azure.com.evil.example ",
		"f openai  https://api.githubcopilot.com ",
		"g responses  https://gw.example/v1 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
