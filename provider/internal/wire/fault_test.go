package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
)

type verdict struct {
	Kind  oh.Kind
	Code  string
	After time.Duration
	Words string
}

func TestFault(t *testing.T) {
	link := New("test", provider.Config{Key: "sk-very-secret", Headers: http.Header{"X-Auth": {"Basic abcdefgh"}, "X-Beta": {"prompt-words"}}}, nil)
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		want   verdict
	}{
		{"plain text", 500, nil, "boom\x1b[31m\n now", verdict{oh.KindUnavailable, "", 0, "boom now"}},
		{"no words", 502, nil, "", verdict{oh.KindUnavailable, "", 0, "the service gave no reason (Bad Gateway)"}},
		{"web page", 503, nil, "<html><head><title>Bad  gateway</title></head>…", verdict{oh.KindUnavailable, "", 0, "Bad gateway"}},
		{"anthropic form", 529, nil, `{"type":"error","error":{"type":"x_error","message":"Overloaded"}}`, verdict{oh.KindOverloaded, "x_error", 0, "Overloaded"}},
		{"openai form", 400, nil, `{"error":{"message":"bad","type":"t","code":"c","param":null}}`, verdict{oh.KindInvalid, "c", 0, "bad"}},
		{"error is text", 400, nil, `{"error":"bad model"}`, verdict{oh.KindInvalid, "", 0, "bad model"}},
		{"detail", 422, nil, `{"detail":[{"msg":"field required"}]}`, verdict{oh.KindInvalid, "", 0, `[{"msg":"field required"}]`}},
		{"list", 429, nil, `[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"33.5s"}]}}]`,
			verdict{oh.KindLimited, "RESOURCE_EXHAUSTED", 33500 * time.Millisecond, "slow down"}},
		{"a reason in the details", 400, nil, `{"error":{"code":400,"message":"no","details":[7,{"reason":"KEY_ODD"}]}}`, verdict{oh.KindInvalid, "KEY_ODD", 0, "no"}},
		{"a type and a reason", 400, nil, `{"error":{"type":"t","message":"no","details":[{"reason":"r"}]}}`, verdict{oh.KindInvalid, "t", 0, "no"}},
		{"upstream", 502, nil, `{"error":{"code":502,"message":"Provider error","metadata":{"raw":"upstream says no"}}}`,
			verdict{oh.KindUnavailable, "", 0, "Provider error: upstream says no"}},
		{"status inside a stream", 0, nil, `{"error":{"code":429,"message":"slow"}}`, verdict{oh.KindLimited, "", 0, "slow"}},
		{"invalid inside a stream", 0, nil, `{"error":{"type":"invalid_request_error","message":"no"}}`, verdict{oh.KindInvalid, "invalid_request_error", 0, "no"}},
		{"unclear inside a stream", 0, nil, `{"error":{"message":"?"}}`, verdict{oh.KindUnavailable, "", 0, "?"}},
		{"429 about tokens", 429, http.Header{"Retry-After": {"2"}}, `{"error":{"message":"Request too large: context window tokens per minute"}}`,
			verdict{oh.KindLimited, "", 2 * time.Second, "Request too large: context window tokens per minute"}},
		{"quota in a 429", 429, nil, `{"error":{"message":"You exceeded your current quota"}}`, verdict{oh.KindQuota, "", 0, "You exceeded your current quota"}},
		{"quota that comes back", 429, http.Header{"Retry-After": {"20"}}, `{"error":{"message":"You exceeded your current quota"}}`,
			verdict{oh.KindLimited, "", 20 * time.Second, "You exceeded your current quota"}},
		{"not again", 500, http.Header{"X-Should-Retry": {"false"}}, `{"error":{"message":"no"}}`, verdict{oh.KindInvalid, "", 0, "no"}},
		{"not again in a 429", 429, http.Header{"X-Should-Retry": {"false"}, "Retry-After": {"9000"}}, `{"error":{"message":"no"}}`, verdict{oh.KindQuota, "", 0, "no"}},
		{"not again, overloaded", 529, http.Header{"X-Should-Retry": {"false"}}, `{"error":{"message":"no"}}`, verdict{oh.KindOverloaded, "", 0, "no"}},
		{"again", 400, http.Header{"X-Should-Retry": {"true"}, "Retry-After": {"3"}}, `{"error":{"message":"once more"}}`,
			verdict{oh.KindUnavailable, "", 3 * time.Second, "once more"}},
		{"again, but the window is full", 400, http.Header{"X-Should-Retry": {"true"}}, `{"error":{"message":"maximum context length"}}`,
			verdict{oh.KindTooLong, "", 0, "maximum context length"}},
		{"again, but the key is wrong", 401, http.Header{"X-Should-Retry": {"true"}}, `{"error":{"message":"no"}}`, verdict{oh.KindAuth, "", 0, "no"}},
		{"window", 400, nil, `{"error":{"message":"maximum context length is 8192 tokens"}}`, verdict{oh.KindTooLong, "", 0, "maximum context length is 8192 tokens"}},
		{"401", 401, http.Header{"Retry-After": {"20"}}, `{"error":{"message":"bad key sk-very-secret, header abcdefgh, prompt-words"}}`,
			verdict{oh.KindAuth, "", 0, "bad key [key], header [key], prompt-words"}},
		{"401 with other words", 401, nil, `{"error":{"message":"no rate limit for you"}}`, verdict{oh.KindAuth, "", 0, "no rate limit for you"}},
		{"403", 403, nil, `{}`, verdict{oh.KindAuth, "", 0, "the service gave no reason (Forbidden)"}},
		{"hollow", 400, nil, ` {"error": {"message": "", "param": null}, "details": [ ]} `, verdict{oh.KindInvalid, "", 0, "the service gave no reason (Bad Request)"}},
		{"hollow list", 500, nil, `[{}]`, verdict{oh.KindUnavailable, "", 0, "the service gave no reason (Internal Server Error)"}},
		{"null", 418, nil, `null`, verdict{oh.KindInvalid, "", 0, "the service gave no reason (I'm a teapot)"}},
		{"hollow inside a stream", 0, nil, `{"error":{}}`, verdict{oh.KindUnavailable, "", 0, "the service gave no reason"}},
		{"of no known form", 400, nil, `{"why":{"x":[0]}}`, verdict{oh.KindInvalid, "", 0, `{"why":{"x":[0]}}`}},
		{"407", 407, nil, `{"message":"proxy"}`, verdict{oh.KindInvalid, "", 0, "proxy"}},
		{"402", 402, nil, `{"message":"pay"}`, verdict{oh.KindQuota, "", 0, "pay"}},
		{"404", 404, nil, `{"error":{"message":"model"}}`, verdict{oh.KindInvalid, "", 0, "model"}},
		{"408", 408, nil, `{"error":{"message":"t"}}`, verdict{oh.KindUnavailable, "", 0, "t"}},
		{"409", 409, nil, `{"error":{"message":"t"}}`, verdict{oh.KindUnavailable, "", 0, "t"}},
		{"413", 413, nil, `{"error":{"message":"t"}}`, verdict{oh.KindTooLong, "", 0, "t"}},
		{"425", 425, nil, `{"error":{"message":"t"}}`, verdict{oh.KindUnavailable, "", 0, "t"}},
		{"501", 501, nil, `{"error":{"message":"t"}}`, verdict{oh.KindInvalid, "", 0, "t"}},
		{"cut", 400, nil, `{"message":"` + strings.Repeat("x", 5000) + `"}`, verdict{oh.KindInvalid, "", 0, strings.Repeat("x", 999) + "…"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := link.Fault(tt.status, tt.header, []byte(tt.body))
			got := verdict{e.Kind, e.Code, e.After, e.Err.Error()}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func FuzzFault(f *testing.F) {
	f.Add(400, []byte(`{"error":{"message":"sk-very-secret"}}`))
	f.Add(0, []byte(`[{"error":{"code":429,"details":[{"retryDelay":"1s"}]}}]`))
	f.Add(502, []byte("<title>\xff</title>"))
	link := New("test", provider.Config{Key: "sk-very-secret"}, nil)
	f.Fuzz(func(t *testing.T, status int, raw []byte) {
		e := link.Fault(status, nil, raw)
		if e.Kind == "" || e.Err == nil || e.Err.Error() == "" || strings.Contains(e.Error(), "sk-very-secret") {
			t.Errorf("%q gives %v", raw, e)
		}
	})
}

// The details of a Google error tell a quota of a day from one of a minute,
// and a rule may be final where they name a short wait.
func TestQuotas(t *testing.T) {
	rules := []Rule{{Code: DailyQuota, Kind: oh.KindQuota}, {Words: "none left", Kind: oh.KindQuota, Final: true}, {Words: "used up", Kind: oh.KindQuota}}
	link := New("test", provider.Config{}, rules)
	for _, tt := range []struct {
		words, id string
		kind      oh.Kind
	}{
		{"used up", "RequestsPerMinutePerProject", oh.KindLimited},
		{"used up", "RequestsPerDayPerProject", oh.KindQuota},
		{"used up", "DailyLimit", oh.KindQuota},
		{"none left", "RequestsPerMinutePerProject", oh.KindQuota},
	} {
		e := link.Fault(429, nil, []byte(`{"error":{"code":429,"message":"`+tt.words+`","status":"RESOURCE_EXHAUSTED","details":[{"reason":"x"},{"violations":[{"quotaId":"`+tt.id+`"}]},{"retryDelay":"12s"}]}}`))
		after := 12 * time.Second
		if tt.kind == oh.KindQuota {
			after = 0
		}
		if e.Kind != tt.kind || e.After != after || e.Code != "RESOURCE_EXHAUSTED" {
			t.Errorf("%s, %s: %+v", tt.words, tt.id, e)
		}
	}
}
