package provider_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/ohtest"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/anthropic"
	"github.com/openharness/oh/provider/internal/eventstream"
)

func bedrockVoice() voice {
	return voice{
		wire: "bedrock",
		full: bedrockFull(),
		said: bedrockSaid("hello", "end_turn"),
		open: bedrockOpen(),
	}
}

// bedrockEvents makes a frame of each line: a type and a payload. A type with a
// ! before it is that of an exception.
func bedrockEvents(lines ...string) string {
	var out []byte
	for _, line := range lines {
		name, payload, _ := strings.Cut(line, " ")
		headers := []string{":event-type", name, ":message-type", "event"}
		if exception, ok := strings.CutPrefix(name, "!"); ok {
			headers = []string{":exception-type", exception, ":message-type", "exception"}
		}
		out = eventstream.Append(out, []byte(payload), headers...)
	}
	return string(out)
}

func bedrockOpen() string {
	return bedrockEvents(`messageStart {"role":"assistant"}`, `contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"hel"},"p":"abcd"}`)
}

func bedrockSaid(text, stop string) string {
	return bedrockEvents(`messageStart {"role":"assistant"}`,
		`contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"`+text+`"},"p":"ab"}`, `contentBlockStop {"contentBlockIndex":0}`,
		`messageStop {"stopReason":"`+stop+`"}`, `metadata {"metrics":{"latencyMs":1}}`)
}

// bedrockDelta is the form of deltas of a block.
func bedrockDelta(index int, delta string) string {
	return fmt.Sprintf(`contentBlockDelta {"contentBlockIndex":%d,"delta":%s,"p":"abc"}`, index, delta)
}

func bedrockFull() string {
	all := []string{`messageStart {"role":"assistant","p":"a"}`}
	all = append(all, grow(fullThinking, bedrockDelta(0, `{"reasoningContent":{"text":%}}`))...)
	all = append(all, bedrockDelta(0, `{"reasoningContent":{"signature":"c2ln"}}`), `contentBlockStop {"contentBlockIndex":0}`)
	all = append(all, grow(fullText, bedrockDelta(1, `{"text":%}`))...)
	all = append(all, `contentBlockStop {"contentBlockIndex":1}`, `contentBlockStart {"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"c1","name":"write"}}}`)
	all = append(all, grow(fullInput, bedrockDelta(2, `{"toolUse":{"input":%}}`))...)
	return bedrockEvents(append(all, `contentBlockStop {"contentBlockIndex":2}`,
		`contentBlockStart {"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"c2","name":"now"}}}`, bedrockDelta(3, `{"toolUse":{"input":""}}`),
		`contentBlockStop {"contentBlockIndex":3}`, `messageStop {"stopReason":"tool_use"}`)...)
}

// bedrockPieces is a reply in pieces, each a raw JSON string.
func bedrockPieces(thinking, said []string, calls ...[]string) string {
	all := []string{`messageStart {"role":"assistant"}`}
	for _, s := range thinking {
		all = append(all, bedrockDelta(0, `{"reasoningContent":{"text":`+s+`}}`))
	}
	for _, s := range said {
		all = append(all, bedrockDelta(1, `{"text":`+s+`}`))
	}
	for i := range calls {
		all = append(all, fmt.Sprintf(`contentBlockStart {"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":"c%d","name":"f"}}}`, i+2, i))
	}
	for n := range 2 {
		for i, raws := range calls {
			if n < len(raws) {
				all = append(all, bedrockDelta(i+2, `{"toolUse":{"input":`+raws[n]+`}}`))
			}
		}
	}
	return bedrockEvents(append(all, `messageStop {"stopReason":"tool_use"}`, `metadata {}`)...)
}

// bedrockLong is a reply of many deltas.
func bedrockLong() string {
	all := []string{`messageStart {"role":"assistant"}`}
	for i := range deltas {
		all = append(all, bedrockDelta(0, fmt.Sprintf(`{"text":"token %d "}`, i)))
	}
	return bedrockEvents(append(all, `messageStop {"stopReason":"end_turn"}`)...)
}

