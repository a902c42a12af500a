// Package ollama is the codec of Ollama's own chat API. Unlike the compatible
// one it says which context window is wanted, so that the server does not cut
// the conversation at its default without a word.
//
// It makes one attempt and does not retry, knows no catalogue of models and no
// credentials but those it is given. A reply is complete or an error; calls hold
// a JSON object or say why not; thinking goes back only to the profile and
// model it came from.
package ollama

import (
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
const DefaultURL = "http://127.0.0.1:11434"

// New returns a provider that speaks POST /api/chat. A base URL may end in /v1,
// as for the compatible API, or in /api. The token, or else the key, goes out as
// bearer, for servers behind a gateway.
func New(cfg provider.Config) oh.Provider {
	return &codec{link: wire.New("ollama: chat", cfg, rules[:]).ByLine()}
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
	u, err := c.url()
	if err != nil {
		return nil, err
	}
	b, err := c.encode(req)
	if err != nil {
		return nil, c.link.Fail(oh.KindInvalid, err)
	}
	return c.link.Open(ctx, u, c.link.Bearer(), b)
}

func (c *codec) url() (*url.URL, error) {
	u, err := c.link.BaseURL(DefaultURL)
	if err != nil {
		return nil, err
	}
	for _, end := range []string{"/api/chat", "/api", "/v1"} {
		if root, ok := strings.CutSuffix(u.Path, end); ok {
			u.Path = root
			break
		}
	}
	u.Path += "/api/chat"
	return u, nil
}

// rules are the words of this wire, in order of precedence.
var rules = [...]wire.Rule{
	{Words: "exceed_context_size_error", Kind: oh.KindTooLong},
	{Words: "exceeds the available context", Kind: oh.KindTooLong},
	{Words: "longer than the context", Kind: oh.KindTooLong},
	{Words: "exceeds maximum context", Kind: oh.KindTooLong},
	{Words: "does not support tools", Kind: oh.KindInvalid, Advice: "choose another model, or set tools to false for it under models in the settings"},
	{Words: "does not support thinking", Kind: oh.KindInvalid, Advice: "set thinking to none for it under models in the settings"},
	{Words: "try pulling it first", Kind: oh.KindInvalid},
	{Words: "not found", Kind: oh.KindInvalid, Advice: "fetch it with: ollama pull MODEL"},
	{Words: "requires more system memory", Kind: oh.KindInvalid, Advice: "choose a smaller model, or a smaller context_window for it under models in the settings"},
	{Words: "usage limit", Kind: oh.KindQuota},
	{Words: "server busy", Kind: oh.KindOverloaded},
	{Words: "maximum pending requests exceeded", Kind: oh.KindOverloaded},
}
