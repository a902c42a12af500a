package anthropic

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/openharness/oh"
	"github.com/openharness/oh/internal/text"
	"github.com/openharness/oh/provider"
	"github.com/openharness/oh/provider/internal/wire"
)

// The versions of the Messages API that the clouds offer.
const (
	vertexVersion  = "vertex-2023-10-16"
	bedrockVersion = "bedrock-2023-05-31"
)

// address returns where a request goes and its headers. On the clouds the model
// is in the address and the version in the body.
func (c *codec) address(model string, betas []string) (*url.URL, http.Header, error) {
	cfg := c.link.Config()
	header := http.Header{}
	if len(betas) > 0 && cfg.Host != provider.Bedrock {
		header.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	switch cfg.Host {
	case provider.Vertex:
		u, err := c.hosted("Vertex AI", "https://REGION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/REGION")
		if err != nil {
			return nil, nil, err
		}
		bearer(header, cfg.Token)
		if cfg.Key != "" {
			header.Set("X-Goog-Api-Key", cfg.Key)
		}
		return wire.Join(u, "/publishers/anthropic/models/", model, ":streamRawPredict"), header, nil
	case provider.Bedrock:
		u, err := c.hosted("Amazon Bedrock", "https://bedrock-runtime.REGION.amazonaws.com")
		if err != nil {
			return nil, nil, err
		}
		bearer(header, cfg.Key)
		bearer(header, cfg.Token)
		header.Set("Accept", "application/vnd.amazon.eventstream")
		return wire.Join(u, "/model/", model, "/invoke-with-response-stream"), header, nil
	}
	u, err := c.url()
	header.Set("Anthropic-Version", version)
	if cfg.Key != "" {
		header.Set("X-Api-Key", cfg.Key)
	}
	bearer(header, cfg.Token)
	return u, header, err
}

func bearer(h http.Header, token string) {
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
}

// hosted reads the base URL of a cloud, which has no default.
func (c *codec) hosted(cloud, form string) (*url.URL, error) {
	if strings.TrimSpace(c.link.Config().BaseURL) == "" {
		return nil, c.link.Fail(oh.KindInvalid, fmt.Errorf("%s has no base URL; set one like %s", cloud, form))
	}
	return c.link.BaseURL("")
}

// opening writes what a body begins with: the model, or what a cloud wants in
// its place.
func (c *codec) opening(model string, betas []string) []byte {
	out := []byte{'{'}
	cfg := c.link.Config()
	switch cfg.Host {
	case provider.Vertex:
		return append(out, `"anthropic_version":"`+vertexVersion+`"`...)
	case provider.Bedrock:
		out = append(out, `"anthropic_version":"`+bedrockVersion+`"`...)
		// Amazon takes the beta features in the body and not as a header.
		if beta := features(cfg.Headers, betas); len(beta) > 0 {
			out = append(out, `,"anthropic_beta":[`...)
			for i, name := range beta {
				if i > 0 {
					out = append(out, ',')
				}
				out = text.AppendJSON(out, name)
			}
			out = append(out, ']')
		}
		return out
	}
	return text.AppendJSON(append(out, `"model":`...), model)
}

// features lists own and the names in the headers anthropic-beta.
func features(h http.Header, own []string) []string {
	out := slices.Clone(own)
	for name, values := range h {
		if !strings.EqualFold(name, "Anthropic-Beta") {
			continue
		}
		for s := range strings.SplitSeq(strings.Join(values, ","), ",") {
			if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// assembler returns what reads the answer of the service or cloud.
func (c *codec) assembler(req *oh.Request) wire.Assembler {
	a := newAssembler(c.link.Origin(req), req.Model)
	if c.link.Config().Host == provider.Bedrock {
		return &enclosed{assembler: a}
	}
	return a
}

// enclosed reads events of this wire out of those of Amazon, which hold them
// as base64.
type enclosed struct {
	*assembler
	buf []byte
}

// Feed implements [wire.Assembler]. Gateways that send plain events are
// understood as well.
func (e *enclosed) Feed(name, data []byte) error {
	if !bytes.Contains(data, []byte(`"bytes"`)) {
		return e.assembler.Feed(name, data)
	}
	var chunk struct {
		Bytes *string `json:"bytes"`
	}
	if err := json.Unmarshal(data, &chunk); err != nil || chunk.Bytes == nil {
		return e.assembler.Feed(name, data)
	}
	inner, err := base64.StdEncoding.AppendDecode(e.buf[:0], []byte(*chunk.Bytes))
	if err != nil {
		return errors.New("a chunk of the stream is no base64")
	}
	e.buf = inner
	return e.assembler.Feed(nil, inner)
}

// words returns the rules for what the service or cloud says.
func words(host provider.Host) []wire.Rule {
	switch host {
	case provider.Bedrock:
		return append(wire.Amazon[:len(wire.Amazon):len(wire.Amazon)], rules[:]...)
	case provider.Vertex:
		return append([]wire.Rule{{Words: "your project does not have access to it", Kind: oh.KindInvalid,
			Advice: "enable the model in the Model Garden of Vertex AI, and check project and location"}}, rules[:]...)
	}
	return rules[:]
}
