// Package web holds the tools that read from the web: web_fetch and web_search.
//
// They do not decide whether a host may be asked; each call declares its URL,
// and a redirect that leaves the host is reported instead of followed. They
// make sure that only public addresses are reached: names are resolved here,
// every address is judged, and the one that was judged is dialled, so that a
// name cannot change its meaning in between. Behind a proxy, which resolves
// names itself, only the host's name can be judged.
//
// Guarantees: downloads, times and what goes to the model are bounded; a page
// is data and marked as such; keys and passwords are in no result and no error;
// no goroutine and no connection outlives a call.
package web

import (
	"context"
	"crypto/tls"
	_ "embed"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/openharness/oh"
)

//go:embed fetch.md
var fetchDoc string

//go:embed search.md
var searchDoc string

//go:embed marker.md
var markerDoc string

// Key is a secret that does not show itself when printed.
type Key string

// String hides the key.
func (Key) String() string { return "[key]" }

// GoString hides the key.
func (Key) GoString() string { return "[key]" }

// Config says how the web is reached. The zero value reads the public web
// directly and searches with DuckDuckGo. [Env] fills it from the environment.
type Config struct {
	// SearchURL is the user's own search engine, asked in the form of SearXNG.
	// It may be on a private address.
	SearchURL string

	// Keys of search services. The first that is set is used.
	Brave, Tavily, Exa Key

	// Proxy is the URL of a proxy (http, https or socks5), or "env" for what
	// HTTPS_PROXY and HTTP_PROXY name. Empty: none, whatever these variables
	// say. NoProxy lists, as NO_PROXY does, what is reached without it.
	Proxy, HTTPProxy, HTTPSProxy, NoProxy string

	// ExtraCA is a PEM file of authorities to trust beside the system's.
	ExtraCA string

	// Allow opens addresses that are not public; nil opens none. See
	// [AllowList].
	Allow func(host string, addr netip.Addr) bool

	// Resolve finds the addresses of a name; nil asks the system.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	// Summarise answers a prompt about a page; nil: prompts are ignored and
	// the page itself is returned.
	Summarise func(ctx context.Context, emit func(oh.Event), prompt, page string) (string, error)

	// PDF extracts the text of a PDF file; nil: PDF files are refused with
	// their size.
	PDF func(ctx context.Context, data []byte) (string, error)

	// Image makes an image fit for models, and says what it did or what is
	// wrong with it; nil: images are refused.
	Image func(oh.Image) (fit oh.Image, note string, err error)

	Timeout    time.Duration // of a whole call of web_fetch; default 30 s
	SearchTime time.Duration // of a whole call of web_search; default 20 s
	MaxBytes   int64         // of one download; default 5 MiB

	// Endpoints replaces the addresses of the search services; empty fields
	// keep them.
	Endpoints Endpoints
}

// Endpoints are the addresses of search services.
type Endpoints struct {
	Brave, Tavily, Exa, DuckDuckGo string
}

// Env returns the configuration that an environment asks for: the keys
// BRAVE_API_KEY, TAVILY_API_KEY and EXA_API_KEY, OPENHARNESS_WEB_SEARCH_URL,
// OPENHARNESS_WEB_PROXY with the proxy variables it may refer to, and
// NODE_EXTRA_CA_CERTS. SSL_CERT_FILE is known to the system's pool itself.
func Env(get func(name string) string) Config {
	first := func(names ...string) string {
		for _, n := range names {
			if v := strings.TrimSpace(get(n)); v != "" {
				return v
			}
		}
		return ""
	}
	return Config{
		SearchURL:  first("OPENHARNESS_WEB_SEARCH_URL"),
		Brave:      Key(first("BRAVE_API_KEY")),
		Tavily:     Key(first("TAVILY_API_KEY")),
		Exa:        Key(first("EXA_API_KEY")),
		Proxy:      first("OPENHARNESS_WEB_PROXY"),
		HTTPSProxy: first("HTTPS_PROXY", "https_proxy"),
		HTTPProxy:  first("HTTP_PROXY", "http_proxy"),
		NoProxy:    first("NO_PROXY", "no_proxy"),
		ExtraCA:    first("NODE_EXTRA_CA_CERTS"),
	}
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = 30 * time.Second
	}
	if c.SearchTime <= 0 {
		c.SearchTime = 20 * time.Second
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 5 << 20
	}
	e := &c.Endpoints
	for _, d := range []struct {
		field *string
		url   string
	}{
		{&e.Brave, "https://api.search.brave.com/res/v1/web/search"},
		{&e.Tavily, "https://api.tavily.com/search"},
		{&e.Exa, "https://api.exa.ai/search"},
		{&e.DuckDuckGo, "https://html.duckduckgo.com/html/"},
	} {
		if *d.field == "" {
			*d.field = d.url
		}
	}
	return c
}

// Tools returns web_fetch and web_search. A mistake in cfg is the error of the
// calls that meet it: nothing is opened before.
func Tools(cfg Config) []oh.Tool {
	s := &set{cfg: cfg.withDefaults()}
	s.guard = guard{allow: cfg.Allow, resolve: cfg.Resolve}
	s.tls = sync.OnceValues(s.loadTLS)
	s.proxy = sync.OnceValues(s.loadProxy)
	return []oh.Tool{
		oh.NewTool(oh.ToolDef[fetchInput]{Name: "web_fetch", Doc: fetchDoc, SelfLimited: true, Prepare: s.fetch}),
		oh.NewTool(oh.ToolDef[searchInput]{Name: "web_search", Doc: searchDoc, SelfLimited: true, Prepare: s.search}),
	}
}

// set is what the two tools share.
type set struct {
	cfg   Config
	guard guard
	tls   func() (*tls.Config, error)
	proxy func() (proxyFunc, error)
	pages cache
}

// marker says that what follows it is data.
func marker() string { return strings.TrimSpace(markerDoc) }

const userAgent = "Mozilla/5.0 (compatible; OpenHarness; +https://github.com/openharness/oh)"

// setAgent names the program to a server.
func setAgent(h http.Header) {
	h.Set("User-Agent", userAgent)
	h.Set("Accept-Language", "en,*;q=0.5")
}
