// Package openai is the codec of the Chat Completions API in the dialects of
// OpenAI and of the many services and local servers that follow it.
//
// It makes one attempt and does not retry, knows no catalogue of models and no
// credentials but those it is given. A reply is complete or an error; calls hold
// a JSON object or say why not; reasoning goes back only to the profile and
// model it came from, in the field it came in.
package openai

import (
	"cmp"
	"context"
	"iter"
	"net/url"
	"strconv"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/azure"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/wire"
)

// DefaultURL is the base URL when the configuration has none.
const DefaultURL = "https://api.openai.com/v1"

// New returns a provider that speaks Chat Completions. A base URL without a path
// gets /v1. The token, or else the key, goes out as bearer; at Azure the key is
// sent as api-key, and there must be a base URL.
func New(cfg provider.Config) oh.Provider {
	return &codec{link: wire.New("openai: chat", cfg, rules[:])}
}

type codec struct {
	link  *wire.Link
	tools body.Tools
}

// Stream implements [oh.Provider].
func (c *codec) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		s, err := c.open(ctx, req)
		wire.Talk(s, err, newAssembler(c.link.Origin(req), req.Model), yield)
	}
}

func (c *codec) open(ctx context.Context, req *oh.Request) (*wire.Stream, error) {
	cfg := c.link.Config()
	u, err := c.url(cmp.Or(cfg.Model(req.Model).Name, req.Model))
	if err != nil {
		return nil, err
	}
	header := c.link.Bearer()
	if cfg := c.link.Config(); cfg.Host == provider.Azure {
		header = azure.Header(cfg)
	}
	b, err := c.encode(req)
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
		return azure.URL(u, "chat/completions", model), nil
	case strings.HasSuffix(u.Path, "/chat/completions"):
	case u.Path == "":
		u.Path = "/v1/chat/completions"
	default:
		u.Path += "/chat/completions"
	}
	return u, nil
}

const lowerLimit = "lower the setting max_tokens"

// promptFills reports a complaint about the output limit that a shorter
// conversation heals: the limit is at most half of the window.
func promptFills(words string) bool {
	limit := numberAfter(words, "is too large: ")
	window := numberAfter(words, "context length is ")
	return limit > 0 && limit <= window/2
}

// numberAfter reads the number behind the first mark; 0 when there is none.
func numberAfter(s, mark string) int {
	_, s, _ = strings.Cut(s, mark)
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		s = s[:end]
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// rules are the words of this wire, in order of precedence.
var rules = [...]wire.Rule{
	{Code: "insufficient_quota", Kind: oh.KindQuota},
	{Code: "billing_hard_limit_reached", Kind: oh.KindQuota},
	{Code: "billing_not_active", Kind: oh.KindQuota},
	{Code: "account_deactivated", Kind: oh.KindAuth},
	{Code: "context_length_exceeded", Kind: oh.KindTooLong},
	{Code: "exceed_context_size_error", Kind: oh.KindTooLong},
	{Code: "string_above_max_length", Kind: oh.KindTooLong},
	{Code: "invalid_api_key", Kind: oh.KindAuth},
	{Code: "model_not_found", Kind: oh.KindInvalid},
	{Code: "rate_limit_exceeded", Kind: oh.KindLimited},
	{Code: "content_policy_violation", Kind: oh.KindInvalid},
	{Code: "content_filter", Kind: oh.KindInvalid},
	{Words: "max_tokens is too large", Kind: oh.KindInvalid, Advice: lowerLimit, Unless: promptFills},
	{Words: "max_completion_tokens is too large", Kind: oh.KindInvalid, Advice: lowerLimit, Unless: promptFills},
	{Words: "max_completion_tokens' is too large", Kind: oh.KindInvalid, Advice: lowerLimit, Unless: promptFills},
	{Words: "max_tokens value", Kind: oh.KindInvalid, Advice: lowerLimit},
	{Words: "`max_tokens` must be", Kind: oh.KindInvalid, Advice: lowerLimit},
	{Words: "range of max_tokens", Kind: oh.KindInvalid, Advice: lowerLimit},
	{Words: "maximum context length", Kind: oh.KindTooLong},
	{Words: "exceeds the available context", Kind: oh.KindTooLong},
	{Words: "exceeds the context", Kind: oh.KindTooLong},
	{Words: "exceeds the maximum number of tokens", Kind: oh.KindTooLong},
	{Words: "maximum prompt length", Kind: oh.KindTooLong},
	{Words: "input token count", Kind: oh.KindTooLong},
	{Words: "reduce the length of the messages", Kind: oh.KindTooLong},
	{Words: "range of input length should be", Kind: oh.KindTooLong},
	{Words: "exceeded model token limit", Kind: oh.KindTooLong},
	{Words: "prompt too long", Kind: oh.KindTooLong},
	{Words: "exceeded your current quota", Kind: oh.KindQuota},
	{Words: "requires more credits", Kind: oh.KindQuota},
	{Words: "is suspended", Kind: oh.KindQuota},
	{Words: "arrearage", Kind: oh.KindQuota},
	{Words: "flagged", Kind: oh.KindInvalid},
	{Code: "overloaded", Kind: oh.KindOverloaded},
	{Words: "overloaded", Kind: oh.KindOverloaded},
	{Code: "server_error", Kind: oh.KindUnavailable, Vague: true},
	{Code: "upstream_error", Kind: oh.KindUnavailable, Vague: true},
}
