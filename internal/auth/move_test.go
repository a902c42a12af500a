package auth

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh/internal/config"
)

// TestActivate: what stood in the file for one profile does not go to another.
func TestActivate(t *testing.T) {
	for _, tt := range []struct{ name, user, to, before, want, from string }{
		{"an empty file", `{}`, "groq", "", `{"active_profile":"groq"}`, ""},
		{"the same", `{"active_profile":"groq","api_key":"g"}`, "groq", "groq", `{"active_profile":"groq","api_key":"g"}`, ""},
		{"nothing to move", `{"active_profile":"groq","theme":"dark"}`, "gemini", "groq", `{"active_profile":"gemini","theme":"dark"}`, ""},
		{"all of it", `{"active_profile":"moonshot","base_url":"https://gw.example/v1","api_key":"m","api_format":"openai","model":"kimi","api_key_helper":"h"}`, "openai-compatible", "moonshot",
			`{"active_profile":"openai-compatible","profiles":{"moonshot":{"base_url":"https://gw.example/v1","api_format":"openai","api_key":"m","api_key_helper":"h","last_model":"kimi"}}}`, "moonshot"},
		{"a key alone is claude-api's", `{"api_key":"k","apiKeyHelper":"h"}`, "groq", "openai-compatible", `{"profiles":{"claude-api":{"api_key":"k","api_key_helper":"h"}},"active_profile":"groq"}`, "claude-api"},
		{"by the vendor", `{"provider":"dashscope","api_key":"d"}`, "groq", "qwen", `{"profiles":{"qwen":{"api_key":"d"}},"active_profile":"groq"}`, "qwen"},
		{"a gateway of nobody's", `{"base_url":"https://gw.example"}`, "groq", "openai-compatible", `{"profiles":{"openai-compatible":{"base_url":"https://gw.example"}},"active_profile":"groq"}`, "openai-compatible"},
		{"a profile that is there", `{"active_profile":"w","provider":"openai","model":"m","profiles":{"w":{"base_url":"https://w.example"}}}`, "groq", "w",
			`{"active_profile":"groq","profiles":{"w":{"base_url":"https://w.example","provider":"openai","last_model":"m"}}}`, "w"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := scene{user: tt.user}.request(t)
			changes, from, err := Activate(r.Settings, tt.to, tt.before)
			if err != nil || from != tt.from {
				t.Fatalf("from %q: %v", from, err)
			}
			if err := config.Apply(t.Context(), r.Settings.Paths, config.User, changes...); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(r.Settings.Paths.Config, "settings.json"))
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if json.Unmarshal(data, &got) != nil || json.Unmarshal([]byte(tt.want), &want) != nil {
				t.Fatalf("%s", data)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
