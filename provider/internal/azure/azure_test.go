package azure_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/azure"
)

func TestURL(t *testing.T) {
	const dated = "?api-version=2025-04-01-preview"
	for _, tt := range []struct{ base, chat, responses string }{
		{"https://r.openai.azure.com",
			"https://r.openai.azure.com/openai/v1/chat/completions",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com" + dated,
			"https://r.openai.azure.com/openai/deployments/gpt-5/chat/completions" + dated,
			"https://r.openai.azure.com/openai/responses" + dated},
		{"https://r.openai.azure.com?api-version=preview",
			"https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview",
			"https://r.openai.azure.com/openai/v1/responses?api-version=preview"},
		{"https://r.openai.azure.com/openai/",
			"https://r.openai.azure.com/openai/v1/chat/completions",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com/openai" + dated,
			"https://r.openai.azure.com/openai/deployments/gpt-5/chat/completions" + dated,
			"https://r.openai.azure.com/openai/responses" + dated},
		{"https://r.openai.azure.com/openai/v1",
			"https://r.openai.azure.com/openai/v1/chat/completions",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com/openai/v1/" + dated,
			"https://r.openai.azure.com/openai/v1/chat/completions",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com/openai/v1/responses",
			"https://r.openai.azure.com/openai/v1/chat/completions",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com/v1",
			"https://r.openai.azure.com/openai/v1/chat/completions",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com/openai/deployments/mine" + dated,
			"https://r.openai.azure.com/openai/deployments/mine/chat/completions" + dated,
			"https://r.openai.azure.com/openai/responses" + dated},
		{"https://r.openai.azure.com/openai/deployments/mine/chat/completions" + dated,
			"https://r.openai.azure.com/openai/deployments/mine/chat/completions" + dated,
			"https://r.openai.azure.com/openai/responses" + dated},
		{"https://r.openai.azure.com/openai/deployments/mine",
			"https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com/openai/deployments" + dated,
			"https://r.openai.azure.com/openai/deployments/gpt-5/chat/completions" + dated,
			"https://r.openai.azure.com/openai/responses" + dated},
		{"https://r.cognitiveservices.azure.com/",
			"https://r.cognitiveservices.azure.com/openai/v1/chat/completions",
			"https://r.cognitiveservices.azure.com/openai/v1/responses"},
		{"https://r.cognitiveservices.azure.com/openai/responses" + dated,
			"https://r.cognitiveservices.azure.com/openai/deployments/gpt-5/chat/completions" + dated,
			"https://r.cognitiveservices.azure.com/openai/responses" + dated},
		{"https://r.services.ai.azure.com/models",
			"https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview",
			"https://r.services.ai.azure.com/openai/v1/responses"},
		{"https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview",
			"https://r.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview",
			"https://r.services.ai.azure.com/openai/v1/responses"},
		{"https://r.openai.azure.com?api-version=2024-10-21",
			"https://r.openai.azure.com/openai/deployments/gpt-5/chat/completions?api-version=2024-10-21",
			"https://r.openai.azure.com/openai/v1/responses"},
		{"https://r.services.ai.azure.com/api/projects/p/openai/v1",
			"https://r.services.ai.azure.com/api/projects/p/openai/v1/chat/completions",
			"https://r.services.ai.azure.com/api/projects/p/openai/v1/responses"},
		{"https://gate.example.com/llm?x=1",
			"https://gate.example.com/llm/openai/v1/chat/completions?x=1",
			"https://gate.example.com/llm/openai/v1/responses?x=1"},
	} {
		base, err := url.Parse(tt.base)
		if err != nil {
			t.Fatal(err)
		}
		if got := azure.URL(base, "chat/completions", "gpt-5").String(); got != tt.chat {
			t.Errorf("chat of %s:\n got %s\nwant %s", tt.base, got, tt.chat)
		}
		if got := azure.URL(base, "responses", "gpt-5").String(); got != tt.responses {
			t.Errorf("responses of %s:\n got %s\nwant %s", tt.base, got, tt.responses)
		}
		if base.String() != tt.base {
			t.Errorf("the base %s became %s", tt.base, base)
		}
	}
}

// A name is one segment whatever is in it.
func TestURLEscapes(t *testing.T) {
	base, err := url.Parse("https://r.openai.azure.com/openai?api-version=2024-10-21")
	if err != nil {
		t.Fatal(err)
	}
	const want = "https://r.openai.azure.com/openai/deployments/a%2F..%2Fb%3Fc%20d/chat/completions?api-version=2024-10-21"
	if got := azure.URL(base, "chat/completions", "a/../b?c d").String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHeader(t *testing.T) {
	for _, tt := range []struct {
		cfg  provider.Config
		want http.Header
	}{
		{provider.Config{}, http.Header{}},
		{provider.Config{Key: "k"}, http.Header{"Api-Key": {"k"}}},
		{provider.Config{Token: "t"}, http.Header{"Authorization": {"Bearer t"}}},
		{provider.Config{Key: "k", Token: "t"}, http.Header{"Api-Key": {"k"}, "Authorization": {"Bearer t"}}},
	} {
		got := azure.Header(&tt.cfg)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
	}
}
