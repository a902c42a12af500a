package provider

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// ProxyError says that a request did not get past the proxy. It holds nothing
// of the proxy's address but the host.
type ProxyError struct {
	Proxy   string // host and port; "" is not known
	Status  int    // what the proxy answered; 0 when it was not asked
	Setting string // the environment variable that cannot be read, if that is why
}

// Error implements error.
func (e *ProxyError) Error() string {
	if e.Setting != "" {
		return e.Setting + " cannot be read; write it like http://host:port"
	}
	who := "a proxy on the way"
	if e.Proxy != "" {
		who = "the proxy " + e.Proxy
	}
	s := strings.TrimSpace(fmt.Sprintf("%s refuses the request: %d %s", who, e.Status, http.StatusText(e.Status)))
	if e.Status == http.StatusProxyAuthRequired {
		s += "; give it a name and password in HTTPS_PROXY or HTTP_PROXY, like http://name:password@host:port"
	}
	return s
}

// connected judges a proxy's answer to CONNECT.
func connected(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyError{Proxy: proxy.Host, Status: resp.StatusCode}
}

// environment returns the proxies of the environment as it is now. One that
// cannot be read is an error for the requests that it was meant for: without it
// they would go straight to the service.
func environment() func(*http.Request) (*url.URL, error) {
	conf := httpproxy.FromEnvironment()
	find := conf.ProxyFunc()
	whole := httpproxy.Config{HTTPProxy: "http://any", HTTPSProxy: "http://any", NoProxy: conf.NoProxy}
	meant := whole.ProxyFunc()
	return func(req *http.Request) (*url.URL, error) {
		if proxy, err := meant(req.URL); proxy == nil || err != nil {
			return nil, err
		}
		name, value := "HTTPS_PROXY", conf.HTTPSProxy
		if req.URL.Scheme == "http" {
			name, value = "HTTP_PROXY", conf.HTTPProxy
		}
		if !readable(value) {
			return nil, &ProxyError{Setting: name}
		}
		return find(req.URL)
	}
}

// readable reports whether a proxy is none, a URL with a host, or a host alone.
func readable(proxy string) bool {
	if proxy == "" {
		return true
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	u, err := url.Parse(proxy)
	if err != nil || u.Hostname() == "" {
		return false
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return true
	}
	return false
}