// framed turns the readable answer of an archive into what the service sends:
// lines into frames, and events of Anthropic's wire into frames that hold them.
func framed(wire string, host provider.Host, answer []byte) []byte {
	text := strings.TrimSpace(string(answer))
	switch {
	case strings.HasPrefix(text, "{") || host == "" && wire != "bedrock" || host == provider.Vertex:
		return answer
	case wire == "bedrock":
		return []byte(bedrockEvents(strings.Split(text, "\n")...))
	}
	return enclosed(text)
}

func enclosed(events string) []byte {
	var lines []string
	for line := range strings.Lines(events) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			data = base64.StdEncoding.EncodeToString([]byte(strings.TrimSpace(data)))
			lines = append(lines, `chunk {"bytes":"`+data+`","p":"abcdef"}`)
		} else if strings.HasPrefix(line, "!") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return []byte(bedrockEvents(lines...))
}

// A gateway may send the events of Converse as text.
func TestConverseAsText(t *testing.T) {
	v := voice{wire: "bedrock"}
	var events strings.Builder
	r := eventstream.NewReader(strings.NewReader(bedrockFull()))
	for {
		f, err := r.Next()
		if err != nil {
			break
		}
		fmt.Fprintf(&events, "data: {%q:%s}\n\n", f.Get(":event-type"), f.Payload)
	}
	for name, s := range map[string]string{"wrapped": events.String(), "done": events.String() + "data: [DONE]\n\n"} {
		t.Run(name, func(t *testing.T) {
			p := served(v, func(*http.Request) io.Reader { return strings.NewReader(s) })
			checkFull(t, v, listen(t, p.Stream(t.Context(), hello())))
		})
	}
	p := served(v, func(*http.Request) io.Reader {
		return strings.NewReader("data: {\"messageStart\":{}}\n\ndata: {\"throttlingException\":{\"message\":\"slow\"}}\n\n")
	})
	if got := listen(t, p.Stream(t.Context(), hello())); oh.KindOf(got.err) != oh.KindLimited {
		t.Error(got.err)
	}
}

// The scripted server's idea of this wire is ours.
func TestConverseScripted(t *testing.T) {
	var answer bytes.Buffer
	for _, e := range ohtest.Events(ohtest.Bedrock, ohtest.Cut{}, ohtest.Text("all of it")) {
		answer.Write(e)
	}
	p := served(voice{wire: "bedrock"}, func(*http.Request) io.Reader { return &answer })
	if got := listen(t, p.Stream(t.Context(), hello())); got.err != nil || got.text != "all of it" || got.message.Stop != oh.StopEnd {
		t.Errorf("%+v", got)
	}
}

// Bytes that were changed on the way are an error, whatever was said before.
func TestFramesAreChecked(t *testing.T) {
	v := voice{wire: "bedrock"}
	full := bedrockFull()
	for i := 0; i < len(full)-120; i += 7 {
		bad := []byte(full)
		bad[i] ^= 4
		p := served(v, func(*http.Request) io.Reader { return bytes.NewReader(bad) })
		if got := listen(t, p.Stream(t.Context(), hello())); got.err == nil {
			t.Fatalf("byte %d changed: %+v", i, got.message)
		}
	}
}

// Usage follows the reply; one that never comes is not waited for long.
func TestConverseWithoutMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := served(voice{wire: "bedrock"}, func(req *http.Request) io.Reader {
			return io.MultiReader(strings.NewReader(bedrockFull()), silent{req.Context()})
		})
		start := time.Now()
		checkFull(t, voice{wire: "bedrock"}, listen(t, p.Stream(t.Context(), hello())))
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("it took %v", d)
		}
	})
}

