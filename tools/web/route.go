package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// proxyFunc names the proxy for a URL, nil for none.
type proxyFunc func(*url.URL) (*url.URL, error)

// loadTLS reads the extra authorities; nil when there are none.
func (s *set) loadTLS() (*tls.Config, error) {
	if s.cfg.ExtraCA == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(s.cfg.ExtraCA)
	if err != nil {
		return nil, fmt.Errorf("extra authorities (NODE_EXTRA_CA_CERTS): %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("authorities of the system: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("extra authorities (NODE_EXTRA_CA_CERTS): %s holds no certificate in PEM form", s.cfg.ExtraCA)
	}
	return &tls.Config{RootCAs: pool}, nil
}

// loadProxy reads the proxy settings.
func (s *set) loadProxy() (proxyFunc, error) {
	c := s.cfg
	switch c.Proxy {
	case "":
		return func(*url.URL) (*url.URL, error) { return nil, nil }, nil
	case "env":
	default:
		c.HTTPProxy, c.HTTPSProxy = c.Proxy, c.Proxy
	}
	for _, raw := range []string{c.HTTPProxy, c.HTTPSProxy} {
		if raw == "" {
			continue
		}
		if !strings.Contains(raw, "://") {
			raw = "http://" + raw
		}
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return nil, errors.New("the proxy for the web tools (OPENHARNESS_WEB_PROXY) must be a URL such as http://proxy.example:3128, with http, https or socks5, or the word env")
		}
	}
	conf := httpproxy.Config{HTTPProxy: c.HTTPProxy, HTTPSProxy: c.HTTPSProxy, NoProxy: c.NoProxy}
	return conf.ProxyFunc(), nil
}

// proxyFor returns the proxy for a URL, nil for none.
func (s *set) proxyFor(u *url.URL) (*url.URL, error) {
	find, err := s.proxy()
	if err != nil {
		return nil, err
	}
	via, err := find(u)
	if err != nil {
		return nil, errors.New("the proxy for the web tools is no valid URL")
	}
	return via, nil
}

// route returns what carries requests to a URL until ctx ends, which has to be
// soon. With own, the URL is the user's own and may be anywhere; otherwise it
// must be public.
func (s *set) route(ctx context.Context, u *url.URL, own bool) (*http.Transport, error) {
	secure, err := s.tls()
	if err != nil {
		return nil, err
	}
	via, err := s.proxyFor(u)
	if err != nil {
		return nil, err
	}
	if via != nil && !own {
		if err := s.guard.judgeName(u.Hostname()); err != nil {
			return nil, err
		}
	}
	t := &http.Transport{
		TLSClientConfig:        secure.Clone(),
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		DisableKeepAlives:      true, // nothing is left behind by a call
		DialContext:            bound(ctx, s.guard.dial),
	}
	if via != nil {
		t.Proxy = http.ProxyURL(via)
	}
	if via != nil || own {
		t.DialContext = bound(ctx, dialAny)
	}
	return t, nil
}

type dialFunc func(ctx context.Context, network, hostport string) (net.Conn, error)

// bound ends dialling, and what was dialled, with ctx. A transport alone goes
// on with both for requests that may follow.
func bound(ctx context.Context, dial dialFunc) dialFunc {
	return func(_ context.Context, network, hostport string) (net.Conn, error) {
		conn, err := dial(ctx, network, hostport)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
}

// dialAny connects to a place that the user named.
func dialAny(ctx context.Context, network, hostport string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, network, hostport)
}
