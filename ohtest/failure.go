package ohtest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openharness/oh"
)

// failure is how a vendor tells an error.
type failure struct {
	status int
	kind   string // the error's type; Gemini: its status; Bedrock: the exception
	code   string // OpenAI, Responses
	text   string
	detail string        // Gemini: one of the details, as JSON
	after  time.Duration // Gemini tells it in the body
}

// failureOf returns what a vendor answers for a kind of error.
func failureOf(w Wire, kind oh.Kind) failure {
	var table map[oh.Kind]failure
	switch w {
	case Anthropic:
		table = anthropicFailures()
	case Gemini:
		table = geminiFailures()
	case Bedrock:
		table = bedrockFailures()
	case Ollama:
		table = ollamaFailures()
	default:
		table = openaiFailures(w)
	}
	if f, ok := table[kind]; ok {
		return f
	}
	return table[oh.KindUnavailable]
}

func anthropicFailures() map[oh.Kind]failure {
	return map[oh.Kind]failure{
		oh.KindAuth: {status: 401, kind: "authentication_error", text: "invalid x-api-key"},
		oh.KindQuota: {status: 400, kind: "invalid_request_error",
			text: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
		oh.KindLimited:     {status: 429, kind: "rate_limit_error", text: "This request would exceed your organization's rate limit."},
		oh.KindOverloaded:  {status: 529, kind: "overloaded_error", text: "Overloaded"},
		oh.KindTooLong:     {status: 400, kind: "invalid_request_error", text: "prompt is too long: 250000 tokens > 200000 maximum"},
		oh.KindInvalid:     {status: 400, kind: "invalid_request_error", text: "the request is not valid"},
		oh.KindUnavailable: {status: 500, kind: "api_error", text: "Internal server error"},
	}
}

func openaiFailures(w Wire) map[oh.Kind]failure {
	out := map[oh.Kind]failure{
		oh.KindAuth: {status: 401, kind: "invalid_request_error", code: "invalid_api_key", text: "Incorrect API key provided."},
		oh.KindQuota: {status: 429, kind: "insufficient_quota", code: "insufficient_quota",
			text: "You exceeded your current quota, please check your plan and billing details."},
		oh.KindLimited:    {status: 429, kind: "requests", code: "rate_limit_exceeded", text: "Rate limit reached for requests per minute."},
		oh.KindOverloaded: {status: 503, kind: "server_error", text: "The engine is currently overloaded, please try again later."},
		oh.KindTooLong: {status: 400, kind: "invalid_request_error", code: "context_length_exceeded",
			text: "This model's maximum context length is 128000 tokens. However, your messages resulted in 250000 tokens. Please reduce the length of the messages."},
		oh.KindInvalid:     {status: 400, kind: "invalid_request_error", text: "the request is not valid"},
		oh.KindUnavailable: {status: 500, kind: "server_error", text: "The server had an error while processing your request."},
	}
	if w == Responses {
		out[oh.KindOverloaded] = failure{status: 503, kind: "service_unavailable_error", code: "server_is_overloaded",
			text: "Our servers are currently overloaded. Please try again later."}
		out[oh.KindTooLong] = failure{status: 400, kind: "invalid_request_error", code: "context_length_exceeded",
			text: "Your input exceeds the context window of this model. Please adjust your input and try again."}
	}
	return out
}

func geminiFailures() map[oh.Kind]failure {
	quota := func(id string) string {
		return fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":%s}]}`, quote(id))
	}
	const exceeded = "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
	return map[oh.Kind]failure{
		oh.KindAuth: {status: 400, kind: "INVALID_ARGUMENT", text: "API key not valid. Please pass a valid API key.",
			detail: `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com","metadata":{"service":"generativelanguage.googleapis.com"}}`},
		oh.KindQuota: {status: 429, kind: "RESOURCE_EXHAUSTED", detail: quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"),
			text: exceeded + "\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 0"},
		oh.KindLimited: {status: 429, kind: "RESOURCE_EXHAUSTED", detail: quota("GenerateRequestsPerMinutePerProjectPerModel"),
			text: "Resource has been exhausted (e.g. check quota)."},
		oh.KindOverloaded:  {status: 503, kind: "UNAVAILABLE", text: "The model is overloaded. Please try again later."},
		oh.KindTooLong:     {status: 400, kind: "INVALID_ARGUMENT", text: "The input token count (1250000) exceeds the maximum number of tokens allowed (1048576)."},
		oh.KindInvalid:     {status: 400, kind: "INVALID_ARGUMENT", text: "the request is not valid"},
		oh.KindUnavailable: {status: 500, kind: "INTERNAL", text: "An internal error has occurred. Please retry."},
	}
}

func bedrockFailures() map[oh.Kind]failure {
	return map[oh.Kind]failure{
		oh.KindAuth:        {status: 403, kind: "UnrecognizedClientException", text: "The security token included in the request is invalid."},
		oh.KindQuota:       {status: 400, kind: "ServiceQuotaExceededException", text: "Your request exceeds the service quota for your account."},
		oh.KindLimited:     {status: 429, kind: "ThrottlingException", text: "Too many requests, please wait before trying again."},
		oh.KindOverloaded:  {status: 503, kind: "ServiceUnavailableException", text: "Bedrock is unable to process your request. Too many connections."},
		oh.KindTooLong:     {status: 400, kind: "ValidationException", text: "The model returned the following errors: prompt is too long: 250000 tokens > 200000 maximum"},
		oh.KindInvalid:     {status: 400, kind: "ValidationException", text: "the request is not valid"},
		oh.KindUnavailable: {status: 500, kind: "InternalServerException", text: "The system encountered an unexpected error during processing. Try your request again."},
	}
}

func ollamaFailures() map[oh.Kind]failure {
	return map[oh.Kind]failure{
		oh.KindAuth:        {status: 401, text: "unauthorized"},
		oh.KindQuota:       {status: 402, text: "you have reached your weekly usage limit, upgrade for higher limits"},
		oh.KindLimited:     {status: 429, text: "too many concurrent requests"},
		oh.KindOverloaded:  {status: 503, text: "server busy, please try again.  maximum pending requests exceeded"},
		oh.KindTooLong:     {status: 400, text: "the input length exceeds the context length"},
		oh.KindInvalid:     {status: 400, text: "the request is not valid"},
		oh.KindUnavailable: {status: 500, text: "llama runner process has terminated: signal: killed"},
	}
}

// body returns the JSON that tells the failure.
func (f failure) body(w Wire) string {
	switch w {
	case Anthropic:
		return fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s},"request_id":"req_scripted"}`, quote(f.kind), quote(f.text))
	case Gemini:
		return f.gemini()
	case Bedrock:
		return fmt.Sprintf(`{"message":%s}`, quote(f.text))
	case Ollama:
		return fmt.Sprintf(`{"error":%s}`, quote(f.text))
	}
	return fmt.Sprintf(`{"error":{"message":%s,"type":%s,"param":null,"code":%s}}`, quote(f.text), quote(f.kind), f.codeJSON())
}

func (f failure) codeJSON() string {
	if f.code == "" {
		return "null"
	}
	return quote(f.code)
}

func (f failure) gemini() string {
	var details []string
	if f.detail != "" {
		details = append(details, f.detail)
	}
	if f.after > 0 {
		details = append(details, fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"%ss"}`, seconds(f.after)))
	}
	list := ""
	if details != nil {
		list = fmt.Sprintf(`,"details":[%s]`, strings.Join(details, ","))
	}
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%s%s}}`, f.status, quote(f.text), quote(f.kind), list)
}

// event returns the failure as event n of a stream.
func (f failure) event(w Wire, n int) []byte {
	switch w {
	case Anthropic:
		return event("error", "%s", f.body(w))
	case Responses:
		return f.responses(n)
	case Gemini:
		return []byte("data: " + f.body(w) + "\r\n\r\n")
	case Bedrock:
		name := strings.ToLower(f.kind[:1]) + f.kind[1:]
		return frame(f.body(w), [2]string{":exception-type", name}, [2]string{":content-type", "application/json"}, [2]string{":message-type", "exception"})
	case Ollama:
		return []byte(f.body(w) + "\n")
	}
	return fmt.Appendf(nil, "data: %s\n\n", f.body(w))
}

// responses tells a fault of the server as a failed response, and what is wrong
// with the request or the account as an error event.
func (f failure) responses(n int) []byte {
	if f.status >= 500 {
		code := f.code
		if code == "" {
			code = "server_error"
		}
		failed := responseObject("resp_scripted", "scripted", "failed", fmt.Sprintf(`{"code":%s,"message":%s}`, quote(code), quote(f.text)), "null", "", "null")
		return event("response.failed", `{"type":"response.failed","sequence_number":%d,"response":%s}`, n, failed)
	}
	if f.code == "" {
		f.code = f.kind
	}
	return event("error", `{"type":"error","sequence_number":%d,"code":%s,"message":%s,"param":null}`, n, quote(f.code), quote(f.text))
}

// refusal is the failure as an answer.
func (f failure) refusal(w Wire) Step {
	h := http.Header{}
	if f.after > 0 && w != Gemini {
		h.Set("Retry-After", seconds(f.after))
	}
	if w == Bedrock {
		h.Set("X-Amzn-Errortype", f.kind)
	}
	return Status(f.status, h, f.body(w))
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// Refusal is the answer of a vendor to a request that failed with an error of
// the given kind: status, error body, and how long to wait if after is not 0
// (Gemini tells it in the body, all others in Retry-After). text replaces the
// vendor's usual words unless empty. For other forms of Retry-After see
// [Header].
func Refusal(w Wire, kind oh.Kind, after time.Duration, text string) Step {
	f := failureOf(w, kind)
	f.after = after
	if text != "" {
		f.text = text
	}
	return f.refusal(w)
}
