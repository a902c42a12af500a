package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/delta"
)

func geminiVoice() voice {
	return voice{
		wire: "gemini",
		full: geminiFull(),
		said: geminiEvents(geminiChunk(`{"text":"hello"}`, ""), geminiChunk(`{"text":""}`, "STOP")),
		open: geminiEvents(geminiChunk(`{"text":"hel"}`, "")),
	}
}

// geminiQuota is the body of a 429.
func geminiQuota(id, words, delay string) string {
	return fmt.Sprintf(`[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for metric: x, %s\nPlease retry in %s.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.Help","links":[]},{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"x","quotaId":%q}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":%q}]}}]`,
		words, delay, id, delay)
}

func geminiEvents(datas ...string) string { return openaiEvents(datas...) }

// geminiChunk is a chunk with parts, separated by commas.
func geminiChunk(parts, finish string) string {
	if finish != "" {
		finish = `"finishReason":"` + finish + `",`
	}
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"},` + finish + `"index":0}],"modelVersion":"m","responseId":"r"}`
}

func geminiFull() string {
	all := grow(fullThinking, geminiChunk(`{"text":%,"thought":true}`, ""))
	all = append(all, geminiChunk(`{"text":"","thought":true,"thoughtSignature":"c2ln"}`, ""))
	all = append(all, grow(fullText, geminiChunk(`{"text":%}`, ""))...)
	all = append(all, geminiChunk(`{"functionCall":{"id":"c1","name":"write","args":`+fullInput+`},"thoughtSignature":"c2ln+/=="}`, ""))
	return geminiEvents(append(all, geminiChunk(`{"functionCall":{"id":"c2","name":"now"}}`, "STOP"))...)
}

// geminiMessage is the message of geminiFull.
func geminiMessage(m oh.Message) oh.Message {
	opaque := func(data string) *oh.Opaque { return &oh.Opaque{Origin: "p/m", Data: json.RawMessage(data)} }
	m.Content = oh.Blocks{
		oh.Thinking{Text: fullThinking, Opaque: opaque(`{"thoughtSignature":"c2ln"}`)},
		oh.Text{Text: fullText},
		oh.ToolUse{ID: "c1", Name: "write", Input: json.RawMessage(fullInput), Opaque: opaque(`{"thoughtSignature":"c2ln+/==","id":"c1"}`)},
		oh.ToolUse{ID: "c2", Name: "now", Input: json.RawMessage("{}"), Opaque: opaque(`{"id":"c2"}`)},
	}
	return m
}

// geminiPieces is a reply in pieces, each a raw JSON string. Arguments come
// whole on this wire.
func geminiPieces(thinking, said []string, calls ...[]string) string {
	var all []string
	for _, s := range thinking {
		all = append(all, geminiChunk(`{"text":`+s+`,"thought":true}`, ""))
	}
	for _, s := range said {
		all = append(all, geminiChunk(`{"text":`+s+`}`, ""))
	}
	for i, raws := range calls {
		var seam delta.Seam
		args := ""
		for _, raw := range raws {
			piece, _ := delta.Piece([]byte(raw))
			args += seam.Join(piece)
		}
		if len(raws) > 0 {
			all = append(all, geminiChunk(fmt.Sprintf(`{"functionCall":{"id":"c%d","name":"f","args":%s}}`, i, args), ""))
		}
	}
	return geminiEvents(append(all, geminiChunk(`{"text":""}`, "STOP"))...)
}

