package ohtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/openharness/oh"
)

// failure is how a vendor tells an error.
type failure struct {
	status int
	kind   string // Anthropic: the error's type; OpenAI: its type
	code   string // OpenAI
	text   string
}

// failureOf returns what a vendor answers for a kind of error.
func failureOf(w Wire, kind oh.Kind) failure {
	a := w == Anthropic
	pick := func(x, y failure) failure {
		if a {
			return x
		}
		return y
	}
	switch kind {
	case oh.KindAuth:
		return pick(failure{401, "authentication_error", "", "invalid x-api-key"},
			failure{401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided."})
	case oh.KindQuota:
		return pick(failure{400, "invalid_request_error", "", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
			failure{429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."})
	case oh.KindLimited:
		return pick(failure{429, "rate_limit_error", "", "This request would exceed your organization's rate limit."},
			failure{429, "requests", "rate_limit_exceeded", "Rate limit reached for requests per minute."})
	case oh.KindOverloaded:
		return pick(failure{529, "overloaded_error", "", "Overloaded"},
			failure{503, "server_error", "", "The engine is currently overloaded, please try again later."})
	case oh.KindTooLong:
		return pick(failure{400, "invalid_request_error", "", "prompt is too long: 250000 tokens > 200000 maximum"},
			failure{400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages."})
	case oh.KindInvalid:
		return failure{400, "invalid_request_error", "", "the request is not valid"}
	}
	return pick(failure{500, "api_error", "", "Internal server error"},
		failure{500, "server_error", "", "The server had an error while processing your request."})
}

// body returns the JSON that tells the failure.
func (f failure) body(w Wire) string {
	if w == Anthropic {
		return fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s},"request_id":"req_scripted"}`, quote(f.kind), quote(f.text))
	}
	code := "null"
	if f.code != "" {
		code = quote(f.code)
	}
	return fmt.Sprintf(`{"error":{"message":%s,"type":%s,"param":null,"code":%s}}`, quote(f.text), quote(f.kind), code)
}

// event returns the failure as an event in a stream.
func (f failure) event(w Wire) []byte {
	if w == Anthropic {
		return event("error", "%s", f.body(w))
	}
	return fmt.Appendf(nil, "data: %s\n\n", f.body(w))
}

// Refusal is the answer of a vendor to a request that failed with an error of
// the given kind: status, Retry-After if after is not 0, and error body. text
// replaces the vendor's usual words unless empty.
func Refusal(w Wire, kind oh.Kind, after time.Duration, text string) Step {
	f := failureOf(w, kind)
	if text != "" {
		f.text = text
	}
	h := http.Header{}
	if after > 0 {
		h.Set("Retry-After", strconv.FormatFloat(after.Seconds(), 'f', -1, 64))
	}
	return Status(f.status, h, f.body(w))
}
