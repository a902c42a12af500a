// Package anthropic is the codec of the Anthropic Messages API: it encodes a
// request, streams the reply and puts the message together.
//
// It makes one attempt and does not retry, knows no catalogue of models and no
// credentials but those it is given. A reply is complete or an error; calls hold
// a JSON object or say why not; thinking goes back only to the profile and
// model it came from.
package anthropic

import (
	"cmp"
	"context"
	"iter"
	"net/url"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/wire"
)

// DefaultURL is the base URL when the configuration has none.
const DefaultURL = "https://api.anthropic.com"

const version = "2023-06-01"

// New returns a provider that speaks the Messages API, also as the hosts
// [provider.Vertex] and [provider.Bedrock] offer it: they have no default base
// URL, Vertex AI's ends in the location. Elsewhere a base URL may end in /v1 or
// not. The key goes out as x-api-key (on Bedrock as bearer), the token as bearer.
func New(cfg provider.Config) oh.Provider {
	return &codec{link: wire.New("anthropic: messages", cfg, words(cfg.Host))}
}

type codec struct {
	link  *wire.Link
	tools body.Tools
}

// Stream implements [oh.Provider].
func (c *codec) Stream(ctx context.Context, req *oh.Request) iter.Seq2[oh.Chunk, error] {
	return func(yield func(oh.Chunk, error) bool) {
		s, err := c.open(ctx, req)
		wire.Talk(s, err, c.assembler(req), yield)
	}
}

func (c *codec) open(ctx context.Context, req *oh.Request) (*wire.Stream, error) {
	traits := c.link.Config().Model(req.Model)
	u, header, err := c.address(cmp.Or(traits.Name, req.Model), traits.Betas)
	if err != nil {
		return nil, err
	}
	b, err := c.encode(req)
	if err != nil {
		return nil, c.link.Fail(oh.KindInvalid, err)
	}
	return c.link.Open(ctx, u, header, b)
}

func (c *codec) url() (*url.URL, error) {
	u, err := c.link.BaseURL(DefaultURL)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(u.Path, "/v1/messages"):
	case strings.HasSuffix(u.Path, "/v1"):
		u.Path += "/messages"
	default:
		u.Path += "/v1/messages"
	}
	return u, nil
}

// rules are the words of this wire, in order of precedence.
var rules = [...]wire.Rule{
	{Words: "usage limits", Kind: oh.KindQuota},
	{Words: "extra usage is required", Kind: oh.KindQuota},
	{Words: "exceed context limit", Kind: oh.KindTooLong},
	{Words: "exceeds the maximum allowed number of input tokens", Kind: oh.KindTooLong},
	{Words: "too many total text bytes", Kind: oh.KindTooLong},
	{Code: "request_too_large", Kind: oh.KindTooLong},
	{Code: "authentication_error", Kind: oh.KindAuth},
	{Code: "permission_error", Kind: oh.KindAuth},
	{Code: "billing_error", Kind: oh.KindQuota},
	{Code: "overloaded_error", Kind: oh.KindOverloaded},
	{Code: "timeout_error", Kind: oh.KindUnavailable},
	{Words: "credit balance is too low", Kind: oh.KindQuota},
	{Words: "prompt is too long", Kind: oh.KindTooLong},
	{Code: "rate_limit_error", Kind: oh.KindLimited},
	{Code: "not_found_error", Kind: oh.KindInvalid},
	{Words: "overloaded", Kind: oh.KindOverloaded},
	{Code: "api_error", Kind: oh.KindUnavailable, Vague: true},
}
