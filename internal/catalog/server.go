package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// askLimit is how long a server may take to say what a model is like.
const askLimit = 3 * time.Second

// AskServer asks a model server what a model is like: Ollama, llama.cpp, LM
// Studio or vLLM, whichever answers in its own way at the profile's address,
// with or without /v1. key may be empty. What it says is for [Catalog.Learn];
// false when nobody answered or nothing of use. client may be nil; redirects are
// not followed.
func AskServer(ctx context.Context, client *http.Client, p Profile, key, model string) (Fields, bool) {
	u, err := url.Parse(strings.TrimRight(p.BaseURL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, false
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	a := asker{client: orPlain(client, u), root: strings.TrimSuffix(u.String(), "/v1"), told: p.Wire == Ollama, key: key, model: model}
	// llama.cpp answers Ollama's question too, but says less there.
	for _, ask := range []func(context.Context) Fields{a.llamaCpp, a.lmStudio, a.ollama, a.openAI} {
		if f := ask(ctx); len(f) > 0 {
			return f, true
		}
	}
	return nil, false
}

type asker struct {
	client *http.Client
	root   string // without /v1
	told   bool   // the server is told which window is wanted
	key    string
	model  string
}

// get reads an answer into out; body is posted when there is one.
func (a asker) get(ctx context.Context, path string, body []byte, out any) bool {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, a.root+path, bytes.NewReader(body))
	if err != nil {
		return false
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return false
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxModelList))
	return err == nil && json.Unmarshal(data, out) == nil
}

// ollama asks POST /api/show. Its own wire says which window it wants: what the
// model's settings fix, else what the model can have, up to what most machines
// have memory for. The others cannot: there it is the one that the model is
// loaded with, if it is.
func (a asker) ollama(ctx context.Context) Fields {
	body, err := oh.Marshal(map[string]string{"model": a.model})
	if err != nil {
		return nil
	}
	var show struct {
		Info         map[string]json.RawMessage `json:"model_info"`
		Parameters   string                     `json:"parameters"`
		Capabilities []string                   `json:"capabilities"`
	}
	if !a.get(ctx, "/api/show", body, &show) {
		return nil
	}
	f := Fields{}
	for key, raw := range show.Info {
		var n float64
		if strings.HasSuffix(key, ".context_length") && json.Unmarshal(raw, &n) == nil {
			f.number("context_window", min(n, LocalWindow))
		}
	}
	for line := range strings.Lines(show.Parameters) {
		word := strings.Fields(line)
		var n float64
		if len(word) == 2 && word[0] == "num_ctx" && json.Unmarshal([]byte(word[1]), &n) == nil {
			f.number("context_window", n)
		}
	}
	if !a.told {
		f.number("context_window", a.loaded(ctx))
	}
	f.capabilities(show.Capabilities)
	return f
}

// loaded asks Ollama for the window with which the model runs; 0 when it does
// not run or the server does not say.
func (a asker) loaded(ctx context.Context) float64 {
	var list struct {
		Models []struct {
			Name   string  `json:"name"`
			Window float64 `json:"context_length"`
		} `json:"models"`
	}
	if !a.get(ctx, "/api/ps", nil, &list) {
		return 0
	}
	for _, m := range list.Models {
		if m.Name == a.model || m.Name == a.model+":latest" {
			return m.Window
		}
	}
	return 0
}

// capabilities takes Ollama's words; a server too old to send any says nothing.
func (f Fields) capabilities(words []string) {
	if len(words) == 0 {
		return
	}
	f.flag("vision", false)
	f.flag("tools", false)
	for _, w := range words {
		switch w {
		case "vision", "tools":
			f.flag(w, true)
		}
	}
}

// lmStudio asks GET /api/v0/models: the window with which the model is loaded,
// else the most that it can have.
func (a asker) lmStudio(ctx context.Context) Fields {
	var list struct {
		Data []struct {
			ID     string  `json:"id"`
			Type   string  `json:"type"` // llm, vlm or embeddings
			Max    float64 `json:"max_context_length"`
			Loaded float64 `json:"loaded_context_length"`
		} `json:"data"`
	}
	if !a.get(ctx, "/api/v0/models", nil, &list) {
		return nil
	}
	for _, m := range list.Data {
		if m.ID != a.model {
			continue
		}
		f := Fields{}
		f.number("context_window", m.Max)
		f.number("context_window", m.Loaded)
		if m.Type == "vlm" || m.Type == "llm" {
			f.flag("vision", m.Type == "vlm")
		}
		return f
	}
	return nil
}

// llamaCpp asks GET /props: the window of one slot. A router that serves several
// models is asked for the one.
func (a asker) llamaCpp(ctx context.Context) Fields {
	var props struct {
		Settings struct {
			Context float64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Modalities *struct {
			Vision bool `json:"vision"`
		} `json:"modalities"`
	}
	if !a.get(ctx, "/props?model="+url.QueryEscape(a.model), nil, &props) {
		return nil
	}
	f := Fields{}
	f.number("context_window", props.Settings.Context)
	if props.Modalities != nil && len(f) > 0 {
		f.flag("vision", props.Modalities.Vision)
	}
	return f
}

// openAI asks GET /v1/models, where some servers say more than the API has:
// vLLM and SGLang max_model_len, llama.cpp meta.n_ctx.
func (a asker) openAI(ctx context.Context) Fields {
	var list struct {
		Data []struct {
			ID     string  `json:"id"`
			MaxLen float64 `json:"max_model_len"`
			Length float64 `json:"context_length"`
			Meta   struct {
				Context float64 `json:"n_ctx"`
				Trained float64 `json:"n_ctx_train"`
			} `json:"meta"`
		} `json:"data"`
	}
	if !a.get(ctx, "/v1/models", nil, &list) {
		return nil
	}
	for _, m := range list.Data {
		if m.ID != a.model && len(list.Data) > 1 {
			continue
		}
		f := Fields{}
		for _, n := range []float64{m.Meta.Trained, m.Length, m.Meta.Context, m.MaxLen} {
			f.number("context_window", n)
		}
		return f
	}
	return nil
}
