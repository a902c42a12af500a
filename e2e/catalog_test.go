//go:build unix

package e2e

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openharness/oh/ohtest"
)

// TestOwnModel: what the settings say of a model reaches the service and the
// bill.
func TestOwnModel(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.OpenAI, ohtest.Reply(ohtest.Text("hello"), ohtest.Usage{InputTokens: 1_000_000, OutputTokens: 1_000_000}))
	b.env["OPENHARNESS_MODEL"] = "our-model-1.5"
	b.settings(`{"models": {"our-*": {"input_price": 2, "output_price": 3}, "our-model-1.5": {"token_field": "max_completion_tokens", "max_output_tokens": 777}}}`)
	r := b.oh("-p", "hi", "--output-format", "json")
	r.wantCode(t, 0)
	var result struct {
		Cost float64 `json:"total_cost_usd"`
	}
	if err := json.Unmarshal([]byte(r.out), &result); err != nil || result.Cost != 5 {
		t.Errorf("%v, cost %v: %s", err, result.Cost, r.out)
	}
	if body := string(b.done(1)[0].Body); !strings.Contains(body, `"max_completion_tokens":777`) {
		t.Error(body)
	}
}

// TestOllamaIsAskedForItsWindow: on Ollama's own wire the window is wanted, and
// the server is asked which there is.
func TestOllamaIsAskedForItsWindow(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Ollama, ohtest.Reply(ohtest.Text("hello")), ohtest.Reply(ohtest.Text("hello again")))
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"} {
		delete(b.env, name)
	}
	b.env["OLLAMA_HOST"], b.env["OPENHARNESS_MODEL"] = b.srv.URL, "qwen3:8b"
	b.oh("-p", "hi", "--profile", "ollama").wantCode(t, 0)
	b.settings(`{"models": {"qwen3:8b": {"context_window": 12345}}}`)
	b.oh("-p", "hi", "--profile", "ollama").wantCode(t, 0)
	sent := b.done(2)
	for i, want := range []string{`"num_ctx":32768`, `"num_ctx":12345`} {
		if body := string(sent[i].Body); !strings.Contains(body, want) || !strings.Contains(body, `"truncate":false`) {
			t.Errorf("want %s: %s", want, body)
		}
	}
}

// TestModelRefresh: a fetched catalogue counts, a damaged one is told and does
// not.
func TestModelRefresh(t *testing.T) {
	t.Parallel()
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"openai":{"models":{"gpt-99":{"tool_call":true,"modalities":{"input":["text"]},"limit":{"context":424242,"output":1000},"cost":{"input":7,"output":9}}}}}`))
	}))
	defer source.Close()
	b := newBox(t, ohtest.OpenAI)
	b.env["OPENHARNESS_CATALOG_URL"] = source.URL + "/api.json"
	r := b.oh("model", "refresh")
	r.wantCode(t, 0)
	if !strings.Contains(r.out, "1 model of 1 service") {
		t.Error(r)
	}
	if r := b.oh("model", "list", "--profile", "openai-compatible"); !strings.Contains(r.out, "gpt-99") || !strings.Contains(r.out, "$7 in, $9 out") {
		t.Error(r)
	}
	files, err := filepath.Glob(filepath.Join(b.home, ".openharness", "data", "catalog.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r = b.oh("model", "list", "--profile", "openai-compatible")
	r.wantCode(t, 0)
	r.wantErr(t, "catalog.json", "oh model refresh")
	if strings.Contains(r.out, "gpt-99") || !strings.Contains(r.out, "gpt-5.4") {
		t.Error(r)
	}
}

// TestLongWindow: [1m] is for oh and not for the service.
func TestLongWindow(t *testing.T) {
	t.Parallel()
	b := newBox(t, ohtest.Anthropic, ohtest.Reply(ohtest.Text("hello")), ohtest.Reply(ohtest.Text("hello")))
	b.oh("-p", "hi", "--model", "sonnet[1m]").wantCode(t, 0)
	b.oh("-p", "hi", "--model", "claude-sonnet-4-5[1m]").wantCode(t, 0)
	sent := b.done(2)
	for i, want := range []struct{ model, beta string }{{"claude-sonnet-4-6", ""}, {"claude-sonnet-4-5", "context-1m-2025-08-07"}} {
		if body := string(sent[i].Body); !strings.Contains(body, `"model":"`+want.model+`"`) || sent[i].Header.Get("Anthropic-Beta") != want.beta {
			t.Errorf("%q: %.200s", sent[i].Header.Get("Anthropic-Beta"), body)
		}
	}
}
