// Package responses is the codec of the OpenAI Responses API in the dialects of
// OpenAI, Azure and the services and local servers that follow it: it encodes a
// request, streams the reply and puts the message together.
//
// It makes one attempt and does not retry, keeps nothing at the service (every
// request carries the whole history), knows no catalogue of models and no
// credentials but those it is given. A reply is complete or an error; calls hold
// a JSON object or say why not; reasoning items go back whole, and only to the
// profile and model they came from.
package responses

import (
	"cmp"
	"context"
	"iter"
	"net/url"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/azure"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/wire"
)

// DefaultURL is the base URL when the configuration has none.
const DefaultURL = "https://api.openai.com/v1"

// New returns a provider that speaks the Responses API. A base URL without a
// path gets /v1. The token, or else the key, goes out as bearer; at Azure the
// key is sent as api-key, and there must be a base URL.
func New(cfg provider.Config) oh.Provider {
	return &codec{link: wire.New("openai: responses", cfg, rules[:])}
}

type codec struct {
	link  *wire.Link
	tools body.Tools
}

// Stream implements [oh.Provider].
func (c *codec) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		traits := c.link.Config().Model(req.Model)
		s, err := c.open(ctx, req, &traits)
		a := newAssembler(c.link.Origin(req), req.Model)
		a.limit = outputLimit(req, &traits)
		wire.Talk(s, err, a, yield)
	}
}

func (c *codec) open(ctx context.Context, req *oh.Request, traits *provider.Traits) (*wire.Stream, error) {
	u, err := c.url(cmp.Or(traits.Name, req.Model))
	if err != nil {
		return nil, err
	}
	header := c.link.Bearer()
	if cfg := c.link.Config(); cfg.Host == provider.Azure {
		header = azure.Header(cfg)
	}
	b, err := c.encode(req, traits)
	if err != nil {
		return nil, c.link.Fail(oh.KindInvalid, err)
	}
	return c.link.Open(ctx, u, header, b)
}

func (c *codec) url(model string) (*url.URL, error) {
	cfg := c.link.Config()
	atAzure := cfg.Host == provider.Azure
	if atAzure && strings.TrimSpace(cfg.BaseURL) == "" {
		return nil, c.link.Fail(oh.KindInvalid, azure.ErrNoURL)
	}
	u, err := c.link.BaseURL(DefaultURL)
	if err != nil {
		return nil, err
	}
	switch {
	case atAzure:
		return azure.URL(u, "responses", model), nil
	case strings.HasSuffix(u.Path, "/responses"):
	case u.Path == "":
		u.Path = "/v1/responses"
	default:
		u.Path += "/responses"
	}
	return u, nil
}

const (
	lowerLimit = "lower the setting max_tokens"
	forget     = "start a new session, or change the model: reasoning of this session is then left out"
	without    = "or set return_reasoning to false for this model in the settings, which asks for no reasoning to show or keep"
)

// rules are the words of this wire, in order of precedence.
var rules = [...]wire.Rule{
	{Code: "insufficient_quota", Kind: oh.KindQuota},
	{Code: "billing_hard_limit_reached", Kind: oh.KindQuota},
	{Code: "billing_not_active", Kind: oh.KindQuota},
	{Code: "usage_limit_reached", Kind: oh.KindQuota},
	{Code: "usage_not_included", Kind: oh.KindQuota},
	{Code: "context_length_exceeded", Kind: oh.KindTooLong},
	{Code: "exceed_context_size_error", Kind: oh.KindTooLong},
	{Code: "string_above_max_length", Kind: oh.KindTooLong},
	{Code: "invalid_api_key", Kind: oh.KindAuth},
	{Code: "account_deactivated", Kind: oh.KindAuth},
	{Code: "rate_limit_exceeded", Kind: oh.KindLimited},
	{Code: "slow_down", Kind: oh.KindOverloaded},
	{Code: "server_is_overloaded", Kind: oh.KindOverloaded},
	{Code: "invalid_encrypted_content", Kind: oh.KindInvalid, Advice: forget},
	{Words: "encrypted content is not supported", Kind: oh.KindInvalid, Advice: without},
	{Words: "reasoning summaries", Kind: oh.KindInvalid, Advice: without},
	{Words: "encrypted content", Kind: oh.KindInvalid, Advice: forget},
	{Words: "previous_response", Kind: oh.KindInvalid},
	{Code: "model_not_found", Kind: oh.KindInvalid},
	{Code: "invalid_prompt", Kind: oh.KindInvalid},
	{Code: "content_policy_violation", Kind: oh.KindInvalid},
	{Code: "content_filter", Kind: oh.KindInvalid},
	{Code: "cyber_policy", Kind: oh.KindInvalid},
	{Code: "bio_policy", Kind: oh.KindInvalid},
	{Code: "misalignment_policy_violation", Kind: oh.KindInvalid},
	{Code: "data_residency_mismatch", Kind: oh.KindInvalid},
	{Code: "image_content_policy_violation", Kind: oh.KindInvalid},
	{Code: "image_too_large", Kind: oh.KindInvalid},
	{Code: "image_too_small", Kind: oh.KindInvalid},
	{Code: "image_file_too_large", Kind: oh.KindInvalid},
	{Code: "image_file_not_found", Kind: oh.KindInvalid},
	{Code: "image_parse_error", Kind: oh.KindInvalid},
	{Code: "empty_image_file", Kind: oh.KindInvalid},
	{Code: "unsupported_image_media_type", Kind: oh.KindInvalid},
	{Words: "max_output_tokens", Kind: oh.KindInvalid, Advice: lowerLimit, Unless: notTooLarge},
	{Words: "maximum context length", Kind: oh.KindTooLong},
	{Words: "exceeds the available context", Kind: oh.KindTooLong},
	{Words: "exceeds the context", Kind: oh.KindTooLong},
	{Words: "exceeds the maximum number of tokens", Kind: oh.KindTooLong},
	{Words: "maximum prompt length", Kind: oh.KindTooLong},
	{Words: "input token count", Kind: oh.KindTooLong},
	{Words: "reduce the length of the", Kind: oh.KindTooLong},
	{Words: "exceeded your current quota", Kind: oh.KindQuota},
	{Words: "requires more credits", Kind: oh.KindQuota},
	{Words: "flagged", Kind: oh.KindInvalid},
	{Code: "overloaded", Kind: oh.KindOverloaded},
	{Words: "overloaded", Kind: oh.KindOverloaded},
	{Code: "server_error", Kind: oh.KindUnavailable, Vague: true},
	{Code: "upstream_error", Kind: oh.KindUnavailable, Vague: true},
}

// notTooLarge reports words on the output limit that are not about its size.
func notTooLarge(words string) bool {
	return !strings.Contains(words, "too large") && !strings.Contains(words, "maximum value") && !strings.Contains(words, "at most") &&
		!strings.Contains(words, "less than or equal")
}
