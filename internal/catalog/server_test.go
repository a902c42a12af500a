package catalog

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answers serves fixed answers by method and path; all else is not found.
func answers(t *testing.T, by map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := by[r.Method+" "+r.URL.Path]
		if asked, _ := io.ReadAll(r.Body); r.Method == http.MethodPost && string(asked) != `{"model":"m"}` {
			t.Errorf("%s asked with %s", r.URL.Path, asked)
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// at is a profile at an address; Ollama's own wire when it does not end in /v1.
func at(address, base string) Profile {
	p := Profile{BaseURL: address + base, Wire: Ollama}
	if base != "" {
		p.Wire = OpenAI
	}
	return p
}

func TestAskServer(t *testing.T) {
	const show = `{"parameters":"stop \"<|x|>\"\n%s","model_info":{"general.architecture":"qwen3","qwen3.context_length":%d,"qwen3.embedding_length":5},"capabilities":["completion","tools"]}`
	for name, c := range map[string]struct {
		by   map[string]string
		base string
		want string
	}{
		"ollama": {map[string]string{"POST /api/show": fmt.Sprintf(show, "", 8192)}, "/v1",
			`{"context_window":8192,"tools":true,"vision":false}`},
		"ollama, more than memory": {map[string]string{"POST /api/show": fmt.Sprintf(show, "", 262144)}, "",
			`{"context_window":32768,"tools":true,"vision":false}`},
		"ollama, fixed": {map[string]string{"POST /api/show": fmt.Sprintf(show, "num_ctx    65536", 262144)}, "",
			`{"context_window":65536,"tools":true,"vision":false}`},
		"ollama, loaded": {map[string]string{"POST /api/show": fmt.Sprintf(show, "", 262144), "GET /api/ps": `{"models":[{"name":"x","context_length":1},{"name":"m:latest","context_length":4096}]}`}, "/v1",
			`{"context_window":4096,"tools":true,"vision":false}`},
		"ollama's own wire asks for its window": {map[string]string{"POST /api/show": fmt.Sprintf(show, "", 262144), "GET /api/ps": `{"models":[{"name":"m:latest","context_length":4096}]}`}, "",
			`{"context_window":32768,"tools":true,"vision":false}`},
		"old ollama": {map[string]string{"POST /api/show": `{"model_info":{"llama.context_length":2048}}`}, "/v1", `{"context_window":2048}`},
		"llama.cpp": {map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":16384},"modalities":{"vision":true,"audio":false}}`,
			"POST /api/show": `{"model_info":{"llama.context_length":16384},"capabilities":["completion"]}`}, "/v1", `{"context_window":16384,"vision":true}`},
		"llama.cpp without props": {map[string]string{"GET /v1/models": `{"data":[{"id":"other.gguf","meta":{"n_ctx_train":32768,"n_ctx":4096}}]}`}, "/v1", `{"context_window":4096}`},
		"lm studio": {map[string]string{"GET /props": `{"error":"Unexpected endpoint"}`, "POST /api/show": `{"error":"Unexpected endpoint"}`,
			"GET /api/v0/models": `{"data":[{"id":"x","max_context_length":1},{"id":"m","type":"vlm","max_context_length":131072,"loaded_context_length":9000}]}`}, "/v1", `{"context_window":9000,"vision":true}`},
		"vllm":            {map[string]string{"GET /v1/models": `{"data":[{"id":"a","max_model_len":1},{"id":"m","max_model_len":40960}]}`}, "/v1/", `{"context_window":40960}`},
		"says nothing":    {map[string]string{"GET /v1/models": `{"data":[{"id":"m"}]}`}, "/v1", ``},
		"says it wrongly": {map[string]string{"GET /v1/models": `{"data":[{"id":"m","max_model_len":-5.5}]}`, "GET /props": `[]`}, "/v1", ``},
		"nobody":          {nil, "/v1", ``},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := AskServer(t.Context(), nil, at(answers(t, c.by), c.base), "", "m")
			if ok != (c.want != "") {
				t.Fatalf("%s, %v", f, ok)
			}
			if c.want != "" {
				if diff := cmp.Diff(facts(t, c.want), f); diff != "" {
					t.Error(diff)
				}
			}
			for key, raw := range f {
				if err := CheckField(key, raw); err != nil {
					t.Errorf("%s: %v", key, err)
				}
			}
		})
	}
	for _, base := range []string{"", "not an address", "ftp://x.example", "http://127.0.0.1:1"} {
		if f, ok := AskServer(t.Context(), nil, at(base, ""), "", "m"); ok {
			t.Errorf("%q: %v", base, f)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := AskServer(ctx, nil, at(answers(t, map[string]string{"GET /props": `{"default_generation_settings":{"n_ctx":16384}}`}), ""), "", "m"); ok {
		t.Error("a cancelled question was answered")
	}
}

func TestAskServerGuardsTheKey(t *testing.T) {
	var leaked, had string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = r.Header.Get("Authorization") }))
	defer other.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		had = r.Header.Get("Authorization")
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer s.Close()
	if _, ok := AskServer(t.Context(), &http.Client{}, at(s.URL, ""), "secret", "m"); ok || leaked != "" || had != "Bearer secret" {
		t.Errorf("%v, leaked %q, had %q", ok, leaked, had)
	}
}

