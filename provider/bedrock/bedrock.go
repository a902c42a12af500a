// Package bedrock is the codec of Amazon Bedrock's Converse API: it encodes a
// request, streams the reply and puts the message together.
//
// It makes one attempt and does not retry, knows no catalogue of models and no
// credentials but those it is given: requests are signed by the configuration's
// Sign. A reply is complete or an error; calls hold a JSON object or say why
// not; thinking goes back only to the profile and model it came from.
package bedrock

import (
	"cmp"
	"context"
	"iter"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/wire"
)

// DefaultURL is the base URL when the configuration has none.
const DefaultURL = "https://bedrock-runtime.us-east-1.amazonaws.com"

// New returns a provider that speaks Converse. The base URL names the region.
// Where requests are not signed, the token, or else the key, goes out as bearer
// (API keys for Amazon Bedrock). A model is an id, an inference profile's id or
// an ARN.
func New(cfg provider.Config) oh.Provider {
	return &codec{link: wire.New("bedrock: converse", cfg, wire.Amazon[:])}
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
	u, err := c.link.BaseURL(DefaultURL)
	if err != nil {
		return nil, err
	}
	traits := c.link.Config().Model(req.Model)
	header := c.link.Bearer()
	header.Set("Accept", "application/vnd.amazon.eventstream")
	b, err := c.encode(req)
	if err != nil {
		return nil, c.link.Fail(oh.KindInvalid, err)
	}
	return c.link.Open(ctx, wire.Join(u, "/model/", cmp.Or(traits.Name, req.Model), "/converse-stream"), header, b)
}
