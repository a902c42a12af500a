// Package provider holds what the codecs under it share: the configuration of
// one profile and what a codec must know of a model.
//
// It is not a registry: which profiles and models exist, and where keys come
// from, is decided by who builds a codec. A codec makes one attempt per request
// and never retries; its errors are classified [oh.Error] values that hold no
// key.
package provider

import (
	"net/http"
	"time"
)

// DefaultIdle is how long a stream may be silent when [Config] does not say.
const DefaultIdle = 120 * time.Second

// Config describes one profile to a codec. The zero value is usable wherever a
// service needs no key.
type Config struct {
	// Profile names the profile; it is the first half of the origin of what
	// only this profile may get back (see [oh.Origin]). Empty: the profile of
	// the request.
	Profile string

	// BaseURL is where the service is, with scheme. Empty: the codec's default.
	BaseURL string

	// Key is an API key and Token a bearer token. With both, both are sent
	// where the wire has a header for each, else the token.
	Key, Token string

	// Sign puts credentials on a request in place of Key and Token: signatures
	// over the body (which GetBody gives) and tokens that are renewed. It is
	// called once for each request, perhaps for several at a time; its error
	// ends the attempt, as [oh.KindAuth] unless it is an [*oh.Error]. nil: Key
	// and Token.
	Sign func(req *http.Request) error

	// Host says how the service is addressed, where that is not the vendor's
	// own way.
	Host Host

	// Headers are sent with each request and replace the codec's own.
	Headers http.Header

	// Client sends the requests; nil means a client of the codec's own (see
	// [NewClient]), made on first use. Redirects to another host are refused
	// whatever the client says. It should have no Timeout: that would end
	// living streams.
	Client *http.Client

	// Idle is how long the service may send nothing, before the first byte and
	// between bytes, while the codec waits. 0 is [DefaultIdle], negative means no
	// limit. There is no limit on the whole of a stream.
	Idle time.Duration

	// Traits tells what a model is like; nil means the zero [Traits]. It must be
	// safe for concurrent use and give the same answer for the same model.
	Traits func(model string) Traits
}

// Host is a cloud that offers the models of others under addresses of its own.
type Host string

// The hosts.
const (
	Azure   Host = "azure"   // Azure OpenAI
	Vertex  Host = "vertex"  // Google Vertex AI
	Bedrock Host = "bedrock" // Amazon Bedrock
)

// Model returns the traits of a model.
func (c *Config) Model(model string) Traits {
	if c.Traits == nil {
		return Traits{}
	}
	return c.Traits(model)
}