func TestExceptions(t *testing.T) {
	for _, tt := range []struct {
		line string
		kind oh.Kind
	}{
		{`!throttlingException {"message":"Too many tokens, please wait before trying again."}`, oh.KindLimited},
		{`!throttlingException {"message":"Too many tokens per day, please wait before trying again."}`, oh.KindQuota},
		{`!validationException {"message":"Input is too long for requested model."}`, oh.KindTooLong},
		{`!validationException {"message":"messages: at least one message is required"}`, oh.KindInvalid},
		{`!modelStreamErrorException {"message":"The model sent an error.","originalStatusCode":500}`, oh.KindUnavailable},
		{`!modelTimeoutException {"message":"The model took too long."}`, oh.KindUnavailable},
		{`!internalServerException {"message":"internal"}`, oh.KindUnavailable},
		{`!serviceUnavailableException {"message":"busy"}`, oh.KindOverloaded},
		{`!accessDeniedException {"message":"no"}`, oh.KindAuth},
		{`!someNewException {"message":"what"}`, oh.KindUnavailable},
		{`!brokenException not json`, oh.KindUnavailable},
	} {
		for name, make := range map[string]func() (oh.Provider, string){
			"converse": func() (oh.Provider, string) {
				return served(voice{wire: "bedrock"}, func(*http.Request) io.Reader { return strings.NewReader(bedrockOpen() + bedrockEvents(tt.line)) }), "bedrock"
			},
			"messages": func() (oh.Provider, string) {
				return anthropicOnBedrock(enclosed(anthropicOpen() + "\n" + tt.line)), "anthropic"
			},
		} {
			p, op := make()
			got := listen(t, p.Stream(t.Context(), hello()))
			if oh.KindOf(got.err) != tt.kind || !strings.HasPrefix(got.err.Error(), op) || got.text != "hel" {
				t.Errorf("%s, %s: %v", name, tt.line, got.err)
			}
		}
	}
	raw := eventstream.Append([]byte(bedrockOpen()), nil, ":message-type", "error", ":error-code", "InternalFailure", ":error-message", "went wrong")
	p := served(voice{wire: "bedrock"}, func(*http.Request) io.Reader { return bytes.NewReader(raw) })
	if got := listen(t, p.Stream(t.Context(), hello())); oh.KindOf(got.err) != oh.KindUnavailable || !strings.Contains(got.err.Error(), "went wrong") {
		t.Error(got.err)
	}
}

func TestRefusalsOfAmazon(t *testing.T) {
	for _, tt := range []struct {
		status            int
		code, body, words string
		kind              oh.Kind
	}{
		{429, "ThrottlingException", `{"message":"Too many requests"}`, "Too many requests", oh.KindLimited},
		{429, "ThrottlingException", `{"message":"Too many tokens per day"}`, "per day", oh.KindQuota},
		{429, "ModelNotReadyException", `{"message":"The model is not ready"}`, "", oh.KindOverloaded},
		{408, "ModelTimeoutException", `{"message":"slow"}`, "slow", oh.KindUnavailable},
		{424, "ModelErrorException", `{"message":"odd"}`, "odd", oh.KindUnavailable},
		{503, "ServiceUnavailableException", `{"message":"busy"}`, "busy", oh.KindOverloaded},
		{403, "AccessDeniedException", `{"Message":"You don't have access to the model with the specified model ID."}`, "Model access", oh.KindAuth},
		{403, "ExpiredTokenException", `{"message":"The security token included in the request is expired"}`, "aws sso login", oh.KindAuth},
		{403, "UnrecognizedClientException", `{"message":"The security token included in the request is invalid."}`, "credentials", oh.KindAuth},
		{404, "ResourceNotFoundException", `{"message":"Could not resolve the foundation model"}`, "region", oh.KindInvalid},
		{400, "ValidationException", `{"message":"Invocation of model ID x with on-demand throughput isn't supported."}`, "inference profile", oh.KindInvalid},
		{400, "ValidationException", `{"message":"The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum"}`, "200000", oh.KindTooLong},
		{400, "", `{"__type":"com.amazon.coral.service#ThrottlingException","message":"slow down"}`, "slow down", oh.KindLimited},
	} {
		for _, wire := range []string{"bedrock", "anthropic"} {
			cfg := provider.Config{Host: provider.Bedrock, BaseURL: "http://h", Client: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				h := http.Header{}
				if tt.code != "" {
					h.Set("X-Amzn-Errortype", tt.code+":http://internal.amazon.com/coral/")
				}
				return &http.Response{StatusCode: tt.status, Header: h, Body: io.NopCloser(strings.NewReader(tt.body)), Request: req}, nil
			})}}
			got := listen(t, wires[wire](cfg).Stream(t.Context(), hello()))
			e, _ := errors.AsType[*oh.Error](got.err)
			if e == nil || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Error(), tt.words) || tt.code != "" && e.Code != tt.code {
				t.Errorf("%s, %s: %v", wire, tt.body, got.err)
			}
		}
	}
}