func geminiLong() string {
	var s strings.Builder
	for i := range deltas {
		s.WriteString(geminiEvents(fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":" word%d\n"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":%d,"totalTokenCount":%d},"modelVersion":"gemini-2.5-flash","responseId":"AbCdEf"}`, i, i+1, i+1201)))
	}
	return s.String() + geminiEvents(geminiChunk(`{"text":""}`, "STOP"))
}

func TestGeminiAddress(t *testing.T) {
	const stream = ":streamGenerateContent?alt=sse"
	for _, tt := range []struct {
		host        provider.Host
		base, model string
		want        string
	}{
		{"", "", "m", "https://generativelanguage.googleapis.com/v1beta/models/m" + stream},
		{"", "", "models/m", "https://generativelanguage.googleapis.com/v1beta/models/m" + stream},
		{"", "", "google/m", "https://generativelanguage.googleapis.com/v1beta/models/m" + stream},
		{"", "", " publishers/google/models/m ", "https://generativelanguage.googleapis.com/v1beta/models/m" + stream},
		{"", "", "tunedModels/m", "https://generativelanguage.googleapis.com/v1beta/tunedModels/m" + stream},
		{"", "http://h", "m", "http://h/v1beta/models/m" + stream},
		{"", "http://h/", "m", "http://h/v1beta/models/m" + stream},
		{"", " http://h/v1/ ", "m", "http://h/v1/models/m" + stream},
		{"", "http://h/v1alpha", "m", "http://h/v1alpha/models/m" + stream},
		{"", "http://h/proxy/gemini", "m", "http://h/proxy/gemini/v1beta/models/m" + stream},
		{"", "http://h/proxy/v1beta", "m", "http://h/proxy/v1beta/models/m" + stream},
		{"", "http://h/v1beta/models", "m", "http://h/v1beta/models/m" + stream},
		{"", "http://h/v1beta/models/x:generateContent", "m", "http://h/v1beta/models/m" + stream},
		{"", "http://h/v1beta/models/x:streamGenerateContent?alt=json&u=1", "m", "http://h/v1beta/models/m" + stream + "&u=1"},
		{"", "http://h/v1beta/openai/", "m", "http://h/v1beta/models/m" + stream},
		{"", "http://h:8080", "m", "http://h:8080/v1beta/models/m" + stream},
		{"", "http://h", "a b?c#d", "http://h/v1beta/models/a%20b%3Fc%23d" + stream},
		{"", "h/v1", "m", ""},
		{"", "http://h", " / ", ""},
		{provider.Vertex, "", "m", "https://aiplatform.googleapis.com/v1/publishers/google/models/m" + stream},
		{provider.Vertex, "https://h/v1/publishers/google", "m", "https://h/v1/publishers/google/models/m" + stream},
		{"", "https://h/v1/publishers/google", "m", "https://h/v1/publishers/google/models/m" + stream},
		{provider.Vertex, "https://h/v1/projects/p/locations/l", "m", "https://h/v1/projects/p/locations/l/publishers/google/models/m" + stream},
		{"", "https://h/v1/projects/p/locations/l", "google/m", "https://h/v1/projects/p/locations/l/publishers/google/models/m" + stream},
		{provider.Vertex, "https://h/v1/projects/p/locations/l", "publishers/meta/models/m", "https://h/v1/projects/p/locations/l/publishers/meta/models/m" + stream},
		{provider.Vertex, "https://h/v1/projects/p/locations/l/", "models/m", "https://h/v1/projects/p/locations/l/publishers/google/models/m" + stream},
		{provider.Vertex, "https://h/v1/projects/p/locations/l", "projects/q/locations/l/endpoints/7", "https://h/v1/projects/q/locations/l/endpoints/7" + stream},
		{provider.Vertex, "https://h/v1/projects/p/locations/l", "endpoints/7", "https://h/v1/projects/p/locations/l/endpoints/7" + stream},
		{provider.Vertex, "https://h", "m", "https://h/v1/publishers/google/models/m" + stream},
	} {
		got := ""
		p := wires["gemini"](provider.Config{BaseURL: tt.base, Host: tt.host, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.URL.String()
			return nil, errors.New("enough")
		})}})
		req := hello()
		req.Model = tt.model
		res := listen(t, p.Stream(t.Context(), req))
		if got != tt.want || tt.want == "" && oh.KindOf(res.err) != oh.KindInvalid {
			t.Errorf("%q %q %q: asked %q, want %q (%v)", tt.host, tt.base, tt.model, got, tt.want, res.err)
		}
	}
}

// The table may name a model as the service does.
func TestGeminiName(t *testing.T) {
	got := ""
	p := wires["gemini"](provider.Config{BaseURL: "http://h", Traits: func(string) provider.Traits { return provider.Traits{Name: "gemini-x"} }, Client: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		got = r.URL.Path
		return nil, errors.New("enough")
	})}})
	if listen(t, p.Stream(t.Context(), hello())); got != "/v1beta/models/gemini-x:streamGenerateContent" {
		t.Errorf("asked %q", got)
	}
}

func TestGeminiHeaders(t *testing.T) {
	for _, tt := range []struct {
		cfg       provider.Config
		key, auth string
	}{
		{provider.Config{Key: " k\n"}, "k", ""},
		{provider.Config{Key: "k", Token: "t"}, "", "Bearer t"},
		{provider.Config{}, "", ""},
		{provider.Config{Host: provider.Vertex, Sign: func(r *http.Request) error {
			r.Header.Set("Authorization", "Bearer fresh")
			return nil
		}}, "", "Bearer fresh"},
	} {
		var got http.Header
		tt.cfg.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got = r.Header
			return nil, errors.New("enough")
		})}
		listen(t, wires["gemini"](tt.cfg).Stream(t.Context(), hello()))
		if got.Get("X-Goog-Api-Key") != tt.key || got.Get("Authorization") != tt.auth {
			t.Errorf("%+v: %v", tt.cfg, got)
		}
	}
}

func TestGeminiFaults(t *testing.T) {
	google := func(code int, status, words, details string) string {
		return fmt.Sprintf(`{"error":{"code":%d,"message":%q,"status":%q,"details":[%s]}}`, code, words, status, details)
	}
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   oh.Kind
		after  time.Duration
	}{
		{"bad key", 400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`), oh.KindAuth, 0},
		{"bad key by its reason", 400, google(400, "INVALID_ARGUMENT", "Schlüssel ungültig", `{"reason":"API_KEY_INVALID"}`), oh.KindAuth, 0},
		{"no key", 403, google(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers", ""), oh.KindAuth, 0},
		{"expired token", 401, google(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", ""), oh.KindAuth, 0},
		{"billing", 403, google(403, "PERMISSION_DENIED", "This API method requires billing to be enabled.", `{"reason":"BILLING_DISABLED"}`), oh.KindQuota, 0},
		{"per minute", 429, geminiQuota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "limit: 10", "34.5s"), oh.KindLimited, 34500 * time.Millisecond},
		{"per day", 429, geminiQuota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", "limit: 50", "34s"), oh.KindQuota, 0},
		{"none at all", 429, geminiQuota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "limit: 0, model: m", "45.578569677s"), oh.KindQuota, 0},
		{"some and none", 429, geminiQuota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "limit: 0.5, limit: 07\\n* x, limit: 0", "45s"), oh.KindQuota, 0},
		{"little", 429, geminiQuota("GenerateContentInputTokensPerModelPerMinute-FreeTier", "limit: 0.5", "45s"), oh.KindLimited, 45 * time.Second},
		{"vertex", 429, google(429, "RESOURCE_EXHAUSTED", "Resource exhausted. Please try again later.", ""), oh.KindLimited, 0},
		{"overloaded", 503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", ""), oh.KindOverloaded, 0},
		{"in demand", 503, google(503, "", "This model is currently experiencing high demand.", ""), oh.KindOverloaded, 0},
		{"internal", 500, google(500, "INTERNAL", "An internal error has occurred.", ""), oh.KindUnavailable, 0},
		{"late", 504, google(504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete.", ""), oh.KindUnavailable, 0},
		{"too long", 400, google(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed 1048576.", ""), oh.KindTooLong, 0},
		{"too long at vertex", 400, google(400, "INVALID_ARGUMENT", "Unable to submit request because the input token count is 1200293 but model only supports up to 1048576.", ""), oh.KindTooLong, 0},
		{"payload", 400, google(400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes.", ""), oh.KindTooLong, 0},
		{"output limit", 400, google(400, "INVALID_ARGUMENT", "Unable to submit request because it has a maxOutputTokens value of 100000 but the supported range is from 1 (inclusive) to 65537 (exclusive).", ""), oh.KindInvalid, 0},
		{"no model", 404, google(404, "NOT_FOUND", "models/m is not found for API version v1beta", ""), oh.KindInvalid, 0},
		{"signature", 400, google(400, "INVALID_ARGUMENT", "Function call is missing a thought_signature in functionCall parts.", ""), oh.KindInvalid, 0},
		{"list", 400, "[" + google(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", "") + "]", oh.KindAuth, 0},
	} {
		// Told with the status, and inside a stream.
		for _, status := range []int{tt.status, 200} {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				if status == 200 {
					_, _ = io.WriteString(w, geminiEvents(geminiChunk(`{"text":"hel"}`, ""), tt.body))
					return
				}
				_, _ = io.WriteString(w, tt.body)
			}))
			got := listen(t, wires["gemini"](provider.Config{BaseURL: srv.URL, Key: "sk-secret"}).Stream(t.Context(), hello()))
			srv.Close()
			e, _ := errors.AsType[*oh.Error](got.err)
			if e == nil || e.Kind != tt.kind || e.After != tt.after {
				t.Errorf("%s (%d): %v %+v", tt.name, status, e, e)
			}
		}
	}
}

// A conversation with calls, thoughts and signatures, begun by another model,
// against the server that holds every request to the rules of the service.
func TestGeminiConversation(t *testing.T) {
	for _, model := range []string{"gemini-3-pro-preview", "gemini-2.5-flash"} {
		srv, err := ohtest.Start(ohtest.Config{Key: "k", Rules: ohtest.Rules{RequireReasoning: true}, Turns: []ohtest.Turn{
			ohtest.Reply(ohtest.Thinking("Look."), ohtest.Text("Let me see."), ohtest.Call("f1", "read", `{"path":"a"}`), ohtest.Call("f2", "read", `{"path":"b"}`)),
			ohtest.Reply(ohtest.Call("f3", "now", `{}`)),
			ohtest.Reply(ohtest.Thinking("So."), ohtest.Text("It is noon."), ohtest.Usage{InputTokens: 90, CacheReadTokens: 10, OutputTokens: 7, ReasoningTokens: 3}),
			ohtest.Reply(ohtest.Text("Bye.")),
		}, OnViolation: func(v ohtest.Violation) { t.Errorf("%s: %v", model, v) }})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		p := wires["gemini"](provider.Config{Profile: "p", BaseURL: srv.URL, Key: "k", Traits: func(string) provider.Traits { return provider.Traits{Thinking: provider.ThinkBudget} }})
		req := hello()
		req.Model, req.System, req.Memo = model, "s", &oh.Memo{}
		req.Tools = []oh.ToolSpec{{Name: "read", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}, {Name: "now"}}
		req.Messages = append(req.Messages,
			oh.Message{ID: "a0", Role: oh.Assistant, Content: oh.Blocks{oh.Thinking{Text: "foreign"}, oh.ToolUse{ID: "toolu_1", Name: "now", Input: json.RawMessage("{}")}}})
		var usage oh.Usage
		for i := range 4 {
			reply := &req.Messages[len(req.Messages)-1]
			user := oh.Message{ID: fmt.Sprint("u", i+2), Role: oh.User}
			for _, u := range reply.Content.ToolUses() {
				user.Content = append(user.Content, oh.ToolResult{ToolUseID: u.ID, Content: oh.Blocks{oh.Text{Text: "result"}}})
			}
			if len(user.Content) == 0 {
				user.Content = oh.Blocks{oh.Text{Text: "go on"}}
			}
			req.Messages = append(req.Messages, user)
			got := listen(t, p.Stream(t.Context(), req))
			if got.err != nil {
				t.Fatalf("%s, turn %d: %v", model, i, got.err)
			}
			got.message.ID = fmt.Sprint("a", i+1)
			req.Messages = append(req.Messages, *got.message)
			usage = usage.Add(got.message.Usage)
		}
		if got := req.Messages[len(req.Messages)-1].Content.Text(); got != "Bye." {
			t.Errorf("%s: %q", model, got)
		}
		if usage.CacheReadTokens != 10 || usage.ReasoningTokens != 3 {
			t.Errorf("%s: %+v", model, usage)
		}
	}
}

// Failures as the service tells them are what they were meant to be.
func TestGeminiFailures(t *testing.T) {
	for _, kind := range []oh.Kind{oh.KindAuth, oh.KindQuota, oh.KindLimited, oh.KindOverloaded, oh.KindTooLong, oh.KindInvalid, oh.KindUnavailable} {
		fail := &oh.Error{Kind: kind}
		if kind == oh.KindLimited {
			fail.After = 2 * time.Second
		}
		srv, err := ohtest.Start(ohtest.Config{Turns: []ohtest.Turn{ohtest.Fail(fail), ohtest.Fail(fail, ohtest.Text("par"))}})
		if err != nil {
			t.Fatal(err)
		}
		p := wires["gemini"](provider.Config{BaseURL: srv.URL, Key: "k"})
		for range 2 {
			got := listen(t, p.Stream(t.Context(), hello()))
			e, _ := errors.AsType[*oh.Error](got.err)
			if e == nil || e.Kind != kind || e.After != fail.After {
				t.Errorf("%s: %+v", kind, e)
			}
		}
		srv.Close()
	}
}
