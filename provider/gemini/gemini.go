// Package gemini is the codec of the Gemini API (streamGenerateContent), at
// Google AI and at Vertex AI: it encodes a request, streams the reply and puts
// the message together.
//
// It makes one attempt and does not retry, knows no catalogue of models and no
// credentials but those it is given. A reply is complete or an error; calls hold
// a JSON object or say why not; thoughts, signatures and call ids go back only
// to the profile and model they came from, in the part they came in.
package gemini

import (
	"context"
	"iter"
	"net/http"

	"github.com/openharness/oh"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/body"
	"github.com/openharness/oh/provider/internal/wire"
)

// New returns a provider that speaks the Gemini API. A base URL may end in a
// version (/v1beta) or not. With [provider.Vertex] it ends in
// /projects/{project}/locations/{location}, or has neither (express mode). The
// token goes out as bearer, or else the key as x-goog-api-key. Models are named
// with or without "models/" and "google/" before them.
func New(cfg provider.Config) oh.Provider {
	return &codec{link: wire.New("gemini: generate", cfg, rules[:])}
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
	traits := cfg.Model(req.Model)
	u, err := c.url(name(&traits, req))
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if cfg.Token != "" {
		header.Set("Authorization", "Bearer "+cfg.Token)
	} else if cfg.Key != "" {
		header.Set("X-Goog-Api-Key", cfg.Key)
	}
	b, err := c.encode(req, &traits)
	if err != nil {
		return nil, c.link.Fail(oh.KindInvalid, err)
	}
	return c.link.Open(ctx, u, header, b)
}