func anthropicOnBedrock(answer []byte) oh.Provider {
	return anthropic.New(provider.Config{Profile: "p", Host: provider.Bedrock, BaseURL: "http://h", Client: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/vnd.amazon.eventstream"}}, Body: io.NopCloser(bytes.NewReader(answer)), Request: req}, nil
	})}})
}

// The Messages API reads the same in the frames of Bedrock, however it is cut.
func TestMessagesInFrames(t *testing.T) {
	v := voice{wire: "anthropic"}
	answer := enclosed(anthropicFull())
	checkFull(t, v, listen(t, anthropicOnBedrock(answer).Stream(t.Context(), hello())))
	checkFull(t, v, listen(t, anthropicOnBedrock([]byte(anthropicFull())).Stream(t.Context(), hello())))
	want := fullMessage("anthropic")
	for i := 0; i < len(answer); i += 5 {
		got := listen(t, anthropicOnBedrock(answer[:i]).Stream(t.Context(), hello()))
		if got.err == nil && cmp.Diff(&want, got.message) != "" || got.err != nil && oh.KindOf(got.err) != oh.KindUnavailable {
			t.Fatalf("cut at %d: %+v, %v", i, got.message, got.err)
		}
	}
	bad := bedrockEvents(`chunk {"bytes":"###"}`)
	if got := listen(t, anthropicOnBedrock([]byte(bad)).Stream(t.Context(), hello())); oh.KindOf(got.err) != oh.KindUnavailable {
		t.Error(got.err)
	}
}

func TestCloudAddresses(t *testing.T) {
	for _, tt := range []struct {
		wire  string
		cfg   provider.Config
		model string
		want  string
		auth  string
	}{
		{"bedrock", provider.Config{}, "amazon.nova-pro-v1:0", "https://bedrock-runtime.us-east-1.amazonaws.com/model/amazon.nova-pro-v1%3A0/converse-stream", ""},
		{"bedrock", provider.Config{BaseURL: "http://h/gate%20way/", Key: "k"}, "arn:aws:bedrock:us-east-1:1:inference-profile/us.x", "http://h/gate%20way/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x/converse-stream", "Bearer k"},
		{"bedrock", provider.Config{BaseURL: "http://h", Key: "k", Token: "t"}, "m", "http://h/model/m/converse-stream", "Bearer t"},
		{"anthropic", provider.Config{Host: provider.Bedrock, BaseURL: "http://h"}, "us.anthropic.claude-opus-4-5-v1:0", "http://h/model/us.anthropic.claude-opus-4-5-v1%3A0/invoke-with-response-stream", ""},
		{"anthropic", provider.Config{Host: provider.Vertex, BaseURL: "http://h/v1/projects/p/locations/global", Token: "t"}, "claude-opus-4-5@20251101", "http://h/v1/projects/p/locations/global/publishers/anthropic/models/claude-opus-4-5%4020251101:streamRawPredict", "Bearer t"},
		{"anthropic", provider.Config{Host: provider.Vertex}, "m", "", ""},
		{"anthropic", provider.Config{Host: provider.Bedrock}, "m", "", ""},
	} {
		var got, auth string
		signed := 0
		tt.cfg.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			got, auth = r.URL.String(), r.Header.Get("Authorization")
			if v := r.Header.Get("Anthropic-Version"); v != "" {
				t.Errorf("anthropic-version %s", v)
			}
			return nil, errors.New("enough")
		})}
		tt.cfg.Sign = func(r *http.Request) error {
			signed++
			if raw, err := r.GetBody(); err != nil || raw == nil {
				t.Error(err)
			}
			return nil
		}
		req := hello()
		req.Model = tt.model
		res := listen(t, wires[tt.wire](tt.cfg).Stream(t.Context(), req))
		if got != tt.want || auth != tt.auth || tt.want != "" && signed != 1 || tt.want == "" && oh.KindOf(res.err) != oh.KindInvalid {
			t.Errorf("%s %+v: asked %q with %q, signed %d times, %v", tt.wire, tt.cfg, got, auth, signed, res.err)
		}
	}
}