func TestWindowFromError(t *testing.T) {
	for text, want := range map[string]int{
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.":                                                     128_000,
		"This model's maximum context length is 4,097 tokens, however you requested 5,000 tokens":                                                                     4_097,
		"prompt is too long: 213462 tokens > 200000 maximum":                                                                                                          200_000,
		"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again":                            200_000,
		"The input token count (1500000) exceeds the maximum number of tokens allowed (1048576).":                                                                     1_048_576,
		"The input token count exceeds the maximum number of tokens allowed 1048576":                                                                                  1_048_576,
		"the request exceeds the available context size (4096 tokens), try increasing it":                                                                             4_096,
		"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it":                                                                   4_096,
		`{"error":{"code":400,"message":"too long","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":2048}}`:                                          2_048,
		"Trying to keep the first 6000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.": 4_096,
		"Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)":                                                                        262_144,
		"This model's maximum prompt length is 131072 but the request contains 140000 tokens.":                                                                        131_072,
		"Range of input length should be [1, 129024]":                                                                                                                 129_024,
		"prompt token count of 70000 exceeds the limit of 64000":                                                                                                      64_000,
		"Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192":                                                          8_192,
		"The decoder prompt (length 40000) is longer than the maximum model length of 32768. Make sure that max_model_len is no smaller":                              32_768,
		"This endpoint's maximum context length is 65536 tokens. However, you requested about 70000 tokens (60000 of text input, 10000 in the output).":               65_536,
		"Prompt contains 70000 tokens and 0 draft tokens, too large for model with 65536 maximum context length":                                                      65_536,
		"The prompt is too long":                   0,
		"maximum context length is reached":        0,
		"maximum context length is 12":             0,
		"maximum context length is 99999999999999": 0,
		"": 0,
	} {
		got, ok := WindowFromError(text)
		if got != want || ok != (want > 0) {
			t.Errorf("%s: %d %v, want %d", text, got, ok, want)
		}
	}
}

func FuzzWindowFromError(f *testing.F) {
	for _, m := range marks() {
		f.Add(m.before + "12,345" + m.after)
	}
	f.Add("tokens > 99999999999999999999 maximum")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := WindowFromError(text)
		if ok != (n > 0) || ok && (n < leastWindow || n > mostWindow) {
			t.Errorf("%q: %d %v", text, n, ok)
		}
		if !strings.ContainsAny(text, "0123456789") && ok {
			t.Errorf("%q has no number", text)
		}
	})
}
