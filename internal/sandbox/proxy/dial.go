package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

// refusedError says that an address of a host may not be reached.
type refusedError struct{ why string }

func (e *refusedError) Error() string { return e.why }

// FromEnv makes [Config.Upstream] of the usual variables.
func FromEnv(lookup func(string) (string, bool)) func(*url.URL) (*url.URL, error) {
	get := func(names ...string) string {
		for _, n := range names {
			if v, ok := lookup(n); ok && v != "" {
				return v
			}
		}
		return ""
	}
	return (&httpproxy.Config{
		HTTPProxy:  get("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: get("HTTPS_PROXY", "https_proxy"),
		NoProxy:    get("NO_PROXY", "no_proxy"),
	}).ProxyFunc()
}

func (p *Proxy) upstream(u *url.URL) (*url.URL, error) {
	if p.cfg.Upstream == nil {
		return nil, nil
	}
	return p.cfg.Upstream(u)
}

// reach connects to a host that has been judged by name.
func (p *Proxy) reach(ctx context.Context, host, port string) (net.Conn, error) {
	addr := net.JoinHostPort(host, port)
	up, err := p.upstream(&url.URL{Scheme: "https", Host: addr})
	if err != nil {
		return nil, fmt.Errorf("the proxy variables: %w", err)
	}
	if up == nil {
		return p.dial(ctx, "tcp", addr)
	}
	return through(ctx, up, addr)
}

// dial connects to a host whose addresses are all allowed. What was judged is
// what is dialled.
func (p *Proxy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	list, err := p.find(ctx, host)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if why := p.cfg.Rules.judgeAddr(host, a); why != "" {
			return nil, &refusedError{why}
		}
	}
	var errs []error
	for _, a := range list {
		conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, network, net.JoinHostPort(a.Unmap().String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

func (p *Proxy) find(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	resolve := p.cfg.Resolve
	if resolve == nil {
		resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	list, err := resolve(ctx, host)
	if err == nil && len(list) == 0 {
		err = errors.New("it has no address")
	}
	return list, err
}

// through asks another proxy for a connection.
func through(ctx context.Context, up *url.URL, addr string) (net.Conn, error) {
	port := up.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[up.Scheme]
	}
	if port == "" {
		return nil, fmt.Errorf("the proxy of the environment has the scheme %q: only http and https are supported", up.Scheme)
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(up.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("the proxy of the environment: %w", err)
	}
	if up.Scheme == "https" {
		conn = tls.Client(conn, &tls.Config{ServerName: up.Hostname()})
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	joined, err := ask(conn, up, addr)
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the proxy of the environment: %w", err)
	}
	return joined, nil
}

func ask(conn net.Conn, up *url.URL, addr string) (net.Conn, error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if up.User != nil {
		pass, _ := up.User.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(up.User.Username()+":"+pass)))
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("it answers " + resp.Status)
	}
	return &early{conn, r}, nil
}

// early is a connection of which something was read already.
type early struct {
	net.Conn
	r *bufio.Reader
}

func (c *early) Read(p []byte) (int, error) { return c.r.Read(p) }

func (c *early) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