// What the clouds want in the body, and what they want out of it.
func TestCloudBodies(t *testing.T) {
	traits := func(string) provider.Traits {
		return provider.Traits{NoCache: true, Name: "sent", Betas: []string{"b1", "b2"}}
	}
	body := func(host provider.Host) string {
		cfg := provider.Config{Host: host, BaseURL: "http://h", Traits: traits, Headers: http.Header{"anthropic-beta": {"b2, b3"}}}
		return sent(t, voice{wire: "anthropic"}, cfg, hello())
	}
	const messages = `,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`
	for host, want := range map[provider.Host]string{
		"":               `{"model":"sent","max_tokens":8192,"stream":true` + messages,
		provider.Vertex:  `{"anthropic_version":"vertex-2023-10-16","max_tokens":8192,"stream":true` + messages,
		provider.Bedrock: `{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["b1","b2","b3"],"max_tokens":8192` + messages,
	} {
		if got := body(host); got != want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

func TestRefusalsOfVertex(t *testing.T) {
	for _, tt := range []struct {
		status      int
		body, words string
		kind        oh.Kind
	}{
		{429, `[{"error":{"code":429,"message":"Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model with base model: anthropic-claude.","status":"RESOURCE_EXHAUSTED"}}]`, "RESOURCE_EXHAUSTED", oh.KindLimited},
		{404, `{"error":{"code":404,"message":"Publisher Model x was not found or your project does not have access to it.","status":"NOT_FOUND"}}`, "Model Garden", oh.KindInvalid},
		{403, `{"error":{"code":403,"message":"Permission 'aiplatform.endpoints.predict' denied","status":"PERMISSION_DENIED"}}`, "PERMISSION_DENIED", oh.KindAuth},
		{401, `{"error":{"code":401,"message":"Request had invalid authentication credentials.","status":"UNAUTHENTICATED"}}`, "UNAUTHENTICATED", oh.KindAuth},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 200100 tokens > 200000 maximum"}}`, "200100", oh.KindTooLong},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "Overloaded", oh.KindOverloaded},
		{503, `{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}`, "unavailable", oh.KindUnavailable},
	} {
		cfg := provider.Config{Host: provider.Vertex, BaseURL: "http://h", Client: &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: tt.status, Body: io.NopCloser(strings.NewReader(tt.body)), Request: req}, nil
		})}}
		got := listen(t, anthropic.New(cfg).Stream(t.Context(), hello()))
		e, _ := errors.AsType[*oh.Error](got.err)
		if e == nil || e.Kind != tt.kind || e.Status != tt.status || !strings.Contains(e.Error(), tt.words) {
			t.Errorf("%s: %v", tt.body, got.err)
		}
	}
}
